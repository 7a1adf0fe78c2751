/* SPDX-License-Identifier: MIT */
/* plugin_use.c: from `rotary` or {plugin: rotary, base: 500, where: ...} to a filled config. */
#include "cellreader.h"

#include "cell/setting.h"
#include "plugin/paramrow.h"

static const char *const task_keys[] = {"plugin", NULL};
static const char *const combine_keys[] = {"label", "formula", "plugin", NULL};
static const char *const scheme_keys[] = {"label", "formula", "plugin", "where",
                                          "at",    "share",   NULL};
static const char *const where_keys[] = {"layers", "heads", "dims", "across", NULL};
static const char *const site_labels[] = {"input",  "residual", "attn_q",
                                          "attn_k", "attn_qk",  "attn_qkv"};
static const char *const share_labels[] = {"model", "layer"};

bool point_refused(const struct cell_reader *r, bool ok)
{
    if (!ok)
        r->err->status = PEAT_REFUSED;
    return ok;
}

/* ---- name and parameters ---- */

static bool read_name(const struct cell_reader *r, peat_kind kind, const struct value *v,
                      const struct value **name)
{
    const char *what = kind_name(kind);
    if (v->kind == VALUE_TEXT && v->text[0]) {
        *name = v;
        return true;
    }
    if (v->kind != VALUE_MAP)
        return mistake(r->err, v->at, "a %s is a plugin's name or a map with 'plugin'%s", what,
                       kind == PEAT_SCHEME ? ", or a list of such" : "");
    *name = value_get(v, "plugin");
    if (!*name)
        return mistake(r->err, v->at, "a %s given as a map needs the key 'plugin'", what);
    if ((*name)->kind != VALUE_TEXT || !(*name)->text[0])
        return mistake(r->err, (*name)->at, "'plugin' must be the name of a %s", what);
    return true;
}

/* Checks `label`, the name of the plugin in tables. */
static bool check_label(const struct cell_reader *r, peat_kind kind, const struct value *v)
{
    const struct value *label = value_get(v, "label");
    if (!label || (label->kind == VALUE_TEXT && label->text[0]))
        return true;
    return mistake(r->err, label->at, "'label' of a %s must be a text", kind_name(kind));
}

/* The file of a formula in PyTorch, as an absolute path. */
static bool read_formula(const struct cell_reader *r, struct plugin_use *use, const struct value *v)
{
    const char *looked_for;
    if (v->kind != VALUE_TEXT || !path_ends_in(v->text, ".py"))
        return mistake(r->err, v->at, "'formula' must be the path of a .py file");
    use->formula = value_path(r->a, v, &looked_for);
    return use->formula ||
           mistake(r->err, v->at, "'formula' names '%s', which does not exist (looked for '%s')",
                   v->text, looked_for);
}

/* A parameter that was added later and is as it would be without it. */
static bool is_left_out(const peat_param *row, const struct value *v)
{
    bool is_preset = row->type == PEAT_ENUM && !strcmp(v->text, row->labels[(int)row->preset]);
    return row->flags & PEAT_LATER && (is_preset || (row->type != PEAT_ENUM && v->n == 0));
}

/* All parameters that belong to the identity: old cells keep theirs. */
static struct value *settings_of(const peat_plugin *desc, const void *config, struct arena *a)
{
    const struct value *all = params_value(desc->param, config, a);
    struct value *kept = value_map(a, all->at);
    for (int i = 0; i < all->n; i++)
        if (!is_left_out(&desc->param[i], all->item[i]))
            value_set(a, kept, all->key[i], all->at, all->item[i]);
    return kept;
}

/* The keys of the host, without those that are the plugin's: plugins had parameters of such names
 * before the host had the keys. */
static const char *const *host_keys(const char *const *all, const peat_plugin *desc,
                                    struct arena *a)
{
    const char **keys = ARENA_ARRAY(a, names_count(all) + 1, const char *);
    for (int n = 0; *all; all++)
        if (!rows_find(desc->param, *all))
            keys[n++] = *all;
    return keys;
}

