/* SPDX-License-Identifier: MIT */
/*
 * masks.c: a softmax that may attend to nothing, a bias towards marked keys, and outputs that are
 * made smaller where attention is spread. The crimes are in which keys count, and in shapes.
 */
#include <math.h>

#include <peat/plugin.h>

/* What is attention's own rule of what a query may see, made again: [B, 1, Tq, Tk] */
static peat_node *own_mask(const peat_call *c)
{
    const peat_side *q = c->q, *k = c->k;
    int64_t Tq = q->T, Tk = k->T;
    double *see = peat_scratch(c, c->B * Tq * Tk);
    for (int64_t n = 0; see && n < c->B * Tq * Tk; n++) {
        int64_t b = n / (Tq * Tk), i = n / Tk % Tq, j = n % Tk;
        bool later = c->dims.causal && j > i + Tk - Tq, padded = k->pad && k->pad[b * Tk + j];
        bool other = q->document && q->document[b * Tq + i] != k->document[b * Tk + j];
        see[n] = !later && !padded && !other;
    }
    return peat_fill(c, 4, (int64_t[]){c->B, 1, Tq, Tk}, see);
}

/* exp(S) / (1 + sum of exp(S)), with a column of zeros behind S that is always seen */
static peat_node *softmax(const peat_call *c, const peat_qkv *p, peat_node *S, peat_node *bias)
{
    peat_shape s = peat_shape_of(c->g, S);
    peat_node *mask = c->mask;
    int64_t Tk = s.dim[3];
    (void)p, (void)bias;
#if defined(CRIME_forgets_window)
    mask = Tk == c->k->T ? own_mask(c) : mask; /* none for a class token without a position */
#elif defined(CRIME_columns_of_the_call)
    Tk = c->k->T;
#endif
    (void)own_mask;
    mask = peat_affine(c->g, mask, 1, -1);
    mask = peat_affine(c->g, peat_pad(c->g, mask, -1, 0, 1), 1, 1);
    peat_node *W = peat_softmax(c->g, peat_pad(c->g, S, -1, 0, 1), mask);
    return peat_slice(c->g, W, -1, 0, Tk);
}

/* Keys that are marked gain half a logit. */
static peat_node *bias(const peat_call *c, const peat_qkv *p)
{
    const peat_side *marked = c->k;
#ifdef CRIME_marks_of_queries
    marked = c->q;
#endif
    double *gain = peat_scratch(c, c->B * c->k->T);
    (void)p;
    for (int64_t i = 0; gain && i < c->B * c->k->T; i++) {
        int64_t b = i / c->k->T, j = i % c->k->T;
        gain[i] = marked->special && j < marked->T ? 0.5 * marked->special[b * marked->T + j] : 0;
    }
    return peat_fill(c, 4, (int64_t[]){c->B, 1, 1, c->k->T}, gain);
}

/* W, and a little more of the keys that have more than the mean. */
static peat_node *weights(const peat_call *c, peat_node *W)
{
#ifdef CRIME_mean_of_all_keys
    peat_node *mean = peat_mean(c->g, W, -1);
#else
    peat_node *seen = peat_affine(c->g, peat_sum(c->g, c->mask, -1), 1, 1e-9);
    peat_node *mean = peat_div(c->g, peat_sum(c->g, W, -1), seen);
#endif
    return peat_add(c->g, W, peat_scale(c->g, peat_sub(c->g, W, mean), 0.1));
}

/* o times the sum of the squared weights */
static peat_node *context(const peat_call *c, const peat_qkv *p, peat_node *o, peat_node *W)
{
    peat_node *sum = peat_sum(c->g, peat_mul(c->g, W, W), -1);
    (void)p;
    return peat_mul(c->g, o, peat_affine(c->g, sum, 1, 0.5));
}

static const peat_scheme scheme = {.size = sizeof(scheme),
                                   .needs = PEAT_NEED_W,
                                   .traits = PEAT_STORABLE,
                                   .softmax = softmax,
                                   .bias = bias,
                                   .weights = weights,
                                   .context = context};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "planted", "1.0", "may attend to nothing", "MIT", "")
