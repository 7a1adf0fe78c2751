/* SPDX-License-Identifier: MIT */
/*
 * stretch.h: values that are dropped on the way forward and made again on the way back.
 *
 * Each operation of attention on pairs makes a value [B,H,T,T]. Where graph->reuse is set, such a
 * stretch of the tape gives back at its end the values that no backward reads. All stretches may
 * keep graph->keep bytes; when another one would be too much, the oldest give their memory to it,
 * and graph_backward runs their operations forward once more when it comes there. They are the same
 * operations on the same operands: no bit changes.
 */
#pragma once

#include "autograd/graph.h"

enum {
    STRETCH_BYTES = 64 << 20, /* kept, of a new graph                                  */
    STRETCH_POOLED = 1 << 18, /* values from here on take memory that others gave back */
};

/* A stretch begins, as large as the one before it; returns its first node's place for
 * stretch_end. */
int stretch_begin(struct graph *g);
/* Only its own operations read its values, except spared[n], which are not dropped; entries may be
 * NULL. All values are kept at least until the next stretch begins. */
void stretch_end(struct graph *g, int begin, int n, peat_node *const *spared);
/* Before the backward of node id: if it is the last of a dropped stretch, its values are made
 * again. False: the graph has failed, because memory ran out or in an operation. */
bool stretch_replay(struct graph *g, int64_t id);
/* Sets `read` of the nodes [begin, end) and of what they read. */
void stretch_mark(struct graph *g, int begin, int end);
/* Before an operation reads n: makes n's value again if it was dropped, and keeps n from now on if
 * its stretch has ended, as when a plugin keeps a node of one layer for the next. False as above.
 */
bool stretch_hold(struct graph *g, peat_node *n);
