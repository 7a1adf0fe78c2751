/* SPDX-License-Identifier: MIT */
/*
 * cope.c: how far a key lies behind is counted in tokens the query's gates let through.
 * Golovneva et al. 2024.
 */
#include <math.h>
#include <string.h>

#include <peat/plugin.h>

struct config {
    int64_t positions;
    double init_std;
};

static const peat_param rows[] = {
    {"positions", PEAT_INT, offsetof(struct config, positions), .preset = 64, .min = 2,
     .max = 1 << 16, .doc = "vectors that are learned; from positions - 1 on all are the last"},
    {"init_std", PEAT_REAL, offsetof(struct config, init_std), .preset = 0, .min = 0, .max = 1e3,
     .doc = "standard deviation of the initial vectors; the authors begin with 0"},
    PEAT_PARAM_END,
};

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const struct config *k = config;
    (void)self;
    peat_init init = {.kind = PEAT_INIT_NORMAL, .b = k->init_std};
    peat_param_new(s, "e", 2, (int64_t[]){k->positions, s->dims.C}, init, PEAT_PER_LAYER, 0);
    return PEAT_OK;
}

/* ---- interpolation: z [B,H,Tq,n], p [B,H,Tq,Tk] in 0..n-1 -> [B,H,Tq,Tk] ---- */

static bool infer(const peat_op_call *c, peat_shape *out)
{
    *out = c->src[1].shape;
    return true;
}

static int64_t units(const peat_op_call *c)
{
    const int64_t *dim = c->src[1].shape.dim;
    return dim[0] * dim[1] * dim[2];
}

/* The vector below p, of n; the last segment is closed on both sides. */
static inline int32_t below(double p, int64_t n)
{
    int32_t f = (int32_t)p, last = (int32_t)(n - 2);
    return f > last ? last : f;
}

/* Positions whose vectors are looked up before any arithmetic, which then goes side by side. */
enum { CHUNK = 128 };

static inline int64_t chunk(int64_t left)
{
    return left < CHUNK ? left : CHUNK;
}

/* Sums into dz wait for one another, but not for those of other rows: so many go side by side. */
enum { ROWS = 8 };

/*
 * Rows of T positions p and n products z, between and slopes for `count` of them, CHUNK at most.
 * between: y_j = z_f + (p_j - f) (z_{f+1} - z_f), f = floor(p_j)
 * slopes:  dp_j += dy_j (z_{f+1} - z_f)
 * shares:  dz_f += dy_j (1 - (p_j - f)), dz_{f+1} += dy_j (p_j - f), in the order of j
 * All are computed in double and rounded when they are stored.
 */
