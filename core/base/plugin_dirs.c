/* SPDX-License-Identifier: MIT */
/* plugin_dirs.c: finds the directories from the environment and the program's own path. */

#include "base/base.h"

#define DIRECTORIES_MAX ((int)(sizeof(((struct plugin_dirs *)0)->dir) / sizeof(const char *)))

static peat_status add_directory(struct plugin_dirs *d, const char *path, struct error *err)
{
    if (d->n == DIRECTORIES_MAX)
        return error_set(err, PEAT_INVALID, "PEAT_PLUGIN_PATH names more than %d directories",
                         DIRECTORIES_MAX - 2);
    for (int i = 0; i < d->n; i++)
        if (!strcmp(d->dir[i], path))
            return PEAT_OK;
    d->dir[d->n++] = path;
    return PEAT_OK;
}

static peat_status add_path_list(struct plugin_dirs *d, const char *list, struct arena *a,
                                 struct error *err)
{
    peat_status status = PEAT_OK;
    for (const char *path; status == PEAT_OK && (path = list_next(a, &list, ':'));)
        status = *path ? add_directory(d, path, err) : PEAT_OK;
    return status;
}

/* <directory of the program>/.. ; NULL without /proc. */
static char *program_prefix(struct arena *a)
{
    char *exe = realpath("/proc/self/exe", NULL);
    if (!exe)
        return NULL;
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(exe, '/');
        if (slash)
            *slash = '\0';
    }
    char *prefix = arena_strdup(a, exe);
    free(exe);
    return prefix;
}

const char *installed_dir(struct arena *a, const char *dir)
{
    const char *prefix = dir[0] == '/' ? "" : program_prefix(a);
    return prefix ? arena_printf(a, "%s%s%s", prefix, *prefix ? "/" : "", dir) : NULL;
}

static peat_status add_installed(struct plugin_dirs *d, struct arena *a, struct error *err)
{
    const char *lib = installed_dir(a, PEAT_LIBDIR);
    return lib ? add_directory(d, arena_printf(a, "%s/%s", lib, PEAT_PLUGIN_SUBDIR), err) : PEAT_OK;
}

peat_status plugin_dirs_find(struct plugin_dirs *d, struct arena *a, struct error *err)
{
    *d = (struct plugin_dirs){0};
    const char *list = getenv("PEAT_PLUGIN_PATH");
    const char *home = getenv("HOME");
    peat_status status = list ? add_path_list(d, list, a, err) : PEAT_OK;
    if (status == PEAT_OK && home && *home)
        status =
            add_directory(d, arena_printf(a, "%s/.local/lib/%s", home, PEAT_PLUGIN_SUBDIR), err);
    return status == PEAT_OK ? add_installed(d, a, err) : status;
}

void plugin_dirs_add(const struct plugin_dirs *d, struct strbuf *out)
{
    strbuf_add(out, " (searched in");
    for (int i = 0; i < d->n; i++)
        strbuf_addf(out, "%s '%s'", i ? "," : "", d->dir[i]);
    strbuf_add(out, ")");
}
