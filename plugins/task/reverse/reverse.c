/* SPDX-License-Identifier: MIT */
/* reverse.c: y = x backwards. Kazemnejad et al. 2023. */
#include <peat/plugin.h>

#include "../sequence_task.h"

static int64_t source(int64_t i, int64_t n)
{
    return n - 1 - i;
}

static peat_status train(const peat_host *h, const void *config, const void *self, uint64_t stream,
                         peat_batch *batch)
{
    return sequence_train(h, config, self, stream, batch, source);
}

static peat_status evaluate(const peat_host *h, const void *config, const void *self, int64_t which,
                            int64_t index, peat_batch *batch)
{
    return sequence_evaluate(h, config, self, which, index, batch, source);
}

static const peat_task task = {
    .size = sizeof(task),
    .metric = sequence_metrics,
    .setup = sequence_setup,
    .train = train,
    .evaluate = evaluate,
};

PEAT_DEFINE(PEAT_TASK, task, struct sequence_config, sequence_rows, "reverse", "1.0",
            "repeat a random sequence backwards", "MIT", "arXiv:2305.19466")
