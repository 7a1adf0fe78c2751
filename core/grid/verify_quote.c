/* SPDX-License-Identifier: MIT */
/* verify_quote.c: a verified run directory in one line. */

#include "grid/verify.h"

/* Texts, each once. */
struct names {
    struct arena *a;
    int n, room;
    const char **text;
};

static void add_name(struct names *list, const char *text)
{
    for (int i = 0; i < list->n; i++)
        if (strcmp(list->text[i], text) == 0)
            return;
    *ARENA_APPEND(list->a, list->text, list->n, list->room) = text;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Behind one another, each with a comma before it. */
static const char *joined(struct names *list)
{
    const char *all = "";
    if (list->n)
        qsort(list->text, (size_t)list->n, sizeof(*list->text), compare_names);
    for (int i = 0; i < list->n; i++)
        all = arena_printf(list->a, "%s, %s", all, list->text[i]);
    return all;
}

static const char *known(const struct value *map, const char *key)
{
    const char *text = json_get_text(map, key);
    return text ? text : "unknown";
}

const char *verify_quote(const struct verification *v, const char *hash)
{
    struct names engines = {.a = v->arena}, plugins = {.a = v->arena};
    const struct value *one;
    for (int i = 0; i < v->dir.n; i++) {
        const struct cell_files *c = &v->dir.cell[i];
        if (!c->planned || !c->result || !c->meta)
            continue;
        add_name(&engines, arena_printf(v->arena, "peat %s", known(c->meta, "engine")));
        for (int k = 0; (one = json_get_item(c->meta, "plugins", k)); k++)
            add_name(&plugins, arena_printf(v->arena, "%s %s %s", known(one, "kind"),
                                            known(one, "id"), known(one, "version")));
    }
    return arena_printf(v->arena, "'%s', SHA-256 %s: %d of %d cells%s%s",
                        json_get_text(v->dir.plan, "experiment"), hash, v->finished,
                        v->finished + v->unfinished, joined(&engines), joined(&plugins));
}
