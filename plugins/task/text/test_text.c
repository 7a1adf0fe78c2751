/* SPDX-License-Identifier: MIT */
/* The task 'text': windows over files, masks, and evaluation on the same targets at every length.
 */
#define TASK "text"
#include <math.h>

#include "../data_tests.h"
#include "base/rng.h"

enum { TEXT_BYTES = 20000, SEQ_LEN = 16 };

/* TEXT_BYTES bytes from a fixed stream; no byte of the last tenth is below 128, all others are. */
static void make_text(unsigned char *byte)
{
    for (int64_t i = 0; i < TEXT_BYTES; i++)
        byte[i] = (unsigned char)(1 + rng_bits(7, (uint64_t)i) % 127 +
                                  (i >= TEXT_BYTES - TEXT_BYTES / 10 ? 128 : 0));
}

static void open_text(struct harness *h, peat_arch arch, int64_t n_lengths, const int64_t *length,
                      int64_t eval_tokens)
{
    static unsigned char byte[TEXT_BYTES];
    peat_task_plan plan = {.arch = arch,
                           .seq_len = SEQ_LEN,
                           .n_lengths = n_lengths,
                           .length = length,
                           .eval_tokens = eval_tokens};
    make_text(byte);
    data_must_open(h, byte, sizeof(byte), "", &plan);
}

TEST(a_causal_row_is_a_window_of_the_training_text)
{
    static unsigned char byte[TEXT_BYTES];
    struct harness h;
    struct batch b;
    make_text(byte);
    open_text(&h, PEAT_DECODER, 0, NULL, 0);
    ck_assert_int_eq(h.task.plan.vocab, 256);
    batch_init(&b, &h.arena, 64, SEQ_LEN);
    for (int64_t step = 1; step <= 20; step++) {
        harness_train(&h, 1, step, &b);
        ck_assert_int_eq(b.b.B, 64);
        ck_assert_int_eq(b.b.T, SEQ_LEN);
        ck_assert_int_eq(b.b.units, 64 * SEQ_LEN);
        for (int64_t i = 0; i < 64 * SEQ_LEN; i++) {
            int64_t place = b.b.sequence[i / SEQ_LEN] + i % SEQ_LEN;
            ck_assert_int_lt(place + 1, TEXT_BYTES - TEXT_BYTES / 10);
            ck_assert_int_eq(b.b.token[i], byte[place]);
            ck_assert_int_eq(b.b.target[i], byte[place + 1]);
        }
    }
    harness_close(&h);
}

/* A quarter of the last tenth is the test part; each part is scored from its second token on. */
TEST(the_test_part_is_the_end_of_what_is_held_out)
{
    enum { HELD_OUT = TEXT_BYTES / 10, TESTED = HELD_OUT / 4, LENGTH = 50 };
    static unsigned char byte[TEXT_BYTES];
    struct harness h;
    struct batch b;
    peat_task_plan plan = {
        .seq_len = SEQ_LEN, .n_lengths = 1, .length = (int64_t[]){LENGTH}, .test = 0.25};
    make_text(byte);
    data_must_open(&h, byte, sizeof(byte), "", &plan);
    ck_assert_int_eq(h.task.plan.eval_sequences[0], (HELD_OUT - TESTED - 1) / LENGTH);
    ck_assert_int_eq(h.task.plan.test_sequences[0], (TESTED - 1) / LENGTH);
    batch_init(&b, &h.arena, 64, LENGTH);
    for (int test = 0; test < 2; test++) {
        const unsigned char *from = byte + TEXT_BYTES - (test ? TESTED : HELD_OUT);
        (test ? harness_test : harness_eval)(&h, 0, 0, &b);
        ck_assert_int_eq(b.b.B,
                         test ? h.task.plan.test_sequences[0] : h.task.plan.eval_sequences[0]);
        for (int64_t i = 0; i < b.b.B * LENGTH; i++) {
            ck_assert_int_eq(b.b.token[i], from[i]);
            ck_assert_int_eq(b.b.target[i], from[i + 1]);
        }
    }
    harness_close(&h);
}

