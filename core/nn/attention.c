/* SPDX-License-Identifier: MIT */
/* attention.c: projections, head groups, the order of hooks, and the two paths. */
#include "nn/attention.h"

#include <math.h>

#include "autograd/stretch.h"
#include "nn/differences.h"
#include "nn/front.h"
#include "nn/stored.h"

/* Heads [begin, end) on which the same schemes act. */
struct group {
    int64_t begin, end;
    uint32_t schemes; /* bit i: scheme i acts */
};

/* Everything one group's attention works on. */
struct attention {
    struct pass *pass;
    const struct attention_weights *weights;
    const struct attention_options *options;
    int64_t layer;
    peat_node *xq, *xk;
    peat_node *all_xk; /* with those of stored rows */
    struct group group;
    int number;              /* of the group in its layer   */
    peat_qkv projected;      /* as projected                */
    peat_qkv chain;          /* as the qkv hooks left them  */
    struct bias_terms terms; /* summed over the schemes */
};

static struct scheme_part *scheme(const struct pass *pass, int i)
{
    return &pass->positional->scheme[i];
}

/* ---- inputs and projections ---- */

static bool enters_at(enum site at, int which)
{
    return at == SITE_ATTN_QKV || (at == SITE_ATTN_QK && which < 2) ||
           (at == SITE_ATTN_Q && which == 0) || (at == SITE_ATTN_K && which == 1);
}

static void run_hidden(struct pass *pass, int i, int64_t layer, peat_node *in[3])
{
    const struct scheme_part *s = scheme(pass, i);
    peat_node *seen[3], *out[3];
    int64_t reach = scheme_reach(s);
    for (int w = 0; w < 3; w++) {
        struct tensor *kept = pass->stored ? &pass->stored->layer[layer].hidden[i][w] : NULL;
        seen[w] = w > 0 && in[w] == in[w - 1]
                      ? seen[w - 1]
                      : stored_reach(pass, kept, front_cut(pass, in[w], 1), reach);
        out[w] = seen[w];
    }
    struct call c;
    call_init(&c, pass, i, layer);
    stored_reach_call(&c, pass, reach);
    const int64_t dim[] = {pass->B, c.base.q->T, pass->dims.D};
    hook_begin(&c, HOOK_HIDDEN);
    peat_status status = s->hooks->hidden(&c.base, &out[0], &out[1], &out[2]);
    for (int w = 0; w < 3 && status == PEAT_OK; w++)
        out[w] = hook_shape(pass, out[w], 3, dim, 0);
    hook_status(pass, status);
    peat_node *newest[3];
    for (int w = 0; w < 3; w++)
        newest[w] = w > 0 && out[w] == out[w - 1] ? newest[w - 1] : stored_newest(pass, out[w]);
    for (int w = 2; w >= 0; w--)
        if (out[w] != seen[w])
            in[w] = front_join(pass, in[w], newest[w], 1);
}

/* The normed input, split in three by streams that enter here and by hidden hooks, in YAML order.
 * Across two sequences neither acts. */
static void split_input(struct pass *pass, int64_t layer, peat_node *x, peat_node *memory,
                        peat_node *in[3])
{
    in[0] = x;
    in[1] = in[2] = memory ? memory : x;
    if (memory)
        return;
    for (int i = 0; i < pass->positional->n_scheme; i++) {
        struct scheme_part *s = scheme(pass, i);
        if (!where_acts(&s->where, layer))
            continue;
        peat_node *before[3] = {in[0], in[1], in[2]};
        for (int w = 0; w < 3; w++)
            if (s->hooks->encode && enters_at(s->where.at, w))
                in[w] = w > 0 && before[w] == before[w - 1] && enters_at(s->where.at, w - 1)
                            ? in[w - 1]
                            : pass->merge(pass, i, in[w]);
        if (s->hooks->hidden)
            run_hidden(pass, i, layer, in);
    }
}

/* qkv [B,T,n*D] -> the which-th D columns as [B,H,T,C], a view. */
static peat_node *heads_view(struct pass *pass, peat_node *qkv, int64_t n, int64_t which)
{
    if (!qkv)
        return NULL;
    int64_t B = pass->B, D = pass->dims.D, H = pass->dims.H, C = pass->dims.C;
    int64_t T = peat_shape_of(&pass->g->base, qkv).dim[1];
    return graph_view(pass->g, qkv, 4, (int64_t[]){B, H, T, C}, (int64_t[]){T * n * D, C, n * D, 1},
                      which * D);
}

