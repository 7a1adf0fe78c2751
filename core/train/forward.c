/* SPDX-License-Identifier: MIT */
/* forward.c: from a batch to logits. */
#include "train/forward.h"

struct model_input forward_input(const peat_batch *b, peat_phase phase)
{
    struct model_input in = {
        .B = b->B,
        .T = b->T,
        .token = b->patch ? NULL : b->token,
        .patch = b->patch,
        .n_axes = b->n_axes,
        .pos = b->pos,
        .S = b->S,
        .source = b->source,
        .source_pad = b->source_pad,
        .source_special = b->source_special,
        .segment = b->has_segment ? b->segment : NULL,
        .document = b->has_document ? b->document : NULL,
        .pad = b->has_pad ? b->pad : NULL,
        .special = b->has_special ? b->special : NULL,
        .sequence = b->sequence,
        .phase = phase,
    };
    for (int64_t i = 0; i < b->n_stream; i++) {
        in.stream_id[i] = b->stream_id[i];
        in.stream_number[i] = b->stream_number[i];
    }
    return in;
}

peat_status forward_status(const struct graph *g, const char *what, struct error *err)
{
    if (!graph_failed(g))
        return PEAT_OK;
    return error_set(err, g->err.status, "%s: %s", what, g->err.text);
}

peat_status forward_both(struct trainer *t, struct graph *g, const struct model_input *in,
                         bool reuse, peat_node **logits, peat_node **classes, const char *what,
                         struct error *err)
{
    struct pass pass = {0};
    graph_init(g, &t->step_arena, t->team, t->model->weights.dtype);
    g->no_grad = in->phase == PEAT_EVAL;
    g->reuse = reuse;
    *logits = model_forward(t->model, g, in, &pass);
    *classes = pass.classes;
    return forward_status(g, what, err);
}

peat_status forward_run(struct trainer *t, struct graph *g, const struct model_input *in,
                        peat_node **logits, const char *what, struct error *err)
{
    peat_node *classes;
    return forward_both(t, g, in, false, logits, &classes, what, err);
}
