/* SPDX-License-Identifier: MIT */
/*
 * check_draws.c: no two rows make the same draw, nor do training and evaluation. A draw that every
 * step or row repeats is allowed: it may choose a shape, or fill a table that all rows share.
 */

#include "taskbench.h"

static int by_draw(const void *x, const void *y)
{
    const struct draw *a = x, *b = y;
    if (a->stream != b->stream)
        return a->stream < b->stream ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* Appends the draws of training batch `step` as those of `who`. */
static bool log_train(struct bench *b, int64_t step, int who, struct draw_log *log,
                      struct check_outcome *o)
{
    log->who = who;
    draw_log_to(log);
    bool made = make_train(b, 1, step, o);
    draw_log_to(NULL);
    return made;
}

/* Calls `judge` for each draw of the log with the number of times that each made it. */
static void for_each_draw(struct draw_log *log, int64_t rows,
                          void (*judge)(const struct draw *d, const int *times, int64_t rows,
                                        struct check_outcome *o),
                          struct check_outcome *o)
{
    if (log->n > 0)
        qsort(log->item, (size_t)log->n, sizeof(*log->item), by_draw);
    for (int i = 0, end; i < log->n; i = end) {
        int times[DRAWERS] = {0};
        for (end = i; end < log->n && by_draw(&log->item[i], &log->item[end]) == 0; end++)
            times[log->item[end].who]++;
        judge(&log->item[i], times, rows, o);
    }
}

/* A draw of the first row, drawer 0, that some others make, drawer 1, and not all. */
static void judge_rows(const struct draw *d, const int *times, int64_t rows,
                       struct check_outcome *o)
{
    if (times[0] > 0 && times[1] > 0 && times[1] < times[0] * (rows - 1))
        check_fail(o,
                   "two rows of a training batch make the same draw, number %" PRIu64
                   " of its stream: their draws overlap",
                   d->index);
}

/* A batch of ROWS rows begins with the draws of its first row; the draws of the others follow. */
static void rows_apart(struct bench *many, struct bench *single, struct check_outcome *o)
{
    struct draw_log all = {.arena = &many->arena}, first = {.arena = &single->arena};
    if (!log_train(many, 1, 1, &all, o) || !log_train(single, 1, 0, &first, o) || first.n > all.n)
        return;
    for (int i = 0; i < first.n; i++) {
        if (by_draw(&all.item[i], &first.item[i]) != 0)
            return;
        all.item[i].who = 0;
    }
    for_each_draw(&all, many->train.b.B, judge_rows, o);
}

/* Drawers are the steps, and then evaluation. */
static void judge_steps(const struct draw *d, const int *times, int64_t rows,
                        struct check_outcome *o)
{
    int steps = 0, first = 0;
    (void)rows;
    for (int i = STEPS - 1; i >= 0; i--) {
        steps += times[i] > 0;
        first = times[i] > 0 ? i + 1 : first;
    }
    if (steps > 0 && steps < STEPS && times[STEPS] > 0)
        check_fail(o,
                   "training step %d makes a draw that evaluation makes too, number %" PRIu64
                   " of its stream",
                   first, d->index);
    if (steps > 1 && steps < STEPS)
        check_fail(o,
                   "two of %d training steps make the same draw, number %" PRIu64 " of its stream",
                   STEPS, d->index);
}

static void steps_apart(struct bench *b, struct check_outcome *o)
{
    static const struct held_out *const part[] = {&validation_part, &test_part};
    struct draw_log log = {.arena = &b->arena};
    for (int i = 0; i < STEPS; i++)
        if (!log_train(b, i + 1, i, &log, o))
            return;
    log.who = STEPS;
    draw_log_to(&log);
    for (int64_t which = 0; which < b->s.task.plan.n_eval; which++)
        for (int k = 0; k < 2; k++)
            for (int64_t i = 0; i < BATCHES_MAX && make_eval(b, part[k], which, i, o); i++)
                continue;
    draw_log_to(NULL);
    for_each_draw(&log, 0, judge_steps, o);
}

static void look_at_draws(struct bench *two, struct check_outcome *o)
{
    rows_apart(&two[0], &two[1], o);
    steps_apart(&two[0], o);
}

void draws_hold(const struct trial *t)
{
    static const struct bench_kind kind[] = {{1, ROWS}, {1, 1}};
    bench_trial(t, 2, kind, look_at_draws);
}
