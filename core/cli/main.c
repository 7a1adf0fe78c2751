/* SPDX-License-Identifier: MIT */
/* main.c: the program: a list of verbs. */
#include <stdio.h>

#include <peat/plugin.h>

#include "cli/verbs.h"
#include "tensor/gemm.h"

static int print_version(struct cli *cli, const char *argument)
{
    (void)cli, (void)argument;
    cli_print("peat %s\nplugin ABI %s\n", PEAT_VERSION, PEAT_ABI);
    for (int i = 1; gemm_words[i]; i++) { /* 0 is auto */
        struct team team = {.threads = 1};
        struct error err = {0};
        if (gemm_start(&team, gemm_words[i], &err) != PEAT_OK)
            return cli_refuse(&err);
        cli_print("%s, kernels for %s\n", team.gemm->library(), team.gemm->kernels());
    }
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
    .verb = (const struct cli_command *const[]){&cmd_bench, &cmd_cell, &cmd_compare, &cmd_diagnose,
                                                &cmd_export, &cmd_inspect, &cmd_logs, &cmd_plan,
                                                &cmd_plot, &cmd_plugins, &cmd_report, &cmd_results,
                                                &cmd_run, &cmd_status, &cmd_validate, &cmd_verify,
                                                NULL},
};

int main(int argc, char **argv)
{
    cli_start();
    return cli_finish(cli_dispatch(&program, argc, argv));
}
