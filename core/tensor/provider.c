/* SPDX-License-Identifier: MIT */
/* provider.c: finds a provider by its name and starts it. */
#include "tensor/provider.h"

#include "tensor/levels.h"

/* ---- installed providers ---- */

/* Providers that `auto` knows. */
static const char *const known[] = {"onednn", "openblas"};
enum { KNOWN = sizeof(known) / sizeof(*known) };

/* The rule of `auto`: the fastest first, which is oneDNN with AVX-512 and OpenBLAS without
 * (docs/performance.md). It asks for instructions and never for times, so that a machine always
 * chooses alike. */
static int rank_of(const char *name)
{
    for (int i = 0; i < KNOWN; i++)
        if (strcmp(name, known[i]) == 0)
            return cpu_has_avx512() ? i : KNOWN - 1 - i;
    return KNOWN;
}

static int compare_files(const void *a, const void *b)
{
    const struct provider_file *x = a, *y = b;
    int order = rank_of(x->name) - rank_of(y->name);
    return order ? order : strcmp(x->name, y->name);
}

static const struct provider_file *file_of(const struct providers *p, const char *name)
{
    for (int i = 0; i < p->n; i++)
        if (!strcmp(p->file[i].name, name))
            return &p->file[i];
    return NULL;
}

static void list_directory(struct providers *p, const char *dir)
{
    char **entry;
    int n;
    dir_list(dir, &entry, &n, NULL);
    for (int i = 0; i < n; i++) {
        const char *name = object_stem(p->arena, entry[i]);
        if (!object_is_named(entry[i]) || file_of(p, name))
            continue;
        *ARENA_APPEND(p->arena, p->file, p->n, p->room) =
            (struct provider_file){name, arena_printf(p->arena, "%s/%s", dir, entry[i])};
    }
    names_free(entry, n);
}

peat_status providers_find(struct providers *p, struct arena *a, struct error *err)
{
    *p = (struct providers){.arena = a};
    peat_status status = plugin_dirs_find(&p->dirs, a, err);
    for (int i = 0; status == PEAT_OK && i < p->dirs.n; i++)
        list_directory(p, arena_printf(a, "%s/gemm", p->dirs.dir[i]));
    if (p->n > 0)
        qsort(p->file, (size_t)p->n, sizeof(*p->file), compare_files);
    return status;
}

const char *const *providers_words(const struct providers *p)
{
    const char **word = ARENA_ARRAY(p->arena, p->n + 2, const char *);
    word[0] = "auto";
    for (int i = 0; i < p->n; i++)
        word[i + 1] = p->file[i].name;
    return word;
}

const char *providers_missing(const struct providers *p)
{
    const char *text = NULL;
    for (int i = 0; i < KNOWN; i++)
        if (!file_of(p, known[i]))
            text = arena_item(p->arena, text, "%s", known[i]);
    return text;
}

/* ---- checking a name ---- */

static peat_status refuse_empty(const struct providers *p, struct error *err)
{
    struct strbuf where = STRBUF_NEW;
    plugin_dirs_add(&p->dirs, &where);
    peat_status status = error_set(
        err, PEAT_INVALID, "no provider of matrix products is installed: there is no gemm/*.so%s",
        where.text);
    strbuf_release(&where);
    return status;
}

peat_status provider_check(const struct providers *p, const char *name, struct error *err)
{
    if (p->n == 0)
        return refuse_empty(p, err);
    if (!strcmp(name, "auto") || file_of(p, name))
        return PEAT_OK;
    peat_status status =
        error_set(err, PEAT_INVALID, "there is no provider of matrix products '%s'; found: ", name);
    error_add_names(err, name, providers_words(p), p->n + 1);
    return status;
}

/* ---- its descriptor ---- */

/* The size in its first version, which later got `adds_bias`. */
static bool fits_bf16(const peat_gemm_bf16 *b)
{
    return b->size == offsetof(peat_gemm_bf16, adds_bias) || b->size == sizeof(*b);
}

static const char *fault_of(const peat_gemm_provider *d, const char *name)
{
    if (!d || d->magic != PEAT_GEMM_MAGIC)
        return PEAT_GEMM_ENTRY_NAME " returned no descriptor";
    if (d->abi != PEAT_GEMM_ABI)
        return "it was built for another version of peat/gemm.h";
    if (d->size != sizeof(*d) || (d->bf16 && !fits_bf16(d->bf16)) ||
        (d->lapack && d->lapack->size != sizeof(*d->lapack)))
        return "its descriptor, or a part of it, has another size than in this peat/gemm.h";
    if (!d->name || strcmp(d->name, name) != 0)
        return "its name is not that of its file";
    if (!d->summary || !d->licence || !d->start || !d->identify || !d->multiply)
        return "its descriptor lacks summary, licence, start, identify or multiply";
    if (d->bf16 && (!d->bf16->missing || !d->bf16->open || !d->bf16->close || !d->bf16->multiply))
        return "its bf16 lacks missing, open, close or multiply";
    return NULL;
}

static bool read_descriptor(const struct object *o, const struct provider_file *file,
                            const peat_gemm_provider **provider, struct error *err)
{
    void *symbol = object_symbol(o, PEAT_GEMM_ENTRY_NAME);
    if (!symbol)
        return error_fail(err, PEAT_INVALID,
                          "'%s' is not a provider of matrix products: it has no %s", file->path,
                          PEAT_GEMM_ENTRY_NAME);
    /* POSIX: a symbol's address may be copied into a pointer to a function. */
    peat_gemm_entry_fn entry;
    memcpy(&entry, &symbol, sizeof(entry));
    *provider = entry();
    const char *fault = fault_of(*provider, file->name);
    return !fault || error_fail(err, PEAT_INVALID, "'%s': %s", file->path, fault);
}

static bool start(const peat_gemm_provider *provider, struct error *err)
{
    char why[512] = "it could not be started";
    return provider->start(why, sizeof(why)) == PEAT_OK ||
           error_fail(err, PEAT_FAILED, "gemm '%s': %s", provider->name, why);
}

peat_status provider_open(const struct providers *p, const char *name,
                          const peat_gemm_provider **provider, struct error *err)
{
    struct object o;
    struct error why = {0};
    peat_status status = provider_check(p, name, err);
    if (status != PEAT_OK)
        return status;
    const struct provider_file *file = !strcmp(name, "auto") ? &p->file[0] : file_of(p, name);
    const peat_gemm_provider *found = NULL;
    if (object_open(&o, "provider", file->path, OBJECT_UNHASHED, p->arena, &why) == PEAT_OK &&
        read_descriptor(&o, file, &found, &why) && start(found, &why))
        *provider = found;
    return error_copy(err, &why);
}
