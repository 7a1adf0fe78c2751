/* SPDX-License-Identifier: MIT */
/* comparison_check.c: checks contrasts, claims and metrics against the rows of the plan. */

#include "experiment/claim.h"
#include "planning.h"

/* ---- metrics ---- */

static const peat_metric *metrics_of(const struct plan_row *row)
{
    return ((const peat_task *)row->cell.config.task.plugin->desc->interface)->metric;
}

bool metric_check(struct planning *p, const struct plan_row *row, const char *wanted,
                  struct place at)
{
    const peat_plugin *task = row->cell.config.task.plugin->desc;
    const peat_metric *metric = metrics_of(row);
    int n = 0;
    while (metric[n].name && strcmp(metric[n].name, wanted) != 0)
        n++;
    if (!wanted[0] || metric[n].name)
        return true;
    const char **name = ARENA_ARRAY(p->a, n + 1, const char *);
    for (int i = 0; i < n; i++)
        name[i] = metric[i].name;
    mistake(p->err, at, "task '%s' has no metric '%s'; it has: ", task->id, wanted);
    error_add_names(p->err, wanted, name, n);
    return false;
}

/* True for a multiple of the loss: twice the loss gives twice the metric, whatever the
 * other sums. */
static bool is_multiple_of_loss(struct trail *trail, const peat_metric *metric)
{
    const peat_sums once = {.size = sizeof(once),
                            .nll = 1.0,
                            .targets = 2,
                            .correct = 1,
                            .units = 2,
                            .sequences = 2,
                            .matches = 1,
                            .generated = 2,
                            .generated_correct = 1,
                            .class_rows = 2,
                            .class_nll = 1.0};
    peat_sums twice = once;
    twice.nll = 2.0;
    trail_enter(trail, metric->name);
    double x = metric->value(&once), y = metric->value(&twice);
    trail_leave(trail);
    return x > 0.0 && fabs(y - 2.0 * x) < 1e-9 * x;
}

/* ---- rows ---- */

/* Rows as the table will have them: of rows that differ only on axes whose value is chosen, the
 * first represents all. */
struct table_rows {
    struct labelled labels;
    const struct plan_row **row;
};

/* The first row that differs from this one only in choices; NULL: this one. */
static const struct plan_row *same_row(const struct planning *p, const struct plan_row *row)
{
    bool chosen = p->e->report.best_over.n_axis > 0;
    for (const struct plan_row *x = p->row; chosen && x < row; x++)
        if (labels_alike(p->e->n_axis, x->cell.axis, row->cell.axis, p->e->chosen, false))
            return x;
    return NULL;
}

static struct table_rows table_rows(const struct planning *p)
{
    const struct experiment *e = p->e;
    const char **key = ARENA_ARRAY(p->a, e->n_axis + 1, const char *), **own;
    const char *const **label = ARENA_ARRAY(p->a, p->n + 1, const char *const *);
    struct table_rows t = {.row = ARENA_ARRAY(p->a, p->n + 1, const struct plan_row *)};
    int n_axis = 0, n = 0, axis[EXPERIMENT_MAX_AXES];
    for (int i = 0; i < e->n_axis; i++)
        if (!e->chosen[i]) {
            axis[n_axis] = i;
            key[n_axis++] = e->axis[i].key;
        }
    for (int i = 0; i < p->n; i++) {
        if (same_row(p, &p->row[i]))
            continue;
        own = ARENA_ARRAY(p->a, n_axis + 1, const char *);
        for (int k = 0; k < n_axis; k++)
            own[k] = p->row[i].cell.axis[axis[k]];
        t.row[n] = &p->row[i];
        label[n++] = own;
    }
    t.labels = (struct labelled){n_axis, n, key, label};
    return t;
}

static int count_matches(const struct labelled *rows, const struct value *map)
{
    int n = 0;
    for (int i = 0; i < rows->n_row; i++)
        n += labels_match(rows, i, map);
    return n;
}

/* The command line, or matrix.only, may leave some of the file's labels out of the grid; it is not
 * a mistake to name them. */
