/* SPDX-License-Identifier: MIT */
/* comparison_tables.h: contrasts and claims as tables, as JSON and as CSV. */
#pragma once

#include "report/claim_verdict.h"
#include "report/table.h"

/* ---- effects_table.c ---- */

void effects_table(struct table *t, const struct effects *x, struct arena *a);
void effects_json(const struct effects *x, struct json map);
/* A line for each effect with every number in full; before them the column names if `head`. */
void effects_csv(const struct effects *x, bool head, struct arena *a, struct strbuf *out);

/* ---- claims_table.c ---- */

/* earlier: the table has the claims as they were before they were changed. */
void claims_table(struct table *t, const struct claim_history *h, bool earlier, struct arena *a);
/* Adds the note that explains the column "and text". */
void table_note_text(struct table *t);
void claims_json(const struct claim_history *h, struct json map);
void claims_csv(const struct claim_history *h, struct arena *a, struct strbuf *out);
