/* SPDX-License-Identifier: MIT */
/* The scheme 'complex_word': its start and its gradient. */
#include "../content_tests.h"

static peat_node *waves(struct harness *h, int64_t T, const int32_t *token, const double *pos)
{
    harness_call(h, 1, T, 1, pos);
    h->call.own.token = token;
    peat_node *n = h->scheme->encode(&h->call.base);
    ck_assert_msg(n, "%s", h->graph.err.text);
    return n;
}

/* Only amplitudes differ between words before training. */
TEST(all_words_start_with_the_frequencies_of_sinusoids)
{
    struct harness h;
    scheme_open(&h, "complex_word", NULL, 1, 4, 3, true);
    const struct tensor *frequency = &h.weights.item[1]->value;
    for (int64_t i = 0; i < 7 * 2; i++)
        ck_assert_double_eq_tol(tensor_get(frequency, i), i % 2 == 0 ? 1 : 0.01, 1e-15);
    peat_node *n = waves(&h, 1, (const int32_t[]){2}, (double[]){0});
    ck_assert_double_ne(harness_at(n, 0), 0);
    ck_assert_double_eq(harness_at(n, 2), 0);
    harness_close(&h);
}

TEST(phases_can_be_left_out)
{
    struct harness h;
    scheme_open(&h, "complex_word", "{\"phase\": false}", 1, 4, 3, true);
    ck_assert_int_eq(h.weights.n, 2);
    harness_close(&h);
}

/* The id of a model's class token is one beyond the vocabulary. */
TEST(a_class_token_is_no_word)
{
    struct harness h;
    scheme_open(&h, "complex_word", NULL, 1, 4, 3, true);
    scheme_wave(&h);
    peat_node *n = waves(&h, 2, (const int32_t[]){7, 6}, NULL);
    for (int64_t i = 0; i < 4; i++) {
        ck_assert_double_eq(harness_at(n, i), 0);
        ck_assert_double_ne(harness_at(n, 4 + i), 0);
    }
    harness_close(&h);
}

TEST(an_odd_width_and_a_side_without_tokens_are_refused)
{
    struct harness h;
    scheme_refuses("complex_word", NULL, 1, 5, 4, true,
                   "a stream of width 5 has no real and imaginary halves");
    scheme_open(&h, "complex_word", NULL, 1, 4, 3, true);
    harness_call(&h, 1, 3, 1, NULL);
    h.call.own.token = NULL;
    scheme_fails(&h, h.scheme->encode(&h.call.base), "waves belong to token ids");
    harness_close(&h);
}

TEST(a_model_learns)
{
    content_gradients("complex_word", NULL, PEAT_DECODER, PATH_AUTO);
    content_gradients("complex_word", "{\"phase\": false}", PEAT_ENCODER, PATH_AUTO);
    content_documents_are_apart("complex_word", NULL, PEAT_DECODER);
}

PLUGIN_TESTS("complex_word")
