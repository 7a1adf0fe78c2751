/* SPDX-License-Identifier: MIT */
/*
 * format_csv.c: tidy data, one number a line, with what it cost and where it comes from.
 *
 * `cell` is the name of the cell's directory, which no other cell has; its label may be another's
 * too. A value is there when the cell's status is `done`. Other cells that have come to an end have
 * the same lines with an empty value, so that they are counted; unfinished ones have none.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/number.h"
#include "base/shown.h"
#include "cell/cellmetrics.h"
#include "report/csv_fields.h"
#include "report/table.h"

/* One measured number. */
struct number {
    const char *metric, *split;
    bool has_length, has_step;
    int64_t length, step;
    double value; /* NaN: none */
};

/* Fields in the order of the columns; NULL where there is nothing. */
struct line {
    struct arena *a; /* of the fields and their texts */
    int n, room;
    const char **field;
};

struct csv {
    const struct results *r;
    struct arena kept, passing; /* what lives to the end; what one line or cell needs */
    struct line head, end;      /* end: of every line of the cell at hand */
    int n_chosen, room;
    int *chosen;        /* the columns to write, in the order asked for */
    struct strbuf *out; /* NULL: looking for what changes */
    int n_line;         /* then how many there were, the first, */
    struct line first;
    bool *changes; /* and the columns in which another one differs */
};

/* ---- fields ---- */

static void add_text(struct line *line, const char *text)
{
    *ARENA_APPEND(line->a, line->field, line->n, line->room) = text;
}

static void add_number(struct line *line, double x)
{
    char text[32];
    number_text(x, text);
    add_text(line, isfinite(x) ? arena_strdup(line->a, text) : NULL);
}

static void add_integer(struct line *line, bool is_there, int64_t n)
{
    add_text(line, is_there ? arena_printf(line->a, "%" PRId64, n) : NULL);
}

/* Columns of their own under shorter names. */
static bool is_other_axis(const char *key)
{
    return strcmp(key, "position.scheme") != 0 && strcmp(key, "position.combine") != 0 &&
           strcmp(key, "task") != 0;
}

/* Those of the rows, and those that best_over chooses on: a cell has a label on all. */
static int count_axes(const struct results *r)
{
    return r->n_axis + r->best.over.n_axis;
}

static const char *axis_of(const struct results *r, int i)
{
    return i < r->n_axis ? r->axis[i] : r->best.over.axis[i - r->n_axis];
}

/* An axis that is called as another column is "axis.NAME". */
static void tell_apart(struct line *head, int axes, int end)
{
    for (int i = axes; i < end; i++) {
        const char *name = head->field[i];
        bool taken = false;
        for (int k = 0; k < head->n; k++)
            taken = taken || (k != i && strcmp(head->field[k], name) == 0);
        if (taken)
            head->field[i] = arena_printf(head->a, "axis.%s", name);
    }
}

static void fill_head(struct csv *csv)
{
    static const char *const first[] = {"experiment", "cell", "label", "scheme", "combine", "task"},
                             *const last[] = {"seed",
                                              "metric",
                                              "split",
                                              "length",
                                              "step",
                                              "value",
                                              "config_sha256",
                                              "status",
                                              "goal",
                                              "params",
                                              "params_pe",
                                              "flops_per_token",
                                              "input_ratio_start",
                                              "input_ratio",
                                              "tokens_per_s",
                                              "step_ms_median",
                                              "peak_rss_kib",
                                              "wall_s",
                                              "eval_s",
                                              "cpu_s",
                                              "threads",
                                              "host",
                                              "cpu",
                                              "gemm",
                                              "blas",
                                              "blas_core",
                                              "libm",
                                              "precision",
                                              "compiler",
                                              "engine_version",
                                              "plugin",
                                              "plugin_version",
                                              "plugin_abi",
                                              "plugin_sha256",
                                              "data_sha256",
                                              "started_utc",
                                              "drift"};
    struct line *head = &csv->head;
    for (size_t i = 0; i < sizeof(first) / sizeof(*first); i++)
        add_text(head, first[i]);
    int axes = head->n;
    for (int i = 0; i < count_axes(csv->r); i++)
        if (is_other_axis(axis_of(csv->r, i)))
            add_text(head, axis_of(csv->r, i));
    int end = head->n;
    for (size_t i = 0; i < sizeof(last) / sizeof(*last); i++)
        add_text(head, last[i]);
    if (csv->r->best.over.n_axis)
        add_text(head, "best_over");
    if (csv->r->freezes)
        add_text(head, "params_frozen");
    tell_apart(head, axes, end);
}

