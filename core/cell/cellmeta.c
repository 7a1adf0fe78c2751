/* SPDX-License-Identifier: MIT */
/* cellmeta.c: provenance. */
#include "cell/cellmeta.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/jsonfile.h"
#include "tensor/gemm.h"

const char *engine_version(void)
{
    return PEAT_VERSION;
}

static void add_plugin(struct arena *a, struct value *list, const struct plugin_use *use)
{
    const peat_plugin *d = use->plugin->desc;
    struct value *m = value_map(a, NOWHERE);
    member_set_text(a, m, "kind", kind_name(d->kind));
    member_set_text(a, m, "id", d->id);
    member_set_text(a, m, "version", d->version);
    member_set_text(a, m, "abi",
                    arena_printf(a, "%u.%u", (unsigned)d->abi_major, (unsigned)d->abi_minor));
    member_set_text(a, m, "path", use->plugin->path);
    member_set_text(a, m, "sha256", use->plugin->sha256);
    value_append(a, list, m);
}

static struct value *list_plugins(const struct cell_config *c, struct arena *a)
{
    struct value *list = value_list(a, NOWHERE);
    add_plugin(a, list, &c->task);
    for (int i = 0; i < c->n_scheme; i++)
        add_plugin(a, list, &c->scheme[i]);
    if (c->has_combine)
        add_plugin(a, list, &c->combine);
    return list;
}

static peat_status add_file(const char *path, struct arena *a, struct value *list,
                            struct error *err)
{
    char hex[HASH_HEX];
    peat_status status = hash_file(path, hex, err);
    if (status != PEAT_OK)
        return status;
    struct value *m = value_map(a, NOWHERE);
    member_set_text(a, m, "path", arena_strdup(a, path));
    member_set_text(a, m, "sha256", arena_strdup(a, hex));
    value_append(a, list, m);
    return PEAT_OK;
}

peat_status plugin_data(const struct plugin_use *use, struct arena *a, struct value **list,
                        struct error *err)
{
    *list = value_list(a, NOWHERE);
    peat_status status = PEAT_OK;
    for (const peat_param *row = use->plugin->desc->param; row && row->key; row++) {
        const void *field = (const char *)use->config + row->offset;
        if (!(row->flags & PEAT_PATH))
            continue;
        if (row->type == PEAT_STRING) {
            const char *path = *(const char *const *)field;
            if (path && *path)
                status = add_file(path, a, *list, err);
        } else {
            const peat_strings *paths = field;
            for (int64_t i = 0; status == PEAT_OK && i < paths->n; i++)
                status = add_file(paths->item[i], a, *list, err);
        }
        if (status != PEAT_OK)
            return status;
    }
    return status;
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

peat_status cell_meta(const struct cell_config *c, const struct team *team, struct arena *a,
                      struct value **meta, struct error *err)
{
    struct value *m = *meta = value_map(a, NOWHERE), *data;
    peat_status status = plugin_data(&c->task, a, &data, err);
    if (status != PEAT_OK)
        return status;
    char host[256] = "unknown", utc[32];
    gethostname(host, sizeof(host) - 1);
    clock_utc(utc, sizeof(utc));
    member_set(a, m, "plugins", list_plugins(c, a));
    member_set(a, m, "data", data);
    member_set_text(a, m, "engine", engine_version());
    member_set_text(a, m, "abi", PEAT_ABI);
    member_set_text(a, m, "host", arena_strdup(a, host));
    member_set_text(a, m, "cpu", cpu_name(a));
    member_set_text(a, m, "gemm", team->gemm->name);
    member_set_text(a, m, "blas", team->gemm->library());
    member_set_text(a, m, "blas_core", team->gemm->kernels());
    member_set_text(a, m, "precision", c->train.precision == PRECISION_BF16 ? "bf16" : "fp32");
    member_set_text(a, m, "compiler", PEAT_COMPILER);
    member_set_text(a, m, "build", PEAT_BUILD_TYPE);
    member_set_integer(a, m, "threads", team->threads);
    member_set_text(a, m, "started_utc", arena_strdup(a, utc));
    return PEAT_OK;
}
