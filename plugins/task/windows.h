/* SPDX-License-Identifier: MIT */
/*
 * windows.h: language modelling over windows of one long sequence of tokens.
 *
 * Decoders predict the next token; encoders fill places in (Devlin et al. 2019, section 3.1). The
 * end of the sequence is held out: its first part validates, its last one is the test part. In each
 * part the same tokens are targets at every length.
 */
#ifndef TASK_WINDOWS_H
#define TASK_WINDOWS_H

#include <inttypes.h>

#include <peat/sequence.h>

enum { WINDOWS_AUTO, WINDOWS_CAUSAL, WINDOWS_MASKED };
enum { WINDOWS_BATCH_TOKENS = 4096 };

/* Keys of the masks in the two held-out parts, the same for every cell and seed. */
#define WINDOWS_STREAM      UINT64_C(0x544558545f4d4c4d)
#define WINDOWS_TEST_STREAM UINT64_C(0x544558545f545354)

static const char *const windows_objectives[] = {"auto", "causal", "masked", NULL};

struct windows {
    int64_t n;                 /* tokens                                        */
    const unsigned char *byte; /* [n * width] little-endian ids, or NULL        */
    int64_t width;             /* bytes of an id: 1, 2 or 4                     */
    const int32_t *id;         /* [n] where byte is NULL                        */
    const unsigned char *size; /* [symbols] bytes that a token is of; NULL: 1 where ids have one
                                  byte, else not known and 0                    */
    int64_t symbols;           /* the vocabulary without MASK                   */
    const int32_t *code;       /* [symbols] code points; NULL: no characters    */
    bool masked;
    int64_t seq_len;
    int64_t train; /* tokens [0, train) train, the rest is held out; 0: by the share `valid` */
    int64_t test;  /* tokens [train, test) validate, [test, n) are the test part; 0: by the
                      share eval.test of what is held out                                     */
    int64_t targets, tested; /* tokens of the validation text and of the test text in windows */
    int64_t length[PEAT_MAX_LENGTHS];
};

static inline int32_t windows_token(const struct windows *w, int64_t i)
{
    if (!w->byte)
        return w->id[i];
    const unsigned char *b = w->byte + i * w->width;
    if (w->width == 1)
        return b[0];
    if (w->width == 2)
        return b[0] | b[1] << 8;
    return (int32_t)(b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24);
}

static inline int64_t windows_bytes(const struct windows *w, int32_t id)
{
    return w->size ? w->size[id] : w->byte && w->width == 1;
}

static inline int64_t windows_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- planning ---- */

static inline peat_status windows_choose_objective(peat_setup *s, int64_t objective, peat_arch arch,
                                                   struct windows *w)
{
    w->masked = objective == WINDOWS_AUTO ? arch == PEAT_ENCODER : objective == WINDOWS_MASKED;
    if (w->masked && arch != PEAT_ENCODER)
        return peat_refuse(s, "objective: masked needs model.arch: encoder; a decoder does not see "
                              "what follows the mask");
    if (!w->masked && arch != PEAT_DECODER)
        return peat_refuse(s, "objective: causal needs model.arch: decoder; an encoder sees the "
                              "token it has to predict");
    return PEAT_OK;
}

/* Tokens of `n` held-out ones that windows can have as targets: a causal window's first token is
 * none. */
static inline int64_t windows_room(const struct windows *w, int64_t n)
{
    return w->masked ? n : n - 1;
}

static inline peat_status windows_split(peat_setup *s, double valid, double test, struct windows *w)
{
    int64_t all = w->test ? w->test : w->n;
    if (w->train == 0)
        w->train = all - (int64_t)(valid * (double)all);
    if (w->test == 0)
        w->test = all - (int64_t)(test * (double)(all - w->train));
    if (w->train < w->seq_len + 1)
        return peat_refuse(s,
                           "the training text has %" PRId64 " tokens, and train.seq_len = %" PRId64
                           " needs at least %" PRId64,
                           w->train, w->seq_len, w->seq_len + 1);
    return PEAT_OK;
}

static inline int64_t windows_divisor(int64_t a, int64_t b)
{
    return b ? windows_divisor(b, a % b) : a;
}

/* Held-out text that is evaluated: validation or test. */
struct windows_part {
    const char *name;
    int64_t n;        /* its tokens                                  */
    int64_t *targets; /* answered: of these, those in windows        */
    int64_t *windows; /* answered, [n_eval]: windows of each length  */
};

