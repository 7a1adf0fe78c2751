/* SPDX-License-Identifier: MIT */
/*
 * recompute.h: values that are dropped in the forward pass and computed again in the backward pass.
 *
 * Each operation of attention on pairs makes a value [B,H,T,T]. Where graph->reuse is set, such a
 * stretch of the tape gives back at its end the values that no backward reads. Stretches that are
 * not dropped may have graph->keep bytes together. When a new one exceeds the limit, the oldest
 * stretches are dropped, and graph_backward runs their operations forward once more when it reaches
 * them. These are the same operations on the same operands, so no bit changes.
 */
#pragma once

#include "autograd/graph.h"

enum {
    RECOMPUTE_BYTES = 64 << 20, /* initial `keep` of a graph                             */
    RECOMPUTE_POOLED = 1 << 18, /* values of this many bytes or more use memory of the pool */
};

/* Begins a stretch, expected to be as large as the one before it; returns its first node's place
 * for recompute_end. */
int recompute_begin(struct graph *g);
/* Ends the stretch. Only its own operations may read its values, except spared[n], which are not
 * dropped; entries may be NULL. All values are kept at least until the next stretch begins. */
void recompute_end(struct graph *g, int begin, int n, peat_node *const *spared);
/* Call before the backward of node id: if it is the last of a dropped stretch, computes its values
 * again. False: the graph has failed, because memory ran out or in an operation. */
bool recompute_replay(struct graph *g, int64_t id);
/* Sets `read` of the nodes [begin, end) and of the nodes whose values their backward reads. */
void recompute_mark(struct graph *g, int begin, int end);
/* Call before an operation reads n: computes n's value again if it was dropped, and keeps n from
 * now on if its stretch has ended, for example because a plugin keeps a node of one layer for the
 * next. False: as for recompute_replay. */
bool recompute_hold(struct graph *g, peat_node *n);
