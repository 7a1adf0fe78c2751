/* SPDX-License-Identifier: MIT */
/* transformer.c: the model from its input to the logits. */
#include "model/transformer.h"

#include "nn/setup.h"
#include "passes.h"

/* ---- setup ---- */

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

static void head_declare(struct model *m)
{
    const struct model_config *c = &m->config;
    tie_declare(m);
    if (!c->tie_embeddings)
        m->head =
            rows_declare(m, "head.weight", c->head == PEAT_HEAD_CLASS ? c->n_class : c->vocab);
    if (c->head == PEAT_HEAD_BOTH)
        m->class_head = rows_declare(m, "head.class.weight", c->n_class);
}

static void declare_stack(struct model *m, struct block **block, struct norm_weights *norm,
                          const struct block_stack *stack)
{
    const struct model_config *c = &m->config;
    *block = ARENA_ARRAY(m->arena, stack->n_layer, struct block);
    for (int64_t l = 0; l < stack->n_layer; l++)
        block_declare(&(*block)[l], &m->weights, c, stack, l);
    const struct norm_options o = block_norm_options(c);
    if (c->norm_place == NORM_BEFORE)
        *norm = norm_declare(&m->weights, arena_printf(m->arena, "%snorm", stack->prefix), stack->D,
                             &o);
}

static peat_status declare(struct model *m, struct error *err)
{
    struct encoder *e = m->encoder;
    input_declare(m);
    declare_stack(m, &m->block, &m->norm,
                  &(struct block_stack){"", m->dims.D, m->dims.L, e != NULL});
    head_declare(m);
    if (e)
        declare_stack(m, &e->block, &e->norm,
                      &(struct block_stack){SOURCE_PREFIX, e->dims.D, e->dims.L, false});
    if (m->weights.incomplete)
        return error_set(err, PEAT_NOMEM, "no memory for a model of %lld layers",
                         (long long)m->config.n_layer);
    return PEAT_OK;
}

static peat_dims first_dims(const struct model_config *c)
{
    int64_t first = model_has_class_token(c) && c->cls_position == CLS_FIRST;
    return (peat_dims){
        .size = sizeof(peat_dims),
        .D = c->d_model,
        .H = c->n_head,
        .C = c->d_model / c->n_head,
        .L = c->n_layer,
        .V = c->input == PEAT_INPUT_TOKENS ? c->vocab : 0,
        .T_train = c->T_train + first,
        .T_max = c->T_max + first,
        .n_axes = c->n_axes > 1 ? (int32_t)c->n_axes : 1,
        .causal = c->arch != PEAT_ENCODER,
    };
}

static peat_status freeze(struct model *m, struct error *err)
{
    struct weights *w = &m->weights;
    const peat_strings *pattern = &m->config.freeze;
    const char *misfit = weights_freeze(w, pattern);
    if (m->config.freeze_loosely || (!misfit && weights_trainable(w) > 0))
        return PEAT_OK;
    m->misfrozen = misfit ? misfit : pattern->item[pattern->n - 1];
    if (!misfit)
        return error_set(err, PEAT_REFUSED,
                         "this freezes every parameter, so nothing is left to train");
    return weights_none_called(w, misfit, err);
}

peat_status model_build(struct model *m, const struct model_config *config,
                        struct positional *positional, struct arena *arena, peat_dtype dtype,
                        uint64_t seed, bool shape_only, struct error *err)
{
    *m = (struct model){.config = *config, .positional = positional, .arena = arena, .seed = seed};
    weights_init(&m->weights, arena, dtype);
    m->dims = first_dims(config);
    positional->tokens = token_table(config->d_model, config->embed_scale);
    positional->mixer = mixer_name((enum mixer)config->mixer);
    positional->n_more = (int)config->n_stream;
    for (int i = 0; i < positional->n_more; i++)
        positional->more[i] = config->stream[i].name;
    peat_status status =
        positional_setup(positional, &m->weights, &m->dims, config->n_segment, err);
    if (status == PEAT_OK && config->arch == PEAT_SEQ2SEQ)
        status = source_setup(m, err);
    if (status != PEAT_OK)
        return status;
    if (config->tie_embeddings && !config->tie_factored && positional->width[0] != m->dims.D)
        return error_set(
            err, PEAT_REFUSED,
            "model.tie_embeddings needs tokens as wide as the model, but combine '%s' makes them "
            "%lld wide in a model of %lld; model.tie_factored: true puts a matrix between them",
            positional->combine_part.id, (long long)positional->width[0], (long long)m->dims.D);
    status = declare(m, err);
    if (status == PEAT_OK)
        status = freeze(m, err);
    return status == PEAT_OK ? weights_build(&m->weights, seed, shape_only, err) : status;
}

/* True for weights of the input: names of blocks, of the last norm, of the head and of an encoder
 * begin otherwise. */
static bool is_of_input(const char *name)
{
    return strncmp(name, "block.", 6) != 0 && strncmp(name, "norm", 4) != 0 &&
           strncmp(name, "head", 4) != 0 &&
           strncmp(name, SOURCE_PREFIX, strlen(SOURCE_PREFIX)) != 0;
}

