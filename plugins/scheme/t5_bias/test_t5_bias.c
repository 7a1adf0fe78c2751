/* SPDX-License-Identifier: MIT */
/* The scheme 't5_bias': its buckets against exact integer arithmetic, its table and gradient. */
#include "../scheme_tests.h"

enum { REACH = 200, HEADS = 2 };

/* First distance of each bucket of one side, as T5 has them. */
static const struct {
    const char *json;
    bool causal;
    int64_t buckets;
    int64_t first[64];
} golden[] = {
    {NULL, true, 32, {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                      16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113}},
    {NULL, false, 16, {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91}},
    {"{\"buckets\": 8, \"max_distance\": 32}", true, 8, {0, 1, 2, 3, 4, 7, 12, 20}},
    {"{\"buckets\": 8, \"max_distance\": 32}", false, 4, {0, 1, 2, 8}},
    {"{\"buckets\": 16, \"max_distance\": 64}",
     true,
     16,
     {0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 14, 18, 23, 30, 39, 50}},
};

/* The table is replaced by value(bucket, head) = bucket + 100 head. */
static peat_node *counted(struct harness *h, const char *json, bool causal, int64_t n,
                          const double *delta)
{
    scheme_open(h, "t5_bias", json, HEADS, 4, 8, causal);
    struct tensor *table = &h->weights.item[0]->value;
    for (int64_t i = 0; i < tensor_count(table); i++)
        tensor_set(table, i, (double)(i / HEADS + 100 * (i % HEADS)));
    return scheme_bias_rel(h, n, delta);
}

static int64_t expected_bucket(size_t g, int64_t distance)
{
    int64_t b = golden[g].buckets - 1;
    while (golden[g].first[b] > distance)
        b--;
    return b;
}

TEST(buckets_are_those_of_exact_arithmetic_in_both_directions)
{
    double delta[2 * REACH + 1];
    for (int64_t i = 0; i <= 2 * REACH; i++)
        delta[i] = (double)(i - REACH);
    for (size_t g = 0; g < sizeof(golden) / sizeof(*golden); g++) {
        struct harness h;
        peat_node *n = counted(&h, golden[g].json, golden[g].causal, 2 * REACH + 1, delta);
        for (int64_t i = 0; i <= 2 * REACH; i++) {
            bool future = i > REACH;
            int64_t b = expected_bucket(g, llabs(i - REACH));
            if (future)
                b = golden[g].causal ? 0 : b + golden[g].buckets;
            ck_assert_double_eq(harness_at(n, i), (double)b);
            ck_assert_double_eq(harness_at(n, 2 * REACH + 1 + i), (double)(b + 100));
        }
        harness_close(&h);
    }
}

TEST(distances_beyond_the_last_share_its_bucket)
{
    const double delta[] = {-113, -128, -1e6};
    struct harness h;
    peat_node *n = counted(&h, NULL, true, 3, delta);
    for (int64_t i = 0; i < 3; i++)
        ck_assert_double_eq(harness_at(n, i), 31);
    harness_close(&h);
}

TEST(layers_share_one_table_unless_they_are_given_their_own)
{
    const struct {
        peat_scope share;
        int tables;
    } row[] = {{PEAT_ONCE, 1}, {PEAT_PER_LAYER, 2}};
    for (size_t i = 0; i < 2; i++) {
        struct modelcheck m;
        struct harness h;
        int tables = 0;
        scheme_model(&m, &h, "t5_bias", NULL, PEAT_DECODER, row[i].share);
        for (int w = 0; w < m.model.weights.n; w++)
            tables += strstr(m.model.weights.item[w]->name, "t5_bias") != NULL;
        ck_assert_int_eq(tables, row[i].tables);
        modelcheck_release(&m);
        harness_close(&h);
    }
}

TEST(impossible_buckets_are_refused)
{
    const char *even = "an encoder halves the buckets: make buckets even and at least 4";
    scheme_refuses("t5_bias", "{\"buckets\": 7}", 2, 4, 8, false, even);
    scheme_refuses("t5_bias", "{\"buckets\": 2}", 2, 4, 8, false, even);
    scheme_refuses("t5_bias", "{\"max_distance\": 16}", 2, 4, 8, true,
                   "max_distance = 16 is not beyond the 16 distances that have buckets of their "
                   "own");
}

TEST(gradients_are_exact)
{
    const char *few = "{\"buckets\": 4, \"max_distance\": 4, \"init_std\": 1}";
    scheme_gradients("t5_bias", few, PEAT_DECODER, PEAT_ONCE);
    scheme_gradients("t5_bias", few, PEAT_ENCODER, PEAT_PER_LAYER);
}

PLUGIN_TESTS("t5_bias")
