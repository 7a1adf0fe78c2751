/* SPDX-License-Identifier: MIT */
/*
 * recorder.h: hooks that stand in the place of a plugin's and write down each call: its inputs and
 * its results.
 *
 * The nodes that a hook is given are replaced by leaves of the same value, so the gradient of each
 * call can be told from those of all others.
 */
#pragma once

#include "base/base.h"
#include "checkrig.h"

enum { RECORDED_CALLS = 256, RECORDED_NODES = 8 + PEAT_MAX_SHARED };

struct recorder {
    peat_host host;       /* first: a hook finds its recorder by c->host */
    peat_scheme scheme;   /* hooks to be run in the place of the subject's, if it is one */
    peat_combine combine; /* the same                                                   */
    const struct checked *subject;
    struct arena *arena; /* for what is recorded */
    struct value *calls; /* a list, one map for each call of a hook */
    struct json call;    /* the one that is running */
    struct recorded_call *made;
    int n_made;
    peat_node *state[PEAT_MAX_SHARED]; /* leaves in the place of c->shared, with carry */
    const char *text;                  /* of recorder_end; NULL: not yet, or there were no calls */
};

/* The result of a call, a sum over which is a part of the loss, and the inputs that have
 * gradients. */
struct recorded_call {
    struct json map;
    int n_in, n_out;
    const char *name[RECORDED_NODES];
    peat_node *in[RECORDED_NODES], *out[RECORDED_NODES];
};

void recorder_init(struct recorder *r, const struct checked *s, struct arena *a);
/* Ends the recording of a pass of the rig; the rig is still open, and g is the graph of the pass.
 * Adds up loss = sum of w out over all results of all calls, whose weights w it puts into each
 * call's map, and adds the gradients to the JSON of the calls; then all tensors of the plugin with
 * their gradients. */
void recorder_end(struct recorder *r, struct rig *rig, struct graph *g);
