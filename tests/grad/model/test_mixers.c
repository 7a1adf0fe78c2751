/* SPDX-License-Identifier: MIT */
/*
 * test_mixers.c: models whose blocks read in order instead of attending: gradients, what they may
 * see, and the schemes that they cannot serve.
 */
#include "hook_cases.h"
#include "support/support.h"

enum { V = 7, T = 5 };

static struct modelcheck m;

static void set_up(void)
{
    modelcheck_init(&m, PEAT_DECODER);
}

static void tear_down(void)
{
    modelcheck_release(&m);
}

/* ---- all kinds of model ---- */

static const struct kind {
    enum mixer mixer;
    peat_arch arch;
    peat_head head;
    enum pooling pool;
    int64_t norm, norm_place;
} kinds[] = {
    {MIXER_CONV, PEAT_DECODER, PEAT_HEAD_TOKENS, POOL_CLS, NORM_LAYER, NORM_BEFORE},
    {MIXER_RNN, PEAT_DECODER, PEAT_HEAD_TOKENS, POOL_CLS, NORM_LAYER, NORM_BEFORE},
    {MIXER_CONV, PEAT_DECODER, PEAT_HEAD_TOKENS, POOL_CLS, NORM_RMS, NORM_AFTER},
    {MIXER_RNN, PEAT_DECODER, PEAT_HEAD_TOKENS, POOL_CLS, NORM_RMS, NORM_AFTER},
    {MIXER_CONV, PEAT_ENCODER, PEAT_HEAD_TOKENS, POOL_CLS, NORM_LAYER, NORM_BEFORE},
    {MIXER_RNN, PEAT_ENCODER, PEAT_HEAD_TOKENS, POOL_CLS, NORM_LAYER, NORM_BEFORE},
    {MIXER_CONV, PEAT_ENCODER, PEAT_HEAD_CLASS, POOL_MEAN, NORM_LAYER, NORM_BEFORE},
    {MIXER_RNN, PEAT_ENCODER, PEAT_HEAD_CLASS, POOL_MEAN, NORM_LAYER, NORM_BEFORE},
    {MIXER_RNN, PEAT_ENCODER, PEAT_HEAD_CLASS, POOL_CLS, NORM_LAYER, NORM_BEFORE},
};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

static void choose(const struct kind *k)
{
    modelcheck_release(&m);
    modelcheck_init(&m, k->arch);
    m.config.mixer = k->mixer;
    m.config.conv_width = k->mixer == MIXER_CONV ? 3 : 0;
    m.config.head = k->head;
    m.config.pool = k->pool;
    m.config.norm = k->norm;
    m.config.norm_place = k->norm_place;
    m.config.n_class = 3;
    for (int i = 0; k->head == PEAT_HEAD_CLASS && i < 2; i++)
        m.target[i] = i;
}

LOOP_TEST(gradients_are_right_in_every_kind_of_model, KINDS)
{
    static const uint8_t pad[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1};
    static const int32_t document[] = {0, 0, 1, 1, 1, 0, 0, 0, 0, 0};
    choose(&kinds[_i]);
    m.input.rows.pad = pad;
    if (kinds[_i].head == PEAT_HEAD_TOKENS)
        m.input.rows.document = document;
    modelcheck_build(&m);
    modelcheck_gradients(&m, 1e-7);
}

/* ---- what a place may see ---- */

/* Logits of these rows, in the model as it is. */
static void logits_of(int64_t rows, int64_t n, const int32_t *token, const int32_t *document,
                      const uint8_t *pad, double *out)
{
    const struct model_input in = m.input;
    m.input.B = rows;
    m.input.rows.T = n;
    m.input.rows.token = token;
    m.input.rows.document = document;
    m.input.rows.pad = pad;
    modelcheck_logits(&m, out);
    m.input = in;
}

static void same(const double *x, const double *y, int64_t n)
{
    for (int64_t i = 0; i < n * V; i++)
        ck_assert_msg(fabs(x[i] - y[i]) < 1e-13, "logit %d is %g, not %g", (int)i, x[i], y[i]);
}

