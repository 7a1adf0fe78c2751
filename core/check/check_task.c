/* SPDX-License-Identifier: MIT */
/* check_task.c: batches and metrics of a task. */

#include "taskbench.h"

static bool same_batch(const peat_batch *x, const peat_batch *y)
{
    return x->B == y->B && x->units == y->units && x->prompt == y->prompt &&
           x->answer == y->answer && batch_has_rows(x, 0, y);
}

/* Generated tokens are compared with targets, so the input must contain the same answer. */
static void check_content(struct bench *a, const peat_batch *x, struct check_outcome *o)
{
    if (arena_overrun(&a->arena))
        check_fail(o, "memory is written to around the arrays of a batch");
    const struct {
        const char *name;
        bool has;
        const void *at;
        size_t bytes;
    } array[] = {{"pad", x->has_pad, x->pad, sizeof(*x->pad)},
                 {"special", x->has_special, x->special, sizeof(*x->special)},
                 {"segment", x->has_segment, x->segment, sizeof(*x->segment)},
                 {"document", x->has_document, x->document, sizeof(*x->document)}};
    for (int k = 0; k < 4; k++)
        for (size_t i = 0; !array[k].has && i < (size_t)(x->B * x->T) * array[k].bytes; i++)
            if (((const char *)array[k].at)[i])
                check_fail(o, "it fills '%s' and leaves has_%s false", array[k].name,
                           array[k].name);
    for (int64_t i = 0; x->has_pad && i < x->B * x->T; i++)
        if (x->pad[i] && x->target[i] >= 0)
            check_fail(o, "the target at place %" PRId64 " of row %" PRId64 " is under padding",
                       i % x->T, i / x->T);
    for (int64_t b = 0; b < x->B; b++)
        for (int64_t t = x->prompt - 1; x->prompt > 0 && t < x->prompt + x->answer - 1; t++) {
            int32_t target = x->target[b * x->T + t];
            if (t + 1 < x->T && target >= 0 && x->token[b * x->T + t + 1] != target)
                check_fail(o,
                           "the answer of row %" PRId64 " has target %d at place %" PRId64
                           ", but its input goes on with %d",
                           b, (int)target, t, (int)x->token[b * x->T + t + 1]);
        }
}

/* ---- training ---- */

static void train_batches(struct bench *a, struct bench *b, struct check_outcome *o)
{
    bool seed_matters = false, step_matters = false, rows_differ = a->reads_data;
    const peat_batch *x = &a->train.b, *y = &b->train.b;
    for (int64_t step = 1; step <= STEPS && make_train(a, 1, step, o); step++) {
        check_content(a, x, o);
        rows_differ = rows_differ || x->B < 2 || row_number(x, 1) != row_number(x, 0);
        if (make_train(b, 1, step, o) && !same_batch(x, y))
            check_fail(o, "the training batch of step %" PRId64 " differs when it is made again",
                       step);
        seed_matters = (make_train(b, 2, step, o) && !same_batch(x, y)) || seed_matters;
        step_matters = (make_train(b, 1, step + 1, o) && !same_batch(x, y)) || step_matters;
    }
    if (!seed_matters)
        check_fail(o, "the seed does not change its training batches");
    if (!step_matters)
        check_fail(o, "all steps have the same training batch");
    if (!rows_differ)
        check_fail(o, "the rows of a training batch are all the same");
}

/* ---- evaluation ---- */

/* Places of the batches of a length, and of its longest row without padding. */
struct lengths_seen {
    int64_t batches, least, most, longest;
};

static void note_lengths(struct lengths_seen *seen, const peat_batch *x)
{
    seen->least = seen->batches++ ? at_most(seen->least, x->T) : x->T;
    seen->most = x->T > seen->most ? x->T : seen->most;
    for (int64_t b = 0; b < x->B; b++) {
        int64_t n = x->T;
        for (int64_t t = 0; x->has_pad && t < x->T; t++)
            n -= x->pad[b * x->T + t];
        seen->longest = n > seen->longest ? n : seen->longest;
    }
}

/* Batches of one length must be equal for two seeds, differ in their rows and have a target. */
static void eval_length(struct bench *a, struct bench *b, const struct held_out *part,
                        int64_t which, struct lengths_seen *seen, struct check_outcome *o)
{
    int64_t targets = 0, rows = 0, repeated = 0, length = a->s.task.plan.eval[which];
    for (int64_t index = 0; index < BATCHES_MAX; index++) {
        const peat_batch *x = &a->eval.b;
        bool some = make_eval(a, part, which, index, o);
        bool other = make_eval(b, part, which, index, o);
        if (some != other || (some && !same_batch(x, &b->eval.b)))
            check_fail(o, "%s batch %" PRId64 " of length %" PRId64 " differs between two seeds",
                       part->name, index, length);
        if (!some || o->verdict != CHECK_PASSED)
            break;
        check_content(a, x, o);
        note_lengths(seen, x);
        int64_t n;
        const int32_t *target = task_targets(&a->s.task, x, &n);
        for (int64_t i = 0; i < n; i++)
            targets += target[i] >= 0;
        for (int64_t i = 1; i < x->B; i++)
            repeated += row_number(x, i) == row_number(x, i - 1);
        rows += x->B - 1;
    }
    if (!a->reads_data && rows > 1 && repeated == rows)
        check_fail(o, "the rows of length %" PRId64 " are all the same", length);
    if (targets == 0)
        check_fail(o, "length %" PRId64 " has no target to evaluate", length);
}

