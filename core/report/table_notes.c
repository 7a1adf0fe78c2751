/* SPDX-License-Identifier: MIT */
/* table_notes.c: the title of a table, and the notes below it. */

#include "report/comparison_tables.h"
#include "report/kinds.h"
#include "table_builder.h"

const char *table_title(struct builder *b)
{
    const struct results *r = b->r;
    static const char *const spread[] = {"95 % CI (Student t)", "standard deviation",
                                         "standard error"};
    if (!*r->metric || r->n_length == 0)
        return arena_printf(b->a, "%s: no cell has a value yet", r->experiment);
    const char *at = "", *unit = "";
    if (b->o->cols)
        at = arena_printf(b->a, " at %" PRId64 " %s", r->length[b->length], r->length_unit);
    else if (*r->length_unit)
        unit = arena_printf(b->a, "; @: length in %s", r->length_unit);
    int n = table_seeds(b);
    const char *seeds = n ? arena_printf(b->a, "%d", n) : "n";
    return arena_printf(b->a, "%s: %s %s (%s is better)%s, mean ± %s over %s seed%s%s",
                        r->experiment, r->metric, results_part(r->split),
                        r->goal_max ? "higher" : "lower", at, spread[b->o->err], seeds,
                        n == 1 ? "" : "s", unit);
}

static bool has_mark(const struct table *t, char mark)
{
    for (int64_t i = 0; i < (int64_t)t->n_row * t->n_column; i++)
        if (strchr(t->cell[i].mark, mark))
            return true;
    return false;
}

static void note_drift(struct builder *b)
{
    const struct results *r = b->r;
    table_note(b->t, "d: cells of this row went on with other kernels or libraries than they began "
                     "with (--allow-drift); their bits cannot be made again");
    for (int i = 0; i < r->n_row; i++)
        for (int k = 0; k < r->row[i].n_cell; k++) {
            const struct result_cell *c = r->row[i].cell[k];
            const char *drift = result_counts(c) ? cell_drift(c->result, b->a) : NULL;
            if (drift)
                table_note(b->t, "  %s: %s", c->label, drift);
        }
}

static void note_pairs(struct builder *b)
{
    struct pairs all = {0};
    int rows = 0;
    for (int i = 0; i < b->r->n_row; i++) {
        const struct pairs *p = &b->r->row[i].at[b->length].pairs;
        all.n += p->n;
        all.by_data += p->by_data;
        for (int k = 0; k < REFUSALS; k++)
            all.refused[k] += p->refused[k];
        rows += p->by_data > 0;
    }
    table_note_refused(b->t, &all);
    if (all.by_data)
        table_note_method(
            b->t,
            "%d of %d pairs (%d row%s) share the data order alone: their weights have other "
            "shapes than the baseline's",
            all.by_data, all.n + pairs_refused(&all), rows, plural(rows));
}

static void note_power(struct builder *b, int m)
{
    const struct results *r = b->r;
    int n = 0;
    for (int i = 0; i < r->n_row; i++)
        n = r->row[i].at[b->length].pairs.n > n ? r->row[i].at[b->length].pairs.n : n;
    if (m > 0 && !paired_can_show(r->test, n, m))
        table_note(
            b->t,
            "%d seed%s cannot reach p < .05 in a %s test over %d comparison%s: that takes %d seeds",
            n, plural(n), paired_test_words[r->test], m, plural(m),
            paired_pairs_needed(r->test, 2, m, STATS_LEVEL));
}

static bool has_column(const struct table *t, const char *head)
{
    for (int k = 0; k < t->n_column; k++)
        if (strcmp(t->column[k].head, head) == 0)
            return true;
    return false;
}

static void note_stopped(struct builder *b)
{
    int stopped = 0, rows = 0, others = 0;
    for (int i = 0; i < b->r->n_row; i++) {
        const struct result_row *row = &b->r->row[i];
        stopped += row->stopped;
        rows += row->cell[0]->may_stop;
        others += !row->cell[0]->may_stop;
    }
    if (stopped)
        table_note_method(b->t,
                          "stopped: cells that train.patience ended before their last step; their "
                          "values are of the step at which they stopped (steps)");
    if (rows && others)
        table_note(b->t,
                   "rows that may stop early are neither ranked nor paired with rows that are "
                   "trained to their last step (--mix-stopped does)");
}

