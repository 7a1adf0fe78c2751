/* SPDX-License-Identifier: MIT */
/* registered.c: collects the parts of a plan that a registration fixes. */
#include "cell/setting.h"
#include "experiment/claim.h"
#include "experiment/plan.h"

struct value *plan_plugins(const struct plan *p, struct arena *a)
{
    static const char *const keys[] = {"kind", "id", "sha256", NULL};
    struct json list = json_list(a);
    const struct value *plugin;
    for (int i = 0; i < p->n; i++)
        for (int k = 0; p->cell[i].plugins && k < p->cell[i].plugins->n; k++) {
            plugin = json_part(a, p->cell[i].plugins->item[k], keys).v;
            if (!value_holds(list.v, plugin))
                json_add(list, plugin);
        }
    return list.v;
}

/* ---- settings of rows ---- */

/* The keys that both maps have with the same value, also in maps within them; NULL: none. */
static struct value *shared(const struct value *x, const struct value *y, struct arena *a)
{
    struct json both = json_map(a);
    for (int i = 0; i < x->n; i++) {
        struct value *other = value_get(y, x->key[i]), *item = x->item[i];
        if (other && item->kind == VALUE_MAP && other->kind == VALUE_MAP)
            item = shared(item, other, a);
        else if (!other || !value_equal(item, other))
            item = NULL;
        if (item)
            json_put(both, x->key[i], item);
    }
    return both.v->n ? both.v : NULL;
}

/* The keys of the map that `common` lacks. */
static struct value *rest(const struct value *x, const struct value *common, struct arena *a)
{
    struct json own = json_map(a);
    for (int i = 0; i < x->n; i++) {
        const struct value *other = value_get(common, x->key[i]), *item = x->item[i];
        if (other && item->kind == VALUE_MAP)
            item = rest(item, other, a);
        if (!other || (x->item[i]->kind == VALUE_MAP && item->n))
            json_put(own, x->key[i], item);
    }
    return own.v;
}

/* As the cell's hash has them, and all of `eval`. */
static struct value *settings_of(const struct plan_cell *c, struct arena *a)
{
    return value_with_path(a, c->config.identity, "eval", NOWHERE,
                           value_get(c->config.resolved, "eval"));
}

/* "rotary.S" of "rotary.S.s0" */
static const char *row_of(const struct plan_cell *c, struct arena *a)
{
    const char *seed = arena_printf(a, ".s%" PRId64, c->seed);
    bool has = path_ends_in(c->name, seed);
    return arena_printf(a, "%.*s", (int)(strlen(c->name) - (has ? strlen(seed) : 0)), c->name);
}

/* Settings that all rows have are written once. */
static void put_rows(struct json plan, const struct plan *p)
{
    struct arena *a = plan.a;
    int n = p->n / p->experiment->n_seed;
    struct value *common = n ? settings_of(&p->cell[0], a) : NULL;
    for (int i = 1; i < n && common; i++)
        common = shared(common, settings_of(&p->cell[i], a), a);
    json_put(plan, "settings", common);
    struct json rows = json_put_map(plan, "rows");
    for (int i = 0; i < n; i++)
        json_put(rows, row_of(&p->cell[i], a), rest(settings_of(&p->cell[i], a), common, a));
}

/* ---- seeds, cells, plugins ---- */

/* The seeds as an experiment has them: their number, a list, or how they are added. */
static void put_seeds(struct json plan, const struct experiment *e)
{
    bool counted = true;
    for (int i = 0; i < e->n_seed; i++)
        counted = counted && e->seed[i] == i;
    if (e->looks.n) {
        struct json looks = json_put_map(plan, "seeds");
        json_put_int(looks, "from", e->looks.from);
        json_put_int(looks, "every", e->looks.every);
        json_put_int(looks, "at_most", e->n_seed);
        json_put_text(looks, "spending", claim_spendings[e->looks.spending]);
    } else if (counted) {
        json_put_int(plan, "seeds", e->n_seed);
    } else {
        struct json list = json_put_list(plan, "seeds");
        for (int i = 0; i < e->n_seed; i++)
            json_add_int(list, e->seed[i]);
    }
}

void plan_cells_put(struct json map, const struct value *plan)
{
    char hex[HASH_HEX];
    struct json all = json_list(map.a);
    const struct value *cell, *axis;
    for (int i = 0; (cell = json_get_item(plan, "cells", i)); i++) {
        json_add_text(all, json_text_or(cell, "name", json_get_text(cell, "label")));
        json_add_text(all, json_get_text(cell, "hash"));
        for (int k = 0; (axis = json_get_item(plan, "axes", k)); k++)
            json_add(all, value_get(value_get(cell, "axes"), json_text_or(axis, "key", "")));
    }
    json_hash(all.v, hex);
    json_put_int(map, "cells", json_get_count(plan, "cells"));
    json_put_text(map, "cells_sha256", hex);
}

/* {"scheme rotary": "<SHA-256>"}; of two files of one name both. */
static void put_plugins(struct json all, const struct plan *p)
{
    struct json map = json_put_map(all, "plugins");
    const struct value *list = plan_plugins(p, all.a);
    for (int i = 0; i < list->n; i++) {
        const struct value *v = list->item[i];
        const char *name =
            arena_printf(all.a, "%s %s", json_text_or(v, "kind", ""), json_text_or(v, "id", ""));
        json_put_text(
            map, name,
            arena_item(all.a, json_get_text(map.v, name), "%s", json_text_or(v, "sha256", "")));
    }
}

struct value *plan_registration(const struct plan *p, struct arena *a)
{
    const struct experiment *e = p->experiment;
    const struct value *written = plan_value(p, a);
    struct json all = json_map(a);
    json_put(all, "claims", e->claims ? e->claims : value_list(a, NOWHERE));
    struct json plan = json_put_map(all, "plan");
    plan_cells_put(plan, written);
    put_seeds(plan, e);
    json_put_text(plan, "gemm", e->run.gemm);
    json_put(plan, "report", value_get(written, "report"));
    put_rows(plan, p);
    put_plugins(all, p);
    return all.v;
}
