/* SPDX-License-Identifier: MIT */
/* pass.c: the call that a hook gets, and what surrounds it. */
#include "nn/pass.h"

#include <string.h>

int64_t pass_queries(const struct pass *pass)
{
    return pass->side.T + pass->front;
}

int64_t pass_keys(const struct pass *pass)
{
    return pass->across || pass->stored ? pass->keys.T : pass_queries(pass);
}

/* A side as a plugin with these needs sees it, in the grid if there is one. */
static peat_side declared(const peat_side *side, uint32_t needs, const struct grid *grid)
{
    peat_side own = *side;
    if (!(needs & PEAT_NEED_TOKENS))
        own.token = NULL;
    if (!(needs & PEAT_NEED_LENGTH))
        own.T_total = 0;
    if (grid && grid->n_axes > 0) {
        own.n_axes = grid->n_axes;
        own.pos_B = grid->pos_B;
        own.pos = grid->pos;
    }
    return own;
}

/* Its scheme's own positions for a side of the call: all that there are, or those of its last
 * places. */
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
    uint32_t needs = index < 0 ? p->combine->needs : p->scheme[index].hooks->needs;
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
    bool grid = index >= 0 && p->scheme[index].hooks->max_axes > 1;
    c->own = declared(&pass->side, needs, grid ? &pass->grid : NULL);
    place_own(c, &c->own, false);
    c->base.q = c->base.k = &c->own;
    if (pass->across) {
        c->own_keys = declared(&pass->keys, needs, NULL);
        place_own(c, &c->own_keys, true);
        c->base.k = &c->own_keys;
    }
    c->base.dims.n_axes = c->own.n_axes;
    if (index < 0)
        return;
    const struct scheme_part *s = &p->scheme[index];
    c->base.d = c->base.dims.d = s->d;
    c->base.dims.C = positional_width(s, pass->dims.C);
    if (s->where.head_end > 0) {
        c->base.H = s->where.head_end - s->where.head_begin;
        c->head_begin = s->where.head_begin;
    }
}

static uint32_t needs_of(const struct call *c)
{
    const struct positional *p = c->pass->positional;
    return c->index < 0 ? p->combine->needs : p->scheme[c->index].hooks->needs;
}

void call_sides(struct call *c, const peat_side *q, const peat_side *k)
{
    uint32_t needs = needs_of(c);
    c->own = declared(q, needs, NULL);
    c->own_keys = declared(k, needs, NULL);
    place_own(c, &c->own, false);
    place_own(c, &c->own_keys, true);
    c->base.q = &c->own;
    c->base.k = k == q ? &c->own : &c->own_keys;
}

void call_pairs(struct call *c)
{
    if (!c->pass->stored)
        return;
    call_sides(c, &c->pass->side, &c->pass->keys);
    c->base.shared = c->pass->shared_pairs[c->index];
}

/* For whoever says that an operand, or what a plugin looks at, is not there. */
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
        strbuf_addf(&want, "%s%s%lld", i ? ", " : "", either >> i & 1 && dim[i] > 1 ? "1|" : "",
                    (long long)dim[i]);
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
