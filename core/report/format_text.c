/* SPDX-License-Identifier: MIT */
/* format_text.c: a table for a terminal. */
#include "report/table.h"

void format_text(const struct table *t, int width, bool bold, struct strbuf *out)
{
    const struct columns c = {.arena = t->arena,
                              .n = t->n_column,
                              .n_row = t->n_row,
                              .column = t->column,
                              .cell = t->cell};
    strbuf_addf(out, "%s\n\n", shown_text(t->arena, t->title));
    columns_add_blocks(&c, t->n_label, t->first_cost, (size_t)width, bold, out);
    if (t->any_strong)
        strbuf_addf(out, "%s: %s\n", bold ? "bold" : "*", t->strong);
    for (int i = 0; i < t->n_note; i++)
        strbuf_addf(out, "%s\n", shown_text(t->arena, t->note[i]));
}
