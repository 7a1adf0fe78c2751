/* SPDX-License-Identifier: MIT */
/* mixer.c: mixers other than attention. */
#include "nn/mixer.h"

#include "autograd/ops.h"
#include "nn/stored.h"

const char *mixer_name(enum mixer mixer)
{
    static const char *const name[] = {[MIXER_CONV] = "conv", [MIXER_RNN] = "rnn"};
    return name[mixer];
}

static peat_node *linear(struct pass *pass, peat_node *x, struct weight *w, struct weight *b)
{
    return op_linear(&pass->g->base, x, weight_node(pass->g, w), weight_node(pass->g, b));
}

/* x [B,T,n*D] -> the which-th D columns */
static peat_node *columns(struct pass *pass, peat_node *x, int64_t which)
{
    int64_t D = pass->dims.D;
    return op_slice(&pass->g->base, x, -1, which * D, (which + 1) * D);
}

/* The mask for rows [begin, ...) of the sequence so far. */
static bool mask_from(struct pass *pass, int64_t begin, struct attention_mask *mask)
{
    peat_side side;
    const peat_side *all = span_so_far(&pass->span);
    if (!side_cut(pass->g->arena, all, pass->B, begin, all->T, &side))
        return graph_no_memory(pass->g, "a mask", 0) != NULL;
    *mask = (struct attention_mask){.causal = pass->dims.causal,
                                    .pad_k = side.pad,
                                    .doc_q = side.document,
                                    .doc_k = side.document};
    return true;
}

/* Only with stored rows: taps reach back to the last few products of keys and values. */
static peat_node *convolved_rows(struct pass *pass, int64_t layer, peat_node *taps, peat_node *kv)
{
    peat_graph *g = &pass->g->base;
    struct attention_mask mask;
    if (!pass->stored || !kv || !taps)
        return op_convolution(g, kv, taps, pass->mask);
    int64_t reach = node_dim(taps, 0) - 1;
    peat_node *rows = stored_reach(pass, &pass->stored->layer[layer].mixed, kv, reach);
    if (!rows || !mask_from(pass, span_so_far(&pass->span)->T - node_dim(rows, 1), &mask))
        return NULL;
    return stored_newest(pass, op_convolution(g, rows, taps, &mask));
}

/* The mask with one row in front for all earlier rows: it is not padding, and its document is that
 * of the last earlier row that is not padding. */
static bool stand_for_earlier(struct pass *pass, struct attention_mask *mask)
{
    int64_t B = pass->B, T = pass->span.rows.T + 1, last = span_first(&pass->span) - 1;
    const peat_side *all = span_so_far(&pass->span);
    uint8_t *pad = ARENA_TRY_ARRAY(pass->g->arena, B * T, uint8_t);
    int32_t *doc = ARENA_TRY_ARRAY(pass->g->arena, B * T, int32_t);
    if (!pad || !doc)
        return graph_no_memory(pass->g, "a mask", 0) != NULL;
    for (int64_t i = 0; i < B * T; i++) {
        const uint8_t *row_pad = all->pad ? all->pad + i / T * all->T : NULL;
        int64_t t = last;
        while (i % T == 0 && t > 0 && row_pad && row_pad[t])
            t--;
        pad[i] = i % T > 0 && mask->pad_k && mask->pad_k[i];
        doc[i] = !mask->doc_k ? 0 : i % T == 0 ? all->document[i / T * all->T + t] : mask->doc_k[i];
    }
    *mask = (struct attention_mask){.causal = true, .pad_k = pad, .doc_q = doc, .doc_k = doc};
    return true;
}

/* Only with stored rows: a first row that forgets everything and adds h, then the new rows. */
static peat_node *states(struct pass *pass, int64_t layer, peat_node *x, peat_node *f)
{
    peat_graph *g = &pass->g->base;
    struct stored *s = pass->stored;
    struct tensor *kept = &s->layer[layer].mixed;
    struct attention_mask mask;
    if (!mask_from(pass, s->done - 1, &mask) || !stand_for_earlier(pass, &mask))
        return NULL;
    peat_node *h = graph_constant(pass->g, kept->dtype, 3, kept->dim, kept->data);
    h = op_slice(g, h, 1, s->done - 1, s->done);
    peat_node *nothing = h ? graph_zeros_like(pass->g, h) : NULL;
    x = op_concat(g, 2, (peat_node *[]){h, x}, 1);
    f = op_concat(g, 2, (peat_node *[]){nothing, f}, 1);
    return stored_newest(pass, op_recurrence(g, x, f, pass->dims.D, &mask));
}

static peat_node *recurrent_rows(struct pass *pass, int64_t layer, peat_node *x, peat_node *f)
{
    struct stored *s = pass->stored;
    int64_t D = pass->dims.D, from_left = pass->dims.causal ? D : (D + 1) / 2;
    peat_node *h = s && s->done > 0 && x && f
                       ? states(pass, layer, x, f)
                       : op_recurrence(&pass->g->base, x, f, from_left, pass->mask);
    if (s)
        stored_all(pass, &s->layer[layer].mixed, h, 1);
    return h;
}

static peat_node *convolved(struct pass *pass, const struct mixer_weights *w, int64_t layer,
                            peat_node *x)
{
    peat_graph *g = &pass->g->base;
    peat_node *qkv = linear(pass, x, w->in_w, w->in_b);
    peat_node *kv = op_mul(g, columns(pass, qkv, 1), columns(pass, qkv, 2));
    kv = convolved_rows(pass, layer, weight_node(pass->g, w->taps), kv);
    return op_mul(g, columns(pass, qkv, 0), kv);
}

static peat_node *recurrent(struct pass *pass, const struct mixer_weights *w, int64_t layer,
                            peat_node *x)
{
    peat_graph *g = &pass->g->base;
    peat_node *zo = linear(pass, x, w->in_w, w->in_b);
    peat_node *forget = op_sigmoid(g, linear(pass, x, w->forget_w, w->forget_b));
    peat_node *h = recurrent_rows(pass, layer, op_tanh(g, columns(pass, zo, 0)), forget);
    return op_mul(g, op_sigmoid(g, columns(pass, zo, 1)), h);
}

peat_node *mixer_forward(struct pass *pass, const struct mixer_weights *w, enum mixer mixer,
                         int64_t layer, peat_node *x)
{
    peat_node *y =
        mixer == MIXER_CONV ? convolved(pass, w, layer, x) : recurrent(pass, w, layer, x);
    return linear(pass, y, w->out_w, w->out_b);
}
