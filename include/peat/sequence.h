/* SPDX-License-Identifier: MIT */
/*
 * sequence.h: tasks that ask a question in tokens and want an answer in tokens.
 *
 * Included by a task's source after plugin.h; the host does not see it. A task defines how many
 * tokens a question of length n has, and fills them in. This header makes rows, masks, lengths,
 * evaluation and metrics of them, so that they mean the same in all such tasks:
 *
 *   BOS question SEP answer EOS     PEAT_SPOKEN: the loss is on answer and EOS, which evaluation
 *                                   generates greedily from SEP on; decoders only
 *   BOS question SEP                PEAT_NAMED: one token is the answer, asked for at SEP; for
 *                                   decoders and encoders. With model.head: class the answer is
 *                                   the class of the row, and SEP has no target
 *
 * With model.arch: seq2seq, for both kinds, the encoder reads `question SEP`, and the decoder is
 * fed `BOS answer`; every token of the answer is a target and, for PEAT_SPOKEN, EOS.
 *
 * BOS is a token of its own: without it a causal model cannot count equal tokens. A model is never
 * given true tokens of an answer that is scored by exact_match.
 */
#ifndef PEAT_SEQUENCE_H
#define PEAT_SEQUENCE_H

#include <peat/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The tokens of the frame; a task's own ids are PEAT_FIRST_SYMBOL and up. */
enum { PEAT_BOS, PEAT_SEP, PEAT_EOS, PEAT_FIRST_SYMBOL };

/* Questions evaluated per length, and in one batch, at most. */
enum { PEAT_QUESTIONS_MAX = 256, PEAT_QUESTIONS_BATCH = 64 };

/* Streams of the validation and of the test questions, of which each length has its own: these plus
 * the length. The same in every cell and seed. */
#define PEAT_QUESTIONS_STREAM      UINT64_C(0x5345515f4556414c)
#define PEAT_QUESTIONS_TEST_STREAM UINT64_C(0x5345515f54455354)

/* A question draws its shape with indices from here on, and its tokens with lower ones. */
#define PEAT_SHAPE_DRAWS (INT64_C(1) << 31)

typedef enum peat_answer_kind { PEAT_SPOKEN = 0, PEAT_NAMED = 1 } peat_answer_kind;

/* The member `length` of a task's config, which must be its first. */
typedef struct peat_lengths {
    int64_t min_len, max_len;
} peat_lengths;

/* The parameter rows of that member. preset_: default of min_len; least_: lower bound of both;
 * fits_: the longest length that fits, in words or as a formula. */
#define PEAT_LENGTH_ROWS(config_, preset_, least_, fits_)                                          \
    {"min_len", PEAT_INT,  offsetof(config_, length.min_len), (preset_), (least_), 1 << 20, NULL,  \
     NULL,      "symbols", "shortest sequence trained",       0},                                  \
    {                                                                                              \
        "max_len", PEAT_INT, offsetof(config_, length.max_len), 0, (least_), 1 << 20, NULL,        \
            "the longest that fits train.seq_len, " fits_, "symbols", "longest sequence trained",  \
            PEAT_AUTO                                                                              \
    }

/* One question and its answer. */
typedef struct peat_question {
    const peat_host *host;
    const void *config;
    uint64_t stream, first; /* its draws are first, first + 1, ... of stream               */
    int64_t n;              /* its length n in symbols                                     */
    int64_t longest;        /* in training the largest possible n                          */
    int64_t number, of; /* in evaluation its number, from 0, among the `of` questions of its length;
                         * in training `of` is 0 */
    int64_t n_asked, n_answer;
    int32_t *asked;  /* [n_asked] between BOS and SEP  */
    int32_t *answer; /* [n_answer], without EOS        */
    int32_t *own;    /* [n_asked] ids of the task's own stream, all 0; NULL: it has none       */
} peat_question;

/*
 *   check  [setup] refuses parameters that contradict each other. NULL: accepts all.
 *   ids    [any] the number of ids besides those of the frame.
 *   least  [any] the shortest possible length. NULL: 1.
 *   size   [any] sets n_asked and n_answer to their maximum for length n; both grow with n.
 *   shape  [any] sets n_asked and n_answer of this question, at most those of size, from draws
 *          PEAT_SHAPE_DRAWS and up or, in evaluation, from number and of. NULL: as size says.
 *          Questions of one shape should follow each other: a batch has one shape.
 *   fill   [any] writes asked, answer and, unless it is NULL, own: ids from PEAT_FIRST_SYMBOL on
 *          (in an answer also EOS), in own from 0.
 *   stream_ids [any] the number of ids of the stream.
 */
