/* SPDX-License-Identifier: MIT */
/* The task 'text_pair': two stretches with segments, masks, and the question of their order. */
#define TASK "text_pair"
#include "../data_tests.h"

enum { BYTES = 4000, SEQ_LEN = 23, K = 10 };
enum { SEP = 1, ASK = 2, BYTE = 3, MASK = BYTE + 256, IN_ORDER, SWAPPED };

static const peat_task_plan encoder = {.arch = PEAT_ENCODER, .seq_len = SEQ_LEN};

/* Byte i tells where it stands: i = 97 a + b. */
static void make_text(unsigned char *byte)
{
    for (int i = 0; i < BYTES; i++)
        byte[i] = (unsigned char)(1 + (i % 97 + i / 97) % 200);
}

static void open_pairs(struct harness *h, unsigned char *byte, const char *more,
                       const peat_task_plan *plan)
{
    make_text(byte);
    data_must_open(h, byte, BYTES, more, plan);
}

/* The token at this place before masking. */
static int32_t truth(const peat_batch *b, int64_t at)
{
    return b->target[at] >= 0 ? b->target[at] : b->token[at];
}

/* The row is two stretches of the text from `start` on in the order that its target says. */
static void assert_row(const peat_batch *b, int64_t row, const unsigned char *byte, int64_t start)
{
    int64_t at = row * b->T, k = (b->T - 3) / 2;
    bool swapped = b->target[at + b->T - 1] == SWAPPED, right = true;
    ck_assert(swapped || b->target[at + b->T - 1] == IN_ORDER);
    ck_assert(b->token[at] == 0 && b->token[at + 1 + k] == SEP && b->token[at + b->T - 1] == ASK);
    for (int64_t i = 0; i < b->T; i++)
        right = right && b->segment[at + i] == (i > k + 1);
    for (int64_t i = 0; i < k; i++)
        right = right && truth(b, at + 1 + i) == BYTE + byte[start + (swapped ? k : 0) + i] &&
                truth(b, at + 2 + k + i) == BYTE + byte[start + (swapped ? 0 : k) + i];
    ck_assert(right);
}

TEST(training_rows_are_neighbours_in_either_order)
{
    static unsigned char byte[BYTES];
    struct harness h;
    struct batch b;
    int64_t swapped = 0, masked = 0;
    open_pairs(&h, byte, "", &encoder);
    ck_assert_int_eq(h.task.plan.n_segment, 2);
    ck_assert_int_eq(h.task.plan.vocab, SWAPPED + 1);
    batch_init(&b, &h.arena, 100, SEQ_LEN);
    for (int64_t step = 1; step <= 20; step++) {
        harness_train(&h, 1, step, &b);
        ck_assert(b.b.has_segment);
        for (int64_t i = 0; i < 100; i++) {
            ck_assert_int_le(b.b.sequence[i] + 2 * K, BYTES - BYTES / 10);
            assert_row(&b.b, i, byte, b.b.sequence[i]);
            swapped += b.b.target[i * SEQ_LEN + SEQ_LEN - 1] == SWAPPED;
        }
        masked += b.b.units;
    }
    ck_assert_msg(swapped > 900 && swapped < 1100, "%d of 2000", (int)swapped);
    ck_assert_msg(masked > 5700 && masked < 6300, "%d of 40000", (int)masked);
    harness_close(&h);
}

TEST(every_pair_is_evaluated_in_both_orders)
{
    static unsigned char byte[BYTES];
    struct harness h;
    struct batch b;
    int64_t n = 0;
    open_pairs(&h, byte, "", &encoder);
    batch_init(&b, &h.arena, 16, SEQ_LEN);
    for (int64_t index = 0;; index++) {
        harness_eval(&h, 0, index, &b);
        if (b.b.B == 0)
            break;
        ck_assert(b.b.prompt == SEQ_LEN && b.b.answer == 1);
        for (int64_t i = 0; i < b.b.B; i++, n++) {
            assert_row(&b.b, i, byte, BYTES - BYTES / 10 + n / 2 * 2 * K);
            ck_assert_int_eq(b.b.target[i * SEQ_LEN + SEQ_LEN - 1], n % 2 ? SWAPPED : IN_ORDER);
        }
    }
    ck_assert_int_eq(n, 2 * (BYTES / 10 / (2 * K)));
    harness_close(&h);
}

