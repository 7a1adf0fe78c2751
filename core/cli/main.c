/* SPDX-License-Identifier: MIT */
/* main.c: the program: a list of verbs. */
#include <stdio.h>

#include <peat/plugin.h>

#include "cli/verbs.h"
#include "process/apart.h"
#include "tensor/gemm.h"
#include "tensor/provider.h"

/* For apart_run: the library behind the provider called `name`, and the kernels that it picked. */
static peat_status identify(void *name, struct trail *trail, struct strbuf *out, struct error *err)
{
    struct team team = {.threads = 1};
    (void)trail;
    peat_status status = gemm_start(&team, name, err);
    if (status != PEAT_OK)
        return status;
    char library[256] = "", kernels[256] = "";
    team.gemm->identify(library, kernels, sizeof(library));
    strbuf_addf(out, "%s, kernels for %s", library, kernels);
    return PEAT_OK;
}

/* What crashes or cannot be loaded is said, and the next one is asked. */
static void print_library(const char *name)
{
    struct strbuf library;
    struct error err = {0};
    strbuf_init(&library);
    peat_status status = apart_run(identify, (void *)(uintptr_t)name, apart_seconds(), APART_SILENT,
                                   &library, NULL, &err);
    cli_print("  %s: %s\n", name, status == PEAT_OK ? library.text : err.text);
    strbuf_release(&library);
}

static void print_providers(struct arena *a)
{
    struct providers p;
    struct error err = {0};
    if (providers_find(&p, a, &err) != PEAT_OK) {
        cli_say("%s", err.text);
        return;
    }
    cli_print("matrix products by ");
    for (int i = 0; i < p.n; i++)
        cli_print("%s%s%s", i ? ", " : "", p.file[i].name, i ? "" : " (auto)");
    const char *missing = providers_missing(&p);
    cli_print("%s%s%s\n", p.n ? "" : "nothing", missing ? "; not installed: " : "",
              missing ? missing : "");
    for (int i = 0; i < p.n; i++)
        print_library(p.file[i].name);
}

static int print_version(struct cli *cli, const char *argument)
{
    (void)cli, (void)argument;
    cli_print("peat %s\nplugin ABI %s\n", PEAT_VERSION, PEAT_ABI);
    struct arena arena;
    arena_init(&arena, "version", 1 << 12);
    print_providers(&arena);
    arena_release(&arena);
    return CLI_DONE;
}

static const struct cli_option options[] = {
    CLI_OTHER('V', "version", NULL, print_version, "print versions, and what multiplies"),
};

static const struct cli_command program = {
    .name = "peat",
    .summary = "train and compare positional encodings",
    .about = "Trains every cell of an experiment that crosses positional schemes with ways to\n"
             "combine them with the tokens, and puts the results into one table.",
    .example = "peat plugins list",
    .option = options,
    .n_option = 1,
    .verb = (const struct cli_command *const[]){&cmd_bench, &cmd_bundle, &cmd_cell, &cmd_compare,
                                                &cmd_diagnose, &cmd_export, &cmd_inspect, &cmd_logs,
                                                &cmd_plan, &cmd_plot, &cmd_plugins, &cmd_report,
                                                &cmd_results, &cmd_run, &cmd_status, &cmd_validate,
                                                &cmd_verify, NULL},
};

int main(int argc, char **argv)
{
    cli_start();
    return cli_finish(cli_dispatch(&program, argc, argv));
}
