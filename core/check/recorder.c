/* SPDX-License-Identifier: MIT */
/* recorder.c: hooks that record their calls. */
#include "recorder.h"

#include "plugin/params.h"

static struct recorder *recorder_of(const peat_call *c)
{
    return (struct recorder *)(uintptr_t)c->host;
}

static const struct call *call_of(const peat_call *c)
{
    return (const struct call *)c;
}

/* ---- arrays ---- */

static struct json new_array(struct arena *a, int rank, const int64_t *dim)
{
    struct json array = json_map(a), shape = json_put_list(array, "shape");
    for (int i = 0; i < rank; i++)
        json_add_int(shape, dim[i]);
    return array;
}

/* {"shape": [..], "bytes": ".."}: 16 hexadecimal digits for each number. */
static struct value *reals(struct arena *a, int rank, const int64_t *dim, const double *x)
{
    struct json array = new_array(a, rank, dim);
    const unsigned char *byte = (const unsigned char *)x;
    int64_t n = sizeof(*x);
    for (int i = 0; i < rank; i++)
        n *= dim[i];
    char *text = arena_alloc(a, (size_t)(2 * n + 1));
    for (int64_t i = 0; i < 2 * n; i++)
        text[i] = "0123456789abcdef"[byte[i / 2] >> (i % 2 ? 0 : 4) & 15];
    text[2 * n] = '\0';
    json_put_text(array, "bytes", text);
    return array.v;
}

static struct value *numbers_of(struct arena *a, const struct tensor *t)
{
    double *x = ARENA_ARRAY(a, tensor_count(t) + 1, double);
    for (int64_t i = 0; i < tensor_count(t); i++)
        x[i] = tensor_get(t, i);
    return reals(a, t->rank, t->dim, x);
}

/* A number per place: {"shape": [B, T], "data": [..]}; 0 without ids and marks. */
static void put_places(struct json map, const char *key, int64_t B, int64_t T, const int32_t *id,
                       const uint8_t *mark)
{
    struct json array = new_array(map.a, 2, (int64_t[]){B, T}), data = json_put_list(array, "data");
    json_put(map, key, array.v);
    for (int64_t i = 0; i < B * T; i++)
        json_add_int(data, id ? id[i] : mark ? mark[i] : 0);
}

/* ---- what every hook is given ---- */

/* The first dimension, of axes, is left out where there is one axis. */
static struct value *positions(struct arena *a, const peat_side *side, const double *pos)
{
    const int64_t dim[] = {side->n_axes, side->pos_B, side->T};
    int skip = side->n_axes == 1;
    return reals(a, 3 - skip, dim + skip, pos);
}

static void put_sides(struct json in, const peat_call *c)
{
    const peat_side *q = c->q, *k = c->k;
    json_put(in, "pos", positions(in.a, q, q->pos));
    json_put(in, "pos_k", positions(in.a, k, k->pos));
    put_places(in, "token", c->B, q->T, q->token, NULL);
    put_places(in, "token_k", c->B, k->T, k->token, NULL);
    put_places(in, "document", c->B, q->T, q->document, NULL);
    put_places(in, "pad", c->B, q->T, NULL, q->pad);
    put_places(in, "special", c->B, q->T, NULL, q->special);
    put_places(in, "special_k", c->B, k->T, NULL, k->special);
    json_put_int(in, "T", q->T);
    json_put_int(in, "T_k", k->T);
    json_put_int(in, "T_total", q->T_total);
}

static void put_sizes(struct json in, const peat_call *c)
{
    json_put_int(in, "B", c->B);
    json_put_int(in, "D", c->dims.D);
    json_put_int(in, "H", c->H);
    json_put_int(in, "C", c->dims.C);
    json_put_int(in, "L", c->dims.L);
    json_put_int(in, "d", c->d);
    json_put_int(in, "T_train", c->dims.T_train);
    json_put_int(in, "T_max", c->dims.T_max);
    json_put_bool(in, "causal", c->dims.causal);
    json_put_bool(in, "across", call_of(c)->pass->span.source != NULL);
    json_put_bool(in, "training", c->phase == PEAT_TRAIN);
    json_put_int(in, "layer", c->layer);
    json_put_int(in, "step", c->step);
    json_put_int(in, "trained_step", call_of(c)->pass->trained_step);
}

