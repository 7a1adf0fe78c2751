/* SPDX-License-Identifier: MIT */
/* The task 'reverse': a sequence is repeated backwards. */
#include <stdint.h>

static const char task_name[] = "reverse";

static int64_t source(int64_t i, int64_t n)
{
    return n - 1 - i;
}

#include "../sequence_tests.h"