typedef struct peat_sequence {
    peat_answer_kind kind;
    peat_status (*check)(peat_setup *s, const void *config);
    int64_t (*ids)(const void *config);
    int64_t (*least)(const void *config);
    void (*size)(const void *config, int64_t n, int64_t *n_asked, int64_t *n_answer);
    void (*shape)(peat_question *q);
    void (*fill)(peat_question *q);
    const char *stream; /* the name of a stream of the task's own, which fill writes; NULL: no
                         * stream; the stream is 0 at the frame and in the answer */
    int64_t (*stream_ids)(const void *config);
} peat_sequence;

/* The state that setup keeps for batches. */
typedef struct peat_sequence_self {
    int64_t max_len;
    int64_t questions[PEAT_MAX_LENGTHS]; /* number of questions evaluated, of validation and of
                                          * test */
    int64_t length[PEAT_MAX_LENGTHS];
    bool classes;                    /* answers are classes of rows */
    bool apart;                      /* questions are read by an encoder, separate from the
                                      * decoder */
    int64_t S[PEAT_MAX_LENGTHS + 1]; /* with `apart`: tokens of the sources that are evaluated;
                                      * the last entry: in training */
} peat_sequence_self;

/* ---- sizes that many tasks have ---- */

/* Size of a task with n symbols in the question and as many in the answer. */
static inline void peat_size_equal(const void *config, int64_t n, int64_t *n_asked,
                                   int64_t *n_answer)
{
    (void)config;
    *n_asked = *n_answer = n;
}

/* Size of a task with n symbols in the question and one in the answer. */
static inline void peat_size_one(const void *config, int64_t n, int64_t *n_asked, int64_t *n_answer)
{
    (void)config;
    *n_asked = n;
    *n_answer = 1;
}

/* ---- draws ---- */

/* A whole number in [0, below) from the question's index-th draw. */
static inline int64_t peat_question_draw(const peat_question *q, int64_t index, int64_t below)
{
    return peat_below(q->host, q->stream, q->first + (uint64_t)index, below);
}

/* One of `symbols` ids from the question's index-th draw. */
static inline int32_t peat_question_symbol(const peat_question *q, int64_t index, int64_t symbols)
{
    return PEAT_FIRST_SYMBOL + (int32_t)peat_question_draw(q, index, symbols);
}

/* Which of two forms the question has: 0 or 1. In evaluation the two forms follow each other with
 * otherwise the same draws, so a model that cannot distinguish them is right exactly half the time.
 */
static inline int64_t peat_question_side(peat_question *q, int64_t index)
{
    if (q->of == 0)
        return peat_question_draw(q, index, 2);
    q->first = (uint64_t)(q->number / 2) << 32;
    return q->number % 2;
}

/* One of n kinds: drawn in training; in evaluation one after another, each equally often. */
static inline int64_t peat_question_kind(const peat_question *q, int64_t index, int64_t n)
{
    return q->of > 0 ? q->number * n / q->of : peat_question_draw(q, index, n);
}

/* ---- metrics ---- */

static inline double peat_exact_match(const peat_sums *s)
{
    return (double)s->matches / (double)s->sequences;
}

static inline double peat_token_accuracy(const peat_sums *s)
{
    return (double)s->generated_correct / (double)s->generated;
}

static inline double peat_answer_loss(const peat_sums *s)
{
    return s->nll / (double)s->targets;
}

/* The share of targets predicted right, given true inputs; with head CLASS, the share of rows. */
static inline double peat_accuracy(const peat_sums *s)
{
    return (double)s->correct / (double)s->targets;
}

static const peat_metric peat_sequence_metrics[] = {
    {"exact_match", true, "part of the sequences whose generated answer is right to the last token",
     peat_exact_match},
    {"token_accuracy", true, "part of the generated tokens that are right", peat_token_accuracy},
    {"loss", false, "nats per token of the answer, given the right tokens before",
     peat_answer_loss},
    {NULL, false, NULL, NULL},
};

/* ---- rows ---- */