/* The parameters, with the values that setup chose for `auto`. */
static struct value *settings_of(const peat_call *c, struct arena *a)
{
    const peat_param *row = recorder_of(c)->subject->plugin->desc->param;
    struct value *given = params_value(row, c->config, a);
    return value_merge(a, given, call_of(c)->part->resolved);
}

/* Maps the names that setup gave to the plugin's tensors to the names of the model's weights. */
static void put_tensors(struct json call, const peat_call *c)
{
    const struct part *part = call_of(c)->part;
    struct json tensors = json_put_map(call, "tensors");
    for (int i = 0; i < part->n_weight; i++) {
        const struct scheme_weight *w = &part->weight[i];
        if (w->scope != PEAT_PER_LAYER || c->layer >= 0)
            json_put_text(tensors, w->name,
                          w->layer[w->scope == PEAT_PER_LAYER ? c->layer : 0]->name);
    }
}

/* W_q, W_k, W_v [H*C, D] and b_q, b_k, b_v [H*C] of this layer's projections. */
static void put_projections(struct json in, const peat_call *c)
{
    static const char *const name[][2] = {{"W_q", "b_q"}, {"W_k", "b_k"}, {"W_v", "b_v"}};
    const struct call *call = call_of(c);
    const struct weight *w = call->attention->qkv_w, *b = call->attention->qkv_b;
    int64_t D = c->dims.D, C = call->pass->dims.C, rows = c->H * C;
    size_t item = dtype_bytes(w->value.dtype);
    for (int i = 0; i < 3; i++) {
        size_t first = (size_t)(i * D + call->head_begin * C) * item;
        struct tensor matrix = tensor_shape(w->value.dtype, 2, (int64_t[]){rows, D}),
                      bias = tensor_shape(w->value.dtype, 1, &rows);
        matrix.data = (char *)w->value.data + first * (size_t)D;
        bias.data = b ? (char *)b->value.data + first : arena_zalloc(in.a, (size_t)rows * item);
        json_put(in, name[i][0], numbers_of(in.a, &matrix));
        json_put(in, name[i][1], numbers_of(in.a, &bias));
    }
}

static bool is_shown(const char *key)
{
    static const char *const ids[] = {"token", "token_k", "document", "pad", "special", "special_k",
                                      "W_q",   "b_q",     "W_k",      "b_k", "W_v",     "b_v"};
    return name_index(ids, sizeof(ids) / sizeof(*ids), key) < 0;
}

static void add_shapes(struct recorder *r, struct strbuf *line, const struct value *arrays)
{
    for (int i = 0; i < arrays->n; i++) {
        const char *key = arrays->key ? arrays->key[i] : "";
        const struct value *shape = value_get(arrays->item[i], "shape");
        if (shape && is_shown(key))
            strbuf_addf(line, " %s%s%s", key, *key ? " " : "",
                        json_to_text(shape, JSON_DENSE, r->arena));
    }
}

/* Keeps the call, and traces it: "  rotary.qkv, layer 0: pos [1,6] q [3,2,6,8] -> [3,2,6,8]" */
static void keep_call(struct recorder *r)
{
    const struct value *in = value_get(r->call.v, "in");
    struct strbuf line = STRBUF_NEW;
    json_add((struct json){r->arena, r->calls}, r->call.v);
    if (!r->subject->trace)
        return;
    strbuf_addf(&line, "  %s.%s, layer %" PRId64 ":", r->subject->plugin->desc->id,
                json_get_text(r->call.v, "hook"), json_get_int(in, "layer", 0));
    add_shapes(r, &line, in);
    strbuf_addf(&line, " ->");
    add_shapes(r, &line, value_get(r->call.v, "out"));
    r->subject->trace(line.text);
    strbuf_release(&line);
}

/* ---- a call ---- */

/* Replaces an input by a leaf of the same value, and records it. */
static peat_node *cut(struct recorder *r, const char *name, peat_node *x)
{
    if (!x || r->n_made == RECORDED_CALLS)
        return x;
    struct recorded_call *made = &r->made[r->n_made];
    struct tensor value = tensor_new(x->g->arena, x->value.dtype, x->value.rank, x->value.dim);
    if (value.data)
        tensor_copy(&value, &x->value);
    peat_node *leaf = graph_leaf(x->g, &value, NULL, name);
    json_put((struct json){r->arena, value_get(made->map.v, "in")}, name,
             numbers_of(r->arena, &value));
    made->name[made->n_in] = name;
    made->in[made->n_in++] = leaf;
    return leaf;
}

