/* SPDX-License-Identifier: MIT */
/*
 * check_answers.c: what is right without learning, counted over the batches of some steps and of an
 * evaluation. Targets are not tokens that their row shows at a known place, and differ from row to
 * row.
 */

#include "taskbench.h"

enum { PLACES_MAX = 4096, ENOUGH = 12, GUESSES = 5, USUAL = GUESSES - 1, BEFORE = 1 };

/* A task may ask for the token before (BEFORE), and in a single cell the last two guesses may be
 * right everywhere. */
static const char *const guess_names[GUESSES] = {
    "the token at its own place, which the model is given", "the token before it",
    "the first token of its row", "the most frequent token so far", "one answer for all"};

struct answers {
    int64_t targets, right[GUESSES];
    int64_t rows, alike; /* alike: rows with the targets of the first row, in order */
    int64_t n;           /* number of targets in the first row */
    int32_t target[PLACES_MAX];
    int64_t single;             /* rows that ask for one token */
    int64_t before[PLACES_MAX]; /* rows whose answer is so many places before the question */
    int64_t *seen, *asked;      /* how often the row has had each id, and all rows asked for it */
};

/* Counts guesses for each target; the place of the last target, or -1. */
static int64_t count_guesses(struct answers *a, const peat_batch *x, int64_t b, int64_t vocab)
{
    const int32_t *token = x->token + b * x->T, *target = x->target + b * x->T;
    int32_t first = -1, often = -1;
    int64_t last = -1;
    memset(a->seen, 0, (size_t)vocab * sizeof(*a->seen));
    for (int64_t t = 0; t < x->T; t++) {
        if (!(x->has_pad && x->pad[b * x->T + t]) &&
            !(x->has_special && x->special[b * x->T + t])) {
            first = first < 0 ? token[t] : first;
            often = ++a->seen[token[t]] > (often < 0 ? 0 : a->seen[often]) ? token[t] : often;
        }
        const int32_t guess[] = {token[t], t > 0 ? token[t - 1] : -1, first, often};
        for (int i = 0; i < USUAL; i++)
            a->right[i] += target[t] >= 0 && target[t] == guess[i];
        last = target[t] >= 0 ? t : last;
    }
    return last;
}

static void count_asked(struct answers *a, int32_t target)
{
    int64_t n = ++a->asked[target];
    a->right[USUAL] = n > a->right[USUAL] ? n : a->right[USUAL];
}

static void count_row(struct answers *a, const peat_batch *x, int64_t b, int64_t vocab)
{
    const int32_t *token = x->token + b * x->T, *target = x->target + b * x->T;
    int64_t n = 0, same = 0, last = count_guesses(a, x, b, vocab);
    for (int64_t t = 0; t < x->T && x->T <= PLACES_MAX; t++) {
        if (target[t] < 0)
            continue;
        if (a->rows == 0)
            a->target[n] = target[t];
        same += n < a->n && a->target[n] == target[t];
        count_asked(a, target[t]);
        n++;
    }
    if (n == 0 && x->label[b] >= 0) {
        count_asked(a, x->label[b]);
        a->targets++;
    }
    a->n = a->rows == 0 ? n : a->n;
    a->alike += a->rows == 0 || (same == n && n == a->n);
    a->targets += n;
    a->rows++;
    a->single += n == 1;
    for (int64_t k = 0; n == 1 && k <= last; k++)
        a->before[k] += token[last - k] == target[last];
}

/* repeats: rows may have equal targets without a mistake, as at a length that the task would not
 * choose. */
static void judge(const struct answers *a, bool repeats, const char *when, struct check_outcome *o)
{
    for (int i = 0; i < USUAL - 1; i++)
        if (a->targets >= ENOUGH && a->right[i] == a->targets &&
            (i < BEFORE || a->single == a->rows))
            check_fail(o, "every target in %s is %s", when, guess_names[i]);
    if (!repeats && a->rows >= ENOUGH && a->alike == a->rows)
        check_fail(o, "all %" PRId64 " rows in %s have the same targets", a->rows, when);
    for (int64_t k = 0; k < PLACES_MAX; k++)
        if (a->single >= ENOUGH && a->single == a->rows && a->before[k] == a->rows)
            check_fail(o,
                       "the answer in %s is always the token %" PRId64
                       " places before the place that asks for it",
                       when, k);
    int best = 0;
    for (int i = 1; i < GUESSES; i++)
        best = a->right[i] > a->right[best] ? i : best;
    if (a->right[best] > 0)
        check_say(o, CHECK_PASSED, "without learning, %.0f %% of the targets in %s are %s",
                  100.0 * (double)a->right[best] / (double)a->targets, when, guess_names[best]);
}

