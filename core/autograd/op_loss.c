/* SPDX-License-Identifier: MIT */
/* op_loss.c: cross-entropy as a training loss, and its sums for evaluation. */

#include "opkit.h"
#include "rows/loss_rows.h"

enum { SCORE_BLOCK = 256 };

struct cross_entropy_saved {
    int64_t targets;
    double *lse;
};

static void cross_entropy_infer(peat_node *n)
{
    const struct tensor *x = &n->src[0]->value, *target = &n->src[1]->value;
    if (x->rank >= 1 && tensor_count(target) == row_count(x))
        n->value = tensor_shape(x->dtype, 1, (const int64_t[]){1});
    else
        graph_fail(n->g, "targets %s do not fit logits %s", shape_text(n, target),
                   shape_text(n, x));
}

static bool targets_valid(struct graph *g, const struct loss *c, int64_t rows)
{
    for (int64_t row = 0; row < rows; row++)
        if (c->target[row] >= c->n) {
            graph_fail(g,
                       "cross_entropy: target %" PRId32 " of row %" PRId64 " is not below %" PRId64,
                       c->target[row], row, c->n);
            return false;
        }
    return true;
}

static void cross_entropy_forward(peat_node *n)
{
    struct graph *g = n->g;
    const struct tensor *x = &n->src[0]->value;
    int64_t rows = row_count(x);
    struct loss c = {.n = row_length(x), .x = x->data, .target = n->src[1]->value.data};
    struct cross_entropy_saved *saved = graph_scratch(g, sizeof(*saved));
    c.lse = graph_scratch(g, (size_t)rows * sizeof(*c.lse));
    if (graph_failed(g) || !targets_valid(g, &c, rows))
        return;
    parallel_ranges(g->team, rows, row_grain(c.n), loss_rows_of(x->dtype)->loss, &c);
    *saved = (struct cross_entropy_saved){.lse = c.lse};
    double sum = 0.0;
    for (int64_t row = 0; row < rows; row++) {
        if (c.target[row] < 0)
            continue;
        sum += c.lse[row] - tensor_get(x, row * c.n + c.target[row]);
        saved->targets++;
    }
    tensor_set(&n->value, 0, saved->targets > 0 ? sum / (double)saved->targets : 0.0);
    n->saved = saved;
}

static void cross_entropy_backward(peat_node *n)
{
    const struct cross_entropy_saved *saved = n->saved;
    if (!n->src[0]->needs_grad || saved->targets == 0)
        return;
    const struct tensor *x = &n->src[0]->value;
    struct loss c = {.n = row_length(x),
                     .x = x->data,
                     .target = n->src[1]->value.data,
                     .lse = saved->lse,
                     .scale = tensor_get(&n->grad, 0) / (double)saved->targets};
    c.dx = node_grad_whole(n->src[0], &c.fresh).data;
    parallel_ranges(n->g->team, row_count(x), row_grain(c.n), loss_rows_of(x->dtype)->grad, &c);
}

static const struct op cross_entropy_op = {"cross_entropy", cross_entropy_infer,
                                           cross_entropy_forward, cross_entropy_backward,
                                           .index = 2};

peat_node *op_cross_entropy(peat_graph *g, peat_node *logits, peat_node *target)
{
    peat_node *src[] = {op_contiguous(g, logits), op_contiguous(g, target)};
    return graph_op(graph_of(g), &cross_entropy_op, 2, src, 0, NULL, 0);
}

void cross_entropy_sums(const struct team *team, const struct tensor *logits, const int32_t *target,
                        struct ce_sums *sums)
{
    int64_t rows = row_count(logits), n = row_length(logits);
    size_t row_bytes = (size_t)n * dtype_bytes(logits->dtype);
    double nll[SCORE_BLOCK];
    bool correct[SCORE_BLOCK];
    *sums = (struct ce_sums){0};
    for (int64_t first = 0; first < rows; first += SCORE_BLOCK) {
        int64_t block = rows - first < SCORE_BLOCK ? rows - first : SCORE_BLOCK;
        struct scores c = {.n = n,
                           .x = (const char *)logits->data + (size_t)first * row_bytes,
                           .target = target + first,
                           .nll = nll,
                           .correct = correct};
        parallel_ranges(team, block, row_grain(n), loss_rows_of(logits->dtype)->scores, &c);
        for (int64_t row = 0; row < block; row++) {
            if (c.target[row] < 0)
                continue;
            sums->nll += nll[row];
            sums->correct += correct[row];
            sums->targets++;
        }
    }
}
