/* SPDX-License-Identifier: MIT */
/* The task 'count': how long is a sequence? */
#include <stdint.h>

#define TASK  "count"
#define NAMED true
enum { IDS = 36, LEAST = 1, MIN_LEN = 1 };

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
    for (int64_t i = 0; i < n; i++)
        if (x[i] < 3 || x[i] >= 3 + 26)
            return -1;
    y[0] = 3 + 26 + (int32_t)(n % 10);
    return 1;
}

#include "../question_tests.h"

static void see_kinds(const struct row *r, void *ctx)
{
    int64_t *different = ctx;
    for (int64_t i = 1; i < r->n; i++)
        *different += r->x[i] != r->x[0];
}

TEST(copies_are_equal_and_letters_are_not)
{
    struct harness h;
    int64_t different = 0;
    open_or_fail(&h, NULL, QUESTION_SEQ_LEN, 0);
    see_rows(&h, QUESTION_SEQ_LEN, 500, see_kinds, &different);
    ck_assert_int_eq(different, 0);
    harness_close(&h);
    open_or_fail(&h, "{\"of\": \"letters\", \"min_len\": 11, \"max_len\": 11}", QUESTION_SEQ_LEN,
                 0);
    see_rows(&h, QUESTION_SEQ_LEN, 500, see_kinds, &different);
    ck_assert_msg(different > 4700 && different < 4900, "%d of 5000", (int)different);
    harness_close(&h);
}

PLUGIN_TESTS(TASK)
