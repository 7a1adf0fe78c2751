/* SPDX-License-Identifier: MIT */
/*
 * question_tests.h: what holds for every task made of peat/sequence.h.
 *
 * The includer defines before it:
 *   TASK            its name
 *   NAMED           whether one token is the answer, asked for at SEP
 *   IDS             its ids with default parameters, without those of the frame
 *   LEAST, MIN_LEN  the shortest sequence there is, and the shortest trained by default
 *   answer_of(x, n, y)  an independent maker of answers: from x [n], the tokens between BOS and
 *                   SEP, to y; returns their number. It fails the test where x is not a question.
 *   asked_by(n)     the largest number of tokens in a question of length n
 *   answered_by(n)  the largest number of tokens in its answer, without EOS
 */
#pragma once

#include "support/plugin_harness.h"
#include "support/support.h"

enum { BOS, SEP, EOS, FIRST };
enum { QUESTION_SEQ_LEN = 48, QUESTION_ROWS = 32, ANSWER_ROOM = 1 << 12 };

/* Tokens fed of a row. */
static int64_t fed(int64_t n_asked, int64_t n_answer)
{
    return n_asked + 2 + (NAMED ? 0 : n_answer);
}

static int64_t longest_by_default(void)
{
    int64_t n = 0;
    while (fed(asked_by(n + 1), answered_by(n + 1)) + 1 <= QUESTION_SEQ_LEN)
        n++;
    return n;
}

static peat_status open_task(struct harness *h, const char *json, int64_t seq_len,
                             int64_t n_lengths, const int64_t *length, int64_t eval_tokens)
{
    peat_task_plan plan = {.arch = PEAT_DECODER,
                           .seq_len = seq_len,
                           .n_lengths = n_lengths,
                           .length = length,
                           .eval_tokens = eval_tokens,
                           .seed = 1};
    return harness_task(h, TASK, json, &plan);
}

static void open_or_fail(struct harness *h, const char *json, int64_t seq_len, int64_t eval_tokens)
{
    peat_status status = open_task(h, json, seq_len, 0, NULL, eval_tokens);
    ck_assert_msg(status == PEAT_OK, "%s", h->err.text);
}

/* One row: x between BOS and SEP, y the targets without EOS. */
struct row {
    const int32_t *x, *y;
    int64_t n, n_y;
};

/* Asserts that the frame, the marks and the padding are right; few assertions, for each costs a
 * message to the process that watches. */
static struct row row_of(const peat_batch *b, int64_t row)
{
    const int32_t *token = b->token + row * b->T, *target = b->target + row * b->T;
    const uint8_t *special = b->special + row * b->T, *pad = b->pad + row * b->T;
    struct row r = {.x = token + 1};
    bool right = token[0] == BOS;
    for (; right && token[r.n + 1] != SEP; r.n++)
        right = token[r.n + 1] >= FIRST && r.n + 2 < b->T;
    ck_assert_msg(right, "row %d is not BOS, a question, SEP", (int)row);
    r.y = target + r.n + 1;
    while (r.n + 1 + r.n_y < b->T && r.y[r.n_y] >= 0)
        r.n_y++;
    if (!NAMED)
        ck_assert_int_eq(r.y[--r.n_y], EOS);
    for (int64_t i = 0; i < b->T; i++) {
        bool asked = i > r.n && i <= r.n + (NAMED ? r.n_y : r.n_y + 1);
        right = right && (target[i] >= 0) == asked && special[i] == (i == 0 || i == r.n + 1) &&
                pad[i] == (i >= fed(r.n, r.n_y)) &&
                (pad[i] || i <= r.n + 1 || token[i] == target[i - 1]);
    }
    ck_assert_msg(right, "row %d has wrong targets, marks or padding", (int)row);
    return r;
}

static struct row assert_row(const peat_batch *b, int64_t row)
{
    static int32_t y[ANSWER_ROOM];
    struct row r = row_of(b, row);
    int64_t n = answer_of(r.x, r.n, y);
    ck_assert_int_eq(n, r.n_y);
    ck_assert_mem_eq(r.y, y, (size_t)n * sizeof(*y));
    return r;
}

/* Calls see for `rows` training rows. */
static void see_rows(struct harness *h, int64_t seq_len, int64_t rows,
                     void (*see)(const struct row *r, void *ctx), void *ctx)
{
    struct batch b;
    batch_init(&b, &h->arena, QUESTION_ROWS, seq_len);
    for (int64_t step = 1; rows > 0; step++) {
        harness_train(h, 1, step, &b);
        for (int64_t i = 0; i < b.b.B && rows > 0; i++, rows--) {
            struct row r = assert_row(&b.b, i);
            see(&r, ctx);
        }
    }
}

