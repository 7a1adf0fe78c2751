/* SPDX-License-Identifier: MIT */
#include "support/fixed_table.h"

#include "support/support.h"

double fixed_noise(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-52 - 1.0;
}

struct matrix empty_table(int64_t rows, int64_t columns, float **x, struct arena *a)
{
    *x = ARENA_ARRAY(a, rows * columns, float);
    ck_assert_ptr_nonnull(*x);
    return (struct matrix){*x, rows, columns};
}

struct matrix fixed_table(uint64_t seed, int64_t rows, int64_t columns, bool rising,
                          struct arena *a)
{
    float *x;
    struct matrix m = empty_table(rows, columns, &x, a);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            double place = 1.0 + (double)j;
            double scale = rising ? place / (double)columns : 1.0 / place;
            x[i * columns + j] = (float)(fixed_noise(&seed) * scale + 0.25);
        }
    return m;
}
