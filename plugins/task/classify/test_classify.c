/* SPDX-License-Identifier: MIT */
/* The task 'classify': rows of a table become texts with labels, each on one side of the split. */
#define TASK "classify"
#include "../data_tests.h"

enum { BYTE = 3, LABEL = BYTE + 256, ROWS = 400 };

static const peat_task_plan encoder = {.arch = PEAT_ENCODER, .seq_len = 16};

/* Text i is "<i>?" and its label the parity of i. */
static size_t make_table(char *out, char delimiter)
{
    char *at = out;
    for (int i = 0; i < ROWS; i++)
        at += sprintf(at, "%d?%c%s\n", i, delimiter, i % 2 ? "odd" : "even");
    return (size_t)(at - out);
}

/* The text of a row, whose frame and label must be right. */
static int assert_row(const peat_batch *b, int64_t row)
{
    char text[64] = "";
    const int32_t *token = b->token + row * b->T;
    int64_t n = 0;
    ck_assert_int_eq(token[0], 0);
    while (token[1 + n] != 1) {
        text[n] = (char)(token[1 + n] - BYTE);
        n++;
    }
    int i = atoi(text);
    ck_assert_int_eq(text[n - 1], '?');
    ck_assert_int_eq(b->target[row * b->T + n + 1], LABEL + i % 2);
    for (int64_t k = 0; k < b->T; k++)
        ck_assert(b->pad[row * b->T + k] == (k > n + 1) &&
                  (b->target[row * b->T + k] >= 0) == (k == n + 1));
    return i;
}

TEST(texts_are_on_one_side_of_the_split)
{
    static char bytes[ROWS * 16];
    for (int tab = 0; tab < 2; tab++) {
        struct harness h;
        struct batch b;
        bool trained[ROWS] = {false}, valid[ROWS] = {false};
        int n = 0;
        data_must_open(&h, bytes, make_table(bytes, tab ? '\t' : ','), "", &encoder);
        ck_assert_int_eq(h.task.plan.vocab, LABEL + 2);
        batch_init(&b, &h.arena, 32, 16);
        for (int64_t step = 1; step < 100; step++) {
            harness_train(&h, 1, step, &b);
            for (int64_t i = 0; i < b.b.B; i++)
                trained[assert_row(&b.b, i)] = true;
        }
        for (int64_t index = 0;; index++) {
            harness_eval(&h, 0, index, &b);
            if (b.b.B == 0)
                break;
            for (int64_t i = 0; i < b.b.B; i++)
                valid[assert_row(&b.b, i)] = true;
        }
        for (int i = 0; i < ROWS; i++) {
            ck_assert(!trained[i] || !valid[i]);
            n += valid[i];
        }
        ck_assert_msg(n > 20 && n < 65, "%d of 400 validate", n);
        harness_close(&h);
    }
}

/* A comma, a quote and a line end in a quoted field; lines that end in CR LF; labels by bytes. */
TEST(quoted_fields_are_read_as_rfc_4180_says)
{
    static const char text[] = "label,text\r\nz,\"a,\"\"b\"\"\nc\"\r\n\r\ny,d\r\nx,\"\"\r\n";
    struct harness h;
    struct batch b;
    peat_task_plan plan = {.arch = PEAT_DECODER, .seq_len = 12};
    char more[] = ", \"text\": 2, \"label\": 1, \"header\": true, \"valid\": 0.7";
    data_must_open(&h, text, sizeof(text) - 1, more, &plan);
    ck_assert_int_eq(h.task.plan.vocab, LABEL + 3);
    batch_init(&b, &h.arena, 8, 12);
    int64_t seen = 0;
    for (int64_t step = 1; step < 40; step++) {
        if (step == 39)
            harness_eval(&h, 0, 0, &b);
        else
            harness_train(&h, 1, step, &b);
        for (int64_t i = 0; i < b.b.B; i++) {
            const int32_t *token = b.b.token + i * b.b.T;
            if (b.b.target[i * b.b.T + 8] != LABEL + 2)
                continue;
            static const char expected[] = "a,\"b\"\nc";
            for (int k = 0; k < 7; k++)
                ck_assert_int_eq(token[1 + k], BYTE + expected[k]);
            seen++;
        }
    }
    ck_assert_int_gt(seen, 0);
    harness_close(&h);
}

TEST(long_texts_are_cut_at_the_length_asked)
{
    static char bytes[ROWS * 16];
    const int64_t length[] = {4, 16};
    struct harness h;
    peat_task_plan plan = {
        .arch = PEAT_DECODER, .seq_len = 16, .n_lengths = 2, .length = length, .eval_tokens = 10};
    data_must_open(&h, bytes, make_table(bytes, ','), "", &plan);
    ck_assert_int_eq(h.task.plan.eval_T[0], 4);
    ck_assert_int_eq(h.task.plan.eval_T[1], 6);
    struct batch b;
    batch_init(&b, &h.arena, 64, 6);
    harness_eval(&h, 0, 0, &b);
    ck_assert_int_eq(b.b.B, 10);
    for (int64_t i = 0; i < b.b.B; i++)
        ck_assert_int_ge(b.b.target[i * 4 + 3], LABEL);
    harness_close(&h);
}

TEST(plan_shows_the_first_tokens)
{
    static char bytes[ROWS * 16];
    data_begin_with(bytes, make_table(bytes, ','), "", &encoder, "'0?<sep>'");
}

TEST(damaged_tables_are_refused_with_one_line)
{
    static const struct {
        const char *text, *more, *says;
    } bad[] = {
        {"a,b\nc\n", "", ":2: column 2 is asked for, and there is 1"},
        {"a,b,c\n", ", \"label\": 5", ":1: column 5 is asked for, and there are 3"},
        {"a,b\nc,\"d\ne", "", ":2: a quote is not closed"},
        {"a,b\n\"c\"d,e\n", "", ":2: something follows a closed quote"},
        {"a,b\nc,b\n", "", "has only one label in column 2"},
        {"", "", "' has no rows"},
        {"a,b\n", ", \"header\": true", "' has no rows"},
        {"a,b\nc,d\n", ", \"text\": 2", "text and label are both column 2"},
        {"a,b\na,d\n", "", "validate; give more or change 'valid'"},
        {"\xff\xfe"
         "a,b",
         "", "is text in UTF-16: convert it to UTF-8"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        data_refused(bad[i].text, strlen(bad[i].text), bad[i].more, &encoder, bad[i].says);
    data_refused("a,b\n\0,d\n", 8, "", &encoder, "is not text: byte 4 is 0");
    char many[20000], *at = many;
    for (int i = 0; i < 1001; i++)
        at += sprintf(at, "t,%d\n", i);
    data_refused(many, (size_t)(at - many), "", &encoder,
                 "has more than 1000 different labels in column 2");
}

PLUGIN_TESTS(TASK)
