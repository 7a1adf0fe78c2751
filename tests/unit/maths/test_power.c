/* SPDX-License-Identifier: MIT */
/*
 * test_power.c: power against the integrals of tests/golden/contrasts.py (scipy, statsmodels), and
 * against 10,000 drawn experiments each, judged by the tests themselves.
 */
#include "maths/power.h"

#include "equivalence.h"
#include "support/golden_file.h"
#include "support/support.h"

TEST(power_is_scipys)
{
    struct arena a;
    arena_init(&a, "golden", 1 << 20);
    const struct value *golden = golden_read("contrasts.json", &a), *v;
    int n = 0;
    for (; (v = json_get_item(golden, "powers", n)); n++) {
        int tails = (int)json_get_int(v, "tails", -1);
        const struct paired_design d = {.equivalence = tails == 0,
                                        .tails = tails,
                                        .effect = json_get_number(v, "effect"),
                                        .margin = json_get_number(v, "margin"),
                                        .alpha = json_get_number(v, "alpha")};
        double power = paired_power(&d, (int)json_get_int(v, "n", 0));
        double expected = json_get_number(v, "power");
        ck_assert_msg(fabs(power - expected) < 1e-9, "power %d: %.12g instead of %.12g", n, power,
                      expected);
    }
    ck_assert_int_gt(n, 100);
    arena_release(&a);
}

/* Share of 10,000 experiments of n standard normal differences about the effect with p < alpha. */
static double drawn_power(const struct paired_design *d, int n, int number)
{
    enum { DRAWS = 10000 };
    uint64_t stream = rng_stream((uint64_t)number, "power", "");
    double x[64];
    int reached = 0;
    for (int draw = 0; draw < DRAWS; draw++) {
        uint64_t row = rng_substream(stream, (uint64_t)draw);
        for (int i = 0; i < n; i++)
            x[i] = d->effect + rng_normal(row, (uint64_t)i);
        double p = d->equivalence  ? equivalence_p(x, n, d->margin)
                   : d->tails == 2 ? paired_p(TEST_T, x, n)
                                   : paired_p_above(TEST_T, x, n, 0.0);
        reached += p < d->alpha;
    }
    return (double)reached / DRAWS;
}

TEST(power_is_the_share_of_drawn_experiments_that_reach_the_level)
{
    static const struct {
        int n;
        struct paired_design d;
    } one[] = {
        {3, {false, 2, 1.5, 0.0, 0.05}}, {5, {false, 1, 0.8, 0.0, 0.05}},
        {9, {false, 2, 1.2, 0.0, 0.01}}, {20, {false, 2, 0.0, 0.0, 0.05}},
        {5, {true, 0, 0.0, 1.2, 0.05}},  {12, {true, 0, 0.3, 1.0, 0.05}},
        {6, {true, 0, 1.0, 1.0, 0.05}},
    };
    for (int i = 0; i < (int)(sizeof(one) / sizeof(*one)); i++) {
        double power = paired_power(&one[i].d, one[i].n);
        double drawn = drawn_power(&one[i].d, one[i].n, i);
        double error = sqrt(power * (1.0 - power) / 10000.0);
        ck_assert_msg(fabs(drawn - power) < 3.5 * error, "design %d: drawn %g, computed %g", i,
                      drawn, power);
    }
}

TEST(one_difference_shows_nothing)
{
    ck_assert_double_eq(
        paired_power(&(struct paired_design){.tails = 2, .effect = 9, .alpha = 0.5}, 1), 0.0);
}

TEST(the_pairs_for_a_power_are_the_fewest)
{
    static const struct paired_design one[] = {{false, 2, 1.0, 0.0, 0.05},
                                               {false, 1, 0.2, 0.0, 0.01},
                                               {true, 0, 0.0, 0.5, 0.05},
                                               {false, 2, 9.0, 0.0, 0.05}};
    for (size_t i = 0; i < sizeof(one) / sizeof(*one); i++) {
        int n = paired_power_pairs(&one[i], 0.8);
        ck_assert_int_gt(n, 1);
        ck_assert_double_ge(paired_power(&one[i], n), 0.8);
        ck_assert_double_lt(paired_power(&one[i], n - 1), 0.8);
    }
    ck_assert_int_eq(paired_power_pairs(&(struct paired_design){true, 0, 2.0, 1.0, 0.05}, 0.8), 0);
    ck_assert_int_eq(paired_power_pairs(&(struct paired_design){false, 2, 0.001, 0, 0.05}, 0.8), 0);
}

int main(void)
{
    return run_tests((struct tests){"power", .seconds = 30, .needs = "PEAT_SOURCE"});
}