/* Replaces the nodes that go from layer to layer by leaves. */
static peat_node *const *cut_state(struct recorder *r, peat_node *const *state)
{
    for (int i = 0; i < PEAT_MAX_SHARED; i++)
        r->state[i] = cut(r, arena_printf(r->arena, "state%d", i), state[i]);
    return r->state;
}

/* Whether the query at i of row b sees the key at j. */
static bool sees(const peat_call *c, int64_t b, int64_t i, int64_t j)
{
    const peat_side *q = c->q, *k = c->k;
    if (call_of(c)->pass->span.source)
        return true;
    return !(k->pad && k->pad[b * k->T + j]) &&
           !(q->document && q->document[b * q->T + i] != k->document[b * k->T + j]) &&
           !(c->dims.causal && j > i);
}

static void keep_seen(const peat_call *c, struct recorded_call *made)
{
    int64_t Tq = c->q->T, Tk = c->k->T, n = c->B * Tq * Tk;
    bool *seen = ARENA_ARRAY(recorder_of(c)->arena, n, bool);
    for (int64_t i = 0; i < n; i++)
        seen[i] = sees(c, i / Tk / Tq, i / Tk % Tq, i % Tk);
    made->seen = seen;
    memcpy(made->n_pair, (int64_t[]){c->B, Tq, Tk}, sizeof(made->n_pair));
}

/* Results of these hooks have a number for each query and key. */
static bool is_of_pairs(enum hook_id hook)
{
    return hook == HOOK_BIAS || hook == HOOK_SCORE_ADD || hook == HOOK_LOGITS ||
           hook == HOOK_WEIGHTS;
}

static struct json begin(const peat_call *c, enum hook_id hook)
{
    struct recorder *r = recorder_of(c);
    r->call = json_map(r->arena);
    struct recorded_call *made = &r->made[r->n_made];
    *made = (struct recorded_call){.map = r->call};
    json_put_text(r->call, "hook", hook_name(hook));
    struct json in = json_put_map(r->call, "in");
    put_sides(in, c);
    put_sizes(in, c);
    json_put(r->call, "settings", settings_of(c, r->arena));
    json_put_map(in, "random");
    put_tensors(r->call, c);
    if (call_of(c)->attention)
        put_projections(in, c);
    peat_call *own = (peat_call *)(uintptr_t)c; /* on the caller's stack, not constant */
    bool one = c->x_q == c->x_k;
    own->x_q = cut(r, "x_q", c->x_q);
    own->x_k = one ? own->x_q : cut(r, "x_k", c->x_k);
    if (is_of_pairs(hook))
        keep_seen(c, made);
    if (one && c->x_k)
        json_put(in, "x_k", value_get(in.v, "x_q"));
    if (c->mask)
        json_put(in, "mask", numbers_of(in.a, &c->mask->value));
    if (r->scheme.carry && c->layer >= 0)
        own->shared = cut_state(r, c->shared);
    return in;
}

static void end(const peat_call *c, int n, peat_node *const *out)
{
    struct recorder *r = recorder_of(c);
    struct recorded_call *made = &r->made[r->n_made];
    struct json results = json_put_list(r->call, "out");
    for (int i = 0; i < n; i++) {
        if (!out[i] || r->n_made == RECORDED_CALLS)
            return;
        json_add(results, numbers_of(r->arena, &out[i]->value));
        made->out[made->n_out++] = out[i];
    }
    r->n_made++;
    keep_call(r);
}

static peat_node *end_one(const peat_call *c, peat_node *out)
{
    end(c, 1, &out);
    return out;
}

/* ---- random numbers ---- */

static struct json random_list(const peat_call *c, const char *name)
{
    struct recorder *r = recorder_of(c);
    struct json random = {r->arena, value_get_path(r->call.v, "in.random")};
    struct value *list = value_get(random.v, name);
    return list ? (struct json){r->arena, list} : json_put_list(random, name);
}

