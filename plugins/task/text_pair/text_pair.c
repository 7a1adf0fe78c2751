/* SPDX-License-Identifier: MIT */
/*
 * text_pair.c: masked bytes in two stretches of text, and which of them came first. After Devlin et
 * al. 2019, section 3.1, with the order of stretches as Lan et al. 2019 ask for it.
 *
 *   BOS a SEP b ASK    k bytes each; segment 0 up to SEP, segment 1 from b on
 *
 * With model.head: class the order is the class of the row, and no byte is masked; with model.head:
 * both it is the class, and bytes are masked: then ASK is a separator that nothing is asked at.
 */
#include "../framed_bytes.h"
#include "../task_file.h"

enum { SEP = PEAT_SEP, ASK = PEAT_EOS, BYTE = PEAT_FIRST_SYMBOL, MASK = BYTE + 256, IN_ORDER };
enum { SWAPPED = IN_ORDER + 1, VOCAB, FRAME = 3 };

/* Keys of the masks in evaluation, the same for every cell and seed. */
#define MASK_STREAM      UINT64_C(0x504149525f4d4153)
#define MASK_TEST_STREAM UINT64_C(0x504149525f545354)

struct config {
    const char *path;
    double valid;
};

static const peat_param rows[] = {
    {"path", PEAT_STRING, offsetof(struct config, path), .doc = "text file",
     .flags = PEAT_REQUIRED | PEAT_PATH},
    {"valid", PEAT_REAL, offsetof(struct config, valid), .preset = 0.1, .min = 0, .max = 0.9,
     .doc = "part of the text, from its end, held out for validation and test",
     .flags = PEAT_OPEN_MIN},
    PEAT_PARAM_END,
};

struct text_pair {
    const unsigned char *byte;
    int64_t train, valid, test; /* bytes of the three parts, which follow each other */
    int64_t k;                  /* bytes of a stretch in training                    */
    int64_t stretch[PEAT_MAX_LENGTHS], rows[PEAT_MAX_LENGTHS], tested[PEAT_MAX_LENGTHS];
    bool masks, classes; /* bytes are masked; the order is the class of the row */
};

/* ---- planning ---- */

/* *n: rows of T tokens that `bytes` of held-out text, called `name`, give. */
static peat_status count_rows(peat_setup *s, const peat_task_plan *plan, const char *name,
                              int64_t bytes, int64_t T, int64_t *n)
{
    int64_t k = (T - FRAME) / 2, pairs = bytes / (2 * k);
    int64_t wanted = plan->eval_tokens ? plan->eval_tokens / (2 * T) : pairs;
    *n = 2 * (wanted < 1 ? 1 : wanted < pairs ? wanted : pairs);
    return pairs >= 1 ? PEAT_OK
                      : peat_refuse(s,
                                    "the %s text has %" PRId64
                                    " bytes, and two stretches of %" PRId64 " need %" PRId64
                                    "; give more text, raise valid or change eval.lengths",
                                    name, bytes, k, 2 * k);
}

static peat_status plan_length(peat_setup *s, struct text_pair *t, peat_task_plan *plan, int64_t i,
                               int64_t T)
{
    int64_t k = (T - FRAME) / 2;
    if (k < 1)
        return peat_refuse(s, "eval.lengths has %" PRId64 ", and two stretches take at least %d", T,
                           FRAME + 2);
    peat_status status = count_rows(s, plan, "validation", t->valid, T, &t->rows[i]);
    if (status == PEAT_OK && plan->test > 0)
        status = count_rows(s, plan, "test", t->test, T, &t->tested[i]);
    t->stretch[i] = k;
    plan->eval[i] = T;
    plan->eval_T[i] = plan->eval_prompt[i] = 2 * k + FRAME;
    plan->eval_sequences[i] = t->rows[i];
    plan->test_sequences[i] = t->tested[i];
    plan->eval_answer[i] = !t->classes;
    return status;
}

