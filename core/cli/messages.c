/* SPDX-License-Identifier: MIT */
/* messages.c: messages on stderr, results on stdout or in a file. */
#include <stdio.h>

#include "base/log.h"
#include "cli/command.h"

void cli_say(const char *fmt, ...)
{
    va_list args;
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

int cli_output(const struct cli *cli, const char *file)
{
    if (cli->err->status == PEAT_OK)
        cli_write(file, cli->out, cli->err);
    return CLI_DONE;
}

void print_json(const struct value *v)
{
    struct strbuf text;
    strbuf_init(&text);
    json_print(v, JSON_INDENTED, &text);
    cli_print("%s\n", text.text);
    strbuf_release(&text);
}
