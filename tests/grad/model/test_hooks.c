/* SPDX-License-Identifier: MIT */
/*
 * test_hooks.c: every hook of a scheme and a combine in a whole model, by the schemes of
 * hook_cases.h.
 *
 * Each uses one hook with a trainable tensor. Its
 * tensor must get a gradient, all gradients of the model must agree with central
 * differences in F64, and the fused and the composed attention must give the same logits.
 */
#include <peat/call.h>

#include "hook_cases.h"
#include "nn/attention.h"
#include "support/support.h"

enum { LOGITS = 2 * 5 * 7 };

static struct modelcheck m;

static void set_up(void)
{
    modelcheck_init(&m, PEAT_DECODER);
}

static void tear_down(void)
{
    modelcheck_release(&m);
}

static void start_over(peat_arch arch)
{
    modelcheck_release(&m);
    modelcheck_init(&m, arch);
}

static void build_case(const struct hook_case *k, peat_arch arch, enum attention_path path)
{
    start_over(arch);
    modelcheck_scheme(&m, "first", k->scheme);
    if (k->second)
        modelcheck_scheme(&m, "second", k->second);
    m.config.attention_path = path;
    modelcheck_build(&m);
}

static peat_arch arch_of(int i)
{
    return i % 2 ? PEAT_ENCODER : PEAT_DECODER;
}

LOOP_TEST(gradients_are_right_on_both_paths, 2 * N_CASES)
{
    const struct hook_case *k = &hook_case[_i / 2];
    enum attention_path path = _i % 2 ? PATH_COMPOSED : PATH_FUSED;
    if (path == PATH_FUSED && !k->fused)
        return;
    for (int arch = 0; arch < 2; arch++) {
        build_case(k, arch_of(arch), path);
        modelcheck_gradients(&m, 1e-7);
    }
}

LOOP_TEST(the_schemes_own_tensors_get_a_gradient, N_CASES)
{
    build_case(&hook_case[_i], PEAT_DECODER, PATH_AUTO);
    modelcheck_loss(&m, true);
    for (int i = 0; i < m.model.weights.n; i++) {
        const struct weight *w = m.model.weights.item[i];
        if (strncmp(w->name, "position.", 9) != 0)
            continue;
        double largest = 0.0;
        for (int64_t e = 0; e < tensor_count(&w->grad); e++)
            largest = fmax(largest, fabs(tensor_get(&w->grad, e)));
        ck_assert_msg(largest > 1e-6, "%s: %s got no gradient", hook_case[_i].name, w->name);
    }
}

LOOP_TEST(fused_and_composed_attention_agree, N_CASES)
{
    const struct hook_case *k = &hook_case[_i];
    double fused[LOGITS], composed[LOGITS];
    if (!k->fused)
        return;
    for (int arch = 0; arch < 2; arch++) {
        build_case(k, arch_of(arch), PATH_FUSED);
        modelcheck_logits(&m, fused);
        build_case(k, arch_of(arch), PATH_COMPOSED);
        modelcheck_logits(&m, composed);
        for (int i = 0; i < LOGITS; i++)
            ck_assert_msg(fabs(fused[i] - composed[i]) < 1e-12, "%s: logit %d: %.15g, %.15g",
                          k->name, i, fused[i], composed[i]);
    }
}

/* The logits with the scheme must differ from those without: no hook is passed over. */
LOOP_TEST(every_hook_changes_the_output, N_CASES)
{
    const struct hook_case *k = &hook_case[_i];
    double with[LOGITS], without[LOGITS], largest = 0.0;
    build_case(k, PEAT_DECODER, PATH_AUTO);
    modelcheck_logits(&m, with);
    start_over(PEAT_DECODER);
    modelcheck_build(&m);
    modelcheck_logits(&m, without);
    for (int i = 0; i < LOGITS; i++)
        largest = fmax(largest, fabs(with[i] - without[i]));
    ck_assert_msg(largest > 1e-4, "%s: the output did not change", k->name);
}

