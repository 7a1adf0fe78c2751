/* SPDX-License-Identifier: MIT */
/* number.h: bounds, and numbers as text with a decimal point in every locale. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

static inline int64_t at_most(int64_t x, int64_t limit)
{
    return x < limit ? x : limit;
}

static inline int64_t at_least(int64_t x, int64_t limit)
{
    return x > limit ? x : limit;
}

enum { NUMBER_TEXT = 32 };

/* The shortest decimal that reads back as x; "null" for NaN and infinities. */
void number_text(double x, char buf[NUMBER_TEXT]);
/* The number that text begins with. */
double number_parse(const char *text);
