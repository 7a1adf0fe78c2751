/* SPDX-License-Identifier: MIT */
/* trainer.c: the training loop, and the passes from a batch to logits. */
#include "train/trainer.h"

enum { STEP_ARENA_BYTES = 4 << 20, ANSWER_ARENA_BYTES = 1 << 20, WARM_STEPS = 3, TIMES_KEPT = 512 };

peat_status trainer_init(struct trainer *t, struct error *err)
{
    const struct weights *w = &t->model->weights;
    arena_init(&t->step_arena, "step", STEP_ARENA_BYTES);
    arena_init(&t->answer_arena, "stored rows", ANSWER_ARENA_BYTES);
    t->step = t->above = t->steps_timed = 0;
    t->first_loss = t->train_seconds = t->eval_seconds = t->median_step_ms = 0.0;
    t->diverged = (struct divergence){0};
    t->patience = (struct patience){.last = (double)NAN, .best = (double)NAN};
    peat_status status = adamw_init(&t->adamw, w, t->model_arena);
    if (status == PEAT_OK)
        status = task_batch_init(t->task, &t->batch, t->model_arena, t->train->batch,
                                 t->task->plan.seq_len);
    if (status != PEAT_OK)
        error_set(err, status, "out of memory for the optimiser and the batches");
    return status;
}

void trainer_release(struct trainer *t)
{
    arena_release(&t->step_arena);
    arena_release(&t->answer_arena);
}

static const double long_step =
    0.1; /* seconds; an engine's steps that take longer are waited for */

/* Durations of the last steps of this process, since the first ones warm caches and arenas. */
struct step_times {
    double ms[TIMES_KEPT];
    double last; /* seconds */
    int64_t seen;
};

static void times_add(struct step_times *s, struct trainer *t, double seconds)
{
    t->train_seconds += seconds;
    t->steps_timed++;
    s->last = seconds;
    int64_t place = s->seen++ - WARM_STEPS;
    if (place >= 0)
        s->ms[place % TIMES_KEPT] = seconds * 1e3;
}

static void times_median(const struct step_times *s, struct trainer *t)
{
    int64_t n = s->seen - WARM_STEPS;
    if (n <= 0)
        return;
    n = n < TIMES_KEPT ? n : TIMES_KEPT;
    double sorted[TIMES_KEPT];
    memcpy(sorted, s->ms, (size_t)n * sizeof(*sorted));
    sort_reals(sorted, n);
    t->median_step_ms = 0.5 * (sorted[(n - 1) / 2] + sorted[n / 2]);
}

/* ---- from a batch to logits ---- */

