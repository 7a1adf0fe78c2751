/* SPDX-License-Identifier: MIT */
/*
 * fuzz_verbs.c: whatever one file of a run directory contains, every verb that reads the directory
 * ends with one of its exit codes. The input's first byte selects the file. Nothing is sealed, so
 * that a change is read and not only found. Programs and plugins are out of reach: figures are made
 * and not drawn.
 */

#include "cli/verbs.h"
#include "fuzz/fuzz.h"
#include "grid/stale.h"
#include "grid/verify.h"
#include "report/results.h"

#define DONE "cells/none.sum.s0-00000000/"
#define LEFT "cells/rotary.sum.s0-00000001/"

#define PLANNED(index, scheme, hash)                                                               \
    "{\"index\":" index ",\"id\":\"" scheme ".sum.s0-" hash "\",\"label\":\"" scheme ".sum.s0\","  \
    "\"axes\":{\"position.scheme\":\"" scheme "\"},\"scheme\":\"" scheme "\",\"combine\":\"sum\"," \
    "\"task\":\"text\",\"seed\":0,\"hash\":\"" hash "\",\"params\":1,\"params_positional\":0,"     \
    "\"flops_per_token\":1.0,\"attention_path\":\"fused\",\"injection\":\"x\",\"matched\":null,"   \
    "\"baseline\":null}"
#define CONFIG(scheme, hash)                                                                       \
    "{\"format\":1,\"hash\":\"" hash "\",\"label\":\"" scheme ".sum.s0\",\"seed\":0,"              \
    "\"eval\":{\"lengths\":[8]},\"train\":{\"steps\":3},\"task\":{\"plugin\":\"text\"}}"

#define DRAWN                                                                                      \
    "{\"schemes\":[{\"title\":\"rotary\",\"name\":\"rotary\",\"width\":8,\"model_heads\":2,"       \
    "\"what\":\"bias\",\"numbers\":\"n\",\"all_heads\":9,\"heads\":1,\"rows\":2,\"columns\":2,"    \
    "\"values\":\"1 -0.5 null "                                                                    \
    "1e9\"},{\"title\":\"a\",\"name\":\"a\",\"width\":8,\"model_heads\":2,"                        \
    "\"why\":\"b\",\"again\":true}]}"

static const struct {
    const char *path, *text;
} files[] = {
    {"plan.json",
     "{\"format\":1,\"experiment\":\"x\",\"axes\":[{\"key\":\"position.scheme\",\"labels\":"
     "[\"none\",\"rotary\"]}],\"seeds\":[0],\"report\":{\"metric\":\"bpb\",\"goal\":\"metric\","
     "\"baseline\":{\"position.scheme\":\"none\"},\"at\":\"final\"},\"cells\":[" PLANNED(
         "0", "none", "00000000") "," PLANNED("1", "rotary",
                                              "00000001") "],\"dropped\":[\"x\"],\"skipped\":[{"
                                                          "\"label\":\"a\",\"reason\":\"b\"}]}"},
    {DONE "config.json", CONFIG("none", "00000000")},
    {DONE "result.json",
     "{\"format\":1,\"hash\":\"00000000\",\"state\":\"done\",\"diverged\":null,\"steps\":3,"
     "\"measures\":[{\"metric\":\"bpb\",\"split\":\"valid\",\"length\":8,\"step\":3,\"value\":1.5,"
     "\"untrained\":false}],\"metrics\":[{\"name\":\"bpb\",\"goal\":\"min\"}],\"length_unit\":"
     "\"tokens\",\"tokens_per_s\":10,\"step_ms_median\":1.5,\"peak_rss_kib\":1,\"wall_s\":1,"
     "\"cpu_s\":1}"},
    {DONE "meta.json", "{\"engine\":\"0\",\"plugins\":[{\"kind\":\"task\",\"id\":\"text\","
                       "\"version\":\"1\",\"sha256\":\"aa\"}],\"data\":[]}"},
    {DONE "metrics.jsonl",
     "{\"step\":1,\"metric\":\"bpb\",\"split\":\"valid\",\"length\":8,\"value\":2.5}\n"
     "{\"step\":2,\"metric\":\"bpb\",\"split\":\"valid\",\"length\":8,\"value\":2}\n"
     "{\"step\":3,\"metric\":\"bpb\",\"split\":\"valid\",\"length\":8,\"value\":1.5}\n"},
    {DONE "diagnose.json", "{\"probes\":{\"summary\":\"s\",\"layers\":[{\"position_r2\":0.5}]},"
                           "\"order\":{\"skipped\":\"why\"},\"logits\":{\"terms\":[]}}"},
    {LEFT "config.json", CONFIG("rotary", "00000001")},
    {LEFT "end.json", "{\"state\":\"failed\",\"reason\":\"why\",\"signal\":null,\"exit\":1}"},
    {LEFT "running.json", "{\"pid\":1,\"host\":\"h\"}"},
    {LEFT "log.txt", "peat: why\n"},
    {"schemes.json", DRAWN},
};