LOOP_TEST(documents_in_a_row_are_as_if_alone, 6)
{
    static const int32_t token[] = {3, 1, 4, 1, 5}, document[] = {0, 0, 1, 1, 1};
    double packed[T * V], first[T * V], second[T * V];
    choose(&kinds[_i]);
    modelcheck_build(&m);
    logits_of(1, T, token, document, NULL, packed);
    logits_of(1, 2, token, NULL, NULL, first);
    logits_of(1, 3, token + 2, NULL, NULL, second);
    same(packed, first, 2);
    same(packed + 2 * V, second, 3);
}

LOOP_TEST(padding_on_either_side_changes_nothing, 6)
{
    static const int32_t token[] = {6, 6, 4, 1, 5, 6};
    static const uint8_t front[] = {1, 1, 0, 0, 0}, behind[] = {0, 0, 0, 1};
    double alone[T * V], padded[T * V];
    choose(&kinds[_i]);
    modelcheck_build(&m);
    logits_of(1, 3, token + 2, NULL, NULL, alone);
    logits_of(1, 5, token, NULL, front, padded);
    same(padded + 2 * V, alone, 3);
    logits_of(1, 4, token + 2, NULL, behind, padded);
    same(padded, alone, 3);
}

/* How far logit row `of` moves when the token at `place` is another. */
static double moved(int64_t of, int64_t place)
{
    int32_t token[] = {3, 1, 4, 1, 5};
    double x[T * V], y[T * V], most = 0;
    logits_of(1, T, token, NULL, NULL, x);
    token[place] = 6;
    logits_of(1, T, token, NULL, NULL, y);
    for (int64_t i = 0; i < V; i++)
        most = fmax(most, fabs(x[of * V + i] - y[of * V + i]));
    return most;
}

TEST(a_decoder_reads_from_the_left_and_an_encoder_both_ways)
{
    for (int i = 0; i < 6; i++) {
        choose(&kinds[i]);
        m.config.n_layer = 1;
        modelcheck_build(&m);
        bool both = kinds[i].arch == PEAT_ENCODER, conv = kinds[i].mixer == MIXER_CONV;
        ck_assert(moved(2, 1) > 1e-6);
        ck_assert((moved(2, 3) > 1e-6) == both);
        ck_assert((moved(2, 0) > 1e-6) == (!conv || !both));
        ck_assert((moved(3, 0) > 1e-6) == !conv);
        ck_assert((moved(1, 4) > 1e-6) == (both && !conv));
    }
}

/* ---- schemes ---- */

/* Hooks before attention serve; all others are refused by the mixer's name. */
TEST(schemes_inside_attention_are_refused)
{
    enum { INSIDE = ACTS_ON_HIDDEN | ACTS_ON_HEADS | ACTS_ON_STATE };
    int served = 0, refused = 0;
    for (int i = 0; i < N_CASES; i++) {
        const struct hook_case *k = &hook_case[i];
        bool inside =
            scheme_acts_on(k->scheme, INSIDE) || (k->second && scheme_acts_on(k->second, INSIDE));
        choose(&kinds[i % 2]);
        modelcheck_scheme(&m, "first", k->scheme);
        if (k->second)
            modelcheck_scheme(&m, "second", k->second);
        peat_status status = modelcheck_try(&m);
        if (inside) {
            ck_assert_int_eq(status, PEAT_REFUSED);
            ck_assert_msg(strstr(m.err.text, "works inside attention (") &&
                              strstr(m.err.text, i % 2 ? "model.mixer: rnn" : "model.mixer: conv"),
                          "%s", m.err.text);
            refused++;
        } else {
            ck_assert_msg(status == PEAT_OK, "%s", m.err.text);
            modelcheck_gradients(&m, 1e-7);
            served++;
        }
    }
    ck_assert_int_gt(served, 1);
    ck_assert_int_gt(refused, 5);
}

TEST(a_stream_cannot_enter_attention_that_is_not_there)
{
    choose(&kinds[1]);
    modelcheck_scheme(&m, "stream", &with_encode)->where.at = SITE_ATTN_QK;
    ck_assert_int_eq(modelcheck_try(&m), PEAT_REFUSED);
    ck_assert_msg(strstr(m.err.text, "model.mixer: rnn makes none"), "%s", m.err.text);
    choose(&kinds[1]);
    modelcheck_scheme(&m, "stream", &with_encode)->where.at = SITE_RESIDUAL;
    modelcheck_build(&m);
    modelcheck_gradients(&m, 1e-7);
}