enum { ROWS_MAX = ROWS * BATCHES_MAX };

/* The numbers of the rows of a part; how many there are, 0 ... ROWS_MAX. */
static int64_t part_rows(struct bench *a, const struct held_out *part, int64_t which,
                         uint64_t row[ROWS_MAX], struct check_outcome *o)
{
    int64_t n = 0;
    for (int64_t index = 0; index < BATCHES_MAX && make_eval(a, part, which, index, o); index++)
        for (int64_t b = 0; b < a->eval.b.B; b++)
            row[n++] = row_number(&a->eval.b, b);
    return n;
}

static bool is_among(const uint64_t *x, int64_t n, uint64_t row)
{
    while (n > 0 && x[n - 1] != row)
        n--;
    return n > 0;
}

/* The test part has as many sequences as set-up answered, and few of the validation part. Where
 * rows of a part are alike there are few different ones, and both parts may share them by chance.
 */
static void test_length(struct bench *a, int64_t which, struct check_outcome *o)
{
    uint64_t test[ROWS_MAX], valid[ROWS_MAX];
    int64_t length = a->s.task.plan.eval[which], said = a->s.task.plan.test_sequences[which];
    int64_t rows = part_rows(a, &test_part, which, test, o), alike = 0, again = 0;
    int64_t others = part_rows(a, &validation_part, which, valid, o);
    for (int64_t i = 0; i < rows; i++) {
        alike += is_among(valid, others, test[i]);
        again += is_among(test, i, test[i]);
    }
    for (int64_t i = 0; i < others; i++)
        again += is_among(valid, i, valid[i]);
    if (!a->repeats_data && again == 0 && alike > 5 && 4 * alike > rows)
        check_fail(o,
                   "%" PRId64 " of %" PRId64 " rows of the test part of length %" PRId64
                   " are rows of the validation part",
                   alike, rows, length);
    if (rows > said || (rows < ROWS_MAX && rows != said))
        check_fail(o,
                   "length %" PRId64 " has %" PRId64
                   " test sequences, and its set-up answered %" PRId64,
                   length, rows, said);
}

/* The first rows, and their units, are the same whatever the number of rows in a batch. */
static void rows_alone(struct bench *a, struct bench *single, struct check_outcome *o)
{
    int64_t rows = make_eval(a, &validation_part, 0, 0, o) ? a->eval.b.B : 0, units = 0;
    for (int64_t i = 0; i < rows; i++) {
        if (!make_eval(single, &validation_part, 0, i, o) || single->eval.b.B != 1 ||
            !batch_has_rows(&a->eval.b, i, &single->eval.b))
            check_fail(o, "evaluation row %" PRId64 " depends on the number of rows in a batch", i);
        units += single->eval.b.units;
    }
    if (rows > 0 && units != a->eval.b.units)
        check_fail(o,
                   "the units of %" PRId64 " rows of evaluation are %" PRId64
                   " in one batch and %" PRId64 " in batches of one",
                   rows, a->eval.b.units, units);
}

/* Lengths that were asked for are evaluated, and a longer one has longer rows. Set-up answers the
 * longest sequence; where all are equally long, that is their length. */
static void keeps_length(const struct bench *b, int64_t which, const struct lengths_seen *seen,
                         const struct lengths_seen *last, struct check_outcome *o)
{
    const peat_task_plan *plan = &b->s.task.plan;
    const peat_reals *asked = &b->config.eval.lengths;
    if (asked->n && (plan->n_eval != asked->n || (double)plan->eval[which] != asked->item[which]))
        check_fail(o, "it evaluates length %" PRId64 ", which eval.lengths does not have there",
                   plan->eval[which]);
    if (which > 0 && plan->eval_T[which] > plan->eval_T[which - 1] &&
        seen->longest <= last->longest)
        check_fail(o,
                   "rows of length %" PRId64 " have no more places without padding than those of "
                   "length %" PRId64,
                   plan->eval[which], plan->eval[which - 1]);
    bool one = seen->least == seen->most && seen->batches > 1;
    if (seen->most > plan->eval_T[which] || (one && seen->most != plan->eval_T[which]))
        check_fail(o,
                   "sequences of length %" PRId64 " have %" PRId64
                   " tokens, and its set-up answered %" PRId64,
                   plan->eval[which], seen->most, plan->eval_T[which]);
}

