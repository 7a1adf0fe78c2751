/* SPDX-License-Identifier: MIT */
/* attention_mask.c: the mask as a tensor of zeros and ones. */
#include "autograd/ops.h"

static bool admits(const struct attention_mask *m, int64_t b, int64_t Tq, int64_t Tk, int64_t i,
                   int64_t j)
{
    int64_t distance = m->offset + i - j;
    if (m->causal && distance < 0)
        return false;
    if (m->window > 0 && (distance >= m->window || distance <= -m->window))
        return false;
    if (m->pad_k && m->pad_k[b * Tk + j])
        return false;
    return !m->doc_q || !m->doc_k || m->doc_q[b * Tq + i] == m->doc_k[b * Tk + j];
}

peat_node *attention_mask_node(struct graph *g, const struct attention_mask *mask, int64_t B,
                               int64_t Tq, int64_t Tk)
{
    bool rows_differ = mask->pad_k || mask->doc_q;
    int64_t dim[] = {rows_differ ? B : 1, 1, Tq, Tk};
    peat_node *n = graph_constant(g, g->dtype, 4, dim, NULL);
    if (!n || !n->value.data)
        return n;
    int64_t at = 0;
    for (int64_t b = 0; b < dim[0]; b++)
        for (int64_t i = 0; i < Tq; i++)
            for (int64_t j = 0; j < Tk; j++, at++) {
                bool one = admits(mask, b, Tq, Tk, i, j);
                if (g->dtype == PEAT_F32)
                    ((float *)n->value.data)[at] = one ? 1.0f : 0.0f;
                else
                    ((double *)n->value.data)[at] = one ? 1.0 : 0.0;
            }
    return n;
}
