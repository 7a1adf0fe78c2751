/* SPDX-License-Identifier: MIT */
#include "support/fixed_table.h"

#include "support/support.h"

struct arena arena;
struct error err;

void table_open(void)
{
    arena_init(&arena, "tables", 1 << 16);
    err = (struct error){0};
}

void table_close(void)
{
    arena_release(&arena);
}

void assert_ok(peat_status status)
{
    ck_assert_msg(status == PEAT_OK, "%s", err.text);
}

void assert_failed(peat_status status, const char *part)
{
    ck_assert_int_eq(status, PEAT_FAILED);
    ck_assert_msg(strstr(err.text, part), "'%s' does not say '%s'", err.text, part);
}

double fixed_noise(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-52 - 1.0;
}

struct matrix empty_table(int64_t rows, int64_t columns, float **x)
{
    *x = ARENA_ARRAY(&arena, rows * columns, float);
    return (struct matrix){*x, rows, columns};
}

struct matrix fixed_table(uint64_t seed, int64_t rows, int64_t columns, bool rising)
{
    float *x;
    struct matrix m = empty_table(rows, columns, &x);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            double place = 1.0 + (double)j;
            double scale = rising ? place / (double)columns : 1.0 / place;
            x[i * columns + j] = (float)(fixed_noise(&seed) * scale + 0.25);
        }
    return m;
}
