/* SPDX-License-Identifier: MIT */
/* ops.h: operations of the engine that peat/ops.h does not have. Each operation of peat/ops.h is
 * op_NAME here too, with the same arguments. */
#pragma once

#include "autograd/graph.h"

/* x [..., in] by w [out, in], plus b [out] (may be NULL) -> [..., out]; nn.Linear's convention. */
peat_node *op_linear(peat_graph *g, peat_node *x, peat_node *w, peat_node *b);

/* The feed-forward part of a block: y = f(x w1' + b1) w2' + b2 with x [..., D], w1 [F, D], b1 [F],
 * w2 [E, F], b2 [E] -> [..., E]; a bias may be NULL. The last two are gates, with w1 [2F, D] and
 * b1 [2F]: of x w1' + b1 = [g v] they make f(g) v, with silu(g) = g / (1 + exp(-g)) and gelu(g)
 * (Shazeer 2020, arXiv:2002.05202). Equal to linear, activation, linear, but only x w1' + b1 is
 * kept for the backward pass: f of it and all gradients of its width are computed for one block of
 * rows at a time.
 */
enum mlp_activation { MLP_GELU, MLP_GELU_TANH, MLP_RELU, MLP_SWIGLU, MLP_GEGLU };
static inline bool mlp_is_gated(enum mlp_activation f)
{
    return f >= MLP_SWIGLU;
}
peat_node *op_mlp(peat_graph *g, peat_node *x, peat_node *w1, peat_node *b1, peat_node *w2,
                  peat_node *b2, enum mlp_activation f);

/* a as a contiguous tensor; a itself when it already is. */
peat_node *op_contiguous(peat_graph *g, peat_node *a);

/* Inverted dropout: element i is kept when rng_uniform(stream, i) >= p, and divided by 1-p.
 * p == 0 returns a. */
peat_node *op_dropout(peat_graph *g, peat_node *a, double p, uint64_t stream);

/* Mean over targets >= 0 of -log softmax(logits)[target]; logits [..., V], target I32 with
 * as many elements as logits has rows. Zero targets: 0. Result has shape [1]. */
peat_node *op_cross_entropy(peat_graph *g, peat_node *logits, peat_node *target);

/* Over all rows: the sum of nll, the number of targets, and the number of targets with the highest
 * logit (the lowest id wins ties). logits are contiguous [rows, V]. Makes no graph. Rows are added
 * in order. */
struct ce_sums {
    double nll;
    int64_t targets, correct;
};
void cross_entropy_sums(const struct team *team, const struct tensor *logits, const int32_t *target,
                        struct ce_sums *sums);

/* Which keys a query may see. Query row i has index offset + i among the keys. Query i sees key j
 * when all of these hold: not causal or j <= offset + i; window 0 or |offset + i - j| < window; not
 * padding; same document. Arrays may be NULL. */
struct attention_mask {
    bool causal;
    int64_t window;
    int64_t offset;
    const uint8_t *pad_k;         /* [B,Tk] */
    const int32_t *doc_q, *doc_k; /* [B,Tq], [B,Tk] */
};

/*
 * Fused attention: softmax(mask(scale * (q k' + score_add) + bias + rel)) v, never storing a
 * [Tq,Tk] matrix for the backward pass (it is recomputed tile by tile from the row's log-sum-exp).
 *
 *   q [B,H,Tq,C], k [B,H,Tk,C], v [B,H,Tk,Cv], any strides with the last axis dense
 *   score_add, bias  [1|B, 1|H, 1|Tq, 1|Tk] or NULL
 *   rel  [1|H, Tq+Tk-1] or NULL: element j - i + Tq - 1 is added to logit (i, j)
 *   -> [B,H,Tq,Cv] with strides such that permute (0,2,1,3) of it is contiguous
 *
 * A row that sees no key gives zeros; mask NULL: every row sees all keys. Every operand has a
 * gradient; those of broadcast biases are summed in fixed order. Dao et al. 2022, algorithm 1 and
 * appendix B.2, one head at a time.
 */
peat_node *op_attention(peat_graph *g, peat_node *q, peat_node *k, peat_node *v,
                        peat_node *score_add, peat_node *bias, peat_node *rel, double scale,
                        const struct attention_mask *mask);

/* The mask as a 0/1 node [1|B, 1, Tq, Tk], for the composed path. */
peat_node *attention_mask_node(struct graph *g, const struct attention_mask *mask, int64_t B,
                               int64_t Tq, int64_t Tk);

