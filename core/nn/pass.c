/* SPDX-License-Identifier: MIT */
/* pass.c: calls of hooks, and the hooks that run before all others. */
#include "nn/pass.h"

const peat_side *span_so_far(const struct span *s)
{
    return s->so_far ? s->so_far : &s->rows;
}

int64_t span_first(const struct span *s)
{
    return span_so_far(s)->T - s->rows.T;
}

/* The keys that hooks on pairs get. */
static const peat_side *span_keys(const struct span *s)
{
    return s->source ? s->source : span_so_far(s);
}

bool span_grows(const struct span *s)
{
    return s->so_far && !s->source;
}

int64_t span_n_queries(const struct span *s)
{
    return s->front + s->rows.T;
}

int64_t span_n_keys(const struct span *s)
{
    return s->source ? s->source->T : s->front + span_so_far(s)->T;
}

static const struct scheme_part *scheme_of(const struct call *c)
{
    return c->index < 0 ? NULL : &c->pass->positional->scheme[c->index];
}

static uint32_t needs_of(const struct call *c)
{
    const struct scheme_part *s = scheme_of(c);
    return s ? s->hooks->needs : c->pass->positional->combine->needs;
}

/* A side as the call's plugin sees it: in the data's grid, if the data have one. */
static peat_side declared(const struct call *c, const peat_side *side)
{
    const struct scheme_part *s = scheme_of(c);
    const struct grid *grid = &c->pass->grid;
    peat_side own = *side;
    if (!(needs_of(c) & PEAT_NEED_TOKENS))
        own.token = NULL;
    if (!(needs_of(c) & PEAT_NEED_LENGTH))
        own.T_total = c->pass->positional->undeclared_T;
    if (grid->n_axes > 0 && s && s->hooks->max_axes > 1) {
        own.n_axes = grid->n_axes;
        own.pos_B = grid->pos_B;
        own.pos = grid->pos;
    }
    return own;
}

/* Sets the scheme's own positions in a side of the call: those of its last places. */
static void place_own(struct call *c, peat_side *side, bool keys)
{
    const struct own_positions *own = c->index < 0 ? NULL : &c->pass->own[c->index];
    if (!own || own->n_axes == 0)
        return;
    int64_t T = keys ? own->T_k : own->T_q, n = own->n_axes * c->pass->B;
    const double *from = keys ? own->k : own->q;
    side->n_axes = own->n_axes;
    side->pos_B = c->pass->B;
    side->pos = from;
    if (side->T == T)
        return;
    double *pos = ARENA_TRY_ARRAY(c->pass->g->arena, n * side->T, double);
    for (int64_t i = 0; pos && i < n; i++)
        memcpy(pos + i * side->T, from + (i + 1) * T - side->T, (size_t)side->T * sizeof(*pos));
    if (!pos)
        graph_no_memory(c->pass->g, "positions", 0);
    side->pos = pos;
}

int64_t positional_width(const struct scheme_part *s, int64_t C)
{
    return s->where.dim_end > 0 ? s->where.dim_end - s->where.dim_begin : C;
}

void call_init(struct call *c, struct pass *pass, int index, int64_t layer)
{
    struct positional *p = pass->positional;
    struct part *part = index < 0 ? &p->combine_part : &p->scheme[index].part;
    const struct span *span = &pass->span;
    *c = (struct call){
        .base = {.size = sizeof(c->base),
                 .host = p->host,
                 .g = &pass->g->base,
                 .config = part->config,
                 .self = part->self,
                 .dims = pass->dims,
                 .phase = pass->phase,
                 .layer = (int32_t)layer,
                 .B = pass->B,
                 .H = pass->dims.H,
                 .step = pass->step,
                 .shared = index < 0 ? NULL : pass->shared[index]},
        .pass = pass,
        .part = part,
        .index = index,
    };
    call_sides(c, &span->rows, span->source ? span->source : &span->rows);
    c->base.dims.n_axes = c->own.n_axes;
    const struct scheme_part *s = scheme_of(c);
    if (!s)
        return;
    c->base.d = c->base.dims.d = s->d;
    c->base.dims.C = positional_width(s, pass->dims.C);
    if (s->where.head_end > 0) {
        c->base.H = s->where.head_end - s->where.head_begin;
        c->head_begin = s->where.head_begin;
    }
}

