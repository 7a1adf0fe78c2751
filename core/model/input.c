/* SPDX-License-Identifier: MIT */
/* input.c: streams, the class token's part in each, and their combination. */
#include "passes.h"

/* Entries N(0, 1/sqrt(d_model)), whatever the width of the stream. */
static struct weight *table_declare(struct model *m, const char *name, int64_t rows, int64_t width)
{
    return matrix_declare(&m->weights, name, rows, width, m->positional->tokens.std);
}

/* Weights that project numbers of deviation 1 to the same deviation as the rows of a table. */
static void projection_declare(struct model *m, const char *name, int64_t width, int64_t numbers,
                               struct weight **w, struct weight **b)
{
    affine_declare(&m->weights, name, width, numbers, m->positional->tokens.std,
                   (peat_init){.kind = PEAT_INIT_ZERO}, w, b);
}

/* The streams of the task, which come last. */
static void streams_declare(struct model *m)
{
    const struct positional *p = m->positional;
    for (int i = 0; i < p->n_more; i++) {
        const peat_stream *s = &m->config.stream[i];
        int64_t width = p->width[p->n_stream - p->n_more + i];
        const char *name = arena_printf(m->arena, "stream.%s", s->name);
        if (s->ids > 0)
            m->stream_w[i] =
                table_declare(m, arena_printf(m->arena, "%s.weight", name), s->ids, width);
        else
            projection_declare(m, name, width, s->numbers, &m->stream_w[i], &m->stream_b[i]);
    }
}

bool model_has_class_token(const struct model_config *c)
{
    return c->head != PEAT_HEAD_TOKENS && c->pool == POOL_CLS;
}

int64_t class_token_front(const struct model_config *c)
{
    return model_has_class_token(c) && c->cls_position != CLS_FIRST;
}

static void class_token_declare(struct model *m)
{
    const struct positional *p = m->positional;
    if (!model_has_class_token(&m->config))
        return;
    m->class_token = table_declare(m, "class.token", 1, p->width[0]);
    for (int i = 0; m->config.cls_position == CLS_OWN && i < p->n_scheme; i++)
        if (p->scheme[i].hooks->encode)
            m->class_row[i] = table_declare(
                m, arena_printf(m->arena, "class.%s", p->scheme[i].part.prefix), 1, p->scheme[i].d);
}

/* [B,T] with `first` before each row; NULL: with the row's own first element before it. */
static void *led(struct graph *g, const void *array, size_t each, int64_t B, int64_t T,
                 const void *first)
{
    const unsigned char *from = array;
    unsigned char *to = arena_try_array(g->arena, (size_t)(B * (T + 1)), each);
    for (int64_t b = 0; to && b < B; b++) {
        const unsigned char *row = from ? from + (size_t)(b * T) * each : NULL;
        unsigned char *out = to + (size_t)(b * (T + 1)) * each;
        memcpy(out, first ? first : row, each);
        if (row)
            memcpy(out + each, row, (size_t)T * each);
        else
            memset(out + each, 0, (size_t)T * each);
    }
    return to;
}

bool class_token_place(struct graph *g, const struct model *m, const struct model_input *in,
                       struct model_input *out)
{
    const int32_t id = (int32_t)m->config.vocab, zero = 0;
    const uint8_t yes = 1, no = 0;
    int64_t B = in->B, T = in->rows.T;
    *out = *in;
    out->rows.T = T + 1;
    out->rows.T_total = in->rows.T_total > 0 ? in->rows.T_total + 1 : 0;
    out->rows.special = led(g, in->rows.special, sizeof(yes), B, T, &yes);
    bool ok = out->rows.special != NULL;
    if (in->rows.token)
        ok = (out->rows.token = led(g, in->rows.token, sizeof(id), B, T, &id)) && ok;
    if (in->rows.segment)
        ok = (out->rows.segment = led(g, in->rows.segment, sizeof(zero), B, T, &zero)) && ok;
    if (in->rows.document)
        ok = (out->rows.document = led(g, in->rows.document, sizeof(zero), B, T, NULL)) && ok;
    if (in->rows.pad)
        ok = (out->rows.pad = led(g, in->rows.pad, sizeof(no), B, T, &no)) && ok;
    return ok || graph_no_memory(g, "a class token", 0) != NULL;
}

void input_declare(struct model *m)
{
    const struct positional *p = m->positional;
    if (m->config.input == PEAT_INPUT_PATCHES)
        projection_declare(m, "patch", p->width[0], m->config.patch_width, &m->patch_w,
                           &m->patch_b);
    else
        m->token = table_declare(m, "token.weight", m->config.vocab, p->width[0]);
    if (m->config.n_segment > 0)
        m->segment = table_declare(m, "segment.weight", m->config.n_segment,
                                   p->width[p->n_stream - p->n_more - 1]);
    streams_declare(m);
    class_token_declare(m);
}

