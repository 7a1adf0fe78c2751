/* SPDX-License-Identifier: MIT */
/* table.c: which rows, columns and notes a table of results has. */
#include "report/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/numbers.h"
#include "report/selector.h"

enum { COLUMNS_ROOM = EXPERIMENT_MAX_AXES + RESULTS_MAX_LENGTHS + 16 };

/* A table under construction. */
struct builder {
    struct table *t;
    const struct results *r;
    const struct table_options *o;
    struct strbuf text;            /* for one cell */
    int length;                    /* index of the main one; -1: nothing was measured */
    int axis[EXPERIMENT_MAX_AXES]; /* in the order shown */
    int *order;                    /* rows, in the order shown */
    struct error *err;
};

static const char *keep(struct builder *b)
{
    const char *text = arena_strdup(b->t->arena, b->text.text);
    BUG_UNLESS(text);
    strbuf_clear(&b->text);
    return text;
}

static void *room_for(struct builder *b, int64_t n, size_t bytes)
{
    void *memory = arena_array(b->t->arena, (size_t)(n > 0 ? n : 1), bytes);
    BUG_UNLESS(memory);
    return memory;
}

/* What b->text holds becomes a note. */
static void add_note(struct builder *b)
{
    struct table *t = b->t;
    if (t->n_note == t->note_room) {
        int room = t->note_room ? 2 * t->note_room : 16;
        const char **larger = room_for(b, room, sizeof(*larger));
        if (t->n_note)
            memcpy(larger, t->note, (size_t)t->n_note * sizeof(*larger));
        t->note = larger;
        t->note_room = room;
    }
    t->note[t->n_note++] = keep(b);
}

static void add_column(struct builder *b, const char *head, bool right)
{
    BUG_UNLESS(b->t->n_column < COLUMNS_ROOM);
    b->t->column[b->t->n_column++] = (struct table_column){head, right};
}

/* ---- options ---- */

static peat_status find_axis(struct builder *b, const char *option, const char *name, size_t n,
                             int *axis)
{
    *axis = selector_axis(b->r, name, n);
    if (*axis >= 0)
        return PEAT_OK;
    for (int i = 0; i < b->r->n_axis; i++)
        strbuf_addf(&b->text, "%s%s", i ? ", " : "", b->r->axis[i]);
    const char *known = b->r->n_axis ? keep(b) : "none";
    return error_set(b->err, PEAT_INVALID,
                     "option '--%s': there is no axis '%.*s'; the axes are %s", option, (int)n,
                     name, known);
}

static peat_status choose_length(struct builder *b)
{
    const struct results *r = b->r;
    b->length = r->n_length ? 0 : -1;
    if (b->o->length < 0 || r->n_length == 0)
        return PEAT_OK;
    for (b->length = 0; b->length < r->n_length; b->length++)
        if (r->length[b->length] == b->o->length)
            return PEAT_OK;
    for (int l = 0; l < r->n_length; l++)
        strbuf_addf(&b->text, "%s%" PRId64, l ? ", " : "", r->length[l]);
    return error_set(b->err, PEAT_INVALID,
                     "nothing was evaluated at length %" PRId64 "; there are %s", b->o->length,
                     keep(b));
}

static peat_status order_axes(struct builder *b)
{
    int first = -1, n = 0;
    peat_status status = PEAT_OK;
    if (b->o->rows)
        status = find_axis(b, "rows", b->o->rows, strlen(b->o->rows), &first);
    if (first >= 0)
        b->axis[n++] = first;
    for (int i = 0; i < b->r->n_axis; i++)
        if (i != first)
            b->axis[n++] = i;
    return status;
}

/* ---- row order ---- */

/* First row that has this label. */
static int label_rank(const struct results *r, int axis, const char *label)
{
    int i = 0;
    while (i < r->n_row && strcmp(r->row[i].axis[axis], label) != 0)
        i++;
    return i;
}

struct ranked {
    double rank;
    int place;
};

static int compare_ranked(const void *x, const void *y)
{
    const struct ranked *a = x, *b = y;
    return a->rank != b->rank ? (a->rank > b->rank) - (a->rank < b->rank) : a->place - b->place;
}

