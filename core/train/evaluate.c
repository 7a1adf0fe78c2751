/* SPDX-License-Identifier: MIT */
/* evaluate.c: sums over one evaluation length, and the metrics computed from them. */

#include "train/decode.h"

/* Tokens and logits of one evaluation batch. */
#define EVAL_TOKENS   INT64_C(4096)
#define EVAL_LOGITS   (INT64_C(1) << 26)
#define EVAL_MAX_ROWS INT64_C(64)

int64_t evaluate_rows(const peat_task_plan *plan, int64_t T)
{
    int64_t tokens = at_most(EVAL_TOKENS, EVAL_LOGITS / (plan->vocab > 0 ? plan->vocab : 1));
    int64_t rows = at_most(tokens / T, EVAL_MAX_ROWS);
    return at_least(rows, 1);
}

static bool evaluate_no_memory(struct error *err)
{
    return error_fail(err, PEAT_NOMEM, "out of memory in evaluation");
}

/* The class of a row counts as an answer of one token. */
static void count_classes(const struct ce_sums *ce, peat_sums *sums)
{
    sums->sequences += ce->targets;
    sums->matches += ce->correct;
    sums->generated += ce->targets;
    sums->generated_correct += ce->correct;
}

/* Classes that are predicted beside tokens. */
static void score_classes(const struct trainer *t, const peat_batch *b, const peat_node *classes,
                          peat_sums *sums)
{
    struct ce_sums ce = {0};
    cross_entropy_sums(t->team, &classes->value, b->label, &ce);
    sums->class_nll += ce.nll;
    sums->class_rows += ce.targets;
    count_classes(&ce, sums);
}

/* Adds the batch's sequences to the stretches. They are those from number `first` on of the test
 * part's `of` sequences. */
static void score_stretches(const struct trainer *t, const struct tensor *logits,
                            const int32_t *target, int64_t sequences, int64_t first, int64_t of,
                            struct test_stretches *s)
{
    const int64_t V = logits->dim[logits->rank - 1];
    const int64_t rows = tensor_count(logits) / V / sequences;
    for (int64_t i = 0; i < sequences && first + i < of; i++) {
        struct ce_sums ce = {0};
        struct tensor one = tensor_shape(logits->dtype, 2, (const int64_t[]){rows, V});
        one.data = (char *)logits->data + (size_t)(i * rows * V) * dtype_bytes(logits->dtype);
        cross_entropy_sums(t->team, &one, target + i * rows, &ce);
        int64_t at = (first + i) * s->n / of;
        s->nll[at] += ce.nll;
        s->targets[at] += ce.targets;
    }
}

/* A loop over a part's batches, and the losses of its stretches. */
struct walk {
    int64_t seen, of;                 /* number of sequences: so far, in all           */
    struct test_stretches *stretches; /* NULL: not needed                              */
};

/* Adds nll and accuracy of every target, with the correct tokens before it as input. */
static bool score_truth(struct trainer *t, const peat_batch *b, struct walk *walk, peat_sums *sums,
                        struct error *err)
{
    struct arena_mark mark = arena_mark(&t->step_arena);
    struct model_input in = forward_input(b, PEAT_EVAL);
    peat_node *logits, *classes;
    bool ok = forward_evaluated(t, b, &in, &logits, &classes, err) == PEAT_OK;
    if (ok && classes)
        score_classes(t, b, classes, sums);
    if (ok) {
        struct ce_sums ce = {0};
        int64_t n;
        const int32_t *target = task_targets(t->task, b, &n);
        cross_entropy_sums(t->team, &logits->value, target, &ce);
        if (walk->stretches)
            score_stretches(t, &logits->value, target, b->B, walk->seen, walk->of, walk->stretches);
        sums->nll += ce.nll;
        sums->targets += ce.targets;
        sums->correct += ce.correct;
        sums->units += b->units;
        if (t->task->plan.head == PEAT_HEAD_CLASS)
            count_classes(&ce, sums);
    }
    arena_rewind(&t->step_arena, mark);
    return ok;
}

static void count_answers(const peat_batch *b, const int32_t *made, peat_sums *sums)
{
    for (int64_t row = 0; row < b->B; row++) {
        const int32_t *truth = b->target + row * b->T + b->prompt - 1;
        int64_t correct = 0;
        for (int64_t i = 0; i < b->answer; i++)
            correct += made[row * b->answer + i] == truth[i];
        sums->generated_correct += correct;
        sums->matches += correct == b->answer;
    }
    sums->generated += b->B * b->answer;
    sums->sequences += b->B;
}

static bool score_answers(struct trainer *t, const peat_batch *b, peat_sums *sums,
                          struct error *err)
{
    struct arena *a = &t->step_arena;
    struct arena_mark outer = arena_mark(a);
    int32_t *made = ARENA_TRY_ARRAY(a, b->B * b->answer, int32_t);
    bool ok = made ? decode_greedy(t, b, made, err) == PEAT_OK : evaluate_no_memory(err);
    if (ok)
        count_answers(b, made, sums);
    arena_rewind(a, outer);
    return ok;
}

static void add_sums(peat_sums *to, const peat_sums *one)
{
    to->nll += one->nll;
    to->targets += one->targets;
    to->correct += one->correct;
    to->units += one->units;
    to->sequences += one->sequences;
    to->matches += one->matches;
    to->generated += one->generated;
    to->generated_correct += one->generated_correct;
    to->class_rows += one->class_rows;
    to->class_nll += one->class_nll;
}

