/* SPDX-License-Identifier: MIT */
/*
 * registry.h: plugins by name or path.
 *
 * Search order: a path as given; the directories of base/object.h. In each NAME is looked for
 * as <kind>/NAME.so and NAME.so. The first hit wins.
 */
#pragma once

#include <peat/plugin.h>

#include "process/trail.h"

struct plugin {
    const peat_plugin *desc;
    const char *name;      /* its file's name without .so, which users write */
    const char *path;      /* absolute */
    char sha256[HASH_HEX]; /* "" where it was loaded for a listing */
    const char *built;     /* the compiler's words; NULL: not noted, or loaded for a listing */
};

struct registry {
    struct arena *arena; /* run */
    struct trail *trail; /* where the loading of a plugin is recorded; NULL: nowhere */
    struct plugin_dirs dirs;
    int n, room;
    const struct plugin **item; /* plugins loaded so far */
    struct place at;            /* place of the present request, for the trail */
    bool any_imports;           /* loads a plugin that imports_check refuses: to be checked */
    int n_skip;                 /* files that registry_load_all skips */
    const char *const *skip;
};

peat_status registry_init(struct registry *r, struct arena *arena, struct trail *trail,
                          struct error *err);
const char *kind_name(peat_kind kind); /* "scheme", "combine", "task" */

/* Loads the plugin of this kind called `name`: "rotary", "scheme/rotary", or a path (it ends in
 * .so, or has a '/' not preceded by a kind), relative to the file of `at`. Unknown names: an error
 * placed at `at` with the nearest name, or the directories searched. A plugin with another ABI or
 * kind, that breaks the contract, or with imports that elf_symbols.h refuses, is refused with the
 * reason. Loaded twice, it is the same
 * pointer. */
peat_status registry_find(struct registry *r, peat_kind kind, const char *name, struct place at,
                          const struct plugin **plugin, struct error *err);
/* Refuses, as registry_find does, a name for which no directory has a file. Loads nothing. Accepts
 * any path, and any name where no directory has plugins of the kind. */
peat_status registry_expect(struct registry *r, peat_kind kind, const char *name, struct place at,
                            struct error *err);
/* The names of the files in the directories that may be plugins of this kind; returns their number.
 * Loads nothing. A name in two directories occurs twice. */
int registry_names(struct registry *r, peat_kind kind, const char *const **name);
/* A plugin of this kind in a later directory, which the one at `path` hides because their files
 * have the same name; NULL: there is none, or `path` is in no directory. Loads nothing. */
const char *registry_hidden(const struct registry *r, const char *kind, const char *path);
/* True where a name is a path. */
bool registry_is_path(const char *name);
/* For the command line, where the kind is not known: NAME, kind/NAME or a path. A name that exists
 * in two kinds is an error that lists both. */
peat_status registry_find_any(struct registry *r, const char *name, const struct plugin **plugin,
                              struct error *err);
/* Loads all plugins of all directories; those that fail to load are reported through `bad` (path
 * and reason), not as an error. Sorted by kind, then name; shadowed ones left out. Their files are
 * not hashed: for listings. */
void registry_load_all(struct registry *r,
                       void (*bad)(void *ctx, const char *path, const char *why), void *ctx);

/* pythonplugin.c: a scheme or combination that is Python alone, from its .py file. */
peat_status python_plugin_load(struct arena *a, const char *path, const struct plugin **plugin,
                               struct error *err);
/* loader.c: opens one file (base/object.h) and checks its contract before anything of it is used.
 * Never closed. */
peat_status plugin_load(struct arena *a, const char *path, enum object_hash hash,
                        const struct plugin **plugin, struct error *err);
/* Checks whether a descriptor can be used, and runs none of its functions. `whole` is a copy in `a`
 * whose interface has every field of this program's headers. */
bool plugin_contract(struct arena *a, const peat_plugin *given, const peat_plugin **whole,
                     const char *path, struct error *err);
/* Names of hooks, needs and traits, comma-separated, for listings; "" for none. */
const char *plugin_hooks(const peat_plugin *desc, struct arena *a);
const char *plugin_traits(const peat_plugin *desc, struct arena *a);
