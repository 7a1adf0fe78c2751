/* SPDX-License-Identifier: MIT */
/*
 * path.c: between a key and a query stand the tokens in between, each of which reflects the key at
 * a direction of its own. Yang et al. 2025 (PaTH), section 3, with the authors' layer for sizes.
 */
#include <string.h>

#include "../linear.h"
#include "../neighbours.h"

enum { DOWN, UP, TAPS, BETA, BETA_SHIFT };

struct config {
    int64_t rank, kernel;
};

static const peat_param rows[] = {
    {"rank", PEAT_INT, offsetof(struct config, rank), .preset = 32, .min = 1, .max = 1 << 16,
     .doc = "width between the two projections of the input to directions"},
    {"kernel", PEAT_INT, offsetof(struct config, kernel), .preset = 3, .min = 1, .max = 1 << 10,
     .unit = "tokens", .doc = "tokens that the convolution sees: a token and those before it"},
    PEAT_PARAM_END,
};

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const struct config *k = config;
    int64_t D = s->dims.D, C = s->dims.C;
    (void)self;
    linear_param(s, "down", 2, (int64_t[]){k->rank, D}, D);
    linear_param(s, "up", 3, (int64_t[]){PEAT_HEADS, C, k->rank}, k->rank);
    linear_param(s, "taps", 3, (int64_t[]){k->kernel, PEAT_HEADS, C}, k->kernel);
    linear_param(s, "beta", 2, (int64_t[]){PEAT_HEADS, D}, D);
    linear_param(s, "beta_shift", 1, (int64_t[]){PEAT_HEADS}, D);
    return PEAT_OK;
}

/* ---- what the tokens in between change: q, k, w [B,H,T,C], beta [B,H,T,1] -> two [B,H,T,T] ----
 *
 * k_j starts as it is; token t turns it into k_j - beta_t a_tj w_t, a_tj = w_t . k_j. The first
 * result is q_i . (k_j as i sees it) - q_i . k_j for j < i, else 0. The second keeps a for the way
 * back, which undoes one token after the other.
 *
 * A block of keys goes through the tokens together, so that the innermost loops run over keys that
 * lie side by side. Where keys are fewer than a whole number of LANES the rest is 0. */

enum { Q, K, W, B };
enum { CHANGED, A };
enum { KEYS = 32, LANES = 8 };

/* Keys [first, first + n) of unit u; all in scratch. */
struct block {
    int64_t u, T, C, first, n;
    double *w, *q, beta;    /* of the token at hand: [C], [C]                                   */
    double *key;            /* as they are: [C, KEYS]                                           */
    double *change;         /* what they have become by the token at hand, less that: [C, KEYS] */
    double *slope;          /* the derivative by that: [C, KEYS]                                */
    double *dkey;           /* [C, KEYS]                                                        */
    double *a, *dy, *along; /* of each key: [KEYS]                                           */
};

static bool infer(const peat_op_call *c, peat_shape *out)
{
    const int64_t *dim = c->src[Q].shape.dim;
    out[CHANGED] = out[A] = (peat_shape){4, {dim[0], dim[1], dim[2], dim[2]}};
    return c->n_src == 4;
}

static int64_t scratch(const peat_op_call *c)
{
    return (4 * KEYS + 2) * c->src[Q].shape.dim[3] + 3 * KEYS;
}

/* Each head of each row is a unit. */
static int64_t units(const peat_op_call *c)
{
    return c->src[Q].shape.dim[0] * c->src[Q].shape.dim[1];
}

static int64_t lanes(int64_t n)
{
    return (n + LANES - 1) / LANES * LANES;
}

/* Beyond the n keys that count. */
static void clear_rest(double *x, int64_t n)
{
    for (int64_t j = n; j < lanes(n); j++)
        x[j] = 0;
}

/* No key is changed yet. */
static struct block block_of(const peat_op_call *c, int64_t u, int64_t first)
{
    int64_t T = c->src[Q].shape.dim[2], C = c->src[Q].shape.dim[3], n = T - first;
    struct block b = {.u = u, .T = T, .C = C, .first = first, .n = n < KEYS ? n : KEYS};
    double *at = c->scratch, **part[] = {&b.key, &b.change, &b.slope, &b.dkey};
    for (int i = 0; i < 4; i++, at += C * KEYS)
        *part[i] = at;
    b.a = at, b.dy = at + KEYS, b.along = at + 2 * KEYS;
    b.w = at + 3 * KEYS, b.q = b.w + C;
    memset(c->scratch, 0, sizeof(double) * (size_t)scratch(c));
    for (int64_t j = 0; j < b.n; j++)
        for (int64_t m = 0; m < C; m++)
            b.key[m * KEYS + j] = peat_load(&c->src[K], (u * T + first + j) * C + m);
    return b;
}