static peat_node *record_random(const peat_call *c, const char *name, int32_t rank,
                                const int64_t *dim)
{
    peat_node *x = host_table()->random(c, name, rank, dim);
    if (x && recorder_of(c)->call.v)
        json_add(random_list(c, name), numbers_of(recorder_of(c)->arena, &x->value));
    return x;
}

static void record_random_row(const peat_call *c, const char *name, int64_t b, int64_t n,
                              double *out)
{
    host_table()->random_row(c, name, b, n, out);
    if (recorder_of(c)->call.v)
        json_add(random_list(c, name), reals(recorder_of(c)->arena, 1, &n, out));
}

/* ---- hooks ---- */

static const peat_scheme *hooks_of(const peat_call *c)
{
    return checked_scheme(recorder_of(c)->subject);
}

/* Calls a hook that moves positions, and records the result. */
static peat_status run_positions(const peat_call *c, const peat_side *side, double *pos,
                                 peat_status (*hook)(const peat_call *c, double *pos))
{
    struct recorder *r = recorder_of(c);
    peat_status status = hook(c, pos);
    if (status != PEAT_OK)
        return status;
    json_add(json_put_list(r->call, "out"), positions(r->arena, side, pos));
    keep_call(r);
    return PEAT_OK;
}

static peat_status record_positions(const peat_call *c, double *pos)
{
    begin(c, HOOK_POSITIONS);
    return run_positions(c, c->q, pos, hooks_of(c)->positions);
}

/* Adds to them too: position 0 may be special. */
static peat_status stretch_positions(const peat_call *c, double *pos)
{
    double stride = recorder_of(c)->stride;
    peat_status status = hooks_of(c)->positions ? record_positions(c, pos) : PEAT_OK;
    for (int64_t i = 0; i < c->q->n_axes * c->q->pos_B * c->q->T; i++)
        pos[i] = (pos[i] + 1) * stride;
    return status;
}

static peat_status record_own_positions(const peat_call *c, double *pos)
{
    const peat_scheme *h = hooks_of(c);
    peat_side own = *c->q;
    own.n_axes = h->own_axes > 0 ? h->own_axes : 1;
    own.pos_B = c->B;
    struct json in = begin(c, HOOK_OWN_POSITIONS);
    json_put(in, "pos", positions(in.a, &own, pos));
    return run_positions(c, &own, pos, h->own_positions);
}

static peat_node *record_encode(const peat_call *c)
{
    begin(c, HOOK_ENCODE);
    return end_one(c, hooks_of(c)->encode(c));
}

static peat_node *record_residual(const peat_call *c, peat_node *x)
{
    begin(c, HOOK_RESIDUAL);
    return end_one(c, hooks_of(c)->residual(c, cut(recorder_of(c), "x", x)));
}

static peat_status record_hidden(const peat_call *c, peat_node **xq, peat_node **xk, peat_node **xv)
{
    struct recorder *r = recorder_of(c);
    begin(c, HOOK_HIDDEN);
    *xq = cut(r, "xq", *xq);
    *xk = cut(r, "xk", *xk);
    *xv = cut(r, "xv", *xv);
    peat_status status = hooks_of(c)->hidden(c, xq, xk, xv);
    end(c, 3, (peat_node *[]){*xq, *xk, *xv});
    return status;
}

static peat_status record_qkv(const peat_call *c, peat_qkv *io)
{
    struct recorder *r = recorder_of(c);
    begin(c, HOOK_QKV);
    io->q = cut(r, "q", io->q);
    io->k = cut(r, "k", io->k);
    io->v = cut(r, "v", io->v);
    peat_status status = hooks_of(c)->qkv(c, io);
    end(c, 3, (peat_node *[]){io->q, io->k, io->v});
    return status;
}

static peat_node *record_bias_rel(const peat_call *c, const peat_rel *rel)
{
    const int64_t dim[] = {rel->n_axes, rel->n};
    int skip = rel->n_axes == 1;
    struct json in = begin(c, HOOK_BIAS_REL);
    json_put(in, "delta", reals(in.a, 2 - skip, dim + skip, rel->delta));
    return end_one(c, hooks_of(c)->bias_rel(c, rel));
}

