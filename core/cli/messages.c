/* SPDX-License-Identifier: MIT */
/* messages.c: messages on stderr. */
#include <stdio.h>

#include "base/log.h"
#include "cli/cli.h"

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
