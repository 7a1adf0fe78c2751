/* SPDX-License-Identifier: MIT */
/* The scheme 'huang': its distances, its size and its gradient. */
#include "../content_tests.h"

TEST(distances_alone_count)
{
    const double near[] = {0, 1, 2, 5}, far[] = {70, 71, 72, 75};
    double first[16];
    struct harness h;
    scheme_open(&h, "huang", "{\"clip\": 4}", 1, 2, 4, false);
    scheme_copy(content_scores(&h, 4, near), 16, first);
    scheme_assert(content_scores(&h, 4, far), 16, first, 1e-15);
    harness_close(&h);
}

TEST(a_causal_model_has_vectors_of_the_past_alone)
{
    struct harness h;
    scheme_open(&h, "huang", NULL, 2, 4, 5, true);
    ck_assert_int_eq(h.weights.item[0]->value.dim[0], 6);
    harness_close(&h);
    scheme_open(&h, "huang", "{\"clip\": 3}", 2, 4, 5, false);
    ck_assert_int_eq(h.weights.item[0]->value.dim[0], 7);
    harness_close(&h);
}

TEST(a_model_learns_on_either_path)
{
    const char *json = "{\"clip\": 2}";
    content_gradients("huang", json, PEAT_DECODER, PATH_FUSED);
    content_gradients("huang", json, PEAT_ENCODER, PATH_COMPOSED);
    content_paths_agree("huang", json, PEAT_ENCODER);
    content_no_future("huang", json);
    content_documents_are_apart("huang", json, PEAT_ENCODER);
}

PLUGIN_TESTS("huang")
