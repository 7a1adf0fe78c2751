/* SPDX-License-Identifier: MIT */
/* findings.c: collects diagnoses in rows, and computes a row's numbers. */
#include "findings/findings.h"

void findings_init(struct findings *f, const struct results *r, struct arena *a)
{
    *f = (struct findings){.r = r, .a = a, .n_row = r->n_row};
    f->row = ARENA_ARRAY(a, r->n_row, struct found_row);
    for (int i = 0; i < r->n_row; i++) {
        f->row[i].row = &r->row[i];
        f->row[i].tree = ARENA_ARRAY(a, r->row[i].n_cell, const struct value *);
    }
}

void findings_add(struct findings *f, const struct result_cell *cell, const struct value *tree)
{
    for (int i = 0; i < f->n_row; i++)
        for (int k = 0; k < f->row[i].row->n_cell; k++) {
            if (f->row[i].row->cell[k] != cell)
                continue;
            f->row[i].tree[k] = tree;
            f->row[i].n++;
            f->n_cell++;
        }
}

void findings_leave_out(struct findings *f, const char *cell, const char *why)
{
    *ARENA_APPEND(f->a, f->left_out, f->n_left_out, f->left_out_room) =
        (struct left_out){cell, why};
}

const struct value *findings_kept(const struct result_cell *cell, struct arena *a, const char **why)
{
    struct value *tree = NULL;
    struct error err = {0};
    *why = NULL;
    if (!cell->dir)
        return NULL;
    peat_status status = json_read_file(cell->dir, "diagnose.json", a, &tree, &err);
    if (status != PEAT_OK) {
        *why = status == PEAT_NOTFOUND ? NULL : arena_strdup(a, err.text);
        return NULL;
    }
    const char *weights;
    if (result_weights(cell->result, &weights) && !json_text_is(tree, "weights", weights)) {
        *why = "its diagnosis was made from weights that the cell no longer has";
        return NULL;
    }
    return tree;
}

void findings_read(struct findings *f, const struct results *r, struct arena *a)
{
    findings_init(f, r, a);
    for (int i = 0; i < r->n_cell; i++) {
        const struct result_cell *c = &r->cell[i];
        const char *why = NULL;
        const struct value *tree = result_counts(c) ? findings_kept(c, a, &why) : NULL;
        if (tree)
            findings_add(f, c, tree);
        else if (why)
            findings_leave_out(f, c->label, why);
    }
}

/* The parts come from the first cell that has any, since all cells of a row have the same depth. */
static int read_row(const struct findings *f, const struct found_row *row, const struct measure *m,
                    struct finding *out, double *chances, int *n_chance)
{
    struct measured one[MEASURE_PARTS];
    int n = 0, cells = row->row->n_cell;
    for (int c = 0; c < cells; c++) {
        int own = row->tree[c] ? measure_read(m, row->tree[c], one) : 0;
        for (; n < own; n++) {
            out[n] =
                (struct finding){.part = one[n].part, .value = ARENA_ARRAY(f->a, cells, double)};
            for (int k = 0; k < cells; k++)
                out[n].value[k] = (double)NAN;
        }
        for (int i = 0; i < own; i++)
            out[i].value[c] = one[i].value;
        if (own && isfinite(one[0].chance))
            chances[(*n_chance)++] = one[0].chance;
    }
    return n;
}

int findings_of(const struct findings *f, const struct found_row *row, const struct measure *m,
                struct finding out[MEASURE_PARTS])
{
    int cells = row->row->n_cell, n_chance = 0;
    double *x = ARENA_ARRAY(f->a, cells, double), *chances = ARENA_ARRAY(f->a, cells, double);
    int n = read_row(f, row, m, out, chances, &n_chance);
    for (int i = 0; i < n; i++) {
        out[i].over = summary_of(x, stats_finite(out[i].value, cells, x));
        out[i].chance = n_chance ? stats_mean(chances, n_chance) : (double)NAN;
    }
    return n;
}
