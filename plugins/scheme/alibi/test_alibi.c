/* SPDX-License-Identifier: MIT */
/* The scheme 'alibi' against the slopes its authors print. */
#include "../scheme_tests.h"

enum { HEADS_MAX = 20 };

/* bias_rel for the given differences: [H, n]. */
static peat_node *bias(struct harness *h, int64_t H, int64_t n, const double *delta)
{
    scheme_open(h, "alibi", NULL, H, 8, 4, false);
    peat_node *node = scheme_bias_rel(h, n, delta);
    ck_assert_int_eq(node->value.dim[0], H);
    return node;
}

static const struct {
    int64_t H;
    double slope[HEADS_MAX];
} golden[] = {
    {1, {0.00390625}},
    {2, {0.0625, 0.00390625}},
    {3, {0.0625, 0.00390625, 0.25}},
    {4, {0.25, 0.0625, 0.015625, 0.00390625}},
    {5, {0.25, 0.0625, 0.015625, 0.00390625, 0.5}},
    {6, {0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125}},
    {8, {0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625}},
    {12,
     {0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625, 0.7071067811865476,
      0.35355339059327384, 0.17677669529663692, 0.08838834764831849}},
    {20, {0.7071067811865476,   0.5000000000000001,   0.35355339059327384,  0.25000000000000006,
          0.17677669529663692,  0.12500000000000006,  0.08838834764831849,  0.06250000000000004,
          0.044194173824159244, 0.03125000000000002,  0.022097086912079626, 0.01562500000000001,
          0.011048543456039816, 0.007812500000000007, 0.005524271728019908, 0.003906250000000004,
          0.8408964152537145,   0.5946035575013604,   0.42044820762685714,  0.2973017787506802}},
};

TEST(slopes_are_the_authors_for_any_number_of_heads)
{
    const double one = -1;
    for (size_t i = 0; i < sizeof(golden) / sizeof(*golden); i++) {
        struct harness h;
        peat_node *n = bias(&h, golden[i].H, 1, &one);
        for (int64_t head = 0; head < golden[i].H; head++)
            ck_assert_double_eq_tol(harness_at(n, head), -golden[i].slope[head], 1e-15);
        harness_close(&h);
    }
}

TEST(bias_is_proportional_to_distance_on_both_sides)
{
    const double delta[] = {-7, -1, 0, 1, 7, 2.5};
    struct harness h;
    peat_node *n = bias(&h, 4, 6, delta);
    const double expected[] = {-7 * 0.0625, -0.0625, 0, -0.0625, -7 * 0.0625, -2.5 * 0.0625};
    for (int64_t i = 0; i < 6; i++)
        ck_assert_double_eq_tol(harness_at(n, 6 + i), expected[i], 1e-15);
    harness_close(&h);
}

TEST(slopes_are_those_of_the_group_of_heads)
{
    const double one = 1;
    struct harness h;
    peat_node *all = bias(&h, 8, 1, &one);
    ck_assert_double_eq(harness_at(all, 0), -0.5);
    harness_call(&h, 1, 4, 1, NULL);
    h.call.base.H = 2;
    const peat_rel rel = {.size = sizeof(rel), .n = 1, .n_axes = 1, .delta = &one};
    peat_node *group = h.scheme->bias_rel(&h.call.base, &rel);
    ck_assert_int_eq(group->value.dim[0], 2);
    ck_assert_double_eq(harness_at(group, 0), -0.0625);
    harness_close(&h);
}

PLUGIN_TESTS("alibi")
