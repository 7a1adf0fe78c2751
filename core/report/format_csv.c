/* SPDX-License-Identifier: MIT */
/*
 * format_csv.c: tidy data, one number a line, with what it cost and where it comes from.
 *
 * A value is there when the cell's status is `done`. Other cells that have come to an end have the
 * same lines with an empty value, so that they are counted; unfinished ones have none.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/file.h"
#include "cell/cellmetrics.h"
#include "report/fields.h"
#include "report/table.h"

/* One measured number. */
struct number {
    const char *metric, *split;
    bool has_length, has_step;
    int64_t length, step;
    double value; /* NaN: none */
};

struct writer {
    const struct results *r;
    struct strbuf *out;
    struct strbuf cost; /* the end of every line of one cell */
};

/* ---- fields ---- */

/* RFC 4180: quoted where it holds a separator, quotes doubled. */
static void add_text(struct strbuf *out, const char *text)
{
    if (!text)
        return;
    bool quoted = text[strcspn(text, ",\"\r\n")] != '\0';
    strbuf_add(out, quoted ? "\"" : "");
    for (; *text; text++) {
        strbuf_add_bytes(out, text, 1);
        if (*text == '"')
            strbuf_add(out, "\"");
    }
    strbuf_add(out, quoted ? "\"" : "");
}

static void add_number(struct strbuf *out, double x)
{
    char text[32];
    if (!isfinite(x))
        return;
    number_text(x, text);
    strbuf_add(out, text);
}

static void next_text(struct strbuf *out, const char *text)
{
    strbuf_add(out, ",");
    add_text(out, text);
}

static void next_number(struct strbuf *out, double x)
{
    strbuf_add(out, ",");
    add_number(out, x);
}

/* Columns of their own under shorter names. */
static bool is_other_axis(const char *key)
{
    return strcmp(key, "position.scheme") != 0 && strcmp(key, "position.combine") != 0 &&
           strcmp(key, "task") != 0;
}

static void add_head(const struct results *r, struct strbuf *out)
{
    strbuf_add(out, "experiment,cell,scheme,combine,task");
    for (int i = 0; i < r->n_axis; i++)
        if (is_other_axis(r->axis[i]))
            next_text(out, r->axis[i]);
    strbuf_add(
        out, ",seed,metric,split,length,step,value,config_sha256,status,goal,params,"
             "params_pe,flops_per_token,tokens_per_s,step_ms_median,peak_rss_kib,wall_s,"
             "cpu_s,threads,host,cpu,gemm,blas,blas_core,precision,compiler,engine_version,plugin,"
             "plugin_version,plugin_abi,plugin_sha256,data_sha256,started_utc\n");
}

/* ---- what is the same in all lines of a cell ---- */

/* The same member of all items, joined by ';'. */
static void next_joined(struct strbuf *out, const struct value *map, const char *list,
                        const char *kind, const char *member, const char *otherwise)
{
    struct strbuf all;
    strbuf_init(&all);
    for (int i = 0; i < field_count(map, list); i++) {
        const struct value *item = value_get(map, list)->item[i];
        const char *prefix = kind ? member_text(item, kind) : NULL,
                   *text = member_text(item, member);
        text = text ? text : otherwise ? otherwise : "";
        strbuf_addf(&all, "%s%s%s%s", i ? ";" : "", prefix ? prefix : "", prefix ? "/" : "", text);
    }
    next_text(out, all.text);
    strbuf_release(&all);
}

static void fill_cost(struct writer *w, const struct result_cell *c)
{
    static const char *const planned[] = {"params", "params_positional", "flops_per_token"};
    static const char *const measured[] = {"tokens_per_s", "step_ms_median", "peak_rss_kib",
                                           "wall_s", "cpu_s"};
    static const char *const machine[] = {"host",      "cpu",       "gemm",     "blas",
                                          "blas_core", "precision", "compiler", "engine"};
    struct strbuf *out = &w->cost;
    strbuf_clear(out);
    for (size_t i = 0; i < sizeof(planned) / sizeof(*planned); i++)
        next_number(out, field_number(c->planned, planned[i]));
    for (size_t i = 0; i < sizeof(measured) / sizeof(*measured); i++)
        next_number(out, field_number(c->result, measured[i]));
    next_number(out, field_number(c->meta, "threads"));
    for (size_t i = 0; i < sizeof(machine) / sizeof(*machine); i++)
        next_text(out, member_text(c->meta, machine[i]));
    next_joined(out, c->meta, "plugins", "kind", "id", NULL);
    next_joined(out, c->meta, "plugins", NULL, "version", NULL);
    next_joined(out, c->meta, "plugins", NULL, "abi", member_text(c->meta, "abi"));
    next_joined(out, c->meta, "plugins", NULL, "sha256", NULL);
    next_joined(out, c->meta, "data", NULL, "sha256", NULL);
    next_text(out, member_text(c->meta, "started_utc"));
    strbuf_add(out, "\n");
}

/* Where it is no axis, the label stands in the plan or in the configuration. */
static const char *label_of(const struct result_cell *c, const char *axis, const char *key)
{
    const char *label = member_text(value_get(c->planned, "axes"), axis);
    label = label ? label : member_text(c->planned, key);
    return label ? label : member_text(c->config, key);
}