struct model_input forward_input(const peat_batch *b, peat_phase phase)
{
    struct model_input in = {
        .B = b->B,
        .T = b->T,
        .token = b->patch ? NULL : b->token,
        .patch = b->patch,
        .n_axes = b->n_axes,
        .pos = b->pos,
        .S = b->S,
        .source = b->source,
        .source_pad = b->source_pad,
        .source_special = b->source_special,
        .segment = b->has_segment ? b->segment : NULL,
        .document = b->has_document ? b->document : NULL,
        .pad = b->has_pad ? b->pad : NULL,
        .special = b->has_special ? b->special : NULL,
        .sequence = b->sequence,
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

/* A run whose loss stays this far above the first, for so many steps, has diverged. */
enum { DIVERGED_STEPS = 50 };
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

/* The measurements of one step. */
struct outcome {
    double loss, lr, grad_norm;
};

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

/* One step, up to the update. A step whose numbers are not finite changes no weight. */
static bool train_step(struct trainer *t, struct outcome *out, struct error *err)
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

static bool check(struct trainer *t, struct error *err)
{
    return !t->events.check || t->events.check(t->events.ctx, err) == PEAT_OK;
}

static void report_step(struct trainer *t, const struct outcome *out)
{
    if (t->events.step)
        t->events.step(t->events.ctx, t->step, out->loss, out->lr, out->grad_norm);
}

static bool timed_step(struct trainer *t, struct step_times *times, struct error *err)
{
    struct outcome out = {0};
    double start = clock_seconds();
    trail_step(t->task->trail, t->step + 1);
    bool ok = train_step(t, &out, err);
    arena_reset(&t->step_arena);
    if (!ok || !check(t, err))
        return false;
    times_add(times, t, clock_since(start));
    report_step(t, &out);
    return true;
}

static bool every(int64_t step, int64_t period)
{
    return period > 0 && step % period == 0;
}

/* ---- steps of an engine ---- */

/* Steps whose losses are read together: a GPU would stand idle while each is waited for. */
enum { STEPS_AT_ONCE = 10 };

static bool state_is_used(const struct trainer *t, int64_t step)
{
    const struct train_events *e = &t->events;
    return step == 1 || step == t->train->steps || every(step, STEPS_AT_ONCE) ||
           every(step, t->eval->every) || every(step, t->checkpoint_every) ||
           (e->keeps && e->keeps(e->ctx, step));
}

/* Until the state is used, and so few that the watch on divergence ends the run at none but the
 * last. */
static int64_t steps_at_once(const struct trainer *t, double last_seconds)
{
    int64_t n = 1;
    while (last_seconds < long_step && t->above + n + 1 <= DIVERGED_STEPS &&
           !state_is_used(t, t->step + n))
        n++;
    return n;
}

static bool begin_step(struct trainer *t, int64_t step, struct error *err)
{
    trail_step(t->task->trail, step);
    bool ok = task_train_batch(t->task, t->seed, step, &t->batch, err) == PEAT_OK &&
              t->engine->step(t->engine->ctx, t, step, err);
    arena_reset(&t->step_arena);
    return ok;
}

static void end_step(struct trainer *t, const struct outcome *out)
{
    t->step++;
    if (!divergence_check(t, NULL, t->step, out->loss, out->grad_norm)) {
        t->adamw.t++;
        t->model->weights.step = t->step;
        divergence_watch(t, t->step, out->loss);
    }
    report_step(t, out);
}

static bool engine_steps(struct trainer *t, struct step_times *times, struct error *err)
{
    double loss[STEPS_AT_ONCE], norm[STEPS_AT_ONCE], start = clock_seconds();
    int64_t n = steps_at_once(t, times->last);
    bool ok = true;
    for (int64_t i = 1; ok && i <= n; i++)
        ok = begin_step(t, t->step + i, err);
    if (!ok || !t->engine->losses(t->engine->ctx, n, loss, norm, err) || !check(t, err))
        return false;
    double seconds = clock_since(start) / (double)n;
    for (int64_t i = 0; i < n && !t->diverged.step; i++) {
        times_add(times, t, seconds);
        end_step(t, &(struct outcome){loss[i], schedule_lr(t->train, t->step + 1), norm[i]});
    }
    return true;
}

static bool next_steps(struct trainer *t, struct step_times *times, struct error *err)
{
    return t->engine ? engine_steps(t, times, err) : timed_step(t, times, err);
}

/* Call after an evaluation. A value that is not finite is not better. */
static void watch_patience(struct trainer *t)
{
    struct patience *p = &t->patience;
    if (t->train->patience == 0)
        return;
    bool more = t->task->hooks->metric[0].goal_max;
    bool better =
        isfinite(p->last) && (isnan(p->best) || (more ? p->last > p->best : p->last < p->best));
    p->best = better ? p->last : p->best;
    p->bad = better ? 0 : p->bad + 1;
    p->stopped = p->bad >= t->train->patience && t->step < t->train->steps;
}

bool trainer_has_ended(const struct trainer *t)
{
    return t->diverged.step != 0 || t->patience.stopped || t->step >= t->train->steps;
}

/* The test part is evaluated only at the end, also when patience ends the run. */
static bool evaluate_step(struct trainer *t, struct error *err)
{
    if (t->diverged.step || !(trainer_has_ended(t) || every(t->step, t->eval->every)))
        return true;
    if (trainer_evaluate(t, err) != PEAT_OK)
        return false;
    watch_patience(t);
    return (!trainer_has_ended(t) || trainer_test(t, err) == PEAT_OK) && check(t, err);
}

/* Evaluation comes before the checkpoint, so a run that resumes from it does not evaluate again. */
static bool finish_step(struct trainer *t, const struct step_times *times, bool *stop,
                        struct error *err)
{
    const struct train_events *e = &t->events;
    if (!evaluate_step(t, err))
        return false;
    if (e->passed && !t->diverged.step) {
        times_median(times, t);
        if (e->passed(e->ctx, err) != PEAT_OK)
            return false;
    }
    bool last = trainer_has_ended(t);
    *stop = !last && e->stop && e->stop(e->ctx);
    if (!e->save || !(last || *stop || every(t->step, t->checkpoint_every)))
        return true;
    times_median(times, t);
    return e->save(e->ctx, last, err) == PEAT_OK;
}

peat_status trainer_run(struct trainer *t, enum run_end *end, struct error *err)
{
    struct step_times times = {.last = long_step};
    struct error why = {0};
    bool stop = false, ok = true;
    while (ok && !stop && !trainer_has_ended(t))
        ok = next_steps(t, &times, &why) && finish_step(t, &times, &stop, &why);
    times_median(&times, t);
    *end = t->diverged.step ? RUN_DIVERGED : stop ? RUN_INTERRUPTED : RUN_DONE;
    return error_copy(err, &why);
}
