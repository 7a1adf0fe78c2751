/* SPDX-License-Identifier: MIT */
/* attention_terms.c: the qkv hooks of a head group, the terms of its logits, and their scale. */

#include "attention_parts.h"
#include "nn/differences.h"
#include "nn/stored.h"

/* ---- calls ---- */

/* The call of a hook on the heads of the group, for a hook on rows or on pairs. */
static void group_call(const struct group_attention *a, int i, bool pairs, struct call *c)
{
    const struct scheme_part *s = scheme_at(a->pass, i);
    call_init(c, a->pass, i, a->layer);
    c->attention = a->weights;
    c->head_begin = a->group.begin;
    int64_t own = c->base.H;
    c->base.H = a->group.end - a->group.begin;
    if (pairs)
        call_pairs(c);
    if (s->hooks->needs & PEAT_NEED_X) {
        c->base.x_q = front_cut(a->pass, a->in->x_q, 1);
        c->base.x_k = front_cut(a->pass, pairs ? a->in->all_x_k : a->in->x_k, 1);
    }
    bool carries = s->hooks->carry && s->hooks->needs & PEAT_NEED_W;
    if (own != c->base.H && (s->part.per_head || carries))
        graph_fail(a->pass->g,
                   "scheme '%s' has %s, and where.heads of another scheme splits its heads",
                   s->part.id, carries ? "a state of its heads" : "tensors per head");
}

bool group_hook(const struct group_attention *a, int i, enum hook_id hook, struct call *c)
{
    bool acts = group_has(a, i) && scheme_has(scheme_at(a->pass, i)->hooks, hook);
    if (acts)
        group_call(a, i, hook != HOOK_QKV, c);
    return acts;
}

const peat_qkv *seen_qkv(struct pass *pass, const peat_scheme *h, const peat_qkv *p, peat_qkv *room)
{
    if (!p || !(h->needs & (PEAT_NEED_QK | PEAT_NEED_W)))
        return NULL;
    *room = (peat_qkv){sizeof(*room), front_cut(pass, p->q, 2), front_cut(pass, p->k, 2),
                       front_cut(pass, p->v, 2)};
    return room;
}

/* ---- qkv ---- */

/* `whole` with its dims [dim_begin, dim_end) replaced; dims that earlier schemes added stay. */
static peat_node *with_dims(struct pass *pass, peat_node *whole, const struct where *w,
                            peat_node *part)
{
    peat_graph *g = &pass->g->base;
    peat_node *x[3];
    int n = 0;
    if (w->dim_begin > 0)
        x[n++] = op_slice(g, whole, -1, 0, w->dim_begin);
    x[n++] = part;
    if (w->dim_end < node_dim(whole, 3))
        x[n++] = op_slice(g, whole, -1, w->dim_end, node_dim(whole, 3));
    return op_concat(g, n, x, -1);
}

/* Runs the hook on *io; the hook sees only where.dims of its q and k. */
static bool call_qkv(struct pass *pass, const struct scheme_part *s, const struct call *c,
                     peat_qkv *io)
{
    peat_graph *g = &pass->g->base;
    const struct where *w = &s->where;
    peat_qkv part = *io;
    hook_begin(c, HOOK_QKV);
    if (w->dim_end > 0) {
        part.q = op_slice(g, io->q, -1, w->dim_begin, w->dim_end);
        part.k = op_slice(g, io->k, -1, w->dim_begin, w->dim_end);
    }
    if (!hook_status(pass, s->hooks->qkv(&c->base, &part)))
        return false;
    if (w->dim_end > 0) {
        part.q = with_dims(pass, io->q, w, part.q);
        part.k = with_dims(pass, io->k, w, part.k);
    }
    *io = part;
    return true;
}

static bool check_qkv(struct group_attention *a, const struct call *c, peat_qkv *io)
{
    struct pass *pass = a->pass;
    int64_t H = a->group.end - a->group.begin, Tq = c->base.q->T, Tk = c->base.k->T;
    int64_t C = node_dim(io->q, 3);
    hook_begin(c, HOOK_QKV);
    io->q = hook_shape(pass, io->q, 4, (int64_t[]){pass->B, H, Tq, C}, 0);
    io->k = hook_shape(pass, io->k, 4, (int64_t[]){pass->B, H, Tk, C}, 0);
    io->v = hook_shape(pass, io->v, 4, (int64_t[]){pass->B, H, Tk, pass->dims.C}, 0);
    if (pass->span.front > 0 && C != node_dim(a->chain.q, 3)) {
        pass->g->given_up = pass->g->given_up || !graph_failed(pass->g);
        graph_fail(pass->g, "the hook changes the width of q and k, which a class token without a "
                            "position cannot have (model.cls_position: first)");
    }
    return hook_status(pass, PEAT_OK);
}

