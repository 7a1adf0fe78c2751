/* SPDX-License-Identifier: MIT */
/* The scheme 'cape': its formula for known draws, its bounds, and what evaluation sees. */
#include "../scheme_tests.h"

enum { B = 2, T = 3 };

static void changed(struct harness *h, peat_phase phase, int64_t step, double pos[B * T])
{
    const double count[] = {0, 1, 2, 0, 1, 2};
    memcpy(pos, count, sizeof(count));
    harness_call(h, B, T, B, count);
    h->call.base.phase = phase;
    h->call.base.step = step;
    ck_assert_int_eq(h->scheme->positions(&h->call.base, pos), PEAT_OK);
}

/* (p_i + Delta + epsilon_i) lambda, the draws u in [0, 1) being shift, stretch, then jitter. */
TEST(positions_follow_the_formula)
{
    struct harness h;
    double pos[B * T], u[2 + T];
    scheme_open(&h, "cape", "{\"shift\": 7, \"jitter\": 0.25, \"stretch\": 2}", 2, 4, T, true);
    changed(&h, PEAT_TRAIN, 3, pos);
    for (int64_t b = 0; b < B; b++) {
        h.call.base.host->random_row(&h.call.base, "positions", b, 2 + T, u);
        double lambda = pow(2, 2 * u[1] - 1);
        for (int64_t i = 0; i < T; i++) {
            double moved = (double)i + 14 * u[0] - 7 + 0.5 * u[2 + i] - 0.25;
            ck_assert_double_eq_tol(pos[b * T + i], moved * lambda, 1e-13);
        }
    }
    harness_close(&h);
}

/* A jitter of half a token keeps the order; each part alone stays within its bounds. */
TEST(parts_stay_within_their_bounds)
{
    struct harness h;
    double pos[B * T], low = 0, high = 0;
    scheme_open(&h, "cape", "{\"shift\": 4, \"jitter\": 0, \"stretch\": 1}", 2, 4, T, true);
    for (int64_t step = 1; step <= 500; step++) {
        changed(&h, PEAT_TRAIN, step, pos);
        ck_assert_double_eq_tol(pos[2] - pos[0], 2, 1e-14);
        low = fmin(low, pos[0]);
        high = fmax(high, pos[0]);
    }
    ck_assert_double_ge(low, -4);
    ck_assert_double_le(low, -3.9);
    ck_assert_double_ge(high, 3.9);
    ck_assert_double_le(high, 4);
    harness_close(&h);
    scheme_open(&h, "cape", NULL, 2, 4, T, true);
    for (int64_t step = 1; step <= 500; step++) {
        changed(&h, PEAT_TRAIN, step, pos);
        ck_assert_double_le(pos[0], pos[1]);
        ck_assert_double_le(pos[1], pos[2]);
    }
    harness_close(&h);
}

TEST(evaluation_is_unchanged)
{
    struct harness h;
    double pos[B * T];
    scheme_open(&h, "cape", NULL, 2, 4, T, true);
    changed(&h, PEAT_EVAL, 0, pos);
    for (int64_t i = 0; i < B * T; i++)
        ck_assert_double_eq(pos[i], (double)(i % T));
    harness_close(&h);
}

TEST(equal_calls_draw_equal_positions)
{
    struct harness h;
    double a[B * T], again[B * T], next[B * T];
    scheme_open(&h, "cape", NULL, 2, 4, T, true);
    changed(&h, PEAT_TRAIN, 1, a);
    changed(&h, PEAT_TRAIN, 1, again);
    changed(&h, PEAT_TRAIN, 2, next);
    ck_assert_mem_eq(a, again, sizeof(a));
    ck_assert_mem_ne(a, next, sizeof(a));
    ck_assert_mem_ne(a, a + T, T * sizeof(*a));
    harness_close(&h);
}

TEST(gradients_of_a_scheme_on_changed_positions_are_exact)
{
    scheme_on_positions("cape", NULL, "sinusoidal");
    scheme_on_positions("cape", NULL, "kerple");
}

PLUGIN_TESTS("cape")