/* ---- what is the same in all lines of a cell ---- */

/* The same member of all items, joined by ';'. */
static void add_joined(struct line *line, const struct value *map, const char *list,
                       const char *kind, const char *member, const char *otherwise)
{
    const char *all = NULL;
    const struct value *item;
    for (int i = 0; (item = json_get_item(map, list, i)); i++) {
        const char *prefix = kind ? json_get_text(item, kind) : NULL,
                   *text = json_get_text(item, member);
        text = text ? text : otherwise ? otherwise : "";
        all = arena_printf(line->a, "%s%s%s%s%s", all ? all : "", all ? ";" : "",
                           prefix ? prefix : "", prefix ? "/" : "", text);
    }
    add_text(line, all);
}

static void fill_end(struct csv *csv, const struct result_cell *c)
{
    static const char *const planned[] = {"params", "params_positional", "flops_per_token",
                                          "input_ratio_start"};
    static const char *const measured[] = {"input_ratio",  "tokens_per_s", "step_ms_median",
                                           "peak_rss_kib", "wall_s",       "eval_s",
                                           "cpu_s"};
    static const char *const machine[] = {"host", "cpu",       "gemm",     "blas",  "blas_core",
                                          "libm", "precision", "compiler", "engine"};
    struct line *end = &csv->end;
    *end = (struct line){.a = &csv->passing};
    for (size_t i = 0; i < sizeof(planned) / sizeof(*planned); i++)
        add_number(end, json_get_number(c->planned, planned[i]));
    for (size_t i = 0; i < sizeof(measured) / sizeof(*measured); i++)
        add_number(end, json_get_number(c->result, measured[i]));
    add_number(end, json_get_number(c->meta, "threads"));
    for (size_t i = 0; i < sizeof(machine) / sizeof(*machine); i++)
        add_text(end, json_get_text(c->meta, machine[i]));
    add_joined(end, c->meta, "plugins", "kind", "id", NULL);
    add_joined(end, c->meta, "plugins", NULL, "version", NULL);
    add_joined(end, c->meta, "plugins", NULL, "abi", json_get_text(c->meta, "abi"));
    add_joined(end, c->meta, "plugins", NULL, "sha256", NULL);
    add_joined(end, c->meta, "data", NULL, "sha256", NULL);
    add_text(end, json_get_text(c->meta, "started_utc"));
    add_text(end, cell_drift(c->result, end->a));
    if (csv->r->best.over.n_axis)
        add_text(end, best_role_words[c->role]);
    if (csv->r->freezes)
        add_integer(end, true, json_get_int(c->planned, "params_frozen", 0));
}

/* Where it is no axis, the label stands in the plan or in the configuration. */
static const char *label_of(const struct result_cell *c, const char *axis, const char *key)
{
    const char *label = json_get_text(value_get(c->planned, "axes"), axis);
    label = label ? label : json_get_text(c->planned, key);
    return label ? label : json_get_text(c->config, key);
}

static const char *task_of(const struct result_cell *c)
{
    const char *label = label_of(c, "task", "task");
    return label ? label : json_get_text(value_get(c->config, "task"), "plugin");
}

static const char *goal_of(const struct results *r, const char *metric)
{
    for (int i = 0; metric && i < r->n_metric; i++)
        if (strcmp(r->known[i].name, metric) == 0)
            return r->known[i].goal_max ? "max" : "min";
    return NULL;
}

static const char *field_of(const struct line *line, int column)
{
    return line->field[column] ? line->field[column] : "";
}

static void write_line(const struct csv *csv, const struct line *line)
{
    for (int i = 0; i < csv->n_chosen; i++) {
        strbuf_add(csv->out, i ? "," : "");
        csv_field(csv->out, field_of(line, csv->chosen[i]));
    }
    strbuf_add(csv->out, "\n");
}

