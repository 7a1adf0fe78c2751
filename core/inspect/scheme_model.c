/* SPDX-License-Identifier: MIT */
/* scheme_model.c: runs one forward pass of a small model around a scheme, and makes tables. */
#include "scheme_model.h"

#include "model/transformer.h"
#include "plugin/params.h"

enum { VOCAB = 256 };

struct scheme_model {
    const struct scheme_request *request;
    struct registry *registry;
    const struct plugin *scheme, *combine; /* combine NULL: no stream to merge */
    struct positional positional;
    struct model model;
    struct observer observer;
    struct graph graph;
    struct pass pass;
    peat_node *stream;
    struct attention_seen seen;
    int n, room;
    struct scheme_table *table;
    struct arena *a;
    struct error *err;
};

/* ---- set-up ---- */

/* Words for the combination are written "combine.KEY=value". */
static struct value *settings_of(struct scheme_model *m, bool combine)
{
    static const char prefix[] = "combine.";
    const struct value *given = m->request->given;
    struct value *own = value_map(m->a, given ? given->at : NOWHERE);
    for (int i = 0; given && i < given->n; i++) {
        const char *key = given->key[i];
        bool prefixed = strncmp(key, prefix, sizeof(prefix) - 1) == 0;
        if (prefixed == combine)
            value_set(m->a, own, key + (prefixed ? sizeof(prefix) - 1 : 0), given->key_at[i],
                      given->item[i]);
    }
    return own;
}

static bool make_part(struct scheme_model *m, const struct plugin *plugin, const char *prefix,
                      struct part *part)
{
    const peat_plugin *desc = plugin->desc;
    bool combine = desc->kind == PEAT_COMBINE;
    void *config = arena_zalloc(m->a, desc->config_size + 1);
    *part = (struct part){
        .id = desc->id, .prefix = arena_printf(m->a, "%s.%s", prefix, desc->id), .config = config};
    trail_plugin(m->request->trail, desc->id, plugin->path, "");
    return params_fill(desc->param, config, settings_of(m, combine),
                       arena_printf(m->a, "%s '%s'", kind_name(desc->kind), plugin->name), NULL,
                       m->a, m->err) == PEAT_OK;
}

static bool find_combine(struct scheme_model *m)
{
    const peat_scheme *hooks = m->scheme->desc->interface;
    const char *name = m->request->combine;
    if (!hooks->encode && name)
        return error_fail(m->err, PEAT_INVALID,
                          "scheme '%s' gives no stream, so combine '%s' has nothing to merge",
                          m->scheme->name, name);
    return !hooks->encode || registry_find(m->registry, PEAT_COMBINE, name ? name : "sum", NOWHERE,
                                           &m->combine, m->err) == PEAT_OK;
}

static bool fill_positional(struct scheme_model *m)
{
    struct positional *p = &m->positional;
    *p = (struct positional){.host = host_table(), .trail = m->request->trail, .n_scheme = 1};
    trail_forget_plugins(m->request->trail);
    p->scheme[0].hooks = m->scheme->desc->interface;
    p->combine = m->combine ? m->combine->desc->interface : NULL;
    return make_part(m, m->scheme, "position.0", &p->scheme[0].part) &&
           (!m->combine || make_part(m, m->combine, "combine", &p->combine_part));
}

static int64_t places(const struct scheme_model *m)
{
    return m->request->T + m->request->pad;
}

static bool build(struct scheme_model *m)
{
    const struct scheme_request *q = m->request;
    int64_t vocab = VOCAB;
    for (int64_t i = 0; i < q->n_token; i++)
        vocab = q->token[i] >= vocab ? (int64_t)q->token[i] + 1 : vocab;
    const struct model_config config = {.arch = PEAT_DECODER,
                                        .d_model = q->d,
                                        .n_layer = 1,
                                        .n_head = q->heads,
                                        .d_ff = q->d,
                                        .norm_eps = NORM_EPS,
                                        .bias = true,
                                        .vocab = vocab,
                                        .T_train = places(m),
                                        .T_max = places(m)};
    return model_build(&m->model, &config, &m->positional, m->a, PEAT_F32, 0, false, m->err) ==
           PEAT_OK;
}

/* ---- the pass ---- */

static peat_node *on_stream(void *ctx, struct pass *pass, enum stream_kind kind, int scheme,
                            peat_node *x)
{
    struct scheme_model *m = ctx;
    (void)pass;
    if (kind == STREAM_POSITION && scheme == 0)
        m->stream = x;
    return x;
}

static void on_attention(void *ctx, const struct attention_seen *seen)
{
    struct scheme_model *m = ctx;
    m->seen = *seen;
}

/* The tokens where none are given: a sentence, repeated. */
static int32_t token_at(const struct scheme_request *q, int64_t t)
{
    static const char text[] = "The quick brown fox, 42 of 7, jumps over the lazy dog.\n";
    return q->n_token ? q->token[t] : (unsigned char)text[t % (int64_t)(sizeof(text) - 1)];
}