/* What one of three inputs is projected to, [B,T,D]. Of a source it is the same for every row of
 * the decoder: it is made once where somebody keeps it. */
static peat_node *project_one(struct pass *pass, const struct attention_weights *w, int64_t layer,
                              peat_node *x, int which)
{
    struct graph *g = pass->g;
    struct stored *s = which > 0 && pass->span.source ? pass->stored : NULL;
    struct tensor *kept = s ? &s->layer[layer].across[which - 1] : NULL;
    int64_t D = pass->dims.D;
    if (kept && kept->data)
        return graph_constant(g, kept->dtype, kept->rank, kept->dim, kept->data);
    peat_node *weight = op_slice(&g->base, weight_node(g, w->qkv_w), 0, which * D, (which + 1) * D);
    peat_node *bias = op_slice(&g->base, weight_node(g, w->qkv_b), 0, which * D, (which + 1) * D);
    peat_node *made = op_linear(&g->base, x, weight, bias);
    if (!kept || !made)
        return made;
    *kept = tensor_new(s->arena, made->value.dtype, made->value.rank, made->value.dim);
    if (!kept->data)
        return graph_no_memory(g, "a source's keys and values", tensor_bytes(kept));
    tensor_copy(kept, &made->value);
    return made;
}

/* One product when all three inputs are the same, three otherwise. */
static peat_qkv project(struct pass *pass, const struct attention_weights *w, int64_t layer,
                        peat_node *in[3])
{
    struct graph *g = pass->g;
    peat_node *out[3];
    if (in[0] == in[1] && in[1] == in[2]) {
        peat_node *qkv =
            op_linear(&g->base, in[0], weight_node(g, w->qkv_w), weight_node(g, w->qkv_b));
        for (int i = 0; i < 3; i++)
            out[i] = heads_view(pass, qkv, 3, i);
    } else {
        for (int i = 0; i < 3; i++)
            out[i] = heads_view(pass, project_one(pass, w, layer, in[i], i), 1, 0);
    }
    return (peat_qkv){sizeof(peat_qkv), out[0], out[1], out[2]};
}

/* ---- head groups ---- */

static bool covers(const struct scheme_part *s, int64_t head)
{
    return s->where.head_end == 0 || (head >= s->where.head_begin && head < s->where.head_end);
}

static uint32_t schemes_on(const struct pass *pass, int64_t layer, int64_t head)
{
    uint32_t bits = 0;
    for (int i = 0; i < pass->positional->n_scheme; i++) {
        const struct scheme_part *s = scheme(pass, i);
        if (scheme_acts_on(s->hooks, ACTS_ON_HEADS) && where_acts(&s->where, layer) &&
            covers(s, head) && (!pass->span.source || s->where.across))
            bits |= UINT32_C(1) << i;
    }
    return bits;
}

static struct group next_group(const struct pass *pass, int64_t layer, int64_t begin)
{
    struct group group = {begin, begin + 1, schemes_on(pass, layer, begin)};
    while (group.end < pass->dims.H && schemes_on(pass, layer, group.end) == group.schemes)
        group.end++;
    return group;
}

static bool in_group(const struct attention *a, int i)
{
    return a->group.schemes >> i & 1;
}

/* The call for a hook that sees the heads of the group alone: one on rows, or on pairs. */
static void group_call(const struct attention *a, int i, bool pairs, struct call *c)
{
    const struct scheme_part *s = scheme(a->pass, i);
    call_init(c, a->pass, i, a->layer);
    c->attention = a->weights;
    c->head_begin = a->group.begin;
    int64_t own = c->base.H;
    c->base.H = a->group.end - a->group.begin;
    if (pairs)
        call_pairs(c);
    if (s->hooks->needs & PEAT_NEED_X) {
        c->base.x_q = front_cut(a->pass, a->xq, 1);
        c->base.x_k = front_cut(a->pass, pairs ? a->all_xk : a->xk, 1);
    }
    if (own != c->base.H && s->part.per_head)
        graph_fail(a->pass->g,
                   "scheme '%s' has tensors per head, and where.heads of another "
                   "scheme splits its heads",
                   s->part.id);
}

