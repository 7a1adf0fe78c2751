/* SPDX-License-Identifier: MIT */
/* offers.c: the possible arguments of commands: plugins, keys, cells, rows, columns. Loads no
 * plugin. */
#include "cli/offers.h"

#include "cell/setting.h"
#include "check/check.h"
#include "cli/cli.h"
#include "cli/findrun.h"
#include "cli/verbs.h"
#include "experiment/schema.h"
#include "report/table.h"
#include "tensor/provider.h"

void offer(const struct offers *o, const char *name, const char *end)
{
    bool plain = !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                    "0123456789-_.,=+@%/")];
    const char *whole =
        arena_printf(o->a, "%.*s%s%s", (int)(o->begun - o->word), o->word, name, end);
    if (plain && !strncmp(name, o->begun, strlen(o->begun)))
        cli_print("%s\n", whole + o->cut);
}

static void offer_list(const struct offers *o, int n, const char *const *name)
{
    for (int i = 0; i < n; i++)
        offer(o, name[i], "");
}

/* ---- files and plugins ---- */

static void offer_runs(const struct offers *o)
{
    const char *const *name = NULL;
    int n = o->is_operand ? run_names(&name, o->a) : 0;
    offer_list(o, n, name);
}

static void offer_kind(const struct offers *o, peat_kind kind)
{
    struct registry r;
    const char *const *name;
    if (registry_init(&r, o->a, NULL, NULL) != PEAT_OK)
        return;
    int n = registry_names(&r, kind, &name);
    offer_list(o, n, name);
}

static void offer_providers(const struct offers *o)
{
    struct providers p;
    struct error ignored = {0};
    if (providers_find(&p, o->a, &ignored) == PEAT_OK)
        offer_list(o, p.n + 1, providers_words(&p));
}

/* ---- tables of this program ---- */

static void offer_diagnostics(const struct offers *o)
{
    for (int i = 0; i < DIAGNOSTICS; i++)
        offer(o, diagnostic_words[i], "");
}

static void offer_checks(const struct offers *o)
{
    for (const struct check *c = checks; c->name; c++)
        offer(o, c->name, "");
}

/* ---- the run that the first operand names ---- */

static const char *run_of(const struct offers *o)
{
    struct error ignored = {0};
    return o->n_operand ? find_run(o->operand[0], o->a, &ignored) : NULL;
}

static void offer_cells(const struct offers *o)
{
    struct error ignored = {0};
    const char *dir = run_of(o);
    struct value *plan = NULL;
    const struct value *cell;
    if (dir)
        plan_read(dir, &plan, o->a, &ignored);
    for (int i = 0; plan && (cell = json_get_item(plan, "cells", i)); i++)
        offer(o, json_get_text(cell, json_get_text(cell, "label") ? "label" : "id"), "");
}

/* The results of that run; empty where there is no run. */
static const struct results *results_of(const struct offers *o)
{
    struct error ignored = {0};
    struct results *r = ARENA_NEW(o->a, struct results);
    const char *dir = run_of(o);
    char *copy = dir ? arena_strdup(o->a, dir) : NULL;
    if (copy && results_read(r, 1, &copy, &(struct results_options){0}, o->a, &ignored) != PEAT_OK)
        *r = (struct results){0};
    return r;
}

static void offer_rows(const struct offers *o)
{
    const struct results *r = results_of(o);
    for (int i = 0; i < r->n_row; i++)
        offer(o, results_row_label(r, &r->row[i], o->a), "");
}

static void offer_axes(const struct offers *o)
{
    const struct results *r = results_of(o);
    for (int i = 0; i < r->n_axis; i++)
        offer(o, results_axis_name(r, i), "");
}

static void offer_metrics(const struct offers *o)
{
    const struct results *r = results_of(o);
    for (int i = 0; i < r->n_metric; i++)
        offer(o, r->known[i].name, "");
}

static void offer_columns(const struct offers *o)
{
    const char *word;
    for (int i = 0; (word = table_column_word(i)); i++)
        offer(o, word, "");
    offer(o, "metric", "");
    offer(o, "cost", "");
}

/* ---- key=value ---- */

/* The schema that `$ref` refers to, or the schema itself. */
static const struct value *definition_of(const struct value *root, const struct value *schema)
{
    static const char within[] = "#/definitions/";
    const char *ref = json_get_text(schema, "$ref");
    if (!ref || strncmp(ref, within, strlen(within)) != 0)
        return schema;
    return value_get(value_get(root, "definitions"), ref + strlen(within));
}

/* The properties of a value that may be a map; NULL: it may not be one. */
static const struct value *properties_of(const struct value *root, const struct value *schema)
{
    schema = definition_of(root, schema);
    const struct value *inside = value_get(schema, "properties"), *any = value_get(schema, "anyOf");
    for (int i = 0; !inside && any && i < any->n; i++)
        inside = value_get(definition_of(root, any->item[i]), "properties");
    return inside;
}

