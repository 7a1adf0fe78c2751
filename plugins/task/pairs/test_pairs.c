/* SPDX-License-Identifier: MIT */
/* The task 'pairs': sources and targets of a table, generated from SEP on and scored by length. */
#define TASK "pairs"
#include "../data_tests.h"

enum { BOS, SEP, EOS, BYTE, PAIRS = 300, SEQ_LEN = 24 };

static const peat_task_plan decoder = {.arch = PEAT_DECODER, .seq_len = SEQ_LEN};

/* Source i is "<i>", its target i % 9 + 1 times "x" and then "<i>". */
static size_t make_table(char *out)
{
    char *at = out;
    for (int i = 0; i < PAIRS; i++) {
        at += sprintf(at, "%d\t", i);
        for (int k = 0; k <= i % 9; k++)
            *at++ = 'x';
        at += sprintf(at, "%d\n", i);
    }
    return (size_t)(at - out);
}

/* The number of the pair in this row, which must be whole and padded outside alone. */
static int assert_row(const peat_batch *b, int64_t row)
{
    const int32_t *token = b->token + row * b->T, *target = b->target + row * b->T;
    int64_t at = 0, sep, n = 0;
    char source[32] = "", answer[64], made[64] = "";
    while (b->pad[row * b->T + at])
        at++;
    ck_assert_int_eq(token[at], BOS);
    for (sep = at + 1; token[sep] != SEP; sep++)
        source[sep - at - 1] = (char)(token[sep] - BYTE);
    for (; target[sep + n] != EOS; n++)
        made[n] = (char)(target[sep + n] - BYTE);
    int i = atoi(source);
    snprintf(answer, sizeof(answer), "%.*s%d", i % 9 + 1, "xxxxxxxxx", i);
    ck_assert_str_eq(made, answer);
    for (int64_t k = 0; k < b->T; k++)
        ck_assert((target[k] >= 0) == (k >= sep && k <= sep + n) &&
                  b->pad[row * b->T + k] == (k < at || k > sep + n) &&
                  (k <= sep || k > sep + n || token[k] == target[k - 1]));
    return i;
}

TEST(sources_are_on_one_side_of_the_split)
{
    static char bytes[PAIRS * 24];
    struct harness h;
    struct batch b;
    bool trained[PAIRS] = {false}, valid[PAIRS] = {false};
    int n = 0;
    data_must_open(&h, bytes, make_table(bytes), "", &decoder);
    batch_init(&b, &h.arena, 32, SEQ_LEN);
    for (int64_t step = 1; step < 100; step++) {
        harness_train(&h, 1, step, &b);
        for (int64_t i = 0; i < b.b.B; i++)
            trained[assert_row(&b.b, i)] = true;
    }
    for (int64_t index = 0;; index++) {
        harness_eval(&h, 0, index, &b);
        if (b.b.B == 0)
            break;
        ck_assert_int_eq(b.b.T, SEQ_LEN - 1);
        ck_assert_int_eq(b.b.prompt + b.b.answer, SEQ_LEN);
        for (int64_t i = 0; i < b.b.B; i++) {
            int pair = assert_row(&b.b, i);
            ck_assert_int_eq(b.b.token[i * b.b.T + b.b.prompt - 1], SEP);
            ck_assert(!valid[pair]);
            valid[pair] = true;
        }
    }
    for (int i = 0; i < PAIRS; i++) {
        ck_assert(!trained[i] || !valid[i]);
        n += valid[i];
    }
    ck_assert_msg(n > 12 && n < 55, "%d of 300 validate", n);
    harness_close(&h);
}

/* Row `row` of two sides, source SEP and BOS target. */
static void assert_sides(const peat_batch *b, int64_t row)
{
    const int32_t *source = b->source + row * b->S, *target = b->target + row * b->T;
    const int32_t *token = b->token + row * b->T;
    char answer[64], made[64] = "";
    int64_t n = 0, m = 0;
    int i = 0;
    for (; source[n] != SEP; n++)
        i = 10 * i + source[n] - BYTE - '0';
    for (; target[m] != EOS; m++)
        made[m] = (char)(target[m] - BYTE);
    snprintf(answer, sizeof(answer), "%.*s%d", i % 9 + 1, "xxxxxxxxx", i);
    ck_assert_str_eq(made, answer);
    for (int64_t k = 0; k < b->S; k++)
        ck_assert(b->source_pad[row * b->S + k] == (k > n) &&
                  b->source_special[row * b->S + k] == (k == n));
    for (int64_t k = 0; k < b->T; k++)
        ck_assert(b->pad[row * b->T + k] == (k > m) && (target[k] >= 0) == (k <= m) &&
                  (k > m || token[k] == (k == 0 ? BOS : target[k - 1])));
}

