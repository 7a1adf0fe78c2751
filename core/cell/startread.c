/* SPDX-License-Identifier: MIT */
/* startread.c: reads `words.safetensors` or {from: runs/a, cell: learned.sum.s0, ...} into a
 * weight_start. */
#include "cellreader.h"

#include "cell/cellfiles.h"
#include "plugin/params.h"

/* ---- a finished cell of another run, whose weights are read ---- */

/* The directory of one cell. */
struct candidate {
    const char *id, *dir; /* id NULL: no cell */
    struct value *config; /* NULL: it cannot be read */
};

static bool fits(const struct candidate *c, const char *name)
{
    const char *label = json_get_text(c->config, "label"), *hash = json_get_text(c->config, "hash");
    const char *dash = strrchr(c->id, '-');
    size_t n = strlen(name);
    bool starts = hash && *name && strncmp(hash, name, n) == 0;
    return strcmp(c->id, name) == 0 || same_text(label, name) || starts ||
           (dash == c->id + n && strncmp(c->id, name, n) == 0);
}

/* True where plan.json has the cell: cells of earlier plans may have the same label. */
static bool is_planned(const struct value *plan, const char *id)
{
    const struct value *cell;
    for (int i = 0; (cell = json_get_item(plan, "cells", i)); i++)
        if (json_text_is(cell, "id", id))
            return true;
    return false;
}

/* The cell of this id, also without the hash, label or start of its hash; id NULL: none. Cells of
 * the plan are preferred to those of earlier plans. *other: a second one that fits as well. label:
 * gets the labels of all.
 */
static struct candidate pick(const char *cells, int n, char *const *id, const char *name,
                             const struct value *plan, const char **label, const char **other,
                             struct arena *a)
{
    struct candidate found = {NULL};
    bool is_of_plan = false;
    *other = NULL;
    for (int i = 0; i < n; i++) {
        struct candidate c = {arena_strdup(a, id[i]), arena_printf(a, "%s/%s", cells, id[i]), NULL};
        record_read(c.dir, &config_record, a, &c.config, NULL);
        label[i] = json_text_or(c.config, "label", c.id);
        bool planned = fits(&c, name) && is_planned(plan, c.id);
        if (!fits(&c, name) || (is_of_plan && !planned))
            continue;
        if (!found.id || (planned && !is_of_plan)) {
            found = c;
            *other = NULL;
        } else if (!*other) {
            *other = c.id;
        }
        is_of_plan = planned;
    }
    return found;
}

static peat_status find_cell(const char *run, const char *name, struct arena *a,
                             struct candidate *found, struct error *err)
{
    char **id;
    int n;
    struct value *plan = NULL;
    const char *cells = arena_printf(a, "%s/cells", run), *other;
    if (!file_exists(cells))
        return error_set(err, PEAT_NOTFOUND, "'%s' has neither a file '%s' nor cells of a run", run,
                         name);
    peat_status status = dir_list(cells, &id, &n, err);
    if (status != PEAT_OK)
        return status;
    const char **label = ARENA_ARRAY(a, n + 1, const char *);
    json_read_file(run, "plan.json", a, &plan, NULL);
    *found = pick(cells, n, id, name, plan, label, &other, a);
    names_free(id, n);
    if (other)
        return error_set(err, PEAT_INVALID, "'%s' is more than one cell of '%s': '%s' and '%s'",
                         name, run, found->id, other);
    if (found->id)
        return PEAT_OK;
    error_set(err, PEAT_NOTFOUND, "'%s' has no cell '%s'", run, name);
    error_add_nearest(err, name, label, n);
    return PEAT_NOTFOUND;
}

/* Takes the final weights of a cell, which must have finished, and all its files must be those that
 * its result was sealed with. */
