/* SPDX-License-Identifier: MIT */
/* resolved.c: writes an experiment with its command line as a file of its own. */
#include "experiment/resolved.h"

#include "cell/cellmeta.h"
#include "reading.h"

/* ---- a tree of settings as YAML ---- */

enum { ONE_LINE = 80, INDENT = 2 };

static void add_key(struct strbuf *out, const char *key, struct arena *a)
{
    static const char harmless[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                   "0123456789._";
    bool plain = isalpha((unsigned char)*key) && strspn(key, harmless) == strlen(key);
    if (plain && value_scalar(a, NOWHERE, key)->kind == VALUE_TEXT)
        strbuf_add(out, key);
    else
        json_print(value_text(a, NOWHERE, key), JSON_LINE, out);
    strbuf_add(out, ":");
}

/* Adds a value as JSON, which YAML reads; a number keeps its spelling. */
static void resolved_add_line(struct strbuf *out, const struct value *v, struct arena *a)
{
    bool map = v->kind == VALUE_MAP;
    if (!map && v->kind != VALUE_LIST) {
        if ((v->kind == VALUE_INT || v->kind == VALUE_REAL) && v->text)
            strbuf_add(out, v->text);
        else
            json_print(v, JSON_LINE, out);
        return;
    }
    strbuf_add(out, map ? "{" : "[");
    for (int i = 0; i < v->n; i++) {
        strbuf_add(out, i ? ", " : "");
        if (map) {
            add_key(out, v->key[i], a);
            strbuf_add(out, " ");
        }
        resolved_add_line(out, v->item[i], a);
    }
    strbuf_add(out, map ? "}" : "]");
}

/* Writes what follows "key:" or "-". */
static void add_item(struct strbuf *out, const struct value *v, int indent, struct arena *a)
{
    struct strbuf line = STRBUF_NEW;
    resolved_add_line(&line, v, a);
    if (v->n == 0 || line.n <= ONE_LINE) {
        strbuf_addf(out, " %s\n", line.text);
    } else {
        strbuf_add(out, "\n");
        settings_add(out, v, indent + INDENT, a);
    }
    strbuf_release(&line);
}

void settings_add(struct strbuf *out, const struct value *v, int indent, struct arena *a)
{
    for (int i = 0; i < v->n; i++) {
        strbuf_addf(out, "%*s", indent, "");
        if (v->kind == VALUE_MAP)
            add_key(out, v->key[i], a);
        else
            strbuf_add(out, "-");
        add_item(out, v->item[i], indent, a);
    }
}

struct resolving {
    const struct plan *p;
    const struct experiment *e;
    struct arena *a;
    struct value *files; /* list of texts: the absolute paths of the cells */
};

/* ---- paths ---- */

static void list_files(struct resolving *r, const struct value *v)
{
    for (int i = 0; v && i < v->n; i++)
        list_files(r, v->item[i]);
    if (v && v->kind == VALUE_TEXT && v->text[0] == '/' && !value_holds(r->files, v))
        value_append(r->a, r->files, value_text(r->a, NOWHERE, v->text));
}

/* The file that this text names for a cell, as an absolute path; NULL: it names no file. */
static const char *file_of(const void *ctx, const struct value *v)
{
    const struct resolving *r = ctx;
    const char *looked_for, *found = NULL, *absolute = value_path(r->a, v, &looked_for);
    for (int i = 0; absolute && !found && i < r->files->n; i++)
        if (strcmp(r->files->item[i]->text, absolute) == 0)
            found = r->files->item[i]->text;
    return found;
}

static struct value *with_paths(const struct resolving *r, const struct value *v)
{
    return value_with_texts(r->a, v, file_of, r);
}

/* ---- the sections ---- */

/* The value with the label that it had before its paths became absolute. */
static struct value *axis_item(const struct resolving *r, const struct axis_value *v)
{
    struct value *item = with_paths(r, v->set->item[0]);
    if (strcmp(value_label(r->a, &r->e->names, item), v->label) == 0)
        return item;
    struct json named = json_map(r->a);
    json_put_text(named, "label", v->label);
    json_put(named, "value", item);
    return named.v;
}

static struct value *axis_items(const struct resolving *r, const struct axis *axis)
{
    struct value *items = axis->labelled ? value_map(r->a, NOWHERE) : value_list(r->a, NOWHERE);
    for (int i = 0; i < axis->n_file; i++)
        if (axis->labelled)
            value_set(r->a, items, axis->value[i].label, NOWHERE,
                      with_paths(r, axis->value[i].set));
        else
            value_append(r->a, items, axis_item(r, &axis->value[i]));
    return items;
}

/* Values of a narrowed axis; values that are only known are listed after them. */
static struct value *only_of(const struct resolving *r)
{
    struct json m = json_map(r->a);
    for (int i = 0; i < r->e->n_axis; i++) {
        const struct axis *axis = &r->e->axis[i];
        if (axis->n == axis->n_file)
            continue;
        struct json list = json_put_list(m, axis->key);
        for (int k = 0; k < axis->n; k++)
            json_add_text(list, axis->value[k].label);
    }
    return m.v;
}

static struct value *included(const struct resolving *r, const struct value *cell)
{
    struct value *out = value_map(r->a, NOWHERE);
    for (int i = 0; i < cell->n; i++) {
        int k = axis_find(r->e, cell->key[i]);
        const struct axis *axis = k < 0 ? NULL : &r->e->axis[k];
        struct value *item = cell->item[i];
        int known = axis ? label_find(axis, item->text) : -1;
        if (!axis)
            item = with_paths(r, item);
        else if (known >= axis->n_file)
            item = axis_item(r, &axis->value[known]);
        value_set(r->a, out, cell->key[i], NOWHERE, item);
    }
    return out;
}

static struct value *matrix_of(const struct resolving *r)
{
    const struct experiment *e = r->e;
    struct json m = json_map(r->a);
    for (int i = 0; i < e->n_axis; i++)
        json_put(m, e->axis[i].key, axis_items(r, &e->axis[i]));
    if (e->include && e->include->n) {
        struct json list = json_put_list(m, "include");
        for (int i = 0; i < e->include->n; i++)
            json_add(list, included(r, e->include->item[i]));
    }
    if (e->exclude && e->exclude->n)
        json_put(m, "exclude", e->exclude);
    struct value *only = only_of(r);
    if (only->n)
        json_put(m, "only", only);
    return m.v;
}

static struct value *overrides_of(const struct resolving *r)
{
    const struct experiment *e = r->e;
    struct json list = json_list(r->a);
    for (int i = 0; i < e->n_override; i++) {
        const struct override *o = &e->override[i];
        struct json m = json_add_map(list);
        if (o->when)
            json_put(m, "when", o->when);
        json_put(m, "set", with_paths(r, o->set));
    }
    if (e->command_line->n)
        json_put(json_add_map(list), "set", with_paths(r, e->command_line));
    return list.v;
}

/* In its normal form a claim has the keys of its contrast; they are written under `contrast`. */
static struct value *claims_of(const struct resolving *r)
{
    static const char *const compared[] = {"factor", "of", "over", "pool", "where", NULL};
    static const char *const keys[] = {"name",   "text",   "rows",      "interaction", "trend",
                                       "metric", "length", "direction", "margin",      "alpha",
                                       "test",   "expect", "weight",    "sampled",     NULL};
    struct json list = json_list(r->a);
    for (int i = 0; i < r->e->claims->n; i++) {
        const struct value *claim = r->e->claims->item[i];
        struct json m = json_part(r->a, claim, keys);
        if (value_get(claim, "factor"))
            json_put(m, "contrast", json_part(r->a, claim, compared).v);
        json_add(list, m.v);
    }
    return list.v;
}

static struct value *report_of(const struct resolving *r, const struct value *written)
{
    const struct report_settings *s = &r->e->report;
    struct json m = json_map(r->a);
    if (s->baseline)
        json_put(m, "baseline", s->baseline);
    if (s->best_over.n_axis)
        json_put(m, "best_over", best_over_value(&s->best_over, r->a));
    if (s->contrasts)
        json_put(m, "contrasts", s->contrasts);
    for (int i = 0; written && written->kind == VALUE_MAP && i < written->n; i++)
        if (!value_get(m.v, written->key[i]) && written->item[i]->kind != VALUE_NULL)
            json_put(m, written->key[i], written->item[i]);
    return m.v;
}

static struct value *made_with(const struct resolving *r)
{
    const struct experiment *e = r->e;
    struct json m = json_map(r->a);
    char here[PATH_MAX], *file = realpath(e->path, NULL);
    const char *from = json_get_text(e->made_with, "experiment");
    const char *folder = json_get_text(e->made_with, "folder");
    json_put_text(m, "peat", engine_version());
    json_put_text(m, "experiment", from ? from : file ? file : e->path);
    json_put_text(m, "folder", folder ? folder : getcwd(here, sizeof(here)));
    /* All words of command lines since the file was written by hand. */
    struct json words = json_put_list(m, "words");
    const struct value *word;
    for (int i = 0; (word = json_get_item(e->made_with, "words", i)); i++)
        json_add(words, word);
    for (int i = 0; i < e->n_word; i++)
        json_add_text(words, e->word[i]);
    json_put(m, "plugins", plan_plugins(r->p, r->a));
    free(file);
    return m.v;
}

/* ---- the whole file ---- */

static struct value *resolve_key(const struct resolving *r, const char *key, struct value *written)
{
    const struct experiment *e = r->e;
    if (strcmp(key, "defaults") == 0)
        return with_paths(r, e->defaults);
    if (strcmp(key, "matrix") == 0)
        return e->n_axis ? matrix_of(r) : NULL;
    if (strcmp(key, "overrides") == 0)
        return overrides_of(r);
    if (strcmp(key, "report") == 0)
        return report_of(r, written);
    if (strcmp(key, "claims") == 0)
        return e->claims ? claims_of(r) : NULL;
    if (strcmp(key, "match") == 0 && e->match.on)
        return value_with_path(r->a, written, "to", NOWHERE, e->match.to);
    return written;
}

/* Comments, because a key that is written down would win over another block on the command line. */
static void add_filled_in(struct strbuf *out, const struct plan *p, struct arena *a)
{
    const int rows = p->n / p->experiment->n_seed;
    const char **text = ARENA_ARRAY(a, rows, const char *);
    for (int i = 0; i < rows; i++)
        text[i] = p->cell[i].config.filled_in;
    for (int i = 0; i < rows; i++) {
        const int times = times_said(text, rows, i);
        if (times)
            strbuf_addf(out, "# model of %s: %s\n",
                        name_and_more(a, p->cell[i].label, "row", times), text[i]);
    }
}

void resolved_text(const struct plan *p, struct arena *a, struct strbuf *out)
{
    static const char *const keys[] = {"version", "name",      "description", "defaults",
                                       "matrix",  "overrides", "seeds",       "match",
                                       "run",     "report",    "claims",      NULL};
    struct resolving r = {p, p->experiment, a, value_list(a, NOWHERE)};
    struct json m = json_map(a);
    for (int i = 0; i < p->n; i++)
        list_files(&r, p->cell[i].config.resolved);
    for (int i = 0; keys[i]; i++) {
        struct value *v = resolve_key(&r, keys[i], value_get(r.e->root, keys[i]));
        bool empty = !v || v->kind == VALUE_NULL ||
                     ((v->kind == VALUE_LIST || v->kind == VALUE_MAP) && v->n == 0);
        if (!empty)
            json_put(m, keys[i], v);
    }
    json_put(m, "made_with", made_with(&r));
    strbuf_add(out,
               "# What was run, with the words of the command line and absolute paths. Written "
               "by peat run:\n# made again from any folder by `peat run` of this file or its "
               "folder.\n");
    add_filled_in(out, p, a);
    settings_add(out, m.v, 0, a);
}

/* ---- changes since then ---- */

const char *resolved_change(const struct plan *p, struct arena *a)
{
    const struct value *made = p->experiment->made_with;
    const char *peat = json_get_text(made, "peat");
    if (!made)
        return NULL;
    if (peat && strcmp(peat, engine_version()) != 0)
        return arena_printf(a, "this experiment was made with peat %s, and this is %s", peat,
                            engine_version());
    const struct value *changed = plugins_changed(plan_plugins(p, a), value_get(made, "plugins"));
    return changed ? arena_printf(a, "%s '%s' is not the file that this experiment was made with",
                                  json_get_text(changed, "kind"), json_get_text(changed, "id"))
                   : NULL;
}