/* Offers the keys below `before`, or returns the schema of this key; NULL: no such key. */
static const struct value *walk_keys(const struct offers *o, const struct value *root,
                                     const struct value *properties, const char *before,
                                     const char *key)
{
    const struct value *found = NULL;
    for (int i = 0; properties && !found && i < properties->n; i++) {
        const char *name = arena_printf(o->a, "%s%s", before, properties->key[i]);
        const struct value *inside = properties_of(root, properties->item[i]);
        if (inside)
            found = walk_keys(o, root, inside, arena_printf(o->a, "%s.", name), key);
        else if (!key)
            offer(o, name, "=");
        else if (strcmp(name, key) == 0)
            found = definition_of(root, properties->item[i]);
    }
    return found;
}

/* walk_keys for all keys that the command line accepts; key NULL: offers them. */
static const struct value *walk_file(const struct offers *o, const char *key)
{
    static const char *const section[] = {"defaults", "run", "report", "match"};
    struct registry none = {.arena = o->a};
    const struct value *root = experiment_schema(&none, o->a), *found = NULL;
    for (int i = 0; i < 4 && !found; i++)
        found = walk_keys(o, root,
                          properties_of(root, value_get(value_get(root, "properties"), section[i])),
                          i ? arena_printf(o->a, "%s.", section[i]) : "", key);
    if (!key)
        offer(o, "seeds", "=");
    return found;
}

static void offer_words_of(const struct offers *o, const struct value *schema)
{
    const struct value *any = value_get(schema, "anyOf"), *word;
    for (int i = 0; any && i < any->n; i++)
        for (int k = 0; (word = json_get_item(any->item[i], "enum", k)); k++)
            offer(o, word->text, "");
}

/* Only a plugin knows the values of its parameters, which may be paths. */
static void offer_setting(const struct offers *typed)
{
    struct offers o = *typed;
    const char *equals = strchr(o.begun, '=');
    if (!equals) {
        walk_file(&o, NULL);
        return;
    }
    const char *key = arena_printf(o.a, "%.*s", (int)(equals - o.begun), o.begun);
    o.begun = equals + 1;
    const struct value *schema = walk_file(&o, key);
    if (setting_kind(key))
        offer_kind(&o, setting_kind(key));
    else if (schema)
        offer_words_of(&o, schema);
    else
        cli_print("<file>\n");
}

/* ---- arguments ---- */

/* What an argument offers: by a function, or the plugins of these kinds. */
static const struct {
    const char *argument;
    void (*offer)(const struct offers *o);
    peat_kind kind[3];
} arguments[] = {
    {"DIR", offer_runs},
    {"CELL", offer_cells},
    {"ID", offer_cells},
    {"GLOB", offer_cells},
    {"ROW", offer_rows},
    {"A", offer_rows},
    {"B", offer_rows},
    {"AXIS", offer_axes},
    {"METRIC", offer_metrics},
    {"COLUMN", offer_columns},
    {"DIAGNOSTIC", offer_diagnostics},
    {"CHECK", offer_checks},
    {"PLUGIN", .kind = {PEAT_SCHEME, PEAT_COMBINE, PEAT_TASK}},
    {"SCHEME", .kind = {PEAT_SCHEME}},
    {"COMBINE", .kind = {PEAT_COMBINE}},
    {"PROVIDER", offer_providers},
    {"key=value", offer_setting},
};

/* Whether the word occurs in the name, and not as part of a longer word. */
static bool names(const char *name, size_t n, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = name; (at = strstr(at, word)) && at + length <= name + n; at++)
        if ((at == name || !isalpha((unsigned char)at[-1])) && !isalpha((unsigned char)at[length]))
            return true;
    return false;
}

/* A file or a directory is completed as a file, because that also goes through directories. */
static void offer_paths(const char *name, size_t n)
{
    if (names(name, n, "FILE") || names(name, n, "yaml") || names(name, n, "PLUGIN") ||
        names(name, n, "path"))
        cli_print("<file>\n");
    else if (names(name, n, "DIR"))
        cli_print("<dir>\n");
}

/* Offers the words of a|b|c. */
static void offer_choices(const struct offers *o, const char *name, size_t n)
{
    for (const char *end = name + n; name < end && islower((unsigned char)*name);) {
        size_t length = strcspn(name, "|");
        length = length < (size_t)(end - name) ? length : (size_t)(end - name);
        offer(o, arena_printf(o->a, "%.*s", (int)length, name), "");
        name += length;
        name += name < end; /* skips the bar */
    }
}

void offer_argument(const struct offers *typed, const char *argument, size_t n)
{
    struct offers o = *typed;
    const char *comma = strrchr(o.begun, ',');
    if (n > 4 && !strncmp(argument + n - 4, ",...", 4) && comma)
        o.begun = comma + 1;
    for (size_t i = 0; i < sizeof(arguments) / sizeof(*arguments); i++) {
        if (!names(argument, n, arguments[i].argument))
            continue;
        if (arguments[i].offer)
            arguments[i].offer(&o);
        for (int k = 0; k < 3 && arguments[i].kind[k]; k++)
            offer_kind(&o, arguments[i].kind[k]);
    }
    offer_paths(argument, n);
    offer_choices(&o, argument, n);
}
