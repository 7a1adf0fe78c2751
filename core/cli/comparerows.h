/* SPDX-License-Identifier: MIT */
/* comparerows.h: two rows of a run directory, seed by seed. */
#pragma once

#include "report/results.h"

struct row_pair {
    const struct results *r;
    const struct result_row *a, *b;
    struct arena *arena;
};

/* Both return the number of pairs at the length (an index): a table with a line for each seed, and
 * the same as a map. */
int rows_text(const struct row_pair *p, int length, struct strbuf *out);
int rows_json(const struct row_pair *p, int length, struct json map);
