/* SPDX-License-Identifier: MIT */
/* The task 'tokens': files of nanoGPT and llm.c are distinguished, and their ids become windows. */
#define TASK "tokens"
#include <math.h>

#include "../data_tests.h"
#include "base/file.h"

enum { IDS = 4000, SEQ_LEN = 8, HEADER = 1024 };

static const peat_task_plan decoder = {
    .arch = PEAT_DECODER, .seq_len = SEQ_LEN, .n_lengths = 1, .length = (int64_t[]){SEQ_LEN}};

/* Id i of every file here. */
static uint32_t id_of(int64_t i)
{
    return (uint32_t)(i * i % 50021);
}

static size_t put(unsigned char *out, uint32_t value, size_t width)
{
    for (size_t i = 0; i < width; i++)
        out[i] = (unsigned char)(value >> 8 * i);
    return width;
}

/* `magic` 0: as nanoGPT writes it. Returns the number of bytes. */
static size_t make_file(unsigned char *out, uint32_t magic, uint32_t version, uint32_t announced,
                        size_t width)
{
    unsigned char *at = out;
    if (magic) {
        memset(out, 0, HEADER);
        put(out, magic, 4);
        put(out + 4, version, 4);
        put(out + 8, announced, 4);
        at += HEADER;
    }
    for (int64_t i = 0; i < IDS; i++)
        at += put(at, id_of(i), width);
    return (size_t)(at - out);
}

static const struct {
    uint32_t magic, version;
    size_t width;
} kinds[] = {{0, 0, 2}, {20240520, 1, 2}, {20240801, 7, 4}};

TEST(windows_of_every_kind_of_file_are_its_ids)
{
    static unsigned char bytes[HEADER + 4 * IDS];
    for (size_t kind = 0; kind < 3; kind++) {
        struct harness h;
        struct batch b;
        size_t n = make_file(bytes, kinds[kind].magic, kinds[kind].version, IDS, kinds[kind].width);
        data_must_open(&h, bytes, n, "", &decoder);
        batch_init(&b, &h.arena, 16, SEQ_LEN);
        harness_train(&h, 1, 1, &b);
        for (int64_t i = 0; i < 16 * SEQ_LEN; i++) {
            int64_t place = b.b.sequence[i / SEQ_LEN] + i % SEQ_LEN;
            ck_assert_int_lt(place + 1, IDS - IDS / 10);
            ck_assert_int_eq(b.b.token[i], id_of(place));
            ck_assert_int_eq(b.b.target[i], id_of(place + 1));
        }
        harness_eval(&h, 0, 0, &b);
        ck_assert_int_eq(b.b.token[0], id_of(IDS - IDS / 10));
        harness_close(&h);
    }
}

TEST(the_vocabulary_is_that_of_the_data_or_as_given)
{
    static unsigned char bytes[2 * IDS];
    struct harness h;
    uint32_t largest = 0;
    size_t n = make_file(bytes, 0, 0, 0, 2);
    for (int64_t i = 0; i < IDS; i++)
        largest = id_of(i) > largest ? id_of(i) : largest;
    data_must_open(&h, bytes, n, "", &decoder);
    ck_assert_int_eq(h.task.plan.vocab, largest + 1);
    harness_close(&h);
    data_must_open(&h, bytes, n, ", \"vocab\": 60000", &decoder);
    ck_assert_int_eq(h.task.plan.vocab, 60000);
    harness_close(&h);
    peat_task_plan encoder = decoder;
    encoder.arch = PEAT_ENCODER;
    data_must_open(&h, bytes, n, ", \"vocab\": 60000", &encoder);
    ck_assert_int_eq(h.task.plan.vocab, 60001);
    harness_close(&h);
    char text[128];
    snprintf(text, sizeof(text), "is not below vocab = %d", (int)largest);
    char more[64];
    snprintf(more, sizeof(more), ", \"vocab\": %d", (int)largest);
    data_refused(bytes, n, more, &decoder, text);
}

