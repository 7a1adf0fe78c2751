/* SPDX-License-Identifier: MIT */
/*
 * attention_parts.h: the attention of one head group, and the order of its hooks.
 *
 *   attention_inputs.c   for each scheme in YAML order: its stream, if it enters here; hidden
 *                        projections to q, k and v; heads split into groups
 *   attention_terms.c    qkv of each scheme
 *   attention_paths.c    keys and values of stored rows are put before the new ones
 *   attention_terms.c    bias_rel, bias and score_add, summed over the schemes; the scale
 *   attention_paths.c    fused: one operation; or composed: logits of each scheme, softmax,
 *                        weights of each scheme; then context, last scheme first
 *
 * A context hook that reads the weights, and the hooks from logits to weights, need the composed
 * path. Hooks up to qkv see rows, later ones pairs (nn/pass.h).
 */
#pragma once

#include "nn/attention.h"

/* Heads [begin, end) on which the same schemes act. */
struct group {
    int64_t begin, end;
    uint32_t schemes; /* bit i: scheme i acts */
};

/* State that all groups of a layer share. */
struct attention_inputs {
    peat_node *x_q, *x_k; /* [B,T,D] inputs of the projections of queries and keys  */
    peat_node *all_x_k;   /* [B,Tk,D] with stored rows, if a scheme declares NEED_X */
    peat_qkv projected;   /* [B,H,T,C] */
};

/* State of the attention of one group. */
struct group_attention {
    struct pass *pass;
    const struct attention_weights *weights;
    const struct attention_options *options;
    int64_t layer;
    const struct attention_inputs *in;
    struct group group;
    int number;              /* number of the group in its layer           */
    peat_qkv projected;      /* [B,H,T,C] of the group's heads             */
    peat_qkv chain;          /* the same after the qkv hooks               */
    struct bias_terms terms; /* sums over the schemes                      */
};

static inline struct scheme_part *scheme_at(const struct pass *pass, int i)
{
    return &pass->positional->scheme[i];
}

/* a + b, where NULL means 0. */
static inline peat_node *plus(struct pass *pass, peat_node *a, peat_node *b)
{
    return !a ? b : !b ? a : op_add(&pass->g->base, a, b);
}

/* ---- attention_inputs.c ---- */

void inputs_make(struct pass *pass, const struct attention_weights *w, int64_t layer, peat_node *x,
                 peat_node *memory, struct attention_inputs *in);
/* The group that begins with head `begin`. */
struct group group_next(const struct pass *pass, int64_t layer, int64_t begin);
/* The group's heads of q, k and v. */
peat_qkv group_heads(struct pass *pass, const peat_qkv *all, const struct group *group);

/* ---- attention_terms.c ---- */

/* Whether scheme i acts on the group. */
static inline bool group_has(const struct group_attention *a, int i)
{
    return a->group.schemes >> i & 1;
}

/* True where scheme i has this hook and acts on the group; *c is then the hook's call. */
bool group_hook(const struct group_attention *a, int i, enum hook_id hook, struct call *c);
/* The projections as the hook sees them, in *room; NULL: the scheme does not declare them. */
const peat_qkv *seen_qkv(struct pass *pass, const peat_scheme *h, const peat_qkv *p,
                         peat_qkv *room);
/* Runs the qkv hooks on a->chain. */
void group_qkv(struct group_attention *a);
/* Computes a->terms. */
void group_terms(struct group_attention *a);
/* a->terms.bias plus a->terms.rel; NULL: the group has neither. */
peat_node *group_bias(struct group_attention *a);
double group_scale(struct group_attention *a);
