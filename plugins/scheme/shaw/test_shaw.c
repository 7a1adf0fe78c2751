/* SPDX-License-Identifier: MIT */
/* The scheme 'shaw' against a computed context; its keys alone, its path and its gradient. */
#include "../content_tests.h"

TEST(contexts_match_the_reference)
{
    const double expected[] = {1.0840961628503516,  1.239485755351977,  1.5060583314065923,
                               1.6544222548913945,  1.0586882665806727, 0.30554631232281815,
                               -1.8643487639555172, 0.6568875490604293};
    struct harness h;
    scheme_open(&h, "shaw", "{\"clip\": 2}", 1, 2, 4, false);
    const peat_call *c = content_call(&h, 4, NULL);
    peat_node *W = content_wave(&h, 1, 300, 4, (int64_t[]){1, 1, 4, 4});
    peat_node *o = content_wave(&h, 1, 400, 4, (int64_t[]){1, 1, 4, 2});
    scheme_assert(h.scheme->context(c, NULL, o, W), 8, expected, 1e-14);
    harness_close(&h);
}

/* Two rows with positions of their own: each value goes to the row of its distance. */
TEST(each_row_has_its_own_positions)
{
    const double pos[] = {0, 1, 2, 0, 5, 5};
    double one[6] = {1, 0, 0, 0, 0, 0}, W[18] = {0};
    struct harness h;
    scheme_open(&h, "shaw", "{\"clip\": 1, \"keys\": false}", 1, 1, 3, false);
    harness_call(&h, 2, 3, 2, pos);
    h.call.base.layer = 0;
    for (int64_t r = 0; r < 3; r++)
        tensor_set(&h.weights.item[0]->value, r, (double)(r + 1));
    W[3 + 2] = 1;     /* row 0, query 1, key 2: distance -1, vector 1 */
    W[9 + 3 + 2] = 1; /* row 1, query 1, key 2: distance 0, vector 2  */
    W[9 + 6 + 0] = 1; /* row 1, query 2, key 0: distance 5, vector 3  */
    const double expected[] = {1, 1, 0, 0, 2, 3};
    peat_node *o = harness_constant(&h, 4, (int64_t[]){2, 1, 3, 1}, one);
    peat_node *w = harness_constant(&h, 4, (int64_t[]){2, 1, 3, 3}, W);
    scheme_assert(h.scheme->context(&h.call.base, NULL, o, w), 6, expected, 1e-15);
    harness_close(&h);
}

/* Vectors of values that are 0 leave the scheme of the keys. */
TEST(keys_are_those_of_shaw_keys)
{
    double both[CONTENT_LOGITS], keys[CONTENT_LOGITS];
    struct modelcheck m;
    struct harness h;
    content_model(&m, &h, "shaw_keys", "{\"clip\": 2}", PEAT_ENCODER, PATH_AUTO);
    modelcheck_logits(&m, keys);
    content_close(&m, &h);
    content_model(&m, &h, "shaw", "{\"clip\": 2}", PEAT_ENCODER, PATH_AUTO);
    for (int layer = 0; layer < 2; layer++)
        for (int64_t i = 0; i < 5 * 4; i++) {
            const char *const name[] = {"position.0.shaw.layer.0.a_%c",
                                        "position.0.shaw.layer.1.a_%c"};
            char a_v[64], a_k[64];
            snprintf(a_v, sizeof(a_v), name[layer], 'v');
            snprintf(a_k, sizeof(a_k), name[layer], 'k');
            tensor_set(&weights_find(&m.model.weights, a_v)->value, i, 0);
            tensor_set(&weights_find(&m.model.weights, a_k)->value, i,
                       0.4 * sin((double)(1 + i + 10 * layer)));
        }
    modelcheck_logits(&m, both);
    ck_assert_double_le(content_distance(both, keys, CONTENT_LOGITS), 1e-12);
    content_close(&m, &h);
}

TEST(values_take_the_composed_path)
{
    struct harness h;
    scheme_open(&h, "shaw", NULL, 1, 2, 4, false);
    ck_assert_str_eq(scheme_needs_composed(h.scheme), "context with the attention weights");
    harness_close(&h);
    scheme_open(&h, "shaw_keys", NULL, 1, 2, 4, false);
    ck_assert_ptr_null(scheme_needs_composed(h.scheme));
    harness_close(&h);
}

TEST(a_model_learns)
{
    content_gradients("shaw", "{\"clip\": 2}", PEAT_DECODER, PATH_AUTO);
    content_gradients("shaw", "{\"clip\": 3, \"keys\": false}", PEAT_ENCODER, PATH_AUTO);
    content_no_future("shaw", "{\"clip\": 2}");
    content_documents_are_apart("shaw", "{\"clip\": 2}", PEAT_ENCODER);
}

PLUGIN_TESTS("shaw")