static void try_batches(struct bench *three, struct check_outcome *o)
{
    struct bench *a = &three[0], *b = &three[1], *single = &three[2];
    struct lengths_seen seen = {0};
    train_batches(a, b, o);
    for (int64_t i = 0; i < a->s.task.plan.n_eval; i++) {
        struct lengths_seen last = seen;
        seen = (struct lengths_seen){0};
        eval_length(a, b, &validation_part, i, &seen, o);
        if (a->s.task.plan.test > 0) {
            eval_length(a, b, &test_part, i, &seen, o);
            test_length(a, i, o);
        }
        keeps_length(a, i, &seen, &last, o);
    }
    rows_alone(a, single, o);
}

void batches_hold(const struct trial *t)
{
    static const struct bench_kind kind[] = {{1, ROWS}, {2, ROWS}, {1, 1}};
    bench_trial(t, 3, kind, try_batches);
}

bool task_runs(const struct checked *s, struct error *err)
{
    struct bench b;
    bool ran = bench_open_first(&b, s) == PEAT_OK;
    for (int64_t step = 1; ran && step <= STEPS; step++)
        ran = task_train_batch(&b.s.task, 1, step, &b.train, &b.err) == PEAT_OK;
    ran = ran && task_eval_batch(&b.s.task, 0, 0, &b.eval, &b.err) == PEAT_OK;
    if (!ran)
        error_set(err, PEAT_FAILED, "%s", b.err.text);
    bench_close(&b);
    return ran;
}

void task_leaks(const struct checked *s, struct check_outcome *o)
{
    enum { BATCHES = 200 };
    struct bench b;
    peat_status status = bench_open_first(&b, s);
    size_t before = 0;
    for (int64_t step = 1; status == PEAT_OK && step <= BATCHES; step++) {
        status = task_train_batch(&b.s.task, 1, step, &b.train, &b.err);
        before = step == 1 ? state_memory() : before;
    }
    size_t kept = state_memory_kept(before);
    if (status != PEAT_OK)
        check_say(o, CHECK_SKIPPED, "%s", b.err.text);
    else if (kept > 0)
        check_fail(o, "%d batches keep %zu bytes", BATCHES, kept);
    bench_close(&b);
}

/* ---- metrics ---- */

/* Sums of an evaluation with `right` correct answers of 1000; fewer correct ones have a larger
 * loss. Nothing is generated where batches have no prompt. */
static peat_sums sums_of(int64_t right, bool generates)
{
    peat_sums sums = {.size = sizeof(peat_sums),
                      .nll = 0.01 + 5.0 * (double)(1000 - right),
                      .targets = 1000,
                      .correct = right,
                      .units = 1000};
    if (generates) {
        sums.sequences = 100;
        sums.matches = right / 10;
        sums.generated = 1000;
        sums.generated_correct = right;
    }
    return sums;
}

static void check_metric(const peat_metric *m, bool generates, struct check_outcome *o)
{
    const peat_sums bad = sums_of(0, generates), middle = sums_of(500, generates),
                    good = sums_of(1000, generates);
    double value[] = {m->value(&bad), m->value(&middle), m->value(&good)};
    for (int i = 0; i < 3; i++)
        if (!isfinite(value[i]))
            check_fail(o, "metric '%s' is %s when %d of 1000 targets are right", m->name,
                       isnan(value[i]) ? "not a number" : "infinite", 500 * i);
    bool rises = value[0] <= value[1] && value[1] <= value[2];
    bool falls = value[0] >= value[1] && value[1] >= value[2];
    if (m->goal_max ? !rises : !falls)
        check_fail(o,
                   "metric '%s' says that %s is better, but goes from %g over %g to %g as more "
                   "targets are right",
                   m->name, m->goal_max ? "more" : "less", value[0], value[1], value[2]);
}

/* Whether the task is evaluated by generated answers, or by classes, which count as such. */
static bool generates(const struct checked *s)
{
    struct bench b;
    struct check_outcome ignored = {CHECK_PASSED};
    bool made =
        bench_open_first(&b, s) == PEAT_OK && make_eval(&b, &validation_part, 0, 0, &ignored);
    bool prompts = !made || b.eval.b.prompt > 0 || b.config.model.head != PEAT_HEAD_TOKENS;
    bench_close(&b);
    return prompts;
}

void task_metrics(const struct checked *s, struct check_outcome *o)
{
    const peat_task *task = s->plugin->desc->interface;
    bool by_generating = generates(s);
    for (const peat_metric *m = task->metric; m->name; m++)
        check_metric(m, by_generating, o);
}
