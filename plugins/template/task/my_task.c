/* SPDX-License-Identifier: MIT */
/* my_task.c: a template: name the previous symbol. */
#include <peat/plugin.h>

struct config {
    int64_t symbols;
};

static const peat_param rows[] = {
    {"symbols", PEAT_INT, offsetof(struct config, symbols), .preset = 8, .min = 2, .max = 1000,
     .doc = "different symbols"},
    PEAT_PARAM_END,
};

enum { ROWS_EVALUATED = 64 };

struct lengths {
    int64_t T[PEAT_MAX_LENGTHS];
};

/* Fills in the plan: vocabulary, the lengths evaluated and their tokens. */
static peat_status setup(peat_setup *s, const void *config, peat_task_plan *plan, void **self)
{
    const struct config *k = config;
    struct lengths *lengths = peat_alloc(s, sizeof(*lengths));
    if (!lengths)
        return PEAT_NOMEM;
    plan->n_eval = plan->n_lengths ? plan->n_lengths : 1;
    if (plan->n_eval > PEAT_MAX_LENGTHS)
        return peat_refuse(s, "more than %d eval.lengths", PEAT_MAX_LENGTHS);
    for (int64_t i = 0; i < plan->n_eval; i++) {
        int64_t T = plan->n_lengths ? plan->length[i] : plan->seq_len;
        if (T < 2)
            return peat_refuse(s, "a sequence of %lld has no symbol before another", (long long)T);
        lengths->T[i] = plan->eval[i] = plan->eval_T[i] = T;
        plan->eval_sequences[i] = plan->test_sequences[i] = ROWS_EVALUATED;
    }
    plan->vocab = k->symbols;
    plan->length_unit = "tokens";
    *self = lengths;
    return PEAT_OK;
}

/* Row b: its symbols are draws first, first + 1, ... of the stream; the first has no target. */
static void fill_row(const peat_host *h, const struct config *k, uint64_t stream, uint64_t first,
                     peat_batch *batch, int64_t b)
{
    int32_t *token = batch->token + b * batch->T, *target = batch->target + b * batch->T;
    for (int64_t i = 0; i < batch->T; i++) {
        token[i] = (int32_t)peat_below(h, stream, first + (uint64_t)i, k->symbols);
        target[i] = i ? token[i - 1] : -1;
    }
    batch->sequence[b] = (int64_t)(first >> 32);
    batch->units += batch->T - 1;
}

static peat_status train(const peat_host *h, const void *config, const void *self, uint64_t stream,
                         peat_batch *batch)
{
    (void)self;
    for (int64_t b = 0; b < batch->B; b++)
        fill_row(h, config, stream, (uint64_t)b << 32, batch, b);
    return PEAT_OK;
}

/* The same rows for every cell and seed, from a stream of the task's own. B = 0 ends a length. */
static void fill_held_out(const peat_host *h, const void *config, const void *self, uint64_t stream,
                          int64_t which, int64_t index, peat_batch *batch)
{
    int64_t first = index * batch->B, left = ROWS_EVALUATED - first;
    batch->T = ((const struct lengths *)self)->T[which];
    batch->B = left < 0 ? 0 : left < batch->B ? left : batch->B;
    for (int64_t b = 0; b < batch->B; b++)
        fill_row(h, config, stream, (uint64_t)(first + b) << 32, batch, b);
}

static peat_status evaluate(const peat_host *h, const void *config, const void *self, int64_t which,
                            int64_t index, peat_batch *batch)
{
    fill_held_out(h, config, self, UINT64_C(0x6d795f7461736b), which, index, batch);
    return PEAT_OK;
}

/* The test part, which is reported, has a stream of its own. */
static peat_status test(const peat_host *h, const void *config, const void *self, int64_t which,
                        int64_t index, peat_batch *batch)
{
    fill_held_out(h, config, self, UINT64_C(0x6d795f74657374), which, index, batch);
    return PEAT_OK;
}

static double accuracy(const peat_sums *s)
{
    return (double)s->correct / (double)s->targets;
}

/* The first metric is the main one. */
static const peat_metric metrics[] = {
    {"accuracy", true, "part of the answers that are right", accuracy},
    {NULL, false, NULL, NULL},
};

static const peat_task task = {
    .size = sizeof(task),
    .metric = metrics,
    .setup = setup,
    .train = train,
    .evaluate = evaluate,
    .test = test,
};

PEAT_DEFINE(PEAT_TASK, task, struct config, rows, "my_task", "0.1", "name the symbol before", "MIT",
            "")
