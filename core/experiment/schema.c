/* SPDX-License-Identifier: MIT */
/* schema.c: the experiment file as a JSON Schema. */
#include "experiment/schema.h"

#include "cell/cell.h"
#include "cell/setting.h"
#include "plugin/paramrow.h"
#include "reading.h"

/* What is dotted below a plugin; only the plugin knows it. */
#define BELOW_PLUGIN "^(task|position\\.scheme|position\\.combine)\\."
#define PATH         "/|\\.so$"

struct schema {
    struct arena *a;
    const struct registry *r;
};

/* ---- one value ---- */

static void put_type(struct json m, const char *type)
{
    json_put_text(m, "type", type);
}

static struct json any_of(struct json m)
{
    return json_put_list(m, "anyOf");
}

static void add_type(struct json list, const char *type)
{
    put_type(json_add_map(list), type);
}

static void put_bounds(struct json m, const peat_param *row)
{
    if (!row_has_bounds(row))
        return;
    if (isfinite(row->min))
        json_put_number(m, row->flags & PEAT_OPEN_MIN ? "exclusiveMinimum" : "minimum", row->min);
    if (isfinite(row->max))
        json_put_number(m, "maximum", row->max);
}

/* An item of a list, or the value of a row that is not a list. */
static void put_one(struct json m, const peat_param *row)
{
    const struct param_type *type = row_type(row)->item ? row_type(row)->item : row_type(row);
    if (row->labels) {
        struct json labels = json_put_list(m, "enum");
        for (int i = 0; row->labels[i]; i++)
            json_add_text(labels, row->labels[i]);
    } else if (row->type == PEAT_BOOL) {
        put_type(m, "boolean");
    } else if (type->number) {
        put_type(m, row->type == PEAT_INT ? "integer" : "number");
        put_bounds(m, row);
    } else if (row->type == PEAT_STRING || row->type == PEAT_STRINGS) {
        struct json types = json_put_list(m, "type"); /* a number is a text as it is written */
        json_add_text(types, "string");
        json_add_text(types, "number");
    }
}

static void put_row(struct json m, const peat_param *row)
{
    json_put_text(m, "description", row->doc);
    struct json any = any_of(m);
    put_one(json_add_map(any), row);
    if (row_type(row)->item) {
        struct json list = json_add_map(any);
        put_type(list, "array");
        put_one(json_put_map(list, "items"), row);
    }
    if (row->flags & PEAT_AUTO)
        json_put_text(json_add_map(any), "const", "auto");
    if (row == rows_find(eval_rows, "tokens"))
        json_put_text(json_add_map(any), "const", "all");
    add_type(any, "null");
}

/* ---- maps ---- */

/* Returns its properties; a key that is not among them is refused. */
static struct json closed_map(struct json m)
{
    put_type(m, "object");
    json_put_bool(m, "additionalProperties", false);
    return json_put_map(m, "properties");
}

static void put_rows(struct json properties, const peat_param *row)
{
    for (; row && row->key; row++)
        put_row(json_put_map(properties, row->key), row);
}

static void put_keys(struct json properties, const char *const *key)
{
    for (; *key; key++)
        if (!value_get(properties.v, *key))
            json_put_map(properties, *key);
}

static void put_reference(struct json m, const char *definition)
{
    json_put_text(m, "$ref", arena_printf(m.a, "#/definitions/%s", definition));
}

/* ---- plugins ---- */

static void put_names(const struct schema *s, struct json m, peat_kind kind)
{
    struct json names = json_put_list(m, "enum");
    for (int i = 0; i < s->r->n; i++)
        if (s->r->item[i]->desc->kind == kind)
            json_add_text(names, s->r->item[i]->name);
}

static void put_path(struct json m)
{
    put_type(m, "string");
    json_put_text(m, "pattern", PATH);
}

static void require(struct json m, const char *key)
{
    json_add_text(json_put_list(m, "required"), key);
}

