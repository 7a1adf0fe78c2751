/* SPDX-License-Identifier: MIT */
/* findrun.c: finds the run directory or the experiment file that a word means. */
#include "cli/findrun.h"

#include "cli/command.h"
#include "experiment/experiment.h"
#include "experiment/yamldoc.h"
#include "grid/rundir.h"

static const char runs_dir[] = "runs";

static bool is_run(const char *dir)
{
    return path_is_directory(dir) && dir_has(dir, "plan.json");
}

static bool is_yaml(const char *word)
{
    return path_ends_in(word, ".yaml") || path_ends_in(word, ".yml");
}

/* Whether the file is experiment.yaml or resolved.yaml of a run directory. */
static bool is_of_run(const char *file, const char *folder)
{
    const char *name = path_name(file);
    return is_run(folder) && (!strcmp(name, "experiment.yaml") || !strcmp(name, "resolved.yaml"));
}

/* The run directory of `peat run FILE`; NULL: the file cannot be read. */
static const char *run_of_file(const char *file, struct arena *a)
{
    struct value *root;
    const struct file_path folder = path_folder(file);
    if (is_of_run(file, folder.text))
        return arena_strdup(a, folder.text);
    if (yaml_load(a, file, &root, NULL) != PEAT_OK)
        return NULL;
    const struct value *name = value_get(root, "name");
    return name && name->text && experiment_is_name(name->text)
               ? arena_printf(a, "%s/%s", runs_dir, name->text)
               : NULL;
}

/* ---- similar names ---- */

struct near_names {
    struct arena *a;
    int n, room;
    const char **name;
};

/* Collects the entries of the folder that pass the test. */
static void collect(struct near_names *names, const char *folder, bool (*fits)(const char *path))
{
    char **entry;
    int n;
    dir_list(folder, &entry, &n, NULL);
    for (int i = 0; i < n; i++) {
        if (fits(path_in(folder, entry[i]).text))
            *ARENA_APPEND(names->a, names->name, names->n, names->room) =
                arena_strdup(names->a, entry[i]);
    }
    names_free(entry, n);
}

static const char *nearest_in(const char *folder, const char *word, bool (*fits)(const char *path),
                              struct arena *a)
{
    struct near_names names = {.a = a};
    collect(&names, folder, fits);
    const char *near = nearest_name(path_name(word), names.name, names.n);
    if (!near || strcmp(folder, ".") == 0)
        return near;
    return arena_printf(a, "%s/%s", folder, near);
}

int run_names(const char *const **name, struct arena *a)
{
    struct near_names names = {.a = a};
    collect(&names, runs_dir, is_run);
    *name = names.name;
    return names.n;
}

/* ---- words ---- */

const char *run_called(const char *word, struct arena *a)
{
    word = path_bare(word, a);
    if (is_run(word))
        return word;
    const char *inside = arena_printf(a, "%s/%s", runs_dir, word);
    if (!strchr(word, '/') && is_run(inside))
        return inside;
    return is_yaml(word) && file_exists(word) ? run_of_file(word, a) : NULL;
}

bool nearly_a_run(const char *word, struct arena *a, struct error *err)
{
    const struct file_path folder = path_folder(word);
    const char *near = nearest_in(folder.text, word, is_run, a);
    if (!near && strcmp(folder.text, ".") == 0)
        near = nearest_in(runs_dir, word, is_run, a);
    if (near)
        error_set(err, PEAT_NOTFOUND, "there is no run directory '%s'; did you mean '%s'?", word,
                  near);
    return near;
}

static void list_runs(const char *word, struct arena *a, struct error *err)
{
    struct near_names names = {.a = a};
    const struct file_path own = path_folder(word);
    const char *folder = strchr(word, '/') ? own.text : runs_dir;
    collect(&names, folder, is_run);
    if (names.n == 0) {
        error_set(err, PEAT_NOTFOUND, "there is no run directory '%s', nor another in '%s'", word,
                  folder);
        return;
    }
    error_set(err, PEAT_NOTFOUND, "there is no run directory '%s'; those in '%s' are ", word,
              folder);
    error_add_names(err, word, names.name, names.n);
}

const char *find_run(const char *word, struct arena *a, struct error *err)
{
    const char *run = run_called(word, a), *dir = path_bare(word, a);
    if (path_is_directory(run ? run : dir))
        return run ? run : dir;
    if (run)
        error_set(err, PEAT_NOTFOUND, "'%s' was not run yet: there is no '%s'", word, run);
    else if (file_exists(dir))
        error_set(err, PEAT_NOTFOUND, "'%s' is a file, not a run directory", word);
    else if (!nearly_a_run(dir, a, err))
        list_runs(dir, a, err);
    return NULL;
}

const char *find_experiment(const char *word, struct arena *a, struct error *err)
{
    const char *file = arena_printf(a, "%s.yaml", word);
    if (file_exists(word) || path_is_directory(word))
        return word;
    if (file_exists(file))
        return file;
    const char *run = run_called(word, a);
    const struct file_path folder = path_folder(word);
    if (run)
        return run;
    const char *near = nearest_in(folder.text, word, is_yaml, a);
    if (!near && !is_yaml(word))
        near = nearest_in(folder.text, file, is_yaml, a);
    if (near)
        error_set(err, PEAT_NOTFOUND, "there is no experiment '%s'; did you mean '%s'?", word,
                  near);
    return near || nearly_a_run(word, a, err) ? NULL : word;
}

const struct cell_files *cli_find_cell(const struct cli *cli)
{
    struct rundir *r = ARENA_NEW(cli->arena, struct rundir);
    int index;
    return rundir_read(cli->operand[0], r, cli->arena, cli->err) == PEAT_OK &&
                   rundir_find(r, cli->operand[1], &index, cli->err) == PEAT_OK
               ? &r->cell[index]
               : NULL;
}
