/* SPDX-License-Identifier: MIT */
/*
 * scheme.h: a positional scheme defines how position is expressed and where in the model it acts.
 *
 * Every hook is optional; a missing hook is the identity. Hooks are pure: the same call builds the
 * same nodes, `self` is const, nothing is stored between calls. Inputs that a scheme does not
 * declare in `needs` are NULL or 0.
 *
 * logits = scale * (q'.k' + sum of score_add) + sum of bias and bias_rel, then `logits`, mask,
 * softmax or `softmax` in its place, `weights`, mask, context = W v, `context`. The host owns the
 * mask and the scale. Several schemes act in YAML order: positions, residual, hidden, qkv, logits,
 * weights are chained; score_add, bias, bias_rel are summed; context runs in reverse order; each
 * encode gives a stream; at most one scheme of a head has softmax.
 */
#ifndef PEAT_SCHEME_H
#define PEAT_SCHEME_H

#include <peat/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sizes of the model, complete in setup. */
typedef struct peat_dims {
    uint32_t size;
    int64_t D, H, C, L, V; /* C: head width for this scheme, after `where.dims`; V: 0 for patches */
    int64_t d;             /* width of this scheme's stream; 0 when it has none               */
    int64_t T_train;       /* longest sequence trained                                        */
    int64_t T_max;         /* longest sequence trained or evaluated                           */
    int32_t n_axes;        /* position axes                                                   */
    bool causal;
} peat_dims;

/* One side of attention: the queries or the keys. Arrays are borrowed for the call; NULL where the
 * task has none. [B,T] arrays are row-major. */
typedef struct peat_side {
    uint32_t size;
    int64_t T;
    int64_t T_total; /* T of the whole row, also where a call has only some of its places; 0 without
                      * NEED_LENGTH */
    int64_t pos_B;   /* 1 when all rows share their positions, else B                    */
    int32_t n_axes;
    const double *pos;       /* [A, pos_B, T]                                            */
    const int64_t *sequence; /* [B] id of each sequence, stable over resume and batching */
    const int32_t *token;    /* [B,T]; NEED_TOKENS                                       */
    const int32_t *segment;  /* [B,T]                                                    */
    const int32_t *document; /* [B,T] packing: attention stays inside equal values       */
    const uint8_t *pad;      /* [B,T] 1 = padding                                        */
    const uint8_t *special;  /* [B,T] 1 = BOS, SEP, CLS and the like                     */
} peat_side;

typedef enum peat_phase { PEAT_TRAIN = 0, PEAT_EVAL = 1 } peat_phase;

typedef struct peat_call peat_call;

/* The context of every hook. Borrowed for the call. */
struct peat_call {
    uint32_t size;
    const peat_host *host;
    peat_graph *g;
    const void *config;
    const void *self; /* the state that setup returned */
    peat_dims dims;
    peat_phase phase;
    int32_t layer; /* -1 outside the layers                                            */
    int64_t B;     /* rows in this call: a slice may be smaller than the batch         */
    int64_t H;     /* heads of the current group                                       */
    int64_t d;     /* width of this scheme's stream                                    */
    int64_t step;  /* training step; 0 in evaluation                                   */
    const peat_side *q, *k;
    peat_node *mask;          /* [1|B,1,Tq,Tk] 0/1; given to logits, softmax and weights      */
    peat_node *x_q, *x_k;     /* [B,T,D] inputs of this layer's projections; NEED_X           */
    peat_node *const *shared; /* the nodes that prepare filled in and carry changed       */
};

/* q [B,H,Tq,C], k [B,H,Tk,C], v [B,H,Tk,C]. The hook qkv replaces members, and C may change for q
 * and k together (peat_score_scale says how q.k is then divided). Other hooks get all three as
 * projected, before any qkv hook, and only with NEED_QK. */
typedef struct peat_qkv {
    uint32_t size;
    peat_node *q, *k, *v;
} peat_qkv;

/* The different values of pos_k - pos_q in this call, for bias_rel. */
typedef struct peat_rel {
    uint32_t size;
    int64_t n;
    int32_t n_axes;
    const double *delta; /* [A, n] */
} peat_rel;

