/* SPDX-License-Identifier: MIT */
/* plugins_info.c: peat plugins info NAME. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/columns.h"
#include "cli/plugins.h"
#include "cli/verbs.h"
#include "plugin/paramrow.h"

static const struct place nowhere = {NULL, 0, 0};

struct request {
    bool json;
};

/* A plugin with the config that a user gets who gives nothing. */
struct page {
    const struct plugin *plugin;
    struct arena *arena;
    const void *config;
};

/* ---- defaults ---- */

static void default_text(const struct page *page, const peat_param *row, struct strbuf *out)
{
    if (row->flags & PEAT_REQUIRED) {
        strbuf_add(out, "(required)");
        return;
    }
    params_text(row, page->config, out);
    if ((row->flags & PEAT_AUTO) && row->automatic)
        strbuf_addf(out, " (%s)", row->automatic);
}

/* ---- for people ---- */

static void print_facts(const struct page *page)
{
    const struct plugin *p = page->plugin;
    struct strbuf hooks, traits;
    strbuf_init(&hooks);
    strbuf_init(&traits);
    plugin_hooks(p->desc, &hooks);
    plugin_traits(p->desc, &traits);
    const char *const fact[][2] = {
        {"kind", kind_name(p->desc->kind)},
        {"id", p->desc->id},
        {"version", p->desc->version},
        {"licence", p->desc->licence},
        {"paper", *p->desc->citation ? p->desc->citation : "-"},
        {"hooks", hooks.n ? hooks.text : "-"},
        {"traits", traits.n ? traits.text : "-"},
        {"path", p->path},
        {"sha256", p->sha256},
    };
    struct columns table;
    columns_init(&table, page->arena, 2);
    for (size_t i = 0; i < sizeof(fact) / sizeof(fact[0]); i++)
        columns_add(&table, fact[i]);
    printf("%s: %s\n\n", p->name, p->desc->summary);
    columns_print(&table, "", stdout);
    strbuf_release(&hooks);
    strbuf_release(&traits);
}

static void print_parameters(const struct page *page)
{
    const peat_param *row = page->plugin->desc->param;
    if (!row || !row->key) {
        printf("\nno parameters\n");
        return;
    }
    struct columns table;
    columns_init(&table, page->arena, 6);
    const char *const head[] = {"parameter", "type", "default", "allowed", "unit", "meaning"};
    columns_add(&table, head);
    struct strbuf preset, allowed;
    strbuf_init(&preset);
    strbuf_init(&allowed);
    for (; row->key; row++) {
        strbuf_clear(&preset);
        strbuf_clear(&allowed);
        default_text(page, row, &preset);
        peat_param bare = *row; /* the unit has its own column */
        bare.unit = NULL;
        params_allowed(&bare, &allowed);
        const char *const cell[] = {row->key,     row_type(row)->name,         preset.text,
                                    allowed.text, row->unit ? row->unit : "-", row->doc};
        columns_add(&table, cell);
    }
    printf("\n");
    columns_print(&table, "", stdout);
    strbuf_release(&preset);
    strbuf_release(&allowed);
}

/* ---- for programs ---- */

static struct value *labels_value(const peat_param *row, struct arena *a)
{
    if (row->type != PEAT_ENUM)
        return value_null(a, nowhere);
    struct value *list = value_list(a, nowhere);
    for (int i = 0; row->labels[i]; i++)
        value_append(a, list, value_text(a, nowhere, row->labels[i]));
    return list;
}

static struct value *text_or_null(const char *text, struct arena *a)
{
    return text ? value_text(a, nowhere, text) : value_null(a, nowhere);
}

static struct value *bound_value(const peat_param *row, double bound, struct arena *a)
{
    if (row->min == 0 && row->max == 0)
        return value_null(a, nowhere);
    if (row->type == PEAT_INT && fabs(bound) < 0x1p53)
        return value_int(a, nowhere, (int64_t)bound);
    return value_real(a, nowhere, bound);
}

static struct value *parameter_value(const struct page *page, const peat_param *row,
                                     const struct value *defaults)
{
    struct arena *a = page->arena;
    bool required = row->flags & PEAT_REQUIRED;
    struct strbuf allowed;
    strbuf_init(&allowed);
    params_allowed(row, &allowed);
    struct value *map = value_map(a, nowhere);
    value_set(a, map, "key", nowhere, value_text(a, nowhere, row->key));
    value_set(a, map, "type", nowhere, value_text(a, nowhere, row_type(row)->name));
    value_set(a, map, "required", nowhere, value_bool(a, nowhere, required));
    value_set(a, map, "default", nowhere,
              required ? value_null(a, nowhere) : value_get(defaults, row->key));
    value_set(a, map, "automatic", nowhere, text_or_null(row->automatic, a));
    value_set(a, map, "allowed", nowhere, value_text(a, nowhere, allowed.text));
    value_set(a, map, "min", nowhere, bound_value(row, row->min, a));
    value_set(a, map, "max", nowhere, bound_value(row, row->max, a));
    value_set(a, map, "labels", nowhere, labels_value(row, a));
    value_set(a, map, "unit", nowhere, text_or_null(row->unit, a));
    value_set(a, map, "doc", nowhere, value_text(a, nowhere, row->doc));
    strbuf_release(&allowed);
    return map;
}

static void print_object(const struct page *page)
{
    struct arena *a = page->arena;
    const struct plugin *p = page->plugin;
    struct value *map = plugin_value(p, a);
    value_set(a, map, "id", nowhere, value_text(a, nowhere, p->desc->id));
    value_set(a, map, "sha256", nowhere, value_text(a, nowhere, p->sha256));
    value_set(a, map, "licence", nowhere, value_text(a, nowhere, p->desc->licence));
    struct value *list = value_list(a, nowhere);
    const struct value *defaults = params_value(p->desc->param, page->config, a);
    for (const peat_param *row = p->desc->param; row && row->key; row++)
        value_append(a, list, parameter_value(page, row, defaults));
    value_set(a, map, "parameters", nowhere, list);
    print_json(map);
}

static int explain_plugin(const struct cli *cli)
{
    const struct request *q = cli->options;
    struct page page = {.arena = cli->arena};
    struct registry registry;
    struct error err = {0};
    if (registry_init(&registry, cli->arena, &err) != PEAT_OK)
        return cli_refuse(&err);
    registry.trail = cli->trail;
    if (registry_find_any(&registry, cli->operand[0], &page.plugin, &err) != PEAT_OK)
        return cli_refuse(&err);
    page.config = plugin_defaults(page.plugin->desc, cli->arena);
    if (q->json) {
        print_object(&page);
        return CLI_DONE;
    }
    print_facts(&page);
    print_parameters(&page);
    return CLI_DONE;
}

static const struct cli_option options[] = {
    CLI_FLAG(0, "json", json, "an object instead of a page"),
};

const struct cli_command plugins_info = {
    .name = "peat plugins info",
    .summary = "one plugin: what it does and its parameters",
    .about = "Prints what a plugin is and does, and every parameter with its default and what it\n"
             "may be. NAME is a name, kind/NAME or the path of a shared object.",
    .example = "peat plugins info scheme/rotary\npeat plugins info ./build/mine.so --json",
    CLI_OPERANDS("NAME", 1, 1, NULL),
    CLI_ROWS(options),
    .run = explain_plugin,
    .apart = true,
};
