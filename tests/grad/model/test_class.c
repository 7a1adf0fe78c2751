/* SPDX-License-Identifier: MIT */
/*
 * test_class.c: an encoder that tells the class of a row, from a class token or from the mean, with
 * every hook of a scheme.
 */
#include "hook_cases.h"
#include "nn/attention.h"
#include "support/support.h"

enum { CLASSES = 3, LOGITS = 2 * CLASSES, T = 5 };

static struct modelcheck m;

static void set_up(void)
{
    modelcheck_init(&m, PEAT_ENCODER);
}

static void tear_down(void)
{
    modelcheck_release(&m);
}

static void start_over(enum pooling pool, enum cls_position cls)
{
    static const uint8_t pad[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1};
    modelcheck_release(&m);
    modelcheck_init(&m, PEAT_ENCODER);
    m.config.head = PEAT_HEAD_CLASS;
    m.config.n_class = CLASSES;
    m.config.pool = pool;
    m.config.cls_position = cls;
    m.input.rows.pad = pad;
    for (int i = 0; i < 2; i++)
        m.target[i] = i;
}

/* ---- all hooks ---- */

static const struct stand {
    enum pooling pool;
    enum cls_position cls;
} stands[] = {{POOL_CLS, CLS_FIRST}, {POOL_CLS, CLS_OWN}, {POOL_CLS, CLS_NONE}, {POOL_MEAN, 0}};

enum { N_STANDS = sizeof(stands) / sizeof(*stands) };

static peat_status build_case(const struct hook_case *k, const struct stand *p,
                              enum attention_path path)
{
    start_over(p->pool, p->cls);
    modelcheck_scheme(&m, "first", k->scheme);
    if (k->second)
        modelcheck_scheme(&m, "second", k->second);
    m.config.attention_path = path;
    return modelcheck_try(&m);
}

/* A head that is wider for all but the class token has no product with it. */
static bool refused(const struct hook_case *k, const struct stand *p)
{
    bool widens = k->scheme == &with_qkv_wide || k->second == &with_qkv_wide;
    return widens && p->pool == POOL_CLS && p->cls != CLS_FIRST;
}

LOOP_TEST(gradients_are_right_with_every_hook, N_CASES)
{
    const struct hook_case *k = &hook_case[_i];
    for (int p = 0; p < N_STANDS; p++)
        for (int path = k->fused ? PATH_FUSED : PATH_COMPOSED; path <= PATH_COMPOSED; path++) {
            if (refused(k, &stands[p]))
                continue;
            ck_assert_msg(build_case(k, &stands[p], (enum attention_path)path) == PEAT_OK, "%s",
                          m.err.text);
            modelcheck_gradients(&m, 1e-7);
        }
}

LOOP_TEST(both_paths_tell_the_same_class, N_CASES)
{
    const struct hook_case *k = &hook_case[_i];
    double fused[LOGITS], composed[LOGITS];
    for (int p = 0; k->fused && p < N_STANDS; p++) {
        if (refused(k, &stands[p]))
            continue;
        ck_assert_int_eq(build_case(k, &stands[p], PATH_FUSED), PEAT_OK);
        modelcheck_logits(&m, fused);
        ck_assert_int_eq(build_case(k, &stands[p], PATH_COMPOSED), PEAT_OK);
        modelcheck_logits(&m, composed);
        for (int i = 0; i < LOGITS; i++)
            ck_assert_msg(fabs(fused[i] - composed[i]) < 1e-12, "%s: %.15g, %.15g", k->name,
                          fused[i], composed[i]);
    }
}

TEST(a_wider_head_is_refused_beside_a_class_token_without_position)
{
    struct model_cost cost;
    struct error err = {0};
    start_over(POOL_CLS, CLS_NONE);
    modelcheck_scheme(&m, "wide", &with_qkv_wide);
    modelcheck_build(&m);
    ck_assert_int_ne(model_plan(&m.model, 2, T, true, &cost, &err), PEAT_OK);
    ck_assert_msg(strstr(err.text, "wide.qkv") && strstr(err.text, "cls_position: first"), "%s",
                  err.text);
}

