/* SPDX-License-Identifier: MIT */
/* The task 'copy': a sequence is repeated. */
#include <stdint.h>

static const char task_name[] = "copy";

static int64_t source(int64_t i, int64_t n)
{
    (void)n;
    return i;
}

#include "../sequence_tests.h"
