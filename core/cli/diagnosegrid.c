/* SPDX-License-Identifier: MIT */
/* diagnosegrid.c: diagnoses cells one after another and writes their rows. */
#include "cli/diagnosegrid.h"

#include "cli/verbs.h"
#include "diagnose/celldiagnosis.h"
#include "plot/plot_findings.h"

struct work {
    const struct cli *cli;
    const struct diagnose_grid *g;
    const struct team *team;
    struct results r;
    struct findings found;
    int fit, done, failed; /* number of cells */
    struct arena *a;
    struct error err; /* the last error of a cell */
};

/* ---- one cell ---- */

/* A copy of the tree, because closing the diagnosis frees its memory; NULL: w->err has the reason.
 */
static const struct value *diagnose_one(struct work *w, const struct result_cell *c)
{
    const struct diagnose_grid *g = w->g;
    struct cell_diagnosis d;
    struct value *own, *tree = NULL;
    if (cell_diagnosis_open(&d, rundir_cell(w->r.dir, c->id), (int)g->batches, w->team,
                            w->cli->trail, &w->err) == PEAT_OK &&
        cell_diagnosis_run(&d, g->only, g->n_only, &own, &w->err) == PEAT_OK &&
        (!g->save || json_write_file(c->dir, "diagnose.json", own, &w->err) == PEAT_OK)) {
        const char *text = json_to_text(own, JSON_DENSE, w->a);
        tree = json_parse(w->a, text, strlen(text), "diagnosis", &w->err);
    }
    cell_diagnosis_close(&d);
    return tree;
}

static void leave_out(struct work *w, const struct result_cell *c, const char *why)
{
    findings_leave_out(&w->found, c->label, arena_strdup(w->a, why));
}

static void add_kept(struct work *w, const struct result_cell *c)
{
    const char *why;
    const struct value *tree = findings_kept(c, w->a, &why);
    if (tree)
        findings_add(&w->found, c, tree);
    else
        leave_out(w, c, why ? why : "no diagnosis of it was kept");
}

static void add_cell(struct work *w, const struct result_cell *c)
{
    const struct value *tree;
    struct arena_mark mark = arena_mark(w->a);
    if (!result_counts(c)) {
        leave_out(w, c, cell_state_name(c->state));
    } else if (w->g->kept) {
        add_kept(w, c);
    } else if ((tree = diagnose_one(w, c))) {
        findings_add(&w->found, c, tree);
    } else {
        arena_rewind(w->a, mark);
        w->failed++;
        cli_say("%s: %s", c->label, w->err.text);
        leave_out(w, c, w->err.text);
    }
    w->done++;
    if (!w->g->kept && isatty(STDERR_FILENO))
        cli_say("%d of %d cells: %s", w->done, w->fit, c->label);
}

/* ---- all cells ---- */

/* Leaves out cells that best_over uses for choosing, or did not choose, which are in no row. */
static bool fits(const struct work *w, const struct result_cell *c)
{
    return c->reported && cell_fits(w->cli->operand[1], c->label, c->id);
}

static peat_status add_cells(struct work *w)
{
    for (int i = 0; i < w->r.n_cell; i++)
        w->fit += fits(w, &w->r.cell[i]);
    if (w->fit == 0)
        return error_set(w->cli->err, PEAT_INVALID,
                         "no cell of '%s' matches '%s'; one of its %d cells is '%s'",
                         w->cli->operand[0], w->cli->operand[1], w->r.n_cell,
                         w->r.n_cell ? w->r.cell[0].label : "");
    for (int i = 0; i < w->r.n_cell; i++)
        if (fits(w, &w->r.cell[i]))
            add_cell(w, &w->r.cell[i]);
    if (w->found.n_cell > 0)
        return PEAT_OK;
    const struct left_out *first = &w->found.left_out[0];
    return error_set(w->cli->err, PEAT_INVALID, "none of %d cells could be diagnosed: %s: %s",
                     w->fit, first->cell, first->why);
}

/* ---- output ---- */

static void add_text(struct work *w)
{
    const struct diagnose_grid *g = w->g;
    struct strbuf *out = w->cli->out;
    struct table t;
    if (g->format == DIAGNOSE_CSV) {
        findings_csv(&w->found, out);
    } else if (g->format == DIAGNOSE_JSON) {
        struct json map = json_map(w->a);
        findings_json(&w->found, map);
        json_print(map.v, JSON_INDENTED, out);
    } else if (findings_table(&t, &w->found, g->columns, w->cli->err) == PEAT_OK) {
        cli_add_wrapped(&t, g->file, false, out);
    }
}

static void draw(struct work *w)
{
    const struct diagnose_grid *g = w->g;
    struct figure f;
    const struct findings_figure o = {
        .measure = g->figure, .over = g->over, .lines = g->lines, .panels = g->panels};
    if (plot_findings(&f, &w->found, &o, w->cli->err) == PEAT_OK &&
        figure_save(&f, g->file, FILE_ANYONES, (enum figure_format)figure_format_of(g->file),
                    w->cli->err) == PEAT_OK)
        cli_print("%s\n", g->file);
    figure_release(&f);
}

int diagnose_grid(const struct cli *cli, const struct diagnose_grid *g, const struct team *team)
{
    struct work *w = ARENA_NEW(cli->arena, struct work);
    static const struct results_options plain;
    *w = (struct work){.cli = cli, .g = g, .team = team, .a = cli->arena};
    if (results_read(&w->r, 1, cli->operand, &plain, w->a, cli->err) != PEAT_OK)
        return CLI_USAGE;
    findings_init(&w->found, &w->r, w->a);
    if (add_cells(w) != PEAT_OK)
        return CLI_USAGE;
    if (g->figure) {
        draw(w);
    } else {
        add_text(w);
        cli_output(cli, g->file);
    }
    return cli->err->status != PEAT_OK ? CLI_USAGE : w->failed ? CLI_FAILED : CLI_DONE;
}
