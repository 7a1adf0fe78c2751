/* SPDX-License-Identifier: MIT */
/* The scheme 'sigmoid': its automatic number of keys, and gradients. */
#include "../content_tests.h"

enum { T = 4 };

/* Weights of one row of 4 tokens in a model trained with `train`. */
static void attend(const char *json, int64_t train, double *W)
{
    double S[T * T], mask[T * T];
    struct harness h;
    for (int i = 0; i < T * T; i++) {
        S[i] = 2 * sin(1 + i + 200.0);
        mask[i] = i % T <= i / T;
    }
    scheme_open(&h, "sigmoid", json, 1, 2, train, true);
    const peat_call *c = content_call(&h, T, NULL);
    const int64_t dim[] = {1, 1, T, T};
    h.call.base.mask = harness_constant(&h, 4, dim, mask);
    scheme_copy(h.scheme->softmax(c, NULL, harness_constant(&h, 4, dim, S), NULL), T * T, W);
    harness_close(&h);
}

TEST(keys_are_those_of_the_longest_sequence_trained)
{
    double automatic[T * T], given[T * T];
    attend(NULL, 8, automatic);
    attend("{\"keys\": 8}", T, given);
    ck_assert_double_eq(content_distance(automatic, given, T * T), 0);
}

TEST(models_of_every_kind_learn)
{
    for (int arch = 0; arch < 2; arch++) {
        peat_arch a = arch ? PEAT_ENCODER : PEAT_DECODER;
        scheme_gradients("sigmoid", NULL, a, PEAT_ONCE);
        content_documents_are_apart("sigmoid", NULL, a);
    }
    content_no_future("sigmoid", NULL);
    content_group_gradients("sigmoid", NULL);
}

/* Its logits have the bias of another scheme in them. */
TEST(it_acts_beside_a_bias)
{
    double alone[CONTENT_LOGITS], both[CONTENT_LOGITS];
    struct modelcheck m;
    struct harness h, other;
    content_logits("sigmoid", NULL, PEAT_DECODER, PATH_AUTO, alone);
    scheme_open(&h, "sigmoid", NULL, 2, 4, 5, true);
    modelcheck_init(&m, PEAT_DECODER);
    struct scheme_part *part = modelcheck_scheme(&m, "sigmoid", h.scheme);
    part->part.config = h.config;
    content_add(&m, &other, "alibi", NULL);
    modelcheck_build(&m);
    modelcheck_logits(&m, both);
    ck_assert_double_ge(content_distance(alone, both, CONTENT_LOGITS), 1e-4);
    modelcheck_gradients(&m, 1e-6);
    harness_close(&other);
    content_close(&m, &h);
}

PLUGIN_TESTS("sigmoid")
