/* SPDX-License-Identifier: MIT */
/*
 * test_seq2seq.c: an encoder and a decoder that looks at it, with every hook of a scheme on both
 * sides, and schemes that act across.
 */
#include <peat/call.h>

#include "hook_cases.h"
#include "nn/attention.h"
#include "support/support.h"

enum { T = 5, S = 4, V = 7, LOGITS = 2 * T * V };

static struct modelcheck m;
static int32_t source[2 * S];
static const uint8_t source_pad[] = {0, 0, 0, 0, 0, 0, 0, 1};

static void set_up(void)
{
    modelcheck_init(&m, PEAT_SEQ2SEQ);
    for (int i = 0; i < 2 * S; i++)
        source[i] = (3 * i + 1) % V;
    m.config.source_T = S;
    m.config.encoder_layers = 1;
    m.input.source.T = S;
    m.input.source.token = source;
    m.input.source.pad = source_pad;
}

static void tear_down(void)
{
    modelcheck_release(&m);
}

static void start_over(void)
{
    tear_down();
    set_up();
}

static double apart(const double *x, const double *y, int n)
{
    double worst = 0;
    for (int i = 0; i < n; i++)
        worst = fmax(worst, fabs(x[i] - y[i]));
    return worst;
}

/* ---- both sides ---- */

LOOP_TEST(gradients_are_right_with_every_hook, 2 * N_CASES)
{
    const struct hook_case *k = &hook_case[_i / 2];
    modelcheck_scheme(&m, "first", k->scheme);
    if (k->second)
        modelcheck_scheme(&m, "second", k->second);
    m.config.norm_place = _i % 2 ? NORM_AFTER : NORM_BEFORE;
    modelcheck_build(&m);
    modelcheck_gradients(&m, 2e-7);
}

LOOP_TEST(both_paths_say_the_same, N_CASES)
{
    const struct hook_case *k = &hook_case[_i];
    double out[2][LOGITS];
    for (int path = 0; k->fused && path < 2; path++) {
        start_over();
        modelcheck_scheme(&m, "first", k->scheme);
        if (k->second)
            modelcheck_scheme(&m, "second", k->second);
        m.config.attention_path = path ? PATH_COMPOSED : PATH_FUSED;
        modelcheck_build(&m);
        modelcheck_logits(&m, out[path]);
    }
    if (k->fused)
        ck_assert_double_lt(apart(out[0], out[1], LOGITS), 1e-12);
}

/* The decoder sees all of the source, none of its padding, and nothing of its own future. */
TEST(a_decoder_sees_its_source_and_its_past)
{
    double before[LOGITS], after[LOGITS];
    modelcheck_scheme(&m, "first", &with_encode);
    modelcheck_build(&m);
    modelcheck_logits(&m, before);
    source[2 * S - 1] = (source[2 * S - 1] + 1) % V; /* padding */
    modelcheck_logits(&m, after);
    ck_assert_double_eq(apart(before, after, LOGITS), 0);
    m.token[T - 1] = (m.token[T - 1] + 1) % V; /* the last of the first row */
    modelcheck_logits(&m, after);
    ck_assert_double_eq(apart(before, after, (T - 1) * V), 0);
    source[S - 1] = (source[S - 1] + 1) % V; /* the last of the first source */
    modelcheck_logits(&m, after);
    ck_assert_double_gt(apart(before, after, V), 1e-4);
    ck_assert_double_eq(apart(before + T * V, after + T * V, T * V), 0);
}

/* Each side has weights of its own, but for the table of tokens; norms after parts leave none for
 * the end. */
TEST(each_side_has_weights_of_its_own)
{
    const struct weights *w = &m.model.weights;
    modelcheck_scheme(&m, "first", &with_encode);
    modelcheck_build(&m);
    ck_assert_ptr_nonnull(weights_find(w, "position.0.first.w"));
    ck_assert_ptr_nonnull(weights_find(w, "encoder.position.0.first.w"));
    ck_assert_ptr_nonnull(weights_find(w, "encoder.block.0.attention.qkv.weight"));
    ck_assert_ptr_null(weights_find(w, "encoder.block.0.cross.qkv.weight"));
    ck_assert_ptr_null(weights_find(w, "encoder.block.1.norm1.weight")); /* encoder_layers: 1 */
    ck_assert_ptr_nonnull(weights_find(w, "block.1.cross.qkv.weight"));
    ck_assert_ptr_nonnull(weights_find(w, "encoder.norm.weight"));
    ck_assert_ptr_null(weights_find(w, "encoder.token.weight"));
    start_over();
    m.config.norm_place = NORM_AFTER;
    modelcheck_build(&m);
    ck_assert_ptr_null(weights_find(w, "norm.weight"));
    ck_assert_ptr_null(weights_find(w, "encoder.norm.weight"));
    ck_assert_ptr_nonnull(weights_find(w, "block.1.norm_cross.weight"));
}

