/* SPDX-License-Identifier: MIT */
/* test_safetensors.c: the bytes written, and what is refused when reading. */
#include "model/safetensors.h"
#include "support/golden_file.h"
#include "support/support.h"

static struct arena a;
static struct error err;

static void set_up(void)
{
    scratch_make();
    arena_init(&a, "test", 4096);
    err = (struct error){0};
}

static void tear_down(void)
{
    arena_release(&a);
    scratch_remove();
}

static struct named_tensor filled(const char *name, peat_dtype dtype, int rank, const int64_t *dim)
{
    struct named_tensor t = {name, tensor_new(&a, dtype, rank, dim)};
    for (int64_t i = 0; i < tensor_count(&t.tensor); i++)
        tensor_set(&t.tensor, i, (double)i + 1.0);
    return t;
}

TEST(bytes_are_those_of_the_format)
{
    static const char header[] = "{\"__metadata__\":{\"format\":\"pt\"},"
                                 "\"z\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0,8]},"
                                 "\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,16]},"
                                 "\"b\":{\"dtype\":\"I32\",\"shape\":[],\"data_offsets\":[16,20]}"
                                 "}       ";
    static const unsigned char data[] = {0, 0, 0,    0,    0, 0, 0xf0, 0x3f, /* 1.0 */
                                         0, 0, 0x80, 0x3f,                   /* 1.0f */
                                         0, 0, 0,    0x40,                   /* 2.0f */
                                         1, 0, 0,    0};
    _Static_assert((sizeof(header) - 1) % 8 == 0, "the header is padded");
    const int64_t one = 1, two = 2;
    struct named_tensor t[] = {filled("b", PEAT_I32, 0, NULL), filled("a", PEAT_F32, 1, &two),
                               filled("z", PEAT_F64, 1, &one)};
    ck_assert_int_eq(safetensors_write(scratch_path("f"), t, 3, NULL, NULL), PEAT_OK);
    char *bytes;
    size_t n;
    ck_assert_int_eq(file_read(scratch_path("f"), 0, &bytes, &n, NULL), PEAT_OK);
    ck_assert_uint_eq(n, 8 + sizeof(header) - 1 + sizeof(data));
    const unsigned char length[8] = {(unsigned char)(sizeof(header) - 1)};
    ck_assert_mem_eq(bytes, length, 8);
    ck_assert_mem_eq(bytes + 8, header, sizeof(header) - 1);
    ck_assert_mem_eq(bytes + 8 + sizeof(header) - 1, data, sizeof(data));
    free(bytes);
}

TEST(what_is_written_is_read_back_sorted_by_name)
{
    const int64_t cube[] = {3, 4, 5}, empty[] = {2, 0}, deep[] = {1, 2, 1, 2, 1, 2};
    struct named_tensor t[] = {
        filled("w/\"q\"\n", PEAT_F32, 3, cube), filled("none", PEAT_F32, 2, empty),
        filled("deep", PEAT_F64, 6, deep), filled("\xc3\xa9", PEAT_I32, 0, NULL)};
    struct value *metadata = value_map(&a, (struct place){0}), *found;
    value_set(&a, metadata, "scheme", (struct place){0},
              value_text(&a, (struct place){0}, "rotary"));
    ck_assert_int_eq(safetensors_write(scratch_path("f"), t, 4, metadata, NULL), PEAT_OK);

    struct named_tensor *back;
    int n;
    ck_assert_msg(safetensors_read(scratch_path("f"), &a, &back, &n, &found, &err) == PEAT_OK, "%s",
                  err.text);
    ck_assert_int_eq(n, 4);
    ck_assert_str_eq(value_get(found, "scheme")->text, "rotary");
    ck_assert_str_eq(value_get(found, "format")->text, "pt");
    for (int i = 1; i < n; i++)
        ck_assert_int_lt(strcmp(back[i - 1].name, back[i].name), 0);
    for (int i = 0; i < 4; i++) {
        const struct named_tensor *x = safetensors_find(back, n, t[i].name);
        ck_assert_ptr_nonnull(x);
        ck_assert_int_eq(x->tensor.dtype, t[i].tensor.dtype);
        ck_assert(tensor_same_shape(&x->tensor, &t[i].tensor));
        ck_assert_uint_eq((uintptr_t)x->tensor.data % 64, 0);
        if (tensor_bytes(&x->tensor))
            ck_assert_mem_eq(x->tensor.data, t[i].tensor.data, tensor_bytes(&x->tensor));
    }
    ck_assert_ptr_null(safetensors_find(back, n, "deeper"));
}