/* No logit may depend on a later token in a causal model, whatever acts. */
LOOP_TEST(a_causal_model_does_not_see_the_future, N_CASES)
{
    const struct hook_case *k = &hook_case[_i];
    double before[LOGITS], after[LOGITS];
    build_case(k, PEAT_DECODER, PATH_AUTO);
    modelcheck_logits(&m, before);
    m.token[4] = (m.token[4] + 1) % 7; /* last token of row 0 */
    modelcheck_logits(&m, after);
    for (int i = 0; i < 4 * 7; i++)
        ck_assert_msg(before[i] == after[i], "%s: logit %d saw the future", k->name, i);
}

/* ---- where ---- */

TEST(a_scheme_acts_in_its_layers_alone)
{
    static const int64_t layer[] = {1};
    struct scheme_part *s = modelcheck_scheme(&m, "first", &with_bias_rel_per_layer);
    s->where.n_layer = 1;
    s->where.layer = layer;
    modelcheck_build(&m);
    ck_assert_ptr_null(weights_find(&m.model.weights, "position.0.first.layer.0.w"));
    ck_assert_ptr_nonnull(weights_find(&m.model.weights, "position.0.first.layer.1.w"));
    modelcheck_gradients(&m, 1e-7);
}

/* A scheme on some heads splits them into groups; both paths may then run side by side. */
LOOP_TEST(head_groups_have_right_gradients, 4)
{
    const peat_scheme *scheme[] = {&with_bias_rel, &with_qkv_wide, &with_logits, &with_score_add};
    m.config.n_head = 4;
    struct scheme_part *s = modelcheck_scheme(&m, "some", scheme[_i]);
    s->where.head_begin = 1;
    s->where.head_end = 3;
    modelcheck_scheme(&m, "all", &with_bias_rel);
    modelcheck_build(&m);
    modelcheck_gradients(&m, 1e-7);
}

/* Heads that a scheme leaves alone compute what they would without it. */
TEST(a_head_outside_the_group_is_untouched)
{
    struct scheme_part *s = modelcheck_scheme(&m, "some", &with_context);
    s->where.head_begin = 1;
    s->where.head_end = 2;
    modelcheck_build(&m);
    struct weight *w = weights_find(&m.model.weights, "position.0.some.w");
    ck_assert_int_eq(tensor_count(&w->value), 1);
    double one[LOGITS], two[LOGITS];
    tensor_set(&w->value, 0, 1.0);
    modelcheck_logits(&m, one);
    start_over(PEAT_DECODER);
    modelcheck_build(&m);
    modelcheck_logits(&m, two);
    for (int i = 0; i < LOGITS; i++)
        ck_assert_double_eq_tol(one[i], two[i], 1e-12);
}

TEST(dims_are_sliced_and_passed_through)
{
    m.config.d_model = 16;
    struct scheme_part *s = modelcheck_scheme(&m, "some", &with_qkv);
    s->where.dim_begin = 2;
    s->where.dim_end = 6;
    modelcheck_build(&m);
    modelcheck_gradients(&m, 1e-7);
}

static peat_status setup_of_four(peat_setup *s, const void *config, void **self)
{
    if (s->dims.C != 4)
        return peat_refuse(s, "told of %lld dimensions", (long long)s->dims.C);
    return setup_heads(s, config, self);
}

static peat_status qkv_of_four(const peat_call *c, peat_qkv *io)
{
    if (c->dims.C != 4 || peat_shape_of(c->g, io->q).dim[3] != 4) {
        peat_fail(c->g, "told of %lld dimensions", (long long)c->dims.C);
        return PEAT_FAILED;
    }
    return qkv_rotate(c, io);
}