static bool is_narrowed(const struct experiment *e)
{
    for (int i = 0; i < e->n_axis; i++)
        if (e->axis[i].n < e->axis[i].n_file)
            return true;
    return false;
}

/* "; skipped: learned.concat.s0: why, and 2 more", or "". */
static const char *what_was_skipped(const struct planning *p)
{
    int n = p->n_refused;
    if (n == 0)
        return "";
    const char *more = n > 1 ? arena_printf(p->a, " (and %d more)", n - 1) : "";
    return arena_printf(p->a, "; the plan skips '%s'%s: %s",
                        row_name(p, p->refused, false, p->e->seed[0]), more, p->refused->refused);
}

/* An error, unless the rows are missing because the grid was narrowed. */
static bool no_pair(struct planning *p, const struct contrast *c, const struct labelled *rows)
{
    bool narrowed = is_narrowed(p->e);
    for (int side = 0; c->factor < 0 && side < 2; side++) {
        int n = count_matches(rows, c->side->item[side]);
        if (n == 0 && narrowed)
            return true;
        if (n == 0)
            return mistake(p->err, c->side->item[side]->at, "no row of the plan has these labels%s",
                           what_was_skipped(p));
        if (n > 1)
            return mistake(p->err, c->side->item[side]->at,
                           "these labels name %d rows of the plan: name more axes", n);
    }
    if (c->factor < 0)
        return mistake(p->err, c->side->at, "both are the same row");
    return narrowed ||
           mistake(p->err, c->at,
                   "'%s' compares nothing: no two rows of the plan have the labels "
                   "'%s' and '%s' of %s and agree on all other axes%s",
                   c->name, c->label[0], c->label[1], rows->axis[c->factor], what_was_skipped(p));
}

/* Where the length is not given, the task chooses it during the run. */
static bool is_evaluated(const struct plan_row *row, int64_t length)
{
    const peat_reals *lengths = &row->cell.config.eval.lengths;
    for (size_t i = 0; i < (size_t)lengths->n; i++)
        if (lengths->item[i] == (double)length)
            return true;
    return lengths->n == 0;
}

/* "16, 32" */
static const char *lengths_of(const struct planning *p, const struct plan_row *row)
{
    const peat_reals *lengths = &row->cell.config.eval.lengths;
    const char *text = NULL;
    for (size_t i = 0; i < (size_t)lengths->n; i++)
        text = arena_item(p->a, text, "%g", lengths->item[i]);
    return text ? text : "the task's";
}

/* Refuses a claim without a length where a row has several, because no result can choose it yet. */
static bool check_has_length(struct planning *p, const struct value *claim,
                             const struct plan_row *row)
{
    if (value_get(claim, "length") || row->cell.config.eval.lengths.n < 2)
        return true;
    return mistake(p->err, claim->at, "claim '%s' needs a 'length': row '%s' is evaluated at %s",
                   value_get(claim, "name")->text, row->cell.label, lengths_of(p, row));
}

static bool check_measure(struct planning *p, const struct value *v, const struct plan_row *row)
{
    const struct value *metric = value_get(v, "metric"), *length = value_get(v, "length");
    if (metric && !metric_check(p, row, metric->text, metric->at))
        return false;
    if (length && !is_evaluated(row, length->integer))
        return mistake(p->err, length->at, "row '%s' is not evaluated at length %s: it is at %s",
                       row->cell.label, length->text, lengths_of(p, row));
    return true;
}

static bool has_pair_at(const struct contrast_pairs *pairs, int axis, const char *label)
{
    for (int i = 0; i < pairs->n; i++)
        if (same_text(pairs->pair[i].label[axis], label))
            return true;
    return false;
}

/* Why both labels of an interaction, or two labels of a trend, have no rows to pair; NULL: they
 * have. */
