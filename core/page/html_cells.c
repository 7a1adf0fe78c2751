/* SPDX-License-Identifier: MIT */
/* html_cells.c: what acts where, and what became of every cell. */

#include "page_parts.h"
#include "report/numbers.h"

/* ---- injection ---- */

static void add_injection(struct html_page *p, const struct result_row *row, bool ratios)
{
    const char *injection = json_text_or(row->cell[0]->planned, "injection", "unknown");
    html_open_row(p->out, results_row_label(p->r, row, p->a));
    strbuf_add(p->out, "<td>");
    for (const char *line; (line = list_next(p->a, &injection, '\n'));) {
        html_text(p->out, line);
        strbuf_add(p->out, *injection ? "<br>" : "");
    }
    strbuf_add(p->out, "</td>");
    if (ratios) {
        html_cell(p->out, number_ratio(p->a, row->q[Q_INPUT_RATIO_START]), true);
        html_cell(p->out, number_ratio(p->a, row->q[Q_INPUT_RATIO]), true);
    }
    html_close_row(p->out);
}

void html_injection(struct html_page *p)
{
    const struct results *r = p->r;
    bool ratios = results_have(r, Q_INPUT_RATIO_START);
    html_fold(p->out, "injection", "What acts where", false);
    html_open_table(p->out);
    html_column(p->out, "row", false);
    html_column(p->out, "injection plan", false);
    if (ratios) {
        html_column(p->out, quantities[Q_INPUT_RATIO_START].head, true);
        html_column(p->out, quantities[Q_INPUT_RATIO].head, true);
    }
    html_open_rows(p->out);
    for (int i = 0; i < r->n_row; i++)
        add_injection(p, &r->row[i], ratios);
    html_close_table(p->out);
    if (ratios)
        strbuf_add(p->out,
                   "<p class=\"soft\">tok:pos: size of tokens to size of positions where "
                   "they meet (root mean square), before training and after it, median over "
                   "seeds.</p>\n");
    html_end_fold(p->out);
}

/* ---- cells ---- */

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

/* The cell should be in the means and is not. */
static bool is_missing(const struct result_cell *c)
{
    return c->reported && !result_counts(c);
}

static int count_missing(const struct results *r)
{
    int missing = 0;
    for (int i = 0; i < r->n_cell; i++)
        missing += is_missing(&r->cell[i]);
    return missing;
}

static void add_missing(struct html_page *p)
{
    enum { LISTED = 200 };
    const struct results *r = p->r;
    int missing = count_missing(r);
    if (!missing)
        return;
    html_open_table(p->out);
    html_column(p->out, "cell", false);
    html_column(p->out, "state", false);
    html_column(p->out, "reason", false);
    html_open_rows(p->out);
    int listed = 0;
    for (int i = 0; i < r->n_cell && listed < LISTED; i++) {
        const struct result_cell *c = &r->cell[i];
        if (!is_missing(c))
            continue;
        listed++;
        html_open_row(p->out, c->label);
        html_cell(p->out, cell_state_name(c->state), false);
        html_cell(p->out, reason_of(p, c), false);
        html_close_row(p->out);
    }
    html_close_table(p->out);
    if (missing > listed)
        strbuf_addf(p->out, "<p class=\"soft\">and %d more</p>\n", missing - listed);
}

void html_cells(struct html_page *p)
{
    html_fold(p->out, "cells", "Cells", count_missing(p->r) > 0);
    add_counts(p);
    add_missing(p);
    html_end_fold(p->out);
}