/* How many keys of the block token i changes: those before it. */
static int64_t take_token(const peat_op_call *c, struct block *b, int64_t i)
{
    int64_t row = b->u * b->T + i, before = i - b->first;
    peat_load_row(&c->src[W], row * b->C, b->C, b->w);
    peat_load_row(&c->src[Q], row * b->C, b->C, b->q);
    b->beta = peat_load(&c->src[B], row);
    return before < b->n ? before : b->n;
}

/* Token i's row of v for the n keys before it. */
static void take_row(const peat_view *v, const struct block *b, int64_t i, int64_t n, double *x)
{
    peat_load_row(v, (b->u * b->T + i) * b->T + b->first, n, x);
    clear_rest(x, n);
}

/* change -= by a w */
static void reflect(struct block *b, double by, int64_t n)
{
    for (int64_t m = 0; m < b->C; m++) {
        double factor = by * b->w[m], *restrict change = b->change + m * KEYS;
        for (int64_t j = 0; j < n; j++)
            change[j] -= factor * b->a[j];
    }
}

/* ---- forward ---- */

/* a = w . (key + change) */
static void find_along(struct block *b, int64_t n)
{
    double *restrict a = b->a;
    for (int64_t j = 0; j < lanes(n); j++)
        a[j] = 0;
    for (int64_t m = 0; m < b->C; m++) {
        const double *key = b->key + m * KEYS, *change = b->change + m * KEYS;
        for (int64_t j = 0; j < lanes(n); j++)
            a[j] += b->w[m] * (key[j] + change[j]);
    }
    clear_rest(a, n);
}

/* dy is y = q . change here. */
static void find_change(struct block *b, int64_t n)
{
    double *restrict y = b->dy;
    for (int64_t j = 0; j < n; j++)
        y[j] = 0;
    for (int64_t m = 0; m < b->C; m++)
        for (int64_t j = 0; j < n; j++)
            y[j] += b->q[m] * b->change[m * KEYS + j];
}

static void forward_token(const peat_op_call *c, struct block *b, int64_t i)
{
    int64_t n = take_token(c, b, i), at = (b->u * b->T + i) * b->T + b->first;
    find_along(b, n);
    reflect(b, b->beta, lanes(n));
    find_change(b, n);
    peat_store_row(&c->out[CHANGED], at, n, b->dy);
    peat_store_row(&c->out[A], at, n, b->a);
}

static void forward_unit(const peat_op_call *c, int64_t u)
{
    int64_t T = c->src[Q].shape.dim[2];
    for (int64_t first = 0; first < T; first += KEYS) {
        struct block b = block_of(c, u, first);
        for (int64_t i = first + 1; i < T; i++)
            forward_token(c, &b, i);
    }
    for (int64_t i = 0; i < T; i++)
        for (int64_t at = (u * T + i) * T + i; at < (u * T + i + 1) * T; at++) {
            peat_store(&c->out[CHANGED], at, 0);
            peat_store(&c->out[A], at, 0);
        }
}

static void forward(const peat_op_call *c, int64_t begin, int64_t end)
{
    for (int64_t u = begin; u < end; u++)
        forward_unit(c, u);
}
PEAT_VECTORS(forward)

/* ---- backward ----
 *
 * From the last token to the first. With y = q . change_i and change_i = change_(i-1) - beta a w,
 * a = w . (k + change_(i-1)):
 *   dq += dy change, slope += dy q, dbeta -= a (w . slope),
 *   dw -= beta (a slope + (w . slope) (k + change_(i-1))), slope -= beta (w . slope) w */

/* The sum of x y: n is a whole number of LANES, which are added up last. */
static double dot(const double *x, const double *y, int64_t n)
{
    double lane[LANES] = {0}, sum = 0;
    for (int64_t j = 0; j < n; j += LANES)
        for (int64_t l = 0; l < LANES; l++)
            lane[l] += x[j + l] * y[j + l];
    for (int64_t l = 0; l < LANES; l++)
        sum += lane[l];
    return sum;
}

/* slope += dy q, along = w . slope */
static void take_slopes(struct block *b, int64_t n)
{
    double *restrict along = b->along;
    for (int64_t j = 0; j < lanes(n); j++)
        along[j] = 0;
    for (int64_t m = 0; m < b->C; m++) {
        double *restrict slope = b->slope + m * KEYS;
        for (int64_t j = 0; j < lanes(n); j++) {
            slope[j] += b->dy[j] * b->q[m];
            along[j] += b->w[m] * slope[j];
        }
    }
    clear_rest(along, n);
}

/* dw of component m, and what w carries of the slope to the tokens before. */
static double turn_back(struct block *b, int64_t m, int64_t n)
{
    double *restrict slope = b->slope + m * KEYS, *restrict dkey = b->dkey + m * KEYS;
    double before[KEYS], by = b->beta * b->w[m];
    for (int64_t j = 0; j < n; j++)
        before[j] = b->key[m * KEYS + j] + b->change[m * KEYS + j];
    double dw = -b->beta * (dot(b->a, slope, n) + dot(b->along, before, n));
    for (int64_t j = 0; j < n; j++) {
        dkey[j] -= by * b->along[j];
        slope[j] -= by * b->along[j];
    }
    return dw;
}

