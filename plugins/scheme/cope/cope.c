/* SPDX-License-Identifier: MIT */
/*
 * cope.c: how far a key lies behind is counted in tokens the query's gates let through.
 * Golovneva et al. 2024.
 */
#include <math.h>

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
static int64_t below(double p, int64_t n)
{
    int64_t f = (int64_t)p;
    return f > n - 2 ? n - 2 : f;
}

/* y_j = z_f + (p_j - f) (z_{f+1} - z_f), f = floor(p_j) */
static void forward(const peat_op_call *c, int64_t begin, int64_t end)
{
    const peat_view *z = &c->src[0], *p = &c->src[1];
    int64_t n = z->shape.dim[3], T = p->shape.dim[3];
    for (int64_t i = begin * T; i < end * T; i++) {
        double at = peat_load(p, i);
        int64_t f = below(at, n), row = i / T * n;
        double low = peat_load(z, row + f), high = peat_load(z, row + f + 1);
        peat_store(c->out, i, low + (at - (double)f) * (high - low));
    }
}

/* y_j = z_f + (p_j - f) (z_{f+1} - z_f):  dp_j += dy_j (z_{f+1} - z_f),
 * dz_f += dy_j (1 - (p_j - f)), dz_{f+1} += dy_j (p_j - f), in the order of j */
static void backward(const peat_op_call *c, int64_t begin, int64_t end)
{
    const peat_view *z = &c->src[0], *p = &c->src[1];
    int64_t n = z->shape.dim[3], T = p->shape.dim[3];
    for (int64_t i = begin * T; i < end * T; i++) {
        double at = peat_load(p, i), dy = peat_load(c->out_grad, i);
        int64_t f = below(at, n), row = i / T * n;
        peat_accumulate(&c->src_grad[0], row + f, dy * (1 - (at - (double)f)));
        peat_accumulate(&c->src_grad[0], row + f + 1, dy * (at - (double)f));
        peat_accumulate(&c->src_grad[1], i,
                        dy * (peat_load(z, row + f + 1) - peat_load(z, row + f)));
    }
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
