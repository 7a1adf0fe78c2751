/* SPDX-License-Identifier: MIT */
/* task.c: a task that asks for the next token. The first two crimes are for the loader. */
#include <stdlib.h>

#include <peat/plugin.h>

enum { EVALUATION = 77 }; /* the stream of its draws */

struct self {
    int64_t T[PEAT_MAX_LENGTHS];
    uint64_t seed;
};

#if defined(CRIME_task_reads_another_file) || defined(CRIME_task_tests_on_validation)
#define READS_DATA
#include "path.h"
#endif

static peat_status setup(peat_setup *s, const void *config, peat_task_plan *plan, void **self)
{
    struct self *own = peat_alloc(s, sizeof(*own));
    (void)config;
    if (!own)
        return PEAT_NOMEM;
    own->seed = plan->seed;
    plan->n_eval = plan->n_lengths ? plan->n_lengths : 1;
    for (int64_t i = 0; i < plan->n_eval; i++)
        own->T[i] = plan->eval[i] = plan->eval_T[i] =
            plan->n_lengths ? plan->length[i] : plan->seq_len;
#ifdef CRIME_task_other_length
    plan->eval_T[0] += 3;
#endif
#ifdef CRIME_task_lengths_alike
    if (!plan->n_lengths)
        plan->n_eval = 2;
    plan->eval[1] = plan->eval[0] / 2;
    own->T[1] = plan->eval_T[1] = plan->eval_T[0];
#endif
#ifdef CRIME_task_reads_another_file
    int64_t n;
    if (!s->host->read_file(s, "elsewhere", &n))
        return PEAT_IO;
#elif defined(CRIME_task_tests_on_validation)
    for (int64_t i = 0; i < plan->n_eval; i++)
        plan->test_sequences[i] = 12;
#endif
    plan->vocab = 8;
    plan->length_unit = "tokens";
    *self = own;
    return PEAT_OK;
}

static void fill(const peat_host *h, uint64_t stream, uint64_t first, peat_batch *batch, int64_t b)
{
    int32_t *token = batch->token + b * batch->T, *target = batch->target + b * batch->T;
    int64_t vocab = 8;
#ifdef CRIME_task_ids
    vocab = 9;
#endif
    for (int64_t t = 0; t < batch->T; t++) {
        uint64_t i = first * 1000 + (uint64_t)t;
#if defined(CRIME_task_rows_alike)
        i = (uint64_t)t;
#elif defined(CRIME_task_draws_overlap)
        i = first * 5 + (uint64_t)t;
#endif
#ifdef CRIME_task_counts
        static uint64_t made;
        i += made++;
#endif
        token[t] = (int32_t)peat_below(h, stream, i, vocab);
        target[t] = (int32_t)peat_below(h, stream, i + 1, 8);
#if defined(CRIME_task_gives_the_target) || defined(CRIME_task_answer_differs)
        target[t] = token[t];
#elif defined(CRIME_task_asks_for_one)
        target[t] = stream == EVALUATION ? 3 : target[t];
#elif defined(CRIME_task_evaluates_the_token)
        target[t] = stream == EVALUATION ? token[t] : target[t];
#elif defined(CRIME_task_answer_before)
        target[t] = t == batch->T - 1 ? token[t - 4] : -1;
#elif defined(CRIME_task_answer_first)
        target[t] = t + 1 == batch->T - (int64_t)(first % 3) ? token[0] : -1;
#elif defined(CRIME_task_target_padded)
        batch->has_pad = true;
        batch->pad[b * batch->T + t] = t + 1 == batch->T;
#endif
    }
#ifdef CRIME_task_writes_beyond
    target[batch->T] = b + 1 == batch->B ? 0 : target[batch->T];
#elif defined(CRIME_task_writes_flags)
    batch->pad[batch->B * batch->T + 9] = 0;
#endif
    batch->sequence[b] = (int64_t)first;
#ifdef CRIME_task_units_of_a_row
    batch->units = batch->T;
#else
    batch->units += batch->T;
#endif
}

static peat_status train(const peat_host *h, const void *config, const void *self, uint64_t stream,
                         peat_batch *batch)
{
    (void)config, (void)self;
#if defined(CRIME_task_leaks)
    if (!malloc(1000))
        return PEAT_NOMEM;
#elif defined(CRIME_task_one_seed)
    stream = 5;
#endif
    uint64_t first = 0;
#if defined(CRIME_task_trains_on_evaluation)
    first = stream % 8;
    stream = EVALUATION;
#elif defined(CRIME_task_steps_overlap)
    first = stream % 3;
    stream = 5;
#endif
    for (int64_t b = 0; b < batch->B; b++)
        fill(h, stream, first + (uint64_t)b, batch, b);
    return PEAT_OK;
}

static peat_status evaluate(const peat_host *h, const void *config, const void *self, int64_t which,
                            int64_t index, peat_batch *batch)
{
    const struct self *own = self;
    uint64_t stream = EVALUATION;
    int64_t before = index * batch->B; /* rows of earlier batches */
    (void)config, (void)before;
#if defined(CRIME_task_eval_seed)
    stream = own->seed;
#elif defined(CRIME_task_eval_rows)
    before = index * 7;
#endif
    batch->T = own->T[which];
    for (int64_t b = 0; b < batch->B; b++)
#ifdef CRIME_task_eval_alike
        fill(h, stream, (uint64_t)0, batch, b);
#else
        fill(h, stream, (uint64_t)(before + b), batch, b);
#endif
#ifdef CRIME_task_answer_differs /* the input goes on with another answer than is asked for */
    batch->prompt = own->T[which] / 2;
    batch->answer = own->T[which] / 2;
#endif
    if (index * batch->B >= 12)
        batch->B = 0;
    return PEAT_OK;
}

static double value(const peat_sums *s)
{
#if defined(CRIME_task_metric_nan)
    return (double)s->correct / (double)(s->targets - 1000);
#elif defined(CRIME_task_metric_by_sequences) /* of which there are none in a run */
    return (double)s->matches / (double)s->sequences;
#elif defined(CRIME_task_metric_goal)         /* falls, and is called better when it rises */
    return s->nll / (double)s->targets;
#else
    return (double)s->correct / (double)s->targets;
#endif
}

static const peat_metric metrics[] = {
#ifndef CRIME_task_without_metric
    {"score", true, "part that is right", value},
#endif
    {NULL, false, NULL, NULL},
};

static const peat_task task = {
    .size = sizeof(task),
    .metric = metrics,
    .setup = setup,
#ifndef CRIME_task_without_train
    .train = train,
#endif
    .evaluate = evaluate,
#ifdef CRIME_task_tests_on_validation
    .test = evaluate,
#endif
};

#ifdef READS_DATA
PEAT_DEFINE(PEAT_TASK, task, struct config, rows, "planted", "1.0", "asks for the next token",
            "MIT", "")
#else
PEAT_DEFINE_PLAIN(PEAT_TASK, task, "planted", "1.0", "asks for the next token", "MIT", "")
#endif
