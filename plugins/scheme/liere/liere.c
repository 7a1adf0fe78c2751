/* SPDX-License-Identifier: MIT */
/*
 * liere.c: blocks of dimensions of queries and keys turn by the exponential of a learned generator
 * times the position. Ostmeier et al. 2024, section 3, for one position axis.
 */
#include <math.h>
#include <string.h>

#include <peat/call.h>
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

/* A matrix a, or with a corner c the matrix [[a, c], [0, a]], kept as a and c [n, n] each. */
typedef double matrix[2 * WIDEST * WIDEST];

struct kind {
    int64_t n;
    bool corner;
};

static int64_t size_of(const struct kind *k)
{
    return (k->corner ? 2 : 1) * k->n * k->n;
}

/* out += a b of n x n matrices */
static void add_product(int64_t n, const double *a, const double *b, double *out)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < n; k++)
            for (int64_t j = 0; j < n; j++)
                out[i * n + j] += a[i * n + k] * b[k * n + j];
}

/* out = a b; its corner is a b_c + a_c b. */
static void multiply(const struct kind *k, const double *a, const double *b, double *out)
{
    int64_t corner = k->n * k->n;
    for (int64_t i = 0; i < size_of(k); i++)
        out[i] = 0;
    add_product(k->n, a, b, out);
    if (!k->corner)
        return;
    add_product(k->n, a, b + corner, out + corner);
    add_product(k->n, a + corner, b, out + corner);
}

/* s for which the largest sum of sizes in a row of a / 2^s is at most 1/2 */
static int halvings(const struct kind *k, const double *a)
{
    double norm = 0;
    int s = 0;
    for (int64_t i = 0; i < k->n; i++) {
        double row = 0;
        for (int64_t j = 0; j < k->n; j++)
            row += fabs(a[i * k->n + j]) + (k->corner ? fabs(a[(k->n + i) * k->n + j]) : 0);
        norm = fmax(norm, row);
    }
    frexp(norm, &s);
    return s < -1 || !isfinite(norm) ? 0 : s + 1;
}

/* out += of the powers 1, a, a^2, a^3 of a those that the series of exp has from a^first on, by
 * a^first. */
static void add_group(const struct kind *k, const matrix *power, int first, double *out)
{
    double factor = 1;
    for (int r = 1; r <= first; r++)
        factor /= r;
    for (int64_t i = 0; i < k->n; i++)
        out[i * (k->n + 1)] += factor;
    for (int r = 1; r < 4; r++) {
        factor /= first + r;
        for (int64_t i = 0; i < size_of(k); i++)
            out[i] += factor * power[r][i];
    }
}

/* a becomes exp(a): 16 terms of the series for a / 2^s, in four groups of four by its fourth power,
 * squared s times. 1/2^16 / 16! is below 2^-53. */
static void exponential(const struct kind *k, double *a)
{
    matrix power[5], sum = {0};
    int s = halvings(k, a);
    double scale = ldexp(1, -s);
    for (int64_t i = 0; i < size_of(k); i++)
        power[1][i] = a[i] * scale;
    multiply(k, power[1], power[1], power[2]);
    multiply(k, power[2], power[1], power[3]);
    multiply(k, power[2], power[2], power[4]);
    add_group(k, power, 12, sum);
    for (int first = 8; first >= 0; first -= 4) {
        multiply(k, sum, power[4], a);
        add_group(k, power, first, a);
        memcpy(sum, a, sizeof(double) * (size_t)size_of(k));
    }
    for (int i = 0; i < s; i++) {
        multiply(k, sum, sum, a);
        memcpy(sum, a, sizeof(double) * (size_t)size_of(k));
    }
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
    matrix a;
    const struct kind k = {c->out->shape.dim[c->out->shape.rank - 1], false};
    for (int64_t u = begin; u < end; u++) {
        peat_load_row(c->src, u * k.n * k.n, k.n * k.n, a);
        exponential(&k, a);
        for (int64_t i = 0; i < k.n * k.n; i++)
            peat_store(c->out, u * k.n * k.n + i, a[i]);
    }
}
PEAT_VECTORS(forward)

