/* SPDX-License-Identifier: MIT */
/* head.c: a choice among tokens at every place, or among classes for the whole row. */
#include "head.h"

#include <math.h>

#include "autograd/ops.h"

void head_declare(struct model *m)
{
    const struct model_config *c = &m->config;
    int64_t D = m->dims.D, rows = c->head == PEAT_HEAD_CLASS ? c->n_class : c->vocab;
    if (!c->tie_embeddings)
        m->head = weights_add(&m->weights, "head.weight", 2, (int64_t[]){rows, D},
                              (peat_init){.kind = PEAT_INIT_NORMAL, .b = 1.0 / sqrt((double)D)}, 0);
}

/* The share of each place in the mean of its row, [B,1,T]: padding has none. */
static peat_node *shares(struct graph *g, const struct model_input *in)
{
    peat_node *share = graph_constant(g, g->dtype, 3, (int64_t[]){in->B, 1, in->T}, NULL);
    for (int64_t b = 0; share && share->value.data && b < in->B; b++) {
        int64_t n = 0;
        for (int64_t t = 0; t < in->T; t++)
            n += !(in->pad && in->pad[b * in->T + t]);
        for (int64_t t = 0; t < in->T; t++) {
            bool counts = !(in->pad && in->pad[b * in->T + t]);
            tensor_set(&share->value, b * in->T + t, counts ? 1.0 / (double)n : 0.0);
        }
    }
    return share;
}

/* The row's vector, [B,1,D]: that of the class token, or the mean. */
static peat_node *pooled(struct model *m, struct graph *g, const struct model_input *in,
                         peat_node *x)
{
    if (model_has_class_token(&m->config))
        return op_slice(&g->base, x, 1, 0, 1);
    return op_matmul(&g->base, shares(g, in), x, 0);
}

peat_node *head_forward(struct model *m, struct graph *g, const struct model_input *in,
                        peat_node *x)
{
    int64_t T = in->T, rows = in->B * in->T;
    if (m->config.head == PEAT_HEAD_CLASS) {
        x = pooled(m, g, in, x);
        rows = in->B;
    } else if (in->last_only) {
        x = op_slice(&g->base, x, 1, T - 1, T);
        rows = in->B;
    }
    x = op_reshape(&g->base, op_contiguous(&g->base, x), 2, (int64_t[]){rows, m->dims.D});
    return op_linear(&g->base, x, weight_node(g, m->head ? m->head : m->token), NULL);
}