TEST(a_test_part_that_is_too_short_is_refused)
{
    static unsigned char byte[TEXT_BYTES];
    peat_task_plan plan = {
        .seq_len = SEQ_LEN, .n_lengths = 1, .length = (int64_t[]){64}, .test = 0.03};
    make_text(byte);
    data_refused(byte, sizeof(byte), "", &plan,
                 "the test text has 60 tokens, and one window of the longest length needs 65");
}

/* 12 training tokens have two windows of 10 + 1: both are drawn. */
TEST(every_window_of_the_training_text_can_be_drawn)
{
    struct harness h;
    struct batch b;
    peat_task_plan plan = {
        .arch = PEAT_DECODER, .seq_len = 10, .n_lengths = 1, .length = (int64_t[]){1}};
    data_must_open(&h, "abcdefghijklmn", 14, ", \"valid\": 0.2", &plan);
    batch_init(&b, &h.arena, 32, 10);
    harness_train(&h, 1, 1, &b);
    int64_t seen[2] = {0};
    for (int64_t row = 0; row < 32; row++)
        seen[b.b.sequence[row]]++;
    ck_assert(seen[0] > 0 && seen[1] > 0);
    harness_close(&h);
}

TEST(a_batch_is_a_function_of_seed_and_step_and_a_row_of_its_number)
{
    for (int arch = PEAT_DECODER; arch <= PEAT_ENCODER; arch++) {
        struct harness h;
        struct batch a, b, few;
        size_t bytes = 8 * SEQ_LEN * sizeof(int32_t);
        open_text(&h, (peat_arch)arch, 0, NULL, 0);
        batch_init(&a, &h.arena, 8, SEQ_LEN);
        batch_init(&b, &h.arena, 8, SEQ_LEN);
        batch_init(&few, &h.arena, 2, SEQ_LEN);
        harness_train(&h, 5, 7, &a);
        harness_train(&h, 5, 7, &b);
        harness_train(&h, 5, 7, &few);
        ck_assert_mem_eq(a.b.token, b.b.token, bytes);
        ck_assert_mem_eq(a.b.target, b.b.target, bytes);
        ck_assert_mem_eq(a.b.token, few.b.token, bytes / 4);
        harness_train(&h, 5, 8, &b);
        ck_assert_int_ne(memcmp(a.b.token, b.b.token, bytes), 0);
        harness_train(&h, 6, 7, &b);
        ck_assert_int_ne(memcmp(a.b.token, b.b.token, bytes), 0);
        harness_close(&h);
    }
}

/* Targets and inputs of a whole evaluation, one after another. */
struct scored {
    int64_t n, units;
    int32_t target[TEXT_BYTES], token[TEXT_BYTES];
};

static void score(struct harness *h, int64_t which, int64_t rows, struct scored *all)
{
    struct batch b;
    int64_t T = h->task.plan.eval_T[which];
    ck_assert_int_eq(batch_init(&b, &h->arena, rows, T), PEAT_OK);
    all->n = all->units = 0;
    for (int64_t index = 0;; index++) {
        harness_eval(h, which, index, &b);
        if (b.b.B == 0)
            return;
        ck_assert_int_eq(b.b.T, T);
        int64_t n = b.b.B * T;
        memcpy(all->target + all->n, b.b.target, (size_t)n * sizeof(int32_t));
        memcpy(all->token + all->n, b.b.token, (size_t)n * sizeof(int32_t));
        all->n += n;
        all->units += b.b.units;
    }
}

TEST(every_length_has_the_same_targets)
{
    static struct scored first, other;
    const int64_t length[] = {16, 64, 24, 1};
    for (int arch = PEAT_DECODER; arch <= PEAT_ENCODER; arch++) {
        struct harness h;
        open_text(&h, (peat_arch)arch, 4, length, 0);
        ck_assert_int_eq(h.task.plan.n_eval, 4);
        score(&h, 0, 64, &first);
        ck_assert_int_eq(first.n, 2000 / 192 * 192);
        for (int64_t which = 1; which < 4; which++) {
            score(&h, which, which == 1 ? 3 : 64, &other);
            ck_assert_int_eq(other.n, first.n);
            ck_assert_int_eq(other.units, first.units);
            ck_assert_mem_eq(other.target, first.target, (size_t)first.n * sizeof(int32_t));
            ck_assert_mem_eq(other.token, first.token, (size_t)first.n * sizeof(int32_t));
        }
        harness_close(&h);
    }
}