/* ---- sizes ---- */

static struct model_cost cost_of(enum mixer mixer, int64_t width)
{
    struct model_cost cost;
    modelcheck_release(&m);
    modelcheck_init(&m, PEAT_DECODER);
    m.config.mixer = mixer;
    m.config.conv_width = width;
    modelcheck_build(&m);
    ck_assert_int_eq(model_plan(&m.model, 2, T, true, &cost, &m.err), PEAT_OK);
    return cost;
}

/* D 8, 2 blocks, 10 places. */
TEST(mixers_are_as_large_as_attention)
{
    int64_t attention = cost_of(MIXER_ATTENTION, 0).trainable;
    ck_assert_int_eq(cost_of(MIXER_RNN, 0).trainable, attention);
    ck_assert_int_eq(cost_of(MIXER_CONV, 3).trainable, attention + 2 * 3 * 8);
    int64_t products = 10 * 2 * 2 * (4 * 8 * 8 + 2 * 8 * 12) + 10 * 2 * 8 * 7;
    ck_assert_int_eq(cost_of(MIXER_RNN, 0).forward_flops, products + 10 * 2 * 4 * 8);
    ck_assert_int_eq(cost_of(MIXER_CONV, 3).forward_flops, products + 10 * 2 * 2 * 3 * 8);
}

/* Forget gates start with memories from 1 place to those of a training sequence. */
TEST(memories_start_spread_over_the_training_length)
{
    choose(&kinds[1]);
    m.config.T_train = 100;
    m.config.T_max = 100;
    modelcheck_build(&m);
    const struct weight *w = weights_find(&m.model.weights, "block.0.rnn.forget.bias");
    ck_assert_ptr_nonnull(w);
    double least = 1e9, most = -1e9;
    for (int64_t i = 0; i < 8; i++) {
        least = fmin(least, tensor_get(&w->value, i));
        most = fmax(most, tensor_get(&w->value, i));
    }
    ck_assert_double_ge(least, 0);
    ck_assert_double_lt(most, log(100));
    ck_assert_double_gt(most - least, 1);
    ck_assert(!w->decay);
}

/* ---- stored rows ---- */

/* The newest rows of two sequences, up to `end`, against whole passes. */
static void assert_newest(struct stored *s, int64_t end, const double *whole)
{
    struct graph g;
    graph_init(&g, &m.step, &m.team, PEAT_F64);
    g.no_grad = true;
    const peat_node *logits = model_newest(&m.model, &g, s, end);
    ck_assert_msg(logits, "%s", g.err.text);
    for (int b = 0; b < 2; b++)
        for (int v = 0; v < V; v++)
            ck_assert_double_eq_tol(tensor_get(&logits->value, b * V + v),
                                    whole[(b * T + end - 1) * V + v], 1e-12);
    arena_reset(&m.step);
}

/* Padding in front and between, and documents, at and around where a pass begins. */
LOOP_TEST(the_newest_rows_alone_are_those_of_whole_passes, 4)
{
    static const uint8_t pads[][2 * T] = {{0}, {1, 1, 0, 0, 0, 0, 0, 1, 0, 0}};
    static const int32_t documents[][2 * T] = {{0}, {4, 4, 6, 6, 6, 2, 2, 2, 2, 3}};
    static const int64_t ends[] = {2, 3, 5};
    for (int dress = 0; dress < 4; dress++) {
        struct stored stored;
        double whole[2 * T * V];
        const char *id;
        choose(&kinds[_i]);
        m.positional.combine = NULL;
        m.input.phase = PEAT_EVAL;
        m.input.rows.pad = pads[dress % 2];
        m.input.rows.document = documents[dress / 2];
        modelcheck_build(&m);
        ck_assert_ptr_null(model_not_storable(&m.model, &id));
        modelcheck_logits(&m, whole);
        ck_assert_int_eq(model_store(&m.model, &m.input, NULL, &m.arena, &stored, &m.err), PEAT_OK);
        for (int i = 0; i < 3; i++)
            assert_newest(&stored, ends[i], whole);
    }
}

int main(void)
{
    return run_tests((struct tests){"mixers", set_up, tear_down, .seconds = 60});
}
