/* SPDX-License-Identifier: MIT */
/* The scheme 'randomized': what it draws, when it draws anew, and another scheme on top. */
#include "../scheme_tests.h"

enum { B = 2, T = 3 };

/* Positions 0 .. T-1 of B rows after the hook; T_total planned. */
static void drawn(struct harness *h, peat_phase phase, int64_t step, int64_t T_total,
                  double pos[B * T])
{
    const double count[] = {0, 1, 2, 0, 1, 2};
    memcpy(pos, count, sizeof(count));
    harness_call(h, B, T, B, count);
    h->call.own.T_total = T_total;
    h->call.base.phase = phase;
    h->call.base.step = step;
    peat_status status = h->scheme->positions(&h->call.base, pos);
    ck_assert_msg(status == PEAT_OK, "%s", h->graph.err.text);
}

TEST(positions_rise_within_the_range)
{
    struct harness h;
    double pos[B * T];
    scheme_open(&h, "randomized", "{\"max\": 9}", 2, 4, T, true);
    for (int64_t step = 1; step <= 200; step++) {
        drawn(&h, PEAT_TRAIN, step, T, pos);
        for (int64_t i = 0; i < B * T; i++) {
            ck_assert_double_eq(pos[i], floor(pos[i]));
            ck_assert_double_ge(pos[i], i % T ? pos[i - 1] + 1 : 0);
            ck_assert_double_le(pos[i], 8);
        }
    }
    harness_close(&h);
}

/* Each of the 10 pairs below 5 is drawn 1 time in 10: 6000 draws, deviation 23. */
TEST(all_samples_are_equally_likely)
{
    int64_t times[5][5] = {{0}};
    struct harness h;
    double pos[B * T];
    scheme_open(&h, "randomized", "{\"max\": 5}", 2, 4, 2, true);
    for (int64_t step = 1; step <= 3000; step++) {
        const double count[] = {0, 1, 0, 1};
        memcpy(pos, count, sizeof(count));
        harness_call(&h, B, 2, B, count);
        h.call.base.step = step;
        ck_assert_int_eq(h.scheme->positions(&h.call.base, pos), PEAT_OK);
        times[(int)pos[0]][(int)pos[1]]++;
        times[(int)pos[2]][(int)pos[3]]++;
    }
    for (int i = 0; i < 5; i++)
        for (int j = i + 1; j < 5; j++) {
            ck_assert_int_ge(times[i][j], 500);
            ck_assert_int_le(times[i][j], 700);
        }
    harness_close(&h);
}

TEST(each_sequence_and_step_has_its_own_draw)
{
    struct harness h;
    double a[B * T], again[B * T], next[B * T];
    scheme_open(&h, "randomized", NULL, 2, 4, T, true);
    drawn(&h, PEAT_TRAIN, 1, T, a);
    drawn(&h, PEAT_TRAIN, 1, T, again);
    drawn(&h, PEAT_TRAIN, 2, T, next);
    ck_assert_mem_eq(a, again, sizeof(a));
    ck_assert_mem_ne(a, a + T, T * sizeof(*a));
    ck_assert_mem_ne(a, next, T * sizeof(*a));
    harness_close(&h);
}

/* The next generated token must not move the positions before it: the draw is for the planned
 * length. */
TEST(a_prefix_has_the_positions_of_the_whole)
{
    const double longer[] = {0, 1, 2, 3, 4, 0, 1, 2, 3, 4};
    struct harness h;
    double prefix[B * T], whole[B * 5];
    scheme_open(&h, "randomized", NULL, 2, 4, 5, true);
    drawn(&h, PEAT_EVAL, 0, 5, prefix);
    memcpy(whole, longer, sizeof(longer));
    harness_call(&h, B, 5, B, longer);
    h.call.base.phase = PEAT_EVAL;
    h.call.base.step = 0;
    ck_assert_int_eq(h.scheme->positions(&h.call.base, whole), PEAT_OK);
    for (int64_t b = 0; b < B; b++)
        ck_assert_mem_eq(prefix + b * T, whole + b * 5, T * sizeof(*prefix));
    harness_close(&h);
}

TEST(evaluation_can_be_even_or_plain)
{
    const struct {
        const char *json;
        double expected[T];
    } row[] = {{"{\"max\": 12, \"eval\": \"even\"}", {2, 6, 10}},
               {"{\"max\": 12, \"eval\": \"plain\"}", {0, 1, 2}}};
    for (int i = 0; i < 2; i++) {
        struct harness h;
        double pos[B * T];
        scheme_open(&h, "randomized", row[i].json, 2, 4, T, true);
        drawn(&h, PEAT_EVAL, 0, T, pos);
        for (int64_t t = 0; t < B * T; t++)
            ck_assert_double_eq(pos[t], row[i].expected[t % T]);
        harness_close(&h);
    }
}

TEST(a_range_too_short_is_refused)
{
    scheme_refuses("randomized", "{\"max\": 7}", 2, 4, 8, true,
                   "max = 7 positions cannot be shared out over sequences of 8: raise max");
}

TEST(gradients_of_a_scheme_on_drawn_positions_are_exact)
{
    scheme_on_positions("randomized", "{\"max\": 9}", "kerple");
    scheme_on_positions("randomized", NULL, "kerple");
}

PLUGIN_TESTS("randomized")
