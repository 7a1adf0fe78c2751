/* SPDX-License-Identifier: MIT */
/* trace.h: one forward pass that stays alive, so that its nodes can be read. */
#pragma once

#include "diagnose/subject.h"

struct trace_options {
    unsigned silent;     /* streams of these kinds are zero: 1 << enum stream_kind    */
    bool attention;      /* compute logits and weights of every head, and the mask    */
    bool probes;         /* keep nodes that plugins name for inspection in `pass`     */
    bool input_alone;    /* stop after the first block, with logits only for the last places */
    const double *minus; /* [B*T*D], subtracted from the merged input; NULL: nothing is
                          * subtracted */
};

struct trace {
    struct subject *subject;
    struct trace_options options;
    struct graph g;
    struct model_input in;
    struct attention_mask mask;
    struct pass pass; /* attention_forward may be called with it until trace_end */
    struct observer observer;
    struct arena_mark mark;
    peat_node *input;                    /* [B,T,D], the merged input                     */
    peat_node *position[POSITIONAL_MAX]; /* [1|B,T,d], the streams before merging; NULL: no
                                          * stream */
    peat_node **residual;                /* [L+1]: the input of block l, and that of the last
                                          * norm */
    int n_seen;
    struct attention_seen *seen; /* one for each head group, in layer order; only `attention` */
    peat_node *keys;             /* [1|B,1,T,T]: 1 where the query sees the key; only `attention` */
    peat_node *logits;           /* [B*T, V]                                      */
};

/* Runs the batch; false when the subject has failed. Call trace_end in both cases: it rewinds the
 * scratch arena. */
bool trace_run(struct trace *t, struct subject *s, const peat_batch *b,
               const struct trace_options *o);
void trace_end(struct trace *t);

/* Runs the batch, with `minus` as above, and adds its losses to *nll and the number of its targets
 * to *targets. */
void trace_loss(struct subject *s, const peat_batch *b, const double *minus, double *nll,
                int64_t *targets);
/* A node's elements, row-major, from the arena. */
double *node_copy(const peat_node *n, struct arena *a);
/* The same, broadcast to dim. */
double *node_spread(const peat_node *n, int rank, const int64_t *dim, struct arena *a);
/* Subtracts from row i of x [T,T] the mean over keys that query i sees by mask [T,T]; others 0. */
void centre_seen(double *x, const double *mask, int64_t T);
