/* SPDX-License-Identifier: MIT */
/*
 * pass.h: the state of one forward pass, its observer, and how its hooks are called.
 *
 * Used by the model and by code that shows a scheme without a model. Each hook has one caller:
 * encode and merge in model/input.c, residual and carry in model/block.c, positions in
 * model/begin.c, own_positions and prepare in nn/pass.c, all others in attention, in the order of
 * nn/attention_parts.h. A model of two sequences has three passes: over each (model/source.c for
 * the source) and across.
 */
#pragma once

#include "nn/positional.h"

/* Terms that a scheme adds to the logits of its heads; NULL: 0. */
struct bias_terms {
    bool done;
    peat_node *score_add, *bias; /* [1|B, 1|H, 1|Tq, 1|Tk]          */
    peat_node *rel;              /* [1|H, Tq+Tk-1], by j - i + Tq - 1 */
};

/*
 * The rows that a pass computes, and the keys that they attend to. Each row is a place of a
 * sequence.
 *
 *                           places                      queries      keys
 *   a whole sequence              [ ---- rows ---- ]    rows         rows
 *   behind a class token    front [ ---- rows ---- ]    front, rows  front, rows
 *   the newest rows         [ ----- so_far - [ rows ]   rows         so_far, which ends with rows
 *   across two sequences    [ -(so_far)----- [ rows ]   rows         source
 *
 * No scheme sees the front: hooks get `rows`, and their results are put behind the front
 * (nn/stored.h). Hooks on rows get `rows` as queries and as keys (across: the source as keys);
 * hooks on pairs get `rows` as queries, and as keys the source or span_so_far.
 */
struct span {
    int64_t front;           /* places before `rows` that no scheme sees: nn/stored.h */
    peat_side rows;          /* the place of each row on a single axis */
    const peat_side *so_far; /* from the first row to the last of `rows`; NULL: rows */
    const peat_side *source; /* across two sequences: the other sequence; otherwise NULL */
};

/* Rows up to the last of this pass, and the number of them that earlier passes computed. */
const peat_side *span_so_far(const struct span *s);
int64_t span_first(const struct span *s);
/* True where the keys include rows of earlier passes. */
bool span_grows(const struct span *s);
/* Numbers of queries and keys in the layers, the front included. */
int64_t span_n_queries(const struct span *s);
int64_t span_n_keys(const struct span *s);

/* Positions that the data has, [n_axes, pos_B, T] of the rows; n_axes 0: it has none of its own. */
struct grid {
    int32_t n_axes;
    int64_t pos_B;
    const double *pos;
};

struct differences;
struct stored;
struct pass;

/* The positions that own_positions of a scheme wrote. */
struct own_positions {
    int32_t n_axes; /* 0: the scheme does not have the hook */
    int64_t T_q, T_k;
    const double *q, *k; /* [n_axes, B, T] of the queries and of the keys; the two may be the
                          * same array */
    struct differences *differences;
};

enum stream_kind { STREAM_TOKEN, STREAM_POSITION, STREAM_SEGMENT };

/* The attention of one head group, for an observer. Nodes die with the graph. */
struct attention_seen {
    struct pass *pass;
    int64_t layer, begin, end;   /* heads [begin, end)                                        */
    peat_qkv projected, chain;   /* [B,H,T,C] of the group: as projected, after qkv hooks     */
    peat_node *score_add, *bias; /* [1|B,1|H,1|T,1|T] or NULL; bias has bias_rel in it        */
    double scale;
    peat_node *logits;      /* [B,H,T,T] after the logits hooks, not yet masked               */
    peat_node *weights;     /* [B,H,T,T] after the weights hooks                              */
    peat_node *replaced;    /* weights of a softmax hook, not yet masked; NULL: no such hook  */
    const char *changed_by; /* the first scheme with a logits, softmax or weights hook        */
};

/* Functions that see parts of a forward pass. Each may be NULL. The first two may replace the node
 * that they get by another of the same shape. */
struct observer {
    void *ctx;
    bool chain_only; /* seen.logits and seen.weights stay NULL */
    /* Gets every stream before it is merged. index: the scheme that made a positional stream, the
     * number of a stream of the task's own, otherwise -1. */
    peat_node *(*stream)(void *ctx, struct pass *pass, enum stream_kind kind, int index,
                         peat_node *x);
    /* Gets [B,T,D] by its place. Outside the layers, where layer is -1: the merged "input"; the
     * last "stream", which the last norm reads; its "norm". In a layer: the "stream" that the block
     * reads, after the residual hooks; "norm1", "norm_cross" and "norm2"; the "context" of
     * attention, whose layer's output is a projection of it. */
    peat_node *(*node)(void *ctx, struct pass *pass, const char *place, int64_t layer,
                       peat_node *x);
    void (*attention)(void *ctx, const struct attention_seen *seen);
};

