/* SPDX-License-Identifier: MIT */
/* The task 'replace': as often as one symbol is given, another is said. */
#include <stdint.h>

#define TASK  "replace"
#define NAMED false
enum { IDS = 10, LEAST = 1, MIN_LEN = 1 };

static int64_t asked_by(int64_t n)
{
    return n + 2;
}

static int64_t answered_by(int64_t n)
{
    return n;
}

static int64_t answer_of(const int32_t *x, int64_t n, int32_t *y)
{
    if (n < 3 || x[0] == x[1])
        return -1;
    for (int64_t i = 2; i < n; i++) {
        if (x[i] != x[0])
            return -1;
        y[i - 2] = x[1];
    }
    return n - 2;
}

#include "../question_tests.h"

static void see_pair(const struct row *r, void *ctx)
{
    int64_t(*count)[IDS] = ctx;
    count[r->x[0] - FIRST][r->x[1] - FIRST]++;
}

TEST(every_ordered_pair_is_as_likely)
{
    struct harness h;
    int64_t count[IDS][IDS] = {{0}};
    open_or_fail(&h, NULL, QUESTION_SEQ_LEN, 0);
    see_rows(&h, QUESTION_SEQ_LEN, 9000, see_pair, count);
    for (int a = 0; a < IDS; a++)
        for (int b = 0; b < IDS; b++)
            ck_assert_msg(a == b ? count[a][b] == 0 : count[a][b] > 50 && count[a][b] < 160,
                          "%d replaced by %d: %d times", a, b, (int)count[a][b]);
    harness_close(&h);
}

PLUGIN_TESTS(TASK)
