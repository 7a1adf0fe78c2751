/* SPDX-License-Identifier: MIT */
/*
 * format_csv.c: tidy data, one number a line, with its cost and origin.
 *
 * `cell` names the cell's directory and is unique; labels need not be. Cells with the status `done`
 * have values. Other cells that ended have the same lines with an empty value, so that readers can
 * count them; unfinished cells have no lines.
 */

#include "cell/cellmetrics.h"
#include "report/table.h"

/* The source of a column's fields. */
enum origin {
    EXPERIMENT,
    PLANNED, /* a value of plan.json */
    AXIS,    /* the label on an axis */
    LABEL,   /* the label on an axis, or of the setting in the plan or configuration */
    TASK,    /* the same, or the task's plugin */
    STATUS,
    MEASURED, /* base/quantity.h */
    META,     /* a value of meta.json */
    PLUGINS,  /* kind and id of each plugin */
    PLUGIN,   /* a text of each plugin */
    DATA,
    DRIFT,
    REGISTRATION,
    ROLE,
    METRIC, /* of the measure: from here on fields differ between lines of a cell */
    SPLIT,
    LENGTH,
    STEP,
    VALUE,
    GOAL,
};

struct column {
    const char *name;
    enum origin from;
    const char *key; /* key of the axis, or in the file; NULL: the name */
    int quantity;    /* enum quantity_name */
};

struct measured_place {
    const struct measured *measure; /* a cell's that has it */
    bool *in_task;                  /* [n_task] a cell of the task has it */
};

struct csv {
    const struct results *r;
    struct arena *kept, *passing; /* memory until the end; memory for one line or cell */
    int n_column, room;
    struct column *column;
    const char **name;  /* names of the columns */
    const char **field; /* fields of the present line, by column */
    const struct result_cell *cell;
    const struct measured *measure; /* of the present line */
    int n_place, place_room; /* each metric, split and length that some cell has; at least the
                              * table's metric */
    struct measured_place *place;
    int n_chosen;
    int *chosen;        /* the columns to write, in the requested order */
    struct strbuf *out; /* NULL: a pass that only finds columns that change */
    int n_line;         /* in that pass: the number of lines so far, the first line, */
    const char **first;
    bool *changes; /* and the columns in which another line differed */
};

/* ---- fields ---- */

static const char *number_field(const struct csv *csv, double x)
{
    char text[32];
    number_text(x, text);
    return isfinite(x) ? arena_strdup(csv->passing, text) : NULL;
}

static const char *count_field(const struct csv *csv, int64_t n)
{
    return n < 0 ? NULL : arena_printf(csv->passing, "%" PRId64, n);
}

static const char *value_field(const struct csv *csv, const struct value *v)
{
    if (!v || v->kind == VALUE_TEXT)
        return v ? v->text : NULL;
    return v->kind == VALUE_INT    ? arena_printf(csv->passing, "%" PRId64, v->integer)
           : v->kind == VALUE_REAL ? number_field(csv, v->real)
                                   : NULL;
}

static const char *label_of(const struct csv *csv, const struct column *k, const char *key)
{
    const struct result_cell *c = csv->cell;
    const char *label = json_get_text(value_get(c->planned, "axes"), key);
    if (k->from == AXIS || label)
        return label;
    label = json_get_text(c->planned, k->name);
    label = label ? label : json_get_text(c->config, k->name);
    return label || k->from == LABEL ? label
                                     : json_get_text(value_get(c->config, "task"), "plugin");
}

static const char *quantity_of(const struct csv *csv, const struct quantity *row)
{
    bool planned = row->files & IN_PLAN;
    double x = json_get_number(planned ? csv->cell->planned : csv->cell->result, row->key);
    return number_field(csv, row->flags & QUANTITY_SPARSE && isnan(x) ? 0.0 : x);
}

/* One member of all items of a list in meta.json, joined by ';'. */
static const char *joined(const struct csv *csv, const char *list, const char *kind,
                          const char *member)
{
    const char *all = NULL, *otherwise = json_get_text(csv->cell->meta, member);
    const struct value *item;
    for (int i = 0; (item = json_get_item(csv->cell->meta, list, i)); i++) {
        const char *prefix = kind ? json_get_text(item, kind) : NULL,
                   *text = json_get_text(item, member);
        text = text ? text : otherwise ? otherwise : "";
        all = list_add(csv->passing, all, ";",
                       prefix ? arena_printf(csv->passing, "%s/%s", prefix, text) : text);
    }
    return all;
}