static bool use_read(const struct cell_reader *r, struct plugin_use *use, peat_kind kind,
                     const struct value *v, const char *const *reserved)
{
    const struct value *name = NULL;
    if (!read_name(r, kind, v, &name) ||
        registry_find(r->registry, kind, name->text, name->at, &use->plugin, r->err) != PEAT_OK)
        return false;
    const peat_plugin *desc = use->plugin->desc;
    use->at = name->at;
    use->config = arena_zalloc(r->a, desc->config_size ? desc->config_size : 1);
    const char *what = arena_printf(r->a, "%s '%s'", kind_name(kind), desc->id);
    struct value *given = v->kind == VALUE_MAP ? NULL : value_map(r->a, v->at);
    reserved = host_keys(reserved, desc, r->a);
    const struct value *formula =
        names_find(reserved, "formula") < 0 ? NULL : value_get(v, "formula");
    if ((names_find(reserved, "label") >= 0 && !check_label(r, kind, v)) ||
        (formula && !read_formula(r, use, formula)))
        return false;
    if (params_fill(desc->param, use->config, given ? given : v, what, reserved, r->a, r->err) !=
        PEAT_OK)
        return false;
    const char *named = registry_is_path(name->text) ? use->plugin->path : use->plugin->name;
    use->given = value_map(r->a, name->at);
    value_set(r->a, use->given, "plugin", name->at, value_text(r->a, name->at, named));
    use->given = value_merge(r->a, use->given, settings_of(desc, use->config, r->a));
    use->given->at = v->at;
    for (int i = 0; i < use->given->n; i++) {
        const struct value *written = value_get(v, use->given->key[i]);
        use->given->item[i]->at = written ? written->at : use->at;
    }
    return true;
}

bool plugin_use_read(const struct cell_reader *r, struct plugin_use *use, peat_kind kind,
                     const struct value *v)
{
    *use = (struct plugin_use){0};
    return use_read(r, use, kind, v, kind == PEAT_COMBINE ? combine_keys : task_keys);
}

bool plugin_use_has_stream(const struct plugin_use *use)
{
    const peat_scheme *hooks = use->plugin->desc->interface;
    return PEAT_HAS(hooks, encode);
}

/* ---- where ---- */

static bool is_whole(const struct value *v, int64_t low, int64_t high)
{
    return v->kind == VALUE_INT && v->integer >= low && v->integer <= high;
}

static bool read_layers(const struct cell_reader *r, struct where *where, const struct value *v,
                        int64_t n_layer)
{
    int n = value_count(v);
    if (n == 0)
        return mistake(r->err, v->at, "'where.layers' must name a layer");
    int64_t *layer = ARENA_ARRAY(r->a, n, int64_t);
    for (int i = 0; i < n; i++) {
        const struct value *one = value_item(v, i);
        if (!is_whole(one, 0, n_layer - 1))
            return mistake(r->err, one->at, "'where.layers' must hold layers from 0 to %" PRId64,
                           n_layer - 1);
        if (integers_hold(layer, i, one->integer))
            return mistake(r->err, one->at, "'where.layers' names layer %" PRId64 " twice",
                           one->integer);
        layer[i] = one->integer;
    }
    sort_integers(layer, n);
    where->layer = layer;
    where->n_layer = n;
    return true;
}

/* heads: [first, last] or one. */
static bool read_heads(const struct cell_reader *r, struct where *where, const struct value *v,
                       int64_t n_head)
{
    bool pair = v->kind == VALUE_LIST && v->n == 2;
    const struct value *first = pair ? v->item[0] : v, *last = pair ? v->item[1] : v;
    if (!is_whole(first, 0, n_head - 1) || !is_whole(last, 0, n_head - 1))
        return mistake(r->err, v->at,
                       "'where.heads' must be one head or [first, last] from 0 to %" PRId64,
                       n_head - 1);
    if (first->integer > last->integer)
        return mistake(r->err, v->at, "'where.heads' must be [first, last] in this order");
    where->head_begin = first->integer;
    where->head_end = last->integer + 1;
    return true;
}

/* dims: [begin, end), of the head width. */
static bool read_dims(const struct cell_reader *r, struct where *where, const struct value *v,
                      int64_t width)
{
    if (v->kind != VALUE_LIST || v->n != 2 || !is_whole(v->item[0], 0, width - 1) ||
        !is_whole(v->item[1], 1, width) || v->item[0]->integer >= v->item[1]->integer)
        return mistake(r->err, v->at,
                       "'where.dims' must be [begin, end] with 0 <= begin < end <= %" PRId64
                       ", the width of a head",
                       width);
    where->dim_begin = v->item[0]->integer;
    where->dim_end = v->item[1]->integer;
    return true;
}

/* across: whether it also acts in cross-attention, or only there. */
static bool read_across(const struct cell_reader *r, struct where *where, const struct value *v,
                        const struct model_config *model)
{
    bool only = v->kind == VALUE_TEXT && strcmp(v->text, "only") == 0;
    if (v->kind != VALUE_BOOL && !only)
        return mistake(r->err, v->at, "'where.across' must be true, false or only");
    if ((only || v->boolean) && model->arch != PEAT_SEQ2SEQ)
        return mistake(r->err, v->at,
                       "'where.across' needs model.arch: seq2seq, which has two sequences");
    where->across = only ? ACROSS_ONLY : v->boolean ? ACROSS_TOO : ACROSS_NOT;
    return true;
}