static struct answers *answers_new(struct bench *b)
{
    struct answers *a = ARENA_NEW(&b->arena, struct answers);
    a->seen = ARENA_ARRAY(&b->arena, b->s.task.plan.vocab + 1, int64_t);
    a->asked = ARENA_ARRAY(&b->arena, b->s.task.plan.vocab + b->s.task.plan.n_class + 1, int64_t);
    return a;
}

static void count_evaluation(struct bench *b, const struct held_out *part, struct check_outcome *o)
{
    struct answers *a = answers_new(b);
    for (int64_t which = 0; which < b->s.task.plan.n_eval; which++)
        for (int64_t index = 0; index < BATCHES_MAX && make_eval(b, part, which, index, o); index++)
            for (int64_t i = 0; i < b->eval.b.B && !b->eval.b.patch; i++)
                count_row(a, &b->eval.b, i, b->s.task.plan.vocab);
    judge(a, b->repeats_data || b->config.eval.lengths.n > 0, part->name, o);
}

static struct answers *count_training(struct bench *b, struct check_outcome *o)
{
    enum { MANY = 8 };
    struct answers *a = answers_new(b);
    for (int64_t step = 1; step <= MANY && make_train(b, 1, step, o); step++)
        for (int64_t i = 0; i < b->train.b.B && !b->train.b.patch; i++)
            count_row(a, &b->train.b, i, b->s.task.plan.vocab);
    return a;
}

/* A guess may be right in one cell, of few tokens or short rows, and not in most of all cells. */
void answers_learned(const struct checked *s, struct check_outcome *o)
{
    const struct check_cells *cells = cells_of(s, o);
    int64_t targets = 0, right[GUESSES] = {0};
    for (int i = 0; i < cells->n; i++) {
        struct bench b;
        if (bench_open(&b, s, &cells->item[i], 1, ROWS) == PEAT_OK) {
            const struct answers *a = count_training(&b, o);
            targets += a->targets;
            for (int k = 0; k < GUESSES; k++)
                right[k] += a->right[k];
        }
        bench_close(&b);
    }
    for (int k = 0; k < GUESSES; k++)
        if (k != BEFORE && 100 * right[k] > 85 * targets)
            check_fail(o, "%.0f %% of the targets in training, of all cells, are %s",
                       100.0 * (double)right[k] / (double)targets, guess_names[k]);
}

static bool has_rows_of(const peat_batch *x, const peat_batch *y)
{
    bool same = y->B > 1 && x->B == y->B && x->T == y->T && x->S == 0 && !x->patch;
    for (int64_t b = 0; same && b < x->B; b++)
        same = row_number(x, b) == row_number(y, b);
    return same;
}

/* Evaluations of two lengths have other rows. */
static void compare_lengths(struct bench *a, struct bench *b, struct check_outcome *o)
{
    const peat_task_plan *p = &a->s.task.plan;
    for (int64_t i = 0; i < p->n_eval; i++)
        for (int64_t j = 0; j < i; j++)
            if (make_eval(a, &validation_part, i, 0, o) &&
                make_eval(b, &validation_part, j, 0, o) && has_rows_of(&a->eval.b, &b->eval.b))
                check_fail(o, "length %" PRId64 " is evaluated on the rows of length %" PRId64,
                           p->eval[i], p->eval[j]);
}

static void look_at_answers(struct bench *two, struct check_outcome *o)
{
    count_evaluation(&two[0], &validation_part, o);
    count_evaluation(&two[0], &test_part, o);
    judge(count_training(&two[0], o), two[0].repeats_data, "training", o);
    compare_lengths(&two[0], &two[1], o);
}

void answers_hold(const struct trial *t)
{
    static const struct bench_kind kind[] = {{1, ROWS}, {1, ROWS}};
    bench_trial(t, 2, kind, look_at_answers);
}
