/* SPDX-License-Identifier: MIT */
/* planjson.c: the plan and its cells as JSON: for the run directory, and from one process to
 * another. */

#include "cell/cellfiles.h"
#include "cell/trunk.h"
#include "experiment/plan.h"
#include "process/apart.h"

/* ---- fields of plan.json ---- */

static const struct field axis_fields[] = {
    {"key", FIELD_TEXT | FIELD_NEEDED}, {"labels", FIELD_LIST, FIELD_TEXT}, {NULL}};
static const struct field report_fields[] = {{"metric", FIELD_TEXT | FIELD_NULL},
                                             {"goal", FIELD_TEXT},
                                             {"baseline", FIELD_MAP | FIELD_NULL, FIELD_TEXT},
                                             {"within", FIELD_LIST, FIELD_TEXT},
                                             {"at", FIELD_TEXT},
                                             {NULL}};
#define CELL(key, flags)                                                                           \
    {                                                                                              \
#key, flags, MEMBER(struct plan_cell, key)                                                 \
    }

static const struct field plan_cell_fields[] = {
    {"index", FIELD_INT},
    CELL(id, FIELD_TEXT | FIELD_NEEDED),
    CELL(label, FIELD_TEXT),
    {"name", FIELD_TEXT},
    {"axes", FIELD_MAP | FIELD_NEEDED, FIELD_TEXT},
    CELL(scheme, FIELD_TEXT),
    CELL(combine, FIELD_TEXT),
    CELL(task, FIELD_TEXT),
    CELL(seed, FIELD_INT | FIELD_NEEDED),
    {"hash", FIELD_TEXT},
    {"setting", FIELD_TEXT},
#define QUANTITY(files, name, key, flags, ...) QUANTITY_FIELD((files)&IN_PLAN, key, flags)
#include "base/quantities.inc"
    CELL(started, FIELD_TEXT),
    CELL(attention_path, FIELD_TEXT),
    CELL(injection, FIELD_TEXT),
    CELL(matched, FIELD_TEXT | FIELD_NULL),
    {"baseline", FIELD_INT | FIELD_NULL},
    {"trunk", FIELD_MAP, 0, trunk_fields},
    {NULL},
};
static const struct field skip_fields[] = {
    {"label", FIELD_TEXT | FIELD_NEEDED}, {"reason", FIELD_TEXT | FIELD_NEEDED}, {NULL}};
static const struct field plan_fields[] = {
    {"experiment", FIELD_TEXT | FIELD_NEEDED},
    {"description", FIELD_TEXT | FIELD_NULL},
    {"axes", FIELD_LIST | FIELD_NEEDED, FIELD_MAP, axis_fields},
    {"seeds", FIELD_LIST, FIELD_INT},
    {"report", FIELD_MAP, 0, report_fields},
    {"cells", FIELD_LIST | FIELD_NEEDED, FIELD_MAP, plan_cell_fields},
    {"dropped", FIELD_LIST, FIELD_TEXT},
    {"skipped", FIELD_LIST, FIELD_MAP, skip_fields},
    {"files", FIELD_MAP, FIELD_TEXT},
    {"claims_sha256", FIELD_TEXT},
    {NULL},
};
const struct record plan_record = {"plan.json", "format", 1, false, plan_fields};

static peat_status check_names(const char *dir, const struct value *plan, struct error *err)
{
    const struct value *cells = value_get(plan, "cells");
    const char *name = json_get_text(plan, "experiment");
    if (!experiment_is_name(name))
        return error_set(err, PEAT_CORRUPT,
                         "'%s/%s' is damaged: an experiment cannot be called '%s'", dir,
                         plan_record.name, name);
    for (int i = 0; i < cells->n; i++) {
        const char *id = json_get_text(cells->item[i], "id");
        if (!cell_is_id(id))
            return error_set(err, PEAT_CORRUPT,
                             "'%s/%s' is damaged: the id of cell %d cannot be '%s'", dir,
                             plan_record.name, i, id);
    }
    return PEAT_OK;
}

peat_status plan_read(const char *dir, struct value **plan, struct arena *a, struct error *err)
{
    peat_status status = record_read(dir, &plan_record, a, plan, err);
    if (status == PEAT_OK)
        status = check_names(dir, *plan, err);
    if (status != PEAT_OK)
        *plan = NULL;
    return status;
}

/* ---- plan.json ---- */

static bool is_used(const struct plan *p, int axis, const char *label)
{
    for (int i = 0; i < p->n; i++)
        if (strcmp(p->cell[i].axis[axis], label) == 0)
            return true;
    return false;
}

/* Labels that cells have: in the order of the file, then those that come from elsewhere. */
static void add_labels(struct json list, const struct plan *p, int axis)
{
    const struct axis *x = &p->experiment->axis[axis];
    for (int i = 0; i < x->n_known; i++)
        if (is_used(p, axis, x->value[i].label))
            json_add_text(list, x->value[i].label);
    for (int i = 0; i < p->n; i++)
        if (!value_holds_text(list.v, p->cell[i].axis[axis]))
            json_add_text(list, p->cell[i].axis[axis]);
}

