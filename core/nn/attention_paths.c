/* SPDX-License-Identifier: MIT */
/* attention_paths.c: the fused path, the composed path, and the attention of a layer. */
#include "attention_parts.h"
#include "autograd/recompute.h"
#include "nn/stored.h"

/* Passes o [B,H,T,C] through the context hooks, last scheme first. W: NULL on the fused path. */
static peat_node *run_context(struct group_attention *a, peat_node *o, peat_node *W)
{
    struct pass *pass = a->pass;
    const int64_t dim[] = {pass->B, a->group.end - a->group.begin, pass->span.rows.T, pass->dims.C};
    peat_qkv room;
    struct call c;
    for (int i = pass->positional->n_scheme - 1; i >= 0; i--) {
        const peat_scheme *h = scheme_at(pass, i)->hooks;
        if (!group_hook(a, i, HOOK_CONTEXT, &c))
            continue;
        const peat_qkv *seen = seen_qkv(pass, h, &a->projected, &room);
        peat_node *seen_W = h->needs & PEAT_NEED_W ? front_cut_pairs(pass, W) : NULL;
        peat_node *seen_o = front_cut(pass, o, 2);
        hook_begin(&c, HOOK_CONTEXT);
        peat_node *out = hook_end(pass, h->context(&c.base, seen, seen_o, seen_W), 4, dim, 0);
        o = front_join(pass, o, out, 2);
    }
    return o;
}

/* ---- fused ---- */

static peat_node *fused(struct group_attention *a)
{
    peat_node *o =
        op_attention(&a->pass->g->base, a->chain.q, a->chain.k, a->chain.v, a->terms.score_add,
                     a->terms.bias, a->terms.rel, group_scale(a), a->pass->mask);
    return run_context(a, o, NULL);
}

/* ---- composed ---- */

static peat_node *mask_of(struct pass *pass)
{
    if (!pass->mask_node)
        pass->mask_node = attention_mask_node(
            pass->g, pass->mask, pass->B, span_n_queries(&pass->span), span_n_keys(&pass->span));
    return pass->mask_node;
}

/* Logits [B,H,Tq,Tk], and a bias that is not added to them yet, or NULL. */
struct scores {
    peat_node *S, *bias;
};

static struct scores summed(struct pass *pass, struct scores x)
{
    return (struct scores){plus(pass, x.S, x.bias), NULL};
}

/* The logits as a scheme sees them: without the bias if it declares PEAT_NEED_BIAS. */
static struct scores seen_scores(struct pass *pass, const peat_scheme *h, struct scores x)
{
    return h->needs & PEAT_NEED_BIAS ? x : summed(pass, x);
}

/* The first logits hook may see the bias separately; the logits it returns include the bias. */
static struct scores run_logits(struct group_attention *a, struct scores x)
{
    struct pass *pass = a->pass;
    peat_qkv room;
    struct call c;
    for (int i = 0; i < pass->positional->n_scheme; i++) {
        const peat_scheme *h = scheme_at(pass, i)->hooks;
        if (!group_hook(a, i, HOOK_LOGITS, &c))
            continue;
        x = seen_scores(pass, h, x);
        const int64_t dim[] = {pass->B, c.base.H, c.base.q->T, c.base.k->T};
        const peat_qkv *seen = seen_qkv(pass, h, &a->projected, &room);
        peat_node *S = front_cut_pairs(pass, x.S), *bias = front_cut_pairs(pass, x.bias);
        c.base.mask = front_cut_pairs(pass, mask_of(pass));
        hook_begin(&c, HOOK_LOGITS);
        peat_node *out = hook_end(pass, h->logits(&c.base, seen, S, bias), 4, dim, 0);
        x = (struct scores){front_join_pairs(pass, x.S, out), NULL};
    }
    return x;
}

/* The scheme that replaces the softmax; -1: no scheme does. */
static int softmax_scheme(const struct group_attention *a)
{
    int found = -1;
    for (int i = 0; i < a->pass->positional->n_scheme; i++) {
        if (!group_has(a, i) || !scheme_has(scheme_at(a->pass, i)->hooks, HOOK_SOFTMAX))
            continue;
        if (found >= 0)
            graph_fail(a->pass->g,
                       "schemes '%s' and '%s' both replace the softmax: give them other heads "
                       "or layers (where)",
                       scheme_at(a->pass, found)->part.id, scheme_at(a->pass, i)->part.id);
        found = i;
    }
    return found;
}

