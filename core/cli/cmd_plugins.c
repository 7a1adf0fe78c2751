/* SPDX-License-Identifier: MIT */
/* cmd_plugins.c: peat plugins VERB. */
#include <stdio.h>
#include <string.h>

#include "cli/plugins.h"
#include "cli/verbs.h"
#include "plugin/params.h"

const char *const kind_words[3] = {"scheme", "combine", "task"};

const struct cli_command cmd_plugins = {
    .name = "peat plugins",
    .summary = "list and explain schemes, combinations and tasks",
    .about = "Schemes say how position is expressed, combinations how it joins the tokens, tasks\n"
             "what is learned. A plugin is looked for in the directories of PEAT_PLUGIN_PATH, in\n"
             "~/.local/lib/peat and beside the program; NAME, kind/NAME and a path name one.",
    .example = "peat plugins info rotary",
    .verb = (const struct cli_command *const[]){&plugins_list, &plugins_info, &plugins_check,
                                                &plugins_new, &plugins_reference, NULL},
};

static const struct place nowhere = {NULL, 0, 0};

/* "a, b" as a list of texts. */
static struct value *words_value(const char *words, struct arena *a)
{
    struct value *list = value_list(a, nowhere);
    while (*words) {
        size_t n = strcspn(words, ",");
        value_append(a, list, value_text(a, nowhere, arena_printf(a, "%.*s", (int)n, words)));
        words += n + strspn(words + n, ", ");
    }
    return list;
}

static void set_text(struct value *map, const char *key, const char *text, struct arena *a)
{
    value_set(a, map, key, nowhere, value_text(a, nowhere, text));
}

static void set_words(struct value *map, const char *key, const struct plugin *p,
                      void (*words)(const peat_plugin *desc, struct strbuf *out), struct arena *a)
{
    struct strbuf text;
    strbuf_init(&text);
    words(p->desc, &text);
    value_set(a, map, key, nowhere, words_value(text.text, a));
    strbuf_release(&text);
}

struct value *plugin_value(const struct plugin *p, struct arena *a)
{
    struct value *map = value_map(a, nowhere);
    set_text(map, "name", p->name, a);
    set_text(map, "kind", kind_name(p->desc->kind), a);
    set_text(map, "version", p->desc->version, a);
    set_text(map, "summary", p->desc->summary, a);
    set_words(map, "hooks", p, plugin_hooks, a);
    set_words(map, "traits", p, plugin_traits, a);
    set_text(map, "paper", p->desc->citation, a);
    set_text(map, "path", p->path, a);
    return map;
}

const void *plugin_defaults(const peat_plugin *desc, struct arena *a)
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

void print_json(const struct value *v)
{
    struct strbuf text;
    strbuf_init(&text);
    value_to_json(v, false, 2, &text);
    printf("%s\n", text.text);
    strbuf_release(&text);
}
