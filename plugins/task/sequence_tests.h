/* SPDX-License-Identifier: MIT */
/*
 * sequence_tests.h: what holds for every task made of sequence_task.h.
 *
 * The includer defines `task_name` and `source`, the place in x (from 0) of symbol i of y.
 */
#ifndef TASK_SEQUENCE_TESTS_H
#define TASK_SEQUENCE_TESTS_H

#include <string.h>

#include "support/plugin_harness.h"
#include "support/support.h"

enum { BOS, SEP, EOS, FIRST };

static peat_status open_task(struct harness *h, const char *json, int64_t seq_len,
                             int64_t n_lengths, const int64_t *length, int64_t eval_tokens)
{
    peat_task_plan plan = {.arch = PEAT_DECODER,
                           .seq_len = seq_len,
                           .n_lengths = n_lengths,
                           .length = length,
                           .eval_tokens = eval_tokens,
                           .seed = 1};
    return harness_task(h, task_name, json, &plan);
}

static void open_or_fail(struct harness *h, const char *json, int64_t seq_len, int64_t eval_tokens)
{
    peat_status status = open_task(h, json, seq_len, 0, NULL, eval_tokens);
    ck_assert_msg(status == PEAT_OK, "%s", h->err.text);
}

/* Symbols between BOS and SEP of a row. */
static int64_t symbols_in(const peat_batch *b, int64_t row)
{
    int64_t n = 0;
    while (b->token[row * b->T + n + 1] != SEP)
        n++;
    return n;
}

/* The row is BOS x SEP y, its targets are y and EOS, and the rest is padding. */
static void assert_row(const peat_batch *b, int64_t row)
{
    const int32_t *token = b->token + row * b->T, *target = b->target + row * b->T;
    int64_t n = symbols_in(b, row);
    ck_assert_int_eq(token[0], BOS);
    for (int64_t i = 0; i < b->T; i++) {
        bool special = i == 0 || i == n + 1;
        ck_assert_int_eq(b->special[row * b->T + i], special);
        ck_assert_int_eq(b->pad[row * b->T + i], i >= 2 * n + 2);
        if (i <= n || i >= 2 * n + 2)
            ck_assert_int_eq(target[i], -1);
    }
    for (int64_t i = 0; i < n; i++) {
        ck_assert_int_ge(token[1 + i], FIRST);
        ck_assert_int_eq(target[n + 1 + i], token[1 + source(i, n)]);
        ck_assert_int_eq(token[n + 2 + i], target[n + 1 + i]);
    }
    ck_assert_int_eq(target[2 * n + 1], EOS);
}

START_TEST(training_rows_ask_for_the_answer)
{
    struct harness h;
    struct batch b;
    bool seen[16] = {false};
    open_or_fail(&h, NULL, 16, 0);
    ck_assert_int_eq(h.task.plan.vocab, 13);
    ck_assert_str_eq(h.task.plan.length_unit, "symbols");
    batch_init(&b, &h.arena, 32, 16);
    int64_t units = 0;
    for (int64_t step = 1; step <= 4; step++) {
        harness_train(&h, 1, step, &b);
        ck_assert_int_eq(b.b.B, 32);
        for (int64_t row = 0; row < 32; row++) {
            assert_row(&b.b, row);
            seen[symbols_in(&b.b, row)] = true;
            units += step == 4 ? symbols_in(&b.b, row) + 1 : 0;
        }
    }
    ck_assert_int_eq(b.b.units, units);
    for (int64_t n = 0; n < 16; n++)
        ck_assert_int_eq(seen[n], n >= 1 && n <= 6);
    harness_close(&h);
}
END_TEST

START_TEST(lengths_stay_within_their_bounds)
{
    struct harness h;
    struct batch b;
    open_or_fail(&h, "{\"min_len\": 4, \"max_len\": 4, \"symbols\": 2}", 64, 0);
    batch_init(&b, &h.arena, 8, 64);
    harness_train(&h, 3, 9, &b);
    ck_assert_int_eq(b.b.T, 10);
    ck_assert(!b.b.has_pad && b.b.has_special);
    for (int64_t row = 0; row < 8; row++)
        ck_assert_int_eq(symbols_in(&b.b, row), 4);
    harness_close(&h);
}
END_TEST

