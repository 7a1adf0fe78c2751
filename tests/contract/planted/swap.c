/* SPDX-License-Identifier: MIT */
/*
 * swap.c: a task that moves <path>.swap over its data file in set-up, before it reads it, as
 * another program may do at any time; its log says which bytes it was given, as the sum of all. It
 * does so where there is a file swap.now.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "path.h"

static peat_status setup(peat_setup *s, const void *config, peat_task_plan *plan, void **self)
{
    const struct config *k = config;
    char other[512];
    int64_t n = 0, sum = 0;
    if (access("swap.now", F_OK) == 0) {
        snprintf(other, sizeof(other), "%s.swap", k->path);
        rename(other, k->path);
    }
    const unsigned char *byte = s->host->read_file(s, k->path, &n);
    if (!byte)
        return PEAT_IO;
    for (int64_t i = 0; i < n; i++)
        sum += byte[i];
    s->host->log(s->host, "given %" PRId64 " bytes, sum %" PRId64, n, sum);
    plan->eval[0] = plan->eval_T[0] = plan->seq_len;
    plan->n_eval = 1;
    plan->vocab = 8;
    plan->length_unit = "tokens";
    *self = NULL;
    return PEAT_OK;
}

static peat_status train(const peat_host *h, const void *config, const void *self, uint64_t stream,
                         peat_batch *batch)
{
    (void)config, (void)self;
    for (int64_t i = 0; i < batch->B * batch->T; i++)
        batch->target[i] = batch->token[i] = (int32_t)peat_below(h, stream, (uint64_t)i, 8);
    batch->units = batch->B * batch->T;
    return PEAT_OK;
}

static peat_status evaluate(const peat_host *h, const void *config, const void *self, int64_t which,
                            int64_t index, peat_batch *batch)
{
    (void)which;
    if (index > 0) {
        batch->B = 0;
        return PEAT_OK;
    }
    return train(h, config, self, 77, batch);
}

static double loss(const peat_sums *s)
{
    return s->nll / (double)s->targets;
}

static const peat_metric metrics[] = {{"loss", false, "nats per token", loss},
                                      {NULL, false, NULL, NULL}};

static const peat_task task = {
    .size = sizeof(peat_task),
    .metric = metrics,
    .setup = setup,
    .train = train,
    .evaluate = evaluate,
};

PEAT_DEFINE(PEAT_TASK, task, struct config, rows, "swap", "1.0",
            "swaps its data before it reads it", "MIT", "")