TEST(a_scheme_is_told_the_width_that_dims_leave_it)
{
    SCHEME(of_four, .setup = setup_of_four, .qkv = qkv_of_four);
    m.config.d_model = 16;
    struct scheme_part *s = modelcheck_scheme(&m, "some", &of_four);
    s->where.dim_begin = 2;
    s->where.dim_end = 6;
    modelcheck_build(&m);
    modelcheck_loss(&m, true);
}

static peat_status qkv_doubled(const peat_call *c, peat_qkv *io)
{
    io->q = peat_concat(c->g, 2, (peat_node *[]){io->q, io->q}, -1);
    io->k = peat_concat(c->g, 2, (peat_node *[]){io->k, io->k}, -1);
    return PEAT_OK;
}

static peat_status qkv_kept(const peat_call *c, peat_qkv *io)
{
    (void)c;
    (void)io;
    return PEAT_OK;
}

TEST(dims_that_another_scheme_adds_are_kept)
{
    SCHEME(doubled, .qkv = qkv_doubled);
    SCHEME(kept, .qkv = qkv_kept);
    double logits[2][LOGITS];
    for (int n = 0; n < 2; n++) {
        start_over(PEAT_DECODER);
        modelcheck_scheme(&m, "doubled", &doubled);
        struct scheme_part *s = n ? modelcheck_scheme(&m, "kept", &kept) : NULL;
        if (s) {
            s->where.dim_begin = 1;
            s->where.dim_end = 3;
        }
        modelcheck_build(&m);
        modelcheck_logits(&m, logits[n]);
    }
    for (int i = 0; i < LOGITS; i++)
        ck_assert_double_eq_tol(logits[0][i], logits[1][i], 1e-12);
}

LOOP_TEST(a_stream_can_enter_elsewhere, 5)
{
    start_over(_i % 2 ? PEAT_DECODER : PEAT_ENCODER);
    struct scheme_part *s = modelcheck_scheme(&m, "some", &with_encode);
    s->where.at = (enum site)(SITE_RESIDUAL + _i);
    modelcheck_build(&m);
    modelcheck_gradients(&m, 1e-7);
}

TEST(heads_before_the_projection_are_refused)
{
    struct scheme_part *s = modelcheck_scheme(&m, "some", &with_hidden);
    s->where.head_end = 1;
    ck_assert_int_eq(modelcheck_try(&m), PEAT_REFUSED);
    ck_assert_str_eq(m.err.text, "scheme 'some' acts before the heads are split: where.heads means "
                                 "nothing for it");
}

/* ---- own positions ---- */

static peat_status own_tenfold(const peat_call *c, double *pos)
{
    for (int64_t i = 0; i < c->B * c->q->T; i++)
        pos[i] *= 10;
    return PEAT_OK;
}

/* bias_rel_log of positions that stand ten times apart is not that of the model's. */
TEST(own_positions_are_seen_by_their_scheme_alone)
{
    SCHEME(tenfold, .setup = setup_heads, .own_positions = own_tenfold, .bias_rel = bias_rel_log);
    double own[LOGITS], plain[LOGITS], beside[LOGITS], twice[LOGITS];
    const peat_scheme *alone[] = {&tenfold, &with_bias_rel};
    for (int i = 0; i < 2; i++) {
        start_over(PEAT_DECODER);
        modelcheck_scheme(&m, "first", alone[i]);
        modelcheck_build(&m);
        modelcheck_logits(&m, i == 0 ? own : plain);
    }
    for (int i = 0; i < 2; i++) { /* the second sees the same whether the first has its own */
        start_over(PEAT_DECODER);
        modelcheck_scheme(&m, "first", alone[i]);
        modelcheck_scheme(&m, "second", &with_bias_rel);
        modelcheck_build(&m);
        tensor_fill(&weights_find(&m.model.weights, "position.0.first.w")->value, 0);
        modelcheck_logits(&m, i == 0 ? beside : twice);
    }
    double apart = 0;
    for (int i = 0; i < LOGITS; i++) {
        apart = fmax(apart, fabs(own[i] - plain[i]));
        ck_assert_double_eq(beside[i], twice[i]);
    }
    ck_assert_double_gt(apart, 1e-4);
}

