/* SPDX-License-Identifier: MIT */
/* complete.c: what may stand at the end of a command line that is still being typed. */

#include "base/base.h"
#include "cli/command.h"

static bool holds(const char *name, size_t n, const char *word)
{
    const char *at = strstr(name, word);
    return at && at + strlen(word) <= name + n;
}

/* Offers paths for DIR and FILE, the words of a|b|c, nothing else. A file or a directory
 * (EXP.yaml|DIR) is completed as a file, which goes through directories. */
static void offer_named(const char *name, size_t n)
{
    if (holds(name, n, "FILE") || holds(name, n, "yaml"))
        cli_print("<file>\n");
    else if (holds(name, n, "DIR"))
        cli_print("<dir>\n");
    else if (islower((unsigned char)*name))
        for (size_t i = 0; i < n; i++)
            cli_print("%c", name[i] == '|' ? '\n' : name[i]);
    cli_print("\n");
}

static void offer_value(const struct cli_option *o)
{
    for (int i = 0; o->kind == CLI_KIND_WORD && i < o->max; i++)
        cli_print("%s\n", o->word[i]);
    offer_named(o->argument, strlen(o->argument));
}

static void offer_options(const struct cli_command *c)
{
    const struct cli_option *o;
    for (int i = 0; (o = cli_option(c, i)); i++) {
        cli_print("--%s\n", o->name);
        if (o->letter)
            cli_print("-%c\n", o->letter);
    }
}

/* The last operand is the one that may come again: "DIR..." */
static void offer_operand(const struct cli_command *c, int which)
{
    const char *name = c->operands ? c->operands : "";
    for (; which > 0 && strchr(name, ' '); which--)
        name = strchr(name, ' ') + 1;
    size_t n = strcspn(name, " ");
    if (which == 0 || (n > 3 && !strcmp(name + n - 3, "...")))
        offer_named(name, n);
}

static void offer_verbs(const struct cli_command *group)
{
    for (const struct cli_command *const *v = group->verb; *v; v++)
        cli_print("%s\n", cli_verb(*v));
    cli_print("help\n");
    offer_options(group);
}

/* Shells may cut "--kind=bars" and "train.steps=10" at the '='. */
static void complete_command(const struct cli_command *c, int n, char *const *word)
{
    const struct cli_option *valued = NULL; /* whose value comes next */
    int operands = 0;
    for (int i = 0; i < n - 1; i++) {
        bool equals = !strcmp(word[i], "=");
        if (valued) {
            valued = equals ? valued : NULL;
        } else if (word[i][0] == '-') {
            valued = cli_find_option(c, word[i]);
            valued = valued && valued->argument ? valued : NULL;
        } else if (equals) {
            i++;
        } else {
            operands++;
        }
    }
    if (valued)
        offer_value(valued);
    else if (word[n - 1][0] == '-')
        offer_options(c);
    else
        offer_operand(c, operands);
}

void cli_complete(const struct cli_command *c, int n, char *const *word)
{
    for (; c->verb && n > 1; n--, word++)
        if (strcmp(word[0], "help") != 0 && !(c = cli_find_verb(c, word[0])))
            return;
    if (c->verb)
        offer_verbs(c);
    else if (n > 0)
        complete_command(c, n, word);
}
