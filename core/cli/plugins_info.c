/* SPDX-License-Identifier: MIT */
/* plugins_info.c: peat plugins info PLUGIN. */

#include "cli/plugins.h"
#include "cli/tensor_list.h"
#include "cli/verbs.h"
#include "nn/stored.h"
#include "plugin/paramrow.h"

struct request {
    bool json;
};

/* A plugin with its default config. */
struct page {
    const struct plugin *plugin;
    struct arena *arena;
    const void *config;
};

/* ---- defaults ---- */

/* The config with all defaults; required parameters are left empty. */
static const void *plugin_defaults(const peat_plugin *desc, struct arena *a)
{
    int n = 0;
    while (desc->param && desc->param[n].key)
        n++;
    peat_param *row = ARENA_ARRAY(a, n + 1, peat_param);
    void *config = arena_zalloc(a, desc->config_size + 1);
    for (int i = 0; i < n; i++) {
        row[i] = desc->param[i];
        row[i].flags &= ~(uint32_t)PEAT_REQUIRED;
    }
    struct error err = {0};
    if (params_fill(row, config, NULL, desc->id, NULL, a, &err) != PEAT_OK)
        BUG("defaults of '%s': %s", desc->id, err.text);
    return config;
}

static const char *default_text(const struct page *page, const peat_param *row)
{
    if (row->flags & PEAT_REQUIRED)
        return "(required)";
    const char *text = params_text(row, page->config, page->arena);
    return (row->flags & PEAT_AUTO) && row->automatic
               ? arena_printf(page->arena, "%s (%s)", text, row->automatic)
               : text;
}

/* ---- for people ---- */

/* "with stored rows", or the reason why not; NULL: a task. */
static const char *decoding(const struct page *page)
{
    const peat_plugin *d = page->plugin->desc;
    const char *why = NULL;
    if (d->kind == PEAT_TASK)
        return NULL;
    why = d->kind == PEAT_SCHEME ? scheme_not_storable(d->interface)
                                 : combine_not_storable(d->interface);
    return why ? arena_printf(page->arena, "in full: %s", why) : "with stored rows";
}

static void print_facts(const struct page *page)
{
    const struct plugin *p = page->plugin;
    const char *hooks = plugin_hooks(p->desc, page->arena);
    const char *traits = plugin_traits(p->desc, page->arena);
    const char *const fact[][2] = {
        {"kind", kind_name(p->desc->kind)},
        {"id", p->desc->id},
        {"version", p->desc->version},
        {"licence", p->desc->licence},
        {"paper", *p->desc->citation ? p->desc->citation : "-"},
        {"hooks", *hooks ? hooks : "-"},
        {"traits", *traits ? traits : "-"},
        {"answers", decoding(page) ? decoding(page) : "-"},
        {"path", p->path},
        {"sha256", p->sha256},
    };
    struct columns table;
    columns_init(&table, page->arena, 2);
    for (size_t i = 0; i < sizeof(fact) / sizeof(fact[0]); i++)
        columns_add(&table, fact[i]);
    cli_print("%s: %s\n\n", p->name, p->desc->summary);
    columns_print(&table, "", stdout);
}

static void print_parameters(const struct page *page)
{
    const peat_param *row = page->plugin->desc->param;
    if (!row || !row->key) {
        cli_print("\nno parameters\n");
        return;
    }
    struct columns table;
    columns_init(&table, page->arena, 6);
    const char *const head[] = {"parameter", "type", "default", "allowed", "unit", "meaning"};
    columns_add(&table, head);
    for (; row->key; row++) {
        peat_param bare = *row; /* the unit has its own column */
        bare.unit = NULL;
        const char *const cell[] = {row->key,
                                    row_type(row)->name,
                                    default_text(page, row),
                                    params_allowed(&bare, page->arena),
                                    row->unit ? row->unit : "-",
                                    row->doc};
        columns_add(&table, cell);
    }
    cli_print("\n");
    columns_print(&table, "", stdout);
}

/* ---- for programs ---- */