/* The number of tokens that the model is fed: the whole row except its last target. Where questions
 * are apart, the tokens that the decoder is fed. */
static inline int64_t peat_row_fed(const peat_sequence *s, bool apart, int64_t n_asked,
                                   int64_t n_answer)
{
    int64_t spoken = s->kind == PEAT_SPOKEN ? n_answer : 0;
    return apart ? 1 + spoken : n_asked + 2 + spoken;
}

/* The most tokens that the model is fed for length n. */
static inline int64_t peat_length_fed(const peat_sequence *s, bool apart, const void *config,
                                      int64_t n)
{
    int64_t n_asked = 0, n_answer = 0;
    s->size(config, n, &n_asked, &n_answer);
    return peat_row_fed(s, apart, n_asked, n_answer);
}

/* The number of tokens in a row of length n, its last target included; `apart`: of the
 * longer side. */
static inline int64_t peat_length_taken(const peat_sequence *s, bool apart, const void *config,
                                        int64_t n)
{
    int64_t n_asked = 0, n_answer = 0;
    s->size(config, n, &n_asked, &n_answer);
    int64_t taken = peat_row_fed(s, apart, n_asked, n_answer) + 1;
    return apart && n_asked + 1 > taken ? n_asked + 1 : taken;
}

static inline void peat_question_shape(const peat_sequence *s, peat_question *q)
{
    s->size(q->config, q->n, &q->n_asked, &q->n_answer);
    if (s->shape)
        s->shape(q);
}

/* Fills row b: the frame, the task's tokens, targets from SEP on, and padding up to batch->T. */
static inline void peat_question_row(const peat_sequence *s, peat_question *q, peat_batch *batch,
                                     int64_t b)
{
    int32_t *token = batch->token + b * batch->T, *target = batch->target + b * batch->T;
    uint8_t *special = batch->special + b * batch->T, *pad = batch->pad + b * batch->T;
    int64_t sep = q->n_asked + 1, fed = peat_row_fed(s, false, q->n_asked, q->n_answer);
    q->asked = token + 1;
    q->answer = target + sep;
    q->own = s->stream ? batch->stream_id[0] + b * batch->T + 1 : NULL;
    s->fill(q);
    token[0] = PEAT_BOS;
    token[sep] = PEAT_SEP;
    special[0] = special[sep] = 1;
    for (int64_t i = sep + 1; i < fed; i++)
        token[i] = target[i - 1];
    if (s->kind == PEAT_SPOKEN)
        target[fed - 1] = PEAT_EOS;
    for (int64_t i = fed; i < batch->T; i++) {
        token[i] = PEAT_EOS;
        pad[i] = 1;
    }
    batch->has_pad = batch->has_pad || fed < batch->T;
    batch->has_special = true;
    batch->units += fed - sep;
}

/* Fills row b of two sides: the source with padding up to batch->S, the answer from BOS on. */
static inline void peat_question_sides(const peat_sequence *s, peat_question *q, peat_batch *batch,
                                       int64_t b)
{
    int32_t *token = batch->token + b * batch->T, *target = batch->target + b * batch->T;
    int32_t *source = batch->source + b * batch->S;
    int64_t fed = peat_row_fed(s, true, q->n_asked, q->n_answer);
    q->asked = source;
    q->answer = target;
    s->fill(q);
    source[q->n_asked] = PEAT_SEP;
    batch->source_special[b * batch->S + q->n_asked] = 1;
    for (int64_t i = q->n_asked + 1; i < batch->S; i++) {
        source[i] = PEAT_EOS;
        batch->source_pad[b * batch->S + i] = 1;
    }
    token[0] = PEAT_BOS;
    batch->special[b * batch->T] = 1;
    for (int64_t i = 1; i < batch->T; i++) {
        token[i] = i < fed ? target[i - 1] : PEAT_EOS;
        batch->pad[b * batch->T + i] = i >= fed;
    }
    if (s->kind == PEAT_SPOKEN)
        target[fed - 1] = PEAT_EOS;
    batch->has_pad = batch->has_pad || fed < batch->T;
    batch->has_special = true;
    batch->units += fed;
}

/* Sets the answer of row b, which is at SEP, as the row's class. */
static inline void peat_question_class(const peat_question *q, peat_batch *batch, int64_t b)
{
    int32_t *target = batch->target + b * batch->T + q->n_asked + 1;
    batch->label[b] = *target - PEAT_FIRST_SYMBOL;
    *target = -1;
    batch->prompt = batch->answer = 0;
}