static const char *task_of(const struct result_cell *c)
{
    const char *label = label_of(c, "task", "task");
    return label ? label : member_text(value_get(c->config, "task"), "plugin");
}

static const char *goal_of(const struct results *r, const char *metric)
{
    for (int i = 0; metric && i < r->n_metric; i++)
        if (strcmp(r->known[i].name, metric) == 0)
            return r->known[i].goal_max ? "max" : "min";
    return NULL;
}

static void add_line(struct writer *w, const struct result_cell *c, const struct number *x)
{
    struct strbuf *out = w->out;
    add_text(out, c->experiment);
    next_text(out, c->label);
    next_text(out, label_of(c, "position.scheme", "scheme"));
    next_text(out, label_of(c, "position.combine", "combine"));
    next_text(out, task_of(c));
    for (int i = 0; i < w->r->n_axis; i++)
        if (is_other_axis(w->r->axis[i]))
            next_text(out, member_text(value_get(c->planned, "axes"), w->r->axis[i]));
    strbuf_addf(out, ",%" PRId64, c->seed);
    next_text(out, x->metric);
    next_text(out, x->split);
    strbuf_addf(out, x->has_length ? ",%" PRId64 : ",", x->length);
    strbuf_addf(out, x->has_step ? ",%" PRId64 : ",", x->step);
    next_number(out, x->value);
    next_text(out, member_text(c->planned, "hash"));
    next_text(out, cell_state_name(c->state));
    next_text(out, goal_of(w->r, x->metric));
    strbuf_add(out, w->cost.text);
}

/* ---- the last evaluation ---- */

static struct number read_number(const struct value *measure)
{
    const struct value *length = value_get(measure, "length"), *step = value_get(measure, "step");
    return (struct number){
        .metric = member_text(measure, "metric"),
        .split = member_text(measure, "split"),
        .has_length = length && length->kind == VALUE_INT,
        .has_step = step && step->kind == VALUE_INT,
        .length = member_integer(measure, "length", 0),
        .step = member_integer(measure, "step", 0),
        .value = field_number(measure, "value"),
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
    p->n = 0;
    for (int i = 0; i < r->n_cell; i++) {
        const struct value *measures = value_get(r->cell[i].result, "measures");
        for (int k = 0; k < field_count(r->cell[i].result, "measures"); k++)
            add_place(p, read_number(measures->item[k]));
    }
    if (p->n == 0)
        add_place(p, (struct number){.metric = r->metric, .split = "valid"});
}

static void add_last(struct writer *w, const struct result_cell *c, const struct places *p)
{
    if (result_counts(c)) {
        const struct value *measures = value_get(c->result, "measures");
        for (int k = 0; k < field_count(c->result, "measures"); k++) {
            struct number x = read_number(measures->item[k]);
            if (!x.has_step || x.step != 0)
                add_line(w, c, &x);
        }
        return;
    }
    const struct value *diverged = value_get(c->result, "diverged");
    for (int k = 0; k < p->n; k++) {
        struct number x = p->item[k];
        x.step = member_integer(diverged, "step", 0);
        x.has_step = x.step > 0;
        add_line(w, c, &x);
    }
}

/* ---- every step ---- */

/* A last line that was cut short is passed over; a damaged one would be a hole that nobody sees. */
static peat_status add_steps(struct writer *w, const struct result_cell *c, const char *path,
                             const char *text, size_t n, struct error *err)
{
    struct arena line;
    peat_status status = PEAT_OK;
    arena_init(&line, "line", 4096);
    int number = 1;
    for (const char *end; status == PEAT_OK && (end = memchr(text, '\n', n));
         n -= (size_t)(end + 1 - text), text = end + 1, number++) {
        const struct value *v = metrics_line(&line, text, (size_t)(end - text));
        struct number x = read_number(v);
        if (!v)
            status = error_set(err, PEAT_INVALID,
                               "line %d of '%s' is damaged; remove it, or run the cell again",
                               number, path);
        else if (x.metric && x.step != 0)
            add_line(w, c, &x);
        arena_reset(&line);
    }
    arena_release(&line);
    return status;
}

static peat_status read_steps(struct writer *w, const struct result_cell *c, struct error *err)
{
    if (!c->dir)
        return PEAT_OK;
    char *path = path_join(c->dir, "metrics.jsonl"), *text = NULL;
    size_t n = 0;
    peat_status status = file_read(path, 0, &text, &n, err);
    if (status == PEAT_OK)
        status = add_steps(w, c, path, text, n, err);
    free(text);
    free(path);
    return status == PEAT_NOTFOUND ? PEAT_OK : status;
}

peat_status format_csv(const struct results *r, bool all_steps, struct strbuf *out,
                       struct error *err)
{
    struct writer w = {.r = r, .out = out};
    struct places places;
    peat_status status = PEAT_OK;
    strbuf_init(&w.cost);
    list_places(r, &places);
    add_head(r, out);
    for (int i = 0; i < r->n_cell && status == PEAT_OK; i++) {
        const struct result_cell *c = &r->cell[i];
        fill_cost(&w, c);
        if (all_steps)
            status = read_steps(&w, c, err);
        else if (cell_has_ended(c->state) || cell_has_failed(c->state) || c->state == CELL_STALE)
            add_last(&w, c, &places);
    }
    strbuf_release(&w.cost);
    return status;
}
