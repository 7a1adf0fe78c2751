/* SPDX-License-Identifier: MIT */
/* best_text.h: what best_over has chosen, in words and as JSON. */
#ifndef REPORT_BEST_TEXT_H
#define REPORT_BEST_TEXT_H

#include "base/json.h"
#include "report/table.h"

/* "lr=0.003"; "-" where none is chosen. */
const char *best_value_text(const struct best *b, const struct best_row *row, struct arena *a);
/* Notes how values were chosen, and doubts; nothing without best_over. */
void best_notes(struct table *t, const struct results *r, struct arena *a);
/* "chosen", a map axis -> label or null, and "choice" with every value's score. */
void best_put(struct json m, const struct results *r, const struct result_row *row);

#endif