/* Fills row b as the architecture and its head need it. */
static inline void peat_question_fill(const peat_sequence *s, const peat_sequence_self *t,
                                      peat_question *q, peat_batch *batch, int64_t b)
{
    if (t->apart)
        peat_question_sides(s, q, batch, b);
    else
        peat_question_row(s, q, batch, b);
    if (t->classes)
        peat_question_class(q, batch, b);
}

/* Row b draws from index b 2^32 on: first its length, then its question. */
static inline peat_status peat_sequence_train(const peat_sequence *s, const peat_host *host,
                                              const void *config, const void *self, uint64_t stream,
                                              peat_batch *batch)
{
    const peat_lengths *length = (const peat_lengths *)config;
    const peat_sequence_self *t = (const peat_sequence_self *)self;
    batch->T = peat_length_fed(s, t->apart, config, t->max_len);
    if (t->apart)
        batch->S = t->S[PEAT_MAX_LENGTHS];
    for (int64_t b = 0; b < batch->B; b++) {
        uint64_t first = (uint64_t)b << 32;
        int64_t kinds = t->max_len - length->min_len + 1;
        int64_t n = length->min_len + peat_below(host, stream, first, kinds);
        peat_question q = {host, config, stream, first + 1, n,    t->max_len, b,
                           0,    0,      0,      NULL,      NULL, NULL};
        peat_question_shape(s, &q);
        peat_question_fill(s, t, &q, batch, b);
        batch->sequence[b] = b;
    }
    return PEAT_OK;
}

/* ---- evaluation ---- */

static inline peat_question peat_question_evaluated(const peat_sequence *s, const peat_host *host,
                                                    const void *config, uint64_t key, int64_t n,
                                                    int64_t number, int64_t of)
{
    peat_question q = {
        host, config, key + (uint64_t)n, (uint64_t)number << 32, n, 0, number, of, 0, 0, NULL,
        NULL, NULL};
    peat_question_shape(s, &q);
    return q;
}

/* The number of questions from `first` on that have one shape, at most `room`. */
static inline int64_t peat_same_shape(const peat_sequence *s, const peat_host *host,
                                      const void *config, uint64_t key, int64_t n, int64_t first,
                                      int64_t of, int64_t room)
{
    int64_t most = of - first < room ? of - first : room, i = 1;
    if (!s->shape || most < 1)
        return most < 0 ? 0 : most;
    peat_question one = peat_question_evaluated(s, host, config, key, n, first, of);
    for (; i < most; i++) {
        peat_question q = peat_question_evaluated(s, host, config, key, n, first + i, of);
        if (q.n_asked != one.n_asked || q.n_answer != one.n_answer)
            break;
    }
    return i;
}

/* Evaluation batch `index` of a part whose streams begin at `key`. */
static inline peat_status peat_sequence_part(const peat_sequence *s, const peat_host *host,
                                             const void *config, const void *self, uint64_t key,
                                             int64_t which, int64_t index, peat_batch *batch)
{
    const peat_sequence_self *t = (const peat_sequence_self *)self;
    int64_t n = t->length[which], of = t->questions[which], first = 0;
    int64_t room = PEAT_QUESTIONS_BATCH;
    if (batch->B < room)
        room = batch->B;
    batch->B = peat_same_shape(s, host, config, key, n, 0, of, room);
    for (int64_t i = 0; i < index && batch->B > 0; i++) {
        first += batch->B;
        batch->B = peat_same_shape(s, host, config, key, n, first, of, room);
    }
    for (int64_t b = 0; b < batch->B; b++) {
        peat_question q = peat_question_evaluated(s, host, config, key, n, first + b, of);
        batch->T = peat_row_fed(s, t->apart, q.n_asked, q.n_answer);
        if (t->apart)
            batch->S = t->S[which];
        batch->prompt = t->apart ? 1 : q.n_asked + 2;
        batch->answer = q.n_answer + (s->kind == PEAT_SPOKEN ? 1 : 0);
        peat_question_fill(s, t, &q, batch, b);
        batch->sequence[b] = (int64_t)((uint64_t)n << 32 | (uint64_t)(first + b));
    }
    return PEAT_OK;
}

