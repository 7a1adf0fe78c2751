/* SPDX-License-Identifier: MIT */
/* loadplan.c: the steps from a file to a plan, which several commands share. */
#include "cli/loadplan.h"

#include "cell/engine.h"
#include "cli/findrun.h"
#include "experiment/resolved.h"
#include "grid/rundir.h"

/* Requires that a resolved.yaml in a run directory is as `peat run` wrote it. */
static bool check_resolved(const char *path, struct arena *a, struct error *err)
{
    return strcmp(path_name(path), RESOLVED_FILE) != 0 ||
           rundir_check_sources(path_folder(path).text, a, err) == PEAT_OK;
}

/* A run directory, or the name of one, instead of a file means its resolved.yaml. */
static bool find_file(struct loaded_plan *l, const char *operand, const char **path,
                      struct error *err)
{
    *path = find_experiment(operand, &l->arena, err);
    if (!*path || !path_is_directory(*path))
        return *path;
    l->dir = *path;
    *path = arena_strdup(&l->arena, path_in(l->dir, RESOLVED_FILE).text);
    return file_exists(*path) || error_fail(err, PEAT_NOTFOUND,
                                            "'%s' is a directory without " RESOLVED_FILE
                                            ", which `peat run` writes; name the experiment file",
                                            l->dir);
}

static void say_change(struct loaded_plan *l)
{
    const char *change = resolved_change(&l->plan, &l->arena);
    if (change)
        cli_say("%s", change);
}

bool loaded_plan_open(struct loaded_plan *l, const struct cli *cli, enum plan_depth depth,
                      struct fixes *fixes, struct error *err)
{
    *l = (struct loaded_plan){0};
    arena_init(&l->arena, "experiment", 1 << 18);
    const char *path;
    bool made = find_file(l, cli->operand[0], &path, err) && check_resolved(path, &l->arena, err) &&
                experiment_load(&l->experiment, &l->arena, path, cli->n_operand - 1,
                                cli->operand + 1, fixes, err) == PEAT_OK &&
                plan_make_apart(&l->plan, &l->experiment, depth, &l->arena, err) == PEAT_OK;
    if (made)
        say_change(l);
    else
        arena_release(&l->arena);
    return made;
}

const char *loaded_plan_dir(struct loaded_plan *l, const char *given)
{
    const char *dir = given ? given : l->dir;
    if (!dir)
        dir = arena_printf(&l->arena, "runs/%s", l->experiment.name);
    rundir_adopt(dir, &l->plan, &l->arena);
    return dir;
}

bool loaded_plan_has_engine(struct loaded_plan *l, struct error *err)
{
    const struct run_settings *s = &l->experiment.run;
    const struct engine_place place = {(enum run_engine)s->engine, (enum device)s->device};
    return s->engine == ENGINE_PEAT || engine_check(place, &l->arena, err) == PEAT_OK;
}

void loaded_plan_close(struct loaded_plan *l)
{
    arena_release(&l->arena);
}