/* dx += the corner of exp [[x^T, dy], [0, x^T]]: Higham 2008, eq. 3.16 */
static void backward_one(const peat_op_call *c, const struct kind *k, int64_t at)
{
    matrix a;
    int64_t n = k->n;
    double *dy = a + n * n, largest = 0;
    peat_load_row(c->out_grad, at, n * n, dy);
    for (int64_t i = 0; i < n * n; i++)
        largest = fmax(largest, fabs(dy[i]));
    if (largest == 0)
        return;
    for (int64_t i = 0; i < n * n; i++) {
        a[i] = peat_load(c->src, at + i % n * n + i / n);
        dy[i] /= largest; /* linear in dy, whose size must not change the number of squarings */
    }
    exponential(k, a);
    for (int64_t i = 0; i < n * n; i++)
        peat_accumulate(c->src_grad, at + i, largest * dy[i]);
}

static void backward(const peat_op_call *c, int64_t begin, int64_t end)
{
    const struct kind k = {c->out->shape.dim[c->out->shape.rank - 1], true};
    for (int64_t u = begin; u < end && c->src_grad[0].data; u++)
        backward_one(c, &k, u * k.n * k.n);
}
PEAT_VECTORS(backward)

/* Three powers, three groups and about 8 squarings. */
static int64_t flops(const peat_op_call *c)
{
    int64_t n = c->src[0].shape.dim[c->src[0].shape.rank - 1];
    return units(c) * 14 * 2 * n * n * n;
}

static const peat_op matrix_exp = {
    .size = sizeof(matrix_exp),
    .name = "matrix_exp",
    .infer = infer,
    .units = units,
    .forward = forward_vectors,
    .backward = backward_vectors,
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

/* exp(pos A): [pos_B, T, blocks, b, b] */
static peat_node *rotations(const peat_call *c, const peat_side *side, peat_node *A)
{
    peat_node *pos =
        peat_reshape(c->g, peat_pos(c, side, 0), 5, (int64_t[]){side->pos_B, side->T, 1, 1, 1});
    peat_node *angle = peat_mul(c->g, pos, A);
    return peat_custom(c->g, &matrix_exp, 1, &angle, NULL, 0);
}

/* x [B,H,T,C] -> each block of the first dims.C turned by R */
static peat_node *turned(const peat_call *c, const peat_side *side, peat_node *x, peat_node *R)
{
    int64_t b = ((const struct liere *)c->self)->block, blocks = c->dims.C / b, T = side->T;
    peat_node *y =
        peat_permute(c->g, peat_slice(c->g, x, -1, 0, c->dims.C), 4, (int32_t[]){0, 2, 1, 3});
    y = peat_reshape(c->g, y, 5, (int64_t[]){c->B, T, c->H, blocks, b});
    y = peat_permute(c->g, y, 5, (int32_t[]){0, 1, 3, 2, 4});
    y = peat_permute(c->g, peat_matmul(c->g, y, R, PEAT_TRANS_B), 5, (int32_t[]){0, 1, 3, 2, 4});
    y = peat_reshape(c->g, y, 4, (int64_t[]){c->B, T, c->H, c->dims.C});
    return peat_with_rest(c->g, peat_permute(c->g, y, 4, (int32_t[]){0, 2, 1, 3}), x);
}

/* R for the queries and for the keys */
static void both_rotations(const peat_call *c, peat_node *R[2])
{
    peat_node *A = generators(c);
    peat_probe(c, "generator", A);
    R[0] = rotations(c, c->q, A);
    R[1] = c->k == c->q ? R[0] : rotations(c, c->k, A);
}

/* Layers that share the generator share its exponentials. */
static peat_status prepare(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])
{
    if (peat_is_shared(c, 0))
        both_rotations(c, shared);
    return PEAT_OK;
}

static peat_status qkv(const peat_call *c, peat_qkv *io)
{
    peat_node *R[2] = {c->shared[0], c->shared[1]};
    if (!R[0])
        both_rotations(c, R);
    io->q = turned(c, c->q, io->q, R[0]);
    io->k = turned(c, c->k, io->k, R[1]);
    return PEAT_OK;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_STORABLE | PEAT_SHIFT_INVARIANT | PEAT_NORM_PRESERVING,
    .setup = setup,
    .prepare = prepare,
    .qkv = qkv,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "liere", "1.2",
            "blocks turn by the exponential of a learned generator", "MIT", "arXiv:2406.10322")
