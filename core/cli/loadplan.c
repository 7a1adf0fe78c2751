/* SPDX-License-Identifier: MIT */
/* loadplan.c: the way from a file to a plan that several commands share. */
#include "cli/loadplan.h"

#include "experiment/planapart.h"

peat_status loaded_plan_open(struct loaded_plan *l, const struct cli *cli, struct error *err)
{
    *l = (struct loaded_plan){0};
    arena_init(&l->arena, "experiment", 1 << 18);
    peat_status status = experiment_load(&l->experiment, &l->arena, cli->operand[0],
                                         cli->n_operand - 1, cli->operand + 1, err);
    if (status == PEAT_OK)
        status = plan_make_apart(&l->plan, &l->experiment, &l->arena, err);
    if (status != PEAT_OK)
        arena_release(&l->arena);
    return status;
}

void loaded_plan_close(struct loaded_plan *l)
{
    arena_release(&l->arena);
}