/* ---- where the class token stands ---- */

/* What a scheme sees: T places from position 0 on. Otherwise it adds nothing. */
static peat_status sees_the_data_alone(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])
{
    (void)shared;
    ck_assert_int_eq(c->q->T, T);
    ck_assert_ptr_eq(c->q, c->k);
    for (int t = 0; t < T; t++)
        ck_assert_double_eq(c->q->pos[t], t);
    return PEAT_OK;
}

static peat_node *data_logits(const peat_call *c, const peat_qkv *p, peat_node *S, peat_node *bias)
{
    peat_shape mask = peat_shape_of(c->g, c->mask), s = peat_shape_of(c->g, S);
    (void)p;
    (void)bias;
    ck_assert_int_eq(mask.dim[3], T);
    ck_assert_int_eq(s.dim[2], T);
    return S;
}

TEST(a_scheme_does_not_see_a_class_token_without_position)
{
    const peat_scheme watch = {
        .size = sizeof(watch), .prepare = sees_the_data_alone, .logits = data_logits};
    double out[LOGITS];
    for (int cls = CLS_OWN; cls <= CLS_NONE; cls++) {
        start_over(POOL_CLS, (enum cls_position)cls);
        modelcheck_scheme(&m, "watch", &watch);
        modelcheck_build(&m);
        modelcheck_logits(&m, out);
    }
}

/* In front, a class token is special, no padding, of an id beyond the vocabulary, and at 0. */
static peat_status sees_a_class_token(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])
{
    const peat_side *s = c->q;
    (void)shared;
    ck_assert_int_eq(s->T, T + 1);
    for (int t = 0; t <= T; t++)
        ck_assert_double_eq(s->pos[t], t);
    for (int b = 0; b < 2; b++) {
        ck_assert_int_eq(s->token[b * (T + 1)], 7);
        ck_assert_int_eq(s->special[b * (T + 1)], 1);
        ck_assert_int_eq(s->special[b * (T + 1) + 1], 0);
        ck_assert_int_eq(s->pad[b * (T + 1)], 0);
        ck_assert_int_eq(s->token[b * (T + 1) + 1], m.token[b * T]);
    }
    ck_assert_int_eq(s->pad[2 * (T + 1) - 1], 1);
    ck_assert_int_eq(c->dims.T_max, T + 1);
    return PEAT_OK;
}

TEST(a_class_token_in_front_is_a_place_like_any_other)
{
    const peat_scheme watch = {
        .size = sizeof(watch), .needs = PEAT_NEED_TOKENS, .prepare = sees_a_class_token};
    double out[LOGITS];
    start_over(POOL_CLS, CLS_FIRST);
    modelcheck_scheme(&m, "watch", &watch);
    modelcheck_build(&m);
    modelcheck_logits(&m, out);
}

/* Row b of the logits must not depend on what its padding holds. */
LOOP_TEST(padding_has_no_say_in_the_class, N_STANDS)
{
    double before[LOGITS], after[LOGITS];
    start_over(stands[_i].pool, stands[_i].cls);
    modelcheck_build(&m);
    modelcheck_logits(&m, before);
    m.token[2 * T - 1] = (m.token[2 * T - 1] + 1) % 7;
    modelcheck_logits(&m, after);
    for (int i = 0; i < LOGITS; i++)
        ck_assert_double_eq(before[i], after[i]);
}

/* Copies the weights of one model to another by name; those of the class row may be missing. */
static void take_weights(struct modelcheck *to, const struct modelcheck *from)
{
    for (int i = 0; i < to->model.weights.n; i++) {
        struct weight *w = to->model.weights.item[i];
        const struct weight *v = weights_find(&from->model.weights, w->name);
        if (v)
            tensor_copy(&w->value, &v->value);
    }
}