/* Rows are equal except for the ids of their sequences, by which random numbers are drawn. */
static struct model_input input_of(struct scheme_model *m)
{
    const struct scheme_request *q = m->request;
    int64_t B = q->rows, T = places(m);
    int32_t *token = ARENA_ARRAY(m->a, B * T, int32_t);
    uint8_t *pad = ARENA_ARRAY(m->a, B * T, uint8_t);
    int64_t *sequence = ARENA_ARRAY(m->a, B, int64_t);
    for (int64_t b = 0; b < B; b++) {
        sequence[b] = b;
        for (int64_t t = 0; t < T; t++) {
            pad[b * T + t] = t < q->pad;
            token[b * T + t] = t < q->pad ? 0 : token_at(q, t - q->pad);
        }
    }
    return (struct model_input){.B = B,
                                .T = T,
                                .token = token,
                                .sequence = sequence,
                                .pad = q->pad ? pad : NULL,
                                .phase = q->train ? PEAT_TRAIN : PEAT_EVAL,
                                .step = q->train ? q->step : 0};
}

static void run(struct scheme_model *m)
{
    const struct model_input in = input_of(m);
    m->observer = (struct observer){
        .ctx = m, .chain_only = true, .stream = on_stream, .attention = on_attention};
    graph_init(&m->graph, m->a, m->request->team, PEAT_F32);
    m->graph.no_grad = true;
    m->graph.trail = m->request->trail;
    m->pass.observer = &m->observer;
    m->pass.collect = true;
    model_forward(&m->model, &m->graph, &in, &m->pass);
}

/* ---- tables ---- */

/* The last two axes are rows and columns; a vector is one row. Other axes are heads, except the
 * first where it has the rows of the batch. */
static void add_table(struct scheme_model *m, const char *what, const struct tensor *v)
{
    int rank = v->rank;
    int64_t n = tensor_count(v), columns = rank ? v->dim[rank - 1] : 1;
    int64_t rows = rank > 1 ? v->dim[rank - 2] : 1, lead = n / (rows * columns);
    bool batch = rank > 2 && m->request->rows > 1 && v->dim[0] == m->request->rows;
    if (n == 0)
        return;
    struct scheme_table *t = ARENA_APPEND(m->a, m->table, m->n, m->room);
    *t = scheme_table_try(arena_strdup(m->a, what), lead > 1 ? lead : 0, rows, columns, v, m->a);
    t->batch = batch ? m->request->rows : 0;
}

/* Spreads x over all pairs of places; heads or rows that share one table are not repeated. */
static void add_terms(struct scheme_model *m, const char *what, const peat_node *x)
{
    int64_t T = places(m);
    if (!x)
        return;
    const int64_t dim[] = {x->value.dim[0], x->value.dim[1], T, T};
    const struct tensor wide = tensor_broadcast_to(&x->value, 4, dim);
    add_table(m, what, &wide);
}

static void list_tables(struct scheme_model *m)
{
    if (m->stream)
        add_table(m, "stream", &m->stream->value);
    add_terms(m, "bias", m->seen.bias);
    add_terms(m, "score_add", m->seen.score_add);
    for (int i = 0; i < m->pass.n_probe; i++)
        add_table(m, m->pass.probe[i].node->name, &m->pass.probe[i].node->value);
}

static bool choose_table(struct scheme_model *m, struct scheme_table *t)
{
    const char *what = m->request->what, **name = ARENA_ARRAY(m->a, m->n, const char *);
    if (m->n == 0)
        return error_fail(m->err, PEAT_REFUSED,
                          "scheme '%s' has no table: no stream, no bias, and it names nothing for "
                          "inspection",
                          m->scheme->name);
    for (int i = 0; i < m->n; i++) {
        name[i] = m->table[i].what;
        if (!what || strcmp(what, name[i]) == 0) {
            *t = m->table[i];
            return true;
        }
    }
    error_set(m->err, PEAT_INVALID,
              "--what: scheme '%s' has no table '%s'; it has: ", m->scheme->name, what);
    error_add_names(m->err, what, name, m->n);
    return false;
}

bool scheme_model_table(struct scheme_table *t, const struct scheme_request *q, struct registry *r,
                        const struct plugin *scheme, struct arena *a, struct error *err)
{
    struct scheme_model *m = ARENA_NEW(a, struct scheme_model);
    *m = (struct scheme_model){.request = q, .registry = r, .scheme = scheme, .a = a, .err = err};
    if (!find_combine(m) || !fill_positional(m) || !build(m))
        return false;
    run(m);
    if (graph_failed(&m->graph))
        return error_fail(err, m->graph.err.status, "%s", m->graph.err.text);
    list_tables(m);
    return choose_table(m, t);
}
