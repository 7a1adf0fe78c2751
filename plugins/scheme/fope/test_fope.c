/* SPDX-License-Identifier: MIT */
/* The scheme 'fope': what is trained, and its gradient. */
#include "../content_tests.h"

/* Without the random part the pairs that training covers turn as rotary's: with 7 tokens the first,
 * which is the first of 2 for heads of 4. */
TEST(without_a_random_part_its_pairs_are_those_of_rotary)
{
    const double pos[] = {5};
    struct harness h;
    scheme_open(&h, "fope", "{\"gain\": 0}", 1, 4, 7, true);
    peat_qkv io = scheme_turn(&h, 1, pos, 4, scheme_q8, scheme_k8);
    ck_assert_double_eq_tol(harness_at(io.q, 0), .1 * cos(5) - .3 * sin(5), 1e-15);
    ck_assert_double_eq_tol(harness_at(io.q, 2), .1 * sin(5) + .3 * cos(5), 1e-15);
    ck_assert_double_eq(harness_at(io.q, 1), .2);
    ck_assert_double_eq(harness_at(io.q, 3), .4);
    harness_close(&h);
}

/* Sizes follow the frequencies of a full turn in training, and at most half of the pairs turn. */
TEST(training_decides_which_frequencies_are_mixed)
{
    static const int64_t T[] = {4, 62, 63, 700, 7000}, n_in[] = {1, 1, 2, 3, 4},
                         n_out[] = {1, 1, 2, 2, 2};
    for (int i = 0; i < 5; i++) {
        struct harness h;
        scheme_open(&h, "fope", NULL, 2, 8, T[i], true);
        const struct tensor *cosine = &h.weights.item[0]->value;
        ck_assert_int_eq(cosine->dim[0], 2);
        ck_assert_int_eq(cosine->dim[1], n_in[i]);
        ck_assert_int_eq(cosine->dim[2], n_out[i]);
        harness_close(&h);
    }
}

TEST(odd_heads_are_refused)
{
    scheme_refuses("fope", NULL, 1, 5, 4, true,
                   "a head width of 5 does not split into pairs that turn: make model.d_model / "
                   "model.n_head even");
}

TEST(a_model_learns_with_mixtures_trained_or_not)
{
    scheme_gradients("fope", "{\"learned\": true}", PEAT_DECODER, PEAT_PER_LAYER);
    scheme_gradients("fope", "{\"learned\": true}", PEAT_ENCODER, PEAT_ONCE);
    scheme_gradients("fope", NULL, PEAT_DECODER, PEAT_ONCE);
}

PLUGIN_TESTS("fope")