/* Stable: rows of equal rank keep their order. axis -1: by the metric, best first. */
static void sort_rows(struct builder *b, int axis)
{
    const struct results *r = b->r;
    struct ranked *by = room_for(b, r->n_row, sizeof(*by));
    int *order = room_for(b, r->n_row, sizeof(*order));
    for (int i = 0; i < r->n_row; i++) {
        const struct result_row *row = &r->row[b->order[i]];
        double mean = b->length >= 0 ? row->at[b->length].mean : (double)NAN;
        double rank = axis >= 0     ? label_rank(r, axis, row->axis[axis])
                      : isnan(mean) ? (double)INFINITY
                      : r->goal_max ? -mean
                                    : mean;
        by[i] = (struct ranked){rank, i};
    }
    qsort(by, (size_t)r->n_row, sizeof(*by), compare_ranked);
    for (int i = 0; i < r->n_row; i++)
        order[i] = b->order[by[i].place];
    b->order = order;
}

static peat_status order_rows(struct builder *b)
{
    b->order = room_for(b, b->r->n_row, sizeof(*b->order));
    for (int i = 0; i < b->r->n_row; i++)
        b->order[i] = i;
    if (b->o->rows && b->r->n_axis)
        sort_rows(b, b->axis[0]);
    if (!b->o->sort)
        return PEAT_OK;
    int axis = -1;
    peat_status status = PEAT_OK;
    if (strcmp(b->o->sort, "metric") != 0)
        status = find_axis(b, "sort", b->o->sort, strlen(b->o->sort), &axis);
    if (status == PEAT_OK)
        sort_rows(b, axis);
    return status;
}

/* ---- cells ---- */

static struct table_cell plain(const char *text)
{
    return (struct table_cell){text, "", false};
}

static struct table_cell metric_cell(struct builder *b, const struct result_row *row, int length)
{
    const struct summary *s = &row->at[length];
    number_interval(&b->text, s->mean, s->ci_high - s->mean, false);
    bool strong = row->best[length] && b->r->n_row > 1;
    b->t->any_strong = b->t->any_strong || strong;
    return (struct table_cell){keep(b), s->untrained ? "u" : "", strong};
}

static struct table_cell diff_cell(struct builder *b, const struct result_row *row)
{
    const struct summary *s = &row->at[b->length];
    if (row->baseline == (int)(row - b->r->row))
        return plain("baseline");
    number_interval(&b->text, s->diff, s->diff_ci_high - s->diff, true);
    return plain(keep(b));
}

static struct table_cell p_cell(struct builder *b, const struct result_row *row)
{
    number_p(&b->text, row->at[b->length].p_holm);
    return plain(keep(b));
}

static struct table_cell n_cell(struct builder *b, const struct result_row *row)
{
    int n = b->length >= 0 ? row->at[b->length].n : 0;
    strbuf_addf(&b->text, n == row->n_cell ? "%d" : "%d/%d", n, row->n_cell);
    return plain(keep(b));
}

static struct table_cell int_cell(struct builder *b, int n)
{
    strbuf_addf(&b->text, "%d", n);
    return plain(keep(b));
}

static struct table_cell count_cell(struct builder *b, double x)
{
    number_count(&b->text, x);
    return plain(keep(b));
}

static struct table_cell mib_cell(struct builder *b, double kib)
{
    strbuf_addf(&b->text, isfinite(kib) ? "%.0f" : "-", kib / 1024.0);
    return plain(keep(b));
}

static struct table_cell seconds_cell(struct builder *b, double s)
{
    strbuf_addf(&b->text, !isfinite(s) ? "-" : s < 100.0 ? "%.1f" : "%.0f", s);
    return plain(keep(b));
}

/* ---- one row per setting ---- */

/* Columns that only some tables have. */
struct shown {
    bool diff, failed, diverged;
};

static struct shown what_to_show(const struct builder *b)
{
    struct shown s = {b->r->baseline_text != NULL && b->length >= 0, false, false};
    for (int i = 0; i < b->r->n_row; i++) {
        s.failed = s.failed || b->r->row[i].failed;
        s.diverged = s.diverged || b->r->row[i].diverged;
    }
    return s;
}