static void put_labels(struct json map, const peat_param *row)
{
    json_put(map, "labels", NULL);
    if (row->type != PEAT_ENUM)
        return;
    struct json list = json_put_list(map, "labels");
    for (int i = 0; row->labels[i]; i++)
        json_add_text(list, row->labels[i]);
}

static void put_bound(struct json map, const char *key, const peat_param *row, double bound)
{
    if (row->min == 0 && row->max == 0)
        json_put(map, key, NULL);
    else if (row->type == PEAT_INT && fabs(bound) < 0x1p53)
        json_put_int(map, key, (int64_t)bound);
    else
        json_put_real(map, key, bound);
}

static void add_parameter(struct json list, const peat_param *row, const struct value *defaults)
{
    struct json map = json_add_map(list);
    bool required = row->flags & PEAT_REQUIRED;
    json_put_text(map, "key", row->key);
    json_put_text(map, "type", row_type(row)->name);
    json_put_bool(map, "required", required);
    json_put(map, "default", required ? NULL : value_get(defaults, row->key));
    json_put_text(map, "automatic", row->automatic);
    json_put_text(map, "allowed", params_allowed(row, map.a));
    put_bound(map, "min", row, row->min);
    put_bound(map, "max", row, row->max);
    put_labels(map, row);
    json_put_text(map, "unit", row->unit);
    json_put_text(map, "doc", row->doc);
}

/* null: a task, or a plugin that cannot be set up with its defaults. */
static void put_tensors(struct json map, const struct page *page, struct trail *trail)
{
    struct tensor_row *row;
    struct error ignored = {0};
    int n = 0;
    json_put(map, "tensors", NULL);
    if (page->plugin->desc->kind == PEAT_TASK ||
        !tensor_list(page->plugin, page->config, trail, map.a, &row, &n, &ignored))
        return;
    struct json list = json_put_list(map, "tensors");
    for (int i = 0; i < n; i++) {
        struct json tensor = json_add_map(list);
        json_put_text(tensor, "name", row[i].name);
        json_put_text(tensor, "shape", row[i].shape);
        json_put_text(tensor, "starts", row[i].starts);
        json_put_text(tensor, "each", row[i].each);
        json_put_text(tensor, "note", row[i].note);
    }
}

static void print_object(const struct page *page, struct trail *trail)
{
    const struct plugin *p = page->plugin;
    const struct json map = {page->arena, plugin_value(p, page->arena)};
    json_put_text(map, "id", p->desc->id);
    json_put_text(map, "sha256", p->sha256);
    json_put_text(map, "licence", p->desc->licence);
    json_put_text(map, "answers", decoding(page));
    struct json list = json_put_list(map, "parameters");
    const struct value *defaults = params_value(p->desc->param, page->config, page->arena);
    for (const peat_param *row = p->desc->param; row && row->key; row++)
        add_parameter(list, row, defaults);
    put_tensors(map, page, trail);
    print_json(map.v);
}

static int explain_plugin(const struct cli *cli)
{
    const struct request *q = cli->options;
    struct page page = {.arena = cli->arena};
    struct registry registry;
    if (registry_init(&registry, cli->arena, cli->trail, cli->err) != PEAT_OK)
        return CLI_USAGE;
    if (registry_find_any(&registry, cli->operand[0], &page.plugin, cli->err) != PEAT_OK)
        return CLI_USAGE;
    page.config = plugin_defaults(page.plugin->desc, cli->arena);
    if (q->json) {
        print_object(&page, cli->trail);
    } else {
        print_facts(&page);
        print_parameters(&page);
    }
    return CLI_DONE;
}

static const struct cli_option options[] = {
    CLI_FLAG(0, "json", json, "an object instead of a page"),
};

const struct cli_command plugins_info = {
    .name = "peat plugins info",
    .summary = "one plugin: what it does and its parameters",
    CLI_OPERANDS("PLUGIN", 1, 1, NULL),
    CLI_ROWS(options),
    .run = explain_plugin,
    .apart = true,
};