TEST(causal_evaluation_scores_the_validation_text_from_its_second_token)
{
    static struct scored all;
    static unsigned char byte[TEXT_BYTES];
    struct harness h;
    make_text(byte);
    open_text(&h, PEAT_DECODER, 0, NULL, 500);
    ck_assert_int_eq(h.task.plan.n_eval, 2);
    ck_assert_int_eq(h.task.plan.eval[0], SEQ_LEN);
    ck_assert_int_eq(h.task.plan.eval[1], 2 * SEQ_LEN);
    score(&h, 0, 64, &all);
    ck_assert_int_eq(all.n, 480);
    for (int64_t i = 0; i < all.n; i++)
        ck_assert_int_eq(all.target[i], byte[TEXT_BYTES - TEXT_BYTES / 10 + 1 + i]);
    harness_close(&h);
}

TEST(one_stretch_of_all_lengths_is_scored_even_beyond_the_tokens_asked)
{
    static struct scored all;
    const int64_t length[] = {100, 150};
    struct harness h;
    open_text(&h, PEAT_DECODER, 2, length, 10);
    score(&h, 1, 8, &all);
    ck_assert_int_eq(all.n, 300);
    harness_close(&h);
}

/* 15 % targets; of them 80 % MASK, 10 % random and 10 % kept; nothing else changes. */
static void assert_proportions(const int32_t *token, const int32_t *target, const int32_t *truth,
                               int64_t n)
{
    double targets = 0, masked = 0, kept = 0;
    for (int64_t i = 0; i < n; i++) {
        if (target[i] < 0) {
            ck_assert_int_eq(token[i], truth[i]);
            continue;
        }
        ck_assert_int_eq(target[i], truth[i]);
        targets++;
        masked += token[i] == 256;
        kept += token[i] == target[i];
    }
    ck_assert_double_eq_tol(targets / (double)n, 0.15, 0.01);
    ck_assert_double_eq_tol(masked / targets, 0.8, 0.02);
    ck_assert_double_eq_tol(kept / targets, 0.1 + 0.1 / 256, 0.02);
}

TEST(masks_have_their_proportions_in_training)
{
    enum { ROWS = 2000 };
    static unsigned char byte[TEXT_BYTES];
    static int32_t truth[ROWS * SEQ_LEN];
    struct harness h;
    struct batch b;
    make_text(byte);
    open_text(&h, PEAT_ENCODER, 0, NULL, 0);
    ck_assert_int_eq(h.task.plan.vocab, 257);
    batch_init(&b, &h.arena, ROWS, SEQ_LEN);
    harness_train(&h, 1, 1, &b);
    int64_t targets = 0;
    for (int64_t i = 0; i < ROWS * SEQ_LEN; i++) {
        truth[i] = byte[b.b.sequence[i / SEQ_LEN] + i % SEQ_LEN];
        targets += b.b.target[i] >= 0;
    }
    assert_proportions(b.b.token, b.b.target, truth, ROWS * SEQ_LEN);
    ck_assert_int_eq(b.b.units, targets);
    harness_close(&h);
}

TEST(masks_have_their_proportions_in_evaluation)
{
    static struct scored all;
    static int32_t truth[TEXT_BYTES];
    static unsigned char byte[TEXT_BYTES];
    struct harness h;
    peat_task_plan plan = {.arch = PEAT_ENCODER, .seq_len = SEQ_LEN};
    make_text(byte);
    data_must_open(&h, byte, sizeof(byte), ", \"valid\": 0.9", &plan);
    score(&h, 0, 64, &all);
    for (int64_t i = 0; i < all.n; i++)
        truth[i] = byte[TEXT_BYTES / 10 + i];
    assert_proportions(all.token, all.target, truth, all.n);
    harness_close(&h);
}