TEST(a_scheme_for_causal_models_is_refused_for_the_encoder)
{
    const peat_scheme causal = {.size = sizeof(causal), .traits = PEAT_NEEDS_CAUSAL};
    modelcheck_scheme(&m, "causal", &causal);
    ck_assert_int_eq(modelcheck_try(&m), PEAT_REFUSED);
    ck_assert_msg(
        strstr(m.err.text, "in the encoder: scheme 'causal' is defined only for a causal"), "%s",
        m.err.text);
    ck_assert_ptr_eq(m.positional.failing, &m.positional.scheme[0].part);
}

/* ---- across ---- */

/* Turns q by its place and k by its own. */
static peat_node *turned(const peat_call *c, const peat_side *side, peat_node *x)
{
    int64_t C = peat_shape_of(c->g, x).dim[3];
    peat_node *pos =
        peat_reshape(c->g, peat_pos(c, side, 0), 4, (int64_t[]){side->pos_B, 1, side->T, 1});
    peat_node *angle = peat_mul(c->g, pos, per_head(c));
    angle = peat_expand(c->g, angle, 4, (int64_t[]){side->pos_B, c->H, side->T, C / 2});
    return peat_rotate(c->g, x, peat_cos(c->g, angle), peat_sin(c->g, angle), PEAT_INTERLEAVED);
}

static peat_status turn_both(const peat_call *c, peat_qkv *io)
{
    io->q = turned(c, c->q, io->q);
    io->k = turned(c, c->k, io->k);
    return PEAT_OK;
}

SCHEME(turning, .traits = PEAT_ACROSS, .setup = setup_heads, .qkv = turn_both);
SCHEME(falling, .traits = PEAT_ACROSS, .setup = setup_heads, .bias_rel = bias_rel_log);
SCHEME(falling_per_layer, .traits = PEAT_ACROSS, .setup = setup_heads_per_layer,
       .bias_rel = bias_rel_log);
SCHEME(falling_whole, .traits = PEAT_ACROSS, .setup = setup_heads, .positions = positions_double,
       .bias_rel = bias_rel_log);
SCHEME(falling_pairs, .traits = PEAT_ACROSS, .setup = setup_heads, .positions = positions_stretch,
       .bias_rel = bias_rel_log);
SCHEME(scoring, .traits = PEAT_ACROSS, .needs = PEAT_NEED_QK, .score_terms = 1,
       .setup = setup_heads, .score_add = score_add_key);
SCHEME(projecting, .traits = PEAT_ACROSS, .needs = PEAT_NEED_QK | PEAT_NEED_PROJECT,
       .score_terms = 1, .setup = setup_table, .score_add = score_add_projected);
SCHEME(weighing, .traits = PEAT_ACROSS, .setup = setup_heads, .weights = weights_decay);
SCHEME(counting, .traits = PEAT_ACROSS, .setup = setup_heads, .logits = logits_cumulative);

static const peat_scheme *const crossing[] = {&turning,       &falling,       &falling_per_layer,
                                              &falling_whole, &falling_pairs, &scoring,
                                              &projecting,    &weighing,      &counting};
enum { N_CROSSING = sizeof(crossing) / sizeof(*crossing) };

LOOP_TEST(a_scheme_acts_across_where_it_is_asked_to, N_CROSSING)
{
    double out[2][LOGITS];
    for (int asked = 0; asked < 2; asked++) {
        start_over();
        modelcheck_scheme(&m, "first", crossing[_i])->where.across =
            asked ? ACROSS_TOO : ACROSS_NOT;
        modelcheck_build(&m);
        modelcheck_logits(&m, out[asked]);
        modelcheck_gradients(&m, 2e-7);
    }
    ck_assert_double_gt(apart(out[0], out[1], LOGITS), 1e-4);
}

/* In self-attention of either side, and across: 5 queries, 4 keys, each with their own places. */
static int across_calls, alone_calls;

static peat_status sees_two_sides(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])
{
    const peat_call_facts *facts = peat_call_facts_of(c->host);
    (void)shared;
    ck_assert(facts->across(c) == (c->q != c->k));
    alone_calls += c->q == c->k;
    if (c->q == c->k)
        return PEAT_OK;
    across_calls++;
    ck_assert_int_eq(facts->n_valid(c, c->k, 0), S);
    ck_assert_int_eq(facts->n_valid(c, c->k, 1), S - 1);
    ck_assert_int_eq(c->q->T, T);
    ck_assert_int_eq(c->k->T, S);
    ck_assert_double_eq(c->q->pos[T - 1], T - 1);
    ck_assert_double_eq(c->k->pos[S - 1], S - 1);
    ck_assert_int_eq(c->k->token[S - 1], source[S - 1]);
    ck_assert_int_eq(c->k->pad[2 * S - 1], 1);
    return PEAT_OK;
}