/* A softmax hook sees all places, the front included. Its weights are not yet masked. */
static peat_node *run_softmax(struct group_attention *a, int i, struct scores x)
{
    const peat_scheme *h = scheme_at(a->pass, i)->hooks;
    struct call c;
    group_hook(a, i, HOOK_SOFTMAX, &c);
    x = seen_scores(a->pass, h, x);
    const int64_t dim[] = {a->pass->B, a->group.end - a->group.begin,
                           span_n_queries(&a->pass->span), span_n_keys(&a->pass->span)};
    c.base.mask = mask_of(a->pass);
    const peat_qkv *seen = h->needs & PEAT_NEED_QK ? &a->projected : NULL;
    hook_begin(&c, HOOK_SOFTMAX);
    return hook_end(a->pass, h->softmax(&c.base, seen, x.S, x.bias), 4, dim, 0);
}

static peat_node *run_weights(struct group_attention *a, peat_node *W)
{
    struct pass *pass = a->pass;
    struct call c;
    for (int i = 0; i < pass->positional->n_scheme; i++) {
        if (!group_hook(a, i, HOOK_WEIGHTS, &c))
            continue;
        const int64_t dim[] = {pass->B, c.base.H, c.base.q->T, c.base.k->T};
        c.base.mask = front_cut_pairs(pass, mask_of(pass));
        peat_node *seen = front_cut_pairs(pass, W);
        hook_begin(&c, HOOK_WEIGHTS);
        peat_node *out =
            hook_end(pass, scheme_at(pass, i)->hooks->weights(&c.base, seen), 4, dim, 0);
        W = op_mul(&pass->g->base, front_join_pairs(pass, W, out), mask_of(pass));
    }
    return W;
}

static struct scores composed_logits(struct group_attention *a, peat_node *bias)
{
    peat_graph *g = &a->pass->g->base;
    peat_node *S = op_matmul(g, a->chain.q, a->chain.k, PEAT_TRANS_B);
    S = op_affine(g, plus(a->pass, S, a->terms.score_add), group_scale(a), 0.0);
    return run_logits(a, (struct scores){S, bias});
}

/* *replaced: the output of a softmax hook; NULL: the softmax is the usual one. */
static peat_node *composed_weights(struct group_attention *a, struct scores x, peat_node **replaced)
{
    peat_graph *g = &a->pass->g->base;
    int i = softmax_scheme(a);
    *replaced = i < 0 ? NULL : run_softmax(a, i, x);
    return run_weights(a, i < 0 ? op_softmax(g, summed(a->pass, x).S, mask_of(a->pass))
                                : op_mul(g, *replaced, mask_of(a->pass)));
}

/* Keeps the weights until the carry hook of a scheme whose heads are all in the group. */
static void keep_weights(const struct group_attention *a, peat_node *W)
{
    for (int i = 0; i < a->pass->positional->n_scheme; i++) {
        const peat_scheme *h = scheme_at(a->pass, i)->hooks;
        if (group_has(a, i) && h->carry && h->needs & PEAT_NEED_W)
            a->pass->weights[i] = W;
    }
}

static peat_node *composed(struct group_attention *a)
{
    peat_node *replaced;
    peat_node *W = composed_weights(a, composed_logits(a, group_bias(a)), &replaced);
    keep_weights(a, W);
    return run_context(a, op_matmul(&a->pass->g->base, W, a->chain.v, 0), W);
}

static bool takes_composed(struct group_attention *a)
{
    if (a->options->path == PATH_COMPOSED)
        return true;
    for (int i = 0; i < a->pass->positional->n_scheme; i++) {
        const struct scheme_part *s = scheme_at(a->pass, i);
        const char *why = group_has(a, i) ? scheme_needs_composed(s->hooks) : NULL;
        if (!why)
            continue;
        if (a->options->path == PATH_FUSED)
            graph_fail(a->pass->g,
                       "model.attention.path is fused, but scheme '%s' works on %s, "
                       "which needs the composed path",
                       s->part.id, why);
        return true;
    }
    return false;
}

/* ---- the observer ---- */

static const char *who_changes_scores(const struct group_attention *a)
{
    for (int i = 0; i < a->pass->positional->n_scheme; i++) {
        const struct scheme_part *s = scheme_at(a->pass, i);
        if (group_has(a, i) && scheme_acts_on(s->hooks, ACTS_ON_SCORES))
            return s->part.id;
    }
    return NULL;
}

