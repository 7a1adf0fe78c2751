/* SPDX-License-Identifier: MIT */
/* op_unary.c: functions of one element, and dropout. */
#include "opkit.h"
#include "rows/unary_rows.h"

/* The argument of every node of this file. */
struct unary_arg {
    enum unary which;
    double p, q; /* numbers of affine and clamp */
};

/* y = f(x) */
static void unary_forward(peat_node *n)
{
    const struct unary_arg *u = n->arg;
    const struct unary_call call = {.p = u->p, .q = u->q};
    struct loop l;
    loop_init(&l, 2, (const struct tensor *const[]){&n->value, &n->src[0]->value});
    loop_run(team_of(n), &l, unary_rows_of(n->value.dtype)->of[u->which].forward, &call);
}

/* y = f(x): dx += dy f'(x); a value that is not read, and may be dropped, is replaced by dy */
static void unary_backward(peat_node *n)
{
    const struct unary_arg *u = n->arg;
    struct unary_call call = {.p = u->p, .q = u->q};
    struct tensor dx = node_grad_whole(n->src[0], &call.fresh);
    const struct tensor *x = n->op->unread & UNREAD_FIRST ? &n->grad : &n->src[0]->value;
    const struct tensor *y = n->op->unread & UNREAD_SELF ? &n->grad : &n->value;
    struct loop l;
    loop_init(&l, 4, (const struct tensor *const[]){&dx, &n->grad, x, y});
    loop_run(team_of(n), &l, unary_rows_of(n->value.dtype)->of[u->which].grad, &call);
}

static peat_node *unary(peat_graph *g, const struct op *op, peat_node *a, enum unary which,
                        double p, double q)
{
    const struct unary_arg arg = {which, p, q};
    return graph_op(graph_of(g), op, 1, &a, 0, &arg, sizeof(arg));
}

#define DEFINE_UNARY(name, unread)                                                                 \
    peat_node *op_##name(peat_graph *g, peat_node *a)                                              \
    {                                                                                              \
        static const struct op op = {#name,          infer_same, unary_forward,                    \
                                     unary_backward, NULL,       unread};                          \
        return unary(g, &op, a, UNARY_##name, 0.0, 0.0);                                           \
    }

DEFINE_UNARY(exp, UNREAD_FIRST)
DEFINE_UNARY(log, UNREAD_SELF)
DEFINE_UNARY(log1p, UNREAD_SELF)
DEFINE_UNARY(sqrt, UNREAD_FIRST)
DEFINE_UNARY(sin, UNREAD_SELF)
DEFINE_UNARY(cos, UNREAD_SELF)
DEFINE_UNARY(tanh, UNREAD_FIRST)
DEFINE_UNARY(sigmoid, UNREAD_FIRST)
DEFINE_UNARY(log_sigmoid, UNREAD_SELF)
DEFINE_UNARY(softplus, UNREAD_SELF)
DEFINE_UNARY(relu, UNREAD_SELF)
DEFINE_UNARY(gelu, UNREAD_SELF)
DEFINE_UNARY(gelu_tanh, UNREAD_SELF)
DEFINE_UNARY(abs, UNREAD_SELF)

peat_node *op_floor(peat_graph *g, peat_node *a)
{
    static const struct op op = {"floor", infer_same, unary_forward, .unread = UNREAD_ALL};
    return unary(g, &op, a, UNARY_floor, 0.0, 0.0);
}

peat_node *op_affine(peat_graph *g, peat_node *a, double scale, double shift)
{
    static const struct op op = {"affine",       infer_same, unary_forward,
                                 unary_backward, NULL,       UNREAD_ALL};
    return unary(g, &op, a, UNARY_affine, scale, shift);
}

peat_node *op_clamp(peat_graph *g, peat_node *a, double lo, double hi)
{
    static const struct op op = {"clamp",        infer_same, unary_forward,
                                 unary_backward, NULL,       UNREAD_SELF};
    if (!(lo <= hi))
        return graph_fail(graph_of(g), "clamp: the bounds %g and %g are not in order", lo, hi);
    return unary(g, &op, a, UNARY_clamp, lo, hi);
}

/* ---- dropout: the elements to keep are drawn again in backward ---- */

enum { DROPOUT_GRAIN = 4096 };

struct dropout_arg {
    double p;
    uint64_t stream;
};

struct dropout {
    const struct dropout_arg *arg;
    const void *from;
    void *to;
    bool f32, add; /* add: to += */
};

/* to = from / (1 - p) where kept, otherwise 0 */
static void dropout_range(void *ctx, int64_t begin, int64_t end)
{
    const struct dropout *d = ctx;
    const double p = d->arg->p, scale = 1.0 / (1.0 - p);
    for (int64_t i = begin; i < end; i++) {
        double factor = rng_uniform(d->arg->stream, (uint64_t)i) >= p ? scale : 0.0;
        if (d->f32) {
            float x = ((const float *)d->from)[i] * (float)factor, *y = (float *)d->to + i;
            *y = d->add ? *y + x : x;
        } else {
            double x = ((const double *)d->from)[i] * factor, *y = (double *)d->to + i;
            *y = d->add ? *y + x : x;
        }
    }
}

static void infer_dropout(peat_node *n)
{
    const struct dropout_arg *arg = n->arg;
    if (!(arg->p >= 0.0 && arg->p < 1.0))
        graph_fail(n->g, "probability %g is not in [0, 1)", arg->p);
    infer_same(n);
}

static void drop(const peat_node *n, const void *from, void *to, bool add)
{
    struct dropout d = {n->arg, from, to, n->value.dtype == PEAT_F32, add};
    parallel_ranges(n->g->team, tensor_count(&n->value), DROPOUT_GRAIN, dropout_range, &d);
}

static void forward_dropout(peat_node *n)
{
    drop(n, n->src[0]->value.data, n->value.data, false);
}

static void backward_dropout(peat_node *n)
{
    drop(n, n->grad.data, node_grad(n->src[0]).data, true);
}

static const struct op dropout_op = {"dropout", infer_dropout, forward_dropout, backward_dropout,
                                     .unread = UNREAD_ALL};

peat_node *op_dropout(peat_graph *g, peat_node *a, double p, uint64_t stream)
{
    if (p == 0.0)
        return a;
    peat_node *src[] = {op_contiguous(g, a)};
    struct dropout_arg arg = {p, stream};
    return graph_op(graph_of(g), &dropout_op, 1, src, 0, &arg, sizeof(arg));
}