static const char *length_head(struct builder *b, const char *what, int length)
{
    strbuf_addf(&b->text, "%s@%" PRId64, what, b->r->length[length]);
    return keep(b);
}

static void add_heads(struct builder *b, const struct shown *s)
{
    const struct results *r = b->r;
    for (int i = 0; i < r->n_axis; i++)
        add_column(b, results_axis_name(r, b->axis[i]), false);
    b->t->n_label = b->t->n_column;
    for (int l = 0; l < r->n_length; l++)
        add_column(b, length_head(b, r->metric, l), true);
    if (s->diff) {
        add_column(b, length_head(b, "diff", b->length), true);
        add_column(b, "p_holm", true);
    }
    add_column(b, "n", true);
    if (s->failed)
        add_column(b, "failed", true);
    if (s->diverged)
        add_column(b, "diverged", true);
    b->t->first_cost = b->t->n_column;
    static const char *const cost[] = {"params",   "pos.params", "FLOPs/tok", "tok/s",
                                       "peak MiB", "wall s",     "attention"};
    for (size_t i = 0; i < sizeof(cost) / sizeof(*cost); i++)
        add_column(b, cost[i], i < 6);
}

static void fill_row(struct builder *b, const struct shown *s, const struct result_row *row,
                     struct table_cell *cell)
{
    const struct results *r = b->r;
    for (int i = 0; i < r->n_axis; i++)
        *cell++ = plain(row->axis[b->axis[i]]);
    for (int l = 0; l < r->n_length; l++)
        *cell++ = metric_cell(b, row, l);
    if (s->diff) {
        *cell++ = diff_cell(b, row);
        *cell++ = p_cell(b, row);
    }
    *cell++ = n_cell(b, row);
    if (s->failed)
        *cell++ = int_cell(b, row->failed);
    if (s->diverged)
        *cell++ = int_cell(b, row->diverged);
    *cell++ = count_cell(b, row->params);
    *cell++ = count_cell(b, row->params_positional);
    *cell++ = count_cell(b, row->flops_per_token);
    *cell++ = count_cell(b, row->tokens_per_s);
    *cell++ = mib_cell(b, row->peak_rss_kib);
    *cell++ = seconds_cell(b, row->wall_s);
    *cell++ = plain(row->attention_path ? row->attention_path : "-");
}

static void list_rows(struct builder *b)
{
    struct table *t = b->t;
    const struct shown s = what_to_show(b);
    add_heads(b, &s);
    t->n_row = b->r->n_row;
    t->cell = room_for(b, (int64_t)t->n_row * t->n_column, sizeof(*t->cell));
    for (int i = 0; i < t->n_row; i++)
        fill_row(b, &s, &b->r->row[b->order[i]], t->cell + (int64_t)i * t->n_column);
}

/* ---- axes as columns ---- */

struct pivot {
    bool is_column[EXPERIMENT_MAX_AXES];
    int n_column, n_row;
    const struct result_row **column, **row; /* one that has the labels */
};

static peat_status read_cols(struct builder *b, struct pivot *p)
{
    for (const char *word = b->o->cols; *word;) {
        size_t n = strcspn(word, ",");
        int axis;
        peat_status status = find_axis(b, "cols", word, n, &axis);
        if (status != PEAT_OK)
            return status;
        p->is_column[axis] = true;
        word += n + (word[n] == ',');
    }
    return PEAT_OK;
}

/* Equal on the axes that are columns, or on those that are not. */
static bool same_side(const struct results *r, const struct pivot *p, bool columns,
                      const struct result_row *x, const struct result_row *y)
{
    for (int i = 0; i < r->n_axis; i++)
        if (p->is_column[i] == columns && strcmp(x->axis[i], y->axis[i]) != 0)
            return false;
    return true;
}

static int collect(const struct results *r, const struct pivot *p, bool columns,
                   const struct result_row *row, const struct result_row **list, int n)
{
    for (int i = 0; i < n; i++)
        if (same_side(r, p, columns, list[i], row))
            return n;
    list[n] = row;
    return n + 1;
}

