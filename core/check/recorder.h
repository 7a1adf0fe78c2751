/* SPDX-License-Identifier: MIT */
/*
 * recorder.h: hooks that replace a plugin's, call them and record the inputs and results of each
 * call.
 *
 * The nodes that a hook is given are replaced by leaves of the same value, so that each call has
 * gradients of its own.
 */
#pragma once

#include "base/base.h"
#include "checkrig.h"

enum { RECORDED_CALLS = 256, RECORDED_NODES = 8 + PEAT_MAX_SHARED };

struct recorder {
    peat_host host;       /* first: a hook finds its recorder by c->host */
    peat_scheme scheme;   /* replaces the subject's hooks, if it is a scheme */
    peat_combine combine; /* the same for a combine */
    const struct checked *subject;
    double stride;       /* all positions are multiplied by it; 0: they stay */
    struct arena *arena; /* for what is recorded */
    struct value *calls; /* a list, one map for each call of a hook */
    struct json call;    /* the one that is running */
    struct recorded_call *made;
    int n_made;
    peat_node *state[PEAT_MAX_SHARED]; /* leaves that replace the nodes of c->shared, with carry */
    const char *text;                  /* set by recorder_end; NULL: not ended, or no calls */
};

/* The result of a call, a sum over which is a part of the loss, and the inputs that have
 * gradients. */
struct recorded_call {
    struct json map;
    const bool *seen;  /* of n_pair: the pairs whose result is used; NULL: all results are */
    int64_t n_pair[3]; /* B, Tq, Tk */
    int n_in, n_out;
    const char *name[RECORDED_NODES];
    peat_node *in[RECORDED_NODES], *out[RECORDED_NODES];
};

void recorder_init(struct recorder *r, const struct checked *s, double stride, struct arena *a);
/* Ends the recording of a pass of the rig; the rig is still open, and g is the graph of the pass.
 * Adds up loss = sum of w out over all results of all calls, whose weights w, 0 where nothing uses
 * a result, it puts into each call's map, and adds the gradients to the JSON of the calls; then all
 * tensors of the plugin with their gradients. */
void recorder_end(struct recorder *r, struct rig *rig, struct graph *g);