void group_qkv(struct group_attention *a)
{
    struct pass *pass = a->pass;
    peat_qkv *chain = &a->chain;
    struct call c;
    for (int i = 0; i < pass->positional->n_scheme; i++) {
        if (!group_hook(a, i, HOOK_QKV, &c))
            continue;
        peat_qkv io = {sizeof(io), front_cut(pass, chain->q, 2), front_cut(pass, chain->k, 2),
                       front_cut(pass, chain->v, 2)};
        if (!call_qkv(pass, scheme_at(pass, i), &c, &io) || !check_qkv(a, &c, &io))
            return;
        chain->q = front_join(pass, chain->q, io.q, 2);
        chain->k = front_join(pass, chain->k, io.k, 2);
        chain->v = front_join(pass, chain->v, io.v, 2);
    }
}

/* ---- terms ---- */

/* The values of bias_rel: unchanged if the fused kernel can read them, else spread over all
 * pairs. */
static void add_bias_rel(struct pass *pass, const struct scheme_part *s, const struct call *c,
                         struct bias_terms *out)
{
    const struct differences *d = pass_differences(pass, &c->base);
    if (!d)
        return;
    hook_begin(c, HOOK_BIAS_REL);
    peat_node *value = hook_end(pass, s->hooks->bias_rel(&c->base, &d->rel), 2,
                                (int64_t[]){c->base.H, d->rel.n}, 1);
    if (d->toeplitz)
        out->rel = value;
    else
        out->bias = plus(pass, out->bias, differences_spread(pass, d, value));
}

/* rel [1|H, Tq+Tk-1] -> [1, 1|H, Tq, Tk]: row i is rel[Tq-1-i .. Tq+Tk-2-i]. */
static peat_node *rel_as_bias(struct pass *pass, peat_node *rel, int64_t Tq, int64_t Tk)
{
    int64_t H = node_dim(rel, 0);
    int32_t *index = ARENA_TRY_ARRAY(pass->g->arena, Tq * Tk, int32_t);
    if (!index)
        return graph_no_memory(pass->g, "a bias", (size_t)(Tq * Tk) * sizeof(*index));
    for (int64_t i = 0; i < Tq; i++)
        for (int64_t j = 0; j < Tk; j++)
            index[i * Tk + j] = (int32_t)(j - i + Tq - 1);
    peat_node *at = graph_constant(pass->g, PEAT_I32, 2, (int64_t[]){1, Tq * Tk}, index);
    peat_node *bias = op_take_last(&pass->g->base, rel, at);
    return op_reshape(&pass->g->base, bias, 4, (int64_t[]){1, H, Tq, Tk});
}

/* Extends terms of pairs of rows to all places, with 0 at the front. */
static struct bias_terms behind_front(struct pass *pass, struct bias_terms t)
{
    if (pass->span.front == 0)
        return t;
    if (t.rel) {
        t.bias = plus(pass, t.bias, rel_as_bias(pass, t.rel, pass->span.rows.T, pass->span.rows.T));
        t.rel = NULL;
    }
    t.bias = front_pad_pairs(pass, t.bias);
    t.score_add = front_pad_pairs(pass, t.score_add);
    return t;
}

/* Computes the terms of one scheme for the heads of its call. */
static struct bias_terms scheme_terms(struct pass *pass, const struct scheme_part *s,
                                      const struct call *c, const peat_qkv *projected)
{
    enum { ANY = 15 };
    peat_qkv room;
    const peat_qkv *seen = seen_qkv(pass, s->hooks, projected, &room);
    const int64_t dim[] = {pass->B, c->base.H, c->base.q->T, c->base.k->T};
    struct bias_terms out = {.done = true};
    if (s->hooks->score_add) {
        hook_begin(c, HOOK_SCORE_ADD);
        out.score_add = hook_end(pass, s->hooks->score_add(&c->base, seen), 4, dim, ANY);
    }
    if (s->hooks->bias) {
        hook_begin(c, HOOK_BIAS);
        out.bias = hook_end(pass, s->hooks->bias(&c->base, seen), 4, dim, ANY);
    }
    if (s->hooks->bias_rel)
        add_bias_rel(pass, s, c, &out);
    return behind_front(pass, out);
}

