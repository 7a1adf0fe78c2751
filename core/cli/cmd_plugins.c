/* SPDX-License-Identifier: MIT */
/* cmd_plugins.c: peat plugins VERB. */

#include "cli/plugins.h"
#include "cli/verbs.h"

const char *const kind_words[3] = {"scheme", "combine", "task"};

const struct cli_command cmd_plugins = {
    .name = "peat plugins",
    .summary = "list and explain schemes, combinations and tasks",
    .verb =
        (const struct cli_command *const[]){&plugins_list, &plugins_info, &plugins_check,
                                            &plugins_new, &plugins_build, &plugins_cflags, NULL},
};

static void put_words(struct json map, const char *key, const char *words)
{
    struct json list = json_put_list(map, key);
    for (const char *word; (word = list_next(map.a, &words, ','));)
        json_add_text(list, word + strspn(word, " "));
}

struct value *plugin_value(const struct plugin *p, struct arena *a)
{
    struct json map = json_map(a);
    json_put_text(map, "name", p->name);
    json_put_text(map, "kind", kind_name(p->desc->kind));
    json_put_text(map, "version", p->desc->version);
    json_put_text(map, "summary", p->desc->summary);
    put_words(map, "hooks", plugin_hooks(p->desc, a));
    put_words(map, "traits", plugin_traits(p->desc, a));
    json_put_text(map, "paper", p->desc->citation);
    json_put_text(map, "path", p->path);
    return map.v;
}
