/* SPDX-License-Identifier: MIT */
/* take_rows.c: take_rows.h at a level. */
#include "levels/take_rows.h"

#include "fetch.h"

/* Indices of distances count up or down by 1, or stay where they are clipped: such stretches are
 * moved by vectors. */
enum { STRETCH = 32, UNEVEN = 2 };

/* The step from each index of a stretch to the next; UNEVEN: it is not 1, -1 or 0 all along. */
static int step_of(const int32_t *index)
{
    int64_t step = (int64_t)index[1] - index[0];
    int32_t apart = 0;
    if (step < -1 || step > 1)
        return UNEVEN;
    for (int32_t j = 0; j < STRETCH; j++)
        apart |= index[j] ^ (index[0] + j * (int32_t)step);
    return apart ? UNEVEN : (int)step;
}

#define TEMPLATE "levels/take_rows.inc"
#include "tensor/both_reals.inc"