TEST(a_masked_batch_always_has_a_target)
{
    struct harness h;
    struct batch b;
    peat_task_plan plan = {.arch = PEAT_ENCODER, .seq_len = 2};
    data_must_open(&h, "abcdefgh", 8, ", \"valid\": 0.5", &plan);
    batch_init(&b, &h.arena, 1, 2);
    for (int64_t step = 1; step < 50; step++) {
        harness_train(&h, 1, step, &b);
        ck_assert(b.b.target[0] >= 0 || b.b.target[1] >= 0);
        ck_assert_int_ge(b.b.units, 1);
    }
    harness_close(&h);
}

/* "aé€😀" twenty times: 4 characters of 1, 2, 3 and 4 bytes, numbered by code point. */
TEST(characters_are_numbered_in_order_and_count_their_bytes)
{
    enum { TIMES = 20 };
    char text[TIMES * 10 + 1] = "";
    struct harness h;
    struct batch b;
    peat_task_plan plan = {.arch = PEAT_DECODER, .seq_len = 4};
    for (int i = 0; i < TIMES; i++)
        strcat(text, "\xf0\x9f\x98\x80\xe2\x82\xac\xc3\xa9"
                     "a");
    data_must_open(&h, text, strlen(text), ", \"unit\": \"characters\"", &plan);
    ck_assert_int_eq(h.task.plan.vocab, 4);
    batch_init(&b, &h.arena, 8, 4);
    harness_train(&h, 1, 1, &b);
    ck_assert_int_eq(b.b.units, 8 * 10);
    for (int64_t i = 0; i < 32; i++) {
        int64_t place = b.b.sequence[i / 4] + i % 4;
        ck_assert_int_eq(b.b.token[i], 3 - place % 4);
    }
    harness_close(&h);
}

static void assert_token_text(const struct harness *h, int32_t id, const char *expected)
{
    const char *text = task_token_text(&h->task, id, (struct arena *)(uintptr_t)&h->arena);
    if (expected)
        ck_assert_str_eq(text, expected);
    else
        ck_assert_ptr_null(text);
}

/* Bytes beyond ASCII are not characters by themselves; characters are whole, whatever their bytes.
 */
TEST(a_token_has_the_text_of_its_character)
{
    const char text[] = "a\n\u00e9 \u20ac \U0001f600 and so on, and so on, and so on, "
                        "and so on, and so on, and so on, and so on, and so on, and so on, and";
    peat_task_plan plan = {.arch = PEAT_DECODER, .seq_len = 4};
    struct harness h;
    data_must_open(&h, text, sizeof(text) - 1, "", &plan);
    assert_token_text(&h, 'a', "a");
    assert_token_text(&h, '\n', "\n");
    assert_token_text(&h, 0xc3, NULL);
    assert_token_text(&h, 256, NULL);
    assert_token_text(&h, -1, NULL);
    harness_close(&h);
    data_must_open(&h, text, sizeof(text) - 1, ", \"unit\": \"characters\"", &plan);
    assert_token_text(&h, 0, "\n");
    assert_token_text(&h, (int32_t)h.task.plan.vocab - 1, "\U0001f600");
    assert_token_text(&h, (int32_t)h.task.plan.vocab - 2, "\u20ac");
    assert_token_text(&h, (int32_t)h.task.plan.vocab - 3, "\u00e9");
    assert_token_text(&h, (int32_t)h.task.plan.vocab, NULL);
    harness_close(&h);
}

