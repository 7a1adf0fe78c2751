/* SPDX-License-Identifier: MIT */
/* plugins_list.c: peat plugins list. */
#include <stdio.h>

#include "cli/cli.h"
#include "cli/columns.h"
#include "cli/plugins.h"

static const struct cli_option options[] = {
    {'k', "kind", "KIND", "only scheme, combine or task"},
    {CLI_LONG, "json", NULL, "an array of objects instead of a table"},
    {0, NULL, NULL, NULL},
};

static const struct cli_command command = {
    .name = "plugins list",
    .usage = "",
    .about = "Prints every plugin that is found. One that can not be loaded is named on stderr\n"
             "with the reason.",
    .option = options,
    .example = "peat plugins list --kind scheme",
};

static const char *const kind_words[] = {"scheme", "combine", "task"};

/* What to show. */
struct list {
    const struct registry *registry;
    int kind; /* index into kind_words, -1: all */
    struct arena *arena;
};

static bool is_listed(const struct list *l, const struct plugin *p)
{
    return l->kind < 0 || p->desc->kind == (peat_kind)(PEAT_SCHEME + l->kind);
}

static void print_table(const struct list *l)
{
    struct columns table;
    columns_init(&table, l->arena, 5);
    const char *const head[] = {"kind", "name", "version", "hooks", "summary"};
    columns_add(&table, head);
    struct strbuf hooks;
    strbuf_init(&hooks);
    for (int i = 0; i < l->registry->n; i++) {
        const struct plugin *p = l->registry->item[i];
        if (!is_listed(l, p))
            continue;
        strbuf_clear(&hooks);
        plugin_hooks(p->desc, &hooks);
        const char *const row[] = {kind_name(p->desc->kind), p->name, p->desc->version,
                                   hooks.n ? hooks.text : "-", p->desc->summary};
        columns_add(&table, row);
    }
    strbuf_release(&hooks);
    columns_print(&table, "", stdout);
}

static void print_array(const struct list *l)
{
    struct value *array = value_list(l->arena, (struct place){NULL, 0, 0});
    for (int i = 0; i < l->registry->n; i++)
        if (is_listed(l, l->registry->item[i]))
            value_append(l->arena, array, plugin_value(l->registry->item[i], l->arena));
    print_json(array);
}

static void report_bad(void *ctx, const char *path, const char *why)
{
    (void)ctx;
    (void)path; /* the reason names it */
    cli_say("%s", why);
}

static int list_all(struct arena *arena, int kind, bool json)
{
    struct registry registry;
    struct error err = {0};
    if (registry_init(&registry, arena, &err) != PEAT_OK ||
        registry_load_all(&registry, report_bad, NULL, &err) != PEAT_OK)
        return cli_refuse(&err);
    const struct list list = {&registry, kind, arena};
    if (json)
        print_array(&list);
    else
        print_table(&list);
    return CLI_DONE;
}

int plugins_list(int argc, char **argv)
{
    struct cli cli;
    int kind = -1;
    bool json = false;
    cli_open(&cli, &command, argc, argv);
    for (int letter; (letter = cli_next(&cli)) != CLI_END;) {
        switch (letter) {
        case 'k':
            if (!cli_word(&cli, kind_words, 3, &kind))
                return cli.status;
            break;
        case CLI_LONG:
            json = true;
            break;
        default:
            return cli.status;
        }
    }
    if (cli.n_operand)
        return cli_mistake(&command, "unexpected operand '%s'", cli.operand[0]);
    struct arena arena;
    arena_init(&arena, "run", 1 << 16);
    int status = list_all(&arena, kind, json);
    arena_release(&arena);
    return status;
}
