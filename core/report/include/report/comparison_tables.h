/* SPDX-License-Identifier: MIT */
/* comparison_tables.h: contrasts and claims as tables, as JSON and as CSV. */
#pragma once

#include "report/claim_verdict.h"
#include "report/table.h"

/* ---- effects_table.c ---- */

void effects_table(struct table *t, const struct effects *x, struct arena *a);
void effects_json(const struct effects *x, struct json map);
/* Every number in full, a line for each effect; the head when asked for. */
void effects_csv(const struct effects *x, bool head, struct strbuf *out);

/* ---- claims_table.c ---- */

/* earlier: this is what the claims were before they were changed. */
void claims_table(struct table *t, const struct claim_history *h, bool earlier, struct arena *a);
/* What the column "and text" is. */
void table_note_text(struct table *t);
void claims_json(const struct claim_history *h, struct json map);
void claims_csv(const struct claim_history *h, struct strbuf *out);
