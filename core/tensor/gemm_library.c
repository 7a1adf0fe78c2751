/* SPDX-License-Identifier: MIT */
/* gemm_library.c: from a name to libraries that multiply. */
#include "gemm_library.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "gemm_notes.h"
#include "tensor/parallel.h"
#include "tensor/provider.h"

/* ---- now ---- */

/* The one that gets what `provider` leaves. */
static peat_status open_rest(const struct providers *p, const peat_gemm_provider *provider,
                             const peat_gemm_provider **rest, struct error *err)
{
    *rest = NULL;
    if (provider->rest == NULL)
        return PEAT_OK;
    peat_status status = provider_open(p, provider->rest, rest, err);
    if (status == PEAT_OK && (*rest)->rest != NULL)
        status = error_set(err, PEAT_INVALID, "'%s' leaves products to another provider too",
                           (*rest)->name);
    if (status != PEAT_OK)
        error_prefix(err, "gemm '%s' leaves some products to '%s'", provider->name, provider->rest);
    return status;
}

static peat_status open_providers(struct library *l, const char *name, struct arena *a,
                                  struct error *err)
{
    struct providers p;
    struct library found;
    peat_status status = providers_find(&p, a, err);
    if (status == PEAT_OK)
        status = provider_open(&p, name, &found.gemm, err);
    if (status == PEAT_OK)
        status = open_rest(&p, found.gemm, &found.rest, err);
    if (status == PEAT_OK)
        *l = found;
    return status;
}

/* OpenBLAS tries for ever, and oneDNN crashes, where a limit leaves too few addresses (ulimit -v)
 * or too little memory to write to (ulimit -d): two buffers and the libraries themselves, and a
 * buffer for each thread. */
static peat_status check_addresses(const char *name, int threads, struct error *err)
{
    struct rlimit data;
    const size_t mib = (size_t)1 << 20, buffer = 128 * mib;
    size_t n = (3 + (size_t)(threads < 1 ? 1 : threads)) * buffer;
    bool limited = getrlimit(RLIMIT_DATA, &data) == 0 && data.rlim_cur != RLIM_INFINITY;
    void *room = mmap(NULL, n, limited ? PROT_READ | PROT_WRITE : PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        return error_set(err, PEAT_NOMEM,
                         "gemm '%s' needs %zu MiB of addresses, which a limit (%s) does not leave",
                         name, n / mib, limited ? "ulimit -d or -v" : "ulimit -v");
    munmap(room, n);
    return PEAT_OK;
}

peat_status library_open(struct library *l, const char *name, int threads, struct error *err)
{
    peat_status status = check_addresses(name, threads, err);
    if (status != PEAT_OK)
        return status;
    struct arena a;
    arena_init(&a, "providers", 1 << 12);
    status = open_providers(l, name, &a, err);
    arena_release(&a);
    return status;
}

void library_identify(const struct library *l, struct arena *a, const char **libraries,
                      const char **kernels)
{
    char library[256] = "", kernel[256] = "";
    l->gemm->identify(library, kernel, sizeof(library));
    *libraries = arena_strdup(a, library);
    *kernels = arena_strdup(a, kernel);
    if (l->rest != NULL) {
        l->rest->identify(library, kernel, sizeof(library));
        *libraries = arena_printf(a, "%s + %s", *libraries, library);
        *kernels = arena_printf(a, "%s + %s", *kernels, kernel);
    }
}

/* ---- late ---- */

/* A note: which library a name is. Compared as bytes. */
struct told {
    char name[64], provider[64], libraries[512], kernels[256];
};
_Static_assert(sizeof(struct told) <= NOTE_MOST, "a note holds it");

/* False: one of the texts is too long, so that nobody is told. */
static bool describe(struct told *t, const struct library *l, const char *name)
{
    struct arena a;
    const char *libraries, *kernels;
    arena_init(&a, "names of libraries", 1 << 10);
    library_identify(l, &a, &libraries, &kernels);
    const struct {
        char *to;
        const char *from;
        size_t room;
    } text[] = {{t->name, name, sizeof(t->name)},
                {t->provider, l->gemm->name, sizeof(t->provider)},
                {t->libraries, libraries, sizeof(t->libraries)},
                {t->kernels, kernels, sizeof(t->kernels)}};
    bool fits = true;
    memset(t, 0, sizeof(*t));
    for (size_t i = 0; i < sizeof(text) / sizeof(*text); i++)
        fits =
            fits && (size_t)snprintf(text[i].to, text[i].room, "%s", text[i].from) < text[i].room;
    arena_release(&a);
    return fits;
}

void library_tell(const struct library *l, const char *name, int notes)
{
    struct told t;
    if (notes >= 0 && describe(&t, l, name))
        gemm_note_add(notes, NOTE_LIBRARY, &t, sizeof(t));
}

struct late_library {
    struct told told;
    int threads;
    struct library library; /* once it is open */
    atomic_bool open;
};

/* The first that was told of a name counts. */
static void take_told(void *ctx, const void *note)
{
    struct late_library *late = ctx;
    const struct told *t = note;
    if (late->told.provider[0] == '\0' && memcmp(t->name, late->told.name, sizeof(t->name)) == 0)
        late->told = *t;
}

struct late_library *late_library_told(const char *name, int threads, int notes)
{
    struct late_library *late = calloc(1, sizeof(*late));
    if (late == NULL)
        return NULL;
    late->threads = threads;
    snprintf(late->told.name, sizeof(late->told.name), "%s", name);
    gemm_notes_read(notes, NOTE_LIBRARY, sizeof(late->told), take_told, late);
    if (late->told.provider[0] != '\0')
        return late;
    free(late);
    return NULL;
}

void late_library_close(struct late_library *late)
{
    free(late);
}

struct library_names late_library_names(const struct late_library *late)
{
    return (struct library_names){late->told.provider, late->told.libraries, late->told.kernels};
}

static peat_status open_told(struct late_library *late, struct error *err)
{
    struct told now;
    struct library found;
    peat_status status = library_open(&found, late->told.name, late->threads, err);
    if (status != PEAT_OK)
        return status;
    if (!describe(&now, &found, late->told.name) || memcmp(&now, &late->told, sizeof(now)) != 0)
        return error_set(err, PEAT_INVALID,
                         "gemm '%s' was %s (%s) when this run began and is %s (%s) now; run again",
                         late->told.name, late->told.libraries, late->told.kernels, now.libraries,
                         now.kernels);
    late->library = found;
    return PEAT_OK;
}

static void open_once(void *ctx)
{
    struct late_library *late = ctx;
    struct error err;
    if (atomic_load(&late->open))
        return;
    if (open_told(late, &err) != PEAT_OK)
        give_up(&err);
    atomic_store(&late->open, true);
}

const struct library *late_library_open(struct late_library *late)
{
    if (!atomic_load(&late->open))
        parallel_alone(open_once, late);
    return &late->library;
}
