/* SPDX-License-Identifier: MIT */
/* check_task.c: batches and metrics of a task. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "nn/host.h"
#include "property.h"
#include "train/task.h"

enum { ROWS = 3, SEQ_LEN = 32, EVAL_TOKENS = 512, STEPS = 4, BATCHES_MAX = 64 };

struct bench {
    struct arena arena;
    struct task task;
    struct batch train, eval;
    bool reads_data;
    struct error err;
};

/* The rows of a task with data are windows of it, which may overlap. */
static bool reads_data(const struct checked *s)
{
    const peat_param *row = s->plugin->desc->param;
    for (; row && row->key; row++)
        if (row->flags & PEAT_PATH)
            return true;
    return false;
}

static peat_status bench_open(struct bench *b, const struct checked *s, const void *config,
                              peat_arch arch, uint64_t seed, int64_t rows)
{
    *b = (struct bench){
        .task = {.host = host_table(), .hooks = s->plugin->desc->interface, .trail = s->trail},
        .reads_data = reads_data(s)};
    arena_init(&b->arena, "check task", 1 << 18);
    arena_guard(&b->arena, GUARD_BYTES);
    b->task.part = (struct part){.id = s->plugin->desc->id, .prefix = "task", .config = config};
    b->task.plan = (peat_task_plan){
        .arch = arch, .seq_len = SEQ_LEN, .eval_tokens = EVAL_TOKENS, .seed = seed};
    peat_status status = task_setup(&b->task, &b->arena, &b->err);
    if (status != PEAT_OK)
        return status;
    int64_t longest = SEQ_LEN;
    for (int64_t i = 0; i < b->task.plan.n_eval; i++)
        longest = b->task.plan.eval_T[i] > longest ? b->task.plan.eval_T[i] : longest;
    status = task_batch_init(&b->task, &b->train, &b->arena, rows, SEQ_LEN);
    return status == PEAT_OK ? task_batch_init(&b->task, &b->eval, &b->arena, rows, longest)
                             : status;
}

static void bench_close(struct bench *b)
{
    arena_release(&b->arena);
}

static bool same_batch(const peat_batch *x, const peat_batch *y)
{
    return x->B == y->B && x->units == y->units && x->prompt == y->prompt &&
           x->answer == y->answer && batch_has_rows(x, 0, y);
}

/* ---- the content of a batch ---- */

/* Generated tokens are compared with targets, so the input must go on with the same answer. */
static void check_content(struct bench *a, const peat_batch *x, struct check_outcome *o)
{
    if (arena_overrun(&a->arena))
        check_fail(o, "memory is written to around the arrays of a batch");
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

/* Row `b` again in the row before it. */
static bool repeats_row(const peat_batch *x, int64_t b)
{
    const int32_t *row = x->token + b * x->T;
    return b > 0 && memcmp(row, row - x->T, (size_t)x->T * sizeof(*row)) == 0;
}

static int32_t commonest(const int32_t *token, int64_t n)
{
    int64_t most = 0;
    int32_t best = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t times = 0;
        for (int64_t k = 0; k < n; k++)
            times += token[k] == token[i];
        if (times > most) {
            most = times;
            best = token[i];
        }
    }
    return best;
}

/* Whether row b + 1 is row b moved by `lag`, but for its commonest token, which may be padding. */
static bool continues_row(const peat_batch *x, int64_t b, int64_t lag)
{
    enum { ENOUGH = 8 };
    const int32_t *row = x->token + b * x->T, *next = row + x->T;
    int32_t common = commonest(next, x->T);
    int64_t n = 0, equal = 0;
    for (int64_t t = 0; t + lag < x->T; t++) {
        n += next[t] != common;
        equal += next[t] != common && next[t] == row[t + lag];
    }
    return n >= ENOUGH && equal == n;
}

/* ---- training ---- */

