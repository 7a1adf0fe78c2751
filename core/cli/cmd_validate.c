/* SPDX-License-Identifier: MIT */
/* cmd_validate.c: peat validate EXP.yaml. */
#include <stdio.h>

#include "cli/cli.h"
#include "cli/loadplan.h"
#include "cli/verbs.h"

static const struct cli_command command = {
    .name = "validate",
    .usage = "EXP.yaml [key=value ...]",
    .about = "Reads an experiment, sets every cell up without training it, and says what is wrong\n"
             "with file, line and column. Nothing is written.",
    .example = "peat validate experiments/quickstart.yaml train.steps=10",
};

static const char *plural(int n)
{
    return n == 1 ? "" : "s";
}

int cmd_validate(int argc, char **argv)
{
    struct cli cli;
    struct loaded_plan l;
    struct error err = {0};
    cli_open(&cli, &command, argc, argv);
    while (cli_next(&cli) != CLI_END)
        return cli.status;
    if (cli.n_operand == 0)
        return cli_mistake(&command, "no experiment file is given");
    if (loaded_plan_open(&l, cli.operand[0], cli.n_operand - 1, cli.operand + 1, &err) != PEAT_OK)
        return cli_refuse(&err);
    int cells = l.plan.n, seeds = l.experiment.n_seed;
    printf("%s: ok, %d cell%s, %d seed%s\n", cli.operand[0], cells, plural(cells), seeds,
           plural(seeds));
    loaded_plan_close(&l);
    return CLI_DONE;
}
