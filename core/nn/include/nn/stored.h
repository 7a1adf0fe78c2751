/* SPDX-License-Identifier: MIT */
/*
 * stored.h: rows that a pass does not compute by hooks: the rows of earlier passes, where a pass
 * computes only the newest rows, and the front.
 *
 * The keys, values and layer inputs of a causal model never change when tokens are added after
 * them. So a pass can compute only the newest rows of a sequence and attend to all rows so far
 * (struct span in nn/pass.h). Hooks on rows (prepare, encode, residual, hidden, qkv) see the new
 * rows as queries and as keys; hooks on pairs (prepare once more, bias, bias_rel, score_add,
 * logits, weights, context) see the new rows as queries and all rows as keys. Schemes and
 * combinations that support this declare PEAT_STORABLE. A source does not grow: hooks see all of it
 * as keys in every pass, and its projections are computed once.
 */
#pragma once

#include "nn/pass.h"

enum { STORED_GROUPS = 2 * POSITIONAL_MAX + 1 };

/* The keys and values of one head group after the qkv hooks, and as projected. */
struct stored_group {
    struct tensor k, v, projected_k, projected_v; /* [B,H,room,C] */
};

struct stored_layer {
    struct stored_group group[STORED_GROUPS];
    struct tensor x_k;                       /* [B,room,D], for PEAT_NEED_X               */
    struct tensor mixed;                     /* [B,room,D], rows that another mixer keeps:
                                              * nn/mixer.c */
    struct tensor residual[POSITIONAL_MAX];  /* [B,room,D], inputs of schemes whose residual hook
                                              * reads earlier rows */
    struct tensor hidden[POSITIONAL_MAX][3]; /* the same for hidden hooks, of queries, keys and
                                              * values */
    struct tensor across[2]; /* [B,S,D] projections of a source: its keys, its values     */
};

struct stored {
    struct arena *arena; /* holds the tensors; outlives the graphs of all passes */
    int64_t B, room;     /* total number of rows                                   */
    int64_t done;        /* number of rows that earlier passes computed            */
    peat_side whole;     /* all `room` rows                                        */
    struct stored_layer *layer;
    peat_side source;     /* model of two sequences: the input of its encoder */
    struct tensor memory; /* [B,S,D], the output of its encoder                */
};

/* Why the rows of a plugin cannot be stored; NULL: they can. */
const char *scheme_not_storable(const peat_scheme *s);
const char *combine_not_storable(const peat_combine *c);
/* The first reason among all plugins of p; *id is the plugin's. */
const char *positional_not_storable(const struct positional *p, const char **id);

/* Sets `part` to rows [begin, end) of a side, in dense arrays of the arena; false: out of
 * memory. */
bool side_cut(struct arena *a, const peat_side *whole, int64_t B, int64_t begin, int64_t end,
              peat_side *part);

/* These return `rows` unless the keys of the pass grow (span_grows). Then stored_all and
 * stored_reach append the new rows to *kept, whose memory is allocated at the first call. */
/* All rows so far, along `axis`. */
peat_node *stored_all(struct pass *pass, struct tensor *kept, peat_node *rows, int axis);
/* The new rows and up to `reach` rows before them. */
peat_node *stored_reach(struct pass *pass, struct tensor *kept, peat_node *rows, int64_t reach);
/* Sets the sides of a call to the rows of stored_reach. */
void stored_reach_call(struct call *c, struct pass *pass, int64_t reach);
/* The last of `rows`, which this pass computes, without the earlier rows before them. */
peat_node *stored_newest(struct pass *pass, peat_node *rows);

/* The front of a span (nn/pass.h), a class token without a position, is cut off before hooks and
 * put back after them. Where a span has no front, each function returns its operand. */
/* x without its front along one axis. */
peat_node *front_cut(struct pass *pass, peat_node *x, int32_t axis);
/* The front of `whole` along one axis, then `rest`. */
peat_node *front_join(struct pass *pass, peat_node *whole, peat_node *rest, int32_t axis);
/* x [.., Tq, Tk] without the rows and columns of the front. */
peat_node *front_cut_pairs(struct pass *pass, peat_node *x);
/* `whole` [.., Tq, Tk] with `rest` in place of the part that front_cut_pairs returns. */
peat_node *front_join_pairs(struct pass *pass, peat_node *whole, peat_node *rest);
/* Extends a term of the logits to [1|B, 1|H, 1|T, 1|T] with 0 at the rows and columns of the front;
 * NULL stays NULL. */
peat_node *front_pad_pairs(struct pass *pass, peat_node *term);
