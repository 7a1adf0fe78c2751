/* SPDX-License-Identifier: MIT */
/* The scheme 'cable': its limits and its gradient. */
#include "../content_tests.h"

/* One number for each key: the part common to a query's keys is left out. */
TEST(encoders_are_refused)
{
    scheme_refuses_encoders("cable");
}

/* log sigmoid(z) = -softplus(-z): forgetting with the signs of its tensors changed. */
TEST(it_is_forgetting_with_other_signs)
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

TEST(a_model_learns_on_either_path)
{
    content_gradients("cable", NULL, PEAT_DECODER, PATH_FUSED);
    content_gradients("cable", NULL, PEAT_DECODER, PATH_COMPOSED);
    content_paths_agree("cable", NULL, PEAT_DECODER);
    content_no_future("cable", NULL);
    content_documents_are_apart("cable", NULL, PEAT_DECODER);
}

PLUGIN_TESTS("cable")
