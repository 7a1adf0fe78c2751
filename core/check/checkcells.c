/* SPDX-License-Identifier: MIT */
/* checkcells.c: the cells of a check, drawn or read from files. */
#include <dirent.h>

#include "checkrig.h"
#include "experiment/experiment.h"

enum { DRAWN = 16 }; /* cells of a check */

peat_status cell_read(const struct checked *s, const char *file, int n_word, char *const *word,
                      struct check_cell *cell, struct error *err)
{
    struct experiment *e = ARENA_NEW(s->arena, struct experiment);
    struct point *point;
    int n;
    bool dropped;
    *cell = (struct check_cell){.file = arena_strdup(s->arena, file)};
    peat_status status = experiment_load_alone(e, s->arena, file, n_word, word, err);
    if (status == PEAT_OK)
        status = experiment_points(e, &point, &n, err);
    if (status == PEAT_OK && n * e->n_seed != 1)
        status =
            error_set(err, PEAT_INVALID, "%s has %d cells: a check is of one", file, n * e->n_seed);
    if (status == PEAT_OK)
        status = cell_config_read(&cell->config, point->tree, *e->seed, s->registry, s->files,
                                  s->arena, &dropped, err);
    const struct plugin_use *use;
    for (int i = 0; status == PEAT_OK && (use = cell_plugin(&cell->config, i)); i++)
        if (use->plugin->desc == s->plugin->desc)
            return PEAT_OK;
    return status != PEAT_OK ? status
                             : error_set(err, PEAT_REFUSED, "%s has no %s '%s'", file,
                                         kind_name(s->plugin->desc->kind), s->plugin->desc->id);
}

const char *cell_text(const struct checked *s, const struct check_cell *cell)
{
    char *bytes = NULL;
    size_t n;
    if (file_read(cell->file, 0, &bytes, &n, NULL) != PEAT_OK)
        return NULL;
    const char *text = arena_strdup(s->arena, bytes);
    free(bytes);
    return text;
}

static void add_cell(const struct checked *s, struct check_cells *cells, const char *file,
                     struct check_outcome *o)
{
    struct check_cell cell;
    struct error err = {0};
    if (cell_read(s, file, 0, NULL, &cell, &err) == PEAT_OK)
        *ARENA_APPEND(s->arena, cells->item, cells->n, cells->room) = cell;
    else
        check_fail(o, "%s", err.text);
}

static int is_cell(const struct dirent *entry)
{
    return path_ends_in(entry->d_name, ".yaml");
}

static void read_folder(const struct checked *s, struct check_cells *cells, struct check_outcome *o)
{
    struct dirent **entry;
    int n = scandir(s->cells, &entry, is_cell, alphasort);
    for (int i = 0; i < n; i++) {
        add_cell(s, cells, path_in(s->cells, entry[i]->d_name).text, o);
        free(entry[i]);
    }
    if (n >= 0)
        free(entry);
}

static void draw_folder(const struct checked *s, struct check_outcome *o)
{
    struct error err = {0};
    int made = 0;
    for (int i = 0; i < DRAWN && (made > 0 || i < 3); i++) {
        const char *file = arena_printf(s->arena, "%s/%02d.yaml", s->cells, i);
        made += cell_drawn(s, 0, i, file, &err);
    }
    if (!made)
        check_fail(o, "it refuses every cell: %s", err.text);
}

const struct check_cells *cells_of(const struct checked *s, struct check_outcome *o)
{
    struct check_cells *cells = s->open;
    struct stat st;
    bool folder = stat(s->cells, &st) == 0 && S_ISDIR(st.st_mode);
    if (cells->n)
        return cells;
    if (!folder)
        add_cell(s, cells, s->cells, o);
    for (int i = 0; folder && i < 2 && !cells->n && o->verdict == CHECK_PASSED; i++) {
        if (i)
            draw_folder(s, o);
        read_folder(s, cells, o);
    }
    return cells;
}