START_TEST(a_batch_is_a_function_of_seed_and_step)
{
    struct harness h;
    struct batch a, b;
    open_or_fail(&h, NULL, 32, 0);
    batch_init(&a, &h.arena, 8, 32);
    batch_init(&b, &h.arena, 8, 32);
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
END_TEST

/* A row is the same in a batch of 2 and of 8. */
START_TEST(rows_do_not_depend_on_the_batch_size)
{
    struct harness h;
    struct batch a, b;
    open_or_fail(&h, NULL, 32, 0);
    batch_init(&a, &h.arena, 8, 32);
    batch_init(&b, &h.arena, 2, 32);
    harness_train(&h, 5, 7, &a);
    harness_train(&h, 5, 7, &b);
    ck_assert_mem_eq(a.b.token, b.b.token, (size_t)(2 * a.b.T) * sizeof(int32_t));
    harness_close(&h);
}
END_TEST

START_TEST(evaluation_is_generated_at_one_and_two_times_the_length)
{
    struct harness h;
    struct batch b;
    open_or_fail(&h, "{\"max_len\": 5}", 16, 200);
    const peat_task_plan *plan = &h.task.plan;
    ck_assert_int_eq(plan->n_eval, 2);
    batch_init(&b, &h.arena, 16, 22);
    for (int64_t which = 0; which < 2; which++) {
        int64_t n = plan->eval[which], rows = 0;
        ck_assert_int_eq(n, which == 0 ? 5 : 10);
        ck_assert_int_eq(plan->eval_T[which], 2 * n + 2);
        for (int64_t index = 0;; index++) {
            harness_eval(&h, which, index, &b);
            if (b.b.B == 0)
                break;
            ck_assert_int_eq(b.b.T, 2 * n + 2);
            ck_assert_int_eq(b.b.prompt, n + 2);
            ck_assert_int_eq(b.b.answer, n + 1);
            for (int64_t row = 0; row < b.b.B; row++, rows++) {
                assert_row(&b.b, row);
                ck_assert_int_eq(symbols_in(&b.b, row), n);
                ck_assert_int_eq(b.b.sequence[row], (n << 32) + rows);
            }
        }
        ck_assert_int_eq(rows, 200 / (n + 1));
    }
    harness_close(&h);
}
END_TEST

START_TEST(evaluation_data_is_the_same_for_every_seed_and_batch)
{
    struct harness h, other;
    struct batch a, b;
    peat_task_plan plan = {.arch = PEAT_DECODER, .seq_len = 16, .seed = 99};
    open_or_fail(&h, NULL, 16, 0);
    ck_assert_int_eq(harness_task(&other, task_name, NULL, &plan), PEAT_OK);
    batch_init(&a, &h.arena, 64, 30);
    batch_init(&b, &other.arena, 32, 30);
    harness_eval(&h, 1, 0, &a);
    harness_eval(&other, 1, 1, &b);
    ck_assert_int_eq(a.b.B, 64);
    size_t n = (size_t)(32 * a.b.T);
    ck_assert_mem_eq(a.b.token + n, b.b.token, n * sizeof(int32_t));
    ck_assert_mem_eq(a.b.sequence + 32, b.b.sequence, 32 * sizeof(int64_t));
    harness_close(&h);
    harness_close(&other);
}
END_TEST

START_TEST(the_number_of_evaluated_sequences_is_bounded)
{
    const int64_t length[] = {3, 200};
    struct harness h;
    struct batch b;
    ck_assert_int_eq(open_task(&h, NULL, 16, 2, length, 100), PEAT_OK);
    batch_init(&b, &h.arena, 64, 402);
    harness_eval(&h, 0, 0, &b);
    ck_assert_int_eq(b.b.B, 25);
    harness_eval(&h, 1, 0, &b);
    ck_assert_int_eq(b.b.B, 1);
    harness_eval(&h, 1, 1, &b);
    ck_assert_int_eq(b.b.B, 0);
    harness_close(&h);
    open_or_fail(&h, NULL, 16, 1000000);
    batch_init(&b, &h.arena, 64, 30);
    harness_eval(&h, 0, 3, &b);
    ck_assert_int_eq(b.b.B, 64);
    harness_eval(&h, 0, 4, &b);
    ck_assert_int_eq(b.b.B, 0);
    harness_close(&h);
}
END_TEST

START_TEST(metrics_divide_what_they_say)
{
    struct harness h;
    const peat_sums sums = {.nll = 6,
                            .targets = 12,
                            .sequences = 8,
                            .matches = 2,
                            .generated = 40,
                            .generated_correct = 30};
    open_or_fail(&h, NULL, 16, 0);
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
END_TEST

static void assert_refused(const char *json, int64_t seq_len, const char *text)
{
    struct harness h;
    ck_assert_int_eq(open_task(&h, json, seq_len, 0, NULL, 0), PEAT_REFUSED);
    ck_assert_str_eq(h.err.text, text);
    harness_close(&h);
}

START_TEST(what_does_not_fit_is_refused)
{
    assert_refused("{\"max_len\": 20}", 32,
                   "sequences of max_len = 20 symbols take 43 tokens, but train.seq_len is 32; "
                   "lower max_len to 14 or raise train.seq_len");
    assert_refused("{\"min_len\": 9}", 16, "min_len = 9 is more than max_len = 6");
    assert_refused(NULL, 4, "train.seq_len must be at least 5 for one symbol, not 4");
}
END_TEST

START_TEST(an_encoder_is_refused)
{
    struct harness h;
    peat_task_plan plan = {.arch = PEAT_ENCODER, .seq_len = 16};
    ck_assert_int_eq(harness_task(&h, task_name, NULL, &plan), PEAT_REFUSED);
    ck_assert_str_eq(h.err.text, "the answer is generated token by token, which needs model.arch: "
                                 "decoder");
    harness_close(&h);
}
END_TEST

PLUGIN_TESTS(task_name, training_rows_ask_for_the_answer, lengths_stay_within_their_bounds,
             a_batch_is_a_function_of_seed_and_step, rows_do_not_depend_on_the_batch_size,
             evaluation_is_generated_at_one_and_two_times_the_length,
             evaluation_data_is_the_same_for_every_seed_and_batch,
             the_number_of_evaluated_sequences_is_bounded, metrics_divide_what_they_say,
             what_does_not_fit_is_refused, an_encoder_is_refused)

#endif