peat_status model_fill_input(struct model *m, struct error *err)
{
    return weights_fill(&m->weights, m->seed, is_of_input, err);
}

/* ---- the head: logits of tokens at every place, of classes for each row, or both ---- */

/* The weight of each place in the mean of its row, [B,1,T]: 0 for padding. */
static peat_node *shares(struct graph *g, const struct model_input *in)
{
    peat_node *share = graph_constant(g, g->dtype, 3, (int64_t[]){in->B, 1, in->rows.T}, NULL);
    for (int64_t b = 0; share && share->value.data && b < in->B; b++) {
        int64_t n = 0;
        for (int64_t t = 0; t < in->rows.T; t++)
            n += !(in->rows.pad && in->rows.pad[b * in->rows.T + t]);
        for (int64_t t = 0; t < in->rows.T; t++) {
            bool counts = !(in->rows.pad && in->rows.pad[b * in->rows.T + t]);
            tensor_set(&share->value, b * in->rows.T + t, counts ? 1.0 / (double)n : 0.0);
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

/* x [B,T,D] (normed; with a class token's place if there is one) -> logits with the shapes of
 * model_forward. */
static peat_node *head_forward(struct model *m, struct pass *pass, const struct model_input *in,
                               peat_node *x)
{
    struct graph *g = pass->g;
    int64_t T = in->rows.T, front = model_has_class_token(&m->config);
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

/* ---- forward ---- */

/* Which keys each query of this input may see; borrows the input's arrays. */
static struct attention_mask model_mask(const struct model *m, const struct model_input *in)
{
    return (struct attention_mask){.causal = m->dims.causal,
                                   .window = m->config.window,
                                   .pad_k = in->rows.pad,
                                   .doc_q = in->rows.document,
                                   .doc_k = in->rows.document};
}

static void model_begin(struct model *m, struct graph *g)
{
    g->trail = m->positional->trail;
    trail_beat(g->trail);
    weights_begin(&m->weights);
}

/* The pass up to the first block. The mask is for the input of attention, with the class token. */
static peat_node *enter(struct model *m, struct graph *g, const struct model_input *in,
                        struct pass *pass, struct attention_mask *mask)
{
    struct model_input all = *in;
    bool class_token = model_has_class_token(&m->config);
    int64_t front = class_token_front(&m->config);
    bool ok = !class_token || class_token_place(g, m, in, &all);
    pass_init(pass, m, m->positional, &m->dims, g, front > 0 ? in : &all);
    pass->span.front = front;
    *mask = model_mask(m, &all);
    model_begin(m, g);
    pass->mask = mask;
    if (!ok || !positions_fill(pass, in, class_token && front == 0))
        return NULL;
    pass_prepare(pass);
    return input_forward(m, pass, in);
}

peat_node *model_input_alone(struct model *m, struct graph *g, const struct model_input *in,
                             struct pass *pass)
{
    struct attention_mask mask;
    peat_node *x = enter(m, g, in, pass, &mask);
    pass->mask = NULL;
    return graph_failed(g) ? NULL : x;
}

/* From the input of the first block to the logits. */
static peat_node *blocks_and_head(struct model *m, struct graph *g, const struct model_input *in,
                                  struct pass *pass, peat_node *x)
{
    struct crossing crossing, *across = NULL;
    if (m->encoder && !graph_failed(g)) {
        crossing = source_cross(m, pass, in);
        across = &crossing;
    }
    for (int64_t l = 0; l < m->config.n_layer; l++)
        x = block_forward(pass, &m->block[l], &m->config, across, l, x);
    x = pass_seen(pass, "stream", -1, x);
    if (m->norm.w)
        x = pass_seen(pass, "norm", -1, norm_forward(g, &m->norm, x));
    x = head_forward(m, pass, in, x);
    if (across)
        pass->composed = pass->composed || across->pass->composed;
    pass->mask = NULL;
    return graph_failed(g) ? NULL : x;
}

peat_node *model_forward(struct model *m, struct graph *g, const struct model_input *in,
                         struct pass *pass)
{
    struct pass local = {0};
    if (!pass)
        pass = &local;
    struct attention_mask mask;
    peat_node *x = enter(m, g, in, pass, &mask);
    return blocks_and_head(m, g, in, pass, x);
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

/* ---- passes over only the newest rows ---- */

const char *model_not_storable(const struct model *m, const char **id)
{
    *id = NULL;
    if (!m->dims.causal)
        return "its rows depend on the tokens that follow";
    if (model_has_class_token(&m->config))
        return "it has a class token";
    if (m->config.n_stream > 0)
        return "its task has streams of its own";
    if (m->config.n_axes > 0)
        return "its data have positions of their own";
    return positional_not_storable(m->positional, id);
}

peat_status model_store(struct model *m, const struct model_input *in, const struct team *team,
                        struct arena *arena, struct stored *s, struct error *err)
{
    struct graph g;
    struct pass pass = {0};
    graph_init(&g, arena, team, m->weights.dtype);
    g.no_grad = true;
    pass_init(&pass, m, m->positional, &m->dims, &g, in);
    model_begin(m, &g);
    if (!positions_fill(&pass, in, false))
        return error_copy(err, &g.err);
    *s = (struct stored){.arena = arena, .B = in->B, .room = in->rows.T, .whole = pass.span.rows};
    s->layer = ARENA_TRY_ARRAY(arena, m->config.n_layer, struct stored_layer);
    if (!s->layer)
        return error_set(err, PEAT_NOMEM, "out of memory for stored rows");
    memset(s->layer, 0, (size_t)m->config.n_layer * sizeof(*s->layer));
    if (m->encoder && !source_store(m, &g, in, s))
        return error_copy(err, &g.err);
    return PEAT_OK;
}

peat_node *model_newest(struct model *m, struct graph *g, struct stored *s, int64_t end)
{
    struct pass pass = {0};
    peat_side side, keys;
    BUG_UNLESS(s->done < end && end <= s->room);
    if (!side_cut(g->arena, &s->whole, s->B, s->done, end, &side) ||
        !side_cut(g->arena, &s->whole, s->B, 0, end, &keys))
        return graph_no_memory(g, "the newest rows", 0);
    const struct model_input in = {.B = s->B, .rows = side, .phase = PEAT_EVAL, .last_only = true};
    pass_init(&pass, m, m->positional, &m->dims, g, &in);
    model_begin(m, g);
    pass.span = (struct span){.rows = side, .so_far = &keys};
    pass.stored = s;
    struct attention_mask mask = model_mask(m, &in);
    mask.offset = s->done;
    mask.pad_k = keys.pad;
    mask.doc_k = keys.document;
    pass.mask = &mask;
    pass_prepare(&pass);
    peat_node *x = input_forward(m, &pass, &in);
    peat_node *logits = blocks_and_head(m, g, &in, &pass, x);
    s->done = end;
    return logits;
}

/* ---- plan ---- */

/* Makes an input with the task's own streams; false: out of memory. */
static bool empty_streams(const struct model *m, struct arena *a, struct model_input *in)
{
    bool ok = true;
    for (int64_t i = 0; i < m->config.n_stream; i++) {
        const peat_stream *s = &m->config.stream[i];
        if (s->ids > 0)
            ok = (in->stream_id[i] = ARENA_TRY_ARRAY(a, in->B * in->rows.T, int32_t)) && ok;
        else
            ok = (in->stream_number[i] =
                      ARENA_TRY_ARRAY(a, in->B * in->rows.T * s->numbers, float)) &&
                 ok;
    }
    return ok;
}

/* A pass that fails is refused like a set-up, because this model cannot make it. */
static peat_status refuse_pass(const struct graph *g, struct error *err)
{
    if (!graph_failed(g) || g->err.status == PEAT_NOMEM)
        return error_set(err, PEAT_NOMEM, "%s",
                         g->err.text[0] ? g->err.text : "no memory for a plan");
    return error_set(err, PEAT_REFUSED, "%s", g->err.text);
}

peat_status model_plan(struct model *m, int64_t B, int64_t T, bool special, struct model_cost *cost,
                       struct error *err)
{
    struct arena arena;
    arena_init(&arena, "plan", 1 << 20);
    int32_t *id = ARENA_TRY_ARRAY(&arena, B * T, int32_t);
    uint8_t *mark = ARENA_TRY_ARRAY(&arena, B * T, uint8_t);
    struct graph g;
    graph_init(&g, &arena, NULL, m->weights.dtype);
    g.shape_only = g.reuse = true;
    struct pass pass = {0};
    float *patch = ARENA_TRY_ARRAY(&arena, B * T * m->config.patch_width, float);
    double *pos = ARENA_TRY_ARRAY(&arena, B * T * m->config.n_axes, double);
    struct model_input in = {.B = B,
                             .rows = {.T = T,
                                      .n_axes = (int32_t)m->config.n_axes,
                                      .pos = m->config.n_axes > 0 ? pos : NULL,
                                      .token = m->token ? id : NULL,
                                      .segment = id,
                                      .special = special ? mark : NULL},
                             .source = {.T = T, .token = id, .special = mark},
                             .patch = patch,
                             .phase = PEAT_TRAIN};
    bool streams = empty_streams(m, &arena, &in);
    peat_status status = PEAT_OK;
    peat_node *logits =
        streams && id && mark && patch && pos ? model_forward(m, &g, &in, &pass) : NULL;
    peat_node *loss = model_loss(&g, logits, id, pass.classes, id);
    if (loss) {
        graph_reach(&g, loss);
        status = weights_reached(&m->weights, PEAT_REFUSED, err);
        *cost = (struct model_cost){.trainable = weights_trainable(&m->weights),
                                    .frozen = weights_frozen(&m->weights),
                                    .forward_flops = g.flops,
                                    .activation_bytes = g.value_bytes,
                                    .held_bytes = g.value_bytes - g.given_back,
                                    .composed = pass.composed};
    } else {
        status = refuse_pass(&g, err);
    }
    weights_begin(&m->weights);
    arena_release(&arena);
    return status;
}