enum { FILES = sizeof(files) / sizeof(*files) };

static char *dir;

static void put(const char *name, const void *text, size_t n)
{
    char *path = path_join(dir, name);
    FILE *f = fopen(path, "we");
    BUG_UNLESS(f && fwrite(text, 1, n, f) == n && fclose(f) == 0);
    free(path);
}

static pid_t maker;

/* A sanitized process that a verb starts runs the handlers registered here, too. */
static void remove_directory(void)
{
    if (getpid() == maker)
        dir_remove(dir, NULL);
}

static void make(const char *name)
{
    char *path = path_join(dir, name);
    BUG_UNLESS(dir_make(path, NULL) == PEAT_OK);
    free(path);
}

/* Made once, removed at exit. */
static void set_up(void)
{
    if (dir)
        return;
    dir = own_dir_pattern("verbs");
    BUG_UNLESS(mkdtemp(dir));
    maker = getpid();
    atexit(remove_directory);
    make(DONE);
    make(LEFT);
    setenv("PATH", "/nonexistent", 1);
    setenv("PEAT_PLUGIN_PATH", "/nonexistent", 1);
    for (int i = 0; i < FILES; i++)
        put(files[i].path, files[i].text, strlen(files[i].text));
}

/* ---- verbs ---- */

/* @: the run directory. */
static const struct {
    const struct cli_command *command;
    const char *word[8];
} verbs[] = {
    {&cmd_status, {"status", "@"}},
    {&cmd_status, {"status", "@", "--json"}},
    {&cmd_results, {"results", "@"}},
    {&cmd_results, {"results", "@", "--injection", "--cols", "scheme"}},
    {&cmd_results, {"results", "@", "--format", "md", "--only-changed"}},
    {&cmd_results, {"results", "@", "--format", "csv"}},
    {&cmd_results, {"results", "@", "--format", "csv", "--all-steps", "--only-changed"}},
    {&cmd_results, {"results", "@", "--format", "tex"}},
    {&cmd_results, {"results", "@", "--format", "json"}},
    {&cmd_results, {"results", "@", "--format", "jsonl"}},
    {&cmd_results, {"results", "@", "@"}},
    {&cmd_compare, {"compare", "@", "none", "rotary"}},
    {&cmd_compare, {"compare", "@", "none", "rotary", "--json"}},
    {&cmd_logs, {"logs", "@", "1"}},
    {&cmd_logs, {"logs", "@", "rotary.sum.s0"}},
    {&cmd_export, {"export", "@", "0", "-o", "/dev/null"}},
};

static void run_verb(size_t i)
{
    char *argv[9] = {NULL};
    int argc = 0;
    for (; argc < 8 && verbs[i].word[argc]; argc++)
        argv[argc] = verbs[i].word[argc][0] == '@' ? dir : (char *)verbs[i].word[argc];
    int code = cli_dispatch(verbs[i].command, argc, argv);
    BUG_UNLESS(code == CLI_DONE || code == CLI_FAILED || code == CLI_USAGE);
}

/* What `peat run` asks of each cell, with plugins that are not there. */
static void plan_again(struct rundir *run, struct arena *a)
{
    struct plan_cell cell[2] = {{.index = 0}, {.index = 1}};
    const struct plan plan = {.n = 2, .cell = cell};
    stale_find(run, &plan, a);
    for (int i = 0; i < run->n; i++)
        cell_lacks_evaluation(run->cell[i].config, run->cell[i].result);
}

static void read_in_depth(void)
{
    struct arena a;
    struct verification v;
    struct results r;
    struct error err = {0};
    char *const dirs[] = {dir};
    arena_init(&a, "fuzz", 1 << 16);
    peat_status status = verify_dir(dir, &v, &a, &err);
    BUG_UNLESS(status == PEAT_OK || err.text[0]);
    if (status == PEAT_OK) {
        fingerprint_of(&v.dir, &a);
        plan_again(&v.dir, &a);
    }
    results_read(&r, 1, dirs, &(struct results_options){.metric = NULL}, &a, &err);
    arena_release(&a);
}

/* A sixth of the verbs, by the input's length: inputs of a kind have many lengths. What is printed
 * goes nowhere: there would be thousands of pages. */
static void run_all(size_t n)
{
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC), kept[] = {dup(1), dup(2)};
    for (int i = 0; i < 2; i++)
        dup2(nowhere, i + 1);
    for (size_t i = n % 6; i < sizeof(verbs) / sizeof(*verbs); i += 6)
        run_verb(i);
    fflush(stdout);
    for (int i = 0; i < 2; i++) {
        dup2(kept[i], i + 1);
        close(kept[i]);
    }
    close(nowhere);
    read_in_depth();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    if (n == 0)
        return 0;
    int which = bytes[0] % FILES;
    set_up();
    put(files[which].path, bytes + 1, n - 1);
    run_all(n);
    put(files[which].path, files[which].text, strlen(files[which].text));
    return 0;
}