static void compare_line(struct csv *csv, const struct line *line)
{
    if (csv->n_line++ == 0)
        csv->changes = ARENA_ARRAY(&csv->kept, line->n, bool);
    for (int k = 0; k < line->n; k++)
        if (csv->n_line == 1)
            add_text(&csv->first, arena_strdup(&csv->kept, field_of(line, k)));
        else
            csv->changes[k] =
                csv->changes[k] || strcmp(field_of(line, k), csv->first.field[k]) != 0;
}

static void add_line(struct csv *csv, const struct result_cell *c, const struct number *x)
{
    struct arena_mark mark = arena_mark(&csv->passing);
    struct line line = {.a = &csv->passing};
    add_text(&line, c->experiment);
    add_text(&line, c->id);
    add_text(&line, c->label);
    add_text(&line, label_of(c, "position.scheme", "scheme"));
    add_text(&line, label_of(c, "position.combine", "combine"));
    add_text(&line, task_of(c));
    for (int i = 0; i < count_axes(csv->r); i++)
        if (is_other_axis(axis_of(csv->r, i)))
            add_text(&line, json_get_text(value_get(c->planned, "axes"), axis_of(csv->r, i)));
    add_integer(&line, true, c->seed);
    add_text(&line, x->metric);
    add_text(&line, x->split);
    add_integer(&line, x->has_length, x->length);
    add_integer(&line, x->has_step, x->step);
    add_number(&line, x->value);
    add_text(&line, json_get_text(c->planned, "hash"));
    add_text(&line, cell_state_name(c->state));
    add_text(&line, goal_of(csv->r, x->metric));
    for (int i = 0; i < csv->end.n; i++)
        add_text(&line, csv->end.field[i]);
    if (csv->out)
        write_line(csv, &line);
    else
        compare_line(csv, &line);
    arena_rewind(&csv->passing, mark);
}

/* ---- the last evaluation ---- */

static struct number read_number(const struct value *measure)
{
    const struct value *length = value_get(measure, "length"), *step = value_get(measure, "step");
    return (struct number){
        .metric = json_get_text(measure, "metric"),
        .split = json_get_text(measure, "split"),
        .has_length = length && length->kind == VALUE_INT,
        .has_step = step && step->kind == VALUE_INT,
        .length = json_get_int(measure, "length", 0),
        .step = json_get_int(measure, "step", 0),
        .value = json_get_number(measure, "value"),
    };
}

static bool same_place(const struct number *a, const struct number *b)
{
    return same_text(a->metric, b->metric) && same_text(a->split, b->split) &&
           a->length == b->length;
}

/* Everything that some cell measured; at least the table's metric. */
struct places {
    int n;
    struct number item[4 * RESULTS_MAX_METRICS];
};

static void add_place(struct places *p, struct number x)
{
    for (int i = 0; i < p->n; i++)
        if (same_place(&p->item[i], &x))
            return;
    if (p->n == (int)(sizeof(p->item) / sizeof(*p->item)))
        return;
    x.value = (double)NAN;
    x.has_step = false;
    p->item[p->n++] = x;
}

static void list_places(const struct results *r, struct places *p)
{
    const struct value *measure;
    p->n = 0;
    for (int i = 0; i < r->n_cell; i++)
        for (int k = 0; (measure = json_get_item(r->cell[i].result, "measures", k)); k++)
            add_place(p, read_number(measure));
    if (p->n == 0)
        add_place(p, (struct number){.metric = r->metric, .split = "valid"});
}

static void add_last(struct csv *csv, const struct result_cell *c, const struct places *p)
{
    const struct value *diverged = value_get(c->result, "diverged"), *measure;
    for (int k = 0; result_counts(c) && (measure = json_get_item(c->result, "measures", k)); k++) {
        struct number x = read_number(measure);
        if (!x.has_step || x.step != 0)
            add_line(csv, c, &x);
    }
    for (int k = 0; !result_counts(c) && k < p->n; k++) {
        struct number x = p->item[k];
        x.step = json_get_int(diverged, "step", 0);
        x.has_step = x.step > 0;
        add_line(csv, c, &x);
    }
}

/* ---- every step ---- */

struct steps {
    struct csv *csv;
    const struct result_cell *cell;
    int damaged; /* the first line that is; 0: none */
};

static bool add_step(void *ctx, int line, const struct value *v)
{
    struct steps *s = ctx;
    struct number x = read_number(v);
    s->damaged = v ? 0 : line;
    if (x.metric && x.step != 0)
        add_line(s->csv, s->cell, &x);
    return v != NULL;
}