TEST(a_file_of_its_own_validates)
{
    static unsigned char bytes[2 * IDS];
    struct harness h;
    struct batch b;
    char json[256];
    size_t n = make_file(bytes, 0, 0, 0, 2);
    char *train = data_write(bytes, n), *valid = data_write(bytes + 400, 200);
    snprintf(json, sizeof(json), "{\"path\": \"%s\", \"valid_path\": \"%s\"}", train, valid);
    ck_assert_msg(harness_task(&h, TASK, json, &decoder) == PEAT_OK, "%s", h.err.text);
    batch_init(&b, &h.arena, 64, SEQ_LEN);
    harness_eval(&h, 0, 0, &b);
    ck_assert_int_eq(b.b.B, 12);
    for (int64_t i = 0; i < b.b.B * SEQ_LEN; i++)
        ck_assert_int_eq(b.b.token[i], id_of(200 + i));
    bool end = false;
    for (int64_t step = 1; step < 200; step++) {
        harness_train(&h, 1, step, &b);
        for (int64_t i = 0; i < b.b.B; i++)
            end = end || b.b.sequence[i] >= IDS - IDS / 10;
    }
    ck_assert_msg(end, "the end of path is not trained");
    harness_close(&h);
    data_forget(train);
    data_forget(valid);
}

/* The end of path still validates; the whole of test_path is the test part. */
TEST(a_file_of_its_own_is_the_test_part)
{
    static unsigned char bytes[2 * IDS];
    struct harness h;
    struct batch b;
    char json[256];
    size_t n = make_file(bytes, 0, 0, 0, 2);
    char *train = data_write(bytes, n), *test = data_write(bytes + 400, 200);
    peat_task_plan plan = decoder;
    plan.test = 0.5;
    snprintf(json, sizeof(json), "{\"path\": \"%s\", \"test_path\": \"%s\"}", train, test);
    ck_assert_msg(harness_task(&h, TASK, json, &plan) == PEAT_OK, "%s", h.err.text);
    ck_assert_int_eq(h.task.plan.eval_sequences[0], (IDS / 10 - 1) / SEQ_LEN);
    ck_assert_int_eq(h.task.plan.test_sequences[0], 12);
    batch_init(&b, &h.arena, 64, SEQ_LEN);
    harness_eval(&h, 0, 0, &b);
    ck_assert_int_eq(b.b.token[0], id_of(IDS - IDS / 10));
    harness_test(&h, 0, 0, &b);
    ck_assert_int_eq(b.b.B, 12);
    for (int64_t i = 0; i < b.b.B * SEQ_LEN; i++)
        ck_assert_int_eq(b.b.token[i], id_of(200 + i));
    harness_close(&h);
    ck_assert_int_eq(harness_task(&h, TASK, json, &decoder), PEAT_REFUSED);
    ck_assert_msg(strstr(h.err.text, "test_path needs eval.test above 0"), "%s", h.err.text);
    harness_close(&h);
    data_forget(train);
    data_forget(test);
}

TEST(files_of_two_widths_are_refused)
{
    static unsigned char narrow[2 * IDS], wide[HEADER + 4 * IDS];
    struct harness h;
    char json[256];
    char *one = data_write(narrow, make_file(narrow, 0, 0, 0, 2));
    char *two = data_write(wide, make_file(wide, 20240801, 7, IDS, 4));
    snprintf(json, sizeof(json), "{\"path\": [\"%s\", \"%s\"]}", one, two);
    ck_assert_int_eq(harness_task(&h, TASK, json, &decoder), PEAT_REFUSED);
    ck_assert_msg(strstr(h.err.text, "one experiment takes files of one kind"), "%s", h.err.text);
    harness_close(&h);
    data_forget(one);
    data_forget(two);
}

