/* SPDX-License-Identifier: MIT */
/* The task 'marked': which symbol stands where the mark is? */
#include "support/plugin_harness.h"
#include "support/support.h"

enum { BOS, SEP, EOS, FIRST, SEQ_LEN = 12, ROWS = 32, SYMBOLS = 10 };

static struct harness h;
static struct batch batch;

static peat_status open_task(peat_arch arch, peat_head head)
{
    peat_task_plan plan = {.arch = arch, .seq_len = SEQ_LEN, .seed = 1, .head = head};
    return harness_task(&h, "marked", "{}", &plan);
}

static void open_or_fail(void)
{
    ck_assert_msg(open_task(PEAT_DECODER, PEAT_HEAD_TOKENS) == PEAT_OK, "%s", h.err.text);
    ck_assert_int_eq(task_batch_init(&h.task, &batch, &h.arena, ROWS, 2 * SEQ_LEN), PEAT_OK);
}

/* The length of the question of row b, whose marked symbol is asked for at SEP. */
static int64_t check_row(const peat_batch *x, int64_t b, int64_t *marked)
{
    const int32_t *token = x->token + b * x->T, *target = x->target + b * x->T;
    const int32_t *mark = x->stream_id[0] + b * x->T;
    int64_t n = 0, marks = 0;
    while (token[n + 1] != SEP)
        n++;
    for (int64_t i = 0; i < x->T; i++) {
        marks += mark[i];
        *marked = mark[i] ? i - 1 : *marked;
        ck_assert_int_eq(target[i] >= 0, i == n + 1);
    }
    ck_assert_int_eq(marks, 1);
    ck_assert(*marked >= 0 && *marked < n);
    ck_assert_int_eq(target[n + 1], token[*marked + 1]);
    return n;
}

TEST(the_mark_alone_says_which_symbol_is_asked_for)
{
    int64_t at[SEQ_LEN] = {0}, of_length[SEQ_LEN] = {0};
    open_or_fail();
    for (int64_t step = 1; step <= 60; step++) {
        harness_train(&h, 1, step, &batch);
        for (int64_t b = 0; b < batch.b.B; b++) {
            int64_t marked = -1, n = check_row(&batch.b, b, &marked);
            of_length[n]++;
            at[marked] += n == SEQ_LEN - 3;
        }
    }
    for (int64_t n = 1; n <= SEQ_LEN - 3; n++)
        ck_assert(of_length[n] > 120 && at[n - 1] > 5);
    harness_close(&h);
}

TEST(evaluation_is_the_same_each_time_and_has_marks)
{
    struct batch again;
    int64_t marked = -1;
    open_or_fail();
    ck_assert_int_eq(task_batch_init(&h.task, &again, &h.arena, ROWS, 2 * SEQ_LEN), PEAT_OK);
    harness_eval(&h, 1, 0, &batch);
    harness_eval(&h, 1, 0, &again);
    size_t n = (size_t)(batch.b.B * batch.b.T) * sizeof(int32_t);
    ck_assert_mem_eq(batch.b.token, again.b.token, n);
    ck_assert_mem_eq(batch.b.stream_id[0], again.b.stream_id[0], n);
    for (int64_t b = 0; b < batch.b.B; b++)
        ck_assert_int_eq(check_row(&batch.b, b, &marked), 2 * (SEQ_LEN - 3));
    harness_close(&h);
}

TEST(the_stream_is_in_the_plan)
{
    open_or_fail();
    ck_assert_int_eq(h.task.plan.n_stream, 1);
    ck_assert_str_eq(h.task.plan.stream[0].name, "mark");
    ck_assert_int_eq(h.task.plan.stream[0].ids, 2);
    ck_assert_int_eq(h.task.plan.vocab, FIRST + SYMBOLS);
    harness_close(&h);
}

TEST(two_sequences_have_no_streams)
{
    ck_assert_int_eq(open_task(PEAT_SEQ2SEQ, PEAT_HEAD_TOKENS), PEAT_REFUSED);
    ck_assert_msg(strstr(h.err.text, "task 'marked' adds streams"), "%s", h.err.text);
    harness_close(&h);
}

PLUGIN_TESTS("marked")
