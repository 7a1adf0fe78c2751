/* SPDX-License-Identifier: MIT */
/* messages.c: messages on stderr. */
#include "cli/cli.h"

/* Flushes stdout, so that messages follow earlier output when both go to one file. */
static void say(const char *fmt, va_list args)
{
    fflush(stdout);
    line_print(stderr, "peat: ", fmt, args);
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
