/* SPDX-License-Identifier: MIT */
/* The task 'copy': a sequence is repeated. */
#include <stdint.h>

#define TASK  "copy"
#define NAMED false
enum { IDS = 10, LEAST = 1, MIN_LEN = 1 };

static int64_t asked_by(int64_t n)
{
    return n;
}

static int64_t answered_by(int64_t n)
{
    return n;
}

static int64_t answer_of(const int32_t *x, int64_t n, int32_t *y)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i];
    return n;
}

#include "../question_tests.h"

static void see_four_of_two(const struct row *r, void *ctx)
{
    int64_t *count = ctx;
    ck_assert_int_eq(r->n, 4);
    for (int64_t i = 0; i < r->n; i++)
        count[r->x[i] - FIRST]++;
}

TEST(lengths_and_symbols_stay_within_their_bounds)
{
    struct harness h;
    int64_t count[2] = {0};
    open_or_fail(&h, "{\"min_len\": 4, \"max_len\": 4, \"symbols\": 2}", 64, 0);
    see_rows(&h, 64, 1000, see_four_of_two, count);
    ck_assert_int_gt(count[0], 1800);
    ck_assert_int_gt(count[1], 1800);
    harness_close(&h);
}

PLUGIN_TESTS(TASK)