static void add_axes(struct json list, const struct plan *p)
{
    for (int i = 0; i < p->experiment->n_axis; i++) {
        struct json m = json_add_map(list);
        json_put_text(m, "key", p->experiment->axis[i].key);
        add_labels(json_put_list(m, "labels"), p, i);
    }
}

static void fill_report(struct json m, const struct report_settings *r)
{
    static const char *const goal[] = {"metric", "min", "max"};
    json_put_text(m, "metric", r->metric);
    json_put_text(m, "goal", goal[r->goal]);
    json_put(m, "baseline", r->baseline);
    if (r->within) /* the default is left out, so that earlier plans keep their hash */
        json_put(m, "within", r->within);
    if (r->contrasts)
        json_put(m, "contrasts", r->contrasts);
    if (r->best_over.n_axis)
        json_put(m, "best_over", best_over_value(&r->best_over, m.a));
    json_put_text(m, "at", "final");
}

/* The place of a cell in the grid, as plan.json and config.json both say it. */
static void put_cell(struct json m, const struct plan *p, const struct plan_cell *c)
{
    json_put_int(m, "index", c->index);
    json_put_text(m, "id", c->id);
    json_put_text(m, "label", c->label);
    struct json axes = json_put_map(m, "axes");
    for (int i = 0; i < p->experiment->n_axis; i++)
        json_put_text(axes, p->experiment->axis[i].key, c->axis[i]);
    json_put_text(m, "scheme", c->scheme);
    json_put_text(m, "combine", c->combine);
}

/* Numbers and texts from a shape-only set-up; cells that draw all weights have no `started`. */
static void put_costs(struct json m, const struct plan_cell *c, enum quantity_file file)
{
    quantities_put(m, file, c->q);
    if (c->started)
        json_put_text(m, "started", c->started);
    json_put_text(m, "attention_path", c->attention_path);
    json_put_text(m, "injection", c->injection);
}

static void plan_add_cell(struct json cells, const struct plan *p, const struct plan_cell *c)
{
    struct json m = json_add_map(cells);
    put_cell(m, p, c);
    if (strcmp(c->name, c->label) != 0)
        json_put_text(m, "name", c->name);
    json_put_text(m, "task", c->task);
    json_put_int(m, "seed", c->seed);
    json_put_text(m, "hash", c->config.hash);
    json_put_text(m, "setting", c->config.setting);
    put_costs(m, c, IN_PLAN);
    json_put_text(m, "matched", c->matched);
    if (c->baseline < 0)
        json_put(m, "baseline", NULL);
    else
        json_put_int(m, "baseline", c->baseline);
    if (c->trunk)
        json_put(m, "trunk", c->trunk);
}

struct value *plan_value(const struct plan *p, struct arena *a)
{
    const struct experiment *e = p->experiment;
    struct json m = json_map(a);
    json_put_int(m, "format", plan_record.format);
    json_put_text(m, "experiment", e->name);
    json_put_text(m, "description", e->description);
    add_axes(json_put_list(m, "axes"), p);
    struct json seeds = json_put_list(m, "seeds");
    for (int i = 0; i < e->n_seed; i++)
        json_add_int(seeds, e->seed[i]);
    fill_report(json_put_map(m, "report"), &e->report);
    struct json cells = json_put_list(m, "cells");
    for (int i = 0; i < p->n; i++)
        plan_add_cell(cells, p, &p->cell[i]);
    json_put(m, "dropped", p->dropped);
    json_put(m, "skipped", p->skipped);
    return m.v;
}

struct value *plan_cell_value(const struct plan *p, const struct plan_cell *c, struct arena *a)
{
    struct json m = json_map(a);
    json_put_int(m, "format", config_record.format);
    json_put_text(m, "experiment", p->experiment->name);
    put_cell(m, p, c);
    json_put_text(m, "hash", c->config.hash);
    json_put_text(m, "setting", c->config.setting);
    m.v = value_merge(a, m.v, c->config.resolved);
    put_costs(m, c, IN_CONFIG);
    if (c->trunk)
        json_put(m, "trunk", c->trunk);
    return m.v;
}

/* ---- a plan that a child process makes and sends as text ---- */

/* The members of a cell that plan.json leaves out. */
static void add_rest(struct json cell, const struct plan_cell *c)
{
    json_put(cell, "plugins", c->plugins);
    json_put(cell, "resolved", c->config.resolved);
    json_put(cell, "identity", c->config.identity);
    json_put_text(cell, "first_tokens", c->first_tokens);
    json_put_text(cell, "filled_in", c->config.filled_in);
    json_put_int(cell, "acting", c->config.acting);
    json_put_int(cell, "idle", c->config.idle);
}

static void write_plan(const struct plan *p, struct arena *a, struct strbuf *out)
{
    struct value *plan = plan_value(p, a), *cells = value_get(plan, "cells");
    for (int i = 0; i < p->n; i++)
        add_rest((struct json){a, cells->item[i]}, &p->cell[i]);
    struct json has_rows = json_put_list((struct json){a, plan}, "claim_has_rows");
    for (int i = 0; p->experiment->claims && i < p->experiment->claims->n; i++)
        json_add_int(has_rows, p->claim_has_rows[i]);
    json_print(plan, JSON_DENSE, out);
}

