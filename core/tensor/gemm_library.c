/* SPDX-License-Identifier: MIT */
/* gemm_library.c: from a name to libraries that multiply. */
#include "gemm_library.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include "tensor/provider.h"

/* The one that gets what `provider` leaves. */
static peat_status open_rest(const struct providers *p, const peat_gemm_provider *provider,
                             const peat_gemm_provider **rest, struct error *err)
{
    *rest = NULL;
    if (!provider->rest)
        return PEAT_OK;
    peat_status status = provider_open(p, provider->rest, rest, err);
    if (status == PEAT_OK && (*rest)->rest)
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
    if (l->rest) {
        l->rest->identify(library, kernel, sizeof(library));
        *libraries = arena_printf(a, "%s + %s", *libraries, library);
        *kernels = arena_printf(a, "%s + %s", *kernels, kernel);
    }
}