static const char *field_of(const struct csv *csv, const struct column *k)
{
    const struct result_cell *c = csv->cell;
    const char *key = k->key ? k->key : k->name;
    int metric;
    switch (k->from) {
    case EXPERIMENT:
        return json_get_text(csv->r->dir[c->directory].plan, "experiment");
    case PLANNED:
        return value_field(csv, value_get(c->planned, key));
    case AXIS:
    case LABEL:
    case TASK:
        return label_of(csv, k, key);
    case STATUS:
        return cell_state_name(c->state);
    case MEASURED:
        return quantity_of(csv, &quantities[k->quantity]);
    case META:
        return value_field(csv, value_get(c->meta, key));
    case PLUGINS:
        return joined(csv, "plugins", "kind", key);
    case PLUGIN:
        return joined(csv, "plugins", NULL, key);
    case DATA:
        return joined(csv, "data", NULL, key);
    case DRIFT:
        return cell_drift(c->result, csv->passing);
    case REGISTRATION:
        return registration_text(&csv->r->registration, csv->passing);
    case ROLE:
        return c->role;
    case METRIC:
        return csv->measure->metric;
    case SPLIT:
        return csv->measure->split;
    case LENGTH:
        return count_field(csv, csv->measure->length);
    case STEP:
        return count_field(csv, csv->measure->step);
    case VALUE:
        return number_field(csv, csv->measure->value);
    case GOAL:
        metric = results_metric(csv->r, csv->measure->metric);
        return metric < 0 ? NULL : csv->r->known[metric].goal_max ? "max" : "min";
    }
    return NULL;
}

/* ---- columns ---- */

/* Axes follow the first, quantities the second. */
static const struct column before_axes[] = {
    {"experiment", EXPERIMENT},
    {"cell", PLANNED, "id"},
    {"label", PLANNED},
    {"scheme", LABEL, "position.scheme"},
    {"combine", LABEL, "position.combine"},
    {"task", TASK},
};
static const struct column after_axes[] = {
    {"seed", PLANNED},
    {"metric", METRIC},
    {"split", SPLIT},
    {"length", LENGTH},
    {"step", STEP},
    {"value", VALUE},
    {"config_sha256", PLANNED, "hash"},
    {"status", STATUS},
    {"goal", GOAL},
};
static const struct column of_meta[] = {
    {"threads", META},
    {"host", META},
    {"cpu", META},
    {"gemm", META},
    {"blas", META},
    {"blas_core", META},
    {"libm", META},
    {"precision", META},
    {"compiler", META},
    {"engine_version", META, "engine"},
    {"plugin", PLUGINS, "id"},
    {"plugin_version", PLUGIN, "version"},
    {"plugin_abi", PLUGIN, "abi"},
    {"plugin_sha256", PLUGIN, "sha256"},
    {"data_sha256", DATA, "sha256"},
    {"started_utc", META},
    {"drift", DRIFT},
};

static void add_columns(struct csv *csv, const struct column *column, size_t n)
{
    for (size_t i = 0; i < n; i++)
        *ARENA_APPEND(csv->kept, csv->column, csv->n_column, csv->room) = column[i];
}
#define ADD_COLUMNS(csv, list) add_columns(csv, list, sizeof(list) / sizeof(*(list)))

/* Adds the axes of the rows and of best_over, except those with a column under a shorter name. */
static void add_axes(struct csv *csv)
{
    const struct results *r = csv->r;
    int n = r->n_axis + json_get_count(r->best_over, "axes");
    for (int i = 0; i < n; i++) {
        const char *key =
            i < r->n_axis ? r->axis[i] : json_get_item(r->best_over, "axes", i - r->n_axis)->text;
        if (strcmp(key, "position.scheme") != 0 && strcmp(key, "position.combine") != 0 &&
            strcmp(key, "task") != 0)
            add_columns(csv, &(struct column){key, AXIS}, 1);
    }
}

static void add_quantities(struct csv *csv, bool sparse)
{
    for (int i = 0; i < QUANTITIES; i++) {
        const struct quantity *row = &quantities[i];
        if (!row->column || sparse != !!(row->flags & QUANTITY_SPARSE) ||
            (sparse && !results_have(csv->r, (enum quantity_name)i)))
            continue;
        const char *name = row->csv ? row->csv : row->key;
        add_columns(csv, &(struct column){name, MEASURED, .quantity = i}, 1);
    }
}

