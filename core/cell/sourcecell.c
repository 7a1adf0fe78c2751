/* SPDX-License-Identifier: MIT */
/* sourcecell.c: finding a cell in a run directory and trusting its weights. */
#include "sourcecell.h"

#include "cell/cellfiles.h"
#include "train/generation.h"

/* One cell's directory. */
struct candidate {
    const char *id, *dir;
    struct value *config; /* NULL: it cannot be read */
};

static bool fits(const struct candidate *c, const char *name)
{
    const char *label = json_get_text(c->config, "label"), *hash = json_get_text(c->config, "hash");
    bool starts = hash && *name && strncmp(hash, name, strlen(name)) == 0;
    return strcmp(c->id, name) == 0 || same_text(label, name) || starts;
}

/* Every cell that there is. */
static peat_status list_cells(const char *run, struct arena *a, struct candidate **cell, int *n,
                              struct error *err)
{
    char **id;
    const char *cells = arena_printf(a, "%s/cells", run);
    if (!file_exists(cells))
        return error_set(err, PEAT_NOTFOUND, "'%s' is not a run directory: it has no cells", run);
    peat_status status = dir_list(cells, &id, n, err);
    if (status != PEAT_OK)
        return status;
    *cell = ARENA_ARRAY(a, *n + 1, struct candidate);
    for (int i = 0; i < *n; i++) {
        struct candidate *c = &(*cell)[i];
        c->id = arena_strdup(a, id[i]);
        c->dir = arena_printf(a, "%s/%s", cells, id[i]);
        record_read(c->dir, &config_record, a, &c->config, NULL);
    }
    names_free(id, *n);
    return PEAT_OK;
}

static peat_status find(const char *run, const char *name, struct arena *a,
                        const struct candidate **found, struct error *err)
{
    struct candidate *cell = NULL;
    int n = 0;
    *found = NULL;
    peat_status status = list_cells(run, a, &cell, &n, err);
    const char **label = ARENA_ARRAY(a, n + 1, const char *);
    for (int i = 0; status == PEAT_OK && i < n; i++) {
        const char *own = json_get_text(cell[i].config, "label");
        label[i] = own ? own : cell[i].id;
        if (!fits(&cell[i], name))
            continue;
        if (*found)
            return error_set(err, PEAT_INVALID, "'%s' is more than one cell of '%s': '%s' and '%s'",
                             name, run, (*found)->id, cell[i].id);
        *found = &cell[i];
    }
    if (status != PEAT_OK || *found)
        return status;
    error_set(err, PEAT_NOTFOUND, "'%s' has no cell '%s'", run, name);
    error_add_nearest(err, name, label, n);
    return PEAT_NOTFOUND;
}

/* The final weights among the files of the result. */
static const char *weights_of(const struct value *result, const char **sha256)
{
    const struct value *files = value_get(result, "files");
    for (int i = 0; files && i < files->n; i++) {
        *sha256 = json_get_text(files->item[i], "sha256");
        if (path_ends_in(files->key[i], "/" GENERATION_MODEL) && *sha256)
            return files->key[i];
    }
    return NULL;
}

static peat_status read_sealed(const struct candidate *c, const char *run, struct arena *a,
                               struct source_cell *cell, struct error *err)
{
    struct value *result = NULL, *meta = NULL;
    peat_status status = record_read(c->dir, &result_record, a, &result, err);
    if (status == PEAT_NOTFOUND)
        return error_set(err, PEAT_INVALID,
                         "cell '%s' of '%s' has not finished: only final weights are started from",
                         c->id, run);
    if (status != PEAT_OK)
        return status;
    if (!json_text_is(result, "state", "done"))
        return error_set(err, PEAT_INVALID, "cell '%s' of '%s' diverged", c->id, run);
    record_read(c->dir, &meta_record, a, &meta, NULL);
    const char *fault = cell_files_fault(c->dir, result, meta, LOOK_ALL, a);
    const char *name = weights_of(result, &cell->sha256);
    if (!fault && !name)
        fault = "its result is not sealed with weights";
    if (fault)
        return error_set(err, PEAT_INVALID, "cell '%s' of '%s' is damaged: %s", c->id, run, fault);
    cell->weights = arena_printf(a, "%s/%s", c->dir, name);
    cell->config = c->config;
    return PEAT_OK;
}

peat_status source_cell_find(const char *run, const char *name, struct arena *a,
                             struct source_cell *cell, struct error *err)
{
    const struct candidate *found;
    peat_status status = find(run, name, a, &found, err);
    return status == PEAT_OK ? read_sealed(found, run, a, cell, err) : status;
}