TEST(damaged_files_are_refused_with_one_line)
{
    static unsigned char bytes[HEADER + 4 * IDS];
    static const char some_text[] = "This is a text and no tokens, with an even number of bytes.\n";
    size_t n = make_file(bytes, 20240520, 1, IDS, 2);
    data_refused(bytes, n - 2, "", &decoder,
                 "is a token file of llm.c with 4000 ids, which takes 9024 bytes, but it has 9022");
    data_refused(bytes, HEADER, "", &decoder, "which takes 9024 bytes, but it has 1024");
    n = make_file(bytes, 20240520, 2, IDS, 2);
    data_refused(bytes, n, "", &decoder,
                 "is a token file of llm.c of version 2, and only 1 is known");
    n = make_file(bytes, 20240801, 7, UINT32_MAX, 4);
    data_refused(bytes, n, "", &decoder, "with 4294967295 ids, which takes 17179870204 bytes");
    n = make_file(bytes, 0, 0, 0, 2);
    data_refused(bytes, n - 1, "", &decoder,
                 "has 7999 bytes, and ids of 2 bytes need an even number; is it truncated?");
    data_refused(bytes, 0, "", &decoder, "' is empty");
    data_refused(bytes, 2, "", &decoder, "the training text has 1 tokens");
    data_refused(some_text, sizeof(some_text) - 1, "", &decoder, "is text; the task 'text' reads");
    data_refused("\x1f\x8b\x08 34567890123", 14, "", &decoder, "is packed with gzip");
    make_file(bytes, 20240801, 7, IDS, 4);
    put(bytes + HEADER + 400, 1u << 31, 4);
    data_refused(bytes, HEADER + 4 * IDS, "", &decoder,
                 "id 2147483648 at place 100 is not below the largest vocabulary, 16777216");
}

/* ---- arrays of NumPy's ---- */

/* Version 1 of the format; its number of bytes. */
static size_t make_npy(unsigned char *out, const char *dtype, const char *shape, int64_t n)
{
    size_t width = (size_t)(dtype[2] - '0'), at = 10;
    memcpy(out, "\x93NUMPY\1\0", 8);
    at +=
        (size_t)sprintf((char *)out + at,
                        "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }\n", dtype, shape);
    put(out + 8, (uint32_t)(at - 10), 2);
    for (int64_t i = 0; i < n; i++, at += width)
        for (size_t k = 0; k < width; k++) {
            size_t from = dtype[0] == '>' ? width - 1 - k : k;
            out[at + k] = (unsigned char)(from < 4 ? id_of(i) % 200 >> 8 * from : 0);
        }
    return at;
}

TEST(arrays_of_every_integer_dtype_are_their_ids)
{
    static const char *const dtypes[] = {"|u1", "<u2", ">u2", "<i2", "<u4", ">i4", "<i8", ">u8"};
    static unsigned char bytes[256 + 8 * IDS];
    for (size_t k = 0; k < sizeof(dtypes) / sizeof(*dtypes); k++) {
        struct harness h;
        struct batch b;
        data_must_open(&h, bytes, make_npy(bytes, dtypes[k], "4000,", IDS), "", &decoder);
        ck_assert_int_eq(h.task.plan.n_first, PEAT_FIRST_TOKENS);
        batch_init(&b, &h.arena, 16, SEQ_LEN);
        harness_train(&h, 1, 1, &b);
        for (int64_t i = 0; i < 16 * SEQ_LEN; i++)
            ck_assert_int_eq(b.b.token[i], id_of(b.b.sequence[i / SEQ_LEN] + i % SEQ_LEN) % 200);
        for (int64_t i = 0; i < PEAT_FIRST_TOKENS; i++)
            ck_assert_int_eq(h.task.plan.first[i], id_of(i) % 200);
        harness_close(&h);
    }
}

TEST(arrays_of_other_numbers_are_refused)
{
    static unsigned char bytes[256 + 8 * IDS];
    data_refused(bytes, make_npy(bytes, "<f4", "4000,", IDS), "", &decoder,
                 "has numbers of dtype '<f4'; token ids are whole numbers");
    data_refused(bytes, make_npy(bytes, "<i4", "2000, 2", IDS), "", &decoder,
                 "has an array of 2 axes; token ids are on one");
    size_t n = make_npy(bytes, "<i4", "4000,", IDS);
    data_refused(bytes, n - 4, "", &decoder, "is it cut?");
    data_refused(bytes, n, ", \"vocab\": 100", &decoder, "is not below vocab = 100");
    put(bytes + n - 4 * (IDS - 7), (uint32_t)-3, 4);
    data_refused(bytes, n, "", &decoder, "has the number -3 at place 7; token ids are from 0");
}

/* ---- folders of pieces ---- */

/* Pieces 0 to 199: piece i is i % 7 letters, but that piece 3 is a newline, 4 a byte beyond ASCII
 * and 5 a backslash and an e with an accent. */
