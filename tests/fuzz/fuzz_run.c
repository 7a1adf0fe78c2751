/* SPDX-License-Identifier: MIT */
/*
 * fuzz_run.c: whatever one file of a run directory contains, its readers do not break. The input's
 * first byte selects the file: plan.json, config.json, result.json, meta.json, end.json,
 * metrics.jsonl.
 */

#include "fuzz/fuzz.h"
#include "grid/stale.h"
#include "report/results.h"
#include "report/table.h"

#define CELL "cells/none.sum.s0-00000000/"

static const struct {
    const char *path, *text;
} files[] = {
    {"plan.json",
     "{\"format\":1,\"experiment\":\"x\",\"axes\":[{\"key\":\"position.scheme\",\"labels\":"
     "[\"none\"]}],\"seeds\":[0],\"report\":{\"metric\":\"bpb\",\"goal\":\"metric\",\"baseline\":"
     "null,\"at\":\"final\"},\"cells\":[{\"index\":0,\"id\":\"none.sum.s0-00000000\",\"label\":"
     "\"none.sum.s0\",\"axes\":{\"position.scheme\":\"none\"},\"scheme\":\"none\",\"combine\":"
     "\"sum\",\"task\":\"text\",\"seed\":0,\"hash\":\"00000000\",\"params\":1,"
     "\"params_positional\":0,\"flops_per_token\":1.0,\"attention_path\":\"fused\","
     "\"injection\":\"x\",\"matched\":null,\"baseline\":null}],\"dropped\":[]}"},
    {CELL "config.json", "{\"format\":1,\"hash\":\"00000000\",\"label\":\"none.sum.s0\",\"seed\":0,"
                         "\"eval\":{\"lengths\":[8]},\"train\":{\"steps\":3}}"},
    {CELL "result.json",
     "{\"format\":1,\"hash\":\"00000000\",\"state\":\"done\",\"diverged\":null,\"steps\":3,"
     "\"measures\":[{\"metric\":\"bpb\",\"split\":\"valid\",\"length\":8,\"step\":3,\"value\":1.5,"
     "\"untrained\":false}],\"metrics\":[{\"name\":\"bpb\",\"goal\":\"min\"}],\"length_unit\":"
     "\"tokens\",\"tokens_per_s\":10,\"step_ms_median\":1.5,\"peak_rss_kib\":1,\"wall_s\":1,"
     "\"cpu_s\":1}"},
    {CELL "meta.json", "{\"engine\":\"0\",\"plugins\":[{\"kind\":\"task\",\"id\":\"text\","
                       "\"version\":\"1\",\"sha256\":\"aa\"}],\"data\":[]}"},
    {CELL "end.json", "{\"state\":\"failed\",\"reason\":\"why\"}"},
    {CELL "metrics.jsonl",
     "{\"step\":1,\"metric\":\"loss\",\"split\":\"train\",\"length\":8,\"value\":1.5}\n"},
};

enum { FILES = sizeof(files) / sizeof(*files) };

static void put(const char *dir, const char *name, const void *text, size_t n)
{
    char *path = path_join(dir, name);
    FILE *f = fopen(path, "we");
    BUG_UNLESS(f && fwrite(text, 1, n, f) == n && fclose(f) == 0);
    free(path);
}

static void remove_directory(void);

/* Made once, removed at exit. */
static char *directory(void)
{
    static struct own_dir dir;
    if (!dir.path) {
        BUG_UNLESS(own_dir_open(&dir, "fuzz", NULL) == PEAT_OK);
        char *cell = path_join(dir.path, CELL);
        BUG_UNLESS(dir_make(cell, NULL) == PEAT_OK);
        free(cell);
        for (int i = 0; i < FILES; i++)
            put(dir.path, files[i].path, files[i].text, strlen(files[i].text));
        atexit(remove_directory);
    }
    return dir.path;
}

static void remove_directory(void)
{
    dir_remove(directory(), NULL);
}

static void show(char *dir, struct arena *a)
{
    struct results r;
    const struct results_options options = {.metric = NULL};
    struct error err = {0};
    struct strbuf out = STRBUF_NEW;
    char *const dirs[] = {dir};
    peat_status status = results_read(&r, 1, dirs, &options, a, &err);
    BUG_UNLESS(status == PEAT_OK || err.text[0]);
    for (int all_steps = 0; status == PEAT_OK && all_steps < 2; all_steps++)
        status = format_csv(&r, all_steps, NULL, all_steps, &out, &err);
    BUG_UNLESS(status == PEAT_OK || err.text[0]);
    strbuf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    if (n == 0)
        return 0;
    struct arena arena;
    struct rundir run;
    struct error err = {0};
    int which = bytes[0] % FILES;
    char *dir = directory();
    arena_init(&arena, "fuzz", 1 << 16);
    put(dir, files[which].path, bytes + 1, n - 1);
    peat_status status = rundir_read(dir, &run, &arena, &err);
    BUG_UNLESS(status == PEAT_OK || err.text[0]);
    for (int i = 0; status == PEAT_OK && i < run.n; i++)
        cell_lacks_evaluation(run.cell[i].config, run.cell[i].result);
    show(dir, &arena);
    put(dir, files[which].path, files[which].text, strlen(files[which].text));
    arena_release(&arena);
    return 0;
}