static const char *no_change(struct planning *p, const struct labelled *rows,
                             const struct contrast_pairs *pairs, const struct change *c)
{
    bool several = false;
    for (int i = 0; c->kind == CHANGE_INTERACTION && i < 2; i++)
        if (!has_pair_at(pairs, c->axis, c->label[i]))
            return arena_printf(p->a, "the contrast compares no rows with '%s' of %s", c->label[i],
                                rows->axis[c->axis]);
    for (int i = 1; i < pairs->n; i++)
        several =
            several || !same_text(pairs->pair[i].label[c->axis], pairs->pair[0].label[c->axis]);
    return c->kind == CHANGE_INTERACTION || several
               ? NULL
               : arena_printf(p->a, "a trend needs rows to compare at two labels of %s or more",
                              rows->axis[c->axis]);
}

/* *has_rows: whether the grid, if it is narrowed, still has the rows of the claim. */
static bool check_change(struct planning *p, const struct labelled *rows,
                         const struct contrast_pairs *pairs, const struct value *v, bool *has_rows)
{
    struct change c;
    if (change_from_value(&c, v, rows, p->err) != PEAT_OK)
        return false;
    const char *why = c.kind == CHANGE_NONE ? NULL : no_change(p, rows, pairs, &c);
    *has_rows = *has_rows && !why;
    return !why || is_narrowed(p->e) ||
           mistake(p->err,
                   value_key_place(v, c.kind == CHANGE_INTERACTION ? "interaction" : "trend"), "%s",
                   why);
}

/* Checks for the data that `sampled: seeds_and_text` needs: losses of stretches of a test part. */
static bool check_sampled(struct planning *p, const struct value *v, const struct plan_row *row)
{
    const struct value *sampled = value_get(v, "sampled"), *wanted = value_get(v, "metric");
    const peat_metric *metric = metrics_of(row);
    if (!sampled)
        return true;
    if (row->cell.config.eval.test == 0)
        return mistake(p->err, sampled->at,
                       "'sampled: seeds_and_text' needs a test part, and row '%s' has none: give "
                       "eval.test",
                       row->cell.label);
    while (wanted && strcmp(metric->name, wanted->text) != 0)
        metric++;
    return is_multiple_of_loss(p->registry->trail, metric) ||
           mistake(p->err, sampled->at,
                   "'sampled: seeds_and_text' needs a metric that is a multiple of the loss, and "
                   "'%s' of row '%s' is not one",
                   metric->name, row->cell.label);
}

/* The first of these settings in which rows differ; NULL: none. loosely: a setting that one of the
 * rows lacks does not count. */
static const char *differing(const struct plan_row *x, const struct plan_row *y,
                             const char *const *setting, bool loosely)
{
    for (; *setting; setting++) {
        const struct value *a = value_get_path(x->cell.config.resolved, *setting);
        const struct value *b = value_get_path(y->cell.config.resolved, *setting);
        if (!(loosely && (!a || !b)) && !value_equal(a, b))
            return *setting;
    }
    return NULL;
}

/* Cells of one seed can be paired when they train on the same batches of one task, one cell perhaps
 * on more of them. */
static bool check_batches(struct planning *p, const struct value *v, const struct plan_row *a,
                          const struct plan_row *b)
{
    static const char *const decides[] = {"task", "eval.test", "train.batch", "train.seq_len",
                                          NULL};
    const char *other = differing(a, b, decides, false);
    return !other || mistake(p->err, v->at,
                             "claim '%s' cannot be decided: rows '%s' and '%s' differ in %s, so "
                             "their cells cannot be paired",
                             value_get(v, "name")->text, a->cell.label, b->cell.label, other);
}

static bool check_claim(struct planning *p, const struct value *v, const struct plan_row *a,
                        const struct plan_row *b)
{
    return check_has_length(p, v, a) && check_batches(p, v, a, b) && check_sampled(p, v, a) &&
           check_sampled(p, v, b);
}

static bool check_contrast(struct planning *p, const struct table_rows *t, const struct contrast *c,
                           const struct value *v, bool *has_rows)
{
    struct contrast_pairs pairs;
    contrast_pairs_find(c, &t->labels, p->a, &pairs);
    bool ok = pairs.n || no_pair(p, c, &t->labels), claim = value_get(v, "direction");
    *has_rows = pairs.n > 0;
    ok = ok && (!claim || check_change(p, &t->labels, &pairs, v, has_rows));
    for (int i = 0; ok && i < pairs.n; i++) {
        const struct plan_row *a = t->row[pairs.pair[i].a], *b = t->row[pairs.pair[i].b];
        ok =
            check_measure(p, v, a) && check_measure(p, v, b) && (!claim || check_claim(p, v, a, b));
    }
    return ok;
}