/* An axis with the name of another column becomes "axis.NAME". */
static void name_apart(struct csv *csv)
{
    for (int i = 0; i < csv->n_column; i++) {
        bool taken = false;
        for (int k = 0; csv->column[i].from == AXIS && k < csv->n_column; k++)
            taken = taken || (k != i && strcmp(csv->column[k].name, csv->column[i].name) == 0);
        csv->name[i] = csv->column[i].name;
        if (taken)
            csv->name[i] = arena_printf(csv->kept, "axis.%s", csv->column[i].name);
    }
}

static void list_columns(struct csv *csv)
{
    static const struct column role = {"best_over", ROLE}, trained_by = {"trained_by", META},
                               registration = {"registration", REGISTRATION};
    ADD_COLUMNS(csv, before_axes);
    add_axes(csv);
    ADD_COLUMNS(csv, after_axes);
    add_quantities(csv, false);
    ADD_COLUMNS(csv, of_meta);
    bool any = false;
    for (int i = 0; i < csv->r->n_row; i++)
        for (int k = 0; k < csv->r->row[i].n_cell; k++)
            any = any || json_get_text(csv->r->row[i].cell[k]->meta, "trained_by");
    if (any)
        add_columns(csv, &trained_by, 1);
    if (csv->r->best_over)
        add_columns(csv, &role, 1);
    if (csv->r->registration.changed)
        add_columns(csv, &registration, 1);
    add_quantities(csv, true);
    csv->name = ARENA_ARRAY(csv->kept, csv->n_column, const char *);
    csv->field = ARENA_ARRAY(csv->kept, csv->n_column, const char *);
    csv->first = ARENA_ARRAY(csv->kept, csv->n_column, const char *);
    csv->changes = ARENA_ARRAY(csv->kept, csv->n_column, bool);
    name_apart(csv);
}

/* ---- lines ---- */

static void fill_fields(struct csv *csv, bool of_measure)
{
    for (int i = 0; i < csv->n_column; i++) {
        const struct column *k = &csv->column[i];
        if ((k->from >= METRIC) != of_measure)
            continue;
        const char *text = field_of(csv, k);
        csv->field[i] = text ? text : "";
    }
}

static void write_line(const struct csv *csv, const char *const *field)
{
    for (int i = 0; i < csv->n_chosen; i++) {
        strbuf_add(csv->out, i ? "," : "");
        csv_field(csv->out, field[csv->chosen[i]]);
    }
    strbuf_add(csv->out, "\n");
}

static void compare_line(struct csv *csv)
{
    bool is_first = csv->n_line++ == 0;
    for (int k = 0; k < csv->n_column; k++)
        if (is_first)
            csv->first[k] = arena_strdup(csv->kept, csv->field[k]);
        else
            csv->changes[k] = csv->changes[k] || strcmp(csv->field[k], csv->first[k]) != 0;
}

static void csv_add_line(struct csv *csv, const struct measured *measure)
{
    struct arena_mark mark = arena_mark(csv->passing);
    csv->measure = measure;
    fill_fields(csv, true);
    if (csv->out)
        write_line(csv, csv->field);
    else
        compare_line(csv);
    arena_rewind(csv->passing, mark);
}

/* ---- the last evaluation ---- */

static struct measured_place *add_place(struct csv *csv, const struct measured *m)
{
    for (int i = 0; i < csv->n_place; i++) {
        const struct measured *own = csv->place[i].measure;
        if (strcmp(own->metric, m->metric) == 0 && strcmp(own->split, m->split) == 0 &&
            own->length == m->length)
            return &csv->place[i];
    }
    struct measured_place *p = ARENA_APPEND(csv->kept, csv->place, csv->n_place, csv->place_room);
    *p = (struct measured_place){m, ARENA_ARRAY(csv->kept, csv->r->n_task + 1, bool)};
    return p;
}

static void list_places(struct csv *csv)
{
    const struct results *r = csv->r;
    for (int i = 0; i < r->n_cell; i++)
        for (int k = 0; k < r->cell[i].n_measure; k++)
            add_place(csv, &r->cell[i].measure[k])->in_task[r->cell[i].task] = true;
    if (csv->n_place)
        return;
    struct measured *none = ARENA_NEW(csv->kept, struct measured);
    *none = (struct measured){.metric = r->metric, .split = "valid", .length = -1};
    add_place(csv, none);
}

static void add_values(struct csv *csv, const struct result_cell *c)
{
    for (int k = 0; k < c->n_measure; k++)
        if (c->measure[k].step != 0)
            csv_add_line(csv, &c->measure[k]);
}

