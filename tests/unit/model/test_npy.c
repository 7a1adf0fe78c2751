/* SPDX-License-Identifier: MIT */
/* test_npy.c: arrays of NumPy's, and what is refused in their place. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/npy.h"
#include "model/foreign_numbers.h"
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

/* As weights are read from it. */
static peat_status npy_parse(const void *file, size_t size, struct tensor *t)
{
    struct npy f;
    peat_status status = npy_open(&f, file, size, "t.npy", &err);
    return status == PEAT_OK ? numbers_of_npy(&f, &a, t, &err) : status;
}

static peat_status parse(int version, const char *header, const void *data, size_t n,
                         struct tensor *t)
{
    size_t size;
    unsigned char *file = file_of(version, header, data, n, &size);
    ck_assert(npy_is(file, size));
    peat_status status = npy_parse(file, size, t);
    free(file);
    return status;
}

START_TEST(reals_of_each_kind_are_read)
{
    static const float f4[] = {1.5f, -2, 0, 3e8f, 0.25f, 7};
    static const double f8[] = {1.5, -2, 1e-300, 3e8, 0.25, 7};
    /* 1.5, -2, 0, the largest, the smallest, the smallest normal one */
    static const uint16_t f2[] = {0x3e00, 0xc000, 0, 0x7bff, 0x0001, 0x0400};
    static const double halves[] = {1.5, -2, 0, 65504, 0x1p-24, 0x1p-14};
    struct tensor t;
    for (int version = 1; version <= 3; version++) {
        ck_assert_msg(parse(version,
                            "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", f4,
                            sizeof(f4), &t) == PEAT_OK,
                      "%s", err.text);
        ck_assert_int_eq(t.dtype, PEAT_F32);
        ck_assert(t.rank == 2 && t.dim[0] == 2 && t.dim[1] == 3);
        ck_assert_mem_eq(t.data, f4, sizeof(f4));
    }
    ck_assert_int_eq(
        parse(1, "{\"shape\":(6,),\"descr\":\"<f8\",\"fortran_order\":False}", f8, sizeof(f8), &t),
        PEAT_OK);
    ck_assert_mem_eq(t.data, f8, sizeof(f8));
    ck_assert_int_eq(
        parse(1, "{'descr': '<f2', 'fortran_order': False, 'shape': (3, 2)}", f2, sizeof(f2), &t),
        PEAT_OK);
    for (int i = 0; i < 6; i++)
        ck_assert_double_eq(tensor_get(&t, i), halves[i]);
    ck_assert_int_eq(parse(1, "{'descr': '<f4', 'fortran_order': False, 'shape': ()}", f4, 4, &t),
                     PEAT_OK);
    ck_assert_int_eq(t.rank, 0);
}
END_TEST

START_TEST(what_is_not_finite_is_found)
{
    static const uint16_t f2[] = {0x3e00, 0x7c00, 0x7e00};
    struct tensor t;
    ck_assert_int_eq(
        parse(1, "{'descr': '<f2', 'fortran_order': False, 'shape': (3,)}", f2, sizeof(f2), &t),
        PEAT_OK);
    ck_assert(isinf(tensor_get(&t, 1)) && isnan(tensor_get(&t, 2)));
    ck_assert_int_eq(numbers_not_finite(&t), 1);
}
END_TEST

#define F4(shape) "{'descr': '<f4', 'fortran_order': False, 'shape': " shape "}"

static const struct {
    const char *header, *says;
} bad[] = {
    {F4("(2, 3)"), "'t.npy' has 20 bytes of numbers, its shape takes 24: is it cut?"},
    {F4("(4,)"), "20 bytes of numbers, its shape takes 16"},
    {F4("(9223372036854775807, 9)"), "the size of its shape overflows"},
    {F4("(4611686018427387904,)"), "the size of its shape overflows"},
    {F4("(99999999999999999999,)"), "'shape' is not of whole numbers"},
    {F4("(-1, 5)"), "'shape' is not of whole numbers"},
    {F4("(5 5)"), "'shape' is not of whole numbers"},
    {F4("5"), "'shape' is not a tuple"},
    {F4("(1,1,1,1,1,1,5)"), "more than 6 axes"},
    {"{'descr': '<i4', 'fortran_order': False, 'shape': (5,)}",
     "numbers of dtype '<i4'; weights are made of '<f2', '<f4' and '<f8'"},
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

START_TEST(malformed_file_is_refused_with_its_reason)
{
    static const float data[5];
    struct tensor t;
    ck_assert_int_eq(parse(1, bad[_i].header, data, sizeof(data), &t), PEAT_INVALID);
    ck_assert_msg(strstr(err.text, bad[_i].says), "%s", err.text);
}
END_TEST

START_TEST(truncated_file_is_refused_at_every_length)
{
    static const float data[] = {1, 2, 3, 4};
    size_t size;
    struct tensor t;
    for (int version = 1; version <= 3; version++) {
        unsigned char *whole = file_of(version, F4("(4,)"), data, sizeof(data), &size);
        for (size_t n = 0; n < size; n++) {
            unsigned char *cut = malloc(n ? n : 1);
            memcpy(cut, whole, n);
            ck_assert_int_eq(npy_parse(cut, n, &t), PEAT_INVALID);
            free(cut);
        }
        ck_assert_int_eq(npy_parse(whole, size, &t), PEAT_OK);
        free(whole);
    }
}
END_TEST

/* A byte 0 in the name of a dtype is no end of it. */
START_TEST(dtype_with_a_zero_in_it_is_refused)
{
    static const float data[5];
    size_t size;
    struct tensor t;
    unsigned char *file = file_of(1, F4("(5,)") " ", data, sizeof(data), &size);
    ck_assert_int_eq(npy_parse(file, size, &t), PEAT_OK);
    char *dtype = memmem(file, size, "<f4'", 4);
    memmove(dtype + 4, dtype + 3, (size_t)((char *)file + size - sizeof(data) - 1 - dtype - 3));
    dtype[3] = '\0';
    ck_assert_int_eq(npy_parse(file, size, &t), PEAT_INVALID);
    free(file);
}
END_TEST

START_TEST(number_beyond_fp32_is_found)
{
    static const double f8[] = {1.5, 3.4028234663852886e38, 1e300};
    struct tensor t;
    ck_assert_int_eq(
        parse(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (3,)}", f8, sizeof(f8), &t),
        PEAT_OK);
    ck_assert_int_eq(numbers_not_finite(&t), 2);
}
END_TEST

START_TEST(header_length_and_version_are_checked)
{
    unsigned char file[64] = "\x93NUMPY";
    struct tensor t;
    memset(file + 6, 0xff, 6);
    for (int version = 0; version < 6; version++) {
        file[6] = (unsigned char)version;
        ck_assert_int_eq(npy_parse(file, sizeof(file), &t), PEAT_INVALID);
        ck_assert_ptr_nonnull(strstr(err.text, version >= 1 && version <= 3
                                                   ? "it ends in its header"
                                                   : "its version is none of 1, 2 and 3"));
    }
}
END_TEST

int main(void)
{
    return run_list((struct tests){"npy", set_up, tear_down,
                                   .loops = LOOPS({malformed_file_is_refused_with_its_reason,
                                                   (int)(sizeof(bad) / sizeof(*bad))})},
                    TESTS(reals_of_each_kind_are_read, what_is_not_finite_is_found,
                          dtype_with_a_zero_in_it_is_refused, number_beyond_fp32_is_found,
                          truncated_file_is_refused_at_every_length,
                          header_length_and_version_are_checked));
}
