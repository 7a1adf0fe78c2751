/* SPDX-License-Identifier: MIT */
/* main.c: the program: a list of verbs. */
#include <stdio.h>

#include <peat/plugin.h>

#include "cli/verbs.h"
#include "tensor/provider.h"

/* By their files: to name their kernels takes loading them, as 'peat bench' does. */
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