static const char *side_label(struct builder *b, const struct pivot *p,
                              const struct result_row *row)
{
    for (int i = 0; i < b->r->n_axis; i++)
        if (p->is_column[b->axis[i]])
            strbuf_addf(&b->text, "%s%s", b->text.n ? " " : "", row->axis[b->axis[i]]);
    return keep(b);
}

static struct table_cell crossing(struct builder *b, const struct pivot *p,
                                  const struct result_row *row, const struct result_row *column)
{
    for (int i = 0; i < b->r->n_row && b->length >= 0; i++)
        if (same_side(b->r, p, false, &b->r->row[i], row) &&
            same_side(b->r, p, true, &b->r->row[i], column))
            return metric_cell(b, &b->r->row[i], b->length);
    return plain("");
}

static peat_status cross_rows(struct builder *b)
{
    struct table *t = b->t;
    const struct results *r = b->r;
    struct pivot p = {.n_column = 0};
    peat_status status = read_cols(b, &p);
    if (status != PEAT_OK)
        return status;
    p.column = room_for(b, r->n_row, sizeof(struct result_row *));
    p.row = room_for(b, r->n_row, sizeof(struct result_row *));
    for (int i = 0; i < r->n_row; i++) {
        p.n_column = collect(r, &p, true, &r->row[b->order[i]], p.column, p.n_column);
        p.n_row = collect(r, &p, false, &r->row[b->order[i]], p.row, p.n_row);
    }
    t->column = room_for(b, EXPERIMENT_MAX_AXES + p.n_column, sizeof(*t->column));
    for (int i = 0; i < r->n_axis; i++)
        if (!p.is_column[b->axis[i]])
            t->column[t->n_column++] =
                (struct table_column){results_axis_name(r, b->axis[i]), false};
    t->n_label = t->n_column;
    for (int k = 0; k < p.n_column; k++)
        t->column[t->n_column++] = (struct table_column){side_label(b, &p, p.column[k]), true};
    t->n_row = p.n_row;
    t->cell = room_for(b, (int64_t)t->n_row * t->n_column, sizeof(*t->cell));
    struct table_cell *cell = t->cell;
    for (int i = 0; i < p.n_row; i++) {
        for (int k = 0; k < r->n_axis; k++)
            if (!p.is_column[b->axis[k]])
                *cell++ = plain(p.row[i]->axis[b->axis[k]]);
        for (int k = 0; k < p.n_column; k++)
            *cell++ = crossing(b, &p, p.row[i], p.column[k]);
    }
    return PEAT_OK;
}

/* ---- title and notes ---- */

static const char *title(struct builder *b)
{
    const struct results *r = b->r;
    if (!*r->metric || r->n_length == 0) {
        strbuf_addf(&b->text, "%s: nothing is finished yet", r->experiment);
        return keep(b);
    }
    strbuf_addf(&b->text, "%s: %s (%s%s is better)", r->experiment, r->metric,
                strcmp(r->split, "train") == 0 ? "on the training batch, " : "",
                r->goal_max ? "higher" : "lower");
    if (b->o->cols)
        strbuf_addf(&b->text, " at %" PRId64 " %s", r->length[b->length], r->length_unit);
    strbuf_add(&b->text, ", mean ± 95 % CI (Student t) over n seeds");
    if (!b->o->cols && *r->length_unit)
        strbuf_addf(&b->text, "; @: length in %s", r->length_unit);
    return keep(b);
}

static bool has_mark(const struct table *t, char mark)
{
    for (int64_t i = 0; i < (int64_t)t->n_row * t->n_column; i++)
        if (strchr(t->cell[i].mark, mark))
            return true;
    return false;
}

static void note_marks(struct builder *b)
{
    if (!has_mark(b->t, 'u'))
        return;
    strbuf_add(&b->text, "u: at this length the model used rows of a learned table that were never "
                         "trained");
    add_note(b);
}

