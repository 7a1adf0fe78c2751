/* SPDX-License-Identifier: MIT */
/* cellmeta.c: provenance. */
#include "cell/cellmeta.h"

#include "cell/cellfiles.h"
#include "cell/start.h"
#include "plugin/params.h"
#include "tensor/gemm.h"

/* ---- the bits of the C library's mathematics here ---- */

#ifdef __GLIBC__
#include <gnu/libc-version.h>
#define LIBC "glibc %s", gnu_get_libc_version()
#else
#define LIBC "the C library of %s", "this system"
#endif

/* A function and the range of its arguments. */
struct sample {
    double (*f)(double);
    double from, to;
};

static double power(double x)
{
    return pow(10000.0, -x); /* a function like the frequencies of schemes */
}

static const struct sample samples[] = {
    {sin, 0.0, 500.0},   {cos, 0.0, 500.0}, {exp, -20.0, 20.0},
    {exp2, -20.0, 20.0}, {log, 1e-3, 50.0}, {log1p, -0.9, 9.0},
    {tanh, -4.0, 4.0},   {erf, -4.0, 4.0},  {power, 0.0, 1.0},
};
enum { SAMPLES = sizeof(samples) / sizeof(*samples), ARGUMENTS = 2048 };

/* "glibc 2.36, results 1f3a9c02": the library, and the start of a hash over the results of its
 * functions for some thousand arguments. The library picks variants by the CPU. They round
 * differently and have no names, so their results distinguish them. */
static const char *libm_identify(struct arena *a)
{
    struct arena_mark mark = arena_mark(a);
    double *result = ARENA_ARRAY(a, SAMPLES * ARGUMENTS, double);
    char hex[HASH_HEX];
    for (int i = 0; i < SAMPLES; i++) {
        const struct sample *s = &samples[i];
        for (int k = 0; k < ARGUMENTS; k++)
            result[i * ARGUMENTS + k] = s->f(s->from + (s->to - s->from) * (k + 0.5) / ARGUMENTS);
    }
    hash_bytes(result, SAMPLES * ARGUMENTS * sizeof(*result), hex);
    arena_rewind(a, mark);
    const char *library = arena_printf(a, LIBC);
    return arena_printf(a, "%s, results %.8s", library, hex);
}

const char *const deciding_keys[] = {"engine", "arithmetic", "gemm",  "blas", "blas_core",
                                     "libm",   "compiler",   "build", NULL};

const char *engine_version(void)
{
    return PEAT_VERSION;
}

static void add_plugin(struct json list, const struct plugin_use *use)
{
    const peat_plugin *d = use->plugin->desc;
    struct json m = json_add_map(list);
    json_put_text(m, "kind", kind_name(d->kind));
    json_put_text(m, "id", d->id);
    json_put_text(m, "version", d->version);
    json_put_text(m, "abi",
                  arena_printf(m.a, "%u.%u", (unsigned)d->abi_major, (unsigned)d->abi_minor));
    json_put_text(m, "path", use->plugin->path);
    json_put_text(m, "sha256", use->plugin->sha256);
    if (use->plugin->built)
        json_put_text(m, "built", use->plugin->built);
}

struct value *cell_plugins(const struct cell_config *c, struct arena *a)
{
    struct json list = json_list(a);
    const struct plugin_use *use;
    for (int i = 0; (use = cell_plugin(c, i)); i++)
        add_plugin(list, use);
    return list.v;
}

const struct value *plugins_changed(const struct value *present, const struct value *recorded)
{
    for (int i = 0; present && i < present->n; i++) {
        const struct value *now = present->item[i];
        bool listed = false, same = false;
        for (int k = 0; recorded && k < recorded->n; k++) {
            const struct value *was = recorded->item[k];
            bool named = same_text(json_get_text(now, "kind"), json_get_text(was, "kind")) &&
                         same_text(json_get_text(now, "id"), json_get_text(was, "id"));
            const char *hash = json_get_text(was, "sha256");
            listed = listed || (named && hash);
            same = same || (named && same_text(json_get_text(now, "sha256"), hash));
        }
        if (listed && !same)
            return now;
    }
    return NULL;
}

static bool add_file(struct json list, struct data_files *f, const char *path, struct error *err)
{
    const char *hex;
    if (data_hash(f, path, &hex, err) != PEAT_OK)
        return false;
    struct json file = json_add_map(list);
    json_put_text(file, "path", path);
    json_put_text(file, "sha256", hex);
    return true;
}

/* The entry of a file, with the run directory where the file belongs to a cell. */
static void add_start(struct json files, const struct weight_start *s)
{
    struct json file = json_add_map(files);
    json_put_text(file, "path", s->file);
    json_put_text(file, "sha256", s->sha256);
    if (s->config)
        json_put_text(file, "run", s->from);
}

bool cell_data(const struct cell_config *c, struct arena *a, struct value **list, struct error *err)
{
    struct json files = json_list(a);
    const struct plugin_use *use;
    const char *path;
    for (int i = 0; (use = cell_plugin(c, i)); i++)
        for (int k = 0; (path = params_path(use->plugin->desc->param, use->config, k)); k++)
            if (!add_file(files, c->files, path, err))
                return false;
    for (int i = 0; i < c->n_start; i++)
        add_start(files, &c->start[i]);
    *list = files.v;
    return true;
}

static const char *cpu_name(struct arena *a)
{
    FILE *f = fopen("/proc/cpuinfo", "r");
    char line[256];
    const char *name = "unknown";
    while (f && fgets(line, sizeof(line), f)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon)
            continue;
        colon += strspn(colon, ": \t");
        colon[strcspn(colon, "\n")] = 0;
        name = arena_strdup(a, colon);
        break;
    }
    if (f)
        fclose(f);
    return name;
}

bool cell_meta(const struct cell_config *c, const struct team *team, struct arena *a,
               struct value **meta, struct error *err)
{
    struct json m = json_map(a);
    struct value *data;
    if (!cell_data(c, a, &data, err))
        return false;
    const char *libraries, *kernels;
    gemm_identify(team, a, &libraries, &kernels);
    char host[256] = "unknown", utc[32];
    gethostname(host, sizeof(host) - 1);
    clock_utc(utc, sizeof(utc));
    json_put_int(m, "format", meta_record.format);
    json_put(m, "plugins", cell_plugins(c, m.a));
    json_put(m, "data", data);
    json_put_text(m, "engine", engine_version());
    json_put_text(m, "arithmetic", arena_printf(a, "%d", CELL_ARITHMETIC));
    json_put_text(m, "abi", PEAT_ABI);
    json_put_text(m, "host", host);
    json_put_text(m, "cpu", cpu_name(a));
    json_put_text(m, "gemm", gemm_name(team));
    json_put_text(m, "blas", libraries);
    json_put_text(m, "blas_core", kernels);
    json_put_text(m, "libm", libm_identify(a));
    json_put_text(m, "precision", c->train.precision == PRECISION_BF16 ? "bf16" : "fp32");
    json_put_text(m, "compiler", PEAT_COMPILER);
    json_put_text(m, "build", PEAT_BUILD_TYPE);
    json_put_int(m, "threads", team->threads);
    json_put_text(m, "started_utc", utc);
    *meta = m.v;
    return true;
}