/* Of a cell that has not ended: a damaged line would be a hole that nobody sees. */
static peat_status read_steps(struct csv *csv, const struct result_cell *c, struct error *err)
{
    struct steps s = {csv, c, 0};
    struct error why = {0};
    peat_status status = c->dir ? metrics_each(c->dir, NULL, add_step, &s, &why) : PEAT_OK;
    if (s.damaged)
        return error_set(err, PEAT_INVALID,
                         "line %d of '%s/metrics.jsonl' is damaged; remove it, or run the cell "
                         "again",
                         s.damaged, c->dir);
    return status == PEAT_OK || status == PEAT_NOTFOUND ? PEAT_OK
                                                        : error_set(err, status, "%s", why.text);
}

static peat_status add_cells(struct csv *csv, bool all_steps, struct error *err)
{
    const struct results *r = csv->r;
    struct places places;
    peat_status status = PEAT_OK;
    list_places(r, &places);
    for (int i = 0; i < r->n_cell && status == PEAT_OK; i++) {
        const struct result_cell *c = &r->cell[i];
        if (c->left_out)
            continue;
        arena_reset(&csv->passing);
        fill_end(csv, c);
        if (all_steps && c->state != CELL_DAMAGED)
            status = read_steps(csv, c, err);
        else if (cell_has_ended(c->state) || cell_has_failed(c->state) || c->state == CELL_STALE ||
                 c->state == CELL_DAMAGED)
            add_last(csv, c, &places);
    }
    return status;
}

/* ---- columns ---- */

static int find_column(const struct csv *csv, const char *name)
{
    static const char *const other[][2] = {{"position.scheme", "scheme"},
                                           {"position.combine", "combine"}};
    int k = 0;
    for (size_t i = 0; i < sizeof(other) / sizeof(*other); i++)
        name = strcmp(name, other[i][0]) == 0 ? other[i][1] : name;
    while (k < csv->head.n && strcmp(csv->head.field[k], name) != 0)
        k++;
    return k;
}

static peat_status choose_columns(struct csv *csv, const char *columns, struct error *err)
{
    for (int k = 0; !columns && k < csv->head.n; k++)
        *ARENA_APPEND(&csv->kept, csv->chosen, csv->n_chosen, csv->room) = k;
    for (const char *at = columns; at && *at;) {
        size_t n = strcspn(at, ",");
        const char *word = arena_printf(&csv->kept, "%.*s", (int)n, at);
        int k = find_column(csv, word);
        if (k == csv->head.n) {
            error_set(err, PEAT_INVALID, "--columns: the csv has no '%s'; it has ", word);
            error_add_names(err, word, csv->head.field, csv->head.n);
            return PEAT_INVALID;
        }
        *ARENA_APPEND(&csv->kept, csv->chosen, csv->n_chosen, csv->room) = k;
        at += n + (at[n] == ',');
    }
    return PEAT_OK;
}

/* With one line alone nothing can change, and all stay. */
static peat_status drop_unchanged(struct csv *csv, bool all_steps, struct error *err)
{
    int kept = 0;
    peat_status status = add_cells(csv, all_steps, err);
    for (int i = 0; i < csv->n_chosen; i++) {
        int k = csv->chosen[i];
        if (csv->n_line < 2 || csv->changes[k] || strcmp(csv->head.field[k], "value") == 0)
            csv->chosen[kept++] = k;
    }
    csv->n_chosen = kept;
    return status;
}

peat_status format_csv(const struct results *r, bool all_steps, const char *columns,
                       bool only_changed, struct strbuf *out, struct error *err)
{
    struct csv csv = {.r = r};
    arena_init(&csv.kept, "csv", 1 << 12);
    arena_init(&csv.passing, "csv", 1 << 12);
    csv.head.a = csv.first.a = &csv.kept;
    fill_head(&csv);
    peat_status status = choose_columns(&csv, columns, err);
    if (status == PEAT_OK && only_changed)
        status = drop_unchanged(&csv, all_steps, err);
    csv.out = out;
    write_line(&csv, &csv.head);
    if (status == PEAT_OK)
        status = add_cells(&csv, all_steps, err);
    arena_release(&csv.kept);
    arena_release(&csv.passing);
    return status;
}