static bool read_where_in(const struct cell_reader *r, struct where *where, const struct value *v,
                          const struct model_config *model)
{
    const struct value *layers = value_get(v, "layers"), *heads = value_get(v, "heads"),
                       *dims = value_get(v, "dims"), *across = value_get(v, "across");
    return known_keys_only(v, "where", where_keys, r->err) &&
           (!layers || read_layers(r, where, layers, model->n_layer)) &&
           (!heads || read_heads(r, where, heads, model->n_head)) &&
           (!dims || read_dims(r, where, dims, model->d_model / model->n_head)) &&
           (!across || read_across(r, where, across, model));
}

/* Refuses a valid `where` that needs a larger model, or one of two sequences. */
static bool read_where(const struct cell_reader *r, struct where *where, const struct value *v,
                       const struct model_config *model)
{
    static const struct model_config largest = {.n_layer = INT64_C(1) << 30,
                                                .n_head = INT64_C(1) << 30,
                                                .d_model = INT64_C(1) << 60,
                                                .arch = PEAT_SEQ2SEQ};
    struct error ignored = {0};
    const struct cell_reader other = {r->registry, r->files, r->a, &ignored};
    bool ok = read_where_in(r, where, v, model);
    return read_where_in(&other, &(struct where){0}, v, &largest) ? point_refused(r, ok) : ok;
}

static bool read_label(const struct cell_reader *r, const struct value *v, const char *key, int n,
                       const char *const *label, int *index)
{
    const char *text = v->kind == VALUE_TEXT ? v->text : "";
    *index = name_index(label, n, text);
    if (*index >= 0)
        return true;
    mistake(r->err, v->at, "'%s' of a scheme must be one of ", key);
    error_add_names(r->err, text, label, n);
    return false;
}

static void keep(const struct cell_reader *r, struct value *given, const struct value *v,
                 const char *key)
{
    struct value *item = value_get(v, key);
    if (item)
        value_set(r->a, given, key, value_key_place(v, key), item);
}

bool scheme_use_read(const struct cell_reader *r, struct plugin_use *use, const struct value *v,
                     const struct model_config *model)
{
    *use = (struct plugin_use){0};
    const struct value *where = value_get(v, "where"), *at = value_get(v, "at"),
                       *share = value_get(v, "share");
    int site = SITE_INPUT, scope = 0;
    if (!(use_read(r, use, PEAT_SCHEME, v, scheme_keys) &&
          (!where || read_where(r, &use->where, where, model)) &&
          (!at || read_label(r, at, "at", 6, site_labels, &site)) &&
          (!share || read_label(r, share, "share", 2, share_labels, &scope))))
        return false;
    if (at && !plugin_use_has_stream(use))
        return mistake(r->err, at->at, "scheme '%s' gives no stream, so 'at' has nothing to place",
                       use->plugin->desc->id);
    use->where.at = (enum site)site;
    use->where.share = scope == 0 ? PEAT_ONCE : PEAT_PER_LAYER;
    keep(r, use->given, v, "where");
    if (site != SITE_INPUT)
        keep(r, use->given, v, "at");
    if (scope != 0)
        keep(r, use->given, v, "share");
    return true;
}

/* ---- identity ---- */

peat_status place_failure(struct error *err, struct place at, const struct error *inner)
{
    place_error(err, at, "%s", inner->text);
    if (err)
        err->status = inner->status;
    return inner->status;
}

static bool hash_paths(const struct cell_reader *r, const struct plugin_use *use,
                       const peat_param *row, struct value *identity)
{
    peat_strings paths = row_paths(row, use->config);
    struct place at = value_get(use->given, row->key)->at;
    struct json list = json_list(r->a);
    for (int64_t i = 0; i < paths.n; i++) {
        const char *hex = "";
        struct error why = {0};
        if (paths.item[i][0] && data_hash(r->files, paths.item[i], &hex, &why) != PEAT_OK) {
            place_failure(r->err, at, &why);
            return false;
        }
        json_add_text(list, hex);
    }
    value_set(r->a, identity, row->key, NOWHERE, list.v);
    return true;
}

bool plugin_use_identity(const struct cell_reader *r, const struct plugin_use *use,
                         struct value **identity)
{
    const peat_plugin *desc = use->plugin->desc;
    struct json own = json_map(r->a);
    json_put_text(own, "plugin", desc->id);
    if (strchr(value_get(use->given, "plugin")->text, '/'))
        json_put_text(own, "sha256", use->plugin->sha256);
    *identity = value_merge(r->a, use->given, own.v);
    for (const peat_param *row = desc->param; row && row->key; row++)
        if ((row->flags & PEAT_PATH) && value_get(use->given, row->key) &&
            !hash_paths(r, use, row, *identity))
            return false;
    return true;
}