/* Whether scheme i changes the group with this hook; then *c is its call. */
static bool group_hook(const struct attention *a, int i, enum hook_id hook, struct call *c)
{
    bool acts = in_group(a, i) && scheme_has(scheme(a->pass, i)->hooks, hook);
    if (acts)
        group_call(a, i, hook != HOOK_QKV, c);
    return acts;
}

/* ---- hooks of one group ---- */

/* The projections that a hook asked for, into *room. */
static const peat_qkv *seen_qkv(struct pass *pass, const peat_scheme *h, const peat_qkv *p,
                                peat_qkv *room)
{
    if (!p || !(h->needs & (PEAT_NEED_QK | PEAT_NEED_W)))
        return NULL;
    *room = (peat_qkv){sizeof(*room), front_cut(pass, p->q, 2), front_cut(pass, p->k, 2),
                       front_cut(pass, p->v, 2)};
    return room;
}

/* The qkv hook on dims [begin, end) of q and k; the rest passes through. */
static void qkv_on_dims(struct pass *pass, const struct scheme_part *s, const struct call *c,
                        peat_qkv *io)
{
    peat_graph *g = &pass->g->base;
    int64_t begin = s->where.dim_begin, end = s->where.dim_end, C = pass->dims.C;
    peat_qkv part = *io;
    part.q = op_slice(g, io->q, -1, begin, end);
    part.k = op_slice(g, io->k, -1, begin, end);
    if (!hook_status(pass, s->hooks->qkv(&c->base, &part)))
        return;
    peat_node *q[3], *k[3];
    int n = 0;
    if (begin > 0) {
        q[n] = op_slice(g, io->q, -1, 0, begin);
        k[n++] = op_slice(g, io->k, -1, 0, begin);
    }
    q[n] = part.q;
    k[n++] = part.k;
    if (end < C) {
        q[n] = op_slice(g, io->q, -1, end, C);
        k[n++] = op_slice(g, io->k, -1, end, C);
    }
    io->q = op_concat(g, n, q, -1);
    io->k = op_concat(g, n, k, -1);
    io->v = part.v;
}

static void check_qkv(struct attention *a, const struct call *c, peat_qkv *io)
{
    struct pass *pass = a->pass;
    int64_t H = a->group.end - a->group.begin, Tq = c->base.q->T, Tk = c->base.k->T;
    int64_t C = peat_shape_of(&pass->g->base, io->q).dim[3];
    hook_begin(c, HOOK_QKV);
    io->q = hook_shape(pass, io->q, 4, (int64_t[]){pass->B, H, Tq, C}, 0);
    io->k = hook_shape(pass, io->k, 4, (int64_t[]){pass->B, H, Tk, C}, 0);
    io->v = hook_shape(pass, io->v, 4, (int64_t[]){pass->B, H, Tk, pass->dims.C}, 0);
    if (pass->span.front > 0 && C != peat_shape_of(&pass->g->base, a->chain.q).dim[3])
        graph_fail(pass->g, "the hook changes the width of q and k, which a class token without a "
                            "position cannot have (model.cls_position: first)");
    hook_status(pass, PEAT_OK);
}

/* What the hook made of the places that it saw takes their place. */
static void put_back(struct attention *a, const peat_qkv *io)
{
    a->chain.q = front_join(a->pass, a->chain.q, io->q, 2);
    a->chain.k = front_join(a->pass, a->chain.k, io->k, 2);
    a->chain.v = front_join(a->pass, a->chain.v, io->v, 2);
}

static void run_qkv(struct attention *a)
{
    struct call c;
    for (int i = 0; i < a->pass->positional->n_scheme; i++) {
        const struct scheme_part *s = scheme(a->pass, i);
        if (!group_hook(a, i, HOOK_QKV, &c))
            continue;
        peat_qkv io = {sizeof(io), front_cut(a->pass, a->chain.q, 2),
                       front_cut(a->pass, a->chain.k, 2), front_cut(a->pass, a->chain.v, 2)};
        hook_begin(&c, HOOK_QKV);
        if (s->where.dim_end > 0)
            qkv_on_dims(a->pass, s, &c, &io);
        else if (!hook_status(a->pass, s->hooks->qkv(&c.base, &io)))
            return;
        check_qkv(a, &c, &io);
        if (graph_failed(a->pass->g))
            return;
        put_back(a, &io);
    }
}

