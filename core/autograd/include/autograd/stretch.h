/* SPDX-License-Identifier: MIT */
/*
 * stretch.h: values that are dropped on the way forward and made again on the way back.
 *
 * What attention makes of pairs takes [B,H,T,T] for every operation. Where graph->reuse is set,
 * such a stretch of the tape gives back at its end what no backward reads. All stretches may keep
 * graph->keep bytes; when another one would be too much, the oldest give their memory to it, and
 * graph_backward runs their operations forward once more when it comes there. They are the same
 * operations on the same operands: no bit changes.
 */
#ifndef AUTOGRAD_STRETCH_H
#define AUTOGRAD_STRETCH_H

#include "autograd/graph.h"

enum {
    STRETCH_BYTES = 64 << 20, /* kept, of a new graph                                  */
    STRETCH_POOLED = 1 << 18, /* values from here on take memory that others gave back */
};

/* A stretch begins, as large as the one before it; returns its first node's place for
 * stretch_end. */
int stretch_begin(struct graph *g);
/* Its values are meant for its own operations, but for those of spared[n], which may be NULL and
 * are not dropped. All are kept at least until the next stretch begins. */
void stretch_end(struct graph *g, int begin, int n, peat_node *const *spared);
/* Before the backward of node id: if it is the last of a dropped stretch, its values are made
 * again. False: the graph has failed, by want of memory or in an operation. */
bool stretch_replay(struct graph *g, int64_t id);
/* Sets `read` of the nodes [begin, end) and of what they read. */
void stretch_mark(struct graph *g, int begin, int end);
/* Before an operation reads n: what was dropped is made again, and n is not dropped any more where
 * it is of a stretch that has ended. A plugin may keep a node of one layer for the next. False as
 * above. */
bool stretch_hold(struct graph *g, peat_node *n);

#endif
