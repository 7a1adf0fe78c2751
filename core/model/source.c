/* SPDX-License-Identifier: MIT */
/* source.c: the encoder of a model of two sequences. */
#include "passes.h"

/* A copy of the scheme with weights of its own. A scheme that acts only in cross-attention does
 * nothing in an encoder, but keeps its number. */
static struct scheme_part scheme_again(const struct model *m, const struct scheme_part *s)
{
    static const peat_scheme nothing = {.size = sizeof(nothing)};
    bool only = s->where.across == ACROSS_ONLY;
    return (struct scheme_part){.part = part_again(&s->part, SOURCE_PREFIX, m->arena),
                                .hooks = only ? &nothing : s->hooks,
                                .where = only ? (struct where){0} : s->where};
}

/* Copies of all plugins. */
static void copy_positional(struct model *m, struct positional *to)
{
    const struct positional *from = m->positional;
    *to = (struct positional){.host = from->host,
                              .trail = from->trail,
                              .n_scheme = from->n_scheme,
                              .combine = from->combine,
                              .tokens = from->tokens};
    for (int i = 0; i < from->n_scheme; i++)
        to->scheme[i] = scheme_again(m, &from->scheme[i]);
    if (from->combine)
        to->combine_part = part_again(&from->combine_part, SOURCE_PREFIX, m->arena);
}

/* Makes a failure in the copy name the decoder's part. */
static void name_failing(struct positional *of, const struct positional *copy)
{
    of->failing = copy->failing ? &of->combine_part : NULL;
    for (int i = 0; i < copy->n_scheme; i++)
        if (copy->failing == &copy->scheme[i].part)
            of->failing = &of->scheme[i].part;
}

peat_status source_setup(struct model *m, struct error *err)
{
    const struct model_config *c = &m->config;
    struct encoder *e = m->encoder = ARENA_NEW(m->arena, struct encoder);
    copy_positional(m, &e->positional);
    e->dims = m->dims;
    e->dims.D = c->d_model;
    e->dims.C = c->d_model / c->n_head;
    e->dims.L = c->encoder_layers > 0 ? c->encoder_layers : c->n_layer;
    e->dims.causal = false;
    peat_status status = positional_setup(&e->positional, &m->weights, &e->dims, 0, err);
    name_failing(m->positional, &e->positional);
    if (status != PEAT_OK)
        error_prefix(err, "in the encoder");
    return status;
}

static peat_node *encoded(struct model *m, struct pass *pass, struct graph *g,
                          const struct model_input *source, const struct attention_mask *mask)
{
    struct encoder *e = m->encoder;
    pass_init(pass, m, &e->positional, &e->dims, g, source);
    pass->drops = "dropout.encoder";
    pass->prefix = SOURCE_PREFIX;
    pass->mask = mask;
    if (!positions_fill(pass, source, false))
        return NULL;
    pass_prepare(pass);
    peat_node *x = input_forward(m, pass, source);
    for (int64_t l = 0; l < e->dims.L; l++)
        x = block_forward(pass, &e->block[l], &m->config, NULL, l, x);
    x = pass_seen(pass, "stream", -1, x);
    return e->norm.w ? pass_seen(pass, "norm", -1, norm_forward(g, &e->norm, x)) : x;
}

static struct model_input source_input(const struct model_input *in)
{
    return (struct model_input){
        .B = in->B, .rows = in->source, .phase = in->phase, .step = in->step};
}

/* Runs the encoder over the sources of `in`, as *from. */
static peat_node *run_encoder(struct model *m, struct graph *g, const struct model_input *in,
                              const struct observer *observer, struct pass *from)
{
    const struct model_input source = source_input(in);
    const struct attention_mask mask = {.window = m->config.window, .pad_k = in->source.pad};
    *from = (struct pass){.observer = observer};
    if (!in->source.token)
        return graph_fail(g, "the model needs a source for each row, and the batch has none");
    peat_node *memory = encoded(m, from, g, &source, &mask);
    from->mask = NULL;
    return memory;
}

/* The pass across, from the decoder's rows to all places of the source except padding, whatever the
 * window. */
static struct pass *pass_across(struct model *m, const struct pass *pass,
                                const struct model_input *in, const peat_side *source)
{
    struct arena *a = pass->g->arena;
    struct attention_mask *mask = ARENA_NEW(a, struct attention_mask);
    struct pass *across = ARENA_NEW(a, struct pass);
    *mask = (struct attention_mask){.pad_k = source->pad};
    *across = (struct pass){.observer = pass->observer};
    pass_init(across, m, m->positional, &m->dims, pass->g, in);
    across->span = (struct span){pass->span.front, pass->span.rows, pass->span.so_far, source};
    across->prefix = "cross.";
    across->stored = pass->stored;
    across->mask = mask;
    return across;
}

struct crossing source_cross(struct model *m, struct pass *pass, const struct model_input *in)
{
    struct graph *g = pass->g;
    const struct stored *s = pass->stored;
    struct pass *from = ARENA_NEW(g->arena, struct pass);
    peat_node *memory =
        s ? graph_constant(g, s->memory.dtype, s->memory.rank, s->memory.dim, s->memory.data)
          : run_encoder(m, g, in, pass->observer, from);
    struct pass *across = pass_across(m, pass, in, s ? &s->source : &from->span.rows);
    across->composed = from->composed;
    if (!graph_failed(g))
        pass_prepare(across);
    return (struct crossing){across, memory};
}

bool source_store(struct model *m, struct graph *g, const struct model_input *in, struct stored *s)
{
    struct pass *from = ARENA_NEW(g->arena, struct pass);
    peat_node *memory = run_encoder(m, g, in, NULL, from);
    if (graph_failed(g))
        return false;
    s->source = from->span.rows;
    s->memory = memory->value;
    return true;
}