TEST(file_without_tensors_is_legal)
{
    struct named_tensor *t;
    int n;
    ck_assert_int_eq(safetensors_write(scratch_path("f"), NULL, 0, NULL, NULL), PEAT_OK);
    ck_assert_int_eq(safetensors_read(scratch_path("f"), &a, &t, &n, NULL, NULL), PEAT_OK);
    ck_assert_int_eq(n, 0);
    ck_assert_ptr_null(safetensors_find(t, n, "x"));
}

TEST(missing_file_is_not_found)
{
    struct named_tensor *t;
    int n;
    ck_assert_int_eq(safetensors_read(scratch_path("absent"), &a, &t, &n, NULL, NULL),
                     PEAT_NOTFOUND);
}

static int digit(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* In memory of its very size, so that a sanitizer sees a read beyond the end. */
static unsigned char *bytes_of(const char *hex, size_t *n)
{
    *n = strlen(hex) / 2;
    unsigned char *bytes = malloc(*n ? *n : 1);
    for (size_t i = 0; i < *n; i++)
        bytes[i] = (unsigned char)(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
    return bytes;
}

/* The fixtures are also those of peat.safetensors in Python. PEAT's own files have fewer dtypes. */
TEST(a_file_is_read_or_refused_with_the_reason_that_python_gives)
{
    const struct value *files = golden_read("safetensors.json", &a);
    for (int i = 0; i < files->n; i++) {
        size_t size;
        struct safetensors f;
        struct named_tensor *t;
        int n;
        unsigned char *bytes = bytes_of(json_get_text(files->item[i], "bytes"), &size);
        const char *says = json_get_text(files->item[i], "says"), *other = "has dtype '";
        char text[200];
        snprintf(text, sizeof(text), "f: %s", says);
        err.text[0] = '\0';
        ck_assert_int_eq(safetensors_open(&f, bytes, size, "f", &a, &err),
                         *says ? PEAT_CORRUPT : PEAT_OK);
        ck_assert_msg(*says ? !strncmp(err.text, text, strlen(text)) : !err.text[0],
                      "%d: '%s', not '%s'", i, err.text, text);
        err.text[0] = '\0';
        peat_status own = safetensors_parse(bytes, size, "f", &a, &t, &n, NULL, &err);
        ck_assert_msg(*says ? own == PEAT_CORRUPT : own == PEAT_OK || strstr(err.text, other),
                      "%d: '%s'", i, err.text);
        free(bytes);
    }
}

TEST(truncated_file_is_refused_at_every_length)
{
    const int64_t dim[] = {3, 2};
    struct named_tensor t[] = {filled("a", PEAT_F32, 2, dim), filled("b", PEAT_F64, 2, dim)};
    ck_assert_int_eq(safetensors_write(scratch_path("f"), t, 2, NULL, NULL), PEAT_OK);
    char *bytes;
    size_t size;
    ck_assert_int_eq(file_read(scratch_path("f"), 0, &bytes, &size, NULL), PEAT_OK);
    for (size_t n = 0; n < size; n++) {
        struct named_tensor *back;
        int count;
        char *exact = malloc(n ? n : 1); /* so that a sanitizer sees a read beyond the end */
        memcpy(exact, bytes, n);
        ck_assert_int_eq(safetensors_parse(exact, n, "f", &a, &back, &count, NULL, NULL),
                         PEAT_CORRUPT);
        free(exact);
    }
    free(bytes);
}

/* ---- files of others ---- */

/* BF16 1.5 -2, F16 0.5 1, I64 7, F32 1 2, F64 3. */
static const char foreign[] = "{\"b\":{\"dtype\":\"BF16\",\"shape\":[1,2],\"data_offsets\":[0,4]},"
                              "\"h\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[4,8]},"
                              "\"i\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[8,16]},"
                              "\"f\":{\"dtype\":\"F32\",\"shape\":[2,1],\"data_offsets\":[16,24]},"
                              "\"d\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[24,32]}}";
static const unsigned char foreign_data[] = {0xc0, 0x3f, 0, 0xc0, 0, 0x38, 0, 0x3c, 7,    0,   0,
                                             0,    0,    0, 0,    0, 0,    0, 0x80, 0x3f, 0,   0,
                                             0,    0x40, 0, 0,    0, 0,    0, 0,    8,    0x40};

/* In memory of its very size. */
static unsigned char *foreign_file(size_t *n)
{
    *n = 8 + sizeof(foreign) - 1 + sizeof(foreign_data);
    unsigned char *file = malloc(*n);
    uint64_t length = sizeof(foreign) - 1;
    memcpy(file, &length, 8);
    memcpy(file + 8, foreign, sizeof(foreign) - 1);
    memcpy(file + 8 + sizeof(foreign) - 1, foreign_data, sizeof(foreign_data));
    return file;
}

TEST(one_tensor_of_a_file_of_others_is_taken)
{
    static const struct {
        const char *name;
        peat_dtype dtype;
        int rank;
        double first, last;
    } tensor[] = {{"b", PEAT_F32, 2, 1.5, -2},
                  {"h", PEAT_F32, 1, 0.5, 1},
                  {"f", PEAT_F32, 2, 1, 2},
                  {"d", PEAT_F64, 1, 3, 3}};
    size_t n;
    struct safetensors f;
    struct tensor t;
    unsigned char *file = foreign_file(&n);
    ck_assert_msg(safetensors_open(&f, file, n, "f", &a, &err) == PEAT_OK, "%s", err.text);
    ck_assert_ptr_null(safetensors_only(&f));
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(safetensors_take(&f, tensor[i].name, &a, &t, &err), PEAT_OK);
        ck_assert_int_eq(t.dtype, tensor[i].dtype);
        ck_assert_int_eq(t.rank, tensor[i].rank);
        ck_assert_double_eq(tensor_get(&t, 0), tensor[i].first);
        ck_assert_double_eq(tensor_get(&t, tensor_count(&t) - 1), tensor[i].last);
    }
    ck_assert_int_eq(safetensors_take(&f, "i", &a, &t, &err), PEAT_INVALID);
    ck_assert_str_eq(err.text,
                     "tensor 'i' of 'f' has dtype I64; weights are made of F32, F64, F16 and BF16");
    ck_assert_int_eq(safetensors_take(&f, "x", &a, &t, &err), PEAT_NOTFOUND);
    ck_assert_str_eq(err.text, "'f' has no tensor 'x'; it has b, h, i, f, d");
    struct named_tensor *all;
    int count;
    ck_assert_int_eq(safetensors_parse(file, n, "f", &a, &all, &count, NULL, &err), PEAT_CORRUPT);
    ck_assert_ptr_nonnull(strstr(err.text, "dtype 'BF16'; F32, F64 and I32 can be read"));
    free(file);
}

TEST(a_file_of_others_is_refused_at_every_length)
{
    size_t size;
    unsigned char *file = foreign_file(&size);
    struct safetensors f;
    for (size_t n = 0; n < size; n++) {
        unsigned char *cut = malloc(n ? n : 1);
        memcpy(cut, file, n);
        ck_assert_int_eq(safetensors_open(&f, cut, n, "f", &a, &err), PEAT_CORRUPT);
        free(cut);
    }
    free(file);
}

int main(void)
{
    return run_tests((struct tests){"safetensors", set_up, tear_down, .needs = "PEAT_SOURCE"});
}
