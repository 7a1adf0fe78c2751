/* SPDX-License-Identifier: MIT */
/* recompute.c: chooses the stretches to drop and runs them again. */
#include "autograd/recompute.h"

/* Whether n has a value of its own to drop: constants and leaves borrow theirs, views use their
 * root's. */
static bool may_go(const peat_node *n)
{
    return n->op && !n->view_of && !n->stays && (n->value.data || n->g->shape_only);
}

static size_t size_of(const struct graph *g, int begin, int end)
{
    size_t bytes = 0;
    for (int i = begin; i < end; i++)
        if (may_go(g->node[i]))
            bytes += tensor_bytes(&g->node[i]->value);
    return bytes;
}

/* Gives back the value's memory. A plan only counts the bytes, each value once. */
static void drop_value(peat_node *n)
{
    if (n->g->shape_only) {
        n->g->given_back += (int64_t)tensor_bytes(&n->value);
        n->stays = true;
        return;
    }
    pool_give(&n->g->pool, n->value.data, tensor_bytes(&n->value));
    n->value.data = NULL;
}

static void drop(struct graph *g, struct recomputed *s)
{
    for (int i = s->begin; i < s->end; i++)
        if (may_go(g->node[i]))
            drop_value(g->node[i]);
    s->dropped = true;
}

/* ---- values that no backward reads ---- */

void recompute_mark(struct graph *g, int begin, int end)
{
    for (int i = begin; i < end; i++) {
        const struct op *op = g->node[i]->op;
        g->node[i]->read = op && !(op->unread & UNREAD_SELF);
    }
    for (int i = begin; i < end; i++) {
        const peat_node *n = g->node[i];
        for (int k = 0; k < n->n_src; k++)
            if (n->src[k] && !(n->op->unread >> (k < 30 ? k : 29) & 1))
                node_root(n->src[k])->read = true;
    }
}

/* Small values are kept: their memory would fill the pool with blocks that are too small to use. */
static void drop_unread(struct graph *g, int begin, int end)
{
    for (int i = begin; i < end; i++)
        if (may_go(g->node[i]) && !g->node[i]->read &&
            tensor_bytes(&g->node[i]->value) >= RECOMPUTE_POOLED)
            drop_value(g->node[i]);
}

/* ---- forward ---- */

static bool is_on(const struct graph *g)
{
    return g->err.status == PEAT_OK && g->reuse && !g->no_grad;
}

/* Drops the oldest first, because backward needs them last. */
int recompute_begin(struct graph *g)
{
    size_t bytes = is_on(g) && g->n_recomputed > 0 ? g->recomputed[g->n_recomputed - 1].bytes : 0;
    for (int i = 0; i < g->n_recomputed; i++)
        bytes += g->recomputed[i].dropped ? 0 : g->recomputed[i].bytes;
    for (int i = 0; i < g->n_recomputed && is_on(g) && bytes > g->keep; i++)
        if (!g->recomputed[i].dropped) {
            drop(g, &g->recomputed[i]);
            bytes -= g->recomputed[i].bytes;
        }
    return g->n_node;
}

void recompute_end(struct graph *g, int begin, int n, peat_node *const *spared)
{
    if (!is_on(g))
        return;
    for (int i = 0; i < n; i++)
        if (spared[i])
            node_root(spared[i])->stays = true;
    recompute_mark(g, begin, g->n_node);
    drop_unread(g, begin, g->n_node);
    *ARENA_APPEND(g->arena, g->recomputed, g->n_recomputed, g->recomputed_room) =
        (struct recomputed){begin, g->n_node, size_of(g, begin, g->n_node), false};
}

/* ---- again ---- */

/* The stretch of node id, or NULL; most calls are for the newest. */
static struct recomputed *with(struct graph *g, int64_t id)
{
    for (int i = g->n_recomputed - 1; i >= 0; i--)
        if (g->recomputed[i].begin <= id && id < g->recomputed[i].end)
            return &g->recomputed[i];
    return NULL;
}

/* Updates a view after the memory of its root has changed. */
static void look_again(peat_node *n)
{
    char *root = n->view_of->value.data;
    n->value.data = root ? root + n->view_offset * (int64_t)dtype_bytes(n->value.dtype) : NULL;
}

static bool make_again(peat_node *n)
{
    struct graph *g = n->g;
    if (n->view_of)
        look_again(n);
    if (!n->op || n->view_of || n->value.data)
        return true;
    const size_t bytes = tensor_bytes(&n->value);
    n->value.data = pool_take(&g->pool, g->arena, bytes);
    if (!n->value.data) {
        graph_no_memory(g, n->op->name, bytes);
        return false;
    }
    n->op->forward(n);
    return g->err.status == PEAT_OK;
}

/* Computes again also values that no backward reads, because others are computed from them. */
static bool replay(struct graph *g, struct recomputed *s)
{
    s->dropped = false;
    for (int i = s->begin; i < s->end; i++)
        if (!make_again(g->node[i]))
            return false;
    drop_unread(g, s->begin, s->end);
    return true;
}

bool recompute_replay(struct graph *g, int64_t id)
{
    struct recomputed *s = with(g, id);
    return !s || s->end != id + 1 || !s->dropped || replay(g, s);
}

bool recompute_hold(struct graph *g, peat_node *n)
{
    peat_node *root = node_root(n);
    struct recomputed *s = with(g, root->id);
    if (!s || !root->op)
        return true;
    root->stays = true;
    return root->value.data || g->shape_only || replay(g, s);
}