/* True when the batch was made; it is b->train. */
static bool make_train(struct bench *b, uint64_t seed, int64_t step, struct check_outcome *o)
{
    bool made = task_train_batch(&b->task, seed, step, &b->train, &b->err) == PEAT_OK;
    if (!made)
        check_fail(o, "%s", b->err.text);
    return made;
}

static void check_rows(struct bench *a, struct check_outcome *o)
{
    int equal = 0, moved[SEQ_LEN / 2 + 1] = {0};
    for (int64_t step = 1; step <= STEPS && make_train(a, 1, step, o); step++) {
        const peat_batch *x = &a->train.b;
        check_content(a, x, o);
        equal += !a->reads_data && x->B > 1 && repeats_row(x, 1);
        for (int64_t lag = 1; x->B > 1 && lag <= x->T / 2; lag++)
            moved[lag] += continues_row(x, 0, lag);
    }
    if (equal == STEPS)
        check_fail(o, "the rows of a training batch are all the same");
    for (int lag = 1; !a->reads_data && lag <= SEQ_LEN / 2; lag++)
        if (moved[lag] == STEPS)
            check_fail(o,
                       "a row of a training batch begins as the one before it goes on from place "
                       "%d: their draws overlap",
                       lag);
}

static void train_batches(struct bench *a, struct bench *b, struct check_outcome *o)
{
    bool seed_matters = false, step_matters = false;
    for (int64_t step = 1; step <= STEPS && make_train(a, 1, step, o); step++) {
        const peat_batch *x = &a->train.b, *y = &b->train.b;
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
}

/* ---- evaluation ---- */

/* True when the batch was made and has rows; it is b->eval. */
static bool make_eval(struct bench *b, int64_t which, int64_t index, struct check_outcome *o)
{
    bool made = task_eval_batch(&b->task, which, index, &b->eval, &b->err) == PEAT_OK;
    if (!made)
        check_fail(o, "%s", b->err.text);
    return made && b->eval.b.B > 0;
}

/* All batches of one length by a task of two seeds: equal, and there is an end. */
static void eval_length(struct bench *a, struct bench *b, int64_t which, struct check_outcome *o)
{
    int64_t targets = 0, rows = 0, repeated = 0, length = a->task.plan.eval[which];
    for (int64_t index = 0; index < BATCHES_MAX; index++) {
        const peat_batch *x = &a->eval.b;
        bool some = make_eval(a, which, index, o), other = make_eval(b, which, index, o);
        if (some != other || (some && !same_batch(x, &b->eval.b)))
            check_fail(
                o, "evaluation batch %" PRId64 " of length %" PRId64 " differs between two seeds",
                index, length);
        if (!some || o->verdict != CHECK_PASSED)
            break;
        check_content(a, x, o);
        for (int64_t i = 0; i < x->B * x->T; i++)
            targets += x->target[i] >= 0;
        for (int64_t i = 1; i < x->B; i++)
            repeated += repeats_row(x, i);
        rows += x->B - 1;
    }
    if (!a->reads_data && rows > 1 && repeated == rows)
        check_fail(o, "the rows of length %" PRId64 " are all the same", length);
    if (targets == 0)
        check_fail(o, "length %" PRId64 " has no target to evaluate", length);
}

/* The first rows are the same whatever the number of rows in a batch. */
static void eval_rows(struct bench *a, struct bench *single, struct check_outcome *o)
{
    int64_t rows = make_eval(a, 0, 0, o) ? a->eval.b.B : 0;
    for (int64_t i = 0; i < rows; i++)
        if (!make_eval(single, 0, i, o) || single->eval.b.B != 1 ||
            !batch_has_rows(&a->eval.b, i, &single->eval.b))
            check_fail(o, "evaluation row %" PRId64 " depends on the number of rows in a batch", i);
}

static void try_batches(struct bench *a, struct bench *b, struct bench *single,
                        struct check_outcome *o)
{
    train_batches(a, b, o);
    check_rows(a, o);
    for (int64_t i = 0; i < a->task.plan.n_eval; i++)
        eval_length(a, b, i, o);
    eval_rows(a, single, o);
}

/* Skipped: the task is not for this architecture or these parameters. */
void batches_hold(const struct trial *t)
{
    static const struct {
        uint64_t seed;
        int64_t rows;
    } each[] = {{1, ROWS}, {2, ROWS}, {1, 1}};
    struct bench b[3];
    for (int i = 0; i < 3; i++) {
        peat_status status = bench_open(&b[i], t->subject, t->variant->config, t->c->arch,
                                        each[i].seed, each[i].rows);
        if (i == 0 && status == PEAT_REFUSED)
            check_skip(t->o, "refused: %s", b[i].err.text);
        else if (status != PEAT_OK && t->o->verdict == CHECK_PASSED)
            check_fail(t->o, "%s%s", i > 0 ? "its set-up fails the second time: " : "",
                       b[i].err.text);
    }
    if (t->o->verdict == CHECK_PASSED)
        try_batches(&b[0], &b[1], &b[2], t->o);
    for (int i = 0; i < 3; i++)
        bench_close(&b[i]);
}

/* For a decoder, or for an encoder where decoders are refused. */
static peat_status bench_open_either(struct bench *b, const struct checked *s, const void *config)
{
    peat_status status = bench_open(b, s, config, PEAT_DECODER, 1, ROWS);
    if (status != PEAT_REFUSED)
        return status;
    bench_close(b);
    return bench_open(b, s, config, PEAT_ENCODER, 1, ROWS);
}

peat_status task_runs(const struct checked *s, struct error *err)
{
    const void *config;
    peat_status status = checked_config(s, NULL, &config, err);
    if (status != PEAT_OK)
        return status;
    struct bench b;
    status = bench_open_either(&b, s, config);
    for (int64_t step = 1; status == PEAT_OK && step <= STEPS; step++)
        status = task_train_batch(&b.task, 1, step, &b.train, &b.err);
    if (status == PEAT_OK)
        status = task_eval_batch(&b.task, 0, 0, &b.eval, &b.err);
    if (status != PEAT_OK)
        error_set(err, status, "%s", b.err.text);
    bench_close(&b);
    return status;
}

void task_leaks(const struct checked *s, struct check_outcome *o)
{
    enum { BATCHES = 200 };
    struct variant v;
    struct bench b;
    if (!checked_variant(s, &v, o))
        return;
    peat_status status = bench_open_either(&b, s, v.config);
    size_t before = 0;
    for (int64_t step = 1; status == PEAT_OK && step <= BATCHES; step++) {
        status = task_train_batch(&b.task, 1, step, &b.train, &b.err);
        before = step == 1 ? state_memory() : before;
    }
    size_t kept = state_memory_kept(before);
    if (status != PEAT_OK)
        check_skip(o, "%s", b.err.text);
    else if (kept > 0)
        check_fail(o, "%d batches keep %zu bytes", BATCHES, kept);
    bench_close(&b);
}

/* ---- metrics ---- */

/* Sums of an evaluation of 1000 targets in which `right` were; less right, larger loss. */
static peat_sums sums_of(int64_t right)
{
    return (peat_sums){.size = sizeof(peat_sums),
                       .nll = 0.01 + 5.0 * (double)(1000 - right),
                       .targets = 1000,
                       .correct = right,
                       .units = 1000,
                       .sequences = 100,
                       .matches = right / 10,
                       .generated = 1000,
                       .generated_correct = right};
}

static void check_metric(const peat_metric *m, struct check_outcome *o)
{
    const peat_sums bad = sums_of(0), middle = sums_of(500), good = sums_of(1000);
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

void task_metrics(const struct checked *s, struct check_outcome *o)
{
    const peat_task *task = s->plugin->desc->interface;
    for (const peat_metric *m = task->metric; m->name; m++)
        check_metric(m, o);
}