TEST(what_is_not_utf8_is_refused_with_its_place)
{
    static const struct {
        const char *text;
        size_t n;
        int at;
    } bad[] = {
        {"abc\xff", 4, 3},
        {"ab\xc3", 3, 2},
        {"\x80", 1, 0},
        {"a\xc0\x80", 3, 1},
        {"a\xed\xa0\x80", 4, 1},
        {"a\xed\xbf\xbf", 4, 1},
        {"\xf4\x90\x80\x80", 4, 0},
        {"\xe2\x82z", 3, 0},
        {"\xe0\x80\xaf", 3, 0},
        {"\xf8\x88\x80\x80\x80", 5, 0},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct harness h;
        char tail[64];
        peat_task_plan plan = {.arch = PEAT_DECODER, .seq_len = 2};
        ck_assert_int_eq(data_open(&h, bad[i].text, bad[i].n, ", \"unit\": \"characters\"", &plan),
                         PEAT_REFUSED);
        snprintf(tail, sizeof(tail), "' is not UTF-8 at byte %d; unit: bytes takes any file",
                 bad[i].at);
        ck_assert_msg(strstr(h.err.text, tail), "%s", h.err.text);
        harness_close(&h);
    }
}

TEST(files_are_read_one_after_another)
{
    static const char *const unit[] = {"bytes", "characters"};
    for (size_t i = 0; i < 2; i++) {
        struct harness h;
        struct batch b;
        char json[256];
        char *one = data_write("abcd", 4), *two = data_write("efgh", 4);
        peat_task_plan plan = {
            .arch = PEAT_DECODER, .seq_len = 3, .n_lengths = 1, .length = (int64_t[]){1}};
        snprintf(json, sizeof(json),
                 "{\"path\": [\"%s\", \"%s\"], \"unit\": \"%s\", \"valid\": 0.3}", one, two,
                 unit[i]);
        peat_status status = harness_task(&h, "text", json, &plan);
        ck_assert_msg(status == PEAT_OK, "%s", h.err.text);
        batch_init(&b, &h.arena, 4, 3);
        harness_train(&h, 1, 1, &b);
        for (int64_t k = 0; k < 12; k++)
            ck_assert_int_eq(b.b.token[k], (i == 0 ? 'a' : 0) + b.b.sequence[k / 3] + k % 3);
        harness_close(&h);
        data_forget(one);
        data_forget(two);
    }
}

TEST(two_times_the_length_is_dropped_when_the_text_is_short)
{
    struct harness h;
    char text[100];
    peat_task_plan plan = {.arch = PEAT_DECODER, .seq_len = 16};
    memset(text, 'x', sizeof(text));
    data_must_open(&h, text, 100, ", \"valid\": 0.2", &plan);
    ck_assert_int_eq(h.task.plan.n_eval, 1);
    ck_assert_int_eq(h.task.plan.eval[0], 16);
    harness_close(&h);
}

/* Ten tokens are ten places to mask, but only nine to predict from one before. */
TEST(validation_text_of_just_one_window_is_enough)
{
    for (int arch = PEAT_DECODER; arch <= PEAT_ENCODER; arch++)
        for (int64_t length = 9; length <= 11; length++) {
            struct harness h;
            char hundred[100];
            peat_task_plan plan = {
                .arch = (peat_arch)arch, .seq_len = 16, .n_lengths = 1, .length = &length};
            memset(hundred, 'x', sizeof(hundred));
            bool fits = length + (arch == PEAT_DECODER) <= 10;
            ck_assert_int_eq(data_open(&h, hundred, 100, "", &plan), fits ? PEAT_OK : PEAT_REFUSED);
            harness_close(&h);
        }
}

static void assert_refused(const char *more, const peat_task_plan *plan, const char *text)
{
    struct harness h;
    char hundred[100];
    memset(hundred, 'x', sizeof(hundred));
    ck_assert_int_eq(data_open(&h, hundred, 100, more, plan), PEAT_REFUSED);
    ck_assert_str_eq(h.err.text, text);
    harness_close(&h);
}