/* p with leaves for q, k and v; NULL stays NULL. */
static const peat_qkv *cut_qkv(const peat_call *c, const peat_qkv *p, peat_qkv *room)
{
    struct recorder *r = recorder_of(c);
    if (!p)
        return NULL;
    *room = (peat_qkv){sizeof(*room), cut(r, "q", p->q), cut(r, "k", p->k), cut(r, "v", p->v)};
    return room;
}

static peat_node *record_bias(const peat_call *c, const peat_qkv *p)
{
    peat_qkv room;
    begin(c, HOOK_BIAS);
    return end_one(c, hooks_of(c)->bias(c, cut_qkv(c, p, &room)));
}

static peat_node *record_score_add(const peat_call *c, const peat_qkv *p)
{
    peat_qkv room;
    begin(c, HOOK_SCORE_ADD);
    return end_one(c, hooks_of(c)->score_add(c, cut_qkv(c, p, &room)));
}

/* A hook on two nodes beside queries, keys and values. */
static peat_node *
record_two(const peat_call *c, enum hook_id id,
           peat_node *(*hook)(const peat_call *c, const peat_qkv *p, peat_node *x, peat_node *y),
           const peat_qkv *p, const char *const name[2], peat_node *x, peat_node *y)
{
    struct recorder *r = recorder_of(c);
    peat_qkv room;
    begin(c, id);
    const peat_qkv *seen = cut_qkv(c, p, &room);
    x = cut(r, name[0], x);
    return end_one(c, hook(c, seen, x, cut(r, name[1], y)));
}

static const char *const of_scores[] = {"S", "bias"}, *const of_context[] = {"o", "W"};

static peat_node *record_logits(const peat_call *c, const peat_qkv *p, peat_node *S,
                                peat_node *bias)
{
    return record_two(c, HOOK_LOGITS, hooks_of(c)->logits, p, of_scores, S, bias);
}

static peat_node *record_softmax(const peat_call *c, const peat_qkv *p, peat_node *S,
                                 peat_node *bias)
{
    return record_two(c, HOOK_SOFTMAX, hooks_of(c)->softmax, p, of_scores, S, bias);
}

static peat_node *record_context(const peat_call *c, const peat_qkv *p, peat_node *o, peat_node *W)
{
    return record_two(c, HOOK_CONTEXT, hooks_of(c)->context, p, of_context, o, W);
}

static peat_node *record_weights(const peat_call *c, peat_node *W)
{
    begin(c, HOOK_WEIGHTS);
    return end_one(c, hooks_of(c)->weights(c, cut(recorder_of(c), "W", W)));
}

static peat_status record_carry(const peat_call *c, peat_node *x, peat_node *W,
                                peat_node *state[PEAT_MAX_SHARED])
{
    struct recorder *r = recorder_of(c);
    int n = 0;
    begin(c, HOOK_CARRY);
    memcpy(state, r->state, sizeof(r->state));
    x = cut(r, "x", x);
    peat_status status = hooks_of(c)->carry(c, x, cut(r, "W", W), state);
    while (n < PEAT_MAX_SHARED && state[n])
        n++;
    end(c, n, state);
    return status;
}

static peat_node *record_merge(const peat_call *c, int32_t n, peat_node *const *x)
{
    struct recorder *r = recorder_of(c);
    peat_node *stream[POSITIONAL_STREAMS];
    begin(c, HOOK_MERGE);
    for (int32_t i = 0; i < n; i++)
        stream[i] = cut(r, arena_printf(r->arena, "x%d", (int)i), x[i]);
    return end_one(c, checked_combine(r->subject)->merge(c, n, stream));
}

static const peat_scheme recording = {
    .positions = record_positions,
    .own_positions = record_own_positions,
    .encode = record_encode,
    .residual = record_residual,
    .hidden = record_hidden,
    .qkv = record_qkv,
    .bias_rel = record_bias_rel,
    .bias = record_bias,
    .score_add = record_score_add,
    .logits = record_logits,
    .softmax = record_softmax,
    .weights = record_weights,
    .context = record_context,
    .carry = record_carry,
};