/* True where the requested columns are about differences; without a request the usual ones are. */
static bool shows_differences(const struct builder *b)
{
    static const char *const about[] = {"diff", "p", "p_holm", "p_t", "g_z", "d_z"};
    bool shows = !b->o->columns;
    for (int k = 0; k < b->t->n_column && !shows; k++)
        for (size_t i = 0; i < sizeof(about) / sizeof(*about); i++)
            shows = shows || strcmp(b->t->column[k].head, about[i]) == 0 ||
                    strncmp(b->t->column[k].head, "diff@", 5) == 0;
    return shows;
}

static void note_comparisons(struct builder *b)
{
    const struct results *r = b->r;
    if (b->o->cols || b->length < 0 || !r->baseline_text || !shows_differences(b))
        return;
    int m = r->comparisons[b->length];
    const char *holm = arena_printf(b->a, "Holm over %d comparison%s", m, plural(m)), *exact = "";
    if (has_column(b->t, "p_holm") || !has_column(b->t, "p_t"))
        exact = arena_printf(b->a, "; p_holm: %s, %s", paired_test_name(r->test), holm);
    table_note_method(b->t, "diff: to the baseline (%s), paired by seed%s", r->baseline_text,
                      exact);
    if (has_column(b->t, "and text"))
        table_note_text(b->t);
    if (has_column(b->t, "d_z"))
        table_note_method(b->t,
                          "d_z: effect size: mean difference / standard deviation of differences");
    if (has_column(b->t, "g_z"))
        table_note_method(b->t,
                          "g_z: effect size: mean difference / standard deviation of differences, "
                          "Hedges' correction");
    if (has_column(b->t, "p_t"))
        table_note_method(b->t, "p_t: paired t test, %s; assumes that differences are normal",
                          holm);
    note_power(b, m);
    note_pairs(b);
}

static void note_states(struct builder *b)
{
    const struct results *r = b->r;
    int failed = 0, diverged = 0, missing = 0, stale = 0, damaged = 0, n = 0;
    for (int i = 0; i < r->n_row; i++) {
        n += r->row[i].n_cell;
        failed += r->row[i].failed;
        diverged += r->row[i].diverged;
        missing += r->row[i].missing;
        stale += r->row[i].stale;
        damaged += r->row[i].damaged;
    }
    const struct {
        int n;
        const char *what;
    } line[] = {{missing, "not finished"},
                {failed, "failed: not in the means"},
                {diverged, "diverged: not in the means"},
                {stale, "stale (made with another plugin, data file or engine): not in the means"},
                {damaged, "damaged: not in the means; peat run does them again"}};
    for (size_t i = 0; i < sizeof(line) / sizeof(*line); i++)
        if (line[i].n)
            table_note(b->t, "%d of %d cells %s", line[i].n, n, line[i].what);
}

/* A table with --cols has no column n. */
static void note_seeds(struct builder *b)
{
    int least = INT_MAX, most = 0;
    if (!b->o->cols || b->length < 0 || table_seeds(b))
        return;
    for (int i = 0; i < b->r->n_row; i++) {
        int n = b->r->row[i].at[b->length].n;
        least = n < least ? n : least;
        most = n > most ? n : most;
    }
    table_note_method(b->t,
                      "n: from %d to %d seeds; the table without --cols has the n of each row",
                      least, most);
}

static bool lacks_metric(const struct results *r, const struct result_row *row)
{
    int n = 0;
    for (int i = 0; i < row->n_cell; i++) {
        const struct result_cell *c = row->cell[i];
        if (!result_counts(c))
            continue;
        n++;
        for (int l = 0; l < r->n_length; l++)
            if (c->at[l])
                return false;
    }
    return n > 0;
}

static void note_unmeasured(struct builder *b)
{
    const struct results *r = b->r;
    int n = 0, first = 0;
    for (int i = r->n_row - 1; i >= 0; i--)
        if (lacks_metric(r, &r->row[i])) {
            first = i;
            n++;
        }
    if (n)
        table_note(b->t, "%s: no %s was measured; --metric chooses another metric",
                   name_and_more(b->a, results_row_label(r, &r->row[first], b->a), "row", n),
                   r->metric);
}