static peat_status own_nan(const peat_call *c, double *pos)
{
    pos[c->q->T - 1] = (double)NAN;
    return PEAT_OK;
}

TEST(a_position_that_is_no_number_is_an_error)
{
    SCHEME(lost, .setup = setup_heads, .own_positions = own_nan, .bias_rel = bias_rel_log);
    struct model_cost cost;
    struct error err = {0};
    modelcheck_scheme(&m, "lost", &lost);
    modelcheck_build(&m);
    ck_assert_int_ne(model_plan(&m.model, 2, 5, true, &cost, &err), PEAT_OK);
    ck_assert_str_eq(err.text,
                     "lost.own_positions: the position of place 4 is nan, not a finite number");
}

/* ---- one softmax ---- */

static void replace_twice(bool on_other_heads)
{
    m.config.n_head = 4;
    struct scheme_part *s = modelcheck_scheme(&m, "one", &with_softmax);
    struct scheme_part *other = modelcheck_scheme(&m, "other", &with_softmax);
    s->where.head_end = on_other_heads ? 1 : 0;
    other->where.head_begin = on_other_heads ? 1 : 0;
    other->where.head_end = on_other_heads ? 4 : 0;
    modelcheck_build(&m);
}

TEST(two_schemes_cannot_replace_one_softmax)
{
    struct model_cost cost;
    struct error err = {0};
    replace_twice(false);
    ck_assert_int_ne(model_plan(&m.model, 2, 5, true, &cost, &err), PEAT_OK);
    ck_assert_str_eq(err.text, "schemes 'one' and 'other' both replace the softmax: give them "
                               "other heads or layers (where)");
}

TEST(each_head_can_have_a_softmax_of_its_own)
{
    replace_twice(true);
    modelcheck_gradients(&m, 1e-7);
}

TEST(a_replaced_softmax_is_not_fused)
{
    struct model_cost cost;
    struct error err = {0};
    m.config.attention_path = PATH_FUSED;
    modelcheck_scheme(&m, "one", &with_softmax);
    modelcheck_build(&m);
    ck_assert_int_ne(model_plan(&m.model, 2, 5, true, &cost, &err), PEAT_OK);
    ck_assert_str_eq(err.text, "model.attention.path is fused, but scheme 'one' works on softmax, "
                               "which needs the composed path");
}

/* What a hook gives to masked keys does not reach what they are hidden from. */
static peat_node *softmax_without_mask(const peat_call *c, const peat_qkv *p, peat_node *S,
                                       peat_node *bias)
{
    (void)p;
    (void)bias;
    return peat_sigmoid(c->g, S);
}

TEST(masked_weights_are_nothing_whatever_the_hook_gives)
{
    SCHEME(careless, .softmax = softmax_without_mask);
    double before[LOGITS], after[LOGITS];
    modelcheck_scheme(&m, "careless", &careless);
    modelcheck_build(&m);
    modelcheck_logits(&m, before);
    m.token[4] = (m.token[4] + 1) % 7;
    modelcheck_logits(&m, after);
    for (int i = 0; i < 4 * 7; i++)
        ck_assert_double_eq(before[i], after[i]);
}

/* ---- from layer to layer ---- */

TEST(a_state_of_heads_is_not_split_between_groups)
{
    SCHEME(idle, .qkv = qkv_kept);
    struct model_cost cost;
    struct error err = {0};
    m.config.n_head = 4;
    modelcheck_scheme(&m, "carrying", &with_carry_weights);
    struct scheme_part *s = modelcheck_scheme(&m, "idle", &idle);
    s->where.head_begin = 1;
    s->where.head_end = 3;
    modelcheck_build(&m);
    ck_assert_int_ne(model_plan(&m.model, 2, 5, true, &cost, &err), PEAT_OK);
    ck_assert_str_eq(err.text, "scheme 'carrying' has a state of its heads, and where.heads of "
                               "another scheme splits its heads");
}

