/* SPDX-License-Identifier: MIT */
/* op_recurrence.c: a gated linear recurrence over the places of each row. */

#include "opkit.h"
#include "rows/recurrence_rows.h"

struct recurrence_arg {
    int64_t from_left; /* channels that read from the left; the others read from the right */
    struct attention_mask mask;
};

static void recurrence_infer(peat_node *n)
{
    const struct tensor *x = &n->src[0]->value, *f = &n->src[1]->value;
    const struct recurrence_arg *arg = n->arg;
    if (x->rank == 3 && tensor_same_shape(x, f) && arg->from_left >= 0 &&
        arg->from_left <= x->dim[2])
        infer_same(n);
    else
        graph_fail(n->g, "states %s, gates %s and %lld channels from the left do not fit",
                   shape_text(n, x), shape_text(n, f), (long long)arg->from_left);
}

/* A place continues from the last one before it that is not padding, within its document. */
static void find_steps(const struct recurrence_arg *arg, int64_t B, int64_t T, uint8_t *step)
{
    const struct attention_mask *m = &arg->mask;
    for (int64_t i = 0; i < 2 * B; i++) {
        int64_t row = i % B, last = -1;
        for (int64_t s = 0; s < T; s++) {
            int64_t t = row * T + (i < B ? s : T - 1 - s);
            uint8_t *now = step + i / B * B * T + t;
            bool goes_on = last >= 0 && (!m->doc_k || m->doc_k[t] == m->doc_k[last]);
            bool pad = m->pad_k && m->pad_k[t];
            *now = pad ? STEP_OVER : goes_on ? STEP_NEXT : STEP_FIRST;
            last = pad ? last : t;
        }
    }
}

static int64_t blocks_of(int64_t channels)
{
    return (channels + COLUMNS - 1) / COLUMNS;
}

static struct recurrence recurrence_of(const peat_node *n)
{
    const struct recurrence_arg *arg = n->arg;
    const struct tensor *x = &n->src[0]->value;
    struct recurrence r = {.B = x->dim[0], .T = x->dim[1], .D = x->dim[2], .step = n->saved};
    r.from_left = arg->from_left;
    r.left_blocks = blocks_of(arg->from_left);
    r.blocks = r.left_blocks + blocks_of(r.D - arg->from_left);
    r.x = x->data;
    r.f = n->src[1]->value.data;
    r.h = n->value.data;
    return r;
}

static void recurrence_forward(peat_node *n)
{
    const struct tensor *x = &n->src[0]->value;
    n->saved = graph_scratch(n->g, (size_t)(2 * x->dim[0] * x->dim[1]));
    if (!n->saved)
        return;
    find_steps(n->arg, x->dim[0], x->dim[1], n->saved);
    struct recurrence r = recurrence_of(n);
    parallel_for(team_of(n), r.B * r.blocks, recurrence_rows_of(x->dtype)->read, &r);
}

static void recurrence_backward(peat_node *n)
{
    struct recurrence r = recurrence_of(n);
    r.dy = n->grad.data;
    r.dx = wants_grad(n, 0) ? node_grad(n->src[0]).data : NULL;
    r.df = wants_grad(n, 1) ? node_grad(n->src[1]).data : NULL;
    if (!graph_failed(n->g))
        parallel_for(team_of(n), r.B * r.blocks, recurrence_rows_of(n->value.dtype)->unread, &r);
}

/* Two products, a difference and a sum. */
static int64_t recurrence_flops(const peat_node *n)
{
    return 4 * tensor_count(&n->value);
}

peat_node *op_recurrence(peat_graph *g, peat_node *x, peat_node *f, int64_t from_left,
                         const struct attention_mask *mask)
{
    static const struct op op = {"recurrence", recurrence_infer, recurrence_forward,
                                 recurrence_backward, recurrence_flops};
    peat_node *src[] = {x ? op_contiguous(g, x) : NULL, f ? op_contiguous(g, f) : NULL};
    struct recurrence_arg arg = {from_left, *mask};
    return graph_op(graph_of(g), &op, 2, src, 0, &arg, sizeof(arg));
}