static peat_status take_weights(struct weight_start *s, const struct candidate *c,
                                const char **sealed, struct arena *a, struct error *err)
{
    const char *run = s->from;
    struct value *result = NULL, *meta = NULL;
    peat_status status = record_read(c->dir, &result_record, a, &result, err);
    if (status == PEAT_NOTFOUND)
        return error_set(err, PEAT_INVALID,
                         "cell '%s' of '%s' has not finished, and a start needs final weights",
                         c->id, run);
    if (status != PEAT_OK)
        return status;
    if (!json_text_is(result, "state", "done"))
        return error_set(err, PEAT_INVALID, "cell '%s' of '%s' diverged", c->id, run);
    record_read(c->dir, &meta_record, a, &meta, NULL);
    const char *fault = cell_files_fault(c->dir, result, meta, LOOK_ALL, a);
    const char *name = result_weights(result, sealed);
    if (!fault && !name)
        fault = "its result is not sealed with weights";
    if (fault)
        return error_set(err, PEAT_INVALID, "cell '%s' of '%s' is damaged: %s", c->id, run, fault);
    s->file = arena_printf(a, "%s/%s", c->dir, name);
    s->config = c->config;
    return PEAT_OK;
}

#define START(type, field, ...) PARAM_ROW(type, struct weight_start, field, #field, __VA_ARGS__)

static const char *const as_labels[] = {"same", "sum_of_concat", NULL};

const peat_param start_rows[] = {
    START(PEAT_STRINGS, to, "parameters that get these values, by name or pattern; not given: all"),
    START(PEAT_ENUM, as, "removed; old cells that have sum_of_concat are still read",
          .labels = as_labels),
    START(PEAT_STRING, from, "a safetensors file, or a directory",
          .flags = PEAT_REQUIRED | PEAT_PATH),
    START(PEAT_STRING, cell, "a file of the directory, or a cell of the run; {seed} is the seed"),
    START(PEAT_STRING, tensor, "the tensor's name in the file, if it differs"),
    START(PEAT_BOOL, frozen, "not trained, as with model.freeze"),
    PEAT_PARAM_END,
};

static const char seed_word[] = "{seed}";

static const peat_param *rows_of(bool embedding)
{
    return &start_rows[embedding ? START_FIRST_OF_EMBEDDING : 0];
}

/* ---- reading ---- */

static bool read_one(const struct cell_reader *r, struct cell_config *c, const struct value *v,
                     bool embedding)
{
    static const char *const token_table[] = {"token.weight"}, *const all[] = {"*"};
    struct weight_start *s = &c->start[c->n_start++];
    struct value *map = (struct value *)(uintptr_t)v;
    if (v->kind == VALUE_TEXT) {
        map = value_map(r->a, v->at);
        value_set(r->a, map, "from", v->at, (struct value *)(uintptr_t)v);
    }
    if (params_fill(rows_of(embedding), s, map, embedding ? "embedding in model" : "start in model",
                    NULL, r->a, r->err) != PEAT_OK)
        return false;
    s->embedding = embedding;
    s->at = value_get(map, "from")->at;
    if (embedding)
        s->to = (peat_strings){1, token_table};
    else if (s->to.n == 0)
        s->to = (peat_strings){1, all};
    return true;
}

bool starts_read(const struct cell_reader *r, struct cell_config *c, const struct value *model)
{
    const struct value *start = value_get(model, "start"),
                       *embedding = value_get(model, "embedding");
    bool list = start && start->kind == VALUE_LIST;
    int n = list ? start->n : start && start->kind != VALUE_NULL;
    bool ok = true;
    c->n_start = 0;
    c->start = ARENA_ARRAY(r->a, n + 1, struct weight_start);
    for (int i = 0; ok && i < n; i++)
        ok = read_one(r, c, list ? start->item[i] : start, false);
    return ok && (!embedding || embedding->kind == VALUE_NULL || read_one(r, c, embedding, true));
}

/* ---- the files ---- */

static const char *with_seed(const char *cell, int64_t seed, struct arena *a)
{
    const char *word = strstr(cell, seed_word);
    if (!word)
        return cell;
    return arena_printf(a, "%.*s%" PRId64 "%s", (int)(word - cell), cell, seed,
                        word + sizeof(seed_word) - 1);
}

static bool varies(const struct weight_start *s)
{
    return strstr(s->cell, seed_word) != NULL;
}

