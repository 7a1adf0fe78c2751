/* SPDX-License-Identifier: MIT */
/* verbnames.c: finds the verbs of a group by their names. */

#include "base/base.h"
#include "cli/command.h"

const char *cli_verb(const struct cli_command *command)
{
    const char *space = strrchr(command->name, ' ');
    return space ? space + 1 : command->name;
}

const struct cli_command *cli_find_verb(const struct cli_command *group, const char *word)
{
    for (const struct cli_command *const *v = group->verb; v && *v; v++)
        if (!strcmp(cli_verb(*v), word))
            return *v;
    return NULL;
}