#define KERNELS(real)                                                                              \
    static inline void look_up_##real(real pair[][2], int32_t *f, const real *z, const real *p,    \
                                      int64_t count, int64_t n)                                    \
    {                                                                                              \
        for (int64_t j = 0; j < count; j++)                                                        \
            f[j] = below((double)p[j], n);                                                         \
        for (int64_t j = 0; j < count; j++)                                                        \
            memcpy(pair[j], z + f[j], sizeof(pair[j]));                                            \
    }                                                                                              \
    static void between_##real(real *y, const real *z, const real *p, int64_t count, int64_t n)    \
    {                                                                                              \
        real pair[CHUNK][2];                                                                       \
        int32_t f[CHUNK];                                                                          \
        look_up_##real(pair, f, z, p, count, n);                                                   \
        for (int64_t j = 0; j < count; j++) {                                                      \
            double low = (double)pair[j][0], high = (double)pair[j][1];                            \
            y[j] = (real)(low + ((double)p[j] - (double)f[j]) * (high - low));                     \
        }                                                                                          \
    }                                                                                              \
    static void slopes_##real(real *dp, const real *dy, const real *z, const real *p,              \
                              int64_t count, int64_t n)                                            \
    {                                                                                              \
        real pair[CHUNK][2];                                                                       \
        int32_t f[CHUNK];                                                                          \
        look_up_##real(pair, f, z, p, count, n);                                                   \
        for (int64_t j = 0; j < count; j++) {                                                      \
            double up = (double)pair[j][1] - (double)pair[j][0];                                   \
            dp[j] = (real)((double)dp[j] + (double)dy[j] * up);                                    \
        }                                                                                          \
    }                                                                                              \
    static inline void shares_##real(real *dz, const real *dy, const real *p, int64_t count,       \
                                     int64_t T, int64_t n)                                         \
    {                                                                                              \
        for (int64_t j = 0; j < T; j++)                                                            \
            for (int64_t r = 0; r < count; r++) {                                                  \
                double at = (double)p[r * T + j], by = (double)dy[r * T + j];                      \
                if (by == 0) /* hidden */                                                          \
                    continue;                                                                      \
                int64_t f = below(at, n);                                                          \
                real *to = dz + r * n + f;                                                         \
                to[0] = (real)((double)to[0] + by * (1 - (at - (double)f)));                       \
                to[1] = (real)((double)to[1] + by * (at - (double)f));                             \
            }                                                                                      \
    }                                                                                              \
    static void forward_##real(const peat_op_call *c, int64_t begin, int64_t end)                  \
    {                                                                                              \
        int64_t n = c->src[0].shape.dim[3], T = c->src[1].shape.dim[3];                            \
        const real *z = c->src[0].data, *p = c->src[1].data;                                       \
        real *y = c->out->data;                                                                    \
        for (int64_t i = begin; i < end; i++)                                                      \
            for (int64_t at = i * T; at < (i + 1) * T; at += CHUNK)                                \
                between_##real(y + at, z + i * n, p + at, chunk((i + 1) * T - at), n);             \
    }                                                                                              \
    static void backward_##real(const peat_op_call *c, int64_t begin, int64_t end)                 \
    {                                                                                              \
        int64_t n = c->src[0].shape.dim[3], T = c->src[1].shape.dim[3], i = begin;                 \
        const real *z = c->src[0].data, *p = c->src[1].data, *dy = c->out_grad->data;              \
        real *dz = c->src_grad[0].data, *dp = c->src_grad[1].data;                                 \
        for (; dz && i + ROWS <= end; i += ROWS)                                                   \
            shares_##real(dz + i * n, dy + i * T, p + i * T, ROWS, T, n);                          \
        if (dz && i < end)                                                                         \
            shares_##real(dz + i * n, dy + i * T, p + i * T, end - i, T, n);                       \
        for (i = begin; dp && i < end; i++)                                                        \
            for (int64_t at = i * T; at < (i + 1) * T; at += CHUNK)                                \
                slopes_##real(dp + at, dy + at, z + i * n, p + at, chunk((i + 1) * T - at), n);    \
    }
KERNELS(float)
KERNELS(double)

static void forward(const peat_op_call *c, int64_t begin, int64_t end)
{
    (c->out->dtype == PEAT_F64 ? forward_double : forward_float)(c, begin, end);
}

static void backward(const peat_op_call *c, int64_t begin, int64_t end)
{
    (c->out->dtype == PEAT_F64 ? backward_double : backward_float)(c, begin, end);
}

/* Two differences, a product and a sum for each pair. */
static int64_t flops(const peat_op_call *c)
{
    return 4 * units(c) * c->src[1].shape.dim[3];
}

static const peat_op interpolate = {
    .size = sizeof(interpolate),
    .name = "interpolate",
    .infer = infer,
    .units = units,
    .forward = forward,
    .backward = backward,
    .flops = flops,
};

/* p_ij = min(sum over j <= m <= i of sigmoid(S_im), n - 1); logits S_ij + q_i . e[p_ij]. S is
 * finite where it is masked, so the gates there are set to 0 by the mask. */
static peat_node *logits(const peat_call *c, const peat_qkv *p, peat_node *S, peat_node *bias)
{
    int64_t n = ((const struct config *)c->config)->positions;
    (void)bias;
    peat_node *gate = peat_mul(c->g, peat_sigmoid(c->g, S), c->mask);
    peat_node *position = peat_clamp(c->g, peat_cumsum(c->g, gate, -1, true), 0, (double)(n - 1));
    peat_probe(c, "position", position);
    peat_node *z = peat_matmul(c->g, p->q, peat_use(c, 0), PEAT_TRANS_B);
    peat_node *src[] = {z, position};
    return peat_add(c->g, S, peat_custom(c->g, &interpolate, 2, src, NULL, 0));
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .needs = PEAT_NEED_QK,
    .traits = PEAT_STORABLE | PEAT_SHIFT_INVARIANT | PEAT_CONTENT_DEPENDENT | PEAT_NEEDS_CAUSAL,
    .setup = setup,
    .logits = logits,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "cope", "1.0",
            "distance counted in tokens that the query's gates let through", "MIT",
            "arXiv:2405.18719")