static void note_matched(struct builder *b)
{
    const struct results *r = b->r;
    const char **said = ARENA_ARRAY(b->a, r->n_row, const char *);
    for (int i = 0; i < r->n_row; i++)
        said[i] = row_text(&r->row[i], "matched");
    for (int i = 0; i < r->n_row; i++) {
        int times = times_said(said, r->n_row, i);
        if (times)
            table_note_method(
                b->t, "matched: %s: %s",
                name_and_more(b->a, results_row_label(r, &r->row[i], b->a), "row", times), said[i]);
    }
}

static void note_damage(struct builder *b)
{
    enum { SHOWN = 5 };
    int n = 0;
    for (int i = 0; i < b->r->n_cell; i++)
        if (b->r->cell[i].damage && n++ < SHOWN)
            table_note(b->t, "%s", b->r->cell[i].damage);
    if (n > SHOWN)
        table_note(b->t, "and %d more damaged: peat status names them", n - SHOWN);
}

static void note_not_finite(struct builder *b)
{
    const struct results *r = b->r;
    for (int i = 0; i < r->n_cell; i++)
        for (int l = 0; l < r->n_length; l++)
            if (r->cell[i].at[l] && result_counts(&r->cell[i]) &&
                !isfinite(result_value(&r->cell[i], l)))
                table_note(b->t, "%s: %s@%" PRId64 " is not a finite number: not in the mean",
                           r->cell[i].label, r->metric, r->length[l]);
}

static void note_injection(struct builder *b)
{
    for (int i = 0; i < b->r->n_row && b->o->injection; i++) {
        const struct result_row *row = &b->r->row[b->order[i]];
        table_note(b->t, "%s:", results_row_label(b->r, row, b->a));
        const char *text = row_text(row, "injection");
        for (const char *line; (line = list_next(b->a, &text, '\n'));)
            table_note(b->t, "  %s", line);
    }
}

static void note_trained_by(struct builder *b)
{
    int n = 0, all = 0;
    const char *by = NULL;
    bool several = false;
    for (int i = 0; i < b->r->n_row; i++)
        for (int k = 0; k < b->r->row[i].n_cell; k++) {
            const struct result_cell *c = b->r->row[i].cell[k];
            const char *one = result_counts(c) ? json_get_text(c->meta, "trained_by") : NULL;
            all += result_counts(c);
            n += one != NULL;
            several = several || (one && by && strcmp(one, by) != 0);
            by = by ? by : one;
        }
    if (n > 0)
        table_note(b->t,
                   "another program trained %d of %d cells (%s%s): speed and time of training are "
                   "its own",
                   n, all, by, several ? ", ..." : "");
}

void table_note_registration(struct table *t, const struct registration *g)
{
    for (int i = 0; i < g->n; i++)
        table_note(t, "%s", g->line[i]);
}

void table_notes(struct builder *b)
{
    struct kinds kinds;
    if (has_mark(b->t, 'u'))
        table_note(b->t, "u: at this length the model used rows of a learned table that were never "
                         "trained");
    if (has_mark(b->t, 'e'))
        table_note(b->t, "e: " ENGINES_CROSSED);
    if (has_mark(b->t, 'd'))
        note_drift(b);
    for (int i = 0; i < b->r->n_note; i++)
        table_note(b->t, "%s", b->r->note[i]);
    note_stopped(b);
    note_comparisons(b);
    note_states(b);
    note_seeds(b);
    note_unmeasured(b);
    note_trained_by(b);
    kinds_find(&kinds, b->r, b->r->n_row, b->r->row, b->a);
    kinds_note(b->t, &kinds);
    table_note_rivals(b->t, b->r);
    if (b->r->n_dropped)
        table_note_method(b->t,
                          "schemes with nothing to merge have one row each: peat status names %d",
                          b->r->n_dropped);
    if (b->r->n_skipped)
        table_note(b->t, "%d cell%s skipped: refused by the plan; peat status says why",
                   b->r->n_skipped, plural(b->r->n_skipped));
    note_matched(b);
    note_not_finite(b);
    note_damage(b);
    if (b->r->registration.changed)
        table_note_registration(b->t, &b->r->registration);
    note_injection(b);
}
