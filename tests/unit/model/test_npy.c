/* SPDX-License-Identifier: MIT */
/* test_npy.c: arrays of NumPy's, and what is refused in their place. */
#include "support/support.h"

static struct arena a;
static struct error err;

static void set_up(void)
{
    arena_init(&a, "test", 4096);
    err = (struct error){0};
}

static void tear_down(void)
{
    arena_release(&a);
}

/* A file of this version, header and data, in memory of its very size. */
static unsigned char *file_of(int version, const char *header, const void *data, size_t n,
                              size_t *size)
{
    size_t text = strlen(header), before = version == 1 ? 10 : 12;
    *size = before + text + n;
    unsigned char *file = calloc(*size, 1);
    memcpy(file, "\x93NUMPY", 6);
    file[6] = (unsigned char)version;
    file[8] = (unsigned char)text;
    file[9] = (unsigned char)(text >> 8);
    memcpy(file + before, header, text);
    if (n)
        memcpy(file + before + text, data, n);
    return file;
}

static peat_status npy_parse(const void *file, size_t size)
{
    struct npy f;
    const int32_t *id;
    peat_status status = npy_open(&f, file, size, "t.npy", &err);
    return status == PEAT_OK ? npy_ids(&f, &a, &id, &err) : status;
}

static peat_status parse(int version, const char *header, const void *data, size_t n)
{
    size_t size;
    unsigned char *file = file_of(version, header, data, n, &size);
    ck_assert(npy_is(file, size));
    peat_status status = npy_parse(file, size);
    free(file);
    return status;
}

#define I4(shape) "{'descr': '<i4', 'fortran_order': False, 'shape': " shape "}"

static const struct {
    const char *header, *says;
} bad[] = {
    {I4("(2, 3)"), "'t.npy' has 20 bytes of numbers, its shape takes 24: is it cut?"},
    {I4("(4,)"), "20 bytes of numbers, its shape takes 16"},
    {I4("(9223372036854775807, 9)"), "the size of its shape overflows"},
    {I4("(4611686018427387904,)"), "the size of its shape overflows"},
    {I4("(99999999999999999999,)"), "'shape' is not of whole numbers"},
    {I4("(-1, 5)"), "'shape' is not of whole numbers"},
    {I4("(5 5)"), "'shape' is not of whole numbers"},
    {I4("5"), "'shape' is not a tuple"},
    {I4("(1,1,1,1,1,1,5)"), "more than 6 axes"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (5,)}",
     "numbers of dtype '<f4'; token ids are whole numbers"},
    {"{'descr': '>f4', 'fortran_order': False, 'shape': (5,)}", "numbers of dtype '>f4'"},
    {"{'descr': '|O', 'fortran_order': False, 'shape': (5,)}", "numbers of dtype '|O'"},
    {"{'descr': '<f4\n', 'fortran_order': False, 'shape': (5,)}", "a dtype that cannot be read"},
    {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (5,)}", "an array of records"},
    {"{'descr': '<f4', 'fortran_order': True, 'shape': (5,)}", "is in Fortran order"},
    {"{'descr': '<f4', 'fortran_order': 0, 'shape': (5,)}", "neither True nor False"},
    {"{'descr': '<f4', 'shape': (5,)}", "its header lacks"},
    {"{'descr': '<f4', 'descr': '<f4', 'shape': (5,)}", "other keys than"},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (5,)} x", "its header lacks"},
    {"{'descr': '<f4' 'fortran_order': False}", "its header is not a dict"},
    {"{'descr", "its header is not a dict"},
    {"{", "its header is not a dict"},
    {"", "its header is not a dict"},
    {"[]", "its header is not a dict"},
};

LOOP_TEST(malformed_file_is_refused_with_its_reason, sizeof(bad) / sizeof(*bad))
{
    static const int32_t data[5];
    ck_assert_int_eq(parse(1, bad[_i].header, data, sizeof(data)), PEAT_INVALID);
    ck_assert_msg(strstr(err.text, bad[_i].says), "%s", err.text);
}

TEST(truncated_file_is_refused_at_every_length)
{
    static const int32_t data[] = {1, 2, 3, 4};
    size_t size;
    for (int version = 1; version <= 3; version++) {
        unsigned char *whole = file_of(version, I4("(4,)"), data, sizeof(data), &size);
        for (size_t n = 0; n < size; n++) {
            unsigned char *cut = malloc(n ? n : 1);
            memcpy(cut, whole, n);
            ck_assert_int_eq(npy_parse(cut, n), PEAT_INVALID);
            free(cut);
        }
        ck_assert_int_eq(npy_parse(whole, size), PEAT_OK);
        free(whole);
    }
}

/* A byte 0 in the name of a dtype is no end of it. */
TEST(dtype_with_a_zero_in_it_is_refused)
{
    static const int32_t data[5];
    size_t size;
    unsigned char *file = file_of(1, I4("(5,)") " ", data, sizeof(data), &size);
    ck_assert_int_eq(npy_parse(file, size), PEAT_OK);
    char *dtype = memmem(file, size, "<i4'", 4);
    memmove(dtype + 4, dtype + 3, (size_t)((char *)file + size - sizeof(data) - 1 - dtype - 3));
    dtype[3] = '\0';
    ck_assert_int_eq(npy_parse(file, size), PEAT_INVALID);
    free(file);
}

TEST(header_length_and_version_are_checked)
{
    unsigned char file[64] = "\x93NUMPY";
    memset(file + 6, 0xff, 6);
    for (int version = 0; version < 6; version++) {
        file[6] = (unsigned char)version;
        ck_assert_int_eq(npy_parse(file, sizeof(file)), PEAT_INVALID);
        ck_assert_ptr_nonnull(strstr(err.text, version >= 1 && version <= 3
                                                   ? "it ends in its header"
                                                   : "its version is none of 1, 2 and 3"));
    }
}

int main(void)
{
    return run_tests((struct tests){"npy", set_up, tear_down});
}