TEST(carry_on_some_heads_sees_their_weights)
{
    m.config.n_head = 4;
    struct scheme_part *s = modelcheck_scheme(&m, "carrying", &with_carry_weights);
    s->where.head_begin = 1;
    s->where.head_end = 3;
    modelcheck_build(&m);
    modelcheck_gradients(&m, 1e-7);
}

static int64_t carried_from[8];
static int n_carried;

static peat_status carry_noted(const peat_call *c, peat_node *x, peat_node *W,
                               peat_node *state[PEAT_MAX_SHARED])
{
    carried_from[n_carried++] = c->layer;
    ck_assert_ptr_null(W);
    ck_assert_ptr_eq(state[0], c->shared[0]);
    return x ? PEAT_OK : PEAT_FAILED;
}

TEST(carry_is_called_where_a_later_layer_sees_it)
{
    SCHEME(noted, .setup = setup_layers, .prepare = prepare_places, .bias = bias_of_state,
           .carry = carry_noted);
    static const int64_t layer[] = {0, 2, 3};
    m.config.n_layer = 5;
    struct scheme_part *s = modelcheck_scheme(&m, "noted", &noted);
    s->where.n_layer = 3;
    s->where.layer = layer;
    modelcheck_build(&m);
    n_carried = 0;
    modelcheck_loss(&m, false);
    ck_assert_int_eq(n_carried, 2);
    ck_assert_int_eq(carried_from[0], 0);
    ck_assert_int_eq(carried_from[1], 2);
}

/* ---- the scale ---- */

/* What the host does for PEAT_SCALE_OWN, done by hand. */
static peat_status qkv_doubled_and_divided(const peat_call *c, peat_qkv *io)
{
    io->q = peat_scale(c->g, io->q, sqrt(0.5));
    return qkv_doubled(c, io);
}

TEST(logits_are_divided_by_the_root_of_the_width_that_the_scheme_names)
{
    SCHEME(own, .scale = PEAT_SCALE_OWN, .qkv = qkv_doubled);
    SCHEME(by_hand, .qkv = qkv_doubled_and_divided);
    SCHEME(plain, .qkv = qkv_doubled);
    const peat_scheme *scheme[] = {&own, &by_hand, &plain};
    double logits[3][LOGITS], apart = 0;
    for (int i = 0; i < 3; i++) {
        start_over(PEAT_DECODER);
        modelcheck_scheme(&m, "doubled", scheme[i]);
        modelcheck_build(&m);
        modelcheck_logits(&m, logits[i]);
    }
    for (int i = 0; i < LOGITS; i++) {
        ck_assert_double_eq_tol(logits[0][i], logits[1][i], 1e-12);
        apart = fmax(apart, fabs(logits[0][i] - logits[2][i]));
    }
    ck_assert_double_gt(apart, 1e-4);
}

/* ---- the extension peat.call/1 ---- */

static int64_t valid[2], trained_step, call_step;
static bool is_across;

static peat_status prepare_facts(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])
{
    const peat_call_facts *facts = peat_call_facts_of(c->host);
    (void)shared;
    ck_assert_uint_ge(facts->size, sizeof(*facts));
    for (int64_t b = 0; b < 2; b++)
        valid[b] = facts->n_valid(c, c->q, b);
    trained_step = facts->trained_step(c);
    is_across = facts->across(c);
    call_step = c->step;
    return PEAT_OK;
}

