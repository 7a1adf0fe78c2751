/* SPDX-License-Identifier: MIT */
/* input_sizes.c: the size of each kind of stream in the model's input. */
#include "train/input_sizes.h"

#include "train/trainer.h"

/* Keeps streams of the kinds in the mask and replaces others by zero. */
static peat_node *keep_some(void *ctx, struct pass *pass, enum stream_kind kind, int scheme,
                            peat_node *x)
{
    const unsigned *keep = ctx;
    (void)scheme;
    return *keep >> kind & 1 ? x : graph_zeros_like(pass->g, x);
}

/* The merged input of the streams in `keep`: [B,T,D]. */
static bool merge_kept(struct model *m, const struct team *team, const peat_batch *b, unsigned keep,
                       struct arena *arena, const struct tensor **out, struct error *err)
{
    struct graph *g = ARENA_NEW(arena, struct graph);
    const struct observer observer = {.ctx = &keep, .stream = keep_some};
    struct pass pass = {.observer = &observer};
    const struct model_input in = forward_input(b, PEAT_EVAL);
    graph_init(g, arena, team, m->weights.dtype);
    g->no_grad = true;
    const peat_node *x = model_input_alone(m, g, &in, &pass);
    *out = x ? &x->value : NULL;
    return forward_status(g, "the input of the model", err) == PEAT_OK;
}

/* Root mean square of x - y. */
static double size_without(const struct tensor *x, const struct tensor *y)
{
    int64_t n = tensor_count(x);
    double squares = 0.0;
    for (int64_t i = 0; i < n; i++) {
        double d = tensor_get(x, i) - tensor_get(y, i);
        squares += d * d;
    }
    return n > 0 ? sqrt(squares / (double)n) : 0.0;
}

peat_status input_sizes(struct model *m, const struct team *team, const peat_batch *b,
                        struct arena *arena, struct input_sizes *out, struct error *err)
{
    const struct tensor *nothing, *token, *position;
    struct error why = {0};
    if (merge_kept(m, team, b, 0, arena, &nothing, &why) &&
        merge_kept(m, team, b, 1u << STREAM_TOKEN, arena, &token, &why) &&
        merge_kept(m, team, b, 1u << STREAM_POSITION, arena, &position, &why))
        *out = (struct input_sizes){size_without(token, nothing), size_without(position, nothing)};
    return error_copy(err, &why);
}

double input_ratio(const struct input_sizes *s)
{
    return s->token > 0.0 && s->position > 0.0 ? s->token / s->position : (double)NAN;
}