void recorder_init(struct recorder *r, const struct checked *s, double stride, struct arena *a)
{
    *r = (struct recorder){.host = *host_table(), .subject = s, .stride = stride, .arena = a};
    r->host.random = record_random;
    r->host.random_row = record_random_row;
    r->calls = value_list(a, NOWHERE);
    r->made = ARENA_ARRAY(a, RECORDED_CALLS + 1, struct recorded_call);
    if (checked_combine(s)) {
        r->combine = *checked_combine(s);
        r->combine.merge = record_merge;
        return;
    }
    r->scheme = *checked_scheme(s);
    for (const struct hook *h = hook_table(); h->name; h++)
        if (h->kind == PEAT_SCHEME && hook_is_in(h, &recording) && hook_is_in(h, &r->scheme))
            memcpy((char *)&r->scheme + h->offset, (const char *)&recording + h->offset,
                   sizeof(void (*)(void)));
    if (stride > 0)
        r->scheme.positions = stretch_positions;
}

/* ---- gradients ---- */

/* Sets the weights w [1|B, H, 1|Tq, 1|Tk] of results that no pair uses to 0. */
static void hide_unseen(const struct recorded_call *made, struct tensor *w, struct arena *a)
{
    const int64_t *n = made->n_pair, *dim = w->dim, places = dim[2] * dim[3];
    bool *used = ARENA_ARRAY(a, dim[0] * places, bool);
    memset(used, 0, (size_t)(dim[0] * places));
    for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++) {
        int64_t b = i / n[2] / n[1] % dim[0], q = i / n[2] % n[1] % dim[2], k = i % n[2] % dim[3];
        used[b * places + q * dim[3] + k] |= made->seen[i];
    }
    for (int64_t i = 0; i < tensor_count(w); i++)
        if (!used[i / places / dim[1] * places + i % places])
            tensor_set(w, i, 0);
}

/* rig_sum of x, whose weights are put into `list`. */
static peat_node *listed_sum(struct recorder *r, struct graph *g, const struct recorded_call *made,
                             peat_node *x, uint64_t stream, struct json list)
{
    struct tensor w = tensor_new(r->arena, x->value.dtype, x->value.rank, x->value.dim);
    peat_node *weights, *sum = rig_sum(g, x, stream, &weights);
    if (!sum)
        return NULL;
    w.data = weights->value.data;
    if (made->seen)
        hide_unseen(made, &w, r->arena);
    json_add(list, numbers_of(r->arena, &w));
    return sum;
}

static peat_node *loss_of(struct recorder *r, struct graph *g)
{
    peat_node *loss = NULL;
    for (int i = 0; i < r->n_made; i++) {
        struct json w = json_put_list(r->made[i].map, "w");
        for (int k = 0; k < r->made[i].n_out; k++) {
            uint64_t stream = rng_substream(rng_stream(1, "check", "reference"), (uint64_t)i * 8);
            peat_node *one =
                listed_sum(r, g, &r->made[i], r->made[i].out[k], stream + (uint64_t)k, w);
            loss = loss ? peat_add(&g->base, loss, one) : one;
        }
    }
    return loss;
}

static void put_input_gradients(struct recorder *r)
{
    for (int i = 0; i < r->n_made; i++) {
        struct recorded_call *made = &r->made[i];
        struct json grads = json_put_map(made->map, "grads");
        for (int k = 0; k < made->n_in; k++)
            if (made->in[k] && made->in[k]->grad.data)
                json_put(grads, made->name[k], numbers_of(r->arena, &made->in[k]->grad));
    }
}

void recorder_end(struct recorder *r, struct rig *rig, struct graph *g)
{
    struct json trial = json_map(r->arena);
    peat_node *loss = loss_of(r, g);
    if (loss) {
        weights_zero_grad(&rig->s.model.weights);
        graph_backward(g, loss);
        put_input_gradients(r);
    }
    json_put(trial, "calls", r->calls);
    struct json tensors = json_put_map(trial, "tensors"), grads = json_put_map(trial, "grads");
    for (int i = 0; i < rig->s.model.weights.n; i++) {
        const struct weight *w = rig->s.model.weights.item[i];
        if (!strstr(w->name, r->subject->plugin->desc->id))
            continue;
        json_put(tensors, w->name, numbers_of(r->arena, &w->value));
        if (w->grad.data)
            json_put(grads, w->name, numbers_of(r->arena, &w->grad));
    }
    r->text = r->calls->n > 0 ? json_to_text(trial.v, JSON_DENSE, r->arena) : NULL;
}
