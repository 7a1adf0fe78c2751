/* SPDX-License-Identifier: MIT */
/* trainer.c: the training loop: steps, evaluations, checkpoints and the end. */
#include "step.h"

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

/* ---- the loop ---- */

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
    bool ok = trainer_step(t, &out, err);
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

/* The number of steps that may run before anybody looks at the state. Divergence can end the run
 * only after the last of them. */
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