/* A gated linear recurrence over the places of each row, x and f [B,T,D] -> h [B,T,D]: h_t = f_t
 * h_(t-1) + (1 - f_t) x_t. The first `from_left` channels read from the left, the others from the
 * right. h starts at 0 in each document; at padding h keeps its value. The function reads only
 * padding and documents of the mask. Bradbury et al. 2017, section 2.1 (f-pooling). */
peat_node *op_recurrence(peat_graph *g, peat_node *x, peat_node *f, int64_t from_left,
                         const struct attention_mask *mask);

/* A depth-wise convolution over the places of each row, x [B,T,D] by taps [K,D] -> [B,T,D]:
 * y_t = sum over k of taps_k x_(t - k + a), a = 0 where the mask is causal, otherwise (K - 1) / 2,
 * and K is odd. Padding, other documents and places outside the row count as 0. */
peat_node *op_convolution(peat_graph *g, peat_node *x, peat_node *taps,
                          const struct attention_mask *mask);

/* Functions of each element, and of two operands that are broadcast. */
typedef peat_node *unary_op(peat_graph *g, peat_node *a);
typedef peat_node *binary_op(peat_graph *g, peat_node *a, peat_node *b);
unary_op op_exp, op_log, op_log1p, op_sqrt, op_sin, op_cos, op_tanh, op_sigmoid, op_log_sigmoid,
    op_softplus, op_relu, op_gelu, op_gelu_tanh, op_abs, op_floor;
binary_op op_add, op_sub, op_mul, op_div, op_minimum, op_maximum;
peat_node *op_affine(peat_graph *g, peat_node *a, double scale, double shift);
peat_node *op_clamp(peat_graph *g, peat_node *a, double lo, double hi);
peat_node *op_matmul(peat_graph *g, peat_node *a, peat_node *b, uint32_t flags);
peat_node *op_permute(peat_graph *g, peat_node *a, int32_t n, const int32_t *axis);
peat_node *op_reshape(peat_graph *g, peat_node *a, int32_t n, const int64_t *dim);
peat_node *op_slice(peat_graph *g, peat_node *a, int32_t axis, int64_t begin, int64_t end);
peat_node *op_concat(peat_graph *g, int32_t n, peat_node *const *a, int32_t axis);
peat_node *op_pad(peat_graph *g, peat_node *a, int32_t axis, int64_t before, int64_t after);
peat_node *op_expand(peat_graph *g, peat_node *a, int32_t n, const int64_t *dim);
peat_node *op_sum(peat_graph *g, peat_node *a, int32_t axis);
peat_node *op_mean(peat_graph *g, peat_node *a, int32_t axis);
peat_node *op_softmax(peat_graph *g, peat_node *a, peat_node *mask);
peat_node *op_layernorm(peat_graph *g, peat_node *a, peat_node *w, peat_node *b, double eps);
peat_node *op_rmsnorm(peat_graph *g, peat_node *a, peat_node *w, double eps);
peat_node *op_normalize(peat_graph *g, peat_node *a, double eps);
peat_node *op_cumsum(peat_graph *g, peat_node *a, int32_t axis, bool reverse);
peat_node *op_gather_rows(peat_graph *g, peat_node *table, peat_node *index);
peat_node *op_take_last(peat_graph *g, peat_node *a, peat_node *index);
peat_node *op_scatter_last(peat_graph *g, peat_node *a, peat_node *index, int64_t length);
peat_node *op_matmul_take(peat_graph *g, peat_node *a, peat_node *b, uint32_t flags,
                          peat_node *index);
peat_node *op_rotate(peat_graph *g, peat_node *a, peat_node *cosine, peat_node *sine,
                     peat_layout layout);
peat_node *op_custom(peat_graph *g, const peat_op *op, int32_t n, peat_node *const *src,
                     const void *arg, size_t arg_size);
void op_custom_all(peat_graph *g, const peat_op *op, int32_t n, peat_node *const *src,
                   const void *arg, size_t arg_size, peat_node **out);
/* For checks of a plugin's own operation: the number of its units (-1: another kind of node); its
 * forward over some units, into the node's value; and whether this byte of the value belongs to a
 * result. */
int64_t custom_units(const peat_node *n);
void custom_run(peat_node *n, int64_t begin, int64_t end);
bool custom_writes(const peat_node *n, size_t byte);
