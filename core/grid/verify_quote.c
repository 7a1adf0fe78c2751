/* SPDX-License-Identifier: MIT */
/* verify_quote.c: describes a verified run directory in one line. */

#include "grid/verify.h"

/* A list of texts, each once. */
struct names {
    struct arena *a;
    int n, room;
    const char **text;
};

static void add_name(struct names *list, const char *text)
{
    if (texts_find(list->text, list->n, text) < 0)
        *ARENA_APPEND(list->a, list->text, list->n, list->room) = text;
}

static const char *joined(struct names *list)
{
    const char *all = "";
    if (list->n)
        qsort(list->text, (size_t)list->n, sizeof(*list->text), compare_texts);
    for (int i = 0; i < list->n; i++)
        all = arena_printf(list->a, "%s, %s", all, list->text[i]);
    return all;
}

const char *verify_quote(const struct verification *v, const char *hash)
{
    struct names engines = {.a = v->arena}, plugins = {.a = v->arena};
    const struct value *one;
    for (int i = 0; i < v->dir.n; i++) {
        const struct cell_files *c = &v->dir.cell[i];
        if (!c->planned || !c->result || !c->meta)
            continue;
        add_name(&engines,
                 arena_printf(v->arena, "peat %s", json_text_or(c->meta, "engine", "unknown")));
        for (int k = 0; (one = json_get_item(c->meta, "plugins", k)); k++)
            add_name(&plugins,
                     arena_printf(v->arena, "%s %s %s", json_text_or(one, "kind", "unknown"),
                                  json_text_or(one, "id", "unknown"),
                                  json_text_or(one, "version", "unknown")));
    }
    return arena_printf(v->arena, "'%s', SHA-256 %s: %d of %d cells%s%s",
                        json_get_text(v->dir.plan, "experiment"), hash, v->finished,
                        v->finished + v->unfinished, joined(&engines), joined(&plugins));
}
