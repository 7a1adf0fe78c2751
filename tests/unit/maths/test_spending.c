/* SPDX-License-Identifier: MIT */
/* test_spending.c: levels of looks against published boundaries and against drawn experiments. */
#include "maths/spending.h"

#include "equivalence.h"
#include "support/golden_file.h"
#include "support/support.h"

/* One-sided .025 at five equal looks, to four digits: DeMets and Lan 1994; R's ldbounds. */
static const struct {
    enum spending how;
    double z[5];
} published[] = {
    {SPEND_OBRIEN_FLEMING, {4.8769, 3.3569, 2.6803, 2.2898, 2.0310}},
    {SPEND_POCOCK, {2.4380, 2.4268, 2.4101, 2.3966, 2.3859}},
};

LOOP_TEST(boundaries_are_the_published_ones, 2)
{
    const double t[5] = {0.2, 0.4, 0.6, 0.8, 1.0};
    double level[5];
    spending_levels(published[_i].how, 0.025, t, 5, level);
    for (int k = 0; k < 5; k++) {
        double expected = normal_below(-published[_i].z[k]);
        ck_assert_double_eq_tol(level[k] / expected, 1.0, 5e-4);
    }
}

/* tests/golden/looks.py: by another quadrature. */
TEST(levels_are_scipys)
{
    struct arena a;
    arena_init(&a, "golden", 1 << 18);
    const struct value *golden = golden_read("looks.json", &a), *v;
    int n = 0;
    for (; (v = json_get_item(golden, "looks", n)); n++) {
        double t[16], level[16];
        int looks = json_get_count(v, "t");
        enum spending how = json_text_is(v, "spending", spending_words[SPEND_POCOCK])
                                ? SPEND_POCOCK
                                : SPEND_OBRIEN_FLEMING;
        for (int k = 0; k < looks; k++)
            t[k] = json_get_item(v, "t", k)->real;
        spending_levels(how, json_get_number(v, "alpha"), t, looks, level);
        for (int k = 0; k < looks; k++)
            ck_assert_double_eq_tol(level[k] / json_get_item(v, "level", k)->real, 1.0, 1e-5);
    }
    ck_assert_int_eq(n, 18);
    arena_release(&a);
}

TEST(one_look_has_the_whole_level)
{
    const double t[1] = {1.0};
    double level[1];
    for (int how = 0; spending_words[how]; how++) {
        spending_levels((enum spending)how, 0.05 / 8, t, 1, level);
        ck_assert_double_eq_tol(level[0], 0.05 / 8, 1e-12);
    }
}

TEST(what_is_spent_rises_to_alpha)
{
    for (int how = 0; spending_words[how]; how++)
        for (int i = 1; i <= 40; i++) {
            double now = spending_until((enum spending)how, 0.05, i / 40.0);
            ck_assert_double_gt(
                now, i > 1 ? spending_until((enum spending)how, 0.05, (i - 1) / 40.0) : 0.0);
            ck_assert(i < 40 ? now < 0.05 : now == 0.05);
        }
}

/* ---- drawn experiments ---- */

enum { LOOKS = 4, FROM = 10, DRAWS = 10000 };

/* Differences of standard deviation 1 about the effect, judged by t at 10, 20, 30 and 40; a margin
 * above 0: by equivalence within it. Seeds: how many experiments need in the mean. */