/* Lines without a value, of what cells of its task measure. */
static void add_no_values(struct csv *csv, const struct result_cell *c)
{
    int64_t step = json_get_int(value_get(c->result, "diverged"), "step", -1);
    bool known = false;
    for (int k = 0; k < csv->n_place; k++)
        known = known || csv->place[k].in_task[c->task];
    for (int k = 0; k < csv->n_place; k++) {
        if (known && !csv->place[k].in_task[c->task])
            continue;
        struct measured none = *csv->place[k].measure;
        none.step = step > 0 ? step : -1;
        none.value = (double)NAN;
        csv_add_line(csv, &none);
    }
}

/* ---- every step ---- */

struct steps {
    struct csv *csv;
    int damaged; /* number of the first damaged line; 0: none */
};

static bool add_step(void *ctx, int line, const struct value *v)
{
    struct steps *s = ctx;
    s->damaged = v ? 0 : line;
    struct measured m = measure_of(v);
    if (m.metric && json_get_int(v, "step", 0) != 0)
        csv_add_line(s->csv, &m);
    return v != NULL;
}

/* A damaged line is an error, because nobody would notice if it were left out. */
static peat_status read_steps(struct csv *csv, const struct result_cell *c, struct error *err)
{
    struct steps s = {csv, 0};
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

static peat_status csv_add_cells(struct csv *csv, bool all_steps, struct error *err)
{
    const struct results *r = csv->r;
    peat_status status = PEAT_OK;
    for (int i = 0; i < r->n_cell && status == PEAT_OK; i++) {
        const struct result_cell *c = &r->cell[i];
        if (c->left_out)
            continue;
        arena_reset(csv->passing);
        csv->cell = c;
        fill_fields(csv, false);
        if (all_steps && c->state != CELL_DAMAGED)
            status = read_steps(csv, c, err);
        else if (result_counts(c))
            add_values(csv, c);
        else if (cell_has_ended(c->state) || cell_has_failed(c->state) || c->state == CELL_STALE ||
                 c->state == CELL_DAMAGED)
            add_no_values(csv, c);
    }
    return status;
}

/* ---- requested columns ---- */

static int find_column(const struct csv *csv, const char *name)
{
    for (int k = 0; k < csv->n_column; k++) {
        bool by_axis = csv->column[k].from == LABEL && strcmp(csv->column[k].key, name) == 0;
        if (by_axis || strcmp(csv->name[k], name) == 0)
            return k;
    }
    return csv->n_column;
}

static peat_status choose_columns(struct csv *csv, const char *columns, struct error *err)
{
    int room = 0;
    for (int k = 0; !columns && k < csv->n_column; k++)
        *ARENA_APPEND(csv->kept, csv->chosen, csv->n_chosen, room) = k;
    for (const char *word; (word = list_next(csv->kept, &columns, ','));) {
        int k = find_column(csv, word);
        if (k == csv->n_column) {
            error_set(err, PEAT_INVALID, "--columns: the csv has no '%s'; it has ", word);
            error_add_names(err, word, csv->name, csv->n_column);
            return PEAT_INVALID;
        }
        *ARENA_APPEND(csv->kept, csv->chosen, csv->n_chosen, room) = k;
    }
    return PEAT_OK;
}

/* With a single line all columns are kept. */
static peat_status drop_unchanged(struct csv *csv, bool all_steps, struct error *err)
{
    int kept = 0;
    peat_status status = csv_add_cells(csv, all_steps, err);
    for (int i = 0; i < csv->n_chosen; i++) {
        int k = csv->chosen[i];
        if (csv->n_line < 2 || csv->changes[k] || strcmp(csv->name[k], "value") == 0)
            csv->chosen[kept++] = k;
    }
    csv->n_chosen = kept;
    return status;
}

peat_status format_csv(const struct results *r, bool all_steps, const char *columns,
                       bool only_changed, struct strbuf *out, struct error *err)
{
    struct arena kept, passing;
    struct csv csv = {.r = r, .kept = &kept, .passing = &passing};
    arena_init(&kept, "csv", 1 << 12);
    arena_init(&passing, "csv", 1 << 12);
    list_columns(&csv);
    list_places(&csv);
    peat_status status = choose_columns(&csv, columns, err);
    if (status == PEAT_OK && only_changed)
        status = drop_unchanged(&csv, all_steps, err);
    csv.out = out;
    write_line(&csv, csv.name);
    if (status == PEAT_OK)
        status = csv_add_cells(&csv, all_steps, err);
    arena_release(&kept);
    arena_release(&passing);
    return status;
}
