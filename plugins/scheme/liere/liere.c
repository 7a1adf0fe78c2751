/* SPDX-License-Identifier: MIT */
/*
 * liere.c: blocks of dimensions of queries and keys turn by the exponential of a learned generator
 * times the position. Ostmeier et al. 2024, section 3, for one position axis.
 */
#include <math.h>

#include <peat/plugin.h>

enum { WIDEST = 16 }; /* block */

struct config {
    int64_t block;
    double init;
};

static const peat_param rows[] = {
    {"block", PEAT_INT, offsetof(struct config, block), .min = 2, .max = WIDEST,
     .automatic = "the largest divisor of the head width up to 8", .unit = "dimensions",
     .doc = "width of the blocks that turn on their own", .flags = PEAT_AUTO},
    {"init", PEAT_REAL, offsetof(struct config, init), .preset = 1, .min = 0, .max = 100,
     .unit = "radians per token", .doc = "the generator starts uniform from 0 to this",
     .flags = PEAT_OPEN_MIN},
    PEAT_PARAM_END,
};

struct liere {
    int64_t block;
};

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const struct config *k = config;
    struct liere *l = peat_alloc(s, sizeof(*l));
    if (!l)
        return PEAT_NOMEM;
    l->block = k->block ? k->block : 8;
    while (!k->block && l->block > 1 && s->dims.C % l->block != 0)
        l->block--;
    if (l->block < 2 || s->dims.C % l->block != 0)
        return peat_refuse(s, "a head width of %lld does not split into blocks of %lld",
                           (long long)s->dims.C, (long long)(l->block < 2 ? 2 : l->block));
    peat_resolved(s, "block", (double)l->block);
    peat_init init = {.kind = PEAT_INIT_UNIFORM, .a = 0, .b = k->init};
    const int64_t dim[] = {s->dims.C / l->block, l->block * (l->block - 1) / 2};
    peat_param_new(s, "generator", 2, dim, init, PEAT_PER_USER, PEAT_NO_DECAY);
    *self = l;
    return PEAT_OK;
}

/* ---- y = exp(x) of square matrices [..., n, n] ---- */

/* out = a b of n x n matrices */
static void multiply(int64_t n, const double *a, const double *b, double *out)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            out[i * n + j] = sum;
        }
}

/* a becomes exp(a): I + b (I + b/2 (I + b/3 ...)) for b = a / 2^s of norm at most 1/2, squared s
 * times. e, t [n, n] are working memory. */
static void exponential(int64_t n, double *a, double *e, double *t)
{
    enum { TERMS = 14 }; /* (1/2)^15 / 15! is below 2^-53 */
    double norm = 0;
    int s = 0;
    for (int64_t i = 0; i < n; i++) {
        double row = 0;
        for (int64_t j = 0; j < n; j++)
            row += fabs(a[i * n + j]);
        norm = fmax(norm, row);
    }
    frexp(norm, &s);
    s = s < -1 || !isfinite(norm) ? 0 : s + 1;
    for (int64_t i = 0; i < n * n; i++) {
        a[i] = ldexp(a[i], -s);
        e[i] = i % (n + 1) == 0;
    }
    for (int k = TERMS; k > 0; k--) {
        multiply(n, a, e, t);
        for (int64_t i = 0; i < n * n; i++)
            e[i] = t[i] / k + (i % (n + 1) == 0);
    }
    for (int k = 0; k < s; k++) {
        multiply(n, e, e, t);
        for (int64_t i = 0; i < n * n; i++)
            e[i] = t[i];
    }
    for (int64_t i = 0; i < n * n; i++)
        a[i] = e[i];
}

static bool infer(const peat_op_call *c, peat_shape *out)
{
    *out = c->src[0].shape;
    return out->dim[out->rank - 1] <= WIDEST && out->dim[out->rank - 1] == out->dim[out->rank - 2];
}

/* Each matrix is a unit. */
static int64_t units(const peat_op_call *c)
{
    int64_t count = 1;
    for (int32_t i = 0; i < c->src[0].shape.rank - 2; i++)
        count *= c->src[0].shape.dim[i];
    return count;
}

static void forward(const peat_op_call *c, int64_t begin, int64_t end)
{
    double a[WIDEST * WIDEST], e[WIDEST * WIDEST], t[WIDEST * WIDEST];
    int64_t n = c->out->shape.dim[c->out->shape.rank - 1];
    for (int64_t u = begin; u < end; u++) {
        for (int64_t i = 0; i < n * n; i++)
            a[i] = peat_load(c->src, u * n * n + i);
        exponential(n, a, e, t);
        for (int64_t i = 0; i < n * n; i++)
            peat_store(c->out, u * n * n + i, a[i]);
    }
}