void call_sides(struct call *c, const peat_side *q, const peat_side *k)
{
    c->own = declared(c, q);
    place_own(c, &c->own, false);
    c->base.q = c->base.k = &c->own;
    if (k == q)
        return;
    c->own_keys = declared(c, k);
    place_own(c, &c->own_keys, true);
    c->base.k = &c->own_keys;
}

void call_pairs(struct call *c)
{
    const struct span *span = &c->pass->span;
    if (!span_grows(span))
        return;
    call_sides(c, &span->rows, span_keys(span));
    c->base.shared = c->pass->shared_pairs[c->index];
}

/* Records the arguments that are NULL for this hook, for messages and for crashes. */
static void note_missing(const struct call *c, enum hook_id hook)
{
    struct graph *g = c->pass->g;
    char all[HOOK_MISSING], nodes[HOOK_MISSING];
    hook_missing(hook, needs_of(c), true, all);
    hook_missing(hook, needs_of(c), false, nodes);
    trail_missing(g->trail, all);
    g->missing = *nodes ? arena_strdup(g->arena, nodes) : NULL;
}

peat_node *pass_seen(struct pass *pass, const char *place, int64_t layer, peat_node *x)
{
    const struct observer *o = pass->observer;
    bool shown = o && o->node && x && !graph_failed(pass->g);
    return shown ? o->node(o->ctx, pass, place, layer, x) : x;
}

void hook_begin(const struct call *c, enum hook_id hook)
{
    struct graph *g = c->pass->g;
    g->hook = arena_printf(g->arena, "%s.%s", c->part->id, hook_name(hook));
    trail_enter(g->trail, g->hook);
    note_missing(c, hook);
}

bool call_has_tokens(const struct call *c)
{
    const struct scheme_part *s = &c->pass->positional->scheme[c->index];
    if (!(s->hooks->needs & PEAT_NEED_TOKENS) || c->base.q->token)
        return true;
    graph_fail(c->pass->g, "positions are computed from token ids, and the batch has none");
    return false;
}

bool hook_status(struct pass *pass, peat_status status)
{
    trail_leave(pass->g->trail);
    if (status != PEAT_OK && !graph_failed(pass->g))
        graph_fail(pass->g, "the hook failed: %s", status_text(status));
    pass->g->hook = NULL;
    pass->g->missing = NULL;
    return !graph_failed(pass->g);
}

static bool shape_fits(const struct tensor *t, int rank, const int64_t *dim, uint32_t either)
{
    if (t->rank != rank)
        return false;
    for (int i = 0; i < rank; i++)
        if (t->dim[i] != dim[i] && !(t->dim[i] == 1 && (either >> i & 1)))
            return false;
    return true;
}

peat_node *hook_shape(struct pass *pass, peat_node *node, int rank, const int64_t *dim,
                      uint32_t either)
{
    if (!node && !graph_failed(pass->g))
        graph_fail(pass->g, "the hook returned nothing");
    if (!node || shape_fits(&node->value, rank, dim, either))
        return node;
    char got[96];
    struct strbuf want = STRBUF_NEW;
    for (int i = 0; i < rank; i++)
        strbuf_item(&want, "%s%lld", either >> i & 1 && dim[i] > 1 ? "1|" : "", (long long)dim[i]);
    graph_fail(pass->g, "the hook returned shape %s, expected [%s]",
               tensor_shape_text(&node->value, got, sizeof(got)), want.text);
    strbuf_release(&want);
    return NULL;
}

peat_node *hook_end(struct pass *pass, peat_node *node, int rank, const int64_t *dim,
                    uint32_t either)
{
    node = hook_shape(pass, node, rank, dim, either);
    hook_status(pass, PEAT_OK);
    return node;
}

/* ---- own_positions ---- */