static inline peat_status windows_too_short(peat_setup *s, const struct windows *w,
                                            const struct windows_part *part, int64_t need,
                                            const char *what)
{
    return peat_refuse(s,
                       "the %s text has %" PRId64 " tokens, and %s needs %" PRId64
                       "; give more text, raise valid or change eval.lengths",
                       part->name, part->n, what, w->masked ? need : need + 1);
}

/* `block` is the shortest stretch that windows of every length tile; the targets are the largest
 * multiple of it that is there and, beyond the first, wanted. */
static inline peat_status windows_tile(peat_setup *s, const struct windows *w,
                                       const peat_task_plan *plan, const struct windows_part *part)
{
    int64_t room = windows_room(w, part->n), longest = 0, block = 1;
    for (int64_t i = 0; i < plan->n_eval; i++)
        longest = w->length[i] > longest ? w->length[i] : longest;
    if (longest > room)
        return windows_too_short(s, w, part, longest, "one window of the longest length");
    for (int64_t i = 0; i < plan->n_eval; i++) {
        block *= w->length[i] / windows_divisor(block, w->length[i]);
        if (block > room)
            return windows_too_short(s, w, part, block,
                                     "a stretch that windows of every length tile");
    }
    int64_t wanted = plan->eval_tokens ? windows_least(plan->eval_tokens, room) : room;
    *part->targets = wanted < block ? block : wanted / block * block;
    for (int64_t i = 0; i < plan->n_eval; i++)
        part->windows[i] = *part->targets / w->length[i];
    return PEAT_OK;
}

static inline peat_status windows_tile_parts(peat_setup *s, struct windows *w, peat_task_plan *plan)
{
    const struct windows_part valid = {"validation", w->test - w->train, &w->targets,
                                       plan->eval_sequences};
    const struct windows_part test = {"test", w->n - w->test, &w->tested, plan->test_sequences};
    peat_status status = windows_tile(s, w, plan, &valid);
    return status == PEAT_OK && plan->test > 0 ? windows_tile(s, w, plan, &test) : status;
}

/* Of the shorter held-out part. */
static inline int64_t windows_least_room(const struct windows *w, const peat_task_plan *plan)
{
    int64_t valid = w->test - w->train, test = w->n - w->test;
    return windows_room(w, plan->test > 0 ? windows_least(valid, test) : valid);
}

static inline peat_status windows_plan_lengths(peat_setup *s, struct windows *w,
                                               peat_task_plan *plan)
{
    int64_t preset[] = {w->seq_len, 2 * w->seq_len};
    const int64_t *length =
        peat_evaluated(s, plan, preset, windows_least_room(w, plan) < preset[1] ? 1 : 2);
    if (!length)
        return PEAT_REFUSED;
    for (int64_t i = 0; i < plan->n_eval; i++) {
        if (length[i] < 1)
            return peat_refuse(s, "eval.lengths has %" PRId64 ", and a window has at least 1 token",
                               length[i]);
        w->length[i] = plan->eval[i] = plan->eval_T[i] = length[i];
    }
    return windows_tile_parts(s, w, plan);
}

static inline void windows_show_first(const struct windows *w, peat_task_plan *plan)
{
    plan->n_first = windows_least(w->train, PEAT_FIRST_TOKENS);
    for (int64_t i = 0; i < plan->n_first; i++)
        plan->first[i] = windows_token(w, i);
}

/* After the tokens are there: vocabulary, split and lengths. */
static inline peat_status windows_plan(peat_setup *s, double valid, struct windows *w,
                                       peat_task_plan *plan)
{
    peat_status status = windows_split(s, valid, plan->test, w);
    if (status != PEAT_OK)
        return status;
    plan->vocab = w->symbols + (w->masked ? 1 : 0);
    plan->length_unit = "tokens";
    windows_show_first(w, plan);
    return windows_plan_lengths(s, w, plan);
}

/* ---- batches ---- */

static inline void windows_set_target(const struct windows *w, peat_batch *batch, int64_t at,
                                      int32_t id)
{
    batch->target[at] = id;
    batch->units += windows_bytes(w, id);
}

/* Row b of a causal batch: the window from token `start` on, each place asked for the next. */
static inline void windows_causal_row(const struct windows *w, peat_batch *batch, int64_t b,
                                      int64_t start)
{
    for (int64_t i = 0; i < batch->T; i++) {
        batch->token[b * batch->T + i] = windows_token(w, start + i);
        windows_set_target(w, batch, b * batch->T + i, windows_token(w, start + i + 1));
    }
}