TEST(two_sequences_have_the_source_on_one_side)
{
    static char bytes[PAIRS * 24];
    struct harness h;
    struct batch b;
    peat_task_plan plan = decoder;
    plan.arch = PEAT_SEQ2SEQ;
    data_must_open(&h, bytes, make_table(bytes), "", &plan);
    int64_t S = h.task.plan.source_T;
    ck_assert_int_eq(task_batch_init(&h.task, &b, &h.arena, 16, SEQ_LEN), PEAT_OK);
    harness_train(&h, 1, 1, &b);
    ck_assert_int_le(b.b.S, S);
    for (int64_t i = 0; i < b.b.B; i++)
        assert_sides(&b.b, i);
    harness_eval(&h, 0, 0, &b);
    ck_assert_int_eq(b.b.prompt, 1);
    ck_assert_int_eq(b.b.answer, b.b.T);
    for (int64_t i = 0; i < b.b.B; i++)
        assert_sides(&b.b, i);
    harness_close(&h);
}

/* Lengths are ranges: up to 8 tokens, and from 9 to 24. */
TEST(lengths_divide_the_pairs_among_them)
{
    static char bytes[PAIRS * 24];
    const int64_t length[] = {24, 12};
    struct harness h;
    struct batch b;
    peat_task_plan plan = decoder;
    plan.n_lengths = 2;
    plan.length = length;
    plan.seq_len = 13;
    data_must_open(&h, bytes, make_table(bytes), ", \"valid\": 0.5", &plan);
    batch_init(&b, &h.arena, 16, 23);
    for (int64_t which = 0; which < 2; which++)
        for (int64_t index = 0;; index++) {
            harness_eval(&h, which, index, &b);
            if (b.b.B == 0)
                break;
            for (int64_t i = 0; i < b.b.B; i++) {
                int64_t tokens = 0;
                assert_row(&b.b, i);
                for (int64_t k = 0; k < b.b.T; k++)
                    tokens += !b.b.pad[i * b.b.T + k];
                ck_assert(which == 0 ? tokens + 1 > 12 : tokens + 1 <= 12);
            }
        }
    harness_train(&h, 1, 1, &b);
    ck_assert_int_le(b.b.T, 12);
    harness_close(&h);
}

TEST(plan_shows_the_first_tokens)
{
    static const char rows[] = "one\teins\ntwo\tzwei\nthree\tdrei\nfour\tvier\n";
    const peat_task_plan both = {.arch = PEAT_SEQ2SEQ, .seq_len = SEQ_LEN};
    data_begin_with(rows, sizeof(rows) - 1, "", &decoder, "'two<sep>zwei<eos>'");
    data_begin_with(rows, sizeof(rows) - 1, "", &both, "'two<sep>zwei<eos>'");
}

TEST(what_cannot_be_used_is_refused_with_one_line)
{
    static char bytes[PAIRS * 24];
    size_t n = make_table(bytes);
    peat_task_plan plan = decoder;
    plan.arch = PEAT_ENCODER;
    data_refused(bytes, n, "", &plan, "which needs model.arch: decoder");
    plan.arch = PEAT_DECODER;
    data_refused("a\tb\nc\n", 6, "", &plan, ":2: column 2 is asked for, and there is 1");
    data_refused("", 0, "", &plan, "' has no rows");
    data_refused("a\tb\0\n", 5, "", &plan, "is not text: byte 3 is 0");
    plan.seq_len = 4;
    data_refused(bytes, n, "", &plan,
                 "' has 300 pairs, and none of those that train fits train.seq_len = 4");
    plan.seq_len = SEQ_LEN;
    plan.n_lengths = 2;
    plan.length = (int64_t[]){24, 4};
    data_refused(bytes, n, "", &plan, "no validation pair has from 1 to 4 tokens");
}

PLUGIN_TESTS(TASK)