TEST(across_each_side_has_its_own_places)
{
    const peat_scheme watch = {.size = sizeof(watch),
                               .needs = PEAT_NEED_TOKENS,
                               .traits = PEAT_ACROSS,
                               .prepare = sees_two_sides};
    modelcheck_scheme(&m, "asked", &watch)->where.across = ACROSS_TOO;
    modelcheck_scheme(&m, "unasked", &watch);
    modelcheck_build(&m);
    across_calls = 0;
    modelcheck_loss(&m, false);
    ck_assert_int_eq(across_calls, 1);
}

TEST(a_scheme_can_act_in_cross_attention_only)
{
    SCHEME(watch, .needs = PEAT_NEED_TOKENS, .traits = PEAT_ACROSS, .prepare = sees_two_sides);
    double none[LOGITS], only[LOGITS], too[LOGITS];
    modelcheck_build(&m);
    modelcheck_logits(&m, none);
    start_over();
    modelcheck_scheme(&m, "first", &falling)->where.across = ACROSS_TOO;
    modelcheck_build(&m);
    modelcheck_logits(&m, too);
    start_over();
    modelcheck_scheme(&m, "first", &falling)->where.across = ACROSS_ONLY;
    modelcheck_scheme(&m, "watch", &watch)->where.across = ACROSS_ONLY;
    modelcheck_build(&m);
    across_calls = alone_calls = 0;
    modelcheck_logits(&m, only);
    ck_assert_int_eq(across_calls, 1);
    ck_assert_int_eq(alone_calls, 0);
    ck_assert_double_gt(apart(none, only, LOGITS), 1e-4);
    ck_assert_double_gt(apart(too, only, LOGITS), 1e-4);
    ck_assert_ptr_nonnull(weights_find(&m.model.weights, "position.0.first.w"));
    ck_assert_ptr_null(weights_find(&m.model.weights, "encoder.position.0.first.w"));
    modelcheck_gradients(&m, 2e-7);
}

TEST(what_acts_elsewhere_cannot_act_in_cross_attention_only)
{
    modelcheck_scheme(&m, "first", &falling_whole)->where.across = ACROSS_ONLY;
    ck_assert_int_eq(modelcheck_try(&m), PEAT_REFUSED);
    ck_assert_str_eq(m.err.text, "scheme 'first' acts outside attention too: where.across: only is "
                                 "refused");
}

/* What the ids add up to from the start: a row alone does not know it. */
static peat_status own_sums(const peat_call *c, double *pos)
{
    for (int64_t i = 0; i < c->B * c->q->T; i++)
        pos[i] = (peat_starts(c->q, i) ? 0 : pos[i - 1]) + c->q->token[i];
    return PEAT_OK;
}

TEST(own_positions_of_the_newest_rows_are_those_of_whole_passes)
{
    SCHEME(sums, .needs = PEAT_NEED_TOKENS, .traits = PEAT_ACROSS | PEAT_STORABLE,
           .setup = setup_heads, .own_positions = own_sums, .bias_rel = bias_rel_log);
    struct stored stored;
    double whole[LOGITS];
    const char *id;
    modelcheck_scheme(&m, "sums", &sums)->where.across = ACROSS_TOO;
    m.positional.combine = NULL;
    m.input.phase = PEAT_EVAL;
    modelcheck_build(&m);
    ck_assert_ptr_null(model_not_storable(&m.model, &id));
    modelcheck_logits(&m, whole);
    ck_assert_int_eq(model_store(&m.model, &m.input, &m.team, &m.arena, &stored, &m.err), PEAT_OK);
    for (int64_t end = 2; end <= T; end++) {
        struct graph g;
        graph_init(&g, &m.step, &m.team, PEAT_F64);
        g.no_grad = true;
        const peat_node *logits = model_newest(&m.model, &g, &stored, end);
        ck_assert_msg(logits, "%s", g.err.text);
        for (int i = 0; i < 2 * V; i++)
            ck_assert_double_eq_tol(tensor_get(&logits->value, i),
                                    whole[(i / V * T + end - 1) * V + i % V], 1e-12);
        arena_reset(&m.step);
    }
}

TEST(a_scheme_that_says_nothing_across_is_refused_there)
{
    modelcheck_scheme(&m, "first", &with_qkv)->where.across = ACROSS_TOO;
    ck_assert_int_eq(modelcheck_try(&m), PEAT_REFUSED);
    ck_assert_str_eq(m.err.text, "scheme 'first' is not defined across two sequences: where.across "
                                 "is refused");
}

int main(void)
{
    return run_tests((struct tests){"seq2seq", set_up, tear_down, .seconds = 120});
}
