/* SPDX-License-Identifier: MIT */
/* cmd_validate.c: peat validate EXP.yaml. */

#include "base/repeat.h"
#include "cli/planparts.h"
#include "cli/verbs.h"

static int validate_experiment(const struct cli *cli)
{
    struct loaded_plan l;
    if (loaded_plan_open(&l, cli, PLAN_SHAPES, cli->err) != PEAT_OK)
        return CLI_USAGE;
    struct plan_runs runs;
    plan_runs_count(&l.plan, &runs, &l.arena);
    int cells = runs.n, seeds = l.experiment.n_seed;
    cli_print("%s: ok, %d cell%s, %d seed%s\n", cli->operand[0], cells, plural(cells), seeds,
              plural(seeds));
    plan_warn(&l.plan, &l.arena);
    loaded_plan_close(&l);
    return CLI_DONE;
}

const struct cli_command cmd_validate = {
    .name = "peat validate",
    .summary = "check an experiment without training it",
    .about = "Reads an experiment, sets every cell up without training it, and says what is wrong\n"
             "with file, line and column. Rows that are one model are warned of. Nothing is\n"
             "multiplied and nothing is written.",
    .example = "peat validate experiments/quickstart.yaml train.steps=10",
    EXPERIMENT_OPERANDS,
    .run = validate_experiment,
};
