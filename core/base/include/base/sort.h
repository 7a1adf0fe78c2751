/* SPDX-License-Identifier: MIT */
/* sort.h: sorts numbers in rising order, and compares numbers and texts. No number may be NaN. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

void sort_reals(double *x, int64_t n);
void sort_integers(int64_t *x, int64_t n);
/* For qsort and bsearch. Items of compare_texts are texts, or structs that begin with one. */
int compare_integers(const void *a, const void *b);
int compare_texts(const void *a, const void *b);
bool integers_hold(const int64_t *x, int64_t n, int64_t value);
/* The indices of the numbers of x [n], the smallest number first, into place [n]; equal numbers
 * keep their order. */
void sort_places(const double *x, int64_t n, int64_t *place);