/* x times the factor of the token table. */
static peat_node *input_scaled(const struct model *m, struct graph *g, peat_node *x)
{
    double scale = m->positional->tokens.factor;
    return scale == 1.0 ? x : op_affine(&g->base, x, scale, 0.0);
}

/* The first row of a table [n, width], or a shift [width], as [1, 1, width], scaled as tokens
 * are. */
static peat_node *scaled_row(struct model *m, struct pass *pass, struct weight *w)
{
    peat_graph *g = &pass->g->base;
    peat_node *x = weight_node(pass->g, w);
    if (w->value.rank == 2)
        x = op_slice(g, x, 0, 0, 1);
    x = op_reshape(g, x, 3, (int64_t[]){1, 1, w->value.dim[w->value.rank - 1]});
    return input_scaled(m, pass->g, x);
}

/* The class token's row of its own table or of the segments', [B,1,width]. */
static peat_node *class_token_stream(struct model *m, struct pass *pass, struct weight *table)
{
    peat_node *x = scaled_row(m, pass, table);
    return op_expand(&pass->g->base, x, 3,
                     (int64_t[]){pass->B, 1, table->value.dim[table->value.rank - 1]});
}

/* The class token's row in place of the stream of scheme `index`, [1,1,d]. */
static peat_node *class_token_position(struct model *m, struct pass *pass, int index)
{
    const int64_t dim[] = {1, 1, m->positional->scheme[index].d};
    if (m->class_row[index])
        return scaled_row(m, pass, m->class_row[index]);
    return graph_zeros(pass->g, pass->g->dtype, 3, dim);
}

/* ids [B,T] -> scaled rows [B,T,width] */
static peat_node *look_up(struct model *m, struct pass *pass, struct weight *table,
                          const struct model_input *in, const int32_t *id)
{
    struct graph *g = pass->g;
    peat_node *index =
        graph_constant(g, PEAT_I32, 2, (int64_t[]){in->B, in->rows.T}, (void *)(uintptr_t)id);
    return input_scaled(m, g, op_gather_rows(&g->base, weight_node(g, table), index));
}

/* Numbers [B,T,n] -> scaled projections [B,T,width] */
static peat_node *projected(struct model *m, struct pass *pass, const struct model_input *in,
                            const float *numbers, struct weight *w, struct weight *b)
{
    struct graph *g = pass->g;
    int64_t each = w->value.dim[1], n = in->B * in->rows.T * each;
    peat_node *x = graph_constant(g, g->dtype, 3, (int64_t[]){in->B, in->rows.T, each}, NULL);
    for (int64_t i = 0; x && x->value.data && i < n; i++)
        tensor_set(&x->value, i, (double)numbers[i]);
    return input_scaled(m, g, op_linear(&g->base, x, weight_node(g, w), weight_node(g, b)));
}

static peat_node *patches(struct model *m, struct pass *pass, const struct model_input *in)
{
    return in->patch ? projected(m, pass, in, in->patch, m->patch_w, m->patch_b)
                     : graph_fail(pass->g, "the model takes patches, and the batch has none");
}

static peat_node *encode(struct pass *pass, int index)
{
    const struct scheme_part *s = &pass->positional->scheme[index];
    struct call c;
    call_init(&c, pass, index, -1);
    const peat_side *all = span_so_far(&pass->span);
    if (span_grows(&pass->span) && s->hooks->needs & PEAT_NEED_TOKENS)
        call_sides(&c, all, all);
    hook_begin(&c, HOOK_ENCODE);
    return stored_newest(pass, hook_end(pass, s->hooks->encode(&c.base), 3,
                                        (int64_t[]){pass->B, c.base.q->T, s->d}, 1));
}

/* The stream, or the observer's replacement. */
static peat_node *observed(struct pass *pass, enum stream_kind kind, int index, peat_node *x)
{
    const struct observer *o = pass->observer;
    return o && o->stream && x ? o->stream(o->ctx, pass, kind, index, x) : x;
}

/* Merges streams of the rows, or of the front. For combinations the front is at position 0. */
static peat_node *merge(struct pass *pass, bool front, int n, peat_node *const *x)
{
    static const double zero[] = {0.0};
    struct positional *p = pass->positional;
    struct call c;
    call_init(&c, pass, -1, -1);
    if (front)
        c.own = (peat_side){
            .size = sizeof(c.own), .T = pass->span.front, .pos_B = 1, .n_axes = 1, .pos = zero};
    hook_begin(&c, HOOK_MERGE);
    return hook_end(pass, p->combine->merge(&c.base, n, x), 3, (int64_t[]){pass->B, c.own.T, p->D},
                    0);
}

/* Without a combine the other streams are segments and streams of the task; they are added. */
static peat_node *join(struct pass *pass, bool front, int n, peat_node *const *stream)
{
    const struct positional *p = pass->positional;
    if (p->combine)
        return p->n_stream >= p->combine->min_streams ? merge(pass, front, n, stream) : stream[0];
    peat_node *sum = stream[0];
    for (int i = 1; i < n; i++)
        sum = op_add(&pass->g->base, sum, stream[i]);
    return sum;
}

