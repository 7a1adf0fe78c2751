/* SPDX-License-Identifier: MIT */
/* evaluate.c: sums over one evaluation length, and the metrics made of them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "autograd/ops.h"
#include "base/clock.h"
#include "base/number.h"
#include "train/decode.h"
#include "train/forward.h"

/* Tokens and logits of one evaluation batch. */
#define EVAL_TOKENS   INT64_C(4096)
#define EVAL_LOGITS   (INT64_C(1) << 26)
#define EVAL_MAX_ROWS INT64_C(64)

int64_t evaluate_rows(const peat_task_plan *plan, int64_t T)
{
    int64_t tokens = at_most(EVAL_TOKENS, EVAL_LOGITS / (plan->vocab > 0 ? plan->vocab : 1));
    int64_t rows = at_most(tokens / T, EVAL_MAX_ROWS);
    return rows < 1 ? 1 : rows;
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

/* nll and accuracy of every target, given the truth before it. */
static peat_status score_truth(struct trainer *t, const peat_batch *b, peat_sums *sums,
                               struct error *err)
{
    struct arena_mark mark = arena_mark(&t->step_arena);
    struct model_input in = forward_input(b, PEAT_EVAL);
    struct graph g;
    peat_node *logits, *classes;
    peat_status status = forward_both(t, &g, &in, false, &logits, &classes, "evaluation", err);
    if (status == PEAT_OK && classes)
        score_classes(t, b, classes, sums);
    if (status == PEAT_OK) {
        struct ce_sums ce = {0};
        int64_t n;
        cross_entropy_sums(t->team, &logits->value, task_targets(t->task, b, &n), &ce);
        sums->nll += ce.nll;
        sums->targets += ce.targets;
        sums->correct += ce.correct;
        sums->units += b->units;
        if (t->task->plan.head == PEAT_HEAD_CLASS)
            count_classes(&ce, sums);
    }
    arena_rewind(&t->step_arena, mark);
    return status;
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

static peat_status score_answers(struct trainer *t, const peat_batch *b, peat_sums *sums,
                                 struct error *err)
{
    struct arena *a = &t->step_arena;
    struct arena_mark outer = arena_mark(a);
    int32_t *made = ARENA_TRY_ARRAY(a, b->B * b->answer, int32_t);
    peat_status status = made ? decode_greedy(t, b, made, err)
                              : error_set(err, PEAT_NOMEM, "out of memory in evaluation");
    if (status == PEAT_OK)
        count_answers(b, made, sums);
    arena_rewind(a, outer);
    return status;
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

/* half: NULL, or room for the even batches and the odd ones. */
static peat_status sum_batches(struct trainer *t, int64_t which, struct batch *batch,
                               peat_sums *sums, peat_sums *half, struct error *err)
{
    for (int64_t index = 0;; index++) {
        peat_sums one = {.size = sizeof(one)};
        peat_status status = task_eval_batch(t->task, which, index, batch, err);
        if (status != PEAT_OK || batch->b.B == 0)
            return status;
        status = score_truth(t, &batch->b, &one, err);
        if (status == PEAT_OK && batch->b.prompt > 0)
            status = score_answers(t, &batch->b, &one, err);
        if (status != PEAT_OK)
            return status;
        add_sums(sums, &one);
        if (half)
            add_sums(&half[index % 2], &one);
    }
}

static peat_status evaluate_into(struct trainer *t, int64_t which, peat_sums *sums, peat_sums *half,
                                 struct error *err)
{
    BUG_UNLESS(which >= 0 && which < t->task->plan.n_eval);
    *sums = (peat_sums){.size = sizeof(*sums)};
    struct arena_mark mark = arena_mark(&t->step_arena);
    int64_t T = t->task->plan.eval_T[which];
    struct batch batch;
    peat_status status =
        task_batch_init(t->task, &batch, &t->step_arena, evaluate_rows(&t->task->plan, T), T);
    if (status == PEAT_OK)
        status = sum_batches(t, which, &batch, sums, half, err);
    else
        error_set(err, status, "out of memory in evaluation");
    arena_rewind(&t->step_arena, mark);
    return status;
}

peat_status evaluate_length(struct trainer *t, int64_t which, peat_sums *sums, struct error *err)
{
    return evaluate_into(t, which, sums, NULL, err);
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
    double start = clock_seconds();
    for (int64_t which = 0; which < t->task->plan.n_eval; which++) {
        peat_sums sums, half[2] = {{.size = sizeof(sums)}, {.size = sizeof(sums)}};
        bool halves = t->eval->halves;
        peat_status status = evaluate_into(t, which, &sums, halves ? half : NULL, err);
        if (status != PEAT_OK)
            return status;
        report_metrics(t, which, "valid", &sums);
        for (int i = 0; halves && i < 2; i++)
            report_metrics(t, which, i ? "report" : "choose", &half[i]);
    }
    t->eval_seconds += clock_since(start);
    return PEAT_OK;
}