/* dx += the upper right block of exp [[x^T, dy], [0, x^T]]: Higham 2008, eq. 3.16 */
static void backward(const peat_op_call *c, int64_t begin, int64_t end)
{
    double a[4 * WIDEST * WIDEST], e[4 * WIDEST * WIDEST], t[4 * WIDEST * WIDEST];
    int64_t n = c->out->shape.dim[c->out->shape.rank - 1];
    for (int64_t u = begin; u < end && c->src_grad[0].data; u++) {
        double largest = 0; /* linear in dy: its size must not decide how often is squared */
        for (int64_t i = u * n * n; i < (u + 1) * n * n; i++)
            largest = fmax(largest, fabs(peat_load(c->out_grad, i)));
        for (int64_t i = 0; i < n && largest > 0; i++)
            for (int64_t j = 0; j < n; j++) {
                double x = peat_load(c->src, u * n * n + j * n + i);
                a[i * 2 * n + j] = a[(i + n) * 2 * n + j + n] = x;
                a[(i + n) * 2 * n + j] = 0;
                a[i * 2 * n + j + n] = peat_load(c->out_grad, u * n * n + i * n + j) / largest;
            }
        if (largest > 0)
            exponential(2 * n, a, e, t);
        for (int64_t i = 0; i < n * n && largest > 0; i++) {
            double dx = largest * a[i / n * 2 * n + n + i % n];
            peat_accumulate(c->src_grad, u * n * n + i, dx);
        }
    }
}

/* The terms and about 8 squarings. */
static int64_t flops(const peat_op_call *c)
{
    int64_t n = c->src[0].shape.dim[c->src[0].shape.rank - 1];
    return units(c) * 22 * 2 * n * n * n;
}

static const peat_op matrix_exp = {
    .size = sizeof(matrix_exp),
    .name = "matrix_exp",
    .infer = infer,
    .units = units,
    .forward = forward,
    .backward = backward,
    .flops = flops,
};

/* ---- the scheme ---- */

/* A = U - U^T of the strictly upper triangles U whose elements are learned: [blocks, b, b] */
static peat_node *generators(const peat_call *c)
{
    int64_t b = ((const struct liere *)c->self)->block, blocks = c->dims.C / b;
    double *at = peat_scratch(c, b * b), *sign = peat_scratch(c, b * b);
    for (int64_t i = 0; at && sign && i < b * b; i++) {
        int64_t row = i / b < i % b ? i / b : i % b, column = i / b < i % b ? i % b : i / b;
        sign[i] = row == column ? 0 : i / b < i % b ? 1 : -1;
        at[i] = row == column ? 0 : (double)(row * (2 * b - row - 1) / 2 + column - row - 1);
    }
    peat_node *index = peat_fill_index(c, 2, (int64_t[]){1, b * b}, at);
    peat_node *A = peat_take_last(c->g, peat_use(c, 0), index);
    A = peat_mul(c->g, A, peat_fill(c, 2, (int64_t[]){1, b * b}, sign));
    return peat_reshape(c->g, A, 3, (int64_t[]){blocks, b, b});
}

/* x [B,H,T,C] -> each block of the first dims.C turned by exp(pos A) */
static peat_node *turned(const peat_call *c, const peat_side *side, peat_node *x, peat_node *A)
{
    int64_t b = ((const struct liere *)c->self)->block, blocks = c->dims.C / b, T = side->T;
    peat_node *pos =
        peat_reshape(c->g, peat_pos(c, side, 0), 5, (int64_t[]){side->pos_B, T, 1, 1, 1});
    peat_node *angle = peat_mul(c->g, pos, A);
    peat_node *R = peat_custom(c->g, &matrix_exp, 1, &angle, NULL, 0);
    peat_node *y =
        peat_permute(c->g, peat_slice(c->g, x, -1, 0, c->dims.C), 4, (int32_t[]){0, 2, 1, 3});
    y = peat_reshape(c->g, y, 5, (int64_t[]){c->B, T, c->H, blocks, b});
    y = peat_permute(c->g, y, 5, (int32_t[]){0, 1, 3, 2, 4});
    y = peat_permute(c->g, peat_matmul(c->g, y, R, PEAT_TRANS_B), 5, (int32_t[]){0, 1, 3, 2, 4});
    y = peat_reshape(c->g, y, 4, (int64_t[]){c->B, T, c->H, c->dims.C});
    return peat_with_rest(c->g, peat_permute(c->g, y, 4, (int32_t[]){0, 2, 1, 3}), x);
}

static peat_status qkv(const peat_call *c, peat_qkv *io)
{
    peat_node *A = generators(c);
    peat_probe(c, "generator", A);
    io->q = turned(c, c->q, io->q, A);
    io->k = turned(c, c->k, io->k, A);
    return PEAT_OK;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_STORABLE | PEAT_SHIFT_INVARIANT | PEAT_NORM_PRESERVING,
    .setup = setup,
    .qkv = qkv,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "liere", "1.0",
            "blocks turn by the exponential of a learned generator", "MIT", "arXiv:2406.10322")