/* A node that a plugin names for inspection. */
struct probe {
    peat_node *node;
    const char *plugin; /* id of the plugin whose hook runs */
    int64_t layer;      /* -1: outside the layers */
};

/* The state of one forward pass; hooks see parts of it through peat_call. */
struct pass {
    struct graph *g;
    struct positional *positional;
    peat_dims dims;
    peat_phase phase;
    int64_t B, step;
    int64_t trained_step; /* the last step that changed the weights; in training `step` */
    uint64_t seed;
    struct arena *model_arena; /* memory of tables that are kept over steps */
    struct span span;
    struct grid grid;      /* for schemes that understand several axes */
    struct stored *stored; /* rows of earlier passes: nn/stored.h; NULL: this pass computes all
                            * rows */
    const char *prefix;    /* of an observer's names: "", "encoder.", "cross." */
    const char *drops;     /* key of the draws of its dropout: "dropout", or that of an encoder */
    struct own_positions own[POSITIONAL_MAX];
    peat_node *shared[POSITIONAL_MAX][PEAT_MAX_SHARED];
    /* nodes from prepare for hooks on pairs, if span_grows */
    peat_node *shared_pairs[POSITIONAL_MAX][PEAT_MAX_SHARED];
    /* Weights [B,H,T,T] of the present layer on the scheme's heads, for carry; NULL: not needed. */
    peat_node *weights[POSITIONAL_MAX];
    /* Streams that enter elsewhere than at the input, for the rows and for the front. */
    peat_node *stream[POSITIONAL_MAX], *front_stream[POSITIONAL_MAX];
    /* Merges scheme `index`'s stream into x: model/input.c, the only caller of merge. */
    peat_node *(*merge)(struct pass *pass, int index, peat_node *x);
    struct bias_terms cache[POSITIONAL_MAX]; /* terms of schemes that return the same in every
                                              * layer */
    /* For bias_rel, made at its first call: on one axis of places, and in the grid. */
    struct differences *differences[2];
    const struct attention_mask *mask;
    peat_node *mask_node; /* made for the first hook that needs the mask */
    bool composed;        /* the attention of some group was composed */
    bool collect;         /* keep probes, for inspection */
    int n_probe, probe_room;
    struct probe *probe;
    const struct observer *observer; /* may be NULL */
    peat_node *classes; /* [B, classes], from a model with head: both, which has them beside the
                         * logits; otherwise NULL */
};

struct attention_weights;

/* The engine's side of a call. */
struct call {
    peat_call base; /* the part that the hook sees */
    struct pass *pass;
    struct part *part;
    peat_side own, own_keys; /* queries and keys, with only the arrays that the plugin declares */
    int index;               /* number of the scheme; -1: the combination */
    const struct attention_weights *attention; /* for project; NULL outside attention */
    int64_t head_begin;
};

/* x, or the node that the pass's observer puts in its place. */
peat_node *pass_seen(struct pass *pass, const char *place, int64_t layer, peat_node *x);
/* Begins a hook: the trail and the graph's errors then name it, as "rotary.qkv". */
void hook_begin(const struct call *c, enum hook_id hook);
/* Fails the graph unless the hook returned a node of this shape; dims with a bit in `either` may be
 * 1 as well. Returns node. */
peat_node *hook_shape(struct pass *pass, peat_node *node, int rank, const int64_t *dim,
                      uint32_t either);
/* hook_shape, and ends the hook. */
peat_node *hook_end(struct pass *pass, peat_node *node, int rank, const int64_t *dim,
                    uint32_t either);
/* Ends a hook that returned a status; false when it failed. */
bool hook_status(struct pass *pass, peat_status status);

/* Fills a call of a hook on rows of scheme `index`, or of the combination when index is -1. A call
 * points into itself: it is never copied. */
void call_init(struct call *c, struct pass *pass, int index, int64_t layer);
/* For hooks that compute positions. Fails the graph if the scheme reads token ids and the batch has
 * none. */
bool call_has_tokens(const struct call *c);
/* Runs own_positions of scheme `index`, if it has the hook. Must run before the scheme's other
 * hooks. False: the graph failed. */
bool pass_own_positions(struct pass *pass, int index);
/* Whether the scheme acts in this pass, which is over one sequence or across two (where.across). */
bool pass_has(const struct pass *pass, const struct scheme_part *s);
/* Calls own_positions and prepare of the schemes that act. */
void pass_prepare(struct pass *pass);
/* Turns a call of a hook on rows into a call of a hook on pairs. */
void call_pairs(struct call *c);
/* Sets the queries and keys of a call, which may be the same side. */
void call_sides(struct call *c, const peat_side *q, const peat_side *k);
