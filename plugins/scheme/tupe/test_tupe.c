/* SPDX-License-Identifier: MIT */
/* The scheme 'tupe' against a computed score; its scale, sharing, reset and gradient. */
#include "../content_tests.h"

/* Scores of two heads and tokens at 0, 2, 1. */
static const double places[] = {0, 2, 1};
static const double scores[2][3][3] = {
    {{-2.513990722768842, -2.6733761038222035, 1.0401202002894672},
     {-0.9039982643704815, -1.5638029257495676, 1.555292167768917},
     {-2.4290194148726307, -1.4017391561380723, -1.3111149058999036}},
    {{-13.359001608858122, -7.245349305840513, -8.120288154728435},
     {-5.47597146638879, -3.083313106661991, -3.106275769999479},
     {-11.589427769890532, -6.06330709390647, -7.480506315972016}}};

TEST(scores_match_the_reference)
{
    struct harness h;
    scheme_open(&h, "tupe", NULL, 2, 2, 3, false);
    scheme_wave(&h);
    peat_node *n = h.scheme->score_add(harness_call(&h, 1, 3, 1, places), NULL);
    scheme_assert(n, 18, &scores[0][0][0], 1e-12);
    harness_close(&h);
}

/* Tokens and positions are each scaled by 1/sqrt(2 C). */
TEST(a_second_term_widens_the_scale)
{
    content_scale_has_terms("tupe", 2);
}

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

TEST(a_shared_table_learns_from_all_layers)
{
    double once[40], layers[40];
    gradient_of_table(PEAT_ONCE, once);
    gradient_of_table(PEAT_PER_LAYER, layers);
    ck_assert_double_le(content_distance(once, layers, 40), 1e-14);
    ck_assert_double_ge(fabs(once[0]), 1e-6);
}

TEST(positions_beyond_the_table_are_refused)
{
    const double pos[] = {0, 3};
    struct harness h;
    scheme_refuses("tupe", "{\"max_len\": 5}", 2, 4, 8, true,
                   "learns max_len = 5 positions, but sequences of 8 are evaluated; raise max_len");
    scheme_open(&h, "tupe", NULL, 2, 4, 3, true);
    scheme_fails(&h, h.scheme->score_add(harness_call(&h, 1, 2, 1, pos), NULL),
                 "position 3 is not one of those learned: max_len is 3");
    harness_close(&h);
}

static const char reset_json[] = "{\"reset\": true}";

/* A special token has no position as query or key; between two of them the query decides. */
static void assert_reset(const uint8_t special[3])
{
    const double theta_query[] = {7, 8}, theta_key[] = {-5, -6};
    double expected[18];
    struct harness h;
    for (int64_t e = 0; e < 18; e++) {
        int64_t head = e / 9, i = e / 3 % 3, j = e % 3;
        expected[e] = special[i]   ? theta_query[head]
                      : special[j] ? theta_key[head]
                                   : scores[head][i][j];
    }
    scheme_open(&h, "tupe", reset_json, 2, 2, 3, false);
    ck_assert_int_eq(h.weights.n, 7);
    scheme_wave(&h);
    for (int64_t head = 0; head < 2; head++) {
        tensor_set(&h.weights.item[5]->value, head, theta_query[head]);
        tensor_set(&h.weights.item[6]->value, head, theta_key[head]);
    }
    harness_call(&h, 1, 3, 1, places);
    h.call.own.special = special;
    scheme_assert(h.scheme->score_add(&h.call.base, NULL), 18, expected, 1e-12);
    harness_close(&h);
}

TEST(a_special_token_has_no_position_as_query_or_key)
{
    assert_reset((const uint8_t[]){1, 0, 0});
    assert_reset((const uint8_t[]){0, 1, 0});
}

TEST(between_two_special_tokens_the_query_decides)
{
    assert_reset((const uint8_t[]){1, 0, 1});
}

/* The positions of a batch are shared, its special tokens are not. */
static const uint8_t special_batch[] = {1, 0, 0, 1, 0, 0, 0, 1, 0, 0};

TEST(rows_of_a_batch_have_their_own_special_tokens)
{
    double both[CONTENT_LOGITS], first[CONTENT_LOGITS];
    uint8_t special[10] = {0};
    struct modelcheck m;
    struct harness h;
    content_model(&m, &h, "tupe", reset_json, PEAT_ENCODER, PATH_AUTO);
    m.input.rows.special = special_batch;
    modelcheck_logits(&m, both);
    memcpy(special, special_batch, 5);
    m.input.rows.special = special;
    modelcheck_logits(&m, first);
    ck_assert_double_eq(content_distance(both, first, CONTENT_LOGITS / 2), 0);
    ck_assert_double_ge(
        content_distance(both + CONTENT_LOGITS / 2, first + CONTENT_LOGITS / 2, CONTENT_LOGITS / 2),
        1e-4);
    content_close(&m, &h);
}

/* The larger of the gradients of two heads, after a loss. */
static double theta_gradient(const struct modelcheck *m, const char *name)
{
    char full[64];
    snprintf(full, sizeof(full), "position.0.tupe.%s", name);
    const struct weight *w = weights_find(&m->model.weights, full);
    ck_assert_ptr_nonnull(w);
    return fmax(fabs(tensor_get(&w->grad, 0)), fabs(tensor_get(&w->grad, 1)));
}

/* Softmax cancels theta_query, which is the same for all keys. */
TEST(a_reset_learns_what_softmax_does_not_cancel)
{
    static const enum attention_path path[] = {PATH_FUSED, PATH_COMPOSED};
    double logits[2][CONTENT_LOGITS];
    for (int i = 0; i < 2; i++) {
        struct modelcheck m;
        struct harness h;
        content_model(&m, &h, "tupe", reset_json, PEAT_ENCODER, path[i]);
        m.input.rows.special = special_batch;
        modelcheck_gradients(&m, 1e-6);
        ck_assert_double_ge(theta_gradient(&m, "theta_key"), 1e-6);
        ck_assert_double_le(theta_gradient(&m, "theta_query"), 1e-14);
        modelcheck_logits(&m, logits[i]);
        content_close(&m, &h);
    }
    ck_assert_double_le(content_distance(logits[0], logits[1], CONTENT_LOGITS), 1e-12);
}

TEST(a_reset_without_special_tokens_is_refused)
{
    struct modelcheck m;
    struct harness h;
    struct model_cost cost;
    content_model(&m, &h, "tupe", reset_json, PEAT_ENCODER, PATH_AUTO);
    peat_status status = model_plan(&m.model, 2, 5, true, &cost, &m.err);
    ck_assert_msg(status == PEAT_OK, "%s", m.err.text);
    ck_assert_int_eq(model_plan(&m.model, 2, 5, false, &cost, &m.err), PEAT_REFUSED);
    ck_assert_ptr_nonnull(strstr(m.err.text, "tupe.theta_query' gets no gradient"));
    content_close(&m, &h);
}

TEST(a_model_learns_on_either_path)
{
    content_gradients("tupe", NULL, PEAT_DECODER, PATH_FUSED);
    content_gradients("tupe", NULL, PEAT_ENCODER, PATH_COMPOSED);
    content_paths_agree("tupe", NULL, PEAT_DECODER);
    content_paths_agree("tupe", NULL, PEAT_ENCODER);
    content_no_future("tupe", NULL);
}

PLUGIN_TESTS("tupe")
