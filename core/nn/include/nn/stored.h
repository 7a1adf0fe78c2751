/* SPDX-License-Identifier: MIT */
/*
 * stored.h: what was made of earlier rows, for passes that make the newest rows alone.
 *
 * A causal model's keys, values and layer inputs at a place never change when tokens come behind
 * it. A pass with `stored` works on rows [first, first + side.T) of a sequence, whose keys are all
 * rows so far: `side` holds the new rows, `keys` all. Hooks that make rows (prepare, encode,
 * residual, hidden, qkv) see new rows as queries and as keys; hooks on pairs (prepare once more,
 * bias, bias_rel, score_add, logits, weights, context) see new rows as queries and all as keys.
 * Schemes and combinations that can work so say PEAT_STORABLE. Across two sequences there is
 * nothing that grows: hooks see new rows as queries and all of the source as keys, as ever, and
 * what the source was projected to is kept.
 */
#ifndef NN_STORED_H
#define NN_STORED_H

#include "nn/pass.h"

enum { STORED_GROUPS = 2 * POSITIONAL_MAX + 1 };

/* Of one head group: keys and values as the qkv hooks left them, and as projected. */
struct stored_group {
    struct tensor k, v, projected_k, projected_v; /* [B,H,room,C] */
};

struct stored_layer {
    struct stored_group group[STORED_GROUPS];
    struct tensor x_k;                       /* [B,room,D], for PEAT_NEED_X               */
    struct tensor mixed;                     /* [B,room,D] of another mixer: nn/mixer.c   */
    struct tensor residual[POSITIONAL_MAX];  /* [B,room,D], of schemes that reach back    */
    struct tensor hidden[POSITIONAL_MAX][3]; /* likewise, of queries, keys and values     */
    struct tensor
        across[2]; /* [B,S,D] a source's keys and values as projected, heads side by side */
};

struct stored {
    struct arena *arena; /* holds the tensors; outlives the graphs of all passes */
    int64_t B, room;     /* rows there will be in all                              */
    int64_t done;        /* rows made                                              */
    peat_side whole;     /* of all `room` rows                                     */
    struct stored_layer *layer;
    peat_side source;     /* of a model of two sequences: what its encoder read, */
    struct tensor memory; /* [B,S,D] and what that made of it                     */
};

/* Why a scheme's rows cannot be stored; NULL: they can. A combination alike. */
const char *scheme_not_storable(const peat_scheme *s);
const char *combine_not_storable(const peat_combine *c);
/* Of all schemes and the combination that have a say; *id is the plugin's. */
const char *positional_not_storable(const struct positional *p, const char **id);

/* Rows [begin, end) of a side, dense; false: no memory. */
bool side_cut(struct arena *a, const peat_side *whole, int64_t B, int64_t begin, int64_t end,
              peat_side *part);

/* With a pass that stores nothing these return `rows`. Otherwise the new rows along `axis` are
 * kept in *kept, whose memory is made at the first call. */
/* All rows so far. */
peat_node *stored_all(struct pass *pass, struct tensor *kept, peat_node *rows, int axis);
/* The new rows and up to `reach` before them. */
peat_node *stored_reach(struct pass *pass, struct tensor *kept, peat_node *rows, int64_t reach);
/* A call of a hook that makes rows from those of stored_reach: its sides begin so many earlier. */
void stored_reach_call(struct call *c, struct pass *pass, int64_t reach);
/* The last rows of what such a hook made. */
peat_node *stored_newest(struct pass *pass, peat_node *rows);

#endif