/* Merges x and a stream that enters in a layer. The input was merged before, so if the combination
 * fails here, it has tensors for more streams. */
static peat_node *merge_two(struct pass *pass, bool front, int index, peat_node *x, peat_node *late)
{
    const struct positional *p = pass->positional;
    struct graph *g = pass->g;
    bool failed = graph_failed(g);
    peat_node *y = merge(pass, front, 2, (peat_node *[]){x, late});
    if (!failed && g->err.status == PEAT_INVALID && p->n_stream > 2)
        error_set(&g->err, PEAT_INVALID,
                  "combine '%s' has tensors for all %d streams of the input, so the stream of '%s' "
                  "can only enter at the input",
                  p->combine_part.id, p->n_stream, p->scheme[index].part.id);
    return y;
}

peat_node *input_merge(struct pass *pass, int index, peat_node *x)
{
    peat_node *rest = merge_two(pass, false, index, front_cut(pass, x, 1), pass->stream[index]);
    if (pass->span.front == 0)
        return rest;
    peat_graph *g = &pass->g->base;
    peat_node *front = op_slice(g, x, 1, 0, pass->span.front);
    front = merge_two(pass, true, index, front, pass->front_stream[index]);
    return op_concat(g, 2, (peat_node *[]){front, rest}, 1);
}

/* Streams in the order in which they are merged, for the rows and for the front. */
struct streams {
    int n;
    peat_node *side[POSITIONAL_STREAMS], *front[POSITIONAL_STREAMS];
};

/* Adds a stream for tokens and, if there is a class token, its row: before them or in the front. */
static void add_tokens(struct streams *s, struct pass *pass, enum stream_kind kind, int index,
                       peat_node *tokens, peat_node *class)
{
    if (class && pass->span.front == 0)
        tokens = op_concat(&pass->g->base, 2, (peat_node *[]){class, tokens}, 1);
    s->front[s->n] = class;
    s->side[s->n++] = observed(pass, kind, index, tokens);
}

static void add_positions(struct streams *s, struct model *m, struct pass *pass)
{
    for (int i = 0; i < pass->positional->n_scheme; i++) {
        const struct scheme_part *scheme = &pass->positional->scheme[i];
        if (!scheme->hooks->encode)
            continue;
        peat_node *P = observed(pass, STREAM_POSITION, i, encode(pass, i));
        peat_node *front = pass->span.front > 0 ? class_token_position(m, pass, i) : NULL;
        if (scheme->where.at == SITE_INPUT) {
            s->front[s->n] = front;
            s->side[s->n++] = P;
        } else {
            pass->stream[i] = P;
            pass->front_stream[i] = front;
        }
    }
}

/* Adds a stream of the task's own. Diagnoses count it as segments. */
static void add_own(struct streams *s, struct model *m, struct pass *pass,
                    const struct model_input *in, int i)
{
    struct weight *w = m->stream_w[i], *b = m->stream_b[i];
    peat_node *x = NULL, *class = NULL;
    if (m->class_token)
        class = class_token_stream(m, pass, b ? b : w);
    if (b ? !in->stream_number[i] : !in->stream_id[i])
        graph_fail(pass->g, "the model takes a stream '%s', and the batch has none",
                   m->config.stream[i].name);
    else
        x = b ? projected(m, pass, in, in->stream_number[i], w, b)
              : look_up(m, pass, w, in, in->stream_id[i]);
    add_tokens(s, pass, STREAM_SEGMENT, i, x, class);
}

static peat_node *all_joined(struct pass *pass, const struct streams *s)
{
    peat_node *x = join(pass, false, s->n, s->side);
    if (pass->span.front == 0)
        return x;
    peat_node *front = join(pass, true, s->n, s->front);
    return op_concat(&pass->g->base, 2, (peat_node *[]){front, x}, 1);
}

peat_node *input_forward(struct model *m, struct pass *pass, const struct model_input *in)
{
    struct streams s = {0};
    peat_node *class = m->class_token ? class_token_stream(m, pass, m->class_token) : NULL;
    peat_node *tokens =
        m->token ? look_up(m, pass, m->token, in, in->rows.token) : patches(m, pass, in);
    add_tokens(&s, pass, STREAM_TOKEN, -1, tokens, class);
    add_positions(&s, m, pass);
    if (m->segment) {
        class = m->class_token ? class_token_stream(m, pass, m->segment) : NULL;
        add_tokens(&s, pass, STREAM_SEGMENT, -1, look_up(m, pass, m->segment, in, in->rows.segment),
                   class);
    }
    for (int i = 0; i < m->positional->n_more; i++)
        add_own(&s, m, pass, in, i);
    peat_node *x = pass_seen(pass, "input", -1, all_joined(pass, &s));
    return pass_dropout(pass, x, m->config.dropout, "input", 0);
}
