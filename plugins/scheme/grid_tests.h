/* SPDX-License-Identifier: MIT */
/* grid_tests.h: what holds for every scheme of rows and columns (grid.h). */
#pragma once

#include "scheme_tests.h"

enum { GRID_T = 6, GRID_COLUMNS = 3, GRID_LOGITS = 2 * GRID_T * 7 };

/* Logits of an encoder of two rows of 6 tokens, with the positions that `pos` gives or none. */
static inline void grid_logits(const char *name, const char *json, const double *pos, double *out)
{
    struct modelcheck m;
    struct harness h;
    modelcheck_init(&m, PEAT_ENCODER);
    m.config.T_train = m.config.T_max = m.input.rows.T = GRID_T;
    m.config.n_axes = m.input.rows.n_axes = pos ? 2 : 0;
    m.input.rows.pos = pos;
    ck_assert_int_eq(scheme_try(&h, name, json, 2, 4, GRID_T, false), PEAT_OK);
    struct scheme_part *part = modelcheck_scheme(&m, name, h.scheme);
    part->part.config = h.config;
    modelcheck_build(&m);
    modelcheck_logits(&m, out);
    harness_close(&h);
    modelcheck_release(&m);
}

/* Rows and columns of the data are those of a grid of as many columns, which they replace; and
 * counted places are read as lines of a square. */
static inline void grid_is_of_the_data_or_square(const char *name)
{
    static const double pos[] = {0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1,
                                 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2};
    double data[GRID_LOGITS], given[GRID_LOGITS], automatic[GRID_LOGITS];
    char json[32];
    snprintf(json, sizeof(json), "{\"columns\": %d}", GRID_COLUMNS);
    grid_logits(name, "{}", pos, data);
    grid_logits(name, json, NULL, given);
    grid_logits(name, "{}", NULL, automatic);
    for (int i = 0; i < GRID_LOGITS; i++) {
        ck_assert_msg(fabs(data[i] - given[i]) < 1e-12, "%.15g, %.15g", data[i], given[i]);
        ck_assert_double_eq(automatic[i], given[i]); /* 6 places: the root, rounded up, is 3 */
    }
    struct harness h;
    peat_dims dims = {
        .D = 8, .H = 1, .d = 8, .L = 1, .V = 7, .T_train = 6, .T_max = 6, .n_axes = 2};
    ck_assert_int_eq(harness_scheme(&h, name, json, &dims), PEAT_REFUSED);
    ck_assert_msg(strstr(h.err.text, "the data has its own rows and columns"), "%s", h.err.text);
    harness_close(&h);
}
