/* SPDX-License-Identifier: MIT */
/* stale.c: compares a result's provenance with the present plugins. */
#include "grid/stale.h"

#include "base/hash.h"
#include "cell/cellmeta.h"

static const struct field stale_fields[] = {{"reason", FIELD_TEXT}, {NULL}};
const struct record stale_record = {"stale.json", "format", 1, true, stale_fields};

/* The first formula of another program's training whose file has changed; one that is not here
 * cannot be compared. */
static const char *changed_formula(const struct value *meta)
{
    const struct value *formula;
    char now[HASH_HEX];
    for (int i = 0; (formula = json_get_item(meta, "formulas", i)); i++) {
        const char *path = json_get_text(formula, "path");
        if (path && hash_file(path, now, NULL) == PEAT_OK && !json_text_is(formula, "sha256", now))
            return path;
    }
    return NULL;
}

const char *stale_reason(const struct cell_files *c, const struct value *present, struct arena *a)
{
    struct value *meta = NULL;
    peat_status status = record_read(c->dir, &meta_record, a, &meta, NULL);
    if (status == PEAT_CORRUPT)
        return "its meta.json is damaged, so the plugins that made it are unknown";
    if (status == PEAT_NOTFOUND && (c->result || dir_has(c->dir, "ckpt")))
        return "its meta.json is missing, so the plugins that made it are unknown";
    if (status != PEAT_OK)
        return NULL;
    const struct value *changed = plugins_changed(present, value_get(meta, "plugins"));
    if (changed)
        return arena_printf(a, "%s '%s' has changed", json_get_text(changed, "kind"),
                            json_get_text(changed, "id"));
    const char *formula = changed_formula(meta);
    return formula ? arena_printf(a, "the formula '%s' has changed", formula) : NULL;
}

void stale_find(struct rundir *r, const struct plan *p, struct arena *a)
{
    for (int i = 0; i < p->n && i < r->n; i++) {
        struct cell_files *c = &r->cell[i];
        if (!cell_has_ended(c->state) && c->state != CELL_STALE)
            continue;
        if (stale_reason(c, p->cell[i].plugins, a))
            c->state = CELL_STALE;
        else
            c->state = json_text_is(c->result, "state", "done") ? CELL_DONE : CELL_DIVERGED;
    }
}

peat_status stale_mark(const struct cell_files *c, const struct value *present, struct arena *a,
                       struct error *err)
{
    const char *reason = c->result ? stale_reason(c, present, a) : NULL;
    if (reason) {
        struct json v = json_map(a);
        json_put_int(v, "format", stale_record.format);
        json_put_text(v, "reason", reason);
        return json_write_file(c->dir, "stale.json", v.v, err);
    }
    return file_remove(c->dir, "stale.json", err);
}