static bool check_comparisons(struct planning *p)
{
    struct table_rows t = table_rows(p);
    const struct value *const list[] = {p->e->report.contrasts, p->e->claims};
    bool ok = true, *has_rows = NULL;
    for (int k = 0; k < 2; k++) {
        has_rows = ARENA_ARRAY(p->a, list[k] ? list[k]->n : 0, bool);
        for (int i = 0; ok && list[k] && i < list[k]->n; i++) {
            struct contrast c;
            ok = contrast_from_value(&c, list[k]->item[i], &t.labels, p->err) == PEAT_OK &&
                 check_contrast(p, &t, &c, list[k]->item[i], &has_rows[i]);
        }
    }
    p->plan->claim_has_rows = has_rows;
    return ok;
}

/* ---- best_over ---- */

/* Two values can only be compared by a metric that means the same for both. */
static bool check_measured_alike(struct planning *p, const struct plan_row *row)
{
    static const char *const decides[] = {"task", "eval", "model.arch", NULL};
    const struct plan_row *first = same_row(p, row);
    const char *other = first ? differing(first, row, decides, true) : NULL;
    return !other || mistake(p->err, p->e->report.best_over.at,
                             "best_over cannot choose between '%s' and '%s': they differ in %s, so "
                             "their values cannot be compared",
                             first->cell.label, row->cell.label, other);
}

static bool check_choice(struct planning *p, const struct plan_row *row)
{
    const struct best_over *b = &p->e->report.best_over;
    if (!metric_check(p, row, b->metric ? b->metric : "", b->metric_at))
        return false;
    if (b->length >= 0 && !is_evaluated(row, b->length))
        return mistake(p->err, b->length_at,
                       "row '%s' is not evaluated at length %" PRId64 ": it is at %s",
                       row->cell.label, b->length, lengths_of(p, row));
    if (b->length < 0 && row->cell.config.eval.lengths.n > 1)
        return mistake(p->err, b->at, "best_over needs a 'length': row '%s' is evaluated at %s",
                       row->cell.label, lengths_of(p, row));
    if (b->halves && !row->cell.config.eval.halves)
        return mistake(p->err, b->at,
                       "best_over by halves needs eval: {halves: true}, which row '%s' does not "
                       "have",
                       row->cell.label);
    return check_measured_alike(p, row);
}

/* Whether the row has the labels at which best_over chooses, and equals `row` on the axes that
 * these do not name. */
static bool chooses_for(const struct planning *p, const struct plan_row *x,
                        const struct plan_row *row)
{
    const struct best_over *b = &p->e->report.best_over;
    for (int i = 0; i < p->e->n_axis; i++) {
        const char *key = p->e->axis[i].key;
        if (best_over_spans(b, key) ? !best_over_fits(b, key, x->cell.axis[i])
                                    : strcmp(x->cell.axis[i], row->cell.axis[i]) != 0)
            return false;
    }
    return true;
}

static bool check_chooser(struct planning *p, const struct plan_row *row)
{
    const struct best_over *b = &p->e->report.best_over;
    for (int i = 0; i < p->n; i++)
        if (chooses_for(p, &p->row[i], row))
            return true;
    return mistake(p->err, b->only->at,
                   "best_over chooses%s, and row '%s' has no cell there to choose from",
                   best_over_where(b, p->a), row->cell.label);
}

static bool check_best_over(struct planning *p)
{
    bool ok = true;
    for (int i = 0; p->e->report.best_over.only && ok && i < p->n; i++)
        ok = check_chooser(p, &p->row[i]);
    for (int i = 0; p->e->report.best_over.n_axis && ok && i < p->n; i++)
        ok = check_choice(p, &p->row[i]);
    return ok;
}

bool comparisons_check(struct planning *p)
{
    return check_best_over(p) && check_comparisons(p);
}
