/* SPDX-License-Identifier: MIT */
/* pass.c: the call that a hook gets, and what surrounds it. */
#include "nn/pass.h"

#include <string.h>

const peat_side *span_so_far(const struct span *s)
{
    return s->so_far ? s->so_far : &s->rows;
}

int64_t span_first(const struct span *s)
{
    return span_so_far(s)->T - s->rows.T;
}

const peat_side *span_keys(const struct span *s)
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

/* A side as the call's plugin sees it, in the grid if there is one. */
static peat_side declared(const struct call *c, const peat_side *side)
{
    const struct scheme_part *s = scheme_of(c);
    const struct grid *grid = &c->pass->grid;
    peat_side own = *side;
    if (!(needs_of(c) & PEAT_NEED_TOKENS))
        own.token = NULL;
    if (!(needs_of(c) & PEAT_NEED_LENGTH))
        own.T_total = 0;
    if (grid->n_axes > 0 && s && s->hooks->max_axes > 1) {
        own.n_axes = grid->n_axes;
        own.pos_B = grid->pos_B;
        own.pos = grid->pos;
    }
    return own;
}

/* Puts the scheme's own positions into a side of the call: those of its last places. */
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

/* Notes what this hook finds NULL, for messages about a missing operand and for crashes. */
static void note_missing(const struct call *c, enum hook_id hook)
{
    struct graph *g = c->pass->g;
    char all[HOOK_MISSING], nodes[HOOK_MISSING];
    hook_missing(hook, needs_of(c), true, all);
    hook_missing(hook, needs_of(c), false, nodes);
    trail_missing(g->trail, all);
    g->missing = *nodes ? arena_strdup(g->arena, nodes) : NULL;
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
    graph_fail(c->pass->g, "positions are made of token ids, and there are none");
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
    struct strbuf want;
    strbuf_init(&want);
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
