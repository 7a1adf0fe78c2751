/* SPDX-License-Identifier: MIT */
/* divergence.c: detecting that a run diverged, and the first node that did. */
#include "train/divergence.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { PATIENCE = 50 }; /* steps */
#define MARGIN_NATS 2.0

static void describe_node(const peat_node *n, char *text, size_t room)
{
    const char *kind = n->op ? n->op->name : "tensor";
    const char *name = n->name ? n->name : kind;
    if (n->hook)
        snprintf(text, room, ", first in '%s' (%s)", name, n->hook);
    else
        snprintf(text, room, ", first in '%s'", name);
}

static bool all_finite(const struct tensor *t)
{
    int64_t n = tensor_count(t);
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(tensor_get(t, i)))
            return false;
    return true;
}

/* The backward pass runs from the end of the tape: the node nearest to the end came first. */
static const peat_node *first_bad_gradient(const struct graph *g)
{
    for (int64_t i = g->n_node - 1; i >= 0; i--) {
        const peat_node *n = g->node[i];
        if (n->grad.data && !all_finite(&n->grad))
            return n;
    }
    return NULL;
}

bool divergence_check(struct trainer *t, struct graph *g, int64_t step, double loss,
                      double grad_norm)
{
    bool bad_loss = !isfinite(loss);
    if (!bad_loss && isfinite(grad_norm))
        return false;
    char place[128] = "";
    const peat_node *n = bad_loss ? graph_first_nonfinite(g, false) : first_bad_gradient(g);
    if (n)
        describe_node(n, place, sizeof(place));
    t->diverged.step = step;
    snprintf(t->diverged.what, sizeof(t->diverged.what), "%s is not finite at step %" PRId64 "%s",
             bad_loss ? "loss" : "gradient", step, place);
    return true;
}

bool divergence_watch(struct trainer *t, int64_t step, double loss)
{
    if (step == 1)
        t->first_loss = loss;
    t->above = loss > t->first_loss + MARGIN_NATS ? t->above + 1 : 0;
    if (t->above < PATIENCE)
        return false;
    t->diverged.step = step;
    snprintf(t->diverged.what, sizeof(t->diverged.what),
             "loss stayed more than %g nats above the first for %d steps, until step %" PRId64,
             MARGIN_NATS, PATIENCE, step);
    return true;
}
