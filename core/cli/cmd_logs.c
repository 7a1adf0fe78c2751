/* SPDX-License-Identifier: MIT */
/* cmd_logs.c: peat logs DIR CELL. */

#include "cli/verbs.h"
#include "grid/rundir.h"

/* A file or a pipe gets the log's own bytes, because another program may read them. */
static void print_bytes(const char *text, size_t n)
{
    struct strbuf shown = STRBUF_NEW;
    if (isatty(STDOUT_FILENO))
        shown_add_bytes(&shown, text, n, "\n\t");
    else
        strbuf_add_bytes(&shown, text, n);
    fwrite(shown.text, 1, shown.n, stdout);
    strbuf_release(&shown);
}

static int print_log(const struct cli *cli)
{
    const struct cell_files *c = cli_find_cell(cli);
    if (!c)
        return CLI_USAGE;
    char *text = NULL;
    size_t n = 0;
    peat_status status = file_read(path_in(c->dir, "log.txt").text, 0, &text, &n, cli->err);
    if (status == PEAT_OK)
        print_bytes(text, n);
    else if (status == PEAT_NOTFOUND)
        error_set(cli->err, status, "cell '%s' has no log: it was not started yet", c->label);
    free(text);
    return CLI_DONE;
}

const struct cli_command cmd_logs = {
    .name = "peat logs",
    .summary = "the log of a cell",
    CLI_OPERANDS("DIR CELL", 2, 2, "a run directory and a cell are needed"),
    .run = print_log,
};