/* {plugin: NAME, parameters} */
static void put_use(struct json m, const struct plugin *p)
{
    static const char *const beside[] = {"label", "where", "at", "share", NULL};
    static const char *const label[] = {"label", NULL};
    struct json properties = closed_map(m);
    json_put_text(m, "description", p->desc->summary);
    json_put_text(json_put_map(properties, "plugin"), "const", p->name);
    put_rows(properties, p->desc->param);
    put_keys(properties, p->desc->kind == PEAT_SCHEME ? beside : label);
    require(m, "plugin");
}

static void define_plugins(const struct schema *s, struct json definitions, peat_kind kind)
{
    struct json any = any_of(json_put_map(definitions, kind_name(kind)));
    put_names(s, json_add_map(any), kind);
    put_path(json_add_map(any));
    for (int i = 0; i < s->r->n; i++)
        if (s->r->item[i]->desc->kind == kind)
            put_use(json_add_map(any), s->r->item[i]);
    struct json by_path = json_add_map(any);
    put_type(by_path, "object");
    put_path(json_put_map(json_put_map(by_path, "properties"), "plugin"));
    require(by_path, "plugin");
}

/* A scheme, or several that act together. */
static void define_schemes(struct json definitions)
{
    struct json any = any_of(json_put_map(definitions, "schemes"));
    put_reference(json_add_map(any), "scheme");
    struct json list = json_add_map(any);
    put_type(list, "array");
    json_put_int(list, "minItems", 1);
    put_reference(json_put_map(list, "items"), "scheme");
}

/* ---- settings ---- */

static const struct section_rows {
    const char *section;
    const peat_param *row;
} parts[] = {{"model", model_rows},
             {"model.attention", attention_rows},
             {"train", train_rows},
             {"eval", eval_rows}};
enum { PARTS = sizeof(parts) / sizeof(*parts) };

static void put_section(struct json properties, const char *section, const peat_param *row)
{
    struct json inside = closed_map(json_put_map(properties, section));
    put_rows(inside, row);
    if (strcmp(section, "model") != 0)
        return;
    put_rows(closed_map(json_put_map(inside, "attention")), attention_rows);
    put_keys(inside, (const char *const[]){"embedding", "start", NULL});
}

static void put_position(struct json properties)
{
    struct json inside = closed_map(json_put_map(properties, "position"));
    put_reference(json_put_map(inside, "scheme"), "schemes");
    put_reference(json_put_map(inside, "combine"), "combine");
}

static void put_sections(struct json properties)
{
    put_reference(json_put_map(properties, "task"), "task");
    put_position(properties);
    put_section(properties, "model", model_rows);
    put_section(properties, "train", train_rows);
    put_section(properties, "eval", eval_rows);
}

/* Every dotted key: by `put`, what stands under it. */
static void put_dotted(struct json properties, void (*put)(struct json m, struct json value))
{
    const struct json none = {properties.a, NULL};
    for (int i = 0; i < PARTS; i++)
        for (const peat_param *row = parts[i].row; row->key; row++) {
            struct json value = json_map(properties.a);
            put_row(value, row);
            put(json_put_map(properties,
                             arena_printf(properties.a, "%s.%s", parts[i].section, row->key)),
                value);
        }
    static const char *const plugins[][2] = {
        {"position.scheme", "schemes"}, {"position.combine", "combine"}, {"task", "task"}};
    for (int i = 0; i < 3; i++) {
        struct json value = json_map(properties.a);
        put_reference(value, plugins[i][1]);
        put(json_put_map(properties, plugins[i][0]), value);
    }
    put(json_put_map(properties, "model.embedding"), none);
    put(json_put_map(properties, "model.start"), none);
    put(json_put_map(properties, "model.attention"), none);
}

static void put_setting(struct json m, struct json value)
{
    for (int i = 0; value.v && i < value.v->n; i++)
        json_put(m, value.v->key[i], value.v->item[i]);
}

/* Values of an axis, each alone or with a label. */
static void put_axis(struct json m, struct json value)
{
    put_type(m, "array");
    json_put_int(m, "minItems", 1);
    struct json items = json_put_map(m, "items");
    if (!value.v)
        return;
    struct json any = any_of(items);
    json_add(any, value.v);
    struct json labelled = json_add_map(any), properties = closed_map(labelled);
    json_put_map(properties, "label");
    json_put(properties, "value", value.v);
    require(labelled, "value");
}