typedef enum peat_need {
    PEAT_NEED_QK = 1,      /* q, k, v as projected, in bias, score_add, logits, softmax,
                              context                                                     */
    PEAT_NEED_X = 2,       /* x_q, x_k                                                    */
    PEAT_NEED_W = 4,       /* attention weights in context and carry                      */
    PEAT_NEED_PROJECT = 8, /* project()                                                   */
    PEAT_NEED_TOKENS = 16, /* token ids                                                   */
    PEAT_NEED_BIAS = 32,   /* the sum of other schemes' bias, separate from the logits, in logits
                            * and in softmax */
    PEAT_NEED_LENGTH = 64, /* T_total; declare it also for a result that depends on dims.T_max */
    PEAT_MIXES_HEADS = 128 /* all heads must be in one call: `where.heads` is refused     */
} peat_need;

/* Claims that `peat plugins check` tests. A claim must hold for every configuration. */
typedef enum peat_trait {
    PEAT_SHIFT_INVARIANT = 1,          /* adding one number to all positions changes no logit */
    PEAT_NORM_PRESERVING = 2,          /* qkv keeps the Euclidean norm of each query and key */
    PEAT_FINITE_LENGTH = 4,            /* refuses sequences beyond a length */
    PEAT_CONTENT_DEPENDENT = 8,        /* what it adds depends on the tokens */
    PEAT_NEEDS_CAUSAL = 16,            /* refused in an encoder */
    PEAT_PERMUTATION_EQUIVARIANT = 32, /* permuted tokens of an encoder permute its logits */
    PEAT_NO_TRAINABLE = 64,            /* registers no tensor that is trained */
    /* The scheme may act across two sequences where the user asks for it (`where.across`): prepare,
     * qkv and all its hooks in attention are then called for cross-attention too, with q the side
     * of the decoder and k that of the encoder. Without this trait, or unasked, a scheme does
     * nothing in cross-attention: encoder and decoder each have the scheme for themselves. */
    PEAT_ACROSS = 128,
    PEAT_STORABLE = 256 /* can compute the newest rows alone, see "Stored rows"; also for
                         * combinations */
} peat_trait;

/* The factor on q.k where model.attention.scale is auto. C is the model's head width: it stays the
 * same under `where.dims` and where `qkv` returns q and k of another width. A scheme that divides
 * by the root of the width it returns asks for PEAT_SCALE_OWN, or multiplies q itself. */
typedef enum peat_score_scale {
    PEAT_SCALE_SQRT = 0, /* 1 / sqrt((1 + sum of score_terms) C)                          */
    PEAT_SCALE_ONE = 1,  /* 1; score_terms must be 0                                      */
    PEAT_SCALE_OWN = 2   /* as SQRT, with the width of q after the last qkv hook as C */
} peat_score_scale;

/*
 * Shapes and units of the hooks. All are [graph] except width, reach and setup.
 *
 *   width      [any]   fixed width of the stream, or 0 for any.
 *   setup      [setup] register parameters, refuse with peat_refuse, keep plain data with
 *                      peat_alloc in *self.
 *   positions          change pos [A,pos_B,T] in place, once per forward (pos_B is then B); q and k
 *                      see the same.
 *   own_positions      pos [own_axes, B, T]: positions that this scheme alone sees, computed from
 *                      tokens, segments, draws or anything else. Once per forward for each side,
 *                      with c->q == c->k the side. All hooks except `positions` then see them in
 *                      the place of the model's, with own_axes axes and pos_B = B: in c->q->pos,
 *                      peat_rows, peat_pos, peat_delta and bias_rel. On entry the first axes hold
 *                      the model's positions and the others 0. In a causal model the positions of
 *                      a place depend only on tokens up to that place.
 *   prepare            once per forward: up to PEAT_MAX_SHARED nodes for the hooks of all layers.
 *   encode             -> [1|B, T, d], the scheme's stream.
 *   residual           x [B,T,D] at the start of a block -> same.
 *   hidden             xq, xk, xv [B,T,D]: normed inputs of the projections, preset to the same x.
 *   qkv                after projection: see peat_qkv.
 *   bias_rel           -> [1|H, n] in logit units, one value per difference.
 *   bias               -> [1|B, 1|H, 1|Tq, 1|Tk] in logit units.
 *   score_add          -> same shape in units of q.k: the host multiplies by the scale.
 *   logits             S [B,H,Tq,Tk] finite and unmasked, bias (NULL unless NEED_BIAS and present;
 *                      then S excludes it) -> logits [B,H,Tq,Tk].
 *   softmax            replaces the softmax: S and bias like those of logits, as the logits hooks
 *                      left them (after one, bias is NULL) -> W [B,H,Tq,Tk]. Keys that c->mask
 *                      hides must enter no sum, and their weight must be exactly 0. Rows need not
 *                      sum to 1. Read shapes from S: a class token without a position has a row and
 *                      a column in S, and a place in p, before the places of c->q and c->k.
 *   weights            W [B,H,Tq,Tk] -> same; the host masks again but does not renormalise.
 *   context            o [B,H,Tq,C], W (NULL unless NEED_W) -> [B,H,Tq,C].
 *   carry              from layer to layer: changes `state`, the nodes of c->shared that `prepare`
 *                      made, for the next layers. Called after the attention of each layer in
 *                      which the scheme acts, except the last: x [B,T,D] is the input of the
 *                      layer's MLP, W [B,H,T,T] the weights on the scheme's heads (NULL unless
 *                      NEED_W; then no other scheme's `where.heads` may split them). Its tensors
 *                      have a row for each layer except the last: [L - 1, ...]. Not called across
 *                      two sequences; not with PEAT_STORABLE.
 */