TEST(what_does_not_fit_is_refused)
{
    static unsigned char byte[BYTES];
    peat_task_plan plan = encoder;
    make_text(byte);
    plan.arch = PEAT_DECODER;
    data_refused(byte, BYTES, "", &plan, "masked text needs model.arch: encoder");
    plan.arch = PEAT_ENCODER;
    plan.seq_len = 4;
    data_refused(
        byte, BYTES, "", &plan,
        "the training text has 3600 bytes, and train.seq_len = 4 makes two stretches of 0");
    plan.seq_len = SEQ_LEN;
    data_refused(byte, 20, "", &plan, "the training text has 18 bytes");
    data_refused(byte, 100, "", &plan,
                 "the validation text has 10 bytes, and two stretches of 10 need 20");
    plan.n_lengths = 1;
    plan.length = (int64_t[]){4};
    data_refused(byte, BYTES, "", &plan, "eval.lengths has 4, and two stretches take at least 5");
    data_refused("abc\0def", 7, "", &plan, "is not text: byte 3 is 0");
    data_refused("", 0, "", &encoder, "the training text has 0 bytes");
}

TEST(plan_shows_the_first_tokens)
{
    char text[BYTES];
    memset(text, '-', sizeof(text));
    memcpy(text, "To be, or not to be", 19);
    data_begin_with(text, sizeof(text), "", &encoder, "'To be, or not to'");
    memcpy(text, "d\xc3\xa9j\xc3\xa0 vu and again", 19);
    data_begin_with(text, sizeof(text), "", &encoder,
                    "103 198 172 109 198 163 35 121 120 35 100 113 103 35 100 106");
}

TEST(metrics_tell_order_from_masks)
{
    static unsigned char byte[BYTES];
    struct harness h;
    const peat_sums sums = {.nll = 30, .targets = 60, .correct = 31, .sequences = 10, .matches = 6};
    open_pairs(&h, byte, "", &encoder);
    const peat_metric *m = h.task.hooks->metric;
    ck_assert_double_eq(m[0].value(&sums), 0.6);
    ck_assert_double_eq(m[1].value(&sums), 0.5);
    ck_assert_double_eq(m[2].value(&sums), 0.5);
    harness_close(&h);
}

/* The class of a row is what its stretches say, and bytes are masked beside it. */
TEST(both_heads_have_labels_and_masks)
{
    static unsigned char byte[BYTES];
    const peat_task_plan both = {.arch = PEAT_ENCODER, .seq_len = SEQ_LEN, .head = PEAT_HEAD_BOTH};
    const peat_sums sums = {.nll = 30,
                            .targets = 60,
                            .correct = 30,
                            .sequences = 10,
                            .matches = 6,
                            .class_rows = 10,
                            .class_nll = 7};
    struct harness h;
    struct batch b;
    int64_t masked = 0;
    open_pairs(&h, byte, "", &both);
    ck_assert(h.task.plan.tells_both && h.task.plan.n_class == 2);
    ck_assert_int_eq(h.task.plan.eval_answer[0], 0);
    task_batch_init(&h.task, &b, &h.arena, 100, SEQ_LEN);
    harness_train(&h, 1, 1, &b);
    for (int64_t i = 0; i < 100; i++) {
        int64_t at = i * b.b.T;
        bool swapped = b.b.label[i] == 1;
        ck_assert(b.b.target[at + b.b.T - 1] == -1 && (swapped || b.b.label[i] == 0));
        for (int64_t k = 0; k < K; k++) {
            masked += b.b.target[at + 1 + k] >= 0;
            ck_assert_int_eq(truth(&b.b, at + 1 + k),
                             BYTE + byte[b.b.sequence[i] + (swapped ? K : 0) + k]);
        }
    }
    ck_assert(masked > 100 && masked < 200);
    const peat_metric *m = h.task.hooks->metric;
    ck_assert_double_eq(m[0].value(&sums), 0.6);
    ck_assert_double_eq(m[1].value(&sums), 0.5);
    ck_assert_double_eq_tol(m[2].value(&sums), 0.5 + 0.7, 1e-12);
    harness_close(&h);
}

/* One row in which no byte is drawn: tokens have a loss nevertheless. */
TEST(a_batch_of_both_heads_always_has_a_target)
{
    static unsigned char byte[BYTES];
    const peat_task_plan both = {.arch = PEAT_ENCODER, .seq_len = 5, .head = PEAT_HEAD_BOTH};
    struct harness h;
    struct batch b;
    open_pairs(&h, byte, "", &both);
    task_batch_init(&h.task, &b, &h.arena, 1, 5);
    for (int64_t step = 1; step <= 50; step++) {
        harness_train(&h, 1, step, &b);
        ck_assert(b.b.target[1] >= 0 || b.b.target[3] >= 0);
    }
    harness_close(&h);
}

PLUGIN_TESTS(TASK)
