/* SPDX-License-Identifier: MIT */
/* node.c: what every operation asks of a graph and a node: the first error, a view's root. */
#include "autograd/graph.h"

/* ---- the first error, which ends every later operation ---- */

bool graph_failed(const struct graph *g)
{
    return g->err.status != PEAT_OK;
}

/* Later errors do not replace the first one. */
static peat_node *keep_error(struct graph *g, peat_status status, const char *text)
{
    if (graph_failed(g))
        return NULL;
    error_set(&g->err, status, "%s", text);
    if (g->hook)
        error_prefix(&g->err, "%s", g->hook);
    return NULL;
}

peat_node *graph_fail(struct graph *g, const char *fmt, ...)
{
    char text[sizeof(g->err.text)];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    return keep_error(g, PEAT_INVALID, text);
}

void graph_fail_missing(struct graph *g, const char *op, int operand)
{
    bool hint = g->missing && *g->missing;
    graph_fail(g, "%s: operand %d is missing%s%s", op, operand,
               hint ? "; if it came with the call, declare " : "", hint ? g->missing : "");
}

peat_node *graph_no_memory(struct graph *g, const char *what, size_t bytes)
{
    char text[256];
    if (bytes > 0)
        snprintf(text, sizeof(text), "%s: out of memory for %zu bytes", what, bytes);
    else
        snprintf(text, sizeof(text), "%s: out of memory", what);
    return keep_error(g, PEAT_NOMEM, text);
}

/* ---- nodes ---- */

peat_node *node_root(const peat_node *n)
{
    return n->view_of ? n->view_of : (peat_node *)n;
}

int64_t node_dim(const peat_node *n, int axis)
{
    return n ? n->value.dim[axis] : 0;
}
