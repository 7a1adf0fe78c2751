/* SPDX-License-Identifier: MIT */
/* check_task.c: batches and metrics of a task. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "nn/host.h"
#include "property.h"
#include "train/task.h"

enum { ROWS = 3, SEQ_LEN = 32, EVAL_TOKENS = 512, STEPS = 4, BATCHES_MAX = 64 };

/* A task set up for one seed. */
struct bench {
    struct arena arena;
    struct task task;
    struct batch train, eval;
    bool reads_data;
    struct error err;
};

/* The rows of a task with data are windows of it, which may overlap. */
static bool reads_data(const struct subject *s)
{
    const peat_param *row = s->plugin->desc->param;
    for (; row && row->key; row++)
        if (row->flags & PEAT_PATH)
            return true;
    return false;
}

static peat_status bench_open(struct bench *b, const struct subject *s, const void *config,
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

/* n elements of a from element `at` on, and the first of b; both NULL where there are none. */
static bool equal_part(const void *a, int64_t at, const void *b, int64_t n, int64_t each)
{
    return n == 0 || memcmp((const char *)a + at * each, b, (size_t)(n * each)) == 0;
}

static bool same_streams(const peat_batch *x, int64_t at, const peat_batch *y, int64_t n)
{
    bool same = true;
    for (int64_t k = 0; k < y->n_stream; k++) {
        int64_t each = y->stream_numbers[k];
        same = same &&
               (each == 0 ? equal_part(x->stream_id[k], at, y->stream_id[k], n, 4)
                          : equal_part(x->stream_number[k], at, y->stream_number[k], n, 4 * each));
    }
    return same;
}

/* B rows of x from row i on against those of y from row 0 on. */
static bool same_rows(const peat_batch *x, int64_t i, const peat_batch *y)
{
    int64_t n = y->B * y->T, at = i * x->T;
    return x->T == y->T && x->B - i >= y->B && equal_part(x->token, at, y->token, n, 4) &&
           equal_part(x->target, at, y->target, n, 4) &&
           equal_part(x->segment, at, y->segment, n, 4) &&
           equal_part(x->document, at, y->document, n, 4) && equal_part(x->pad, at, y->pad, n, 1) &&
           equal_part(x->special, at, y->special, n, 1) &&
           equal_part(x->sequence, i, y->sequence, y->B, 8) &&
           equal_part(x->label, i, y->label, y->B, 4) && x->S == y->S &&
           same_streams(x, at, y, n) &&
           equal_part(x->source, i * x->S, y->source, y->B * y->S, 4) &&
           equal_part(x->source_pad, i * x->S, y->source_pad, y->B * y->S, 1);
}

static bool same_batch(const peat_batch *x, const peat_batch *y)
{
    return x->B == y->B && x->units == y->units && x->prompt == y->prompt &&
           x->answer == y->answer && same_rows(x, 0, y);
}

/* ---- what a batch says ---- */

/* What is generated is compared with targets, and the same answer stands in the input. */
static enum verdict check_answer(const peat_batch *x, struct strbuf *why)
{
    for (int64_t b = 0; b < x->B; b++)
        for (int64_t t = x->prompt - 1; x->prompt > 0 && t < x->prompt + x->answer - 1; t++) {
            int32_t target = x->target[b * x->T + t];
            if (t + 1 < x->T && target >= 0 && x->token[b * x->T + t + 1] != target)
                return check_failed(why,
                                    "the answer of row %" PRId64 " has target %d at place %" PRId64
                                    ", but its input goes on with %d",
                                    b, (int)target, t, (int)x->token[b * x->T + t + 1]);
        }
    return CHECK_PASSED;
}

static enum verdict check_content(struct bench *b, const peat_batch *x, struct strbuf *why)
{
    if (arena_overrun(&b->arena))
        return check_failed(why, "memory is written to around the arrays of a batch");
    return check_answer(x, why);
}

/* Row `b` again in the row before it. */
static bool repeats_row(const peat_batch *x, int64_t b)
{
    return b > 0 && equal_part(x->token, b * x->T, x->token + (b - 1) * x->T, x->T, 4);
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

/* Whether row b + 1 is row b moved by `lag`: drawn from ranges that overlap. Its commonest token,
 * which may be padding, says nothing. */
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

static enum verdict check_rows(struct bench *a, struct strbuf *why)
{
    int equal = 0, moved[SEQ_LEN / 2 + 1] = {0};
    for (int64_t step = 1; step <= STEPS; step++) {
        if (task_train_batch(&a->task, 1, step, &a->train, &a->err) != PEAT_OK)
            return check_failed(why, "%s", a->err.text);
        const peat_batch *x = &a->train.b;
        if (check_content(a, x, why) != CHECK_PASSED)
            return CHECK_FAILED;
        equal += !a->reads_data && x->B > 1 && repeats_row(x, 1);
        for (int64_t lag = 1; x->B > 1 && lag <= x->T / 2; lag++)
            moved[lag] += continues_row(x, 0, lag);
    }
    if (equal == STEPS)
        return check_failed(why, "the rows of a training batch are all the same");
    for (int lag = 1; !a->reads_data && lag <= SEQ_LEN / 2; lag++)
        if (moved[lag] == STEPS)
            return check_failed(why,
                                "a row of a training batch begins as the one before it goes on "
                                "from place %d: their draws overlap",
                                lag);
    return CHECK_PASSED;
}

static enum verdict train_batches(struct bench *a, struct bench *b, struct strbuf *why)
{
    bool seed_matters = false, step_matters = false;
    for (int64_t step = 1; step <= STEPS; step++) {
        if (task_train_batch(&a->task, 1, step, &a->train, &a->err) != PEAT_OK)
            return check_failed(why, "%s", a->err.text);
        if (task_train_batch(&b->task, 1, step, &b->train, &b->err) != PEAT_OK)
            return check_failed(why, "%s", b->err.text);
        if (!same_batch(&a->train.b, &b->train.b))
            return check_failed(why,
                                "the training batch of step %" PRId64 " differs when it is "
                                "made again",
                                step);
        if (task_train_batch(&b->task, 2, step, &b->train, &b->err) != PEAT_OK)
            return check_failed(why, "%s", b->err.text);
        seed_matters = seed_matters || !same_batch(&a->train.b, &b->train.b);
        if (task_train_batch(&b->task, 1, step + 1, &b->train, &b->err) != PEAT_OK)
            return check_failed(why, "%s", b->err.text);
        step_matters = step_matters || !same_batch(&a->train.b, &b->train.b);
    }
    if (!seed_matters)
        return check_failed(why, "the seed does not change its training batches");
    if (!step_matters)
        return check_failed(why, "all steps have the same training batch");
    return CHECK_PASSED;
}

/* ---- evaluation ---- */

static enum verdict eval_batch(struct bench *a, int64_t which, int64_t index, struct strbuf *why)
{
    if (task_eval_batch(&a->task, which, index, &a->eval, &a->err) != PEAT_OK)
        return check_failed(why, "%s", a->err.text);
    return CHECK_PASSED;
}

/* All batches of one length by a task of two seeds: equal, and there is an end. */
static enum verdict eval_length(struct bench *a, struct bench *b, int64_t which, struct strbuf *why)
{
    int64_t targets = 0, index = 0, rows = 0, repeated = 0;
    for (; index < BATCHES_MAX; index++) {
        if (eval_batch(a, which, index, why) != CHECK_PASSED ||
            eval_batch(b, which, index, why) != CHECK_PASSED)
            return CHECK_FAILED;
        const peat_batch *x = &a->eval.b;
        if (x->B != b->eval.b.B || (x->B && !same_batch(x, &b->eval.b)))
            return check_failed(
                why, "evaluation batch %" PRId64 " of length %" PRId64 " differs between two seeds",
                index, a->task.plan.eval[which]);
        if (x->B == 0)
            break;
        if (check_content(a, x, why) != CHECK_PASSED)
            return CHECK_FAILED;
        for (int64_t i = 0; i < x->B * x->T; i++)
            targets += x->target[i] >= 0;
        for (int64_t i = 1; i < x->B; i++)
            repeated += repeats_row(x, i);
        rows += x->B - 1;
    }
    if (!a->reads_data && rows > 1 && repeated == rows)
        return check_failed(why, "the rows of length %" PRId64 " are all the same",
                            a->task.plan.eval[which]);
    if (targets == 0)
        return check_failed(why, "length %" PRId64 " has no target to evaluate",
                            a->task.plan.eval[which]);
    return CHECK_PASSED;
}

/* The first rows are the same whatever the number of rows in a batch. */
static enum verdict eval_rows(struct bench *a, struct bench *single, struct strbuf *why)
{
    if (eval_batch(a, 0, 0, why) != CHECK_PASSED)
        return CHECK_FAILED;
    for (int64_t i = 0; i < a->eval.b.B; i++) {
        if (eval_batch(single, 0, i, why) != CHECK_PASSED)
            return CHECK_FAILED;
        if (single->eval.b.B != 1 || !same_rows(&a->eval.b, i, &single->eval.b))
            return check_failed(why,
                                "evaluation row %" PRId64 " depends on the number of rows in "
                                "a batch",
                                i);
    }
    return CHECK_PASSED;
}

static enum verdict compare_benches(struct bench *a, struct bench *b, struct bench *single,
                                    struct strbuf *why)
{
    enum verdict verdict = train_batches(a, b, why);
    if (verdict == CHECK_PASSED)
        verdict = check_rows(a, why);
    for (int64_t i = 0; verdict == CHECK_PASSED && i < a->task.plan.n_eval; i++)
        verdict = eval_length(a, b, i, why);
    return verdict == CHECK_PASSED ? eval_rows(a, single, why) : verdict;
}

/* *refused is set when the task is not for this architecture or these parameters. */
static enum verdict batches_of(const struct subject *s, const void *config, peat_arch arch,
                               struct error *refused, struct strbuf *why)
{
    struct bench a, b, single;
    enum verdict verdict = CHECK_PASSED;
    if (bench_open(&a, s, config, arch, 1, ROWS) != PEAT_OK) {
        *refused = a.err;
        bench_close(&a);
        return refused->status == PEAT_REFUSED ? CHECK_PASSED
                                               : check_failed(why, "%s", refused->text);
    }
    bool open = bench_open(&b, s, config, arch, 2, ROWS) == PEAT_OK;
    bool both = bench_open(&single, s, config, arch, 1, 1) == PEAT_OK;
    if (!open || !both)
        verdict = check_failed(why, "its set-up fails the second time: %s",
                               open ? single.err.text : b.err.text);
    else
        verdict = compare_benches(&a, &b, &single, why);
    bench_close(&a);
    bench_close(&b);
    bench_close(&single);
    return verdict;
}

enum verdict task_batches(const struct subject *s, struct strbuf *why)
{
    struct error err = {0}, refused = {0};
    const struct variants *v = variants_make(s, &err);
    int ran = 0;
    if (!v)
        return check_skipped(why, "%s", err.text);
    for (int i = 0; i < 2 * v->n; i++) {
        struct error one = {0};
        peat_arch arch = i % 2 ? PEAT_ENCODER : PEAT_DECODER;
        const struct variant *variant = &v->item[i / 2];
        enum verdict verdict = batches_of(s, variant->config, arch, &one, why);
        if (verdict == CHECK_FAILED) {
            strbuf_addf(why, " (%s%s%s)", arch == PEAT_DECODER ? "decoder" : "encoder",
                        *variant->text ? ", " : "", variant->text);
            return verdict;
        }
        if (one.status == PEAT_OK)
            ran++;
        else
            refused = one;
    }
    return ran ? CHECK_PASSED : check_failed(why, "refused: %s", refused.text);
}

/* ---- what runs for other checks ---- */

/* For a decoder, or for an encoder where decoders are refused. */
static peat_status bench_open_either(struct bench *b, const struct subject *s, const void *config)
{
    peat_status status = bench_open(b, s, config, PEAT_DECODER, 1, ROWS);
    if (status != PEAT_REFUSED)
        return status;
    bench_close(b);
    return bench_open(b, s, config, PEAT_ENCODER, 1, ROWS);
}

peat_status task_runs(const struct subject *s, struct error *err)
{
    const void *config;
    peat_status status = subject_config(s, NULL, &config, err);
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

enum verdict task_leaks(const struct subject *s, struct strbuf *why)
{
    enum { BATCHES = 200 };
    struct error err = {0};
    const void *config;
    struct bench b;
    if (subject_config(s, NULL, &config, &err) != PEAT_OK)
        return check_skipped(why, "%s", err.text);
    peat_status status = bench_open_either(&b, s, config);
    size_t before = 0;
    for (int64_t step = 1; status == PEAT_OK && step <= BATCHES; step++) {
        status = task_train_batch(&b.task, 1, step, &b.train, &b.err);
        if (step == 1)
            before = state_memory();
    }
    size_t kept = state_memory_kept(before);
    enum verdict verdict = CHECK_PASSED;
    if (status != PEAT_OK)
        verdict = check_skipped(why, "%s", b.err.text);
    else if (kept > 0)
        verdict = check_failed(why, "%d batches keep %zu bytes", BATCHES, kept);
    bench_close(&b);
    return verdict;
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

static enum verdict check_metric(const peat_metric *m, struct strbuf *why)
{
    const peat_sums bad = sums_of(0), middle = sums_of(500), good = sums_of(1000);
    double value[] = {m->value(&bad), m->value(&middle), m->value(&good)};
    for (int i = 0; i < 3; i++)
        if (!isfinite(value[i]))
            return check_failed(why, "metric '%s' is %s when %d of 1000 targets are right", m->name,
                                isnan(value[i]) ? "not a number" : "infinite", 500 * i);
    bool rises = value[0] <= value[1] && value[1] <= value[2];
    bool falls = value[0] >= value[1] && value[1] >= value[2];
    if (m->goal_max ? !rises : !falls)
        return check_failed(why,
                            "metric '%s' says that %s is better, but goes from %g over %g to %g "
                            "as more targets are right",
                            m->name, m->goal_max ? "more" : "less", value[0], value[1], value[2]);
    return CHECK_PASSED;
}

enum verdict task_metrics(const struct subject *s, struct strbuf *why)
{
    const peat_task *task = s->plugin->desc->interface;
    enum verdict verdict = CHECK_PASSED;
    for (const peat_metric *m = task->metric; m->name && verdict == CHECK_PASSED; m++)
        verdict = check_metric(m, why);
    return verdict;
}