static inline peat_status peat_sequence_evaluate(const peat_sequence *s, const peat_host *host,
                                                 const void *config, const void *self,
                                                 int64_t which, int64_t index, peat_batch *batch)
{
    return peat_sequence_part(s, host, config, self, PEAT_QUESTIONS_STREAM, which, index, batch);
}

static inline peat_status peat_sequence_test(const peat_sequence *s, const peat_host *host,
                                             const void *config, const void *self, int64_t which,
                                             int64_t index, peat_batch *batch)
{
    return peat_sequence_part(s, host, config, self, PEAT_QUESTIONS_TEST_STREAM, which, index,
                              batch);
}

/* ---- set-up ---- */

/* [setup] Sets plan->n_eval and returns as many lengths: those of the plan, given by eval.lengths,
 * or preset [n]. NULL: too many lengths, already refused. Tasks of other kinds may use it too. */
static inline const int64_t *peat_evaluated(peat_setup *setup, peat_task_plan *plan,
                                            const int64_t *preset, int64_t n)
{
    plan->n_eval = plan->n_lengths ? plan->n_lengths : n;
    if (plan->n_eval <= PEAT_MAX_LENGTHS)
        return plan->n_lengths ? plan->length : preset;
    peat_refuse(setup, "%lld eval.lengths are given, and %d are the most", (long long)plan->n_eval,
                PEAT_MAX_LENGTHS);
    return NULL;
}

static inline peat_status peat_sequence_plan_lengths(const peat_sequence *s, peat_setup *setup,
                                                     const void *config, int64_t least,
                                                     peat_sequence_self *t, peat_task_plan *plan)
{
    const int64_t preset[] = {t->max_len, 2 * t->max_len};
    const int64_t *length = peat_evaluated(setup, plan, preset, 2);
    if (!length)
        return PEAT_REFUSED;
    for (int64_t i = 0; i < plan->n_eval; i++) {
        int64_t n = length[i], n_asked = 0, n_answer = 0;
        if (n < least || n > 1 << 20)
            return peat_refuse(setup,
                               "eval.lengths has %lld, and a sequence has at least %lld symbol%s "
                               "and at most %d",
                               (long long)n, (long long)least, least == 1 ? "" : "s", 1 << 20);
        s->size(config, n, &n_asked, &n_answer);
        int64_t wanted = plan->eval_tokens / (n_answer + (s->kind == PEAT_SPOKEN ? 1 : 0));
        if (plan->eval_tokens == 0 || wanted > PEAT_QUESTIONS_MAX)
            wanted = PEAT_QUESTIONS_MAX;
        t->questions[i] = wanted < 1 ? 1 : wanted;
        t->length[i] = plan->eval[i] = n;
        plan->eval_T[i] = peat_row_fed(s, t->apart, n_asked, n_answer);
        t->S[i] = n_asked + 1;
        if (t->apart && t->S[i] > plan->source_T)
            plan->source_T = t->S[i];
        plan->eval_sequences[i] = t->questions[i];
        if (PEAT_HAS(plan, test))
            plan->test_sequences[i] = t->questions[i];
        plan->eval_prompt[i] = t->apart ? 1 : n_asked + 2;
        plan->eval_answer[i] = t->classes ? 0 : n_answer + (s->kind == PEAT_SPOKEN ? 1 : 0);
    }
    return PEAT_OK;
}

/* The largest length whose whole row, its last target included, fits seq_len; 0: even the shortest
 * does not fit. */
static inline int64_t peat_longest_that_fits(const peat_sequence *s, bool apart, const void *config,
                                             int64_t seq_len)
{
    int64_t low = 0, high = seq_len;
    while (low < high) {
        int64_t n = (low + high + 1) / 2;
        if (peat_length_taken(s, apart, config, n) <= seq_len)
            low = n;
        else
            high = n - 1;
    }
    return low;
}