/* -0.3 |i - j|, nothing for pairs with the place at `nothing` */
static peat_node *slope_but(const peat_call *c, double nothing)
{
    double *bias = peat_scratch(c, c->q->T * c->k->T);
    for (int64_t i = 0; i < c->q->T; i++)
        for (int64_t j = 0; j < c->k->T; j++) {
            double p = c->q->pos[i], r = c->k->pos[j];
            bias[i * c->k->T + j] = p == nothing || r == nothing ? 0 : -0.3 * fabs(p - r);
        }
    return peat_fill(c, 4, (int64_t[]){1, 1, c->q->T, c->k->T}, bias);
}

static peat_node *slope_behind_0(const peat_call *c, const peat_qkv *p)
{
    (void)p;
    return slope_but(c, 0);
}

static peat_node *slope(const peat_call *c, const peat_rel *r)
{
    double *bias = peat_scratch(c, r->n);
    for (int64_t i = 0; i < r->n; i++)
        bias[i] = -0.3 * fabs(r->delta[i]);
    return peat_fill(c, 2, (int64_t[]){1, r->n}, bias);
}

/* A stream that is 0 at the first place of the first scheme, and starts there in the second. */
static peat_node *stream_from(const peat_call *c, double first)
{
    double *out = peat_scratch(c, c->q->T * c->d);
    for (int64_t i = 0; i < c->q->T * c->d; i++) {
        double p = c->q->pos[i / c->d] - first;
        out[i] = p < 0 ? 0 : sin(p + (double)(i % c->d) + 1);
    }
    return peat_fill(c, 3, (int64_t[]){1, c->q->T, c->d}, out);
}

static peat_node *stream_behind_0(const peat_call *c)
{
    return stream_from(c, 1);
}

static peat_node *stream(const peat_call *c)
{
    return stream_from(c, 0);
}

TEST(without_position_is_what_a_scheme_that_spares_the_first_place_makes)
{
    const peat_scheme spares = {
        .size = sizeof(spares), .encode = stream_behind_0, .bias = slope_behind_0};
    const peat_scheme plain = {.size = sizeof(plain), .encode = stream, .bias_rel = slope};
    struct modelcheck first;
    double expected[LOGITS], got[LOGITS];
    start_over(POOL_CLS, CLS_FIRST);
    modelcheck_scheme(&m, "spares", &spares);
    modelcheck_build(&m);
    modelcheck_logits(&m, expected);
    first = m;
    modelcheck_init(&m, PEAT_ENCODER);
    start_over(POOL_CLS, CLS_NONE);
    modelcheck_scheme(&m, "plain", &plain);
    modelcheck_build(&m);
    take_weights(&m, &first);
    modelcheck_logits(&m, got);
    for (int i = 0; i < LOGITS; i++)
        ck_assert_msg(fabs(expected[i] - got[i]) < 1e-12, "%.15g, %.15g", expected[i], got[i]);
    modelcheck_release(&first);
}

/* With a row of zeros, of its own is the same as none. */
TEST(an_own_row_stands_in_the_place_of_the_stream)
{
    double none[LOGITS], own[LOGITS];
    start_over(POOL_CLS, CLS_NONE);
    modelcheck_scheme(&m, "first", &with_encode);
    modelcheck_build(&m);
    modelcheck_logits(&m, none);
    start_over(POOL_CLS, CLS_OWN);
    modelcheck_scheme(&m, "first", &with_encode);
    modelcheck_build(&m);
    modelcheck_logits(&m, own);
    double apart = 0;
    for (int i = 0; i < LOGITS; i++)
        apart = fmax(apart, fabs(none[i] - own[i]));
    ck_assert_double_gt(apart, 1e-4);
    struct weight *row = weights_find(&m.model.weights, "class.position.0.first");
    ck_assert_ptr_nonnull(row);
    for (int64_t i = 0; i < tensor_count(&row->value); i++)
        tensor_set(&row->value, i, 0);
    modelcheck_logits(&m, own);
    for (int i = 0; i < LOGITS; i++)
        ck_assert_double_eq(none[i], own[i]);
}

int main(void)
{
    return run_tests((struct tests){"class", set_up, tear_down, .seconds = 120});
}