static void backward_token(const peat_op_call *c, struct block *b, int64_t i)
{
    int64_t keys = take_token(c, b, i), n = lanes(keys), row = b->u * b->T + i;
    take_row(&c->out[A], b, i, keys, b->a);
    take_row(&c->out_grad[CHANGED], b, i, keys, b->dy);
    for (int64_t m = 0; m < b->C; m++)
        peat_accumulate(&c->src_grad[Q], row * b->C + m, dot(b->dy, b->change + m * KEYS, n));
    take_slopes(b, keys);
    peat_accumulate(&c->src_grad[B], row, -dot(b->a, b->along, n));
    reflect(b, -b->beta, n);
    for (int64_t m = 0; m < b->C; m++)
        peat_accumulate(&c->src_grad[W], row * b->C + m, turn_back(b, m, n));
}

static void backward_block(const peat_op_call *c, int64_t u, int64_t first)
{
    struct block b = block_of(c, u, first);
    for (int64_t i = first + 1; i < b.T; i++) {
        int64_t n = take_token(c, &b, i);
        take_row(&c->out[A], &b, i, n, b.a);
        reflect(&b, b.beta, lanes(n));
    }
    for (int64_t i = b.T - 1; i > first; i--)
        backward_token(c, &b, i);
    for (int64_t j = 0; j < b.n; j++)
        for (int64_t m = 0; m < b.C; m++)
            peat_accumulate(&c->src_grad[K], (u * b.T + first + j) * b.C + m, b.dkey[m * KEYS + j]);
}

static void backward(const peat_op_call *c, int64_t begin, int64_t end)
{
    for (int64_t u = begin; u < end; u++)
        for (int64_t first = 0; first < c->src[Q].shape.dim[2]; first += KEYS)
            backward_block(c, u, first);
}
PEAT_VECTORS(backward)

/* Two products and two sums of vectors for each pair. */
static int64_t flops(const peat_op_call *c)
{
    int64_t T = c->src[Q].shape.dim[2];
    return units(c) * T * (T - 1) / 2 * 8 * c->src[Q].shape.dim[3];
}

static const peat_op between = {
    .size = sizeof(between),
    .name = "between",
    .infer = infer,
    .units = units,
    .forward = forward_vectors,
    .backward = backward_vectors,
    .flops = flops,
    .n_out = 2,
    .scratch = scratch,
};

/* ---- the scheme ---- */

/* w_t = u / |u|, u = silu(sum over l of taps_l * (up down x_(t-l))): [B,H,T,C] */
static peat_node *directions(const peat_call *c)
{
    const struct config *k = c->config;
    int64_t n = c->H * c->dims.C;
    peat_node *up = peat_reshape(c->g, peat_use(c, UP), 2, (int64_t[]){n, k->rank});
    peat_node *taps = peat_reshape(c->g, peat_use(c, TAPS), 2, (int64_t[]){k->kernel, n});
    peat_node *x = peat_matmul(c->g, c->x_k, peat_use(c, DOWN), PEAT_TRANS_B);
    x = neighbour_mix(c, peat_matmul(c->g, x, up, PEAT_TRANS_B), k->kernel, taps);
    x = peat_mul(c->g, x, peat_sigmoid(c->g, x));
    return peat_normalize(c->g, peat_by_head(c->g, x, c->dims.C), 1e-6);
}

/* q_i . H_i ... H_(j+1) k_j - q_i . k_j, H_t = I - beta_t w_t w_t^T, beta = 2 sigmoid */
static peat_node *score_add(const peat_call *c, const peat_qkv *p)
{
    peat_node *beta = peat_matmul(c->g, c->x_k, peat_use(c, BETA), PEAT_TRANS_B);
    beta = peat_sigmoid(c->g, peat_add(c->g, beta, peat_use(c, BETA_SHIFT)));
    beta = peat_by_head(c->g, peat_scale(c->g, beta, 2), 1);
    peat_probe(c, "beta", beta);
    peat_node *src[] = {p->q, p->k, directions(c), beta}, *y[2];
    peat_custom_all(c->g, &between, 4, src, NULL, 0, y);
    return y[CHANGED];
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .needs = PEAT_NEED_QK | PEAT_NEED_X,
    .traits = PEAT_SHIFT_INVARIANT | PEAT_CONTENT_DEPENDENT | PEAT_NEEDS_CAUSAL,
    .setup = setup,
    .score_add = score_add,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "path", "1.1",
            "the tokens between a key and a query reflect the key", "MIT", "arXiv:2505.16381")