static peat_node *plus(struct pass *pass, peat_node *a, peat_node *b)
{
    return !a ? b : !b ? a : op_add(&pass->g->base, a, b);
}

/* bias_rel's values, straight for the fused kernel or spread over all pairs. */
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
    int64_t H = peat_shape_of(&pass->g->base, rel).dim[0];
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

/* Terms for the places that schemes see, as terms for all places. */
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

/* What one scheme adds to the logits of the heads that `c` shows. */
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
    int64_t H = peat_shape_of(g, t).dim[axis];
    return !t || H == 1 || (begin == 0 && end == H) ? t : op_slice(g, t, axis, begin, end);
}

/* Terms that depend on neither content nor layer are made once, for the scheme's own heads, and
 * used by all layers: their gradients then sum over the layers on the tape. */
static struct bias_terms shared_terms(struct attention *a, int i)
{
    const struct scheme_part *s = scheme(a->pass, i);
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

static void run_terms(struct attention *a)
{
    enum { SEES_CONTENT = PEAT_NEED_QK | PEAT_NEED_X | PEAT_NEED_PROJECT };
    for (int i = 0; i < a->pass->positional->n_scheme; i++) {
        const struct scheme_part *s = scheme(a->pass, i);
        const peat_scheme *h = s->hooks;
        if (!in_group(a, i) || !scheme_acts_on(h, ACTS_ON_TERMS))
            continue;
        struct bias_terms t;
        if ((h->needs & SEES_CONTENT) || s->part.per_layer) {
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

static double group_scale(struct attention *a)
{
    const struct attention_options *o = a->options;
    double C = (double)a->pass->dims.C;
    if (o->scale_value > 0)
        return o->scale_value;
    if (o->scale != SCALE_AUTO)
        return o->scale == SCALE_NONE ? 1.0 : 1.0 / sqrt(C);
    int terms = 0;
    bool one = false;
    for (int i = 0; i < a->pass->positional->n_scheme; i++) {
        if (!in_group(a, i))
            continue;
        terms += scheme(a->pass, i)->hooks->score_terms;
        one = one || scheme(a->pass, i)->hooks->scale == PEAT_SCALE_ONE;
    }
    if (one && terms > 0)
        graph_fail(a->pass->g, "one scheme wants unscaled scores and another adds terms that are "
                               "scaled; set model.attention.scale");
    return one ? 1.0 : 1.0 / sqrt((1.0 + terms) * C);
}

/* o [B,H,T,C] through the context hooks, last scheme first. */
static peat_node *run_context(struct attention *a, peat_node *o, peat_node *W)
{
    const int64_t dim[] = {a->pass->B, a->group.end - a->group.begin, a->pass->span.rows.T,
                           a->pass->dims.C};
    peat_qkv room;
    struct call c;
    for (int i = a->pass->positional->n_scheme - 1; i >= 0; i--) {
        const struct scheme_part *s = scheme(a->pass, i);
        if (!group_hook(a, i, HOOK_CONTEXT, &c))
            continue;
        const peat_qkv *seen = seen_qkv(a->pass, s->hooks, &a->projected, &room);
        peat_node *seen_W = s->hooks->needs & PEAT_NEED_W ? front_cut_pairs(a->pass, W) : NULL;
        hook_begin(&c, HOOK_CONTEXT);
        peat_node *out = hook_end(
            a->pass, s->hooks->context(&c.base, seen, front_cut(a->pass, o, 2), seen_W), 4, dim, 0);
        o = front_join(a->pass, o, out, 2);
    }
    return o;
}

/* ---- the two paths ---- */

static peat_node *fused(struct attention *a)
{
    peat_node *o =
        op_attention(&a->pass->g->base, a->chain.q, a->chain.k, a->chain.v, a->terms.score_add,
                     a->terms.bias, a->terms.rel, group_scale(a), a->pass->mask);
    return run_context(a, o, NULL);
}

static peat_node *mask_of(struct pass *pass)
{
    if (!pass->mask_node)
        pass->mask_node = attention_mask_node(
            pass->g, pass->mask, pass->B, span_n_queries(&pass->span), span_n_keys(&pass->span));
    return pass->mask_node;
}

/* One logits hook; a bias that it sees apart is in what it returns. */
static peat_node *change_logits(struct attention *a, const struct scheme_part *s, struct call *c,
                                peat_node *S, peat_node *bias)
{
    const int64_t dim[] = {a->pass->B, c->base.H, c->base.q->T, c->base.k->T};
    peat_qkv room;
    const peat_qkv *seen = seen_qkv(a->pass, s->hooks, &a->projected, &room);
    peat_node *seen_S = front_cut_pairs(a->pass, S);
    peat_node *seen_bias = front_cut_pairs(a->pass, bias);
    c->base.mask = front_cut_pairs(a->pass, mask_of(a->pass));
    hook_begin(c, HOOK_LOGITS);
    peat_node *out =
        hook_end(a->pass, s->hooks->logits(&c->base, seen, seen_S, seen_bias), 4, dim, 0);
    return front_join_pairs(a->pass, S, out);
}

/* Logits, and what of the bias is not yet in them. */
struct scores {
    peat_node *S, *bias;
};

static peat_node *summed(struct attention *a, struct scores s)
{
    return plus(a->pass, s.S, s.bias);
}

/* logits hooks: the first may see the bias apart; afterwards it is in. */
static struct scores run_logits(struct attention *a, struct scores x)
{
    struct call c;
    for (int i = 0; i < a->pass->positional->n_scheme; i++) {
        const struct scheme_part *s = scheme(a->pass, i);
        if (!group_hook(a, i, HOOK_LOGITS, &c))
            continue;
        if (!(s->hooks->needs & PEAT_NEED_BIAS))
            x = (struct scores){summed(a, x), NULL};
        x = (struct scores){change_logits(a, s, &c, x.S, x.bias), NULL};
    }
    return x;
}

/* The scheme that stands in the place of the softmax; -1: none. */
static int softmax_scheme(const struct attention *a)
{
    int found = -1;
    for (int i = 0; i < a->pass->positional->n_scheme; i++) {
        if (!in_group(a, i) || !scheme_has(scheme(a->pass, i)->hooks, HOOK_SOFTMAX))
            continue;
        if (found >= 0)
            graph_fail(a->pass->g,
                       "schemes '%s' and '%s' both replace the softmax: give them other heads "
                       "or layers (where)",
                       scheme(a->pass, found)->part.id, scheme(a->pass, i)->part.id);
        found = i;
    }
    return found;
}

/* What a softmax hook makes of all places, with the front; not yet masked. */
static peat_node *run_softmax(struct attention *a, int i, struct scores x)
{
    const struct scheme_part *s = scheme(a->pass, i);
    struct call c;
    group_call(a, i, true, &c);
    if (!(s->hooks->needs & PEAT_NEED_BIAS))
        x = (struct scores){summed(a, x), NULL};
    peat_shape shape = peat_shape_of(c.base.g, x.S);
    c.base.mask = mask_of(a->pass);
    const peat_qkv *seen = s->hooks->needs & PEAT_NEED_QK ? &a->projected : NULL;
    hook_begin(&c, HOOK_SOFTMAX);
    return hook_end(a->pass, s->hooks->softmax(&c.base, seen, x.S, x.bias), 4, shape.dim, 0);
}

static peat_node *run_weights(struct attention *a, peat_node *W)
{
    struct call c;
    for (int i = 0; i < a->pass->positional->n_scheme; i++) {
        const struct scheme_part *s = scheme(a->pass, i);
        if (!group_hook(a, i, HOOK_WEIGHTS, &c))
            continue;
        const int64_t dim[] = {a->pass->B, c.base.H, c.base.q->T, c.base.k->T};
        c.base.mask = front_cut_pairs(a->pass, mask_of(a->pass));
        peat_node *seen = front_cut_pairs(a->pass, W);
        hook_begin(&c, HOOK_WEIGHTS);
        peat_node *out = hook_end(a->pass, s->hooks->weights(&c.base, seen), 4, dim, 0);
        W = op_mul(&a->pass->g->base, front_join_pairs(a->pass, W, out), mask_of(a->pass));
    }
    return W;
}

static peat_node *whole_bias(struct attention *a)
{
    peat_node *bias = a->terms.bias;
    return a->terms.rel ? plus(a->pass, bias,
                               rel_as_bias(a->pass, a->terms.rel, span_n_queries(&a->pass->span),
                                           span_n_keys(&a->pass->span)))
                        : bias;
}

static struct scores composed_logits(struct attention *a, peat_node *bias)
{
    peat_graph *g = &a->pass->g->base;
    peat_node *S = op_matmul(g, a->chain.q, a->chain.k, PEAT_TRANS_B);
    S = op_affine(g, plus(a->pass, S, a->terms.score_add), group_scale(a), 0.0);
    return run_logits(a, (struct scores){S, bias});
}

/* *replaced: what stands in the place of the softmax gave; NULL: nothing does. */
static peat_node *composed_weights(struct attention *a, struct scores x, peat_node **replaced)
{
    peat_graph *g = &a->pass->g->base;
    int i = softmax_scheme(a);
    *replaced = i < 0 ? NULL : run_softmax(a, i, x);
    return run_weights(a, i < 0 ? op_softmax(g, summed(a, x), mask_of(a->pass))
                                : op_mul(g, *replaced, mask_of(a->pass)));
}

static peat_node *composed(struct attention *a)
{
    peat_node *replaced;
    peat_node *W = composed_weights(a, composed_logits(a, whole_bias(a)), &replaced);
    return run_context(a, op_matmul(&a->pass->g->base, W, a->chain.v, 0), W);
}

/* ---- watching ---- */

static const char *who_changes_scores(const struct attention *a)
{
    for (int i = 0; i < a->pass->positional->n_scheme; i++) {
        const struct scheme_part *s = scheme(a->pass, i);
        if (in_group(a, i) && scheme_acts_on(s->hooks, ACTS_ON_SCORES))
            return s->part.id;
    }
    return NULL;
}

/* Logits and weights are made for the observer alone: what the pass goes on with stays as it is. */
static void show(struct attention *a)
{
    const struct observer *o = a->pass->observer;
    if (!o || !o->attention || graph_failed(a->pass->g))
        return;
    struct attention_seen seen = {.layer = a->layer,
                                  .begin = a->group.begin,
                                  .end = a->group.end,
                                  .projected = a->projected,
                                  .chain = a->chain,
                                  .score_add = a->terms.score_add,
                                  .bias = whole_bias(a),
                                  .scale = group_scale(a),
                                  .changed_by = who_changes_scores(a)};
    if (!o->chain_only) {
        struct scores x = composed_logits(a, seen.bias);
        seen.logits = summed(a, x);
        seen.weights = composed_weights(a, x, &seen.replaced);
    }
    if (!graph_failed(a->pass->g))
        o->attention(o->ctx, &seen);
}

static bool takes_composed(struct attention *a)
{
    if (a->options->path == PATH_COMPOSED)
        return true;
    for (int i = 0; i < a->pass->positional->n_scheme; i++) {
        const struct scheme_part *s = scheme(a->pass, i);
        const char *why = in_group(a, i) ? scheme_needs_composed(s->hooks) : NULL;
        if (!why)
            continue;
        if (a->options->path == PATH_FUSED)
            graph_fail(a->pass->g,
                       "model.attention.path is fused, but scheme '%s' works on %s, "
                       "which takes the composed path",
                       s->part.id, why);
        return true;
    }
    return false;
}

/* Whether a scheme of the group asks for some of these. */
static bool someone_needs(const struct attention *a, uint32_t needs)
{
    for (int i = 0; i < a->pass->positional->n_scheme; i++)
        if (in_group(a, i) && scheme(a->pass, i)->hooks->needs & needs)
            return true;
    return false;
}

/* Keys and values of the new rows take their place behind those stored. */
static void add_stored(struct attention *a)
{
    struct pass *pass = a->pass;
    if (!span_grows(&pass->span))
        return;
    struct stored_group *s = &pass->stored->layer[a->layer].group[a->number];
    bool same_k = a->projected.k == a->chain.k, same_v = a->projected.v == a->chain.v;
    a->chain.k = stored_all(pass, &s->k, a->chain.k, 2);
    a->chain.v = stored_all(pass, &s->v, a->chain.v, 2);
    if (!someone_needs(a, PEAT_NEED_QK | PEAT_NEED_W))
        return;
    a->projected.k = same_k ? a->chain.k : stored_all(pass, &s->projected_k, a->projected.k, 2);
    a->projected.v = same_v ? a->chain.v : stored_all(pass, &s->projected_v, a->projected.v, 2);
}

/* What was made of pairs since node `begin` may be dropped. `o` and what other layers share is
 * read later. */
static void end_pairs(struct attention *a, int begin, peat_node *o)
{
    struct pass *pass = a->pass;
    if (pass->observer || pass->collect)
        return;
    peat_node *spared[1 + 3 * POSITIONAL_MAX] = {o};
    int n = 1;
    for (int i = 0; i < pass->positional->n_scheme; i++) {
        const struct bias_terms *t = &pass->cache[i];
        spared[n++] = t->score_add;
        spared[n++] = t->bias;
        spared[n++] = t->rel;
    }
    stretch_end(pass->g, begin, n, spared);
}

static peat_node *attend(struct attention *a)
{
    run_qkv(a);
    add_stored(a);
    int begin = stretch_begin(a->pass->g);
    run_terms(a);
    show(a);
    bool compose = takes_composed(a);
    peat_node *o = compose ? composed(a) : fused(a);
    a->pass->composed = a->pass->composed || compose;
    end_pairs(a, begin, o);
    return o;
}

static peat_qkv group_heads(struct pass *pass, const peat_qkv *all, const struct group *group)
{
    peat_graph *g = &pass->g->base;
    if (group->end - group->begin == pass->dims.H)
        return *all;
    return (peat_qkv){sizeof(peat_qkv), op_slice(g, all->q, 1, group->begin, group->end),
                      op_slice(g, all->k, 1, group->begin, group->end),
                      op_slice(g, all->v, 1, group->begin, group->end)};
}

/* What keys are made of, with that of stored rows where a scheme asks for it. */
static peat_node *all_inputs(struct pass *pass, int64_t layer, peat_node *xk)
{
    for (int i = 0; span_grows(&pass->span) && i < pass->positional->n_scheme; i++)
        if (scheme(pass, i)->hooks->needs & PEAT_NEED_X &&
            where_acts(&scheme(pass, i)->where, layer))
            return stored_all(pass, &pass->stored->layer[layer].x_k, xk, 1);
    return xk;
}

peat_node *attention_forward(struct pass *pass, const struct attention_weights *w,
                             const struct attention_options *options, int64_t layer, peat_node *x,
                             peat_node *memory)
{
    peat_graph *g = &pass->g->base;
    peat_node *in[3], *out[STORED_GROUPS];
    split_input(pass, layer, x, memory, in);
    peat_node *all_xk = all_inputs(pass, layer, in[1]);
    peat_qkv all = project(pass, w, layer, in);
    int n = 0;
    for (int64_t head = 0; head < pass->dims.H; n++) {
        struct attention a = {.pass = pass,
                              .weights = w,
                              .options = options,
                              .layer = layer,
                              .xq = in[0],
                              .xk = in[1],
                              .all_xk = all_xk,
                              .number = n,
                              .group = next_group(pass, layer, head)};
        a.projected = a.chain = group_heads(pass, &all, &a.group);
        out[n] = attend(&a);
        head = a.group.end;
    }
    /* [B,H,T,C] -> [B,T,H,C] -> [B,T,D] */
    peat_node *o = n == 1 ? out[0] : op_concat(g, n, out, 1);
    o = op_permute(g, o, 4, (int32_t[]){0, 2, 1, 3});
    o = op_reshape(g, o, 3, (int64_t[]){pass->B, span_n_queries(&pass->span), pass->dims.D});
    return op_linear(g, o, weight_node(pass->g, w->out_w), weight_node(pass->g, w->out_b));
}
