/* SPDX-License-Identifier: MIT */
/* fixed_table.h: the tables whose figures tests/golden/diagnostics.py gives. */
#pragma once

#include "base/error.h"
#include "maths/spectrum.h"

/* A fixture: the arena of the tables, and the error of calls about them. */
extern struct arena arena;
extern struct error err;
void table_open(void);
void table_close(void);
void assert_ok(peat_status status);
/* PEAT_FAILED, and the error says `part`. */
void assert_failed(peat_status status, const char *part);

/* A fixed sequence without structure, in [-1, 1). */
double fixed_noise(uint64_t *state);
/* [rows, columns]: noise about 0.25, in column j scaled by (1 + j) / columns when `rising`, and by
 * 1 / (1 + j) otherwise. */
struct matrix fixed_table(uint64_t seed, int64_t rows, int64_t columns, bool rising);
/* Zeros to write to; *x is the same memory. */
struct matrix empty_table(int64_t rows, int64_t columns, float **x);
