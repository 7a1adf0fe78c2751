/* SPDX-License-Identifier: MIT */
/* sort.c: numbers and texts in rising order. */

#include "base/base.h"

static int compare_reals(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int compare_integers(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void sort_reals(double *x, int64_t n)
{
    if (n > 0)
        qsort(x, (size_t)n, sizeof(*x), compare_reals);
}

void sort_integers(int64_t *x, int64_t n)
{
    if (n > 0)
        qsort(x, (size_t)n, sizeof(*x), compare_integers);
}

bool integers_hold(const int64_t *x, int64_t n, int64_t value)
{
    int64_t i = 0;
    while (i < n && x[i] != value)
        i++;
    return i < n;
}

struct placed {
    double x;
    int64_t place;
};

static int compare_placed(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    int order = (x->x > y->x) - (x->x < y->x);
    return order ? order : compare_integers(&x->place, &y->place);
}

void sort_places(const double *x, int64_t n, int64_t *place)
{
    struct placed *sorted = mem_array((size_t)n, sizeof(*sorted), "a list");
    for (int64_t i = 0; i < n; i++)
        sorted[i] = (struct placed){x[i], i};
    qsort(sorted, (size_t)n, sizeof(*sorted), compare_placed);
    for (int64_t i = 0; i < n; i++)
        place[i] = sorted[i].place;
    free(sorted);
}