static inline peat_status peat_sequence_setup(const peat_sequence *s, peat_setup *setup,
                                              const void *config, peat_task_plan *plan, void **self)
{
    const peat_lengths *k = (const peat_lengths *)config;
    peat_status status = s->check ? s->check(setup, config) : PEAT_OK;
    if (status != PEAT_OK)
        return status;
    int64_t least = s->least ? s->least(config) : 1;
    bool apart = plan->arch == PEAT_SEQ2SEQ;
    int64_t fits = peat_longest_that_fits(s, apart, config, plan->seq_len);
    int64_t n = k->max_len ? k->max_len : fits;
    peat_sequence_self *t = (peat_sequence_self *)peat_alloc(setup, sizeof(*t));
    if (!t)
        return PEAT_NOMEM;
    if (s->kind == PEAT_SPOKEN && plan->arch == PEAT_ENCODER)
        return peat_refuse(setup, "the answer is generated token by token, which needs "
                                  "model.arch: decoder");
    if (fits < least)
        return peat_refuse(setup, "train.seq_len must be at least %lld for %lld symbol%s, not %lld",
                           (long long)peat_length_taken(s, apart, config, least), (long long)least,
                           least == 1 ? "" : "s", (long long)plan->seq_len);
    if (k->min_len < least)
        return peat_refuse(setup,
                           "min_len = %lld is too short: a sequence has at least %lld symbols",
                           (long long)k->min_len, (long long)least);
    if (n > fits)
        return peat_refuse(setup,
                           "sequences of max_len = %lld symbols take %lld tokens, but "
                           "train.seq_len is %lld; lower max_len to %lld or raise train.seq_len",
                           (long long)n, (long long)peat_length_taken(s, apart, config, n),
                           (long long)plan->seq_len, (long long)fits);
    if (k->min_len > n)
        return peat_refuse(setup, "min_len = %lld is more than max_len = %lld",
                           (long long)k->min_len, (long long)n);
    t->max_len = n;
    t->apart = apart;
    if (apart) {
        int64_t n_asked = 0, n_answer = 0;
        s->size(config, n, &n_asked, &n_answer);
        plan->source_T = t->S[PEAT_MAX_LENGTHS] = n_asked + 1;
    }
    peat_resolved(setup, "max_len", (double)n);
    plan->vocab = PEAT_FIRST_SYMBOL + s->ids(config);
    t->classes = s->kind == PEAT_NAMED && !apart && PEAT_HAS(plan, head);
    if (t->classes)
        plan->n_class = s->ids(config);
    plan->length_unit = "symbols";
    if (s->stream && plan->size < sizeof(*plan))
        return peat_refuse(setup, "this host has no streams of tasks");
    if (s->stream) {
        plan->n_stream = 1;
        plan->stream[0].name = s->stream;
        plan->stream[0].ids = s->stream_ids(config);
    }
    *self = t;
    return peat_sequence_plan_lengths(s, setup, config, least, t, plan);
}

/* Defines the plugin around a `static const peat_sequence`. */
#define PEAT_DEFINE_SEQUENCE(sequence_, config_, rows_, id_, version_, summary_, citation_)        \
    static peat_status sequence_setup_(peat_setup *s, const void *config, peat_task_plan *plan,    \
                                       void **self)                                                \
    {                                                                                              \
        return peat_sequence_setup(&(sequence_), s, config, plan, self);                           \
    }                                                                                              \
    static peat_status sequence_train_(const peat_host *h, const void *config, const void *self,   \
                                       uint64_t stream, peat_batch *batch)                         \
    {                                                                                              \
        return peat_sequence_train(&(sequence_), h, config, self, stream, batch);                  \
    }                                                                                              \
    static peat_status sequence_evaluate_(const peat_host *h, const void *config,                  \
                                          const void *self, int64_t which, int64_t index,          \
                                          peat_batch *batch)                                       \
    {                                                                                              \
        return peat_sequence_evaluate(&(sequence_), h, config, self, which, index, batch);         \
    }                                                                                              \
    static peat_status sequence_test_(const peat_host *h, const void *config, const void *self,    \
                                      int64_t which, int64_t index, peat_batch *batch)             \
    {                                                                                              \
        return peat_sequence_test(&(sequence_), h, config, self, which, index, batch);             \
    }                                                                                              \
    static const peat_task sequence_task_ = {sizeof(peat_task),                                    \
                                             0,                                                    \
                                             peat_sequence_metrics,                                \
                                             sequence_setup_,                                      \
                                             sequence_train_,                                      \
                                             sequence_evaluate_,                                   \
                                             NULL,                                                 \
                                             NULL,                                                 \
                                             sequence_test_};                                      \
    PEAT_DEFINE(PEAT_TASK, sequence_task_, config_, rows_, id_, version_, summary_, "MIT",         \
                citation_)

#ifdef __cplusplus
}
#endif
#endif
