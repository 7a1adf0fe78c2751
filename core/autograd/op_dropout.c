/* SPDX-License-Identifier: MIT */
/* op_dropout.c: inverted dropout; what was kept is drawn again in the backward pass. */
#include "autograd/ops.h"
#include "base/rng.h"
#include "opkit.h"

enum { DROPOUT_GRAIN = 4096 };

struct dropout_arg {
    double p;
    uint64_t stream;
};

struct dropout {
    struct dropout_arg arg;
    const void *from;
    void *to;
    bool f32;
    bool add; /* backward: to += ..., forward: to = ... */
};

/* to = from / (1 - p) where kept, else 0 */
static void dropout_range(void *ctx, int64_t begin, int64_t end)
{
    const struct dropout *d = ctx;
    const double scale = 1.0 / (1.0 - d->arg.p);
    for (int64_t i = begin; i < end; i++) {
        double factor = rng_uniform(d->arg.stream, (uint64_t)i) >= d->arg.p ? scale : 0.0;
        if (d->f32) {
            float x = ((const float *)d->from)[i] * (float)factor, *y = (float *)d->to + i;
            *y = d->add ? *y + x : x;
        } else {
            double x = ((const double *)d->from)[i] * factor, *y = (double *)d->to + i;
            *y = d->add ? *y + x : x;
        }
    }
}

static void dropout_infer(peat_node *n)
{
    const struct dropout_arg *arg = n->arg;
    if (!(arg->p >= 0.0 && arg->p < 1.0))
        graph_fail(n->g, "probability %g is not in [0, 1)", arg->p);
    infer_same(n);
}

/* to = from / (1 - p) where kept, or to += */
static void dropout_run(peat_node *n, const void *from, void *to, bool add)
{
    const struct dropout_arg *arg = n->arg;
    struct dropout d = {*arg, from, to, n->value.dtype == PEAT_F32, add};
    parallel_ranges(n->g->team, tensor_count(&n->value), DROPOUT_GRAIN, dropout_range, &d);
}

static void dropout_forward(peat_node *n)
{
    dropout_run(n, n->src[0]->value.data, n->value.data, false);
}

static void dropout_backward(peat_node *n)
{
    if (wants_grad(n, 0))
        dropout_run(n, n->grad.data, node_grad(n->src[0]).data, true);
}

static const struct op dropout_op = {"dropout", dropout_infer, dropout_forward, dropout_backward,
                                     .unread = UNREAD_ALL};

peat_node *op_dropout(peat_graph *g, peat_node *a, double p, uint64_t stream)
{
    if (p == 0.0)
        return a;
    peat_node *src[] = {op_contiguous(g, a)};
    struct dropout_arg arg = {p, stream};
    return graph_op(graph_of(g), &dropout_op, 1, src, 0, &arg, sizeof(arg));
}
