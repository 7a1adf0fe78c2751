/* SPDX-License-Identifier: MIT */
/* messages.c: functions that verbs share: messages, output, the cell of DIR CELL. */

#include "cli/verbs.h"
#include "grid/rundir.h"
#include "report/table.h"

void cli_say(const char *fmt, ...)
{
    va_list args;
    fflush(stdout); /* a message comes after what was printed before it, in one file too */
    va_start(args, fmt);
    line_print(stderr, "peat: ", fmt, args);
    va_end(args);
}

int cli_refuse(const struct error *err)
{
    cli_say("%s", err->text);
    return CLI_USAGE;
}

int cli_mistake(const char *command, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    line_print(stderr, "peat: ", fmt, args);
    va_end(args);
    fprintf(stderr, "try '%s --help'\n", command);
    return CLI_USAGE;
}

const struct cell_files *cli_find_cell(const struct cli *cli)
{
    struct rundir *r = ARENA_NEW(cli->arena, struct rundir);
    int index;
    return rundir_read(cli->operand[0], r, cli->arena, cli->err) == PEAT_OK &&
                   rundir_find(r, cli->operand[1], &index, cli->err) == PEAT_OK
               ? &r->cell[index]
               : NULL;
}

int cli_output(const struct cli *cli, const char *file)
{
    if (cli->err->status == PEAT_OK)
        cli_write(file, cli->out, cli->err);
    return CLI_DONE;
}

void print_json(const struct value *v)
{
    struct strbuf text = STRBUF_NEW, shown = STRBUF_NEW;
    json_print(v, JSON_INDENTED, &text);
    shown_add(&shown, text.text, "\n\t");
    fwrite(shown.text, 1, shown.n, stdout); /* never wrapped */
    strbuf_release(&shown);
    strbuf_release(&text);
}

void cli_add_wrapped(const struct table *t, const char *file, bool bold, struct strbuf *out)
{
    struct strbuf text = STRBUF_NEW;
    format_text(t, cli_width(file, 60, INT_MAX), bold, &text);
    wrap_add(out, text.text, file ? 0 : terminal_columns(stdout));
    strbuf_release(&text);
}
