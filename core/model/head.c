/* SPDX-License-Identifier: MIT */
/* head.c: logits of tokens at every place, of classes for each row, or both. */
#include "passes.h"

static struct weight *rows_declare(struct model *m, const char *name, int64_t rows)
{
    return matrix_declare(&m->weights, name, rows, m->dims.D, 1.0 / sqrt((double)m->dims.D));
}

/* The factor of a factored tie: logits = x W^T E^T with E [V, d_t] the token table (Baevski and
 * Auli 2019; Lan et al. 2020, section 3.1). Where x and E have variances 1 and 1 / D, the logits
 * have variance 1. */
static void tie_declare(struct model *m)
{
    int64_t D = m->dims.D, width = m->positional->width[0];
    if (m->config.tie_embeddings && width != D)
        m->tie = matrix_declare(&m->weights, "tie.weight", width, D, 1.0 / sqrt((double)width));
}

void head_declare(struct model *m)
{
    const struct model_config *c = &m->config;
    tie_declare(m);
    if (!c->tie_embeddings)
        m->head =
            rows_declare(m, "head.weight", c->head == PEAT_HEAD_CLASS ? c->n_class : c->vocab);
    if (c->head == PEAT_HEAD_BOTH)
        m->class_head = rows_declare(m, "head.class.weight", c->n_class);
}

/* The weight of each place in the mean of its row, [B,1,T]: 0 for padding. */
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

/* The vector of each row, [B,1,D]: its class token, or the mean of its places. */
static peat_node *pooled(struct model *m, struct graph *g, const struct model_input *in,
                         peat_node *x)
{
    if (model_has_class_token(&m->config))
        return op_slice(&g->base, x, 1, 0, 1);
    return op_matmul(&g->base, shares(g, in), x, 0);
}

/* n rows of x by a matrix: [n, its rows] */
static peat_node *rows_by(struct model *m, struct graph *g, peat_node *x, int64_t n,
                          struct weight *w)
{
    x = op_reshape(&g->base, op_contiguous(&g->base, x), 2, (int64_t[]){n, m->dims.D});
    return op_linear(&g->base, x, weight_node(g, w), NULL);
}

peat_node *head_forward(struct model *m, struct pass *pass, const struct model_input *in,
                        peat_node *x)
{
    struct graph *g = pass->g;
    int64_t T = in->T, front = model_has_class_token(&m->config);
    struct weight *head = m->head ? m->head : m->token;
    if (m->config.head == PEAT_HEAD_CLASS)
        return rows_by(m, g, pooled(m, g, in, x), in->B, head);
    if (m->class_head)
        pass->classes = rows_by(m, g, pooled(m, g, in, x), in->B, m->class_head);
    if (front > 0)
        x = op_slice(&g->base, x, 1, front, front + T);
    if (in->last_only)
        x = op_slice(&g->base, x, 1, T - 1, T);
    int64_t n = in->last_only ? in->B : in->B * T;
    if (!m->tie)
        return rows_by(m, g, x, n, head);
    return op_linear(&g->base, rows_by(m, g, x, n, m->tie), weight_node(g, head), NULL);
}

static peat_node *mean_loss(struct graph *g, peat_node *logits, const int32_t *truth)
{
    int64_t n = node_dim(logits, 0);
    peat_node *target = graph_constant(g, PEAT_I32, 1, &n, (void *)(uintptr_t)truth);
    return op_cross_entropy(&g->base, logits, target);
}

peat_node *model_loss(struct graph *g, peat_node *logits, const int32_t *truth, peat_node *classes,
                      const int32_t *label)
{
    if (!logits)
        return NULL;
    peat_node *loss = mean_loss(g, logits, truth);
    return classes ? op_add(&g->base, loss, mean_loss(g, classes, label)) : loss;
}