/* Computes logits and weights only for the observer; the pass does not use them. */
static void show(struct group_attention *a)
{
    const struct observer *o = a->pass->observer;
    if (!o || !o->attention || graph_failed(a->pass->g))
        return;
    struct attention_seen seen = {.pass = a->pass,
                                  .layer = a->layer,
                                  .begin = a->group.begin,
                                  .end = a->group.end,
                                  .projected = a->projected,
                                  .chain = a->chain,
                                  .score_add = a->terms.score_add,
                                  .bias = group_bias(a),
                                  .scale = group_scale(a),
                                  .changed_by = who_changes_scores(a)};
    if (!o->chain_only) {
        struct scores x = composed_logits(a, seen.bias);
        seen.logits = summed(a->pass, x).S;
        seen.weights = composed_weights(a, x, &seen.replaced);
    }
    if (!graph_failed(a->pass->g))
        o->attention(o->ctx, &seen);
}

/* ---- stored rows ---- */

/* True where a hook of the group may see projections of all rows. */
static bool projections_are_seen(const struct group_attention *a)
{
    for (int i = 0; i < a->pass->positional->n_scheme; i++)
        if (group_has(a, i) && scheme_at(a->pass, i)->hooks->needs & (PEAT_NEED_QK | PEAT_NEED_W))
            return true;
    return false;
}

/* Puts the keys and values of stored rows before those of the new ones. */
static void add_stored(struct group_attention *a)
{
    struct pass *pass = a->pass;
    if (!span_grows(&pass->span))
        return;
    struct stored_group *s = &pass->stored->layer[a->layer].group[a->number];
    bool same_k = a->projected.k == a->chain.k, same_v = a->projected.v == a->chain.v;
    a->chain.k = stored_all(pass, &s->k, a->chain.k, 2);
    a->chain.v = stored_all(pass, &s->v, a->chain.v, 2);
    if (!projections_are_seen(a))
        return;
    a->projected.k = same_k ? a->chain.k : stored_all(pass, &s->projected_k, a->projected.k, 2);
    a->projected.v = same_v ? a->chain.v : stored_all(pass, &s->projected_v, a->projected.v, 2);
}

/* ---- a layer ---- */

/* Lets the graph drop the nodes since `begin`, except `o`, terms that other layers share, and
 * weights for carry. */
static void end_pairs(struct pass *pass, int begin, peat_node *o)
{
    if (pass->observer || pass->collect)
        return;
    peat_node *spared[1 + 4 * POSITIONAL_MAX] = {o};
    int n = 1;
    for (int i = 0; i < pass->positional->n_scheme; i++) {
        const struct bias_terms *t = &pass->cache[i];
        spared[n++] = t->score_add;
        spared[n++] = t->bias;
        spared[n++] = t->rel;
        spared[n++] = pass->weights[i];
    }
    recompute_end(pass->g, begin, n, spared);
}

static peat_node *attend(struct group_attention *a)
{
    group_qkv(a);
    add_stored(a);
    int begin = recompute_begin(a->pass->g);
    group_terms(a);
    show(a);
    bool compose = takes_composed(a);
    peat_node *o = compose ? composed(a) : fused(a);
    a->pass->composed = a->pass->composed || compose;
    end_pairs(a->pass, begin, o);
    return o;
}

peat_node *attention_forward(struct pass *pass, const struct attention_weights *w,
                             const struct attention_options *options, int64_t layer, peat_node *x,
                             peat_node *memory)
{
    peat_graph *g = &pass->g->base;
    peat_node *out[STORED_GROUPS];
    struct attention_inputs in;
    inputs_make(pass, w, layer, x, memory, &in);
    int n = 0;
    for (int64_t head = 0; head < pass->dims.H; n++) {
        struct group_attention a = {.pass = pass,
                                    .weights = w,
                                    .options = options,
                                    .layer = layer,
                                    .in = &in,
                                    .number = n,
                                    .group = group_next(pass, layer, head)};
        a.projected = a.chain = group_heads(pass, &in.projected, &a.group);
        out[n] = attend(&a);
        head = a.group.end;
    }
    /* [B,H,T,C] -> [B,T,H,C] -> [B,T,D] */
    peat_node *o = n == 1 ? out[0] : op_concat(g, n, out, 1);
    o = op_permute(g, o, 4, (int32_t[]){0, 2, 1, 3});
    o = op_reshape(g, o, 3, (int64_t[]){pass->B, span_n_queries(&pass->span), pass->dims.D});
    o = pass_seen(pass, "context", layer, o);
    return op_linear(g, o, weight_node(pass->g, w->out_w), weight_node(pass->g, w->out_b));
}
