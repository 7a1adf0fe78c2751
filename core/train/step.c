/* SPDX-License-Identifier: MIT */
/* step.c: a training step, from a batch over logits, loss and gradients to the update. */
#include "step.h"

/* ---- from a batch to logits ---- */

struct model_input forward_input(const peat_batch *b, peat_phase phase)
{
    struct model_input in = {
        .B = b->B,
        .rows = {.T = b->T,
                 .pos_B = b->B,
                 .n_axes = (int32_t)b->n_axes,
                 .pos = b->pos,
                 .sequence = b->sequence,
                 .token = b->patch ? NULL : b->token,
                 .segment = b->has_segment ? b->segment : NULL,
                 .document = b->has_document ? b->document : NULL,
                 .pad = b->has_pad ? b->pad : NULL,
                 .special = b->has_special ? b->special : NULL},
        .source = {.T = b->S,
                   .sequence = b->sequence,
                   .token = b->source,
                   .pad = b->source_pad,
                   .special = b->source_special},
        .patch = b->patch,
        .phase = phase,
    };
    for (int64_t i = 0; i < b->n_stream; i++) {
        in.stream_id[i] = b->stream_id[i];
        in.stream_number[i] = b->stream_number[i];
    }
    return in;
}

peat_status forward_status(const struct graph *g, const char *what, struct error *err)
{
    if (!graph_failed(g))
        return PEAT_OK;
    return error_set(err, g->err.status, "%s: %s", what, g->err.text);
}

peat_status forward_both(struct trainer *t, struct graph *g, const struct model_input *in,
                         bool reuse, peat_node **logits, peat_node **classes, const char *what,
                         struct error *err)
{
    struct pass pass = {0};
    graph_init(g, &t->step_arena, t->team, t->model->weights.dtype);
    g->no_grad = in->phase == PEAT_EVAL;
    g->reuse = reuse;
    *logits = model_forward(t->model, g, in, &pass);
    *classes = pass.classes;
    return forward_status(g, what, err);
}

peat_status forward_evaluated(struct trainer *t, const peat_batch *b, const struct model_input *in,
                              peat_node **logits, peat_node **classes, struct error *err)
{
    struct graph g;
    peat_node *unused;
    struct error why = {0};
    classes = classes ? classes : &unused;
    if (!t->engine)
        return forward_both(t, &g, in, false, logits, classes, "evaluation", err);
    t->engine->forward(t->engine->ctx, t, b, in, logits, classes, &why);
    return error_copy(err, &why);
}

/* ---- divergence ---- */

/* A run whose loss stays this far above the first for DIVERGED_STEPS has diverged. */
#define MARGIN_NATS 2.0

static void describe_node(const peat_node *n, char *text, size_t room)
{
    const char *kind = n->op ? n->op->name : "tensor";
    const char *name = n->name ? n->name : kind;
    if (n->hook)
        snprintf(text, room, ", first in '%s' (%s)", name, n->hook);
    else
        snprintf(text, room, ", first in '%s'", name);
}

bool divergence_check(struct trainer *t, struct graph *g, int64_t step, double loss,
                      double grad_norm)
{
    bool bad_loss = !isfinite(loss);
    if (!bad_loss && isfinite(grad_norm))
        return false;
    char place[128] = "";
    const peat_node *n = g ? graph_first_nonfinite(g, !bad_loss) : NULL;
    if (n)
        describe_node(n, place, sizeof(place));
    t->diverged.step = step;
    snprintf(t->diverged.what, sizeof(t->diverged.what), "%s is not finite at step %" PRId64 "%s",
             bad_loss ? "loss" : "gradient", step, place);
    return true;
}

bool divergence_watch(struct trainer *t, int64_t step, double loss)
{
    if (step == 1)
        t->first_loss = loss;
    t->above = loss > t->first_loss + MARGIN_NATS ? t->above + 1 : 0;
    if (t->above < DIVERGED_STEPS)
        return false;
    t->diverged.step = step;
    snprintf(t->diverged.what, sizeof(t->diverged.what),
             "loss stayed more than %g nats above the first for %d steps, until step %" PRId64,
             MARGIN_NATS, DIVERGED_STEPS, step);
    return true;
}

/* ---- steps ---- */

peat_status trainer_differentiate(struct trainer *t, struct graph *g, int64_t step, bool keep,
                                  struct step_values *v, struct error *err)
{
    char what[32];
    snprintf(what, sizeof(what), "step %" PRId64, step);
    const peat_batch *b = &t->batch.b;
    struct model_input in = forward_input(b, PEAT_TRAIN);
    in.step = step;
    int64_t n;
    forward_both(t, g, &in, !keep, &v->logits, &v->classes, what, err);
    peat_node *mean = model_loss(g, v->logits, task_targets(t->task, b, &n), v->classes, b->label);
    if (mean)
        v->loss = tensor_get(&mean->value, 0);
    weights_zero_grad(&t->model->weights);
    graph_backward(g, mean);
    peat_status status = forward_status(g, what, err);
    if (status == PEAT_OK && step == 1)
        status = weights_reached(&t->model->weights, PEAT_FAILED, err);
    return status;
}

/* Scales gradients whose norm is above `clip` down to it; 1e-6 as in PyTorch's clip_grad_norm_. */
static double clip_scale(double clip, double norm)
{
    double scale = clip / (norm + 1e-6);
    return clip > 0.0 && scale < 1.0 ? scale : 1.0;
}

bool trainer_step(struct trainer *t, struct outcome *out, struct error *err)
{
    int64_t step = t->step + 1;
    struct weights *w = &t->model->weights;
    struct graph g;
    struct step_values values = {0};
    if (task_train_batch(t->task, t->seed, step, &t->batch, err) != PEAT_OK ||
        trainer_differentiate(t, &g, step, false, &values, err) != PEAT_OK)
        return false;
    out->loss = values.loss;
    out->lr = schedule_lr(t->train, step);
    out->grad_norm = gradient_norm(w, t->team);
    if (!isfinite(out->loss) || !isfinite(out->grad_norm)) {
        /* Runs the step again keeping all values, to name the first that is not finite. */
        arena_reset(&t->step_arena);
        if (trainer_differentiate(t, &g, step, true, &values, err) != PEAT_OK)
            return false;
    }
    t->step = step;
    if (divergence_check(t, &g, step, out->loss, out->grad_norm))
        return true;
    adamw_step(&t->adamw, w, t->train, out->lr, clip_scale(t->train->clip, out->grad_norm),
               t->team);
    w->step = step;
    divergence_watch(t, step, out->loss);
    return true;
}
