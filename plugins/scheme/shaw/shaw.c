/* SPDX-License-Identifier: MIT */
/*
 * shaw.c: keys and values are seen with trained vectors of their distance from the query added.
 * Shaw, Uszkoreit and Vaswani 2018, eqs. 3 and 4.
 */
#include <peat/plugin.h>

#include "../relative.h"

enum { A_V, A_K };
enum { INDEX };

struct config {
    int64_t clip;
    bool keys;
    double init_std;
};

static const peat_param rows[] = {
    {"clip", PEAT_INT, offsetof(struct config, clip), .preset = 16, .min = 1, .max = 1 << 16,
     .unit = "tokens", .doc = "from here on all distances of a side share a vector"},
    {"keys", PEAT_BOOL, offsetof(struct config, keys), .preset = true,
     .doc = "keys get vectors too; false: values alone"},
    {"init_std", PEAT_REAL, offsetof(struct config, init_std), .preset = 0.02, .min = 0, .max = 1e3,
     .doc = "standard deviation of the initial vectors"},
    PEAT_PARAM_END,
};

/* The least i - j with a row: a causal model never sees the future. */
static int64_t first(const struct config *k, const peat_dims *dims)
{
    return dims->causal ? 0 : -k->clip;
}

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const struct config *k = config;
    const int64_t dim[] = {k->clip - first(k, &s->dims) + 1, s->dims.C};
    (void)self;
    peat_init init = {.kind = PEAT_INIT_NORMAL, .b = k->init_std};
    peat_param_new(s, "a_v", 2, dim, init, PEAT_PER_LAYER, 0);
    if (k->keys)
        peat_param_new(s, "a_k", 2, dim, init, PEAT_PER_LAYER, 0);
    return PEAT_OK;
}

/* One map from pairs to rows, for keys and values. */
static peat_status prepare(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])
{
    const struct config *k = c->config;
    shared[INDEX] = relative_index(c, c->q, c->k, first(k, &c->dims), k->clip);
    return PEAT_OK;
}

/* q_i . a_k[i - j] */
static peat_node *score_add(const peat_call *c, const peat_qkv *p)
{
    const double none = 0;
    if (!((const struct config *)c->config)->keys)
        return peat_fill(c, 4, (int64_t[]){1, 1, 1, 1}, &none);
    return peat_matmul_take(c->g, p->q, peat_use(c, A_K), PEAT_TRANS_B, c->shared[INDEX]);
}

/* ---- the transpose of take_last ---- */

struct row_sums {
    int64_t R;
};

/* w [B,H,Tq,Tk], index [1|B,1,Tq,Tk] -> [B,H,Tq,R] */
static bool infer(const peat_op_call *c, peat_shape *out)
{
    *out = c->src[0].shape;
    out->dim[3] = ((const struct row_sums *)c->arg)->R;
    return true;
}

static int64_t units(const peat_op_call *c)
{
    const int64_t *dim = c->src[0].shape.dim;
    return dim[0] * dim[1] * dim[2];
}

/* The index row of unit (b, h, i). */
static const int32_t *index_row(const peat_op_call *c, int64_t unit)
{
    const int64_t *dim = c->src[0].shape.dim;
    int64_t b = c->src[1].shape.dim[0] == 1 ? 0 : unit / (dim[1] * dim[2]);
    return (const int32_t *)c->src[1].data + (b * dim[2] + unit % dim[2]) * dim[3];
}

/* Beyond the clip many neighbours share an r: whether RUN of them do. */
enum { RUN = 16 };

static inline bool is_run(const int32_t *index)
{
    int32_t apart = 0;
    for (int64_t k = 1; k < RUN; k++)
        apart |= index[k] ^ index[0];
    return apart == 0;
}

/* Sums of a row wait for one another, but not for those of other rows: so many go side by side. */
enum { ROWS = 8 };

/* y[i, r] = sum of w[i, j] over the j with index[i, j] = r, in the order of j; ROWS rows i at most.
 * The sums of a run stay in registers. */
