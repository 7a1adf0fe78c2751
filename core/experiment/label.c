/* SPDX-License-Identifier: MIT */
/* label.c: how settings are called in tables, on the command line and in the names of files. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "cell/cell.h"
#include "experiment/experiment.h"

#define PART_BYTES  48  /* most of one axis in a file's name  */
#define LABEL_BYTES 180 /* most of all of them: NAME_MAX less the hash */

static void add_value(struct strbuf *out, const struct value *v, bool outermost);

/* "base=500,layout=halves" without the key `plugin`. */
static void add_pairs(struct strbuf *out, const struct value *map)
{
    const char *between = "";
    for (int i = 0; i < map->n; i++) {
        if (strcmp(map->key[i], "plugin") == 0)
            continue;
        strbuf_addf(out, "%s%s=", between, map->key[i]);
        add_value(out, map->item[i], false);
        between = ",";
    }
}

static void add_map(struct strbuf *out, const struct value *map)
{
    const struct value *plugin = value_get(map, "plugin");
    if (plugin)
        add_value(out, plugin, false);
    if (plugin && map->n == 1)
        return;
    strbuf_add(out, plugin ? "(" : "{");
    add_pairs(out, map);
    strbuf_add(out, plugin ? ")" : "}");
}

/* Plugins that act together are joined by "+", numbers stay a list. */
static void add_list(struct strbuf *out, const struct value *list, bool outermost)
{
    bool plugins = outermost && list->n > 0;
    for (int i = 0; i < list->n; i++)
        plugins =
            plugins && (list->item[i]->kind == VALUE_TEXT || list->item[i]->kind == VALUE_MAP);
    strbuf_add(out, plugins ? "" : "[");
    for (int i = 0; i < list->n; i++) {
        strbuf_add(out, i == 0 ? "" : plugins ? "+" : ",");
        add_value(out, list->item[i], false);
    }
    strbuf_add(out, plugins ? "" : "]");
}

static void add_value(struct strbuf *out, const struct value *v, bool outermost)
{
    if (v->kind == VALUE_MAP)
        add_map(out, v);
    else if (v->kind == VALUE_LIST)
        add_list(out, v, outermost);
    else
        strbuf_add(out, v->text && v->text[0] ? v->text : "null");
}

const char *value_label(struct arena *a, const struct value *v)
{
    struct strbuf out;
    strbuf_init(&out);
    add_value(&out, v, true);
    const char *label = arena_strdup(a, out.text);
    strbuf_release(&out);
    return label;
}

static bool is_safe(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("._+=-", c));
}

/* Runs of other characters become one "-"; none at the ends, so that no name starts as an option
 * or is hidden. */
static void add_part(struct strbuf *out, const char *label)
{
    size_t start = out->n;
    bool gap = false;
    if (strcmp(label, "-") == 0) {
        strbuf_add(out, "-");
        return;
    }
    for (const char *c = label; *c && out->n - start < PART_BYTES; c++) {
        bool leading = out->n == start && (*c == '.' || *c == '-');
        if (!is_safe(*c) || leading) {
            gap = true;
            continue;
        }
        if (gap && out->n > start)
            strbuf_add(out, "-");
        gap = false;
        strbuf_add_bytes(out, c, 1);
    }
    if (out->n == start)
        strbuf_add(out, "x");
}

const char *cell_label(struct arena *a, int n, const char *const *axis_label, int64_t seed)
{
    struct strbuf out;
    strbuf_init(&out);
    for (int i = 0; i < n && out.n < LABEL_BYTES - PART_BYTES; i++) {
        add_part(&out, axis_label[i]);
        strbuf_add(&out, ".");
    }
    strbuf_addf(&out, "s%" PRId64, seed);
    const char *label = arena_strdup(a, out.text);
    strbuf_release(&out);
    return label;
}
