/* SPDX-License-Identifier: MIT */
/*
 * ops.h: differentiable operations.
 *
 * Every operation runs at once and records itself for the backward pass. Its result has the dtype
 * of its operands, F32 or F64 (index operands are I32), and belongs to the graph. An operation
 * whose operand is NULL, or whose shapes do not fit, returns NULL, and the graph keeps the first
 * error with the operation's and the hook's name, so code that builds nodes needs no checks.
 *
 * Broadcasting is NumPy's: shapes are aligned at the last axis, an axis of 1 stretches.
 * Axis arguments may be negative, counted from the last axis. All [graph].
 */
#ifndef PEAT_OPS_H
#define PEAT_OPS_H

#include <peat/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How rotate pairs the components of a head. */
typedef enum peat_layout {
    PEAT_INTERLEAVED = 0, /* (0,1), (2,3), ...: Su et al. 2021, GPT-J         */
    PEAT_HALVES = 1       /* (0,C/2), (1,C/2+1), ...: GPT-NeoX, LLaMA         */
} peat_layout;

typedef enum peat_matmul_flag { PEAT_TRANS_A = 1, PEAT_TRANS_B = 2 } peat_matmul_flag;

/* A tensor as a custom operation's kernels see it. data is float * for F32, double * for F64,
 * int32_t * for I32; contiguous, 64-byte aligned, borrowed for the call. */
typedef struct peat_view {
    uint32_t size;
    peat_dtype dtype;
    peat_shape shape;
    void *data;
} peat_view;

/* The arguments of a custom operation's kernels. `grad` members are NULL where no gradient is
 * wanted. Kernels write only their own range [begin, end) of the units that `units` counts;
 * backward adds to gradients, never assigns. */
typedef struct peat_op_call {
    uint32_t size;
    int32_t n_src;
    const peat_view *src;      /* operands                                     */
    const peat_view *out;      /* the results, n_out of them                   */
    const peat_view *out_grad; /* backward: gradients with respect to the results */
    const peat_view *src_grad; /* backward: n_src gradients, data NULL: unwanted */
    const void *arg;           /* the copy of the argument struct              */
    double *scratch;           /* in kernels: as many doubles as `scratch` returned, 64-byte
                                  aligned, not cleared, for the calling thread alone */
} peat_op_call;

enum { PEAT_MAX_RESULTS = 8 };

/*
 * A custom operation, for functions that cannot be composed of the operations below. F64 must work
 * (gradient checks run in it).
 *   infer    [graph]  shapes of the results from those of the operands, out[n_out]; false refuses.
 *   forward  [kernel] writes all results for units [begin, end), from operands and argument alone:
 *                     a step may run it twice, to compute again results whose memory it reused.
 *   backward [kernel] adds to src_grad for units [begin, end). NULL: operands get no gradient.
 *   units    [graph]  returns into how many independent units forward and backward may be split;
 *                     NULL: 1.
 *   flops    [graph]  returns the floating-point operations of one forward; NULL: not counted.
 *   n_out             number of results, at most PEAT_MAX_RESULTS, all of the graph's dtype; 0: 1.
 *                     The gradient of a result that nothing depends on is 0.
 *   scratch  [graph]  returns from the operands' shapes how many doubles of working memory a kernel
 *                     needs; NULL: none.
 * peat/custom.h reads and writes elements of any type; peat/opcheck.h checks an operation.
 */
typedef struct peat_op {
    uint32_t size;
    const char *name;
    bool (*infer)(const peat_op_call *c, peat_shape *out);
    int64_t (*units)(const peat_op_call *c);
    void (*forward)(const peat_op_call *c, int64_t begin, int64_t end);
    void (*backward)(const peat_op_call *c, int64_t begin, int64_t end);
    int64_t (*flops)(const peat_op_call *c);
    int32_t n_out;
    int64_t (*scratch)(const peat_op_call *c);
} peat_op;

