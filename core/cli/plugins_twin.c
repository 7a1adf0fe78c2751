/* SPDX-License-Identifier: MIT */
/* plugins_twin.c: compares a plugin's parameters and tensors with those that a reference declares,
 * a plugin that is Python alone. `peat plugins info` describes both, each in a process of its own.
 */
#include "cli/plugins.h"
#include "process/python.h"

/* Whether the file has `parameters` or `tensors`; a formula beside a plugin in C has neither. */
static bool declares(const char *file, struct arena *a)
{
    const char *const word[] = {"plugin", file};
    const char *answer;
    if (python_ask("declared.py", word, 2, "--reference", a, &answer, NULL) != PEAT_OK)
        return false;
    return json_get_bool(json_parse(a, answer, strlen(answer), file, NULL), "declares");
}

static const struct value *described(const char *plugin, struct arena *a, struct error *err)
{
    char program[PATH_MAX];
    struct strbuf out = STRBUF_NEW, said = STRBUF_NEW;
    if (own_program(program, sizeof(program), err) != PEAT_OK)
        return NULL;
    const char *path = strchr(plugin, '/') ? plugin : arena_printf(a, "./%s", plugin);
    char *argv[] = {program,
                    arena_strdup(a, "plugins"),
                    arena_strdup(a, "info"),
                    arena_strdup(a, path_ends_in(plugin, ".py") ? path : plugin),
                    arena_strdup(a, "--json"),
                    NULL};
    struct child c = {.argv = argv, .own_group = true, .grace = 1};
    const struct value *v = NULL;
    if (child_run(&c, &out, &said, err) == PEAT_OK && c.code != 0)
        error_set(err, PEAT_FAILED, "%.*s", said.n ? (int)strcspn(said.text, "\n") : 0, said.text);
    else if (out.n)
        v = json_parse(a, out.text, out.n, plugin, err);
    strbuf_release(&out);
    strbuf_release(&said);
    return v;
}

static const struct value *named(const struct value *list, const char *key, const char *name)
{
    for (int i = 0; list && i < list->n; i++)
        if (json_text_is(list->item[i], key, name))
            return list->item[i];
    return NULL;
}

static const char *shown(const struct value *v, struct arena *a)
{
    return v && v->kind == VALUE_TEXT ? v->text : json_to_text(v, JSON_LINE, a);
}

struct comparison {
    struct arena *arena;
    const char *file; /* the reference */
    const char *what, *key;
    const char *const *fact; /* NULL ends them */
};

/* The first difference of two lists; NULL: none. */
static const char *difference(const struct comparison *k, const struct value *ours,
                              const struct value *theirs)
{
    struct arena *a = k->arena;
    for (int i = 0; theirs && i < theirs->n; i++) {
        const char *name = json_get_text(theirs->item[i], k->key);
        const struct value *own = named(ours, k->key, name);
        if (!own)
            return arena_printf(a, "the plugin has no %s '%s', which %s has", k->what, name,
                                k->file);
        for (const char *const *f = k->fact; *f; f++) {
            const char *x = shown(value_get(own, *f), a);
            const char *y = shown(value_get(theirs->item[i], *f), a);
            if (strcmp(x, y) != 0)
                return arena_printf(a, "%s '%s': %s is %s, and %s has %s", k->what, name, *f, x,
                                    k->file, y);
        }
    }
    for (int i = 0; ours && i < ours->n; i++)
        if (!named(theirs, k->key, json_get_text(ours->item[i], k->key)))
            return arena_printf(a, "the plugin has the %s '%s', which %s has not", k->what,
                                json_get_text(ours->item[i], k->key), k->file);
    return NULL;
}

const char *twin_difference(const char *plugin, const char *reference, struct arena *a)
{
    static const char *const of_parameter[] = {"type",   "default", "min", "max",
                                               "labels", "doc",     NULL};
    static const char *const of_tensor[] = {"shape", "starts", "each", NULL};
    struct error err = {0};
    if (!declares(reference, a))
        return NULL;
    const struct value *ours = described(plugin, a, &err);
    const struct value *theirs = ours ? described(reference, a, &err) : NULL;
    if (!theirs)
        return arena_printf(a, "%s", err.text);
    struct comparison k = {a, path_name(reference), "parameter", "key", of_parameter};
    const char *found =
        difference(&k, value_get(ours, "parameters"), value_get(theirs, "parameters"));
    k.what = "tensor", k.key = "name", k.fact = of_tensor;
    return found ? found : difference(&k, value_get(ours, "tensors"), value_get(theirs, "tensors"));
}