struct request {
    const struct experiment *experiment;
    enum plan_depth depth;
};

static peat_status make(void *ctx, struct trail *trail, struct strbuf *out, struct error *err)
{
    const struct request *q = ctx;
    struct arena arena;
    struct registry registry;
    struct plan plan;
    arena_init(&arena, "plan", 1 << 18);
    peat_status status = registry_init(&registry, &arena, trail, err);
    if (status == PEAT_OK)
        status = plan_make(&plan, q->experiment, &registry, q->depth, &arena, err);
    if (status == PEAT_OK)
        write_plan(&plan, &arena, out);
    arena_release(&arena);
    return status;
}

static bool read_config(const struct value *row, struct cell_config *c)
{
    c->resolved = value_get(row, "resolved");
    c->identity = value_get(row, "identity");
    c->seed = json_get_int(row, "seed", 0);
    const struct value *train = value_get(c->resolved, "train");
    const struct value *model = value_get(c->resolved, "model");
    c->model.d_model = json_get_int(model, "d_model", 1);
    c->model.n_head = json_get_int(model, "n_head", 1);
    c->model.n_layer = json_get_int(model, "n_layer", 1);
    c->train.steps = json_get_int(train, "steps", 0);
    c->train.batch = json_get_int(train, "batch", 0);
    c->train.seq_len = json_get_int(train, "seq_len", 0);
    c->eval.every = json_get_int(value_get(c->resolved, "eval"), "every", 0);
    double test = json_get_number(value_get(c->resolved, "eval"), "test");
    c->eval.test = test > 0 ? test : 0; /* NaN: the member is missing */
    c->filled_in = json_get_text(row, "filled_in");
    c->acting = (unsigned)json_get_int(row, "acting", 0);
    c->idle = (unsigned)json_get_int(row, "idle", 0);
    snprintf(c->hash, sizeof(c->hash), "%s", json_text_or(row, "hash", ""));
    snprintf(c->setting, sizeof(c->setting), "%s", json_text_or(row, "setting", ""));
    return c->resolved;
}

static bool plan_read_cell(const struct experiment *e, const struct value *row, struct plan_cell *c)
{
    *c = (struct plan_cell){
        .index = (int)json_get_int(row, "index", -1),
        .name = json_text_or(row, "name", json_get_text(row, "label")),
        .first_tokens = json_get_text(row, "first_tokens"),
        .trunk = value_get(row, "trunk"),
        .plugins = value_get(row, "plugins"),
        .baseline = (int)json_get_int(row, "baseline", -1),
    };
    fields_get(row, plan_cell_fields, c);
    quantities_read(row, IN_PLAN, c->q);
    for (int i = 0; i < e->n_axis; i++)
        c->axis[i] = json_text_or(value_get(row, "axes"), e->axis[i].key, "");
    return c->label && c->plugins && read_config(row, &c->config);
}

static bool read_plan(struct plan *p, const struct value *plan, struct arena *a, struct error *err)
{
    if (record_check(&plan_record, plan, "plan", err) != PEAT_OK)
        return false;
    const struct value *cells = value_get(plan, "cells"), *claims = p->experiment->claims;
    int n_claim = claims ? claims->n : 0;
    bool *has_rows = ARENA_ARRAY(a, n_claim, bool);
    p->dropped = value_get(plan, "dropped");
    p->skipped = value_get(plan, "skipped");
    bool whole = p->dropped && p->skipped;
    p->n = cells->n;
    p->cell = ARENA_ARRAY(a, p->n + 1, struct plan_cell);
    for (int i = 0; whole && i < p->n; i++) {
        struct plan_cell *c = &p->cell[i];
        whole =
            plan_read_cell(p->experiment, cells->item[i], c) && c->index == i && c->baseline < p->n;
    }
    for (int i = 0; i < n_claim; i++) {
        const struct value *v = json_get_item(plan, "claim_has_rows", i);
        has_rows[i] = v && v->integer != 0;
    }
    p->claim_has_rows = has_rows;
    return whole || error_fail(err, PEAT_CORRUPT, "the planning process sent an incomplete plan");
}

peat_status plan_make_apart(struct plan *p, const struct experiment *e, enum plan_depth depth,
                            struct arena *a, struct error *err)
{
    struct request q = {.experiment = e, .depth = depth};
    struct strbuf text = STRBUF_NEW;
    *p = (struct plan){.experiment = e};
    peat_status status = apart_run(make, &q, e->run.plan_timeout, APART_ASIDE, &text, NULL, err);
    if (status == PEAT_OK) {
        const struct value *v = json_parse(a, text.text, text.n, "plan", err);
        if (!v || !read_plan(p, v, a, err))
            status = PEAT_CORRUPT;
    }
    strbuf_release(&text);
    return status;
}