/* The table of operations. Append-only. Code calls the wrappers below. */
typedef struct peat_ops {
    uint32_t size;
    peat_node *(*add)(peat_graph *, peat_node *, peat_node *);
    peat_node *(*sub)(peat_graph *, peat_node *, peat_node *);
    peat_node *(*mul)(peat_graph *, peat_node *, peat_node *);
    peat_node *(*div)(peat_graph *, peat_node *, peat_node *);
    peat_node *(*minimum)(peat_graph *, peat_node *, peat_node *);
    peat_node *(*maximum)(peat_graph *, peat_node *, peat_node *);
    peat_node *(*affine)(peat_graph *, peat_node *, double scale, double shift);
    peat_node *(*exp)(peat_graph *, peat_node *);
    peat_node *(*log)(peat_graph *, peat_node *);
    peat_node *(*log1p)(peat_graph *, peat_node *);
    peat_node *(*sqrt)(peat_graph *, peat_node *);
    peat_node *(*sin)(peat_graph *, peat_node *);
    peat_node *(*cos)(peat_graph *, peat_node *);
    peat_node *(*tanh)(peat_graph *, peat_node *);
    peat_node *(*sigmoid)(peat_graph *, peat_node *);
    peat_node *(*log_sigmoid)(peat_graph *, peat_node *);
    peat_node *(*softplus)(peat_graph *, peat_node *);
    peat_node *(*relu)(peat_graph *, peat_node *);
    peat_node *(*gelu)(peat_graph *, peat_node *);
    peat_node *(*gelu_tanh)(peat_graph *, peat_node *);
    peat_node *(*abs)(peat_graph *, peat_node *);
    peat_node *(*floor)(peat_graph *, peat_node *);
    peat_node *(*clamp)(peat_graph *, peat_node *, double lo, double hi);
    peat_node *(*matmul)(peat_graph *, peat_node *, peat_node *, uint32_t flags);
    peat_node *(*permute)(peat_graph *, peat_node *, int32_t n, const int32_t *axis);
    peat_node *(*reshape)(peat_graph *, peat_node *, int32_t n, const int64_t *dim);
    peat_node *(*slice)(peat_graph *, peat_node *, int32_t axis, int64_t begin, int64_t end);
    peat_node *(*concat)(peat_graph *, int32_t n, peat_node *const *, int32_t axis);
    peat_node *(*pad)(peat_graph *, peat_node *, int32_t axis, int64_t before, int64_t after);
    peat_node *(*expand)(peat_graph *, peat_node *, int32_t n, const int64_t *dim);
    peat_node *(*sum)(peat_graph *, peat_node *, int32_t axis);
    peat_node *(*mean)(peat_graph *, peat_node *, int32_t axis);
    peat_node *(*softmax)(peat_graph *, peat_node *, peat_node *mask);
    peat_node *(*layernorm)(peat_graph *, peat_node *, peat_node *w, peat_node *b, double eps);
    peat_node *(*rmsnorm)(peat_graph *, peat_node *, peat_node *w, double eps);
    peat_node *(*normalize)(peat_graph *, peat_node *, double eps);
    peat_node *(*cumsum)(peat_graph *, peat_node *, int32_t axis, bool reverse);
    peat_node *(*gather_rows)(peat_graph *, peat_node *table, peat_node *index);
    peat_node *(*take_last)(peat_graph *, peat_node *, peat_node *index);
    peat_node *(*rotate)(peat_graph *, peat_node *, peat_node *cosine, peat_node *sine,
                         peat_layout);
    peat_node *(*custom)(peat_graph *, const peat_op *, int32_t n, peat_node *const *,
                         const void *arg, size_t arg_size);
    peat_node *(*give_up)(peat_graph *, const char *fmt, ...);
    void (*shape)(const peat_node *, peat_shape *);
    void (*custom_all)(peat_graph *, const peat_op *, int32_t n, peat_node *const *,
                       const void *arg, size_t arg_size, peat_node **out);
    peat_node *(*matmul_take)(peat_graph *, peat_node *, peat_node *, uint32_t flags,
                              peat_node *index);
    peat_node *(*scatter_last)(peat_graph *, peat_node *, peat_node *index, int64_t length);
} peat_ops;

struct peat_graph {
    const peat_ops *ops;
    /* The rest belongs to the engine. */
};

