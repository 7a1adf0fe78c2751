/* SPDX-License-Identifier: MIT */
/* cmd_logs.c: peat logs DIR CELL. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/shown.h"
#include "cli/verbs.h"
#include "grid/rundir.h"

/* As they are into a file or a pipe: a log may be what another program has to read. */
static void print_bytes(const char *text, size_t n)
{
    struct strbuf shown;
    strbuf_init(&shown);
    if (isatty(STDOUT_FILENO))
        shown_add_bytes(&shown, text, n, "\n\t");
    else
        strbuf_add_bytes(&shown, text, n);
    fwrite(shown.text, 1, shown.n, stdout);
    strbuf_release(&shown);
}

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
    print_bytes(text, n);
    free(text);
    return CLI_DONE;
}

static int print_cell_log(const struct cli *cli)
{
    struct rundir r;
    struct error err = {0};
    int index = 0;
    if (rundir_read(cli->operand[0], &r, cli->arena, &err) != PEAT_OK ||
        rundir_find(&r, cli->operand[1], &index, &err) != PEAT_OK)
        return cli_refuse(&err);
    return print_log(&r.cell[index]);
}

const struct cli_command cmd_logs = {
    .name = "peat logs",
    .summary = "the log of a cell",
    .about = "Prints the log of a cell's processes, one attempt after the other. CELL is\n"
             "an index, a label or the start of its hash. On a terminal, control characters are\n"
             "written out (\\x1b); a file or a pipe gets the log's own bytes.",
    .example = "peat logs runs/quickstart rotary.sum.s0",
    CLI_OPERANDS("DIR CELL", 2, 2, "a run directory and a cell are needed"),
    .run = print_cell_log,
};
