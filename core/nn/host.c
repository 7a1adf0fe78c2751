/* SPDX-License-Identifier: MIT */
/* host.c: the engine's table for plugins. */
#include <stdio.h>

#include <peat/plugin.h>

#include "base/log.h"
#include "base/rng.h"
#include "nn/host.h"
#include "services.h"

/* stderr of a cell is its log.txt. */
static void host_log(const peat_host *h, const char *fmt, ...)
{
    (void)h;
    va_list args;
    va_start(args, fmt);
    line_print(stderr, "plugin: ", fmt, args);
    va_end(args);
}

/* No extension is defined yet. */
static const void *host_extension(const peat_host *h, const char *name)
{
    (void)h;
    (void)name;
    return NULL;
}

static const peat_host table = {
    .size = sizeof(table),
    .abi_major = PEAT_ABI_MAJOR,
    .abi_minor = PEAT_ABI_MINOR,
    .param = service_param,
    .bound = service_bound,
    .refuse = service_refuse,
    .alloc = service_alloc,
    .resolved = service_resolved,
    .read_file = service_read_file,
    .use = service_use,
    .project = service_project,
    .scratch = service_scratch,
    .fill = service_fill,
    .fill_index = service_fill_index,
    .rows = service_rows,
    .pos = service_pos,
    .delta = service_delta,
    .random = service_random,
    .random_row = service_random_row,
    .probe = service_probe,
    .draw = rng_bits,
    .log = host_log,
    .extension = host_extension,
    .token_table = service_token_table,
    .resolved_list = service_resolved_list,
    .file_kind = service_file_kind,
    .npy_ids = service_npy_ids,
};

const peat_host *host_table(void)
{
    return &table;
}
