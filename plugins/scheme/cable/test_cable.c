/* SPDX-License-Identifier: MIT */
/* The scheme 'cable' against a computed bias; its limits and its gradient. */
#include "../content_tests.h"

/* One number for each key: the part common to a query's keys is left out. */
START_TEST(biases_match_the_reference)
{
    const double expected[] = {1.0480363998135758,  1.0898645620823142, 1.8872287591066867,
                               0.27342410729060096, 2.0870547256249647, 2.148667090889525};
    struct harness h;
    scheme_open(&h, "cable", NULL, 2, 2, 3, true);
    content_call(&h, 3, NULL);
    h.call.base.x_q = h.call.base.x_k = content_wave(&h, 1, 100, 3, (int64_t[]){1, 3, 4});
    peat_node *n = h.scheme->bias(&h.call.base, NULL);
    scheme_assert(n, 6, expected, 1e-14);
    ck_assert_int_eq(n->value.dim[2], 1);
    ck_assert_str_eq(h.pass.probe[0].node->name, "slope");
    harness_close(&h);
}
END_TEST

START_TEST(encoders_are_refused)
{
    scheme_refuses_encoders("cable");
}
END_TEST

/* log sigmoid(z) = -softplus(-z): forgetting with the signs of its tensors changed. */
START_TEST(it_is_forgetting_with_other_signs)
{
    double cable[CONTENT_LOGITS], forgetting[CONTENT_LOGITS];
    struct modelcheck m;
    struct harness h;
    content_logits("cable", NULL, PEAT_DECODER, PATH_AUTO, cable);
    content_model(&m, &h, "forgetting", NULL, PEAT_DECODER, PATH_AUTO);
    for (int i = 0; i < m.model.weights.n; i++) {
        struct weight *w = m.model.weights.item[i];
        for (int64_t e = 0; strncmp(w->name, "position.", 9) == 0 && e < tensor_count(&w->value);
             e++)
            tensor_set(&w->value, e, -tensor_get(&w->value, e));
    }
    modelcheck_logits(&m, forgetting);
    content_close(&m, &h);
    ck_assert_double_le(content_distance(cable, forgetting, CONTENT_LOGITS), 1e-13);
}
END_TEST

START_TEST(a_model_learns_on_either_path)
{
    content_gradients("cable", NULL, PEAT_DECODER, PATH_FUSED);
    content_gradients("cable", NULL, PEAT_DECODER, PATH_COMPOSED);
    content_paths_agree("cable", NULL, PEAT_DECODER);
    content_no_future("cable", NULL);
    content_documents_are_apart("cable", NULL, PEAT_DECODER);
}
END_TEST

PLUGIN_TESTS("cable", biases_match_the_reference, encoders_are_refused,
             it_is_forgetting_with_other_signs, a_model_learns_on_either_path)
