/* SPDX-License-Identifier: MIT */
/* A static counter goes into the tokens. */
#include <peat/plugin.h>

struct self {
    int64_t T;
    uint64_t seed;
};

static peat_status setup(peat_setup *s, const void *config, peat_task_plan *plan, void **self)
{
    struct self *own = peat_alloc(s, sizeof(*own));
    (void)config;
    if (!own)
        return PEAT_NOMEM;
    own->T = plan->eval[0] = plan->eval_T[0] = plan->seq_len;
    own->seed = plan->seed;
    plan->n_eval = 1;
    plan->vocab = 8;
    plan->length_unit = "tokens";
    *self = own;
    return PEAT_OK;
}

static uint64_t made; /* the crime */

static void fill(const peat_host *h, const struct self *own, uint64_t stream, uint64_t first,
                 peat_batch *batch, int64_t b)
{
    int32_t *token = batch->token + b * batch->T, *target = batch->target + b * batch->T;
    (void)own;
    for (int64_t t = 0; t < batch->T; t++) {
        uint64_t i = first * 1000 + (uint64_t)t;
        token[t] = (int32_t)peat_below(h, stream, i + made++, 8);
        target[t] = token[t];
    }
    batch->sequence[b] = (int64_t)first;
    batch->units += batch->T;
}

static peat_status train(const peat_host *h, const void *config, const void *self, uint64_t stream,
                         peat_batch *batch)
{
    (void)config;
    for (int64_t b = 0; b < batch->B; b++)
        fill(h, self, stream, (uint64_t)b, batch, b);
    return PEAT_OK;
}

static peat_status evaluate(const peat_host *h, const void *config, const void *self, int64_t which,
                            int64_t index, peat_batch *batch)
{
    const struct self *own = self;
    (void)config;
    (void)which;
    batch->T = own->T;
    for (int64_t b = 0; b < batch->B; b++)
        fill(h, self, 77, (uint64_t)(index * batch->B + b), batch, b);
    if (index * batch->B >= 12)
        batch->B = 0;
    return PEAT_OK;
}

static double value(const peat_sums *s)
{
    return (double)s->correct / (double)s->targets;
}

static const peat_metric metrics[] = {
    {"score", true, "part that is right", value},
    {NULL, false, NULL, NULL},
};

static const peat_task task = {
    .size = sizeof(task),
    .metric = metrics,
    .setup = setup,
    .train = train,
    .evaluate = evaluate,
};

PEAT_DEFINE_PLAIN(PEAT_TASK, task, "task_counts", "1.0", "a planted mistake", "MIT", "")