TEST(what_can_not_be_done_is_refused)
{
    peat_task_plan plan = {.arch = PEAT_ENCODER, .seq_len = 16};
    assert_refused(", \"objective\": \"causal\"", &plan,
                   "objective: causal needs model.arch: decoder; an encoder sees the token it has "
                   "to predict");
    plan.arch = PEAT_DECODER;
    assert_refused(", \"objective\": \"masked\"", &plan,
                   "objective: masked needs model.arch: encoder; a decoder does not see what "
                   "follows the mask");
    assert_refused("", &plan,
                   "the validation text has 10 tokens, and one window of the longest length needs "
                   "17; give more text, raise valid or change eval.lengths");
    plan.n_lengths = 2;
    plan.length = (int64_t[]){3, 7};
    assert_refused("", &plan,
                   "the validation text has 10 tokens, and a stretch that windows of every length "
                   "tile needs 22; give more text, raise valid or change eval.lengths");
    plan.length = (int64_t[]){3, 0};
    assert_refused("", &plan, "eval.lengths has 0, and a window has at least 1 token");
    plan.seq_len = 90;
    assert_refused("", &plan,
                   "the training text has 90 tokens, and train.seq_len = 90 needs at least 91");
}

TEST(what_is_no_text_is_refused_whatever_the_unit)
{
    static const struct {
        const char *bytes;
        size_t n;
        const char *text;
    } bad[] = {
        {"abc\0defghijk", 12,
         "' is not text: byte 3 is 0; the task 'tokens' reads files of token ids"},
        {"\x1f\x8b\x08 3456789", 12,
         "' is packed with gzip: unpack it first; the task 'tokens' reads files of token ids"},
        {"\xfd"
         "7zXZ\0"
         "6789abcdef",
         16, "' is packed with xz: unpack it first; the task 'tokens' reads files of token ids"},
        {"\x28\xb5\x2f\xfd"
         "456789abcdef",
         16, "' is packed with zstd: unpack it first; the task 'tokens' reads files of token ids"},
        {"PK\x03\x04"
         "456789abcdef",
         16, "' is packed with zip: unpack it first; the task 'tokens' reads files of token ids"},
        {"BZh91AY&SYabcdef", 16,
         "' is packed with bzip2: unpack it first; the task 'tokens' reads files of token ids"},
        {"\xff\xfe"
         "a\0b\0c\0",
         8, "' is text in UTF-16: convert it to UTF-8"},
    };
    static const char *const more[] = {"", ", \"unit\": \"characters\""};
    for (size_t i = 0; i < 2 * sizeof(bad) / sizeof(*bad); i++) {
        struct harness h;
        peat_task_plan plan = {.arch = PEAT_DECODER, .seq_len = 2};
        ck_assert_int_eq(data_open(&h, bad[i / 2].bytes, bad[i / 2].n, more[i % 2], &plan),
                         PEAT_REFUSED);
        ck_assert_msg(strstr(h.err.text, bad[i / 2].text), "%s", h.err.text);
        harness_close(&h);
    }
}

TEST(text_that_begins_like_a_packed_file_is_text)
{
    struct harness h;
    peat_task_plan plan = {
        .arch = PEAT_DECODER, .seq_len = 2, .n_lengths = 1, .length = (int64_t[]){1}};
    data_must_open(&h, "BZh9 is no packed file", 22, "", &plan);
    harness_close(&h);
}

TEST(bits_per_byte_divide_by_bytes_and_loss_by_targets)
{
    struct harness h;
    const peat_sums sums = {.nll = 20 * log(2), .targets = 10, .correct = 4, .units = 40};
    open_text(&h, PEAT_DECODER, 0, NULL, 0);
    const peat_metric *m = h.task.hooks->metric;
    ck_assert_str_eq(m[0].name, "bpb");
    ck_assert_double_eq_tol(m[0].value(&sums), 0.5, 1e-15);
    ck_assert_str_eq(m[1].name, "loss");
    ck_assert_double_eq_tol(m[1].value(&sums), 2 * log(2), 1e-15);
    ck_assert_str_eq(m[2].name, "accuracy");
    ck_assert_double_eq_tol(m[2].value(&sums), 0.4, 1e-15);
    ck_assert(!m[0].goal_max && !m[1].goal_max && m[2].goal_max);
    harness_close(&h);
}

PLUGIN_TESTS("text")
