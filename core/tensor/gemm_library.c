/* SPDX-License-Identifier: MIT */
/* gemm_library.c: opens the libraries that multiply for a team. */
#include <sys/mman.h>
#include <sys/resource.h>

#include "gemm_bf16.h"
#include "tensor/dots.h"
#include "tensor/provider.h"

/* Opens the provider for the products that team->gemm refuses. */
static bool open_rest(const struct providers *p, struct team *team, struct error *err)
{
    const peat_gemm_provider *gemm = team->gemm;
    team->rest = NULL;
    if (!gemm->rest)
        return true;
    bool ok = provider_open(p, gemm->rest, &team->rest, err) == PEAT_OK &&
              (!team->rest->rest ||
               error_fail(err, PEAT_INVALID, "'%s' itself leaves products to another provider",
                          team->rest->name));
    if (!ok)
        error_prefix(err, "gemm '%s' leaves some products to '%s'", gemm->name, gemm->rest);
    return ok;
}

/* Checks that a limit on addresses (ulimit -v) or on memory to write to (ulimit -d) leaves the
 * library enough: two buffers, the libraries themselves, and a buffer for each thread. With less
 * OpenBLAS tries for ever and oneDNN crashes. */
static bool check_addresses(const char *name, int threads, struct error *err)
{
    struct rlimit data;
    const size_t mib = (size_t)1 << 20, buffer = 128 * mib;
    size_t n = (3 + (size_t)(threads < 1 ? 1 : threads)) * buffer;
    bool limited = getrlimit(RLIMIT_DATA, &data) == 0 && data.rlim_cur != RLIM_INFINITY;
    void *room = mmap(NULL, n, limited ? PROT_READ | PROT_WRITE : PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        return error_fail(err, PEAT_NOMEM,
                          "gemm '%s' needs %zu MiB of addresses, which a limit (%s) does not leave",
                          name, n / mib, limited ? "ulimit -d or -v" : "ulimit -v");
    munmap(room, n);
    return true;
}

peat_status gemm_check(const char *name, struct error *err)
{
    struct arena a;
    struct providers p;
    arena_init(&a, "providers", 1 << 12);
    peat_status status = providers_find(&p, &a, err);
    if (status == PEAT_OK)
        status = provider_check(&p, name, err);
    arena_release(&a);
    return status;
}

peat_status gemm_start(struct team *team, const char *name, struct error *err)
{
    struct arena a;
    struct providers p;
    struct team started = *team;
    struct error why = {0};
    arena_init(&a, "providers", 1 << 12);
    if (check_addresses(name, team->threads, &why) && providers_find(&p, &a, &why) == PEAT_OK &&
        provider_open(&p, name, &started.gemm, &why) == PEAT_OK && open_rest(&p, &started, &why))
        *team = started;
    arena_release(&a);
    return error_copy(err, &why);
}

const char *gemm_name(const struct team *team)
{
    return team->gemm->name;
}

/* Version of the rounding: raised when it changes the bits of bf16 cells. 1: operands of products
 * by weights; 2: fused attention too; 3: the MLP keeps its slopes in bf16. */
enum { BF16_WAY = 3 };

void gemm_identify(const struct team *team, struct arena *a, const char **libraries,
                   const char **kernels)
{
    char library[256] = "", kernel[256] = "";
    team->gemm->identify(library, kernel, sizeof(library));
    *libraries = arena_strdup(a, library);
    *kernels = arena_strdup(a, kernel);
    if (team->rest) {
        team->rest->identify(library, kernel, sizeof(library));
        *libraries = arena_printf(a, "%s + %s", *libraries, library);
        *kernels = arena_printf(a, "%s + %s", *kernels, kernel);
    }
    if (team->bf16)
        *kernels = arena_printf(a, "%s + bf16 %d%s", *kernels, BF16_WAY,
                                dots_available() ? "" : " without dots");
}

static peat_status check_bf16(const peat_gemm_provider *provider, struct error *err)
{
    const char *missing = provider->bf16 ? provider->bf16->missing() : "it has no bf16 products";
    if (!missing)
        return PEAT_OK;
    return error_set(err, PEAT_INVALID, "gemm '%s': %s%s", provider->name, missing,
                     provider->bf16 ? "" : "; 'onednn' has them, on a CPU with bf16 instructions");
}

peat_status gemm_check_bf16(const char *name, struct error *err)
{
    struct team team = {.threads = 1};
    peat_status status = gemm_start(&team, name, err);
    return status == PEAT_OK ? check_bf16(team.gemm, err) : status;
}

peat_status gemm_start_bf16(struct team *team, struct error *err)
{
    peat_status status = check_bf16(team->gemm, err);
    if (status != PEAT_OK)
        return status;
    team->bf16 = bf16_products_open(team->gemm->bf16, team->threads);
    return team->bf16 ? PEAT_OK : error_set(err, PEAT_NOMEM, "out of memory for bf16 products");
}

void gemm_stop(struct team *team)
{
    if (team->bf16)
        bf16_products_close(team->bf16);
    team->bf16 = NULL;
}
