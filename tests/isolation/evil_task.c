/* SPDX-License-Identifier: MIT */
/* evil_task.c: asks for the token it gives, and commits a crime at the second batch. */
#include <peat/plugin.h>

#include "crimes.h"

static const char *const places[] = {"setup", "train", "evaluate", "metric", NULL};
enum { AT_SETUP, AT_TRAIN, AT_EVALUATE, AT_METRIC };

struct config {
    int64_t does, place;
};

static const peat_param rows[] = {
    {"does", PEAT_ENUM, offsetof(struct config, does), .labels = crimes, .doc = "which crime"},
    {"place", PEAT_ENUM, offsetof(struct config, place), .labels = places,
     .doc = "in which function"},
    PEAT_PARAM_END,
};

static int64_t metric_crime;

static double loss(const peat_sums *s)
{
    commit(metric_crime);
    return s->nll / (double)s->targets;
}

static const peat_metric metrics[] = {{"loss", false, "nats per token", loss},
                                      {NULL, false, NULL, NULL}};

static peat_status setup(peat_setup *s, const void *config, peat_task_plan *plan, void **self)
{
    const struct config *k = config;
    (void)s, (void)self;
    plan->vocab = 8;
    plan->n_eval = 1;
    plan->eval[0] = plan->eval_T[0] = plan->seq_len;
    plan->length_unit = "tokens";
    metric_crime = k->place == AT_METRIC ? k->does : NOTHING;
    if (k->place == AT_SETUP)
        commit(k->does);
    return PEAT_OK;
}

static void fill(const peat_host *h, uint64_t stream, peat_batch *b)
{
    for (int64_t i = 0; i < b->B * b->T; i++)
        b->token[i] = b->target[i] = (int32_t)(h->draw(stream, (uint64_t)i) % 8);
    b->units = b->B * b->T;
}

static peat_status train(const peat_host *h, const void *config, const void *self, uint64_t stream,
                         peat_batch *b)
{
    const struct config *k = config;
    static int batches;
    (void)self;
    fill(h, stream, b);
    if (k->place == AT_TRAIN && ++batches >= 2)
        commit(k->does);
    return PEAT_OK;
}

static peat_status evaluate(const peat_host *h, const void *config, const void *self, int64_t which,
                            int64_t index, peat_batch *b)
{
    const struct config *k = config;
    (void)self, (void)which;
    if (k->place == AT_EVALUATE)
        commit(k->does);
    b->B = index == 0 ? 2 : 0;
    fill(h, 7, b);
    return PEAT_OK;
}

static const peat_task task = {
    .size = sizeof(task),
    .metric = metrics,
    .setup = setup,
    .train = train,
    .evaluate = evaluate,
};

PEAT_DEFINE(PEAT_TASK, task, struct config, rows, "evil_task", "1.0", "does harm", "MIT", "")