/* One place of a masked batch, decided by two draws: 15 % are targets, and of these 80 % show MASK,
 * 10 % a random token, 10 % themselves. */
static inline void windows_masked_place(const struct windows *w, const uint64_t draw[2],
                                        peat_batch *batch, int64_t at, int32_t id)
{
    double u = (double)(draw[0] >> 11) * 0x1p-53 / 0.15;
    batch->token[at] = id;
    if (u >= 1)
        return;
    windows_set_target(w, batch, at, id);
    if (u < 0.8)
        batch->token[at] = (int32_t)w->symbols;
    else if (u < 0.9)
        batch->token[at] = (int32_t)((draw[1] >> 1) % (uint64_t)w->symbols);
}

/* Row b of a masked batch: the window from token `start` on; place i uses draws first + 2i and
 * first + 2i + 1. */
static inline void windows_masked_row(const struct windows *w, const peat_host *h, uint64_t stream,
                                      uint64_t first, peat_batch *batch, int64_t b, int64_t start)
{
    for (int64_t i = 0; i < batch->T; i++) {
        uint64_t at = first + 2 * (uint64_t)i;
        uint64_t draw[] = {h->draw(stream, at), h->draw(stream, at + 1)};
        windows_masked_place(w, draw, batch, b * batch->T + i, windows_token(w, start + i));
    }
}

/* A batch without a single target has no loss: then the last place of the first row is one. */
static inline void windows_one_target(const struct windows *w, peat_batch *batch)
{
    for (int64_t i = 0; i < batch->B * batch->T; i++)
        if (batch->target[i] >= 0)
            return;
    windows_set_target(w, batch, batch->T - 1, batch->token[batch->T - 1]);
    batch->token[batch->T - 1] = (int32_t)w->symbols;
}

/* Row b draws from index b 2^32 on: where its window starts, then its masks. */
static inline peat_status windows_train(const peat_host *h, const void *config, const void *self,
                                        uint64_t stream, peat_batch *batch)
{
    const struct windows *w = (const struct windows *)self;
    int64_t starts = w->train - w->seq_len + (w->masked ? 1 : 0);
    (void)config;
    batch->T = w->seq_len;
    for (int64_t b = 0; b < batch->B; b++) {
        uint64_t first = (uint64_t)b << 32;
        int64_t start = peat_below(h, stream, first, starts);
        batch->sequence[b] = start;
        if (w->masked)
            windows_masked_row(w, h, stream, first + 1, batch, b, start);
        else
            windows_causal_row(w, batch, b, start);
    }
    if (w->masked)
        windows_one_target(w, batch);
    return PEAT_OK;
}

/* Windows of T tokens, in order, of a part that begins at token `from`; masks are keyed by the
 * place in the part and by its stream, so that every length has the same targets. */
static inline peat_status windows_walk(const struct windows *w, const peat_host *h, uint64_t stream,
                                       int64_t from, int64_t targets, int64_t T, int64_t index,
                                       peat_batch *batch)
{
    int64_t n = targets / T;
    int64_t room = windows_least(batch->B, T < WINDOWS_BATCH_TOKENS ? WINDOWS_BATCH_TOKENS / T : 1);
    int64_t first = index * room;
    batch->T = T;
    batch->B = first < n ? windows_least(room, n - first) : 0;
    for (int64_t b = 0; b < batch->B; b++) {
        int64_t place = (first + b) * T;
        batch->sequence[b] = (int64_t)((uint64_t)T << 32 | (uint64_t)(first + b));
        if (w->masked)
            windows_masked_row(w, h, stream, 2 * (uint64_t)place, batch, b, from + place);
        else
            windows_causal_row(w, batch, b, from + place);
    }
    return PEAT_OK;
}

static inline peat_status windows_evaluate(const peat_host *h, const void *config, const void *self,
                                           int64_t which, int64_t index, peat_batch *batch)
{
    const struct windows *w = (const struct windows *)self;
    (void)config;
    return windows_walk(w, h, WINDOWS_STREAM, w->train, w->targets, w->length[which], index, batch);
}

static inline peat_status windows_test(const peat_host *h, const void *config, const void *self,
                                       int64_t which, int64_t index, peat_batch *batch)
{
    const struct windows *w = (const struct windows *)self;
    (void)config;
    return windows_walk(w, h, WINDOWS_TEST_STREAM, w->test, w->tested, w->length[which], index,
                        batch);
}

#endif