static peat_status plan_lengths(peat_setup *s, struct text_pair *t, peat_task_plan *plan)
{
    const int64_t *length = peat_evaluated(s, plan, &plan->seq_len, 1);
    if (!length)
        return PEAT_REFUSED;
    peat_status status = PEAT_OK;
    for (int64_t i = 0; status == PEAT_OK && i < plan->n_eval; i++)
        status = plan_length(s, t, plan, i, length[i]);
    return status;
}

static peat_status setup(peat_setup *s, const void *config, peat_task_plan *plan, void **self)
{
    const struct config *k = config;
    struct task_file file;
    struct text_pair *t = peat_alloc(s, sizeof(*t));
    if (!t)
        return PEAT_NOMEM;
    *self = t;
    if (plan->arch != PEAT_ENCODER)
        return peat_refuse(s, "masked text needs model.arch: encoder; a decoder does not see what "
                              "follows the mask");
    peat_status status = task_file_read_text(s, k->path, &file);
    if (status != PEAT_OK)
        return status;
    t->byte = file.byte;
    int64_t held_out = (int64_t)(k->valid * (double)file.n);
    t->test = (int64_t)(plan->test * (double)held_out);
    t->valid = held_out - t->test;
    t->train = file.n - held_out;
    t->k = (plan->seq_len - FRAME) / 2;
    if (t->k < 1 || t->train < 2 * t->k)
        return peat_refuse(s,
                           "the training text has %" PRId64 " bytes, and train.seq_len = %" PRId64
                           " makes two stretches of %" PRId64,
                           t->train, plan->seq_len, t->k < 0 ? 0 : t->k);
    t->classes = plan->head != PEAT_HEAD_TOKENS;
    t->masks = plan->head != PEAT_HEAD_CLASS;
    plan->n_class = t->classes ? 2 : 0;
    plan->tells_both = t->classes && t->masks;
    plan->vocab = VOCAB;
    plan->n_segment = 2;
    framed_bytes_show(plan, t->byte, t->train);
    plan->length_unit = "tokens";
    return plan_lengths(s, t, plan);
}

/* ---- batches ---- */

/* A byte, masked or not, by two draws: 15 % are targets, and of these 80 % show MASK, 10 % a random
 * byte, 10 % themselves. */
static void fill_place(const uint64_t draw[2], peat_batch *batch, int64_t at, int32_t id)
{
    double u = (double)(draw[0] >> 11) * 0x1p-53 / 0.15;
    batch->token[at] = id;
    if (u >= 1)
        return;
    batch->target[at] = id;
    batch->units++;
    if (u < 0.8)
        batch->token[at] = MASK;
    else if (u < 0.9)
        batch->token[at] = BYTE + (int32_t)(draw[1] >> 1 & 255);
}

/* With a head of each kind, a row without a target gets one at place `at`: its tokens would have no
 * loss. */
static void one_target(peat_batch *batch, int64_t row, int64_t at)
{
    for (int64_t i = row; i < row + batch->T; i++)
        if (batch->target[i] >= 0)
            return;
    batch->target[at] = batch->token[at];
    batch->token[at] = MASK;
    batch->units++;
}

/* Row b: the k bytes from `start` on and the k after them, or these before those; byte i of both
 * uses draws first + 2i and first + 2i + 1 wherever it stands. */
static void fill_row(const struct text_pair *t, const peat_host *h, uint64_t stream, uint64_t first,
                     int64_t k, int64_t start, bool swapped, peat_batch *batch, int64_t b)
{
    int64_t row = b * batch->T, sep = row + 1 + k, ask = sep + k + 1;
    for (int64_t i = 0; i < 2 * k; i++) {
        uint64_t at = first + 2 * (uint64_t)i;
        uint64_t draw[] = {h->draw(stream, at), h->draw(stream, at + 1)};
        bool left = (i < k) != swapped;
        int64_t place = (left ? row + 1 : sep + 1) + i % k;
        if (t->masks)
            fill_place(draw, batch, place, BYTE + t->byte[start + i]);
        else
            batch->token[place] = BYTE + t->byte[start + i];
    }
    if (t->classes && t->masks)
        one_target(batch, row, row + 1);
    batch->token[row] = PEAT_BOS;
    batch->token[sep] = SEP;
    batch->token[ask] = ASK;
    if (t->classes)
        batch->label[b] = swapped;
    else
        batch->target[ask] = swapped ? SWAPPED : IN_ORDER;
    batch->special[row] = batch->special[sep] = batch->special[ask] = 1;
    for (int64_t i = sep + 1; i <= ask; i++)
        batch->segment[i] = 1;
    batch->has_segment = batch->has_special = true;
}

