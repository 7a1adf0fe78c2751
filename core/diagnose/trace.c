/* SPDX-License-Identifier: MIT */
/* trace.c: runs a forward pass and copies tensors out of it. */
#include "diagnose/trace.h"

#include "train/trainer.h"

static peat_node *on_stream(void *ctx, struct pass *pass, enum stream_kind kind, int scheme,
                            peat_node *x)
{
    struct trace *t = ctx;
    if (kind == STREAM_POSITION)
        t->position[scheme] = x;
    return t->options.silent >> kind & 1 ? graph_zeros_like(pass->g, x) : x;
}

static peat_node *on_node(void *ctx, struct pass *pass, const char *place, int64_t layer,
                          peat_node *x)
{
    struct trace *t = ctx;
    if (strcmp(place, "stream") == 0)
        t->residual[layer < 0 ? t->subject->model->dims.L : layer] = x;
    if (strcmp(place, "input") != 0)
        return x;
    if (t->options.minus) {
        peat_node *minus = graph_constant(pass->g, PEAT_F64, x->value.rank, x->value.dim,
                                          (void *)(uintptr_t)t->options.minus);
        x = op_sub(&pass->g->base, x, minus);
    }
    return t->input = x;
}

static void on_attention(void *ctx, const struct attention_seen *seen)
{
    struct trace *t = ctx;
    t->seen[t->n_seen++] = *seen;
}

bool trace_run(struct trace *t, struct subject *s, const peat_batch *b,
               const struct trace_options *o)
{
    struct model *m = s->model;
    BUG_UNLESS(m->weights.dtype == PEAT_F64);
    *t = (struct trace){.subject = s,
                        .options = *o,
                        .in = forward_input(b, PEAT_EVAL),
                        .mark = arena_mark(&s->scratch)};
    t->observer = (struct observer){.ctx = t,
                                    .stream = on_stream,
                                    .node = on_node,
                                    .attention = o->attention ? on_attention : NULL};
    t->mask = model_mask(m, &t->in);
    t->residual = ARENA_ARRAY(&s->scratch, m->dims.L + 1, peat_node *);
    t->seen = ARENA_ARRAY(&s->scratch, m->dims.L * m->dims.H, struct attention_seen);
    graph_init(&t->g, &s->scratch, s->team, PEAT_F64);
    t->g.no_grad = true;
    t->pass.observer = &t->observer;
    t->pass.collect = o->probes;
    struct model first = *m;
    if (o->input_alone)
        first.config.n_layer = 1;
    t->in.last_only = o->input_alone;
    t->logits = model_forward(&first, &t->g, &t->in, &t->pass);
    t->pass.mask = &t->mask;
    if (o->attention)
        t->keys = attention_mask_node(&t->g, &t->mask, t->in.B, t->in.T, t->in.T);
    return subject_is_well(s) &&
           forward_status(&t->g, "the model cannot be run", &s->err) == PEAT_OK;
}

void trace_end(struct trace *t)
{
    arena_rewind(&t->subject->scratch, t->mark);
}

void trace_loss(struct subject *s, const peat_batch *b, const double *minus, double *nll,
                int64_t *targets)
{
    struct trace t;
    struct ce_sums sums = {0};
    if (trace_run(&t, s, b, &(struct trace_options){.minus = minus}))
        cross_entropy_sums(s->team, &t.logits->value, b->target, &sums);
    trace_end(&t);
    *nll += sums.nll;
    *targets += sums.targets;
}

double *node_copy(const peat_node *n, struct arena *a)
{
    return node_spread(n, n->value.rank, n->value.dim, a);
}

double *node_spread(const peat_node *n, int rank, const int64_t *dim, struct arena *a)
{
    struct tensor copy = tensor_shape(PEAT_F64, rank, dim);
    struct tensor wide = tensor_broadcast_to(&n->value, rank, dim);
    copy.data = arena_alloc(a, tensor_bytes(&copy));
    tensor_copy(&copy, &wide);
    return copy.data;
}

void centre_seen(double *x, const double *mask, int64_t T)
{
    for (int64_t i = 0; i < T; i++) {
        double sum = 0.0, n = 0.0;
        for (int64_t j = 0; j < T; j++) {
            sum += mask[i * T + j] != 0.0 ? x[i * T + j] : 0.0;
            n += mask[i * T + j] != 0.0;
        }
        for (int64_t j = 0; j < T; j++)
            x[i * T + j] = mask[i * T + j] != 0.0 ? x[i * T + j] - sum / n : 0.0;
    }
}