/* The model's positions on the axes that the model has, 0 on other axes. */
static void preset(const peat_side *side, int64_t B, int32_t n_axes, double *pos)
{
    int64_t T = side->T;
    for (int32_t a = 0; a < n_axes; a++)
        for (int64_t b = 0; b < B; b++)
            for (int64_t t = 0; t < T; t++) {
                int64_t from = (a * side->pos_B + (side->pos_B == 1 ? 0 : b)) * T + t;
                pos[(a * B + b) * T + t] = a < side->n_axes ? side->pos[from] : 0.0;
            }
}

static bool all_finite(struct pass *pass, const double *pos, int64_t n, int64_t T)
{
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(pos[i])) {
            graph_fail(pass->g, "the position of place %" PRId64 " is %g, not a finite number",
                       i % T, pos[i]);
            return false;
        }
    return true;
}

static int32_t axes_of(const peat_scheme *h)
{
    return h->own_axes > 0 ? h->own_axes : 1;
}

/* The scheme's positions [n_axes, B, T] of one side; NULL: the graph failed. */
static const double *run_own_positions(struct pass *pass, int index, const peat_side *side)
{
    const peat_scheme *h = pass->positional->scheme[index].hooks;
    int32_t n_axes = axes_of(h);
    struct call c;
    call_init(&c, pass, index, -1);
    c.own = *side;
    c.base.q = c.base.k = &c.own;
    hook_begin(&c, HOOK_OWN_POSITIONS);
    int64_t n = n_axes * pass->B * side->T;
    double *pos = ARENA_TRY_ARRAY(pass->g->arena, n, double);
    if (pos)
        preset(side, pass->B, n_axes, pos);
    else
        graph_no_memory(pass->g, "positions", 0);
    peat_status status = PEAT_FAILED;
    if (pos && call_has_tokens(&c))
        status = h->own_positions(&c.base, pos);
    if (status == PEAT_OK && !all_finite(pass, pos, n, side->T))
        status = PEAT_FAILED;
    return hook_status(pass, status) ? pos : NULL;
}

bool pass_own_positions(struct pass *pass, int index)
{
    struct own_positions *own = &pass->own[index];
    const peat_scheme *h = pass->positional->scheme[index].hooks;
    *own = (struct own_positions){0};
    if (!h->own_positions)
        return true;
    struct call c;
    call_init(&c, pass, index, -1);
    call_sides(&c, span_so_far(&pass->span), span_keys(&pass->span));
    const peat_side *q = c.base.q, *k = c.base.k;
    struct own_positions made = {.n_axes = axes_of(h), .T_q = q->T, .T_k = k->T};
    made.q = run_own_positions(pass, index, q);
    made.k = k == q ? made.q : run_own_positions(pass, index, k);
    if (made.q && made.k)
        *own = made;
    return made.q && made.k;
}

/* ---- prepare ---- */

/* Whether a scheme has hooks on pairs. */
static bool acts_on_pairs(const peat_scheme *h)
{
    return scheme_acts_on(h, ACTS_ON_TERMS | ACTS_ON_SCORES | ACTS_ON_CONTEXT);
}

static void prepare(struct pass *pass, int i, bool pairs)
{
    struct call c;
    call_init(&c, pass, i, -1);
    if (pairs)
        call_pairs(&c);
    hook_begin(&c, HOOK_PREPARE);
    hook_status(pass, pass->positional->scheme[i].hooks->prepare(
                          &c.base, pairs ? pass->shared_pairs[i] : pass->shared[i]));
}

bool pass_has(const struct pass *pass, const struct scheme_part *s)
{
    return s->where.across != (pass->span.source ? ACROSS_NOT : ACROSS_ONLY);
}

void pass_prepare(struct pass *pass)
{
    for (int i = 0; i < pass->positional->n_scheme; i++) {
        const struct scheme_part *s = &pass->positional->scheme[i];
        if (!pass_has(pass, s))
            continue;
        if (!pass_own_positions(pass, i))
            return;
        if (!s->hooks->prepare)
            continue;
        prepare(pass, i, false);
        if (span_grows(&pass->span) && acts_on_pairs(s->hooks))
            prepare(pass, i, true);
    }
}
