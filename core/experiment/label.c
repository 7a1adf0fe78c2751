/* SPDX-License-Identifier: MIT */
/* label.c: the names of settings in tables, on the command line and in the names of files. */
#include <fnmatch.h>

#include "cell/cell.h"
#include "reading.h"

#define PART_BYTES  48  /* most characters of one axis in a file's name */
#define LABEL_BYTES 180 /* most characters of all axes: NAME_MAX less the hash */

/* The text of a label, and the names of plugins that are given by path. */
struct labelling {
    struct strbuf text;
    const struct plugin_names *names;
};

static void add_value(struct labelling *out, const struct value *v, bool outermost);

static bool label_is_shown(const char *key)
{
    return strcmp(key, "plugin") != 0 && strcmp(key, "formula") != 0;
}

/* "base=500,layout=halves" without the keys `plugin` and `formula`. */
static void add_pairs(struct labelling *out, const struct value *map)
{
    const char *between = "";
    for (int i = 0; i < map->n; i++) {
        if (!label_is_shown(map->key[i]))
            continue;
        strbuf_addf(&out->text, "%s%s=", between, map->key[i]);
        add_value(out, map->item[i], false);
        between = ",";
    }
}

static void add_map(struct labelling *out, const struct value *map)
{
    const struct value *plugin = value_get(map, "plugin"), *own = use_label(map);
    if (own || plugin)
        add_value(out, own ? own : plugin, false);
    if (own || (plugin && map->n == 1 + (value_get(map, "formula") ? 1 : 0)))
        return;
    strbuf_add(&out->text, plugin ? "(" : "{");
    add_pairs(out, map);
    strbuf_add(&out->text, plugin ? ")" : "}");
}

/* Plugins that act together are joined by "+"; numbers stay a list. */
static void add_list(struct labelling *out, const struct value *list, bool outermost)
{
    bool plugins = outermost && list->n > 0;
    for (int i = 0; i < list->n; i++)
        plugins =
            plugins && (list->item[i]->kind == VALUE_TEXT || list->item[i]->kind == VALUE_MAP);
    strbuf_add(&out->text, plugins ? "" : "[");
    for (int i = 0; i < list->n; i++) {
        strbuf_add(&out->text, i == 0 ? "" : plugins ? "+" : ",");
        add_value(out, list->item[i], false);
    }
    strbuf_add(&out->text, plugins ? "" : "]");
}

static void add_value(struct labelling *out, const struct value *v, bool outermost)
{
    const char *name = v->kind == VALUE_TEXT ? plugin_name_at(out->names, v) : NULL;
    if (v->kind == VALUE_MAP)
        add_map(out, v);
    else if (v->kind == VALUE_LIST)
        add_list(out, v, outermost);
    else
        strbuf_add(&out->text, name ? name : v->text && v->text[0] ? v->text : "null");
}

const char *value_label(struct arena *a, const struct plugin_names *names, const struct value *v)
{
    struct labelling out = {.names = names};
    strbuf_init(&out.text);
    add_value(&out, v, true);
    return strbuf_keep(&out.text, a);
}

static bool is_safe(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("._+=-", c));
}

/* Adds the text, at most so many characters: a run of others becomes one "-", none at the ends. In
 * a pattern for cells, "rotary(base=500).*", wildcards and sets such as [!s] stay. The "-" is left
 * out at the start, where the name would be an option or hidden, and after "=".
 * "where={across=true}" is written "where.across=true". */
static void add_safe(struct strbuf *out, const char *text, size_t most, bool pattern)
{
    size_t start = out->n;
    bool gap = false, set = false;
    for (const char *c = text; *c && out->n - start < most; c++) {
        set = pattern && (*c == '[' || (set && *c != ']'));
        bool wild = set || (pattern && strchr("*?]", *c));
        bool leading = !pattern && out->n == start && (*c == '.' || *c == '-');
        if ((!is_safe(*c) && !wild) || leading) {
            gap = true;
            continue;
        }
        if (gap && !(pattern && *c == '.') && out->n > start && out->text[out->n - 1] != '=')
            strbuf_add(out, "-");
        bool opens_map = c[0] == '=' && c[1] == '{';
        gap = false;
        strbuf_add_bytes(out, opens_map ? "." : c, 1);
        c += opens_map;
    }
}

static void add_part(struct strbuf *out, const char *label)
{
    size_t start = out->n;
    if (strcmp(label, "-") == 0)
        strbuf_add(out, "-");
    else
        add_safe(out, label, PART_BYTES, false);
    strbuf_add(out, out->n == start ? "x" : "");
}

const struct value *use_label(const struct value *v)
{
    const struct value *label = value_get(v, "plugin") ? value_get(v, "label") : NULL;
    return label && label->kind == VALUE_TEXT && label->text[0] ? label : NULL;
}

const char *label_file_name(struct arena *a, const char *label)
{
    struct strbuf out = STRBUF_NEW;
    add_part(&out, label);
    return strbuf_keep(&out, a);
}

bool cell_is_id(const char *text)
{
    const char *c = text;
    while (is_safe(*c))
        c++;
    return c > text && !*c && *text != '.';
}

/* The id without its hash. */
static struct strbuf name_in(const char *id)
{
    struct strbuf name = STRBUF_NEW;
    const char *dash = strrchr(id, '-');
    strbuf_add_bytes(&name, id, dash ? (size_t)(dash - id) : strlen(id));
    return name;
}

bool cell_fits(const char *glob, const char *label, const char *id)
{
    struct strbuf spelled = STRBUF_NEW, name = name_in(id);
    const char *const called[] = {id, name.text, label};
    bool fits = false;
    add_safe(&spelled, glob, SIZE_MAX, true);
    for (size_t i = 0; i < sizeof(called) / sizeof(*called); i++)
        fits = fits || (called[i] && (fnmatch(glob, called[i], 0) == 0 ||
                                      fnmatch(spelled.text, called[i], 0) == 0));
    strbuf_release(&spelled);
    strbuf_release(&name);
    return fits;
}

bool cell_is_called(const char *label, const char *id, const char *word)
{
    struct strbuf spelled = STRBUF_NEW, name = name_in(id);
    add_safe(&spelled, word, SIZE_MAX, true);
    bool is = strcmp(label, word) == 0 || strcmp(label, spelled.text) == 0 ||
              strcmp(name.text, spelled.text) == 0;
    strbuf_release(&spelled);
    strbuf_release(&name);
    return is;
}

const char *cell_label(struct arena *a, int n, const char *const *axis_label, int64_t seed)
{
    struct strbuf out = STRBUF_NEW;
    for (int i = 0; i < n && out.n < LABEL_BYTES - PART_BYTES; i++) {
        add_part(&out, axis_label[i]);
        strbuf_add(&out, ".");
    }
    strbuf_addf(&out, "s%" PRId64, seed);
    return strbuf_keep(&out, a);
}
