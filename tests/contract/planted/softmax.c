/* SPDX-License-Identifier: MIT */
/*
 * softmax.c: in the place of the softmax a sigmoid of w S, with w [H], shared out where a row's sum
 * is above 1. The crimes are in what it gives to masked keys and what else it looks at.
 */
#include <peat/plugin.h>

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const peat_init init = {.kind = PEAT_INIT_NORMAL, .a = 1, .b = 0.5};
    (void)config, (void)self;
    peat_param_new(s, "w", 1, (int64_t[]){PEAT_HEADS}, init, PEAT_ONCE, 0);
    return PEAT_OK;
}

/* 1 where a key is not padding, whatever the query sees otherwise: [B, 1, 1, T] */
__attribute__((unused)) static peat_node *not_padding(const peat_call *c)
{
    int64_t T = c->k->T;
    double *value = peat_scratch(c, c->B * T);
    for (int64_t i = 0; value && i < c->B * T; i++)
        value[i] = !(c->k->pad && c->k->pad[i]);
    return peat_fill(c, 4, (int64_t[]){c->B, 1, 1, T}, value);
}

/* 1 where a key is not behind its query: [1, 1, T, T] */
__attribute__((unused)) static peat_node *not_ahead(const peat_call *c)
{
    int64_t T = c->k->T;
    double *value = peat_scratch(c, T * T);
    for (int64_t i = 0; value && i < T * T; i++)
        value[i] = !c->dims.causal || i % T <= i / T;
    return peat_fill(c, 4, (int64_t[]){1, 1, T, T}, value);
}

/* A factor that should not be there, or should learn. */
static peat_node *spoiled(const peat_call *c, peat_node *W)
{
#if defined(CRIME_softmax_sees_batch) /* shares out over all rows */
    return peat_div(c->g, W, peat_affine(c->g, peat_mean(c->g, W, 0), 1, 1));
#elif defined(CRIME_softmax_in_training)
    return c->phase == PEAT_TRAIN ? peat_affine(c->g, W, 1, 0.01) : W;
#elif defined(CRIME_softmax_no_gradient) /* floor has none */
    peat_node *w = peat_reshape(c->g, peat_use(c, 0), 4, (int64_t[]){1, c->H, 1, 1});
    peat_node *step = peat_scale(c->g, peat_floor(c->g, peat_scale(c->g, w, 1e7)), 1e-7);
    return peat_mul(c->g, W, peat_affine(c->g, step, 0.1, 1));
#elif defined(CRIME_softmax_not_finite)  /* 0 / 0 where nothing is seen */
    return peat_div(c->g, W, peat_sum(c->g, peat_relu(c->g, peat_affine(c->g, W, 1, -1)), -1));
#elif defined(CRIME_softmax_shape)
    return peat_sum(c->g, W, 1);
#elif defined(CRIME_softmax_counts) /* by the number of calls */
    static int calls;
    return peat_affine(c->g, W, 1 + 1e-3 * calls++, 0);
#else
    (void)c;
    return W;
#endif
}

static peat_node *softmax(const peat_call *c, const peat_qkv *p, peat_node *S, peat_node *bias)
{
    peat_node *w = peat_reshape(c->g, peat_use(c, 0), 4, (int64_t[]){1, c->H, 1, 1});
    peat_node *all = peat_sigmoid(c->g, peat_mul(c->g, S, w)), *seen = peat_mul(c->g, all, c->mask);
    (void)p, (void)bias;
#if defined(CRIME_softmax_unmasked)
    seen = all;
#elif defined(CRIME_softmax_sees_padding)
    seen = peat_mul(c->g, all, not_ahead(c));
#elif defined(CRIME_softmax_sees_future)
    seen = peat_mul(c->g, all, not_padding(c));
#elif defined(CRIME_softmax_nearly_masked) /* as a large negative logit would */
    seen = peat_mul(c->g, all, peat_affine(c->g, c->mask, 1 - 1e-12, 1e-12));
#endif
    peat_node *sum = peat_sum(c->g, seen, -1);
#if defined(CRIME_softmax_sums_all) /* keys that are not seen take their share */
    sum = peat_sum(c->g, all, -1);
#elif defined(CRIME_softmax_sums_padding)
    sum = peat_sum(c->g, peat_mul(c->g, all, not_ahead(c)), -1);
#endif
    sum = peat_affine(c->g, peat_relu(c->g, peat_affine(c->g, sum, 1, -1)), 1, 1);
    return spoiled(c, peat_div(c->g, seen, sum));
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_SHIFT_INVARIANT | PEAT_CONTENT_DEPENDENT | PEAT_STORABLE,
    .setup = setup,
    .softmax = softmax,
};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "planted", "1.0", "replaces the softmax", "MIT", "")