static void make_table(struct strbuf *out)
{
    strbuf_add(out, "# a comment\n0\t0\t\n1\t1\ta\n2\t2\t b\n3\t1\t\\x0A\n4\t1\t\\xC3\n"
                    "5\t3\t\\x5C\u00e9\n");
    for (int i = 6; i < 200; i++)
        strbuf_addf(out, "%d\t%d\t%.*s\n", i, i % 7, i % 7, "letters");
}

static void write_folder(char *path, size_t room, const char *table)
{
    static unsigned char bytes[256 + 8 * IDS];
    char name[128];
    new_folder(path, room);
    snprintf(name, sizeof(name), "%s/ids.npy", path);
    ck_assert_int_eq(file_write(name, bytes, make_npy(bytes, "<u2", "4000,", IDS), NULL), PEAT_OK);
    snprintf(name, sizeof(name), "%s/pieces.tsv", path);
    ck_assert_int_eq(file_write(name, table, strlen(table), NULL), PEAT_OK);
}

static peat_status open_folders(struct harness *h, const char *one, const char *two,
                                const char *more)
{
    char json[512];
    snprintf(json, sizeof(json), "{\"path\": [\"%s\"%s%s%s]%s}", one, two ? ", \"" : "",
             two ? two : "", two ? "\"" : "", more);
    return harness_task(h, TASK, json, &decoder);
}

static void assert_text(const struct harness *h, int32_t id, const char *expected)
{
    const char *text = task_token_text(&h->task, id, (struct arena *)(uintptr_t)&h->arena);
    if (expected)
        ck_assert_str_eq(text, expected);
    else
        ck_assert_ptr_null(text);
}

TEST(folder_of_pieces_says_texts_and_bytes)
{
    struct strbuf table = STRBUF_NEW;
    struct harness h;
    struct batch b;
    char dir[64];
    make_table(&table);
    write_folder(dir, sizeof(dir), table.text);
    ck_assert_msg(open_folders(&h, dir, NULL, "") == PEAT_OK, "%s", h.err.text);
    ck_assert_int_eq(h.task.plan.vocab, 200);
    batch_init(&b, &h.arena, 16, SEQ_LEN);
    harness_train(&h, 1, 1, &b);
    int64_t bytes = 0;
    for (int64_t i = 0; i < 16 * SEQ_LEN; i++) {
        int32_t id = b.b.target[i];
        bytes += id == 0 ? 0 : id == 5 ? 3 : id == 3 || id == 4 ? 1 : id % 7;
    }
    ck_assert_int_eq(b.b.units, bytes);
    assert_text(&h, 0, NULL);
    assert_text(&h, 1, "a");
    assert_text(&h, 2, " b");
    assert_text(&h, 3, "\n");
    assert_text(&h, 4, NULL);
    assert_text(&h, 5, "\\\u00e9");
    assert_text(&h, 199, "let");
    assert_text(&h, 200, NULL);
    /* 100 targets of 8 ln 2 nats and 50 bytes: 16 bits a byte; not known of a file. */
    const peat_metric *bpb = &h.task.hooks->metric[2];
    peat_sums sums = {.size = sizeof(sums), .nll = 800 * log(2), .targets = 100, .units = 50};
    ck_assert_str_eq(bpb->name, "bpb");
    ck_assert_double_eq_tol(bpb->value(&sums), 16, 1e-12);
    sums.units = 0;
    ck_assert(isnan(bpb->value(&sums)));
    harness_close(&h);
    strbuf_release(&table);
}

/* The head of the table says how many bytes of text the ids are. */
TEST(ids_of_another_text_are_refused)
{
    static const char said[] = "/ids.npy' is pieces of ";
    long long bytes = 1;
    for (int i = 0; i < 2; i++) {
        struct strbuf table = STRBUF_NEW;
        struct harness h;
        char dir[64];
        strbuf_addf(&table, "# of a text of %lld bytes, SHA-256 0\n", bytes - 40);
        strbuf_addf(&table, "# of a text of 40 bytes, SHA-256 0\n");
        make_table(&table);
        write_folder(dir, sizeof(dir), table.text);
        ck_assert_int_eq(open_folders(&h, dir, NULL, ""), i ? PEAT_OK : PEAT_REFUSED);
        if (i == 0)
            bytes = strtoll(strstr(h.err.text, said) + strlen(said), NULL, 10);
        ck_assert_int_gt(bytes, IDS);
        harness_close(&h);
        strbuf_release(&table);
    }
}