/* task_eval_batch or task_test_batch */
typedef peat_status (*batch_of_part)(const struct task *t, int64_t which, int64_t index,
                                     struct batch *batch, struct error *err);

/* Refuses a part that goes on long after the sequences that the task's set-up answered, because it
 * may never end. */
static bool check_end(const struct task *t, batch_of_part next, int64_t which, int64_t seen,
                      struct error *err)
{
    const peat_task_plan *p = &t->plan;
    int64_t said = next == task_test_batch ? p->test_sequences[which] : p->eval_sequences[which];
    int64_t most = 2 * said + evaluate_rows(p, p->eval_T[which]);
    return said <= 0 || seen <= most ||
           error_fail(err, PEAT_FAILED,
                      "task '%s': the evaluation at length %" PRId64
                      " does not end: it has more than %" PRId64
                      " sequences, and its set-up answered %" PRId64,
                      t->part.id, p->eval[which], most, said);
}

/* half: NULL, or memory for the sums of even and of odd batches. */
static bool sum_batches(struct trainer *t, batch_of_part next, int64_t which, struct batch *batch,
                        struct walk *walk, peat_sums *sums, peat_sums *half, struct error *err)
{
    for (int64_t index = 0;; index++) {
        peat_sums one = {.size = sizeof(one)};
        if (next(t->task, which, index, batch, err) != PEAT_OK)
            return false;
        if (batch->b.B == 0)
            return true;
        if (!score_truth(t, &batch->b, walk, &one, err))
            return false;
        walk->seen += batch->b.B;
        if (!check_end(t->task, next, which, walk->seen, err) ||
            (batch->b.prompt > 0 && !score_answers(t, &batch->b, &one, err)))
            return false;
        add_sums(sums, &one);
        if (half)
            add_sums(&half[index % 2], &one);
    }
}

static bool evaluate_into(struct trainer *t, batch_of_part next, int64_t which, struct walk *walk,
                          peat_sums *sums, peat_sums *half, struct error *err)
{
    BUG_UNLESS(which >= 0 && which < t->task->plan.n_eval);
    *sums = (peat_sums){.size = sizeof(*sums)};
    struct arena_mark mark = arena_mark(&t->step_arena);
    int64_t T = t->task->plan.eval_T[which], rows = evaluate_rows(&t->task->plan, T);
    struct batch batch;
    bool ok = task_batch_init(t->task, &batch, &t->step_arena, rows, T) == PEAT_OK
                  ? sum_batches(t, next, which, &batch, walk, sums, half, err)
                  : evaluate_no_memory(err);
    arena_rewind(&t->step_arena, mark);
    return ok;
}

peat_status evaluate_length(struct trainer *t, int64_t which, peat_sums *sums, struct error *err)
{
    struct error why = {0};
    evaluate_into(t, task_eval_batch, which, &(struct walk){0}, sums, NULL, &why);
    return error_copy(err, &why);
}

static void report_metrics(struct trainer *t, int64_t which, const char *split,
                           const peat_sums *sums)
{
    for (const peat_metric *metric = t->task->hooks->metric; metric->name; metric++) {
        char hook[TRAIL_TEXT];
        snprintf(hook, sizeof(hook), "%s.metric %s", t->task->part.id, metric->name);
        trail_enter(t->task->trail, hook);
        double value = metric->value(sums);
        trail_leave(t->task->trail);
        struct measure m = {.metric = metric->name,
                            .split = split,
                            .length = t->task->plan.eval[which],
                            .step = t->step,
                            .value = isfinite(value) ? value : (double)NAN};
        if (which == 0 && metric == t->task->hooks->metric && strcmp(split, "valid") == 0)
            t->patience.last = m.value;
        if (t->events.measure)
            t->events.measure(t->events.ctx, &m);
    }
}

peat_status trainer_evaluate(struct trainer *t, struct error *err)
{
    struct error why = {0};
    double start = clock_seconds();
    bool ok = true, halves = t->eval->halves;
    for (int64_t which = 0; ok && which < t->task->plan.n_eval; which++) {
        peat_sums sums, half[2] = {{.size = sizeof(sums)}, {.size = sizeof(sums)}};
        struct walk walk = {0};
        ok = evaluate_into(t, task_eval_batch, which, &walk, &sums, halves ? half : NULL, &why);
        if (ok)
            report_metrics(t, which, "valid", &sums);
        for (int i = 0; ok && halves && i < 2; i++)
            report_metrics(t, which, i ? "report" : "choose", &half[i]);
    }
    t->eval_seconds += clock_since(start);
    return error_copy(err, &why);
}

peat_status trainer_test(struct trainer *t, struct error *err)
{
    struct error why = {0};
    double start = clock_seconds();
    bool ok = true;
    for (int64_t i = 0; t->eval->test > 0 && ok && i < t->task->plan.n_eval; i++) {
        peat_sums sums;
        int64_t of = t->task->plan.test_sequences[i];
        struct test_stretches s = {.length = t->task->plan.eval[i],
                                   .n = (int)at_most(of, TEST_STRETCHES)};
        struct walk walk = {.of = of, .stretches = &s};
        ok = evaluate_into(t, task_test_batch, i, &walk, &sums, NULL, &why);
        if (ok)
            report_metrics(t, i, "test", &sums);
        if (ok && t->events.stretches)
            t->events.stretches(t->events.ctx, &s);
    }
    t->eval_seconds += clock_since(start);
    return error_copy(err, &why);
}
