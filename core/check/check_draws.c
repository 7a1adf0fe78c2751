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

static void sort(struct draw_log *log)
{
    if (log->n > 0)
        qsort(log->item, (size_t)log->n, sizeof(*log->item), by_draw);
}

/* How often a sorted log has the draw. */
static int count_in(const struct draw_log *log, const struct draw *d)
{
    const struct draw *at =
        log->n > 0 ? bsearch(d, log->item, (size_t)log->n, sizeof(*d), by_draw) : NULL;
    if (!at)
        return 0;
    const struct draw *first = at, *end = log->item + log->n;
    while (first > log->item && by_draw(first - 1, d) == 0)
        first--;
    while (at < end && by_draw(at, d) == 0)
        at++;
    return (int)(at - first);
}

/* Appends the draws of training batch `step`, in order; b->train is the batch. */
static bool log_train(struct bench *b, int64_t step, struct draw_log *log, struct check_outcome *o)
{
    draw_log_to(log);
    bool made = make_train(b, 1, step, o);
    draw_log_to(NULL);
    return made;
}

/* A batch of ROWS rows begins with the draws of its first row; the draws behind are of the others.
 * A draw of the first row that some others make, and not all, is an overlap. */
static void rows_apart(struct bench *many, struct bench *single, struct check_outcome *o)
{
    struct draw_log all = {&many->arena}, first = {&single->arena};
    if (!log_train(many, 1, &all, o) || !log_train(single, 1, &first, o) || first.n > all.n)
        return;
    for (int i = 0; i < first.n; i++)
        if (by_draw(&all.item[i], &first.item[i]) != 0)
            return;
    struct draw_log rest = {.n = all.n - first.n, .item = all.item + first.n};
    sort(&rest);
    sort(&first);
    for (int i = 0; i < first.n; i++) {
        int others = count_in(&rest, &first.item[i]), own = count_in(&first, &first.item[i]);
        if (others > 0 && others < own * ((int)many->train.b.B - 1))
            check_fail(o,
                       "two rows of a training batch make the same draw, number %" PRIu64
                       " of its stream: their draws overlap",
                       first.item[i].index);
    }
}

static void log_evaluation(struct bench *b, struct draw_log *log, struct check_outcome *o)
{
    static const struct held_out *const part[] = {&validation_part, &test_part};
    draw_log_to(log);
    for (int64_t which = 0; which < b->s.task.plan.n_eval; which++)
        for (int k = 0; k < 2; k++)
            for (int64_t i = 0; i < BATCHES_MAX && make_eval(b, part[k], which, i, o); i++)
                continue;
    draw_log_to(NULL);
    sort(log);
}

static void steps_apart(struct bench *b, struct check_outcome *o)
{
    struct draw_log step[STEPS], evaluation = {&b->arena};
    for (int i = 0; i < STEPS; i++) {
        step[i] = (struct draw_log){&b->arena};
        if (!log_train(b, i + 1, &step[i], o))
            return;
        sort(&step[i]);
    }
    log_evaluation(b, &evaluation, o);
    for (int i = 0; i < STEPS; i++)
        for (int k = 0; k < step[i].n; k++) {
            const struct draw *d = &step[i].item[k];
            int steps = 0;
            for (int j = 0; j < STEPS; j++)
                steps += count_in(&step[j], d) > 0;
            if (steps < STEPS && count_in(&evaluation, d) > 0)
                check_fail(
                    o,
                    "training step %d makes a draw that evaluation makes too, number %" PRIu64
                    " of its stream",
                    i + 1, d->index);
            if (steps > 1 && steps < STEPS)
                check_fail(o,
                           "two of %d training steps make the same draw, number %" PRIu64
                           " of its stream",
                           STEPS, d->index);
        }
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
