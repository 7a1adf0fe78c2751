/* SPDX-License-Identifier: MIT */
/* plugins_list.c: peat plugins list. */

#include "cli/plugins.h"
#include "cli/verbs.h"
#include "process/apart.h"

struct request {
    int kind; /* index in kind_words; -1: all */
    bool json;
};

enum { BAD_MAX = 64 };

static const char *const head[] = {"kind", "name", "version", "hooks", "summary"};
enum { HOOKS = 3, COLUMNS = sizeof(head) / sizeof(*head) };

struct list {
    const struct request *asked;
    struct value *plugins; /* objects for --json, otherwise rows of a table */
    int n_skip;
    const char *skip[BAD_MAX]; /* files that end a process */
    struct arena *arena;
};

/* ---- in the child ---- */

static void note_bad(void *ctx, const char *path, const char *why)
{
    const struct json *said = ctx;
    (void)path; /* the error names the file */
    json_add_text(*said, why);
}

static bool is_listed(const struct list *l, const struct plugin *p)
{
    return l->asked->kind < 0 || strcmp(kind_name(p->desc->kind), kind_words[l->asked->kind]) == 0;
}

static peat_status walk(void *ctx, struct trail *trail, struct strbuf *out, struct error *err)
{
    const struct list *l = ctx;
    struct arena *a = l->arena;
    struct registry registry;
    struct json all = json_map(a);
    struct json plugins = json_put_list(all, "plugins"), said = json_put_list(all, "said");
    if (registry_init(&registry, a, trail, err) != PEAT_OK)
        return err->status;
    registry.n_skip = l->n_skip;
    registry.skip = l->skip;
    registry_load_all(&registry, note_bad, &said);
    for (int i = 0; i < registry.n; i++) {
        const struct plugin *p = registry.item[i];
        const char *hidden = registry_hidden(&registry, kind_name(p->desc->kind), p->path);
        if (is_listed(l, p))
            json_add(plugins, plugin_value(p, a));
        if (is_listed(l, p) && hidden)
            json_add_text(said, arena_printf(a, "'%s' hides '%s'", p->path, hidden));
    }
    json_print(all.v, JSON_LINE, out);
    return PEAT_OK;
}

/* ---- in this process ---- */

static void take(struct list *l, const struct value *all)
{
    const struct value *said = value_get(all, "said");
    for (int i = 0; said && i < said->n; i++)
        cli_say("%s", said->item[i]->text);
    l->plugins = value_get(all, "plugins");
}

/* A file that crashes the child is reported, and the next attempt leaves it out. */
static peat_status read_all(struct list *l, struct error *err)
{
    struct trail_plugin died;
    struct strbuf text = STRBUF_NEW;
    peat_status status;
    for (;;) {
        strbuf_clear(&text);
        status = apart_run(walk, l, apart_seconds(), APART_ASIDE, &text, &died, err);
        if (status == PEAT_OK || !died.file[0] || l->n_skip == BAD_MAX)
            break;
        cli_say("%s", err->text);
        *err = (struct error){0};
        l->skip[l->n_skip++] = arena_strdup(l->arena, died.file);
    }
    const struct value *all =
        status == PEAT_OK ? json_parse(l->arena, text.text, text.n, "plugins", err) : NULL;
    if (all)
        take(l, all);
    strbuf_release(&text);
    return all ? PEAT_OK : err->status;
}

static void print_table(const struct list *l)
{
    struct columns table;
    columns_init(&table, l->arena, COLUMNS);
    columns_add(&table, head);
    for (int i = 0; i < l->plugins->n; i++) {
        const struct value *plugin = l->plugins->item[i];
        const char *cell[COLUMNS], *hooks = NULL;
        for (int k = 0; k < json_get_count(plugin, "hooks"); k++)
            hooks = arena_item(l->arena, hooks, "%s", json_get_item(plugin, "hooks", k)->text);
        for (int c = 0; c < COLUMNS; c++)
            cell[c] = c == HOOKS ? (hooks ? hooks : "-") : json_get_text(plugin, head[c]);
        columns_add(&table, cell);
    }
    columns_print(&table, "", stdout);
}

static int list_plugins(const struct cli *cli)
{
    const struct request *q = cli->options;
    struct list list = {.asked = q, .arena = cli->arena};
    if (read_all(&list, cli->err) != PEAT_OK)
        return CLI_USAGE;
    if (q->json)
        print_json(list.plugins);
    else
        print_table(&list);
    return CLI_DONE;
}

static const struct cli_option options[] = {
    CLI_WORD('k', "kind", "KIND", kind_words, kind, "only scheme, combine or task"),
    CLI_FLAG(0, "json", json, "an array of objects instead of a table"),
};

const struct cli_command plugins_list = {
    .name = "peat plugins list",
    .summary = "all plugins that are found, one line each",
    CLI_ROWS(options),
    CLI_DEFAULTS(.kind = -1),
    .run = list_plugins,
};
