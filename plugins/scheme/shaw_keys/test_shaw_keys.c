/* SPDX-License-Identifier: MIT */
/* The scheme 'shaw_keys': its clip, its memory and its gradient. */
#include "../content_tests.h"

TEST(positions_are_data)
{
    const double near[] = {0, 1, 2, 0}, far[] = {70, 71, 72, 70};
    double first[16];
    struct harness h;
    scheme_open(&h, "shaw_keys", "{\"clip\": 2}", 1, 2, 4, false);
    scheme_copy(content_scores(&h, 4, near), 16, first);
    ck_assert_double_eq(first[0], first[3]);
    scheme_assert(content_scores(&h, 4, far), 16, first, 1e-15);
    harness_close(&h);
}

TEST(a_causal_model_has_vectors_of_the_past_alone)
{
    struct harness h;
    scheme_open(&h, "shaw_keys", "{\"clip\": 3}", 2, 4, 5, true);
    ck_assert_int_eq(h.weights.item[0]->value.dim[0], 4);
    harness_close(&h);
    scheme_open(&h, "shaw_keys", "{\"clip\": 3}", 2, 4, 5, false);
    ck_assert_int_eq(h.weights.item[0]->value.dim[0], 7);
    harness_close(&h);
}

/* A vector for each pair would take T T C doubles. */
TEST(no_vector_is_kept_for_each_pair)
{
    enum { T = 8, C = 32 };
    struct harness h;
    double q[T * C] = {0};
    scheme_open(&h, "shaw_keys", "{\"clip\": 2}", 1, C, T, false);
    const peat_call *c = content_call(&h, T, NULL);
    const int64_t dim[] = {1, 1, T, C};
    peat_qkv p = {.size = sizeof(p), .q = harness_constant(&h, 4, dim, q)};
    int64_t before = h.graph.n_node;
    ck_assert_ptr_nonnull(h.scheme->score_add(c, &p));
    for (int64_t i = before; i < h.graph.n_node; i++)
        ck_assert_int_lt(tensor_count(&h.graph.node[i]->value), T * T * C / 8);
    harness_close(&h);
}

TEST(fractional_positions_are_an_error)
{
    const double pos[] = {0, 0.5};
    struct harness h;
    scheme_open(&h, "shaw_keys", NULL, 1, 2, 4, false);
    scheme_wave(&h);
    harness_call(&h, 1, 2, 1, pos);
    scheme_says(&h, "is not a whole number");
    harness_close(&h);
}

TEST(a_model_learns_on_either_path)
{
    const char *json = "{\"clip\": 2}";
    content_gradients("shaw_keys", json, PEAT_DECODER, PATH_FUSED);
    content_gradients("shaw_keys", json, PEAT_ENCODER, PATH_COMPOSED);
    content_paths_agree("shaw_keys", json, PEAT_DECODER);
    content_paths_agree("shaw_keys", json, PEAT_ENCODER);
    content_no_future("shaw_keys", json);
    content_documents_are_apart("shaw_keys", json, PEAT_ENCODER);
}

PLUGIN_TESTS("shaw_keys")