/* Calls see for every row evaluated at length number `which`; returns their number. */
static int64_t see_evaluated(struct harness *h, int64_t which, int64_t room,
                             void (*see)(const struct row *r, void *ctx), void *ctx)
{
    struct batch b;
    const peat_task_plan *plan = &h->task.plan;
    int64_t n = 0;
    batch_init(&b, &h->arena, room, plan->eval_T[which]);
    for (int64_t index = 0;; index++) {
        harness_eval(h, which, index, &b);
        if (b.b.B == 0)
            return n;
        for (int64_t i = 0; i < b.b.B; i++, n++) {
            struct row r = assert_row(&b.b, i);
            ck_assert(b.b.T == fed(r.n, r.n_y) && b.b.T <= plan->eval_T[which] &&
                      b.b.prompt == r.n + 2 && b.b.answer == (NAMED ? 1 : r.n_y + 1) &&
                      b.b.sequence[i] == (plan->eval[which] << 32) + n);
            if (see)
                see(&r, ctx);
        }
    }
}

static void see_asked(const struct row *r, void *ctx)
{
    bool *seen = ctx;
    ck_assert_int_le(r->n, asked_by(longest_by_default()));
    seen[r->n] = true;
}

TEST(training_rows_ask_for_the_right_answer)
{
    struct harness h;
    bool seen[QUESTION_SEQ_LEN] = {false};
    open_or_fail(&h, NULL, QUESTION_SEQ_LEN, 0);
    ck_assert_int_eq(h.task.plan.vocab, FIRST + IDS);
    ck_assert_str_eq(h.task.plan.length_unit, "symbols");
    see_rows(&h, QUESTION_SEQ_LEN, 2000, see_asked, seen);
    for (int64_t n = MIN_LEN; n <= longest_by_default(); n++)
        ck_assert_msg(seen[asked_by(n)], "length %d", (int)n);
    harness_close(&h);
}

TEST(units_are_the_targets_of_a_batch)
{
    struct harness h;
    struct batch b;
    int64_t targets = 0;
    open_or_fail(&h, NULL, QUESTION_SEQ_LEN, 0);
    batch_init(&b, &h.arena, 8, QUESTION_SEQ_LEN);
    harness_train(&h, 1, 1, &b);
    for (int64_t i = 0; i < b.b.B * b.b.T; i++)
        targets += b.b.target[i] >= 0;
    ck_assert_int_eq(b.b.units, targets);
    harness_close(&h);
}

TEST(a_batch_is_a_function_of_seed_and_step)
{
    struct harness h;
    struct batch a, b;
    open_or_fail(&h, NULL, QUESTION_SEQ_LEN, 0);
    batch_init(&a, &h.arena, 8, QUESTION_SEQ_LEN);
    batch_init(&b, &h.arena, 8, QUESTION_SEQ_LEN);
    harness_train(&h, 5, 7, &a);
    harness_train(&h, 5, 7, &b);
    size_t bytes = (size_t)(a.b.B * a.b.T) * sizeof(int32_t);
    ck_assert_mem_eq(a.b.token, b.b.token, bytes);
    ck_assert_mem_eq(a.b.target, b.b.target, bytes);
    harness_train(&h, 5, 8, &b);
    ck_assert_int_ne(memcmp(a.b.token, b.b.token, bytes), 0);
    harness_train(&h, 6, 7, &b);
    ck_assert_int_ne(memcmp(a.b.token, b.b.token, bytes), 0);
    harness_close(&h);
}

/* A row is the same in a batch of 2 and of 8. */
TEST(rows_do_not_depend_on_the_batch_size)
{
    struct harness h;
    struct batch a, b;
    open_or_fail(&h, NULL, QUESTION_SEQ_LEN, 0);
    batch_init(&a, &h.arena, 8, QUESTION_SEQ_LEN);
    batch_init(&b, &h.arena, 2, QUESTION_SEQ_LEN);
    harness_train(&h, 5, 7, &a);
    harness_train(&h, 5, 7, &b);
    ck_assert_mem_eq(a.b.token, b.b.token, (size_t)(2 * a.b.T) * sizeof(int32_t));
    harness_close(&h);
}