static double share_that_rejects(enum spending how, double alpha, double effect, double margin,
                                 double *seeds)
{
    double t[LOOKS], level[LOOKS], x[LOOKS * FROM];
    uint64_t stream = rng_stream((uint64_t)(1000.0 * effect), "looks", spending_words[how]);
    int rejected = 0, used = 0;
    for (int k = 0; k < LOOKS; k++)
        t[k] = (k + 1.0) / LOOKS;
    spending_levels(how, alpha, t, LOOKS, level);
    for (int draw = 0; draw < DRAWS; draw++) {
        uint64_t row = rng_substream(stream, (uint64_t)draw);
        bool done = false;
        int k = 0;
        for (int i = 0; i < LOOKS * FROM; i++)
            x[i] = effect + rng_normal(row, (uint64_t)i);
        for (; k < LOOKS && !done; k++) {
            int n = (k + 1) * FROM;
            double p =
                margin > 0.0 ? equivalence_p(x, n, margin) : paired_p_above(TEST_T, x, n, 0.0);
            done = p < level[k];
        }
        rejected += done;
        used += k * FROM;
    }
    *seeds = (double)used / DRAWS;
    return (double)rejected / DRAWS;
}

LOOP_TEST(the_error_rate_over_all_looks_is_alpha, 2)
{
    double seeds;
    for (int how = 0; spending_words[how]; how++) {
        double alpha = _i ? 0.05 / 4 : 0.05, error = sqrt(alpha * (1.0 - alpha) / DRAWS);
        double share = share_that_rejects((enum spending)how, alpha, 0.0, 0.0, &seeds);
        ck_assert_msg(fabs(share - alpha) < 3.5 * error, "%s at %g: %g", spending_words[how], alpha,
                      share);
        double equal = share_that_rejects((enum spending)how, alpha, 0.8, 0.8, &seeds);
        ck_assert_msg(equal < alpha + 3.5 * error, "%s, equivalence at %g: %g", spending_words[how],
                      alpha, equal);
    }
}

/* Four claims without an effect, by weights 3, 1, 1, 1: the chance of any false one. */
TEST(claims_that_share_alpha_err_together_at_most_alpha)
{
    static const double share[] = {0.5, 1 / 6.0, 1 / 6.0, 1 / 6.0};
    double level[4][LOOKS], x[LOOKS * FROM];
    uint64_t stream = rng_stream(3, "looks", "family");
    int wrong = 0;
    for (int i = 0; i < 4; i++)
        spending_levels(SPEND_POCOCK, 0.05 * share[i], (const double[]){0.25, 0.5, 0.75, 1.0},
                        LOOKS, level[i]);
    for (int draw = 0; draw < DRAWS; draw++) {
        bool any = false;
        for (int i = 0; i < 4; i++) {
            uint64_t row = rng_substream(stream, (uint64_t)(4 * draw + i));
            for (int k = 0; k < LOOKS * FROM; k++)
                x[k] = rng_normal(row, (uint64_t)k);
            for (int k = 0; k < LOOKS; k++)
                any = any || paired_p_above(TEST_T, x, (k + 1) * FROM, 0.0) < level[i][k];
        }
        wrong += any;
    }
    double rate = (double)wrong / DRAWS, error = sqrt(0.05 * 0.95 / DRAWS);
    ck_assert_msg(rate < 0.05 + 3.5 * error && rate > 0.05 - 5.0 * error, "%g", rate);
}

TEST(looks_that_ignore_each_other_would_err_more_often)
{
    double seeds, share = 0.0;
    uint64_t stream = rng_stream(7, "looks", "");
    for (int draw = 0; draw < DRAWS; draw++) {
        bool done = false;
        double x[LOOKS * FROM];
        for (int i = 0; i < LOOKS * FROM; i++)
            x[i] = rng_normal(rng_substream(stream, (uint64_t)draw), (uint64_t)i);
        for (int k = 1; k <= LOOKS; k++)
            done = done || paired_p_above(TEST_T, x, k * FROM, 0.0) < 0.05;
        share += done / (double)DRAWS;
    }
    ck_assert_double_gt(share, 0.09);
    ck_assert_double_gt(share_that_rejects(SPEND_OBRIEN_FLEMING, 0.05, 1.0, 0.0, &seeds), 0.99);
    ck_assert_double_lt(seeds, 21.0); /* of 40 */
}

int main(void)
{
    return run_tests((struct tests){.subject = "spending", .seconds = 60});
}
