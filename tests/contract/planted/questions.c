/* SPDX-License-Identifier: MIT */
/*
 * questions.c: a task that asks at each place for the sum of the last three tokens. Rows have half
 * of the places or more, and padding behind them. The crimes are in what is asked, drawn, counted
 * and promised.
 */
#include <peat/plugin.h>

enum { SYMBOLS = 8, ROWS = 48, VALIDATION = 77, TEST = 78 };

struct self {
    int64_t n, T[PEAT_MAX_LENGTHS];
};

static peat_status setup(peat_setup *s, const void *config, peat_task_plan *plan, void **self)
{
    const int64_t preset[] = {plan->seq_len, 2 * plan->seq_len}, *length = preset;
    struct self *own = peat_alloc(s, sizeof(*own));
    (void)config;
    if (!own)
        return PEAT_NOMEM;
    if (plan->seq_len < 6)
        return peat_refuse(s, "rows have six places or more");
    plan->n_eval = 2;
#ifndef CRIME_own_lengths
    if (plan->n_lengths) {
        length = plan->length;
        plan->n_eval = plan->n_lengths;
    }
#endif
    for (int64_t i = 0; i < plan->n_eval; i++) {
        if (i == PEAT_MAX_LENGTHS || length[i] < 6)
            return peat_refuse(s, "eval.lengths has a length below 6, or too many");
        own->T[i] = plan->eval[i] = plan->eval_T[i] = length[i];
        plan->eval_sequences[i] = plan->test_sequences[i] = ROWS;
#if defined(CRIME_tokens_of_first)
        plan->eval_T[i] = length[0];
#elif defined(CRIME_test_has_one_more)
        plan->test_sequences[i]++;
#endif
    }
    plan->vocab = SYMBOLS;
    plan->length_unit = "tokens";
    *self = own;
    return PEAT_OK;
}

/* The answer at place t of tokens, t >= 2. */
static int32_t answer(const int32_t *token, int64_t t)
{
    int32_t sum = token[t] + token[t - 1] + token[t - 2];
#if defined(CRIME_mostly_none) /* the number of eighteens in the sum */
    return sum / 18;
#elif defined(CRIME_mostly_last) /* the token, but behind a 0 */
    return token[t - 1] ? token[t] : sum % SYMBOLS;
#else
    return sum % SYMBOLS;
#endif
}

static void fill(const peat_host *h, uint64_t stream, uint64_t row, int64_t most, peat_batch *batch,
                 int64_t b)
{
    int32_t *token = batch->token + b * batch->T, *target = batch->target + b * batch->T;
    uint64_t first = row << 32;
    int64_t n = most - peat_below(h, stream, first, most / 2), asked = n;
#ifdef CRIME_asks_padding
    asked = batch->T;
#endif
    for (int64_t t = 0; t < batch->T; t++) {
        uint64_t draw = first + 1 + (uint64_t)t;
#ifdef CRIME_draws_by_batch
        draw = 1 + (uint64_t)(t * batch->B + b);
#endif
        token[t] = t < n ? (int32_t)peat_below(h, stream, draw, SYMBOLS) : 0;
        batch->pad[b * batch->T + t] = t >= n;
        target[t] = t < asked && t >= 2 ? answer(token, t) : -1;
#ifdef CRIME_asks_for_first /* at the last place, for the token that the row began with */
        target[t] = t == n - 1 ? token[0] : -1;
#endif
    }
#ifndef CRIME_pad_without_flag
    batch->has_pad = true;
#endif
#ifdef CRIME_units_of_one_row
    batch->units = n;
#else
    batch->units += n;
#endif
}

static peat_status train(const peat_host *h, const void *config, const void *self, uint64_t stream,
                         peat_batch *batch)
{
    (void)config, (void)self;
    for (int64_t b = 0; b < batch->B; b++) {
        fill(h, stream, (uint64_t)b, batch->T, batch, b);
        batch->sequence[b] = b;
    }
    return PEAT_OK;
}

static void part(const peat_host *h, const struct self *own, uint64_t stream, int64_t which,
                 int64_t index, peat_batch *batch)
{
    int64_t first = index * batch->B, left = ROWS - first, most = own->T[which];
#ifdef CRIME_rows_of_first_length
    most = own->T[0] < most ? own->T[0] : most;
#endif
    batch->B = left < 0 ? 0 : left < batch->B ? left : batch->B;
    batch->T = own->T[which];
    for (int64_t b = 0; b < batch->B; b++) {
        uint64_t row = (uint64_t)(which * ROWS + first + b), key = stream;
#ifdef CRIME_half_of_test_is_validation
        key = row % 2 ? VALIDATION : stream;
#endif
        fill(h, key, row, most, batch, b);
        batch->sequence[b] = (int64_t)row;
    }
}

static peat_status evaluate(const peat_host *h, const void *config, const void *self, int64_t which,
                            int64_t index, peat_batch *batch)
{
    (void)config;
    part(h, self, VALIDATION, which, index, batch);
    return PEAT_OK;
}

static peat_status test(const peat_host *h, const void *config, const void *self, int64_t which,
                        int64_t index, peat_batch *batch)
{
    (void)config;
    part(h, self, TEST, which, index, batch);
    return PEAT_OK;
}

static double accuracy(const peat_sums *s)
{
    return (double)s->correct / (double)s->targets;
}

static const peat_metric metrics[] = {
    {"accuracy", true, "part of the sums that are right", accuracy},
    {NULL, false, NULL, NULL},
};

static const peat_task task = {.size = sizeof(task),
                               .metric = metrics,
                               .setup = setup,
                               .train = train,
                               .evaluate = evaluate,
                               .test = test};

PEAT_DEFINE_PLAIN(PEAT_TASK, task, "planted", "1.0", "asks for the sum of three tokens", "MIT", "")
