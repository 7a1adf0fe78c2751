/* SPDX-License-Identifier: MIT */
/*
 * sequence_task.h: tasks that answer a random sequence x of n symbols with n symbols y.
 *
 * A row is BOS x SEP y EOS, of 2n+3 tokens; the model gets all but the last and is asked for y and
 * EOS. A task is a function that says which symbol of x is symbol i of y.
 */
#ifndef TASK_SEQUENCE_TASK_H
#define TASK_SEQUENCE_TASK_H

#include <peat/plugin.h>

enum { SEQUENCE_BOS, SEQUENCE_SEP, SEQUENCE_EOS, SEQUENCE_FIRST_SYMBOL };
enum { SEQUENCE_EVAL_MAX = 256, SEQUENCE_EVAL_BATCH = 64 };

/* Keys of the evaluation data, the same for every cell and seed: this one plus the length. */
#define SEQUENCE_EVAL_STREAM UINT64_C(0x5345515f4556414c)

struct sequence_config {
    int64_t symbols, min_len, max_len;
};

static const peat_param sequence_rows[] = {
    {"symbols", PEAT_INT, offsetof(struct sequence_config, symbols), .preset = 10, .min = 2,
     .max = 1000, .doc = "different symbols"},
    {"min_len", PEAT_INT, offsetof(struct sequence_config, min_len), .preset = 1, .min = 1,
     .max = 1 << 20, .unit = "symbols", .doc = "shortest sequence trained"},
    {"max_len", PEAT_INT, offsetof(struct sequence_config, max_len), .min = 1, .max = 1 << 20,
     .automatic = "the longest that fits train.seq_len, (seq_len-3)/2", .unit = "symbols",
     .doc = "longest sequence trained", .flags = PEAT_AUTO},
    PEAT_PARAM_END,
};

struct sequence_task {
    int64_t max_len;
    int64_t per_length[PEAT_MAX_LENGTHS]; /* sequences evaluated */
    int64_t length[PEAT_MAX_LENGTHS];
};

/* Which symbol of x is symbol i of y. */
typedef int64_t (*sequence_source)(int64_t i, int64_t n);

static inline double sequence_exact_match(const peat_sums *s)
{
    return (double)s->matches / (double)s->sequences;
}

static inline double sequence_token_accuracy(const peat_sums *s)
{
    return (double)s->generated_correct / (double)s->generated;
}

static inline double sequence_loss(const peat_sums *s)
{
    return s->nll / (double)s->targets;
}

static const peat_metric sequence_metrics[] = {
    {"exact_match", true, "part of the sequences whose generated answer is right to the last token",
     sequence_exact_match},
    {"token_accuracy", true, "part of the generated tokens that are right",
     sequence_token_accuracy},
    {"loss", false, "nats per token of the answer, given the right tokens before", sequence_loss},
    {NULL, false, NULL, NULL},
};

/* Tokens that a model is fed for n symbols: all of the row but EOS. */
static inline int64_t sequence_T(int64_t n)
{
    return 2 * n + 2;
}

static inline peat_status sequence_lengths(peat_setup *s, struct sequence_task *t,
                                           peat_task_plan *plan)
{
    int64_t preset[] = {t->max_len, 2 * t->max_len};
    const int64_t *length = plan->n_lengths ? plan->length : preset;
    plan->n_eval = plan->n_lengths ? plan->n_lengths : 2;
    if (plan->n_eval > PEAT_MAX_LENGTHS)
        return peat_refuse(s, "%lld eval.lengths are given, and %d are the most",
                           (long long)plan->n_eval, PEAT_MAX_LENGTHS);
    for (int64_t i = 0; i < plan->n_eval; i++) {
        if (length[i] < 1)
            return peat_refuse(s, "eval.lengths has %lld, and a sequence has at least 1 symbol",
                               (long long)length[i]);
        int64_t wanted = plan->eval_tokens / (length[i] + 1);
        if (plan->eval_tokens == 0 || wanted > SEQUENCE_EVAL_MAX)
            wanted = SEQUENCE_EVAL_MAX;
        t->per_length[i] = wanted < 1 ? 1 : wanted;
        t->length[i] = plan->eval[i] = length[i];
        plan->eval_T[i] = sequence_T(length[i]);
    }
    return PEAT_OK;
}