TEST(evaluation_is_generated_at_one_and_two_times_the_length)
{
    struct harness h;
    int64_t longest = longest_by_default();
    open_or_fail(&h, NULL, QUESTION_SEQ_LEN, 200);
    const peat_task_plan *plan = &h.task.plan;
    ck_assert_int_eq(plan->n_eval, 2);
    for (int64_t which = 0; which < 2; which++) {
        int64_t n = plan->eval[which], y = answered_by(n);
        ck_assert_int_eq(n, (which + 1) * longest);
        ck_assert_int_eq(plan->eval_T[which], fed(asked_by(n), y));
        ck_assert_int_eq(see_evaluated(&h, which, 16, NULL, NULL), 200 / (NAMED ? y : y + 1));
    }
    harness_close(&h);
}

static void see_tokens(const struct row *r, void *ctx)
{
    struct strbuf *all = ctx;
    strbuf_add_bytes(all, (const char *)r->x, (size_t)r->n * sizeof(*r->x));
    strbuf_add_bytes(all, (const char *)r->y, (size_t)r->n_y * sizeof(*r->y));
}

TEST(evaluation_data_is_the_same_for_every_seed_and_batch)
{
    struct harness h, other;
    struct strbuf one, two;
    peat_task_plan plan = {.arch = PEAT_DECODER, .seq_len = QUESTION_SEQ_LEN, .seed = 99};
    open_or_fail(&h, NULL, QUESTION_SEQ_LEN, 0);
    ck_assert_int_eq(harness_task(&other, TASK, NULL, &plan), PEAT_OK);
    for (int64_t which = 0; which < 2; which++) {
        strbuf_init(&one);
        strbuf_init(&two);
        ck_assert_int_eq(see_evaluated(&h, which, 64, see_tokens, &one), 256);
        ck_assert_int_eq(see_evaluated(&other, which, 7, see_tokens, &two), 256);
        ck_assert_uint_eq(one.n, two.n);
        ck_assert_mem_eq(one.text, two.text, one.n);
        strbuf_release(&one);
        strbuf_release(&two);
    }
    harness_close(&h);
    harness_close(&other);
}

TEST(the_number_of_evaluated_sequences_is_bounded)
{
    const int64_t length[] = {10, 40};
    struct harness h;
    for (int64_t tokens = 1; tokens <= 1000000; tokens *= 1000) {
        ck_assert_int_eq(open_task(&h, NULL, QUESTION_SEQ_LEN, 2, length, tokens), PEAT_OK);
        for (int64_t which = 0; which < 2; which++) {
            int64_t n = tokens / (answered_by(length[which]) + (NAMED ? 0 : 1));
            n = n < 1 ? 1 : n > 256 ? 256 : n;
            ck_assert_int_eq(see_evaluated(&h, which, 64, NULL, NULL), n);
        }
        harness_close(&h);
    }
}

TEST(metrics_divide_what_they_say)
{
    struct harness h;
    const peat_sums sums = {.nll = 6,
                            .targets = 12,
                            .sequences = 8,
                            .matches = 2,
                            .generated = 40,
                            .generated_correct = 30};
    open_or_fail(&h, NULL, QUESTION_SEQ_LEN, 0);
    const peat_metric *m = h.task.hooks->metric;
    ck_assert_str_eq(m[0].name, "exact_match");
    ck_assert_double_eq(m[0].value(&sums), 0.25);
    ck_assert_str_eq(m[1].name, "token_accuracy");
    ck_assert_double_eq(m[1].value(&sums), 0.75);
    ck_assert_str_eq(m[2].name, "loss");
    ck_assert_double_eq(m[2].value(&sums), 0.5);
    ck_assert(m[0].goal_max && m[1].goal_max && !m[2].goal_max);
    ck_assert_ptr_null(m[3].name);
    harness_close(&h);
}

static void assert_refused(const char *json, int64_t seq_len, const char *text)
{
    struct harness h;
    ck_assert_int_eq(open_task(&h, json, seq_len, 0, NULL, 0), PEAT_REFUSED);
    ck_assert_str_eq(h.err.text, text);
    harness_close(&h);
}