/* a + b, a - b, a * b, a / b, min(a, b), max(a, b), elementwise with broadcasting. */
static inline peat_node *peat_add(peat_graph *g, peat_node *a, peat_node *b)
{
    return g->ops->add(g, a, b);
}
static inline peat_node *peat_sub(peat_graph *g, peat_node *a, peat_node *b)
{
    return g->ops->sub(g, a, b);
}
static inline peat_node *peat_mul(peat_graph *g, peat_node *a, peat_node *b)
{
    return g->ops->mul(g, a, b);
}
static inline peat_node *peat_div(peat_graph *g, peat_node *a, peat_node *b)
{
    return g->ops->div(g, a, b);
}
/* min(a, b) and max(a, b); where both are equal the gradient goes to a. */
static inline peat_node *peat_minimum(peat_graph *g, peat_node *a, peat_node *b)
{
    return g->ops->minimum(g, a, b);
}
static inline peat_node *peat_maximum(peat_graph *g, peat_node *a, peat_node *b)
{
    return g->ops->maximum(g, a, b);
}
/* scale * a + shift */
static inline peat_node *peat_affine(peat_graph *g, peat_node *a, double scale, double shift)
{
    return g->ops->affine(g, a, scale, shift);
}
static inline peat_node *peat_scale(peat_graph *g, peat_node *a, double scale)
{
    return g->ops->affine(g, a, scale, 0.0);
}
static inline peat_node *peat_exp(peat_graph *g, peat_node *a)
{
    return g->ops->exp(g, a);
}
static inline peat_node *peat_log(peat_graph *g, peat_node *a)
{
    return g->ops->log(g, a);
}
/* log(1 + a) */
static inline peat_node *peat_log1p(peat_graph *g, peat_node *a)
{
    return g->ops->log1p(g, a);
}
static inline peat_node *peat_sqrt(peat_graph *g, peat_node *a)
{
    return g->ops->sqrt(g, a);
}
static inline peat_node *peat_sin(peat_graph *g, peat_node *a)
{
    return g->ops->sin(g, a);
}
static inline peat_node *peat_cos(peat_graph *g, peat_node *a)
{
    return g->ops->cos(g, a);
}
static inline peat_node *peat_tanh(peat_graph *g, peat_node *a)
{
    return g->ops->tanh(g, a);
}
static inline peat_node *peat_sigmoid(peat_graph *g, peat_node *a)
{
    return g->ops->sigmoid(g, a);
}
/* log(sigmoid(a)), finite for all finite a */
static inline peat_node *peat_log_sigmoid(peat_graph *g, peat_node *a)
{
    return g->ops->log_sigmoid(g, a);
}
/* log(1 + exp(a)), without overflow */
static inline peat_node *peat_softplus(peat_graph *g, peat_node *a)
{
    return g->ops->softplus(g, a);
}
/* max(a, 0); the gradient at 0 is zero. */
static inline peat_node *peat_relu(peat_graph *g, peat_node *a)
{
    return g->ops->relu(g, a);
}
/* a * Phi(a), the erf form: Hendrycks and Gimpel 2016, eq. 1 */
static inline peat_node *peat_gelu(peat_graph *g, peat_node *a)
{
    return g->ops->gelu(g, a);
}
/* Hendrycks and Gimpel 2016, the tanh approximation of section 2 */
static inline peat_node *peat_gelu_tanh(peat_graph *g, peat_node *a)
{
    return g->ops->gelu_tanh(g, a);
}
/* |a|; the gradient at 0 is zero. */
static inline peat_node *peat_abs(peat_graph *g, peat_node *a)
{
    return g->ops->abs(g, a);
}
/* The largest whole number not above a; the gradient is zero. */
static inline peat_node *peat_floor(peat_graph *g, peat_node *a)
{
    return g->ops->floor(g, a);
}
/* min(max(a, lo), hi), lo <= hi; the gradient is zero outside [lo, hi]. */
static inline peat_node *peat_clamp(peat_graph *g, peat_node *a, double lo, double hi)
{
    return g->ops->clamp(g, a, lo, hi);
}
/* a [..., m, k] times b [..., k, n] -> [..., m, n]; leading axes broadcast. With TRANS_A a is
 * [..., k, m], with TRANS_B b is [..., n, k]. */
static inline peat_node *peat_matmul(peat_graph *g, peat_node *a, peat_node *b, uint32_t flags)
{
    return g->ops->matmul(g, a, b, flags);
}
/* Axis i of the result is axis[i] of a. A view: nothing is copied. */
static inline peat_node *peat_permute(peat_graph *g, peat_node *a, int32_t n, const int32_t *axis)
{
    return g->ops->permute(g, a, n, axis);
}
/* The same elements in the same order under another shape; one dim may be -1. */
static inline peat_node *peat_reshape(peat_graph *g, peat_node *a, int32_t n, const int64_t *dim)
{
    return g->ops->reshape(g, a, n, dim);
}
/* Elements [begin, end) of one axis. A view: nothing is copied. */
static inline peat_node *peat_slice(peat_graph *g, peat_node *a, int32_t axis, int64_t begin,
                                    int64_t end)
{
    return g->ops->slice(g, a, axis, begin, end);
}
/* The n operands concatenated along axis. Other axes broadcast. */
static inline peat_node *peat_concat(peat_graph *g, int32_t n, peat_node *const *a, int32_t axis)
{
    return g->ops->concat(g, n, a, axis);
}
/* a with `before` zeros in front of axis and `after` zeros behind. */
static inline peat_node *peat_pad(peat_graph *g, peat_node *a, int32_t axis, int64_t before,
                                  int64_t after)
{
    return g->ops->pad(g, a, axis, before, after);
}
/* Stretches axes of 1 to the shape dim [n]. */
static inline peat_node *peat_expand(peat_graph *g, peat_node *a, int32_t n, const int64_t *dim)
{
    return g->ops->expand(g, a, n, dim);
}
/* Sum or mean over one axis, which is kept with length 1. */
static inline peat_node *peat_sum(peat_graph *g, peat_node *a, int32_t axis)
{
    return g->ops->sum(g, a, axis);
}
static inline peat_node *peat_mean(peat_graph *g, peat_node *a, int32_t axis)
{
    return g->ops->mean(g, a, axis);
}
/* Softmax over the last axis. mask (NULL: none) is 0/1 and broadcasts; a row with no 1 gives
 * zeros. */
