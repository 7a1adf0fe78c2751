/* SPDX-License-Identifier: MIT */
/* attention_inputs.c: from the input of a layer to the queries, keys and values of its head groups.
 */
#include "attention_parts.h"
#include "nn/stored.h"

/* ---- streams that enter here, and hidden hooks ---- */

static bool enters_at(enum site at, int which)
{
    return at == SITE_ATTN_QKV || (at == SITE_ATTN_QK && which < 2) ||
           (at == SITE_ATTN_Q && which == 0) || (at == SITE_ATTN_K && which == 1);
}

static void run_hidden(struct pass *pass, int i, int64_t layer, peat_node *in[3])
{
    const struct scheme_part *s = scheme_at(pass, i);
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

/* The inputs of q, k and v: x, changed in YAML order by the streams that enter here and by hidden
 * hooks. In a pass across two sequences neither acts. */
static void split_input(struct pass *pass, int64_t layer, peat_node *x, peat_node *memory,
                        peat_node *in[3])
{
    in[0] = x;
    in[1] = in[2] = memory ? memory : x;
    if (memory)
        return;
    for (int i = 0; i < pass->positional->n_scheme; i++) {
        struct scheme_part *s = scheme_at(pass, i);
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

/* ---- projections ---- */

/* The which-th D columns of qkv [B,T,n*D] as [B,H,T,C], a view. */
static peat_node *heads_view(struct pass *pass, peat_node *qkv, int64_t n, int64_t which)
{
    if (!qkv)
        return NULL;
    int64_t B = pass->B, D = pass->dims.D, H = pass->dims.H, C = pass->dims.C;
    int64_t T = node_dim(qkv, 1);
    return graph_view(pass->g, qkv, 4, (int64_t[]){B, H, T, C}, (int64_t[]){T * n * D, C, n * D, 1},
                      which * D);
}

/* Keys or values of a source, which are the same for every row of the decoder. With stored rows the
 * first pass keeps them. NULL: nothing is kept. */
static struct tensor *kept_projection(struct pass *pass, int64_t layer, int which)
{
    bool kept = which > 0 && pass->span.source && pass->stored;
    return kept ? &pass->stored->layer[layer].across[which - 1] : NULL;
}

/* Projects one of the three inputs: [B,T,D]. */
static peat_node *project_one(struct pass *pass, const struct attention_weights *w, int64_t layer,
                              peat_node *x, int which)
{
    struct graph *g = pass->g;
    struct tensor *kept = kept_projection(pass, layer, which);
    int64_t D = pass->dims.D;
    if (kept && kept->data)
        return graph_constant(g, kept->dtype, kept->rank, kept->dim, kept->data);
    peat_node *made = op_linear(&g->base, x, weight_rows(g, w->qkv_w, which * D, (which + 1) * D),
                                weight_rows(g, w->qkv_b, which * D, (which + 1) * D));
    if (!kept || !made)
        return made;
    *kept = tensor_new(pass->stored->arena, made->value.dtype, made->value.rank, made->value.dim);
    if (!kept->data)
        return graph_no_memory(g, "a source's keys and values", tensor_bytes(kept));
    tensor_copy(kept, &made->value);
    return made;
}

/* One product when all three inputs are the same, three otherwise; then the norms. */
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
    if (w->q_norm.w) {
        out[0] = norm_forward(g, &w->q_norm, out[0]);
        out[1] = norm_forward(g, &w->k_norm, out[1]);
    }
    return (peat_qkv){sizeof(peat_qkv), out[0], out[1], out[2]};
}

/* The input of the keys of all rows, if a scheme declares PEAT_NEED_X. */
static peat_node *all_inputs(struct pass *pass, int64_t layer, peat_node *xk)
{
    for (int i = 0; span_grows(&pass->span) && i < pass->positional->n_scheme; i++)
        if (scheme_at(pass, i)->hooks->needs & PEAT_NEED_X &&
            where_acts(&scheme_at(pass, i)->where, layer))
            return stored_all(pass, &pass->stored->layer[layer].x_k, xk, 1);
    return xk;
}

void inputs_make(struct pass *pass, const struct attention_weights *w, int64_t layer, peat_node *x,
                 peat_node *memory, struct attention_inputs *in)
{
    peat_node *from[3];
    split_input(pass, layer, x, memory, from);
    *in = (struct attention_inputs){.x_q = from[0], .x_k = from[1]};
    in->all_x_k = all_inputs(pass, layer, in->x_k);
    in->projected = project(pass, w, layer, from);
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
        const struct scheme_part *s = scheme_at(pass, i);
        if (scheme_acts_on(s->hooks, ACTS_ON_HEADS | ACTS_ON_STATE) &&
            where_acts(&s->where, layer) && covers(s, head) && pass_has(pass, s))
            bits |= UINT32_C(1) << i;
    }
    return bits;
}

struct group group_next(const struct pass *pass, int64_t layer, int64_t begin)
{
    struct group group = {begin, begin + 1, schemes_on(pass, layer, begin)};
    while (group.end < pass->dims.H && schemes_on(pass, layer, group.end) == group.schemes)
        group.end++;
    return group;
}

peat_qkv group_heads(struct pass *pass, const peat_qkv *all, const struct group *group)
{
    peat_graph *g = &pass->g->base;
    if (group->end - group->begin == pass->dims.H)
        return *all;
    return (peat_qkv){sizeof(peat_qkv), op_slice(g, all->q, 1, group->begin, group->end),
                      op_slice(g, all->k, 1, group->begin, group->end),
                      op_slice(g, all->v, 1, group->begin, group->end)};
}
