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

/* Durations of the last steps of this process, since the first ones warm caches and arenas. */
struct step_times {
    double ms[TIMES_KEPT];
    int64_t seen;
};

static void times_add(struct step_times *s, struct trainer *t, double seconds)
{
    t->train_seconds += seconds;
    t->steps_timed++;
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
    if (t->events.step)
        t->events.step(t->events.ctx, t->step, out.loss, out.lr, out.grad_norm);
    return true;
}

static bool every(int64_t step, int64_t period)
{
    return period > 0 && step % period == 0;
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
    struct step_times times = {.seen = 0};
    struct error why = {0};
    bool stop = false, ok = true;
    while (ok && !stop && !trainer_has_ended(t))
        ok = timed_step(t, &times, &why) && finish_step(t, &times, &stop, &why);
    times_median(&times, t);
    *end = t->diverged.step ? RUN_DIVERGED : stop ? RUN_INTERRUPTED : RUN_DONE;
    return error_copy(err, &why);
}