/* Heads [begin, end) of a term that has a head axis longer than 1. */
static peat_node *term_heads(struct pass *pass, peat_node *t, int32_t axis, int64_t begin,
                             int64_t end)
{
    peat_graph *g = &pass->g->base;
    int64_t H = node_dim(t, axis);
    return !t || H == 1 || (begin == 0 && end == H) ? t : op_slice(g, t, axis, begin, end);
}

/* Terms that depend on neither content nor layer are computed once, for all heads of the scheme,
 * and used by all layers; the tape sums their gradients over the layers. */
static struct bias_terms shared_terms(struct group_attention *a, int i)
{
    const struct scheme_part *s = scheme_at(a->pass, i);
    struct bias_terms *kept = &a->pass->cache[i];
    if (!kept->done) {
        struct call c;
        call_init(&c, a->pass, i, -1);
        call_pairs(&c);
        *kept = scheme_terms(a->pass, s, &c, NULL);
    }
    int64_t first = s->where.head_end > 0 ? s->where.head_begin : 0;
    int64_t begin = a->group.begin - first, end = a->group.end - first;
    return (struct bias_terms){
        .score_add = term_heads(a->pass, kept->score_add, 1, begin, end),
        .bias = term_heads(a->pass, kept->bias, 1, begin, end),
        .rel = term_heads(a->pass, kept->rel, 0, begin, end),
    };
}

void group_terms(struct group_attention *a)
{
    enum { SEES_CONTENT = PEAT_NEED_QK | PEAT_NEED_X | PEAT_NEED_PROJECT };
    for (int i = 0; i < a->pass->positional->n_scheme; i++) {
        const struct scheme_part *s = scheme_at(a->pass, i);
        const peat_scheme *h = s->hooks;
        if (!group_has(a, i) || !scheme_acts_on(h, ACTS_ON_TERMS))
            continue;
        struct bias_terms t;
        if ((h->needs & SEES_CONTENT) || s->part.per_layer || h->carry) {
            struct call c;
            group_call(a, i, true, &c);
            t = scheme_terms(a->pass, s, &c, &a->projected);
        } else {
            t = shared_terms(a, i);
        }
        a->terms.score_add = plus(a->pass, a->terms.score_add, t.score_add);
        a->terms.bias = plus(a->pass, a->terms.bias, t.bias);
        a->terms.rel = plus(a->pass, a->terms.rel, t.rel);
    }
}

double group_scale(struct group_attention *a)
{
    const struct attention_options *o = a->options;
    if (o->scale_value > 0)
        return o->scale_value;
    if (o->scale != SCALE_AUTO)
        return o->scale == SCALE_NONE ? 1.0 : 1.0 / sqrt((double)a->pass->dims.C);
    int terms = 0;
    bool one = false, own = false;
    for (int i = 0; i < a->pass->positional->n_scheme; i++) {
        if (!group_has(a, i))
            continue;
        const peat_scheme *h = scheme_at(a->pass, i)->hooks;
        terms += h->score_terms;
        one = one || h->scale == PEAT_SCALE_ONE;
        own = own || h->scale == PEAT_SCALE_OWN;
    }
    if (one && (own || terms > 0))
        graph_fail(a->pass->g,
                   "one scheme wants unscaled scores and another %s; set "
                   "model.attention.scale",
                   own ? "divides them by the root of its own width"
                       : "adds terms that are scaled");
    int64_t C = own ? node_dim(a->chain.q, 3) : a->pass->dims.C;
    return one ? 1.0 : 1.0 / sqrt((1.0 + terms) * (double)C);
}

peat_node *group_bias(struct group_attention *a)
{
    const struct span *span = &a->pass->span;
    peat_node *rel = a->terms.rel;
    if (rel)
        rel = rel_as_bias(a->pass, rel, span_n_queries(span), span_n_keys(span));
    return plus(a->pass, a->terms.bias, rel);
}