/*
 * Stored rows. Decoding computes only the newest rows of a sequence and stores the results of the
 * rows before: keys and values after qkv, and inputs of layers. A scheme with PEAT_STORABLE keeps
 * these rules (for other schemes decoding computes all rows for each token):
 *
 *   - encode, residual, hidden and qkv compute a row from its own data and position. residual and
 *     hidden may also read the `reach` rows before it, which are then in their input; their results
 *     for those rows are not used. q and k of the call are the rows in the input: they need not
 *     begin at the start of a sequence, or at position 0. With NEED_TOKENS the input of encode has
 *     all rows so far.
 *   - bias, bias_rel, score_add, logits, softmax, weights and context accept queries that are the
 *     last rows of the keys: c->q->T <= c->k->T. p->k, p->v and x_k have all keys, p->q and x_q
 *     only the queries.
 *   - prepare runs once for the hooks of the first item and once for those of the second, each
 *     time with their sides; each group sees its own `shared`.
 *   - `positions` of a row depends neither on tokens nor on later rows; `own_positions` does not
 *     depend on later rows, and its input has all rows so far.
 */
typedef struct peat_scheme {
    uint32_t size;
    uint32_t needs;   /* peat_need bits                                                     */
    uint32_t traits;  /* peat_trait bits                                                    */
    int32_t max_axes; /* number of position axes that the scheme understands; 0 means 1     */
    peat_score_scale scale;
    int32_t score_terms; /* number of terms like q.k that score_add contributes              */
    int64_t (*width)(const void *config);
    peat_status (*setup)(peat_setup *s, const void *config, void **self);
    peat_status (*positions)(const peat_call *c, double *pos);
    peat_status (*prepare)(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED]);
    peat_node *(*encode)(const peat_call *c);
    peat_node *(*residual)(const peat_call *c, peat_node *x);
    peat_status (*hidden)(const peat_call *c, peat_node **xq, peat_node **xk, peat_node **xv);
    peat_status (*qkv)(const peat_call *c, peat_qkv *io);
    peat_node *(*bias_rel)(const peat_call *c, const peat_rel *r);
    peat_node *(*bias)(const peat_call *c, const peat_qkv *p);
    peat_node *(*score_add)(const peat_call *c, const peat_qkv *p);
    peat_node *(*logits)(const peat_call *c, const peat_qkv *p, peat_node *S, peat_node *bias);
    peat_node *(*weights)(const peat_call *c, peat_node *W);
    peat_node *(*context)(const peat_call *c, const peat_qkv *p, peat_node *o, peat_node *W);
    int64_t (*reach)(const void *config); /* [any] see "Stored rows"; NULL: 0                 */
    peat_node *(*softmax)(const peat_call *c, const peat_qkv *p, peat_node *S, peat_node *bias);
    int32_t own_axes; /* axes of own_positions, at most PEAT_MAX_AXES; 0 means 1              */
    peat_status (*own_positions)(const peat_call *c, double *pos);
    peat_status (*carry)(const peat_call *c, peat_node *x, peat_node *W,
                         peat_node *state[PEAT_MAX_SHARED]);
} peat_scheme;

#ifdef __cplusplus
}
#endif
#endif
