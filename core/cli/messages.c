/* SPDX-License-Identifier: MIT */
/* messages.c: what a command says on stderr. */
#include <stdio.h>

#include "cli/cli.h"

static void say(const char *fmt, va_list args) __attribute__((format(printf, 1, 0)));

static void say(const char *fmt, va_list args)
{
    struct strbuf line;
    strbuf_init(&line);
    strbuf_add(&line, "peat: ");
    strbuf_addv(&line, fmt, args);
    strbuf_add(&line, "\n");
    fwrite(line.text, 1, line.n, stderr);
    strbuf_release(&line);
}

void cli_say(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    say(fmt, args);
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
    say(fmt, args);
    va_end(args);
    fprintf(stderr, "try '%s --help'\n", command);
    return CLI_USAGE;
}