TEST(a_row_that_does_not_fit_is_refused)
{
    char text[256];
    int64_t longest = longest_by_default(), n = longest + 1;
    snprintf(text, sizeof(text),
             "sequences of max_len = %d symbols take %d tokens, but train.seq_len is %d; lower "
             "max_len to %d or raise train.seq_len",
             (int)n, (int)fed(asked_by(n), answered_by(n)) + 1, QUESTION_SEQ_LEN, (int)longest);
    char json[64];
    snprintf(json, sizeof(json), "{\"max_len\": %d}", (int)n);
    assert_refused(json, QUESTION_SEQ_LEN, text);
    snprintf(json, sizeof(json), "{\"min_len\": 9, \"max_len\": 8}");
    assert_refused(json, QUESTION_SEQ_LEN, "min_len = 9 is more than max_len = 8");
}

TEST(what_no_sequence_fits_is_refused)
{
    char text[256];
    struct harness h;
    const char *symbols = LEAST == 1 ? "symbol" : "symbols";
    const int64_t length = LEAST - 1;
    int room = (int)fed(asked_by(LEAST), answered_by(LEAST)) + 1;
    snprintf(text, sizeof(text), "train.seq_len must be at least %d for %d %s, not %d", room, LEAST,
             symbols, room - 1);
    assert_refused(NULL, room - 1, text);
    snprintf(text, sizeof(text),
             "eval.lengths has %d, and a sequence has at least %d %s and at most 1048576",
             (int)length, LEAST, symbols);
    ck_assert_int_eq(open_task(&h, NULL, QUESTION_SEQ_LEN, 1, &length, 0), PEAT_REFUSED);
    ck_assert_str_eq(h.err.text, text);
    harness_close(&h);
}

TEST(an_encoder_takes_what_is_asked_at_one_place)
{
    struct harness h;
    peat_task_plan plan = {.arch = PEAT_ENCODER, .seq_len = QUESTION_SEQ_LEN};
    ck_assert_int_eq(harness_task(&h, TASK, NULL, &plan), NAMED ? PEAT_OK : PEAT_REFUSED);
    if (!NAMED)
        ck_assert_str_eq(h.err.text, "the answer is generated token by token, which needs "
                                     "model.arch: decoder");
    harness_close(&h);
}

/* Row i of two sides: question SEP, and BOS answer. */
static void assert_sides(const peat_batch *b, int64_t row)
{
    static int32_t y[ANSWER_ROOM];
    const int32_t *x = b->source + row * b->S, *target = b->target + row * b->T;
    const int32_t *token = b->token + row * b->T;
    int64_t n = 0;
    bool right = token[0] == BOS && b->special[row * b->T] == 1;
    while (n < b->S && x[n] != SEP)
        n++;
    for (int64_t i = 0; i < b->S; i++)
        right = right && b->source_pad[row * b->S + i] == (i > n) &&
                b->source_special[row * b->S + i] == (i == n);
    int64_t n_y = answer_of(x, n, y), fed_sides = NAMED ? 1 : n_y + 1;
    for (int64_t i = 0; i < b->T; i++)
        right = right && b->pad[row * b->T + i] == (i >= fed_sides) &&
                target[i] == (i >= fed_sides ? -1
                              : i < n_y      ? y[i]
                                             : EOS) &&
                (i == 0 || i >= fed_sides || token[i] == target[i - 1]);
    ck_assert_msg(right, "row %d has wrong sides, marks or padding", (int)row);
}

TEST(an_encoder_beside_a_decoder_reads_the_question)
{
    struct harness h;
    struct batch b;
    peat_task_plan plan = {.arch = PEAT_SEQ2SEQ, .seq_len = QUESTION_SEQ_LEN};
    ck_assert_msg(harness_task(&h, TASK, NULL, &plan) == PEAT_OK, "%s", h.err.text);
    int64_t T = h.task.plan.eval_T[1];
    ck_assert_int_eq(task_batch_init(&h.task, &b, &h.arena, 8, QUESTION_SEQ_LEN), PEAT_OK);
    for (int64_t step = 1; step < 4; step++) {
        harness_train(&h, 1, step, &b);
        ck_assert(b.b.S <= QUESTION_SEQ_LEN && b.b.T <= QUESTION_SEQ_LEN);
        for (int64_t i = 0; i < b.b.B; i++)
            assert_sides(&b.b, i);
    }
    ck_assert_int_eq(task_batch_init(&h.task, &b, &h.arena, 8, T), PEAT_OK);
    for (int64_t which = 0; which < 2; which++) {
        harness_eval(&h, which, 0, &b);
        ck_assert(b.b.prompt == 1 && b.b.answer == b.b.T && b.b.T <= h.task.plan.eval_T[which]);
        for (int64_t i = 0; i < b.b.B; i++)
            assert_sides(&b.b, i);
    }
    harness_close(&h);
}