static void note_comparisons(struct builder *b)
{
    const struct results *r = b->r;
    if (b->o->cols || b->length < 0 || !r->baseline_text)
        return;
    int m = r->comparisons[b->length], n = 0;
    strbuf_addf(&b->text,
                "diff: to the baseline (%s), paired by seed; p_holm: exact sign-flip test, Holm "
                "over %d comparison%s",
                r->baseline_text, m, m == 1 ? "" : "s");
    add_note(b);
    for (int i = 0; i < r->n_row; i++)
        n = r->row[i].at[b->length].n_pairs > n ? r->row[i].at[b->length].n_pairs : n;
    double smallest = 2.0 * exp2(-n);
    if (m == 0 || m * smallest < 0.05)
        return;
    if (smallest >= 0.05)
        strbuf_addf(&b->text,
                    "%d seed%s can not reach p < .05 in a sign-flip test: the smallest p is %.2g",
                    n, n == 1 ? "" : "s", smallest);
    else
        strbuf_addf(&b->text,
                    "%d seeds can not reach p < .05 over %d comparisons: the smallest p_holm is "
                    "%.2g",
                    n, m, fmin(1.0, m * smallest));
    add_note(b);
}

static void note_states(struct builder *b)
{
    const struct results *r = b->r;
    int failed = 0, diverged = 0, missing = 0, stale = 0, n = 0;
    for (int i = 0; i < r->n_row; i++) {
        n += r->row[i].n_cell;
        failed += r->row[i].failed;
        diverged += r->row[i].diverged;
        missing += r->row[i].missing;
        stale += r->row[i].stale;
    }
    const struct {
        int n;
        const char *what;
    } line[] = {{missing, "not finished"},
                {failed, "failed: not in the means"},
                {diverged, "diverged: not in the means"},
                {stale, "stale (made with another plugin, data file or engine): not in the means"}};
    for (size_t i = 0; i < sizeof(line) / sizeof(*line); i++) {
        if (!line[i].n)
            continue;
        strbuf_addf(&b->text, "%d of %d cells %s", line[i].n, n, line[i].what);
        add_note(b);
    }
}

static void note_lists(struct builder *b)
{
    const struct results *r = b->r;
    for (int i = 0; i < r->n_dropped; i++) {
        strbuf_addf(&b->text, "the same model as a row above: %s", r->dropped[i]);
        add_note(b);
    }
    for (int i = 0; i < r->n_row; i++) {
        if (!r->row[i].matched)
            continue;
        strbuf_addf(&b->text, "matched: %s: %s", results_row_label(r, &r->row[i], b->t->arena),
                    r->row[i].matched);
        add_note(b);
    }
    if (r->warning) {
        strbuf_add(&b->text, r->warning);
        add_note(b);
    }
}

/* What acts where, one line per scheme. */
static void note_injection(struct builder *b)
{
    for (int i = 0; i < b->r->n_row && b->o->injection; i++) {
        const struct result_row *row = &b->r->row[b->order[i]];
        strbuf_addf(&b->text, "%s:", results_row_label(b->r, row, b->t->arena));
        add_note(b);
        for (const char *line = row->injection; line && *line;) {
            size_t n = strcspn(line, "\n");
            strbuf_addf(&b->text, "  %.*s", (int)n, line);
            add_note(b);
            line += n + (line[n] == '\n');
        }
    }
}

static peat_status build(struct builder *b)
{
    peat_status status = choose_length(b);
    if (status == PEAT_OK)
        status = order_axes(b);
    if (status == PEAT_OK)
        status = order_rows(b);
    if (status != PEAT_OK)
        return status;
    b->t->title = title(b);
    b->t->column = room_for(b, COLUMNS_ROOM, sizeof(*b->t->column));
    if (b->o->cols)
        status = cross_rows(b);
    else
        list_rows(b);
    if (status != PEAT_OK)
        return status;
    note_marks(b);
    note_comparisons(b);
    note_states(b);
    note_lists(b);
    note_injection(b);
    return PEAT_OK;
}

peat_status table_build(struct table *t, const struct results *r, const struct table_options *o,
                        struct arena *a, struct error *err)
{
    *t = (struct table){.arena = a};
    struct builder b = {.t = t, .r = r, .o = o, .err = err};
    strbuf_init(&b.text);
    peat_status status = build(&b);
    strbuf_release(&b.text);
    return status;
}