static inline peat_status sequence_setup(peat_setup *s, const void *config, peat_task_plan *plan,
                                         void **self)
{
    const struct sequence_config *k = config;
    int64_t fits = (plan->seq_len - 3) / 2;
    int64_t n = k->max_len ? k->max_len : fits;
    struct sequence_task *t = peat_alloc(s, sizeof(*t));
    if (!t)
        return PEAT_NOMEM;
    if (plan->arch != PEAT_DECODER)
        return peat_refuse(s, "the answer is generated token by token, which needs "
                              "model.arch: decoder");
    if (fits < 1)
        return peat_refuse(s, "train.seq_len must be at least 5 for one symbol, not %lld",
                           (long long)plan->seq_len);
    if (n > fits)
        return peat_refuse(s,
                           "sequences of max_len = %lld symbols take %lld tokens, but "
                           "train.seq_len is %lld; lower max_len to %lld or raise train.seq_len",
                           (long long)n, (long long)(2 * n + 3), (long long)plan->seq_len,
                           (long long)fits);
    if (k->min_len > n)
        return peat_refuse(s, "min_len = %lld is more than max_len = %lld", (long long)k->min_len,
                           (long long)n);
    t->max_len = n;
    peat_resolved(s, "max_len", (double)n);
    plan->vocab = SEQUENCE_FIRST_SYMBOL + k->symbols;
    plan->length_unit = "symbols";
    *self = t;
    return sequence_lengths(s, t, plan);
}

/* Where the symbols of one row come from. */
struct sequence_draws {
    const peat_host *host;
    uint64_t stream, first; /* symbol i is draw first + i */
    int64_t symbols, n;
    sequence_source source;
};

/* Symbol i of x. */
static inline int32_t sequence_symbol(const struct sequence_draws *d, int64_t i)
{
    int64_t symbol = peat_below(d->host, d->stream, d->first + (uint64_t)i, d->symbols);
    return SEQUENCE_FIRST_SYMBOL + (int32_t)symbol;
}

/* Token i of BOS x SEP y EOS. */
static inline int32_t sequence_token(const struct sequence_draws *d, int64_t i)
{
    int64_t n = d->n;
    if (i == 0)
        return SEQUENCE_BOS;
    if (i <= n)
        return sequence_symbol(d, i - 1);
    if (i == n + 1)
        return SEQUENCE_SEP;
    if (i == 2 * n + 2)
        return SEQUENCE_EOS;
    return sequence_symbol(d, d->source(i - n - 2, n));
}

/* Row b: tokens, targets from SEP on, and padding up to batch->T. */
static inline void sequence_row(const struct sequence_draws *d, peat_batch *batch, int64_t b)
{
    int64_t n = d->n;
    for (int64_t i = 0; i < batch->T; i++) {
        int64_t at = b * batch->T + i;
        bool inside = i < sequence_T(n);
        batch->token[at] = inside ? sequence_token(d, i) : SEQUENCE_EOS;
        batch->target[at] = inside && i > n ? sequence_token(d, i + 1) : -1;
        batch->special[at] = inside && (i == 0 || i == n + 1);
        batch->pad[at] = !inside;
    }
    batch->has_pad |= sequence_T(n) < batch->T;
    batch->units += n + 1;
}

/* Row b draws from index b 2^32 on: first its length, then its symbols. */
static inline peat_status sequence_train(const peat_host *host, const void *config,
                                         const void *self, uint64_t stream, peat_batch *batch,
                                         sequence_source source)
{
    const struct sequence_config *k = config;
    const struct sequence_task *t = self;
    batch->T = sequence_T(t->max_len);
    batch->has_special = true;
    for (int64_t b = 0; b < batch->B; b++) {
        uint64_t first = (uint64_t)b << 32;
        int64_t n = k->min_len + peat_below(host, stream, first, t->max_len - k->min_len + 1);
        struct sequence_draws d = {host, stream, first + 1, k->symbols, n, source};
        sequence_row(&d, batch, b);
        batch->sequence[b] = b;
    }
    return PEAT_OK;
}

static inline peat_status sequence_evaluate(const peat_host *host, const void *config,
                                            const void *self, int64_t which, int64_t index,
                                            peat_batch *batch, sequence_source source)
{
    const struct sequence_config *k = config;
    const struct sequence_task *t = self;
    int64_t n = t->length[which];
    int64_t room = batch->B < SEQUENCE_EVAL_BATCH ? batch->B : SEQUENCE_EVAL_BATCH;
    int64_t first = index * room, left = t->per_length[which] - first;
    batch->B = left < 0 ? 0 : left < room ? left : room;
    batch->T = sequence_T(n);
    batch->has_special = true;
    batch->prompt = n + 2;
    batch->answer = n + 1;
    for (int64_t b = 0; b < batch->B; b++) {
        uint64_t number = (uint64_t)(first + b);
        struct sequence_draws d = {
            host, SEQUENCE_EVAL_STREAM + (uint64_t)n, number << 32, k->symbols, n, source};
        sequence_row(&d, batch, b);
        batch->sequence[b] = (int64_t)((uint64_t)n << 32 | number);
    }
    return PEAT_OK;
}

#endif
