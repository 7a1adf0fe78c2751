/* SPDX-License-Identifier: MIT */
/* input.c: streams and their combination. */
#include "input.h"

#include "autograd/ops.h"

/* Entries N(0, 1/sqrt(d_model)), whatever the width of the stream. */
static struct weight *table_declare(struct model *m, const char *name, int64_t rows, int64_t width)
{
    peat_init init = {.kind = PEAT_INIT_NORMAL, .b = m->positional->tokens.std};
    return weights_add(&m->weights, name, 2, (int64_t[]){rows, width}, init, 0);
}

void input_declare(struct model *m)
{
    const struct positional *p = m->positional;
    m->token = table_declare(m, "token.weight", m->config.vocab, p->width[0]);
    if (m->config.n_segment > 0)
        m->segment =
            table_declare(m, "segment.weight", m->config.n_segment, p->width[p->n_stream - 1]);
}

/* ids [B,T] -> scaled rows [B,T,width] */
static peat_node *look_up(struct model *m, struct pass *pass, struct weight *table,
                          const int32_t *id)
{
    struct graph *g = pass->g;
    double scale = m->positional->tokens.factor;
    peat_node *index =
        graph_constant(g, PEAT_I32, 2, (int64_t[]){pass->B, pass->side.T}, (void *)(uintptr_t)id);
    peat_node *x = op_gather_rows(&g->base, weight_node(g, table), index);
    return scale == 1.0 ? x : op_affine(&g->base, x, scale, 0.0);
}

static peat_node *encode(struct pass *pass, int index)
{
    const struct scheme_part *s = &pass->positional->scheme[index];
    struct call c;
    call_init(&c, pass, index, -1);
    hook_begin(&c, HOOK_ENCODE);
    return hook_end(pass, s->hooks->encode(&c.base), 3, (int64_t[]){pass->B, pass->side.T, s->d},
                    1);
}

/* What an observer makes of a stream: mostly itself. */
static peat_node *observed(struct pass *pass, enum stream_kind kind, int scheme, peat_node *x)
{
    const struct observer *o = pass->observer;
    return o && o->stream && x ? o->stream(o->ctx, pass, kind, scheme, x) : x;
}

static peat_node *merge(struct pass *pass, int n, peat_node *const *x)
{
    struct positional *p = pass->positional;
    struct call c;
    call_init(&c, pass, -1, -1);
    hook_begin(&c, HOOK_MERGE);
    return hook_end(pass, p->combine->merge(&c.base, n, x), 3,
                    (int64_t[]){pass->B, pass->side.T, p->D}, 0);
}

/* Without a combine a second stream is the segments, which are added. */
static peat_node *join(struct pass *pass, int n, peat_node *const *stream)
{
    const struct positional *p = pass->positional;
    if (p->combine)
        return p->n_stream >= p->combine->min_streams ? merge(pass, n, stream) : stream[0];
    return n == 2 ? op_add(&pass->g->base, stream[0], stream[1]) : stream[0];
}

peat_node *input_merge(struct pass *pass, int index, peat_node *x)
{
    return merge(pass, 2, (peat_node *[]){x, pass->stream[index]});
}

peat_node *input_forward(struct model *m, struct pass *pass, const struct model_input *in)
{
    struct positional *p = m->positional;
    peat_node *stream[POSITIONAL_MAX + 2];
    int n = 0;
    stream[n++] = observed(pass, STREAM_TOKEN, -1, look_up(m, pass, m->token, in->token));
    for (int i = 0; i < p->n_scheme; i++) {
        if (!p->scheme[i].hooks->encode)
            continue;
        peat_node *P = observed(pass, STREAM_POSITION, i, encode(pass, i));
        if (p->scheme[i].where.at == SITE_INPUT)
            stream[n++] = P;
        else
            pass->stream[i] = P;
    }
    if (m->segment)
        stream[n++] = observed(pass, STREAM_SEGMENT, -1, look_up(m, pass, m->segment, in->segment));
    peat_node *x = join(pass, n, stream);
    const struct observer *o = pass->observer;
    if (o && o->input && x)
        x = o->input(o->ctx, pass, x);
    return pass_dropout(pass, x, m->config.dropout, "input", 0);
}
