/* SPDX-License-Identifier: MIT */
/* The task 'reverse': a sequence is repeated backwards. */
#include <stdint.h>

#define TASK  "reverse"
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
        y[i] = x[n - 1 - i];
    return n;
}

#include "../question_tests.h"

PLUGIN_TESTS(TASK)
