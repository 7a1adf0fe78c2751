/* SPDX-License-Identifier: MIT */
/* The scheme 'tupe' against a computed score; its scale, its sharing and its gradient. */
#include "../content_tests.h"

START_TEST(scores_match_the_reference)
{
    const double pos[] = {0, 2, 1};
    const double expected[] = {-2.513990722768842,  -2.6733761038222035, 1.0401202002894672,
                               -0.9039982643704815, -1.5638029257495676, 1.555292167768917,
                               -2.4290194148726307, -1.4017391561380723, -1.3111149058999036,
                               -13.359001608858122, -7.245349305840513,  -8.120288154728435,
                               -5.47597146638879,   -3.083313106661991,  -3.106275769999479,
                               -11.589427769890532, -6.06330709390647,   -7.480506315972016};
    struct harness h;
    scheme_open(&h, "tupe", NULL, 2, 2, 3, false);
    scheme_wave(&h);
    peat_node *n = h.scheme->score_add(harness_call(&h, 1, 3, 1, pos), NULL);
    scheme_assert(n, 18, expected, 1e-12);
    harness_close(&h);
}
END_TEST

/* Tokens and positions are each scaled by 1/sqrt(2 C). */
START_TEST(a_second_term_widens_the_scale)
{
    double automatic[CONTENT_LOGITS], given[CONTENT_LOGITS];
    struct modelcheck m;
    struct harness h;
    content_logits("tupe", NULL, PEAT_ENCODER, PATH_AUTO, automatic);
    content_model(&m, &h, "tupe", NULL, PEAT_ENCODER, PATH_AUTO);
    m.model.config.attention_scale_value = 1 / sqrt(2 * 4);
    modelcheck_logits(&m, given);
    ck_assert_double_le(content_distance(automatic, given, CONTENT_LOGITS), 1e-13);
    m.model.config.attention_scale_value = 1 / sqrt(4);
    modelcheck_logits(&m, given);
    ck_assert_double_ge(content_distance(automatic, given, CONTENT_LOGITS), 1e-4);
    content_close(&m, &h);
}
END_TEST

static void gradient_of_table(peat_scope share, double out[40])
{
    struct modelcheck m;
    struct harness h;
    scheme_model(&m, &h, "tupe", NULL, PEAT_DECODER, share);
    for (int i = 0; i < m.model.weights.n; i++) {
        struct weight *w = m.model.weights.item[i];
        if (strncmp(w->name, "position.", 9) != 0)
            continue;
        for (int64_t e = 0; e < tensor_count(&w->value); e++)
            tensor_set(&w->value, e, sin((double)(1 + e + tensor_count(&w->value))));
    }
    modelcheck_loss(&m, true);
    for (int64_t e = 0; e < 40; e++)
        out[e] = 0;
    for (int layer = -1; layer < 2; layer++) {
        char name[64] = "position.0.tupe.p";
        if (layer >= 0)
            snprintf(name, sizeof(name), "position.0.tupe.layer.%d.p", layer);
        const struct weight *w = weights_find(&m.model.weights, name);
        ck_assert((w != NULL) == ((share == PEAT_ONCE) == (layer < 0)));
        for (int64_t e = 0; w && e < 40; e++)
            out[e] += tensor_get(&w->grad, e);
    }
    content_close(&m, &h);
}

START_TEST(a_shared_table_learns_from_all_layers)
{
    double once[40], layers[40];
    gradient_of_table(PEAT_ONCE, once);
    gradient_of_table(PEAT_PER_LAYER, layers);
    ck_assert_double_le(content_distance(once, layers, 40), 1e-14);
    ck_assert_double_ge(fabs(once[0]), 1e-6);
}
END_TEST

START_TEST(positions_beyond_the_table_are_refused)
{
    const double pos[] = {0, 3};
    struct harness h;
    scheme_refuses("tupe", "{\"max_len\": 5}", 2, 4, 8, true,
                   "learns max_len = 5 positions, but sequences of 8 are evaluated; raise max_len");
    scheme_open(&h, "tupe", NULL, 2, 4, 3, true);
    ck_assert_ptr_null(h.scheme->score_add(harness_call(&h, 1, 2, 1, pos), NULL));
    ck_assert_msg(strstr(h.graph.err.text, "position 3 is not one of those learned: max_len is 3"),
                  "%s", h.graph.err.text);
    harness_close(&h);
}
END_TEST

START_TEST(a_model_learns_on_either_path)
{
    content_gradients("tupe", NULL, PEAT_DECODER, PATH_FUSED);
    content_gradients("tupe", NULL, PEAT_ENCODER, PATH_COMPOSED);
    content_paths_agree("tupe", NULL, PEAT_DECODER);
    content_paths_agree("tupe", NULL, PEAT_ENCODER);
    content_no_future("tupe", NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tupe");
    TCase *t = tcase_create("tupe");
    tcase_add_test(t, scores_match_the_reference);
    tcase_add_test(t, a_second_term_widens_the_scale);
    tcase_add_test(t, a_shared_table_learns_from_all_layers);
    tcase_add_test(t, positions_beyond_the_table_are_refused);
    tcase_add_test(t, a_model_learns_on_either_path);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
