/* SPDX-License-Identifier: MIT */
/* The scheme 'shape': which shifts it draws, and what evaluation sees. */
#include "../scheme_tests.h"

enum { B = 2, T = 3 };

static void shifted(struct harness *h, peat_phase phase, int64_t step, double pos[B * T])
{
    const double count[] = {0, 1, 2, 0, 1, 2};
    memcpy(pos, count, sizeof(count));
    harness_call(h, B, T, B, count);
    h->call.base.phase = phase;
    h->call.base.step = step;
    ck_assert_int_eq(h->scheme->positions(&h->call.base, pos), PEAT_OK);
}

/* 3000 draws of 4 shifts: 750 each, deviation 24. */
TEST(each_sequence_has_one_shift_and_all_are_equally_likely)
{
    int64_t times[4] = {0}, apart = 0;
    struct harness h;
    double pos[B * T];
    scheme_open(&h, "shape", "{\"max\": 3}", 2, 4, T, true);
    for (int64_t step = 1; step <= 1500; step++) {
        shifted(&h, PEAT_TRAIN, step, pos);
        for (int64_t i = 0; i < B * T; i++)
            ck_assert_double_eq(pos[i], pos[i / T * T] + (double)(i % T));
        times[(int)pos[0]]++;
        times[(int)pos[T]]++;
        apart += pos[0] < pos[T] || pos[0] > pos[T];
    }
    for (int i = 0; i < 4; i++) {
        ck_assert_int_ge(times[i], 650);
        ck_assert_int_le(times[i], 850);
    }
    ck_assert_int_ge(apart, 1000);
    harness_close(&h);
}

TEST(evaluation_has_the_largest_shift_or_none)
{
    static const char *const json[] = {NULL, "{\"eval\": \"zero\"}", "{\"max\": 0}"};
    static const double expected[] = {500, 0, 0};
    for (int i = 0; i < 3; i++) {
        struct harness h;
        double pos[B * T];
        scheme_open(&h, "shape", json[i], 2, 4, T, true);
        shifted(&h, PEAT_EVAL, 0, pos);
        for (int64_t t = 0; t < B * T; t++)
            ck_assert_double_eq(pos[t], expected[i] + (double)(t % T));
        harness_close(&h);
    }
}

TEST(equal_calls_draw_equal_shifts)
{
    struct harness h;
    double a[B * T], again[B * T], next[B * T];
    scheme_open(&h, "shape", "{\"max\": 1000000, \"eval\": \"random\"}", 2, 4, T, true);
    shifted(&h, PEAT_TRAIN, 1, a);
    shifted(&h, PEAT_TRAIN, 1, again);
    shifted(&h, PEAT_TRAIN, 2, next);
    ck_assert_mem_eq(a, again, sizeof(a));
    ck_assert_mem_ne(a, next, sizeof(a));
    shifted(&h, PEAT_EVAL, 0, a);
    shifted(&h, PEAT_EVAL, 0, again);
    ck_assert_mem_eq(a, again, sizeof(a));
    harness_close(&h);
}

TEST(gradients_of_a_scheme_on_shifted_positions_are_exact)
{
    scheme_on_positions("shape", NULL, "kerple");
}

PLUGIN_TESTS("shape")
