/* SPDX-License-Identifier: MIT */
/* html_cells.c: the injection plan of each row, and the state of every cell. */

#include "page_parts.h"
#include "report/numbers.h"

void html_injection(struct html_page *p)
{
    const struct results *r = p->r;
    const enum quantity_name ratio[] = {Q_INPUT_RATIO_START, Q_INPUT_RATIO};
    const int ratios = results_have(r, Q_INPUT_RATIO_START) ? 2 : 0;
    struct table t = {.arena = p->a, .n_label = 1};
    table_column(&t, "row", false);
    table_column(&t, "injection plan", false);
    for (int k = 0; k < ratios; k++)
        table_column(&t, quantities[ratio[k]].head, true);
    for (int i = 0; i < r->n_row; i++) {
        table_text(&t, results_row_label(r, &r->row[i], p->a));
        table_text(&t, json_text_or(r->row[i].cell[0]->planned, "injection", "unknown"));
        for (int k = 0; k < ratios; k++)
            table_text(&t, number_ratio(p->a, r->row[i].q[ratio[k]]));
    }
    html_fold(p->out, "injection", "What acts where", false);
    html_plain_table(p, &t, true);
    if (ratios)
        strbuf_add(p->out,
                   "<p class=\"soft\">tok:pos: size of tokens to size of positions where "
                   "they meet (root mean square), before training and after it, median over "
                   "seeds.</p>\n");
    html_end_fold(p->out);
}

static void add_counts(struct html_page *p)
{
    int n[CELL_STATES] = {0};
    const char *text = NULL;
    for (int i = 0; i < p->r->n_cell; i++)
        n[p->r->cell[i].state]++;
    for (int s = 0; s < CELL_STATES; s++)
        if (n[s])
            text = arena_item(p->a, text, "%d %s", n[s], cell_state_name((enum cell_state)s));
    strbuf_addf(p->out, "<p>%d cells: %s.</p>\n", p->r->n_cell, text ? text : "");
}

static const char *reason_of(struct html_page *p, const struct result_cell *c)
{
    const struct value *diverged = value_get(c->result, "diverged");
    if (c->damage)
        return c->damage;
    if (c->state == CELL_DIVERGED)
        return arena_printf(p->a, "at step %" PRId64 ": %s", json_get_int(diverged, "step", 0),
                            json_text_or(diverged, "what", ""));
    return cell_has_failed(c->state) ? json_text_or(c->end, "reason", "") : "";
}

/* True for a cell that should be in the means and is not. */
static bool is_missing(const struct result_cell *c)
{
    return c->reported && !result_counts(c);
}

static void add_missing(struct html_page *p, int missing)
{
    enum { LISTED = 200 };
    const struct results *r = p->r;
    if (!missing)
        return;
    struct table t = {.arena = p->a, .n_label = 1};
    table_column(&t, "cell", false);
    table_column(&t, "state", false);
    table_column(&t, "reason", false);
    for (int i = 0; i < r->n_cell && t.n_row < LISTED; i++) {
        const struct result_cell *c = &r->cell[i];
        if (!is_missing(c))
            continue;
        table_text(&t, c->label);
        table_text(&t, cell_state_name(c->state));
        table_text(&t, reason_of(p, c));
    }
    html_plain_table(p, &t, false);
    if (missing > t.n_row)
        strbuf_addf(p->out, "<p class=\"soft\">and %d more</p>\n", missing - t.n_row);
}

void html_cells(struct html_page *p)
{
    int missing = 0;
    for (int i = 0; i < p->r->n_cell; i++)
        missing += is_missing(&p->r->cell[i]);
    html_fold(p->out, "cells", "Cells", missing > 0);
    add_counts(p);
    add_missing(p, missing);
    html_end_fold(p->out);
}
