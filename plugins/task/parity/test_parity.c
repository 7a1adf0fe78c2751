/* SPDX-License-Identifier: MIT */
/* The task 'parity': is the number of ones even? */
#include <stdint.h>

#define TASK  "parity"
#define NAMED true
enum { IDS = 4, LEAST = 1, MIN_LEN = 3 };

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
    int32_t odd = 0;
    for (int64_t i = 0; i < n; i++) {
        if (x[i] != 3 && x[i] != 4)
            return -1;
        odd ^= x[i] == 4;
    }
    y[0] = odd ? 5 : 6;
    return 1;
}

#include "../question_tests.h"

static void see_even(const struct row *r, void *ctx)
{
    int64_t *even = ctx;
    *even += r->y[0] == 6;
}

TEST(both_answers_are_as_likely)
{
    struct harness h;
    int64_t even = 0;
    open_or_fail(&h, NULL, QUESTION_SEQ_LEN, 0);
    see_rows(&h, QUESTION_SEQ_LEN, 4000, see_even, &even);
    ck_assert_msg(even > 1800 && even < 2200, "%d of 4000", (int)even);
    harness_close(&h);
}

PLUGIN_TESTS(TASK)