static inline peat_node *peat_softmax(peat_graph *g, peat_node *a, peat_node *mask)
{
    return g->ops->softmax(g, a, mask);
}
/* Over the last axis, of length n: (a - mean) / sqrt(var + eps) * w + b, where var is divided by n;
 * w [n] and b [n] may be NULL. Ba, Kiros and Hinton 2016, eq. 3. */
static inline peat_node *peat_layernorm(peat_graph *g, peat_node *a, peat_node *w, peat_node *b,
                                        double eps)
{
    return g->ops->layernorm(g, a, w, b, eps);
}
/* Over the last axis: a / sqrt(mean(a^2) + eps) * w; w [n] may be NULL. Zhang and Sennrich 2019,
 * eq. 4. */
static inline peat_node *peat_rmsnorm(peat_graph *g, peat_node *a, peat_node *w, double eps)
{
    return g->ops->rmsnorm(g, a, w, eps);
}
/* a / sqrt(sum(a^2) + eps) over the last axis. */
static inline peat_node *peat_normalize(peat_graph *g, peat_node *a, double eps)
{
    return g->ops->normalize(g, a, eps);
}
/* Inclusive running sum along axis, from its end if reverse. */
static inline peat_node *peat_cumsum(peat_graph *g, peat_node *a, int32_t axis, bool reverse)
{
    return g->ops->cumsum(g, a, axis, reverse);
}
/* table [R, d], index I32 [...] in 0..R-1 -> [..., d]; another index is an error. The gradient of a
 * row is added in the order of the index. */
static inline peat_node *peat_gather_rows(peat_graph *g, peat_node *table, peat_node *index)
{
    return g->ops->gather_rows(g, table, index);
}
/* a [..., n], index I32 [..., m] in 0..n-1 -> [..., m]; leading axes broadcast. */
static inline peat_node *peat_take_last(peat_graph *g, peat_node *a, peat_node *index)
{
    return g->ops->take_last(g, a, index);
}
/* take_last(matmul(a, b, flags), index) with the same bits, without the whole product in memory.
 * For scores against a table with one row for each distance: the product is [..., T, R], the result
 * [..., T, T]. */
static inline peat_node *peat_matmul_take(peat_graph *g, peat_node *a, peat_node *b, uint32_t flags,
                                          peat_node *index)
{
    return g->ops->matmul_take(g, a, b, flags, index);
}
/* a [..., m], index I32 [..., m] in 0..length-1 -> [..., length]: element r of a row is the sum of
 * the a_j with index_j = r, in the order of j. Leading axes of the index broadcast to those of a.
 * Each of take_last and scatter_last is the gradient of the other. */
static inline peat_node *peat_scatter_last(peat_graph *g, peat_node *a, peat_node *index,
                                           int64_t length)
{
    return g->ops->scatter_last(g, a, index, length);
}
/* Rotate pairs (x, y) of the last axis C of a to (x cos - y sin, x sin + y cos). cosine and sine
 * are [..., C/2] and broadcast. Su et al. 2021, eq. 34. The inverse takes -sine. */
static inline peat_node *peat_rotate(peat_graph *g, peat_node *a, peat_node *cosine,
                                     peat_node *sine, peat_layout layout)
{
    return g->ops->rotate(g, a, cosine, sine, layout);
}
/* A plugin's own operation with operands src [n] and one result. arg is copied; op is not, and must
 * live as long as the graph. */
static inline peat_node *peat_custom(peat_graph *g, const peat_op *op, int32_t n,
                                     peat_node *const *src, const void *arg, size_t arg_size)
{
    return g->ops->custom(g, op, n, src, arg, arg_size);
}
/* A plugin's own operation with all its results, into out [n_out]; NULLs on failure. */
static inline void peat_custom_all(peat_graph *g, const peat_op *op, int32_t n,
                                   peat_node *const *src, const void *arg, size_t arg_size,
                                   peat_node **out)
{
    g->ops->custom_all(g, op, n, src, arg, arg_size, out);
}
/* Ends the graph with an error and this message. The value is NULL, for the hook to return. */
#define peat_fail(g, ...) ((g)->ops->give_up((g), __VA_ARGS__))
/* The shape of a node; rank 0 for NULL. */
static inline peat_shape peat_shape_of(peat_graph *g, const peat_node *a)
{
    peat_shape s = {0, {0}};
    if (a)
        g->ops->shape(a, &s);
    return s;
}

#ifdef __cplusplus
}
#endif
#endif