#define SUM_UP(name, real)                                                                         \
    static inline void name(const peat_op_call *c, int64_t unit, int64_t count, int64_t n,         \
                            int64_t R)                                                             \
    {                                                                                              \
        const int32_t *index[ROWS];                                                                \
        const real *w = (const real *)c->src[0].data + unit * n;                                   \
        real *y = (real *)c->out->data + unit * R, sum[ROWS];                                      \
        for (int64_t i = 0; i < count; i++)                                                        \
            index[i] = index_row(c, unit + i);                                                     \
        for (int64_t r = 0; r < count * R; r++)                                                    \
            y[r] = 0;                                                                              \
        for (int64_t j = 0, end; j < n; j = end) {                                                 \
            bool run = j + RUN <= n;                                                               \
            end = run ? j + RUN : n;                                                               \
            for (int64_t i = 0; i < count; i++)                                                    \
                run = run && is_run(index[i] + j);                                                 \
            for (int64_t k = j; k < end && !run; k++)                                              \
                for (int64_t i = 0; i < count; i++)                                                \
                    y[i * R + index[i][k]] += w[i * n + k];                                        \
            if (!run)                                                                              \
                continue;                                                                          \
            for (int64_t i = 0; i < count; i++)                                                    \
                sum[i] = y[i * R + index[i][j]];                                                   \
            for (int64_t k = j; k < end; k++)                                                      \
                for (int64_t i = 0; i < count; i++)                                                \
                    sum[i] += w[i * n + k];                                                        \
            for (int64_t i = 0; i < count; i++)                                                    \
                y[i * R + index[i][j]] = sum[i];                                                   \
        }                                                                                          \
    }
SUM_UP(sum_up_f32, float)
SUM_UP(sum_up_f64, double)

/* y[i, r] = sum of w[i, j]: dw[i, j] += dy[i, index[i, j]] */
#define SPREAD(name, real)                                                                         \
    static void name(const peat_op_call *c, int64_t unit, int64_t n, int64_t R)                    \
    {                                                                                              \
        const int32_t *index = index_row(c, unit);                                                 \
        const real *dy = (const real *)c->out_grad->data + unit * R;                               \
        real *dw = (real *)c->src_grad[0].data + unit * n;                                         \
        int64_t j = 0;                                                                             \
        for (; j + RUN <= n; j += RUN) {                                                           \
            const real all = dy[index[j]];                                                         \
            if (is_run(index + j))                                                                 \
                for (int64_t k = j; k < j + RUN; k++)                                              \
                    dw[k] += all;                                                                  \
            else                                                                                   \
                for (int64_t k = j; k < j + RUN; k++)                                              \
                    dw[k] += dy[index[k]];                                                         \
        }                                                                                          \
        for (; j < n; j++)                                                                         \
            dw[j] += dy[index[j]];                                                                 \
    }
SPREAD(spread_f32, float)
SPREAD(spread_f64, double)

#define FORWARD(name, sum_up)                                                                      \
    static void name(const peat_op_call *c, int64_t begin, int64_t end)                            \
    {                                                                                              \
        int64_t n = c->src[0].shape.dim[3], R = ((const struct row_sums *)c->arg)->R, i = begin;   \
        for (; i + ROWS <= end; i += ROWS)                                                         \
            sum_up(c, i, ROWS, n, R);                                                              \
        if (i < end)                                                                               \
            sum_up(c, i, end - i, n, R);                                                           \
    }
FORWARD(forward_f32, sum_up_f32)
FORWARD(forward_f64, sum_up_f64)

static void forward(const peat_op_call *c, int64_t begin, int64_t end)
{
    (c->out->dtype == PEAT_F64 ? forward_f64 : forward_f32)(c, begin, end);
}

static void backward(const peat_op_call *c, int64_t begin, int64_t end)
{
    int64_t n = c->src[0].shape.dim[3], R = ((const struct row_sums *)c->arg)->R;
    if (!c->src_grad[0].data)
        return;
    for (int64_t unit = begin; unit < end; unit++)
        (c->out->dtype == PEAT_F64 ? spread_f64 : spread_f32)(c, unit, n, R);
}

/* An addition for each weight. */
static int64_t flops(const peat_op_call *c)
{
    return units(c) * c->src[0].shape.dim[3];
}

static const peat_op sum_by_row = {
    .size = sizeof(sum_by_row),
    .name = "sum_by_row",
    .infer = infer,
    .units = units,
    .forward = forward,
    .backward = backward,
    .flops = flops,
};

/* o_i + sum over j of W_ij a_v[i - j]: weights are summed by row of the table first. */
static peat_node *context(const peat_call *c, const peat_qkv *p, peat_node *o, peat_node *W)
{
    (void)p;
    peat_node *table = peat_use(c, A_V);
    const struct row_sums arg = {peat_shape_of(c->g, table).dim[0]};
    peat_node *src[] = {W, c->shared[INDEX]};
    peat_node *sums = peat_custom(c->g, &sum_by_row, 2, src, &arg, sizeof(arg));
    return peat_add(c->g, o, peat_matmul(c->g, sums, table, 0));
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .needs = PEAT_NEED_QK | PEAT_NEED_W,
    .traits = PEAT_STORABLE | PEAT_SHIFT_INVARIANT | PEAT_CONTENT_DEPENDENT,
    .setup = setup,
    .prepare = prepare,
    .score_add = score_add,
    .context = context,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "shaw", "1.0",
            "keys and values plus trained vectors of their distance", "MIT", "arXiv:1803.02155")