bool starts_vary(const struct cell_config *c)
{
    for (int i = 0; i < c->n_start; i++)
        if (varies(&c->start[i]))
            return true;
    return false;
}

static bool is_kind(const char *path, mode_t kind)
{
    struct stat st;
    return stat(path, &st) == 0 && (st.st_mode & S_IFMT) == kind;
}

static peat_status find_file(struct weight_start *s, int64_t seed, struct arena *a,
                             const char **sealed, struct error *err)
{
    struct candidate cell = {NULL};
    const char *name = with_seed(s->cell, seed, a),
               *inside = arena_printf(a, "%s/%s", s->from, name);
    s->file = s->from;
    *sealed = NULL;
    if (!is_kind(s->from, S_IFDIR))
        return *s->cell ? error_set(err, PEAT_INVALID,
                                    "'cell' is given, but '%s' is not a directory", s->from)
                        : PEAT_OK;
    if (!*s->cell)
        return error_set(err, PEAT_INVALID,
                         "'%s' is a directory: 'cell' must name a cell or a file of it", s->from);
    if (is_kind(inside, S_IFREG)) {
        s->file = inside;
        return PEAT_OK;
    }
    peat_status status = find_cell(s->from, name, a, &cell, err);
    return status == PEAT_OK ? take_weights(s, &cell, sealed, a, err) : status;
}

static peat_status find_one(struct weight_start *s, const struct cell_config *c, struct arena *a,
                            struct error *err)
{
    const char *sealed;
    struct error why = {0};
    peat_status status = find_file(s, c->seed, a, &sealed, &why);
    if (status == PEAT_OK)
        status = data_hash(c->files, s->file, &s->sha256, &why);
    if (status == PEAT_OK && sealed && strcmp(sealed, s->sha256) != 0)
        status = error_set(&why, PEAT_INVALID,
                           "'%s' is not the file that its result was sealed with", s->file);
    return status == PEAT_OK ? PEAT_OK : place_error(err, s->at, "%s", why.text);
}

peat_status starts_find(struct cell_config *c, struct arena *a, struct error *err)
{
    struct weight_start *own = ARENA_ARRAY(a, c->n_start + 1, struct weight_start);
    peat_status status = PEAT_OK;
    for (int i = 0; status == PEAT_OK && i < c->n_start; i++) {
        own[i] = c->start[i];
        status = find_one(&own[i], c, a, err);
    }
    c->start = own;
    return status;
}

/* ---- identity ---- */

/* The settings that were given; for the identity, with the file's content instead of its path. */
static struct value *one_value(const struct weight_start *s, bool identity, struct arena *a)
{
    const struct weight_start none = {.from = "", .cell = "", .tensor = ""};
    const struct value *all = params_value(rows_of(s->embedding), s, a),
                       *preset = params_value(rows_of(s->embedding), &none, a);
    struct json m = json_map(a);
    for (int i = 0; i < all->n; i++)
        if (!value_equal(all->item[i], preset->item[i]))
            json_put(m, all->key[i], all->item[i]);
    if (!identity)
        value_get(m.v, "from")->at = s->at;
    else if (varies(s))
        json_put(m, "from", NULL);
    else
        json_put_text(m, "from", s->sha256);
    if (identity && !varies(s))
        json_put(m, "cell", NULL);
    return m.v;
}

void starts_put(const struct cell_config *c, struct json model, bool identity)
{
    struct json list = json_list(model.a);
    for (int i = 0; i < c->n_start; i++) {
        struct value *one = one_value(&c->start[i], identity, model.a);
        if (c->start[i].embedding)
            json_put(model, "embedding", one);
        else
            json_add(list, one);
    }
    if (list.v->n > 0)
        json_put(model, "start", list.v);
}

struct value *starts_hashes(const struct cell_config *c, struct arena *a)
{
    struct json list = json_list(a);
    for (int i = 0; i < c->n_start; i++)
        if (varies(&c->start[i]))
            json_add_text(list, c->start[i].sha256);
    return list.v;
}
