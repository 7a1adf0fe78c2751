/* SPDX-License-Identifier: MIT */
/* cmd_logs.c: peat logs DIR CELL. */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/verbs.h"
#include "grid/rundir.h"

static const struct cli_command command = {
    .name = "logs",
    .usage = "DIR CELL",
    .about = "Prints what a cell's processes have said, all attempts one after the other. CELL is\n"
             "an index, a label or the start of its hash.",
    .example = "peat logs runs/quickstart rotary.sum.s0",
};

static int print_log(const struct cell_files *c)
{
    struct error err = {0};
    char *path = path_join(c->dir, "log.txt"), *text = NULL;
    size_t n = 0;
    peat_status status = file_read(path, 0, &text, &n, &err);
    free(path);
    if (status == PEAT_NOTFOUND)
        error_set(&err, status, "cell '%s' has no log: it was not started yet", c->label);
    if (status != PEAT_OK)
        return cli_refuse(&err);
    fwrite(text, 1, n, stdout);
    free(text);
    return CLI_DONE;
}

int cmd_logs(int argc, char **argv)
{
    struct cli cli;
    struct rundir r;
    struct error err = {0};
    int index = 0;
    cli_open(&cli, &command, argc, argv);
    if (cli_next(&cli) != CLI_END)
        return cli.status;
    if (cli.n_operand != 2)
        return cli_mistake(&command, "a run directory and a cell are needed");
    struct arena arena;
    arena_init(&arena, "logs", 1 << 16);
    peat_status status = rundir_read(cli.operand[0], &r, &arena, &err);
    if (status == PEAT_OK)
        status = rundir_find(&r, cli.operand[1], &index, &err);
    int code = status == PEAT_OK ? print_log(&r.cell[index]) : cli_refuse(&err);
    arena_release(&arena);
    return code;
}
