/* SPDX-License-Identifier: MIT */
/* The task 'needle': which symbol follows the mark? */
#include <stdint.h>

#define TASK  "needle"
#define NAMED true
enum { IDS = 11, LEAST = 2, MIN_LEN = 2 };

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
    int64_t marks = 0;
    for (int64_t i = 0; i < n; i++) {
        marks += x[i] == 3 + 10;
        if (x[i] == 3 + 10 && i + 1 < n)
            y[0] = x[i + 1];
    }
    return marks == 1 && x[n - 1] != 3 + 10 ? 1 : -1;
}

#include "../question_tests.h"

static void see_depth(const struct row *r, void *ctx)
{
    int64_t *count = ctx, at = 0;
    while (r->x[at] != FIRST + 10)
        at++;
    count[at]++;
}

TEST(every_depth_is_trained_and_evaluated_as_often)
{
    const int64_t length = 17;
    struct harness h;
    int64_t trained[16] = {0}, evaluated[16] = {0};
    ck_assert_int_eq(
        open_task(&h, "{\"min_len\": 17, \"max_len\": 17}", QUESTION_SEQ_LEN, 1, &length, 0),
        PEAT_OK);
    see_rows(&h, QUESTION_SEQ_LEN, 3200, see_depth, trained);
    see_evaluated(&h, 0, 64, see_depth, evaluated);
    for (int i = 0; i < 16; i++) {
        ck_assert_msg(trained[i] > 130 && trained[i] < 270, "depth %d: %d", i, (int)trained[i]);
        ck_assert_int_eq(evaluated[i], 16);
    }
    harness_close(&h);
}

PLUGIN_TESTS(TASK)
