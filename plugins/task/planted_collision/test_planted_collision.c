/* SPDX-License-Identifier: MIT */
/* The task 'planted_collision': which of two pairs stands at two places? */
#include <stdbool.h>
#include <stdint.h>

#define TASK  "planted_collision"
#define NAMED true
enum { IDS = 16, LEAST = 2, MIN_LEN = 2 };

static int64_t asked_by(int64_t n)
{
    return n;
}

static int64_t answered_by(int64_t n)
{
    (void)n;
    return 1;
}

static int64_t answer_of(const int32_t *x, int64_t n, int32_t *y)
{
    for (int64_t i = 2; i < n; i++)
        if (x[i] < 3 + 6)
            return -1;
    bool first = x[0] == 3 && x[1] == 6, second = x[0] == 4 && x[1] == 5;
    y[0] = first ? 7 : 8;
    return first || second ? 1 : -1;
}

#include "../question_tests.h"

/* With foo = x, foo_2 = y, bar = x + p - q, bar_2 = y + p - q, where p and q are the vectors of the
 * places, the sums of token and place at both are x + p and y + p in either pair. */
TEST(planted_vectors_collide_in_a_sum)
{
    const double p = 3, q = 7, x = 11, y = 13;
    const double vector[] = {x, y, x + p - q, y + p - q};
    const double one[] = {vector[0] + p, vector[3] + q}, two[] = {vector[1] + p, vector[2] + q};
    ck_assert(one[0] == two[1] && one[1] == two[0]);
}

static void see_answer(const struct row *r, void *ctx)
{
    int64_t *count = ctx;
    count[r->y[0] - 7]++;
}

TEST(both_pairs_are_evaluated_as_often)
{
    struct harness h;
    int64_t count[2] = {0};
    open_or_fail(&h, NULL, QUESTION_SEQ_LEN, 0);
    see_evaluated(&h, 0, 64, see_answer, count);
    ck_assert_int_eq(count[0], 128);
    ck_assert_int_eq(count[1], 128);
    harness_close(&h);
}

TEST(places_that_do_not_go_together_are_refused)
{
    assert_refused("{\"place\": 3, \"other\": 3}", QUESTION_SEQ_LEN,
                   "place and other are both 3, and two symbols need two places");
    assert_refused("{\"other\": 5}", QUESTION_SEQ_LEN,
                   "min_len = 2 is too short: a sequence has at least 6 symbols");
}

PLUGIN_TESTS(TASK)
