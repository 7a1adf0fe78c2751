/* SPDX-License-Identifier: MIT */
/* schema.c: the experiment file as a JSON Schema: fills schema.json with the rows and plugins. */
#include "experiment/schema.h"

#include "cell/cell.h"
#include "plugin/paramrow.h"
#include "reading.h"

extern const char schema_skeleton[]; /* the text of schema.json, from the build */

/* ---- one value ---- */

static void put_type(struct json m, const char *type)
{
    json_put_text(m, "type", type);
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

/* The schema of an item of a list, or of the value of a row that is not a list. */
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
        struct json types = json_put_list(m, "type"); /* a number in a text is accepted as
                                                       * written */
        json_add_text(types, "string");
        json_add_text(types, "number");
    }
}

static void put_row(struct json m, const peat_param *row)
{
    json_put_text(m, "description", row->doc);
    struct json any = json_put_list(m, "anyOf");
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
    put_type(json_add_map(any), "null");
}

/* ---- maps ---- */

static void put_rows(struct json properties, const peat_param *row)
{
    for (; row && row->key; row++)
        put_row(json_put_map(properties, row->key), row);
}

static void put_keys(struct json properties, const char *const *key)
{
    for (; key && *key; key++)
        if (!value_get(properties.v, *key))
            json_put_map(properties, *key);
}

static struct json definition(struct json schema, const char *name, const char *member)
{
    const char *path = arena_printf(schema.a, "definitions.%s.%s", name, member);
    return (struct json){schema.a, value_get_path(schema.v, path)};
}

/* ---- plugins ---- */

/* Returns its properties; other keys are refused. */
static struct json closed_map(struct json m)
{
    put_type(m, "object");
    json_put_bool(m, "additionalProperties", false);
    return json_put_map(m, "properties");
}

static void require(struct json m, const char *key)
{
    json_add_text(json_put_list(m, "required"), key);
}

/* {plugin: NAME, parameters} */
static void put_use(struct json m, const struct plugin *p)
{
    static const char *const beside[] = {"label", "formula", "where", "at", "share", NULL};
    static const char *const label[] = {"label", "formula", NULL};
    struct json properties = closed_map(m);
    json_put_text(m, "description", p->desc->summary);
    json_put_text(json_put_map(properties, "plugin"), "const", p->name);
    put_rows(properties, p->desc->param);
    put_keys(properties, p->desc->kind == PEAT_SCHEME ? beside : label);
    require(m, "plugin");
}

static void add_plugins(const struct registry *r, peat_kind kind, struct json any)
{
    struct json names = json_put_list(json_add_map(any), "enum");
    for (int i = 0; i < r->n; i++)
        if (r->item[i]->desc->kind == kind) {
            json_add_text(names, r->item[i]->name);
            put_use(json_add_map(any), r->item[i]);
        }
}

/* ---- sections and dotted keys ---- */

static const struct {
    const char *name, *prefix; /* prefix: of its dotted keys; NULL: it has none */
    const peat_param *row;
    const char *const *key; /* without a row */
} sections[] = {
    {"position", "position", NULL, NULL},
    {"model", "model", model_rows, NULL},
    {"attention", "model.attention", attention_rows, NULL},
    {"train", "train", train_rows, NULL},
    {"eval", "eval", eval_rows, NULL},
    {"run", NULL, run_rows, run_keys},
    {"checkpoint", NULL, checkpoint_rows, NULL},
    {"slurm", NULL, slurm_rows, NULL},
    {"report", NULL, report_rows, report_keys},
    {"match", NULL, match_rows, match_keys},
};
enum { SECTIONS = sizeof(sections) / sizeof(*sections) };

static void fill_sections(struct json schema)
{
    for (int i = 0; i < SECTIONS; i++) {
        struct json properties = definition(schema, sections[i].name, "properties");
        put_rows(properties, sections[i].row);
        put_keys(properties, sections[i].key);
    }
}

static void put_setting(struct json properties, const char *key, const char *reference)
{
    json_put_text(json_put_map(properties, key), "$ref", reference);
}

/* Values of an axis, each with or without a label. */
static void put_axis(struct json properties, const char *key, const char *reference)
{
    struct json m = json_put_map(properties, key);
    put_type(m, "array");
    json_put_int(m, "minItems", 1);
    struct json any = json_put_list(json_put_map(m, "items"), "anyOf");
    json_put_text(json_add_map(any), "$ref", reference);
    struct json labelled = json_add_map(any), inside = closed_map(labelled);
    json_put_map(inside, "label");
    put_setting(inside, "value", reference);
    require(labelled, "value");
}

static void put_dotted(struct json schema, const char *into,
                       void (*put)(struct json properties, const char *key, const char *reference))
{
    struct json properties = definition(schema, into, "properties");
    put(properties, "task", "#/definitions/task");
    for (int i = 0; i < SECTIONS && sections[i].prefix; i++) {
        const struct value *known = definition(schema, sections[i].name, "properties").v;
        for (int k = 0; k < known->n; k++)
            put(properties, arena_printf(schema.a, "%s.%s", sections[i].prefix, known->key[k]),
                arena_printf(schema.a, "#/definitions/%s/properties/%s", sections[i].name,
                             known->key[k]));
    }
}

struct value *experiment_schema(const struct registry *r, struct arena *a)
{
    struct error why = {0};
    struct json schema = {a, json_parse(a, schema_skeleton, strlen(schema_skeleton), "", &why)};
    BUG_UNLESS(schema.v);
    fill_sections(schema);
    put_dotted(schema, "settings", put_setting);
    put_dotted(schema, "matrix", put_axis);
    for (peat_kind kind = PEAT_SCHEME; kind <= PEAT_TASK; kind++)
        add_plugins(r, kind, definition(schema, kind_name(kind), "anyOf"));
    put_keys((struct json){a, value_get(schema.v, "properties")}, experiment_keys);
    return schema.v;
}