LOOP_TEST(a_hook_can_ask_for_facts_of_its_call, 2)
{
    SCHEME(asking, .prepare = prepare_facts);
    static const uint8_t pad[] = {1, 1, 0, 0, 0, 0, 0, 0, 0, 0};
    modelcheck_scheme(&m, "asking", &asking);
    modelcheck_build(&m);
    m.model.weights.step = 600;
    m.input.phase = _i ? PEAT_EVAL : PEAT_TRAIN;
    m.input.step = 7;
    m.input.rows.pad = pad;
    modelcheck_loss(&m, false);
    ck_assert_int_eq(valid[0], 3);
    ck_assert_int_eq(valid[1], 5);
    ck_assert_int_eq(trained_step, _i ? 600 : 7);
    ck_assert_int_eq(call_step, _i ? 0 : 7);
    ck_assert(!is_across);
}

/* ---- tensors that layers share ---- */

static bool is_shared[4];

static peat_status setup_scopes(peat_setup *s, const void *config, void **self)
{
    static const peat_scope scope[] = {PEAT_ONCE, PEAT_PER_USER, PEAT_PER_LAYER};
    static const char *const name[] = {"once", "user", "layer"};
    (void)config;
    (void)self;
    for (int i = 0; i < 3; i++)
        peat_param_new(s, name[i], 1, (int64_t[]){1}, (peat_init){0}, scope[i], 0);
    return PEAT_OK;
}

static peat_status prepare_shared(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])
{
    (void)shared;
    for (int i = 0; i < 4; i++)
        is_shared[i] = peat_is_shared(c, i);
    return PEAT_OK;
}

LOOP_TEST(a_hook_knows_which_tensors_the_layers_share, 2)
{
    SCHEME(asking, .setup = setup_scopes, .prepare = prepare_shared);
    modelcheck_scheme(&m, "asking", &asking)->where.share = _i ? PEAT_PER_LAYER : PEAT_ONCE;
    modelcheck_build(&m);
    modelcheck_loss(&m, false);
    ck_assert(is_shared[0]);
    ck_assert_int_eq(is_shared[1], !_i);
    ck_assert(!is_shared[2]);
    ck_assert(!is_shared[3]);
}

TEST(an_extension_that_is_not_there_is_null)
{
    ck_assert_ptr_null(m.positional.host->extension(m.positional.host, "peat.call/2"));
}

/* ---- the check itself ---- */

static peat_node *wrong_sine(const peat_call *c)
{
    /* floor has gradient zero: a forward that moves with w and a backward that does not know */
    peat_node *w = peat_use(c, 0), *pos = peat_pos(c, c->q, 0);
    pos = peat_reshape(c->g, pos, 3, (int64_t[]){c->q->pos_B, c->q->T, 1});
    peat_node *steps = peat_scale(c->g, peat_floor(c->g, peat_scale(c->g, w, 1e7)), 1e-7);
    return peat_mul(c->g, pos, peat_add(c->g, w, steps));
}

TEST(a_planted_error_is_caught)
{
    SCHEME(wrong, .setup = setup_stream, .encode = wrong_sine);
    modelcheck_scheme(&m, "wrong", &wrong);
    modelcheck_build(&m);
    ck_assert_double_gt(modelcheck_gradients(&m, 0), 1e-4);
}

/* ---- the model's own options ---- */

LOOP_TEST(model_options_have_right_gradients, 64)
{
    start_over(_i & 1 ? PEAT_ENCODER : PEAT_DECODER);
    modelcheck_scheme(&m, "first", &with_encode);
    m.config.norm = _i & 2 ? NORM_RMS : NORM_LAYER;
    m.config.activation = _i & 4 ? ACTIVATION_GELU_TANH : ACTIVATION_GELU;
    m.config.tie_embeddings = _i & 8;
    m.config.dropout = _i & 16 ? 0.25 : 0.0;
    m.config.window = _i & 32 ? 2 : 0;
    modelcheck_build(&m);
    modelcheck_gradients(&m, 1e-7);
}

/* ---- tokens that are narrower than the model ---- */

/* Two dimensions for the stream, out of the model's width or beyond it. */
static void beside(int64_t *width, int64_t tokens, int64_t *D)
{
    width[0] = tokens;
    width[1] = 2;
    *D = tokens + 2;
}

