/* SPDX-License-Identifier: MIT */
/* object.h: shared objects that are opened while the program runs: plugins and providers. */
#pragma once

#include "base/arena.h"
#include "base/hash.h"
#include "base/strbuf.h"

struct object {
    const char *path; /* absolute */
    void *handle;
    char sha256[HASH_HEX]; /* "" after OBJECT_UNHASHED */
};

/* Hashing reads the whole file; otherwise only its head and its table of segments are read. */
enum object_hash { OBJECT_HASHED, OBJECT_UNHASHED };

/* Opens it with RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE; never closed. A file that is not a whole
 * shared object for this machine is refused before the dynamic linker reads it. A file that changes
 * how numbers are rounded is refused too, and the rounding is restored. `what` is for messages:
 * "plugin". */
peat_status object_open(struct object *o, const char *what, const char *path, enum object_hash hash,
                        struct arena *a, struct error *err);
/* The text of the file's note of `owner` (base/elfcheck.h), without loading it, in *text; NULL: no
 * such note. Makes the same checks as object_open does before the dynamic linker. */
peat_status object_note(const char *what, const char *path, const char *owner, const char **text,
                        struct arena *a, struct error *err);
/* NULL: no such symbol. */
void *object_symbol(const struct object *o, const char *name);
/* The file's name without .so. */
const char *object_stem(struct arena *a, const char *path);
bool object_is_named(const char *path); /* NAME.so, NAME not empty */

/* MXCSR, which sets rounding, traps and denormals of this thread: loading an object linked with
 * -ffast-math changes it for everything that runs later. Without its low six bits, which only
 * record past exceptions. */
unsigned rounding_get(void);
void rounding_set(unsigned mode);

/* The directories that are searched for plugins and providers. */
struct plugin_dirs {
    int n;
    const char *dir[34];
};

/* The directories of PEAT_PLUGIN_PATH (colon-separated), ~/.local/lib/peat/plugins-<abi>, and
 * <directory of the program>/../<libdir>/peat/plugins-<abi>, each once. They need not exist. */
peat_status plugin_dirs_find(struct plugin_dirs *d, struct arena *a, struct error *err);
/* A directory of the installation; `dir` is absolute, or below the PREFIX of the program
 * PREFIX/bin. NULL: /proc is missing. */
const char *installed_dir(struct arena *a, const char *dir);
/* " (searched in 'a', 'b')" */
void plugin_dirs_add(const struct plugin_dirs *d, struct strbuf *out);
