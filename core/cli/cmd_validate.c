/* SPDX-License-Identifier: MIT */
/* cmd_validate.c: peat validate EXP.yaml. */

#include "cli/planparts.h"
#include "cli/verbs.h"

/* Prints every mistake on a line; false: there is a mistake. */
static bool open_plan(struct loaded_plan *l, const struct cli *cli)
{
    struct fixes *fixes = ARENA_NEW(cli->arena, struct fixes);
    struct error why = {0};
    fixes->a = cli->arena;
    while (!loaded_plan_open(l, cli, PLAN_SHAPES, fixes, &why)) {
        if (fixes_explain(fixes, why.text))
            return false;
        cli_say("%s", why.text);
        if (!fixes_add(fixes, why.text))
            return false;
        why = (struct error){0};
    }
    if (fixes->n)
        loaded_plan_close(l);
    return fixes->n == 0;
}

static int validate_experiment(const struct cli *cli)
{
    struct loaded_plan l;
    if (!open_plan(&l, cli))
        return CLI_USAGE;
    struct plan_runs runs;
    plan_runs_count(&l.plan, &runs, &l.arena);
    int cells = runs.n, seeds = l.experiment.n_seed;
    cli_print("%s: ok, %d cell%s, %d seed%s\n", cli->operand[0], cells, plural(cells), seeds,
              plural(seeds));
    plan_say_skipped(&l.plan, &l.arena);
    plan_warn(&l.plan, &l.arena);
    loaded_plan_close(&l);
    return CLI_DONE;
}

const struct cli_command cmd_validate = {
    .name = "peat validate",
    .summary = "check an experiment without training it",
    EXPERIMENT_OPERANDS,
    .run = validate_experiment,
};