static peat_status split_setup(peat_setup *s, const void *config, int32_t n,
                               const char *const *stream, int64_t *width, int64_t *D, void **self)
{
    (void)s, (void)config, (void)n, (void)stream, (void)self;
    beside(width, *D - 2, D);
    return PEAT_OK;
}

static peat_status wide_setup(peat_setup *s, const void *config, int32_t n,
                              const char *const *stream, int64_t *width, int64_t *D, void **self)
{
    (void)s, (void)config, (void)n, (void)stream, (void)self;
    beside(width, *D, D);
    return PEAT_OK;
}

static peat_node *beside_merge(const peat_call *c, int32_t n, peat_node *const *x)
{
    return peat_concat(c->g, n, x, -1);
}

static const peat_combine concat[] = {
    {.size = sizeof(peat_combine), .min_streams = 2, .setup = split_setup, .merge = beside_merge},
    {.size = sizeof(peat_combine), .min_streams = 2, .setup = wide_setup, .merge = beside_merge},
};

static void build_concat(struct modelcheck *c, int which, bool tied)
{
    modelcheck_scheme(c, "first", &with_encode);
    c->positional.combine = &concat[which];
    c->config.tie_embeddings = c->config.tie_factored = tied;
    modelcheck_build(c);
}

LOOP_TEST(factored_tie_has_right_gradients, 2)
{
    build_concat(&m, _i, true);
    const struct weight *w = weights_find(&m.model.weights, "tie.weight");
    ck_assert_int_eq(w->value.dim[0], _i ? 8 : 6);
    ck_assert_int_eq(w->value.dim[1], _i ? 10 : 8);
    ck_assert_ptr_null(weights_find(&m.model.weights, "head.weight"));
    modelcheck_gradients(&m, 1e-7);
}

/* head.weight = E W says the same. */
static void copy_weights(struct modelcheck *to, const struct modelcheck *from)
{
    const struct tensor *e = &weights_find(&from->model.weights, "token.weight")->value;
    const struct tensor *w = &weights_find(&from->model.weights, "tie.weight")->value;
    for (int i = 0; i < to->model.weights.n; i++) {
        struct weight *x = to->model.weights.item[i];
        const struct weight *same = weights_find(&from->model.weights, x->name);
        for (int64_t k = 0; same && k < tensor_count(&x->value); k++)
            tensor_set(&x->value, k, tensor_get(&same->value, k));
        for (int64_t k = 0; !same && k < tensor_count(&x->value); k++) {
            double sum = 0;
            for (int64_t j = 0; j < w->dim[0]; j++)
                sum += tensor_get(e, k / w->dim[1] * w->dim[0] + j) *
                       tensor_get(w, j * w->dim[1] + k % w->dim[1]);
            tensor_set(&x->value, k, sum);
        }
    }
}

LOOP_TEST(factored_tie_is_a_head_of_two_factors, 2)
{
    double tied[LOGITS], untied[LOGITS];
    struct modelcheck other;
    build_concat(&m, _i, true);
    modelcheck_init(&other, PEAT_DECODER);
    build_concat(&other, _i, false);
    copy_weights(&other, &m);
    modelcheck_logits(&m, tied);
    modelcheck_logits(&other, untied);
    for (int i = 0; i < 2 * 5 * 7; i++)
        ck_assert_double_eq_tol(tied[i], untied[i], 1e-12);
    modelcheck_release(&other);
}

TEST(tie_is_plain_where_tokens_are_as_wide_as_the_model)
{
    modelcheck_scheme(&m, "first", &with_encode);
    m.config.tie_embeddings = m.config.tie_factored = true;
    modelcheck_build(&m);
    ck_assert_ptr_null(weights_find(&m.model.weights, "tie.weight"));
    ck_assert_ptr_null(weights_find(&m.model.weights, "head.weight"));
}

int main(void)
{
    return run_tests((struct tests){"hooks", set_up, tear_down, .seconds = 60});
}
