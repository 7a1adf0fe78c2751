/* SPDX-License-Identifier: MIT */
/* main.c: the program: a table of verbs. */
#include <stdio.h>
#include <string.h>

#include <peat/plugin.h>

#include "cli/cli.h"
#include "cli/verbs.h"
#include "tensor/gemm.h"

static const struct verb verbs[] = {
    {"bench", cmd_bench, "time a training step on this machine"},
    {"cell", cmd_cell, "train one cell of a run directory, or a range of them"},
    {"compare", cmd_compare, "two rows, seed by seed"},
    {"diagnose", cmd_diagnose, "what a trained cell has learned about position"},
    {"export", cmd_export, "a cell's weights as a safetensors file"},
    {"inspect", cmd_inspect, "what a scheme makes of positions, as numbers"},
    {"logs", cmd_logs, "what a cell has said"},
    {"plan", cmd_plan, "every cell of an experiment with its cost and state"},
    {"plot", cmd_plot, "figures of the results, by gnuplot"},
    {"plugins", cmd_plugins, "list and explain schemes, combinations and tasks"},
    {"report", cmd_report, "the results as one page for a browser"},
    {"results", cmd_results, "the table: means over seeds, differences, costs"},
    {"run", cmd_run, "train every cell of an experiment, or go on with it"},
    {"status", cmd_status, "how far a run directory is, and what failed"},
    {"validate", cmd_validate, "check an experiment without training it"},
    {NULL, NULL, NULL},
};

static const struct cli_group program = {
    .name = "peat",
    .about = "Trains every cell of an experiment that crosses positional schemes with ways to\n"
             "combine them with the tokens, and puts the results into one table.",
    .verb = verbs,
    .example = "peat plugins list",
};

static int print_version(void)
{
    printf("peat %s\nplugin ABI %s\n", PEAT_VERSION, PEAT_ABI);
    for (int i = 1; gemm_words[i]; i++) { /* 0 is auto */
        struct team team = {.threads = 1};
        struct error err = {0};
        if (gemm_start(&team, gemm_words[i], &err) != PEAT_OK)
            return cli_refuse(&err);
        printf("%s, kernels for %s\n", team.gemm->library(), team.gemm->kernels());
    }
    return CLI_DONE;
}

int main(int argc, char **argv)
{
    cli_start();
    if (argc > 1 && (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")))
        return cli_finish(print_version());
    return cli_finish(cli_dispatch(&program, argc, argv));
}
