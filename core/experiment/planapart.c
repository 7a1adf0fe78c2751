/* SPDX-License-Identifier: MIT */
/* planapart.c: makes a plan in a child process and sends it as text. */
#include "experiment/plan.h"

#include "process/apart.h"

/* ---- the child ---- */

static void add_plugin(struct json list, const struct plugin_use *use)
{
    struct json m = json_add_map(list);
    json_put_int(m, "kind", use->plugin->desc->kind);
    json_put_text(m, "id", use->plugin->desc->id);
    json_put_text(m, "sha256", use->plugin->sha256);
}

/* Members of a cell that plan.json does not have. */
static void add_rest(struct json cell, const struct plan_cell *c)
{
    struct json plugins = json_put_list(cell, "plugins");
    const struct plugin_use *use;
    for (int i = 0; (use = cell_plugin(&c->config, i)); i++)
        add_plugin(plugins, use);
    json_put(cell, "resolved", c->config.resolved);
    json_put_text(cell, "first_tokens", c->first_tokens);
}

static void write_plan(const struct plan *p, struct arena *a, struct strbuf *out)
{
    struct value *plan = plan_value(p, a), *cells = value_get(plan, "cells");
    for (int i = 0; i < p->n; i++)
        add_rest((struct json){a, cells->item[i]}, &p->cell[i]);
    struct json without = json_put_list((struct json){a, plan}, "claims_without_rows");
    for (int i = 0; p->experiment->claims && i < p->experiment->claims->n; i++)
        if (!p->claim_has_rows[i])
            json_add_int(without, i);
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
    peat_status status = registry_init(&registry, &arena, err);
    registry.trail = trail;
    if (status == PEAT_OK)
        status = plan_make(&plan, q->experiment, &registry, q->depth, &arena, err);
    if (status == PEAT_OK)
        write_plan(&plan, &arena, out);
    arena_release(&arena);
    return status;
}

/* ---- the parent ---- */

/* A plugin with only the fields that identify it. */
static void read_plugin(const struct value *v, struct plugin_use *use, struct arena *a)
{
    struct plugin *plugin = ARENA_NEW(a, struct plugin);
    peat_plugin *desc = ARENA_NEW(a, peat_plugin);
    desc->kind = (peat_kind)json_get_int(v, "kind", 0);
    desc->id = json_text_or(v, "id", "");
    plugin->desc = desc;
    snprintf(plugin->sha256, sizeof(plugin->sha256), "%s", json_text_or(v, "sha256", ""));
    use->plugin = plugin;
}

static bool read_plugins(const struct value *list, struct cell_config *c, struct arena *a)
{
    for (int i = 0; list && i < list->n; i++) {
        struct plugin_use *use = NULL;
        switch (json_get_int(list->item[i], "kind", 0)) {
        case PEAT_TASK:
            use = &c->task;
            break;
        case PEAT_COMBINE:
            use = &c->combine;
            c->has_combine = true;
            break;
        case PEAT_SCHEME:
            use = c->n_scheme < POSITIONAL_MAX ? &c->scheme[c->n_scheme++] : NULL;
            break;
        }
        if (!use)
            return false;
        read_plugin(list->item[i], use, a);
    }
    return list != NULL;
}

static bool read_config(const struct value *row, struct cell_config *c, struct arena *a)
{
    c->resolved = value_get(row, "resolved");
    c->seed = json_get_int(row, "seed", 0);
    const struct value *train = value_get(c->resolved, "train");
    c->train.steps = json_get_int(train, "steps", 0);
    c->train.batch = json_get_int(train, "batch", 0);
    c->train.seq_len = json_get_int(train, "seq_len", 0);
    c->eval.every = json_get_int(value_get(c->resolved, "eval"), "every", 0);
    double test = json_get_number(value_get(c->resolved, "eval"), "test");
    c->eval.test = test > 0 ? test : 0; /* NaN: the member is missing */
    snprintf(c->hash, sizeof(c->hash), "%s", json_text_or(row, "hash", ""));
    snprintf(c->setting, sizeof(c->setting), "%s", json_text_or(row, "setting", ""));
    return c->resolved && read_plugins(value_get(row, "plugins"), c, a);
}

static bool read_cell(const struct experiment *e, const struct value *row, struct plan_cell *c,
                      struct arena *a)
{
    *c = (struct plan_cell){
        .index = (int)json_get_int(row, "index", -1),
        .first_tokens = json_get_text(row, "first_tokens"),
        .trunk = value_get(row, "trunk"),
        .baseline = (int)json_get_int(row, "baseline", -1),
    };
    fields_get(row, plan_cell_fields, c);
    quantities_read(row, IN_PLAN, c->q);
    for (int i = 0; i < e->n_axis; i++)
        c->axis[i] = json_text_or(value_get(row, "axes"), e->axis[i].key, "");
    return c->label && read_config(row, &c->config, a);
}

static void read_skipped(const struct value *list, struct plan *p, struct arena *a)
{
    p->n_skipped = list ? list->n : 0;
    p->skipped = ARENA_ARRAY(a, p->n_skipped + 1, struct plan_skip);
    for (int i = 0; i < p->n_skipped; i++)
        fields_get(list->item[i], plan_skip_fields, &p->skipped[i]);
}

static void read_dropped(const struct value *list, struct plan *p, struct arena *a)
{
    p->n_dropped = list ? list->n : 0;
    p->dropped = ARENA_ARRAY(a, p->n_dropped + 1, const char *);
    for (int i = 0; i < p->n_dropped; i++)
        p->dropped[i] = list->item[i]->text;
}

static void read_claims(const struct value *without, struct plan *p, struct arena *a)
{
    int n = p->experiment->claims ? p->experiment->claims->n : 0;
    bool *has_rows = ARENA_ARRAY(a, n, bool);
    for (int i = 0; i < n; i++)
        has_rows[i] = true;
    for (int i = 0; without && i < without->n; i++)
        if (without->item[i]->kind == VALUE_INT && without->item[i]->integer >= 0 &&
            without->item[i]->integer < n)
            has_rows[without->item[i]->integer] = false;
    p->claim_has_rows = has_rows;
}

static bool read_plan(struct plan *p, const struct value *plan, struct arena *a, struct error *err)
{
    if (record_check(&plan_record, plan, "plan", err) != PEAT_OK)
        return false;
    const struct value *cells = value_get(plan, "cells");
    p->n = cells->n;
    p->cell = ARENA_ARRAY(a, p->n + 1, struct plan_cell);
    for (int i = 0; i < p->n; i++) {
        struct plan_cell *c = &p->cell[i];
        if (!read_cell(p->experiment, cells->item[i], c, a) || c->index != i || c->baseline >= p->n)
            return error_set(err, PEAT_CORRUPT, "the planning process sent an incomplete plan") ==
                   PEAT_OK;
    }
    read_dropped(value_get(plan, "dropped"), p, a);
    read_skipped(value_get(plan, "skipped"), p, a);
    read_claims(value_get(plan, "claims_without_rows"), p, a);
    return true;
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
