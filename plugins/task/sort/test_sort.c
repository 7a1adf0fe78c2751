/* SPDX-License-Identifier: MIT */
/* The task 'sort': symbols are put in the order of their ids. */
#include <stdint.h>

#define TASK  "sort"
#define NAMED false
enum { IDS = 50, LEAST = 1, MIN_LEN = 1 };

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
    for (int64_t i = 0; i < n; i++) {
        int64_t k = i;
        for (; k > 0 && y[k - 1] > x[i]; k--)
            y[k] = y[k - 1];
        y[k] = x[i];
    }
    return n;
}

#include "../question_tests.h"

static void see_symbols(const struct row *r, void *ctx)
{
    int64_t *count = ctx;
    for (int64_t i = 0; i < r->n; i++)
        count[r->x[i] - FIRST]++;
}

TEST(symbols_are_uniform)
{
    struct harness h;
    int64_t count[IDS] = {0};
    open_or_fail(&h, "{\"min_len\": 20, \"max_len\": 20}", QUESTION_SEQ_LEN, 0);
    see_rows(&h, QUESTION_SEQ_LEN, 2500, see_symbols, count);
    for (int i = 0; i < IDS; i++)
        ck_assert_msg(count[i] > 800 && count[i] < 1200, "symbol %d: %d times", i, (int)count[i]);
    harness_close(&h);
}

PLUGIN_TESTS(TASK)
