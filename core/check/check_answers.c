/* SPDX-License-Identifier: MIT */
/* check_answers.c: checks that a task's targets are not copies of its inputs and differ from row to
 * row, by counts over the batches of some steps and of an evaluation. */

#include "taskbench.h"

enum { PLACES_MAX = 4096, ENOUGH = 12 };

struct answers {
    int64_t targets, given; /* given: targets that equal the token at their own place   */
    int64_t rows, alike;    /* alike: rows with the targets of the first row, in order  */
    int64_t n;              /* number of targets in the first row                       */
    int32_t target[PLACES_MAX];
    int64_t single;             /* rows that ask for one token                                */
    int64_t before[PLACES_MAX]; /* rows whose answer is so many places before the question    */
};

/* The place of the only target of a row; -1: it has none, or several. */
static int64_t only_place(const peat_batch *x, int64_t b)
{
    const int32_t *target = x->target + b * x->T;
    int64_t place = -1, n = 0;
    for (int64_t t = 0; t < x->T; t++)
        if (target[t] >= 0) {
            place = t;
            n++;
        }
    return n == 1 ? place : -1;
}

static bool is_first(struct answers *a, const int32_t *target, int64_t T)
{
    int64_t n = 0;
    bool alike = true;
    for (int64_t t = 0; t < T; t++) {
        if (target[t] < 0)
            continue;
        if (a->rows == 0)
            a->target[n] = target[t];
        alike = alike && (a->rows == 0 || n >= a->n || a->target[n] == target[t]);
        n++;
    }
    a->n = a->rows == 0 ? n : a->n;
    return alike && n == a->n;
}

static void count_row(struct answers *a, const peat_batch *x, int64_t b)
{
    const int32_t *token = x->token + b * x->T, *target = x->target + b * x->T;
    if (x->T > PLACES_MAX)
        return;
    for (int64_t t = 0; t < x->T; t++) {
        a->targets += target[t] >= 0;
        a->given += target[t] >= 0 && target[t] == token[t];
    }
    a->alike += is_first(a, target, x->T);
    a->rows++;
    int64_t place = only_place(x, b);
    a->single += place >= 0;
    for (int64_t k = 0; k <= place; k++)
        a->before[k] += token[place - k] == target[place];
}

/* repeats: rows may have equal targets without a mistake, as at a length that the task would not
 * choose. */
static void judge(const struct answers *a, bool repeats, const char *when, struct check_outcome *o)
{
    if (a->targets >= ENOUGH && a->given == a->targets)
        check_fail(o, "every target in %s is the token at its own place, which the model is given",
                   when);
    if (!repeats && a->rows >= ENOUGH && a->alike == a->rows)
        check_fail(o, "all %" PRId64 " rows in %s have the same targets", a->rows, when);
    for (int64_t k = 0; k < PLACES_MAX; k++)
        if (a->single >= ENOUGH && a->single == a->rows && a->before[k] == a->rows)
            check_fail(o,
                       "the answer in %s is always the token %" PRId64
                       " places before the place that asks for it",
                       when, k);
}

static void count_training(struct bench *b, struct check_outcome *o)
{
    enum { MANY = 8 };
    struct answers *a = ARENA_NEW(&b->arena, struct answers);
    for (int64_t step = 1; step <= MANY && make_train(b, 1, step, o); step++)
        for (int64_t i = 0; i < b->train.b.B && b->train.b.token; i++)
            count_row(a, &b->train.b, i);
    judge(a, b->repeats_data, "training", o);
}

static void count_evaluation(struct bench *b, const struct held_out *part, struct check_outcome *o)
{
    struct answers *a = ARENA_NEW(&b->arena, struct answers);
    for (int64_t which = 0; which < b->s.task.plan.n_eval; which++)
        for (int64_t index = 0; index < BATCHES_MAX && make_eval(b, part, which, index, o); index++)
            for (int64_t i = 0; i < b->eval.b.B && b->eval.b.token; i++)
                count_row(a, &b->eval.b, i);
    judge(a, b->repeats_data || b->config.eval.lengths.n > 0, part->name, o);
}

static bool has_rows_of(const peat_batch *x, const peat_batch *y)
{
    return y->B > 1 && x->B == y->B && x->T == y->T && x->S == 0 &&
           memcmp(x->token, y->token, (size_t)(x->B * x->T) * sizeof(*x->token)) == 0;
}

static void compare_lengths(struct bench *a, struct bench *b, struct check_outcome *o)
{
    const peat_task_plan *p = &a->s.task.plan;
    for (int64_t i = 0; i < p->n_eval; i++)
        for (int64_t j = 0; j < i; j++)
            if (make_eval(a, &validation_part, i, 0, o) &&
                make_eval(b, &validation_part, j, 0, o) && a->eval.b.token &&
                has_rows_of(&a->eval.b, &b->eval.b))
                check_fail(o, "length %" PRId64 " is evaluated on the rows of length %" PRId64,
                           p->eval[i], p->eval[j]);
}

static void look_at_answers(struct bench *two, struct check_outcome *o)
{
    count_training(&two[0], o);
    count_evaluation(&two[0], &validation_part, o);
    count_evaluation(&two[0], &test_part, o);
    compare_lengths(&two[0], &two[1], o);
}

void answers_hold(const struct trial *t)
{
    static const struct bench_kind kind[] = {{1, ROWS}, {1, ROWS}};
    bench_trial(t, 2, kind, look_at_answers);
}