/* A map of dotted keys and whole sections. */
static void define_settings(struct json definitions)
{
    struct json m = json_put_map(definitions, "settings"), properties = closed_map(m);
    put_dotted(properties, put_setting);
    put_sections(properties);
    json_put_map(json_put_map(m, "patternProperties"), BELOW_PLUGIN);
}

/* ---- the sections of the file ---- */

static void or_null(struct json properties, const char *key, struct json *inside)
{
    struct json any = any_of(json_put_map(properties, key));
    add_type(any, "null");
    *inside = json_add_map(any);
}

static void put_matrix(struct json properties)
{
    static const char *const special[] = {"exclude", "include", "only", NULL};
    struct json m;
    or_null(properties, "matrix", &m);
    struct json axes = closed_map(m), patterns = json_put_map(m, "patternProperties");
    put_dotted(axes, put_axis);
    put_keys(axes, special);
    json_put_map(patterns, BELOW_PLUGIN);
    struct json labelled =
        json_put_map(patterns, "^(?!(exclude|include|only|task|model|position|train|eval)$)[^.]+$");
    put_type(labelled, "object");
    put_reference(json_put_map(labelled, "additionalProperties"), "settings");
}

static void put_overrides(struct json properties)
{
    struct json m;
    or_null(properties, "overrides", &m);
    put_type(m, "array");
    struct json item = json_put_map(m, "items"), inside = closed_map(item);
    put_type(json_put_map(inside, "when"), "object");
    put_reference(json_put_map(inside, "set"), "settings");
    require(item, "set");
}

static void put_howto(struct json properties)
{
    struct json m;
    or_null(properties, "run", &m);
    struct json run = closed_map(m);
    put_rows(run, run_rows);
    put_rows(closed_map(json_put_map(run, "checkpoint")), checkpoint_rows);
    struct json slurm = closed_map(json_put_map(run, "slurm"));
    put_rows(slurm, slurm_rows);
    put_keys(slurm, (const char *const[]){"time", NULL});
    put_keys(run, run_keys);
    or_null(properties, "report", &m);
    struct json report = closed_map(m);
    put_rows(report, report_rows);
    put_keys(report, report_keys);
    or_null(properties, "match", &m);
    struct json match = closed_map(m);
    put_rows(match, match_rows);
    put_keys(match, match_keys);
}

static void put_seeds(struct json properties)
{
    struct json any = any_of(json_put_map(properties, "seeds")), many = json_add_map(any),
                list = json_add_map(any);
    put_type(many, "integer");
    json_put_int(many, "minimum", 1);
    put_type(list, "array");
    json_put_int(list, "minItems", 1);
    struct json seed = json_put_map(list, "items");
    put_type(seed, "integer");
    json_put_int(seed, "minimum", 0);
    add_type(any, "object");
}

static void put_file(struct json m)
{
    struct json properties = closed_map(m), defaults;
    struct json version = json_put_list(json_put_map(properties, "version"), "enum");
    json_add_int(version, 1);
    json_add_int(version, 2);
    json_put_text(json_put_map(properties, "name"), "pattern", "^[A-Za-z0-9_][A-Za-z0-9._-]*$");
    or_null(properties, "defaults", &defaults);
    put_sections(closed_map(defaults));
    put_matrix(properties);
    put_overrides(properties);
    put_howto(properties);
    put_seeds(properties);
    put_keys(properties, experiment_keys);
    struct json required = json_put_list(m, "required");
    json_add_text(required, "version");
    json_add_text(required, "name");
}

struct value *experiment_schema(const struct registry *r, struct arena *a)
{
    const struct schema s = {a, r};
    struct json m = json_map(a);
    json_put_text(m, "$schema", "http://json-schema.org/draft-07/schema#");
    json_put_text(m, "title", "an experiment of PEAT");
    put_file(m);
    struct json definitions = json_put_map(m, "definitions");
    define_plugins(&s, definitions, PEAT_SCHEME);
    define_plugins(&s, definitions, PEAT_COMBINE);
    define_plugins(&s, definitions, PEAT_TASK);
    define_schemes(definitions);
    define_settings(definitions);
    return m.v;
}
