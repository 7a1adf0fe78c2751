/* SPDX-License-Identifier: MIT */
/* planapart.c: makes a plan in a child process and sends it as text. */
#include "experiment/plan.h"

#include "process/apart.h"

/* ---- the child ---- */

/* The members of a cell that plan.json leaves out. */
static void add_rest(struct json cell, const struct plan_cell *c)
{
    json_put(cell, "plugins", c->plugins);
    json_put(cell, "resolved", c->config.resolved);
    json_put_text(cell, "first_tokens", c->first_tokens);
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

/* ---- the parent ---- */

static bool read_config(const struct value *row, struct cell_config *c)
{
    c->resolved = value_get(row, "resolved");
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
    c->acting = (unsigned)json_get_int(row, "acting", 0);
    c->idle = (unsigned)json_get_int(row, "idle", 0);
    snprintf(c->hash, sizeof(c->hash), "%s", json_text_or(row, "hash", ""));
    snprintf(c->setting, sizeof(c->setting), "%s", json_text_or(row, "setting", ""));
    return c->resolved;
}

static bool read_cell(const struct experiment *e, const struct value *row, struct plan_cell *c)
{
    *c = (struct plan_cell){
        .index = (int)json_get_int(row, "index", -1),
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

static void read_claims(const struct value *plan, struct plan *p, struct arena *a)
{
    int n = p->experiment->claims ? p->experiment->claims->n : 0;
    bool *has_rows = ARENA_ARRAY(a, n, bool);
    for (int i = 0; i < n; i++) {
        const struct value *v = json_get_item(plan, "claim_has_rows", i);
        has_rows[i] = v && v->integer != 0;
    }
    p->claim_has_rows = has_rows;
}

static bool read_plan(struct plan *p, const struct value *plan, struct arena *a, struct error *err)
{
    if (record_check(&plan_record, plan, "plan", err) != PEAT_OK)
        return false;
    const struct value *cells = value_get(plan, "cells");
    p->dropped = value_get(plan, "dropped");
    p->skipped = value_get(plan, "skipped");
    bool whole = p->dropped && p->skipped;
    p->n = cells->n;
    p->cell = ARENA_ARRAY(a, p->n + 1, struct plan_cell);
    for (int i = 0; whole && i < p->n; i++) {
        struct plan_cell *c = &p->cell[i];
        whole = read_cell(p->experiment, cells->item[i], c) && c->index == i && c->baseline < p->n;
    }
    read_claims(plan, p, a);
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
