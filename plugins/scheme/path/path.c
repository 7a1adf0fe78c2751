/* SPDX-License-Identifier: MIT */
/*
 * path.c: between a key and a query stand the tokens in between, each of which reflects the key at
 * a direction of its own. Yang et al. 2025 (PaTH), section 3, with the authors' layer for sizes.
 */
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
     .unit = "tokens", .doc = "width of the convolution over a token's direction and those before"},
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
 * back, which undoes one token after the other. */

enum { Q, K, W, B };
enum { CHANGED, A };

/* The product of n numbers of v from `at` on with x. */
static double dot(const peat_view *v, int64_t at, const double *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += peat_load(v, at + i) * x[i];
    return sum;
}

static bool infer(const peat_op_call *c, peat_shape *out)
{
    const int64_t *dim = c->src[Q].shape.dim;
    out[CHANGED] = out[A] = (peat_shape){4, {dim[0], dim[1], dim[2], dim[2]}};
    return c->n_src == 4;
}

/* Two vectors. */
static int64_t scratch(const peat_op_call *c)
{
    return 2 * c->src[Q].shape.dim[3];
}

/* Each head of each row is a unit. */
static int64_t units(const peat_op_call *c)
{
    return c->src[Q].shape.dim[0] * c->src[Q].shape.dim[1];
}

/* Column j of unit u: the key and, as tokens change it, what it has become. */
static void forward_column(const peat_op_call *c, int64_t u, int64_t j)
{
    int64_t T = c->src[Q].shape.dim[2], C = c->src[Q].shape.dim[3];
    double *k = c->scratch, *change = k + C;
    peat_load_row(&c->src[K], (u * T + j) * C, C, k);
    for (int64_t m = 0; m < C; m++)
        change[m] = 0;
    for (int64_t i = 0; i < T; i++) {
        int64_t row = (u * T + i) * C, at = (u * T + i) * T + j;
        double a = i > j ? dot(&c->src[W], row, k, C) : 0;
        double by = a * peat_load(&c->src[B], u * T + i);
        for (int64_t m = 0; m < C && i > j; m++) {
            change[m] -= by * peat_load(&c->src[W], row + m);
            k[m] -= by * peat_load(&c->src[W], row + m);
        }
        peat_store(&c->out[CHANGED], at, i > j ? dot(&c->src[Q], row, change, C) : 0);
        peat_store(&c->out[A], at, a);
    }
}

static void forward(const peat_op_call *c, int64_t begin, int64_t end)
{
    for (int64_t u = begin; u < end; u++)
        for (int64_t j = 0; j < c->src[Q].shape.dim[2]; j++)
            forward_column(c, u, j);
}

/* From the last token to j: `change` is what the key has become by token i, less the key; `slope`
 * is the derivative by it. With y = q . change and change_i = change_(i-1) - beta a w,
 * a = w . (k + change_(i-1)):
 *   dq += dy change, slope += dy q, dbeta -= a (w . slope),
 *   dw -= beta (a slope + (w . slope) (k + change_(i-1))), slope -= beta (w . slope) w */
static void backward_column(const peat_op_call *c, int64_t u, int64_t j)
{
    int64_t T = c->src[Q].shape.dim[2], C = c->src[Q].shape.dim[3];
    double *change = c->scratch, *slope = change + C;
    const peat_view *w = &c->src[W], *k = &c->src[K];
    for (int64_t m = 0; m < 2 * C; m++)
        c->scratch[m] = 0;
    for (int64_t i = j + 1; i < T; i++) {
        double by = peat_load(&c->src[B], u * T + i) * peat_load(&c->out[A], (u * T + i) * T + j);
        for (int64_t m = 0; m < C; m++)
            change[m] -= by * peat_load(w, (u * T + i) * C + m);
    }
    for (int64_t i = T - 1; i > j; i--) {
        int64_t row = (u * T + i) * C, at = (u * T + i) * T + j;
        double dy = peat_load(&c->out_grad[CHANGED], at), a = peat_load(&c->out[A], at);
        double beta = peat_load(&c->src[B], u * T + i), along = 0;
        for (int64_t m = 0; m < C; m++) {
            peat_accumulate(&c->src_grad[Q], row + m, dy * change[m]);
            slope[m] += dy * peat_load(&c->src[Q], row + m);
            along += peat_load(w, row + m) * slope[m];
        }
        peat_accumulate(&c->src_grad[B], u * T + i, -a * along);
        for (int64_t m = 0; m < C; m++) {
            double w_m = peat_load(w, row + m);
            change[m] += beta * a * w_m;
            double before = peat_load(k, (u * T + j) * C + m) + change[m];
            peat_accumulate(&c->src_grad[W], row + m, -beta * (a * slope[m] + along * before));
            peat_accumulate(&c->src_grad[K], (u * T + j) * C + m, -beta * along * w_m);
            slope[m] -= beta * along * w_m;
        }
    }
}

static void backward(const peat_op_call *c, int64_t begin, int64_t end)
{
    for (int64_t u = begin; u < end; u++)
        for (int64_t j = 0; j < c->src[Q].shape.dim[2]; j++)
            backward_column(c, u, j);
}

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
    .forward = forward,
    .backward = backward,
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

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "path", "1.0",
            "the tokens between a key and a query reflect the key", "MIT", "arXiv:2505.16381")
