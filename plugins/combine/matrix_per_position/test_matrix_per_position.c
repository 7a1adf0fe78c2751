/* SPDX-License-Identifier: MIT */
/* The combination 'matrix_per_position'. Reference values: its formula, computed once. */
#include "../combine_tests.h"

static const double full_values[] = {-0.9, 0.4, 2.4,  -1.9, 2.0,  0.3, 0.0,  -2.4,
                                     -0.5, 1.8, -0.8, 0.1,  -1.9, 0.2, -1.2, -0.5};
static const double low_rank_values[] = {-1.32, -0.24, 1.68, -0.88, 0.56, -0.72, -0.18, -1.46,
                                         -0.42, 1.38,  0.1,  0.64,  -0.6, 0.6,   -1.0,  0.2};
static const double diagonal_values[] = {-0.6, 0.0, 1.8,  -0.8, 0.6,  -1.0, 0.7,  -0.6,
                                         0.0,  1.2, -0.6, 1.6,  -0.6, 0.5,  -2.1, 0.0};
static const double block_rotation_values[] = {
    -1.2380034223645175, 0.8469637100925529,  1.3707652013643319,  -0.7880372851132127,
    1.178735908636303,   -0.7813972470461805, 1.2596315175473922,  -0.9556821856669999,
    0.8469637100925529,  1.2380034223645175,  -0.2913639581255596, 1.0794012432387723,
    -1.0794012432387723, 0.2913639581255596,  -1.2380034223645175, -0.8469637100925529};

static const struct {
    const char *name;
    const double *values;
    int64_t parameters;
} kinds[] = {
    {"full", full_values, 3 * 16},
    {"low_rank", low_rank_values, 3 * 2 * 2 * 4},
    {"diagonal", diagonal_values, 3 * 4},
    {"block_rotation", block_rotation_values, 3 * 2},
};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

/* Sets one kind up with three positions and its tensors filled. */
static void open_kind(struct harness *h, const char *kind)
{
    char json[64];
    snprintf(json, sizeof(json), "{\"kind\": \"%s\", \"rank\": 2}", kind);
    combine_open(h, "matrix_per_position", json, 4, 1);
    for (int i = 0; i < h->weights.n; i++)
        combine_fill(h, i, 2 + i, 5);
}

TEST(each_kind_does_what_its_formula_says)
{
    for (size_t k = 0; k < KINDS; k++) {
        struct harness h;
        open_kind(&h, kinds[k].name);
        combine_gives(combine_merge_ramps(&h, 1, 1, NULL), 2, 4, kinds[k].values);
        harness_close(&h);
    }
}

TEST(other_streams_are_added)
{
    struct harness h;
    double expected[16];
    for (int64_t i = 0; i < 16; i++)
        expected[i] = full_values[i] + combine_ramp(i % 8, 5, 4);
    combine_open(&h, "matrix_per_position", NULL, 4, 2);
    combine_fill(&h, 0, 2, 5);
    combine_gives(combine_merge_ramps(&h, 2, 1, NULL), 2, 4, expected);
    harness_close(&h);
}

/* Positions of their own for each row: every row must use the matrices of its own. */
TEST(rows_may_have_different_positions)
{
    for (size_t k = 0; k < KINDS; k++) {
        const double own[] = {2, 1, 0, 1};
        const double *shared = kinds[k].values;
        struct harness h;
        bool moved = false;
        open_kind(&h, kinds[k].name);
        const peat_node *y = combine_merge_ramps(&h, 1, 2, own);
        for (int64_t i = 0; i < 4; i++)
            moved = moved || fabs(harness_at(y, i) - shared[i]) > 1e-3;
        ck_assert(moved);
        for (int64_t i = 4; i < 16; i++)
            ck_assert_double_eq_tol(harness_at(y, i), shared[i], 1e-13);
        harness_close(&h);
    }
}

TEST(parameters_are_as_many_as_documented)
{
    const char *name = "matrix_per_position";
    for (size_t k = 0; k < KINDS; k++) {
        struct harness h;
        open_kind(&h, kinds[k].name);
        ck_assert_int_eq(weights_trainable(&h.weights), kinds[k].parameters);
        harness_close(&h);
    }
    ck_assert_int_eq(combine_parameters(name, NULL, 4, 1), 3 * 16);
    ck_assert_int_eq(combine_parameters(name, "{\"max_len\": 10}", 4, 1), 10 * 16);
    ck_assert_int_eq(combine_parameters(name, "{\"kind\": \"low_rank\", \"rank\": 3}", 4, 1),
                     3 * 2 * 3 * 4);
}

TEST(what_cannot_be_is_refused)
{
    const char *name = "matrix_per_position";
    const double beyond[] = {0, 3};
    struct harness h;
    combine_refuses(name, "{\"max_len\": 2}", 4, 1, 1, (int64_t[]){0},
                    "has matrices for max_len = 2 positions, but sequences of 3 are evaluated; "
                    "raise max_len");
    combine_refuses(name, "{\"kind\": \"block_rotation\"}", 5, 1, 1, (int64_t[]){0},
                    "rotates pairs of dimensions, and 5 is odd");
    open_kind(&h, "full");
    ck_assert_ptr_null(combine_merge_ramps(&h, 1, 1, beyond));
    ck_assert_str_eq(h.graph.err.text, "position 3 has no matrix: max_len is 3");
    harness_close(&h);
}

TEST(gradients_are_right_for_every_stream_and_tensor)
{
    const char *name = "matrix_per_position";
    combine_gradients(name, NULL, 4, 2);
    combine_gradients(name, "{\"kind\": \"low_rank\", \"rank\": 2}", 4, 2);
    combine_gradients(name, "{\"kind\": \"diagonal\"}", 4, 2);
    combine_gradients(name, "{\"kind\": \"block_rotation\"}", 4, 2);
}

PLUGIN_TESTS("matrix_per_position")