static peat_status train(const peat_host *h, const void *config, const void *self, uint64_t stream,
                         peat_batch *batch)
{
    const struct text_pair *t = self;
    (void)config;
    batch->T = 2 * t->k + FRAME;
    for (int64_t b = 0; b < batch->B; b++) {
        uint64_t first = (uint64_t)b << 32;
        int64_t start = peat_below(h, stream, first, t->train - 2 * t->k + 1);
        bool swapped = peat_below(h, stream, first + 1, 2);
        fill_row(t, h, stream, first + 2, t->k, start, swapped, batch, b);
        batch->sequence[b] = start;
    }
    return PEAT_OK;
}

/* n rows of text from byte `from` on: every pair in both orders, one after the other, with the same
 * masks. */
static void fill_held_out(const struct text_pair *t, const peat_host *h, uint64_t stream,
                          int64_t from, int64_t k, int64_t n, int64_t index, peat_batch *batch)
{
    int64_t first = index * batch->B, left = n - first;
    batch->B = left < 0 ? 0 : left < batch->B ? left : batch->B;
    batch->T = 2 * k + FRAME;
    batch->prompt = t->classes ? 0 : batch->T;
    batch->answer = t->classes ? 0 : 1;
    for (int64_t b = 0; b < batch->B; b++) {
        int64_t start = (first + b) / 2 * 2 * k;
        fill_row(t, h, stream, 2 * (uint64_t)start, k, from + start, (first + b) % 2, batch, b);
        batch->sequence[b] = (int64_t)((uint64_t)k << 32 | (uint64_t)(first + b));
    }
}

static peat_status evaluate(const peat_host *h, const void *config, const void *self, int64_t which,
                            int64_t index, peat_batch *batch)
{
    const struct text_pair *t = self;
    (void)config;
    fill_held_out(t, h, MASK_STREAM, t->train, t->stretch[which], t->rows[which], index, batch);
    return PEAT_OK;
}

static peat_status test(const peat_host *h, const void *config, const void *self, int64_t which,
                        int64_t index, peat_batch *batch)
{
    const struct text_pair *t = self;
    (void)config;
    fill_held_out(t, h, MASK_TEST_STREAM, t->train + t->valid, t->stretch[which], t->tested[which],
                  index, batch);
    return PEAT_OK;
}

/* ---- metrics ---- */

/* Every row has one question of order, which is what is generated. With model.head: both it is no
 * target. */
static double masked_accuracy(const peat_sums *s)
{
    bool apart = s->class_rows > 0;
    int64_t masked = s->targets - (apart ? 0 : s->sequences);
    int64_t right = s->correct - (apart ? 0 : s->matches);
    return masked > 0 ? (double)right / (double)masked : 0;
}

/* As training has it: of model.head: both the sum of two means. */
static double loss(const peat_sums *s)
{
    return peat_answer_loss(s) + (s->class_rows > 0 ? s->class_nll / (double)s->class_rows : 0);
}

static const peat_metric metrics[] = {
    {"order_accuracy", true, "part of the pairs of which the right one is named first",
     peat_exact_match},
    {"masked_accuracy", true, "part of the masked bytes that had the highest logit",
     masked_accuracy},
    {"loss", false, "nats per target, masked bytes and order together", loss},
    {NULL, false, NULL, NULL},
};

static const peat_task task = {
    .size = sizeof(task),
    .metric = metrics,
    .setup = setup,
    .train = train,
    .evaluate = evaluate,
    .test = test,
    .token_text = framed_bytes_text,
};

PEAT_DEFINE(PEAT_TASK, task, struct config, rows, "text_pair", "1.0",
            "masked bytes in two stretches of text, and which came first", "MIT",
            "arXiv:1810.04805")