TEST(folders_that_do_not_fit_are_refused)
{
    static const char *const bad[] = {"",
                                      "0\t0\t\n2\t1\ta\n",
                                      "0\t0\t",
                                      "0\t256\ta\n",
                                      "0 0 a\n",
                                      "text\n",
                                      "# only this",
                                      "0\t0\t\n1\t9\tabcd\n",
                                      "0\t1\tab\n",
                                      "0\t3\t\\x41\n"};
    struct strbuf table = STRBUF_NEW;
    struct harness h;
    char dir[64], other[64], file[128];
    make_table(&table);
    write_folder(dir, sizeof(dir), table.text);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        write_folder(other, sizeof(other), bad[i]);
        ck_assert_int_eq(open_folders(&h, other, NULL, ""), PEAT_REFUSED);
        ck_assert_msg(strstr(h.err.text, "is not a table of pieces"), "%s", h.err.text);
        harness_close(&h);
    }
    write_folder(other, sizeof(other), "# 3 pieces: x\n0\t1\ta\n1\t1\tb\n");
    ck_assert_int_eq(open_folders(&h, other, NULL, ""), PEAT_REFUSED);
    ck_assert_msg(strstr(h.err.text, "has 2 pieces, and its head says 3"), "%s", h.err.text);
    harness_close(&h);
    write_folder(other, sizeof(other), "0\t1\ta\n1\t1\tb\n");
    snprintf(file, sizeof(file), "%s/ids.npy", dir);
    const struct {
        const char *one, *two, *more, *said;
    } refused[] = {
        {other, NULL, "", "is not below the number of pieces, 2"},
        {dir, other, "", "has other pieces than"},
        {dir, file, "", "is a file and others are folders: one experiment takes files of one kind"},
        {file, dir, "", "is a folder and others are files"},
        {dir, NULL, ", \"vocab\": 300", "vocab = 300, and '"},
    };
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
        ck_assert_int_eq(open_folders(&h, refused[i].one, refused[i].two, refused[i].more),
                         PEAT_REFUSED);
        ck_assert_msg(strstr(h.err.text, refused[i].said), "%s", h.err.text);
        harness_close(&h);
    }
    ck_assert_int_eq(open_folders(&h, dir, dir, ""), PEAT_OK);
    harness_close(&h);
    strbuf_release(&table);
}

/* ---- other formats ---- */

static const struct {
    const char *start, *name;
    size_t n;
} foreign[] = {
    {"\x12\0\0\0\0\0\0\0{\"__metadata__\":{}}", "is a safetensors file", 26},
    {"PAR1\x15\0", "is a Parquet table", 6},
    {"\x89PNG\r\n\x1a\n", "is a PNG image", 8},
    {"\xff\xd8\xff\xe0", "is a JPEG image", 4},
    {"\x7f"
     "ELF\2\1",
     "is an ELF program or library", 6},
    {"%PDF-1.7\n", "is a PDF document", 9},
    {"PK\3\4", "is packed with zip: unpack it first", 4},
    {"\x1f\x8b\x08", "is packed with gzip", 3},
    {"\xfd"
     "7zXZ\0",
     "is packed with xz", 6},
    {"\x28\xb5\x2f\xfd", "is packed with zstd", 4},
    {"BZh91AY&SY", "is packed with bzip2", 10},
    {"\x89HDF\r\n\x1a\n", "is an HDF5 file", 8},
    {"SQLite format 3", "is an SQLite database", 16},
    {"ARROW1\0", "is an Arrow table", 8},
    {"\xff\xfeT\0h\0", "is text in UTF-16", 6},
};

TEST(files_of_other_formats_are_refused_by_name)
{
    for (size_t i = 0; i < sizeof(foreign) / sizeof(*foreign); i++) {
        unsigned char bytes[2 * IDS] = {0};
        memcpy(bytes, foreign[i].start, foreign[i].n);
        data_refused(bytes, sizeof(bytes), "", &decoder, foreign[i].name);
    }
}

PLUGIN_TESTS(TASK)
