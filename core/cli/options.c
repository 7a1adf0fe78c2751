/* SPDX-License-Identifier: MIT */
/* options.c: a command line, by the command's rows and getopt_long. */
#include <getopt.h>

#include "cli/command.h"

/* For an option without a letter getopt_long returns this plus the row's number. */
enum { LONG_ONLY = 256 };

/* ---- rows ---- */

static int ask_help(struct cli *cli, const char *argument)
{
    (void)cli, (void)argument;
    return CLI_ASKS_HELP;
}

static const struct cli_option help_option =
    CLI_OTHER('h', "help", NULL, ask_help, "print this page");

const struct cli_option *cli_option(const struct cli_command *command, int i)
{
    return i < command->n_option    ? &command->option[i]
           : i == command->n_option ? &help_option
                                    : NULL;
}

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

const struct cli_option *cli_find_option(const struct cli_command *command, const char *word)
{
    const struct cli_option *o;
    for (int i = 0; (o = cli_option(command, i)); i++)
        if (!strncmp(word, "--", 2) ? !strcmp(word + 2, o->name)
                                    : word[0] == '-' && word[1] && word[1] == o->letter && !word[2])
            return o;
    return NULL;
}

bool cli_given(const struct cli *cli, const char *names)
{
    for (; *names; names += strspn(names, " ")) {
        size_t n = strcspn(names, " ");
        int i = 0;
        while (i < cli->command->n_option &&
               (strncmp(cli->command->option[i].name, names, n) || cli->command->option[i].name[n]))
            i++;
        if (i == cli->command->n_option)
            BUG("'%s' has no option '--%s'", cli->command->name, names);
        if (cli->given[i])
            return true;
        names += n;
    }
    return false;
}

bool cli_clashes(const struct cli *cli, const struct cli_clash *one, size_t n)
{
    for (; n-- > 0; one++)
        if (one->clash && (!one->given || cli_given(cli, one->given))) {
            cli_mistake(cli->command->name, "%s", one->why);
            return true;
        }
    return false;
}

/* ---- getopt_long ---- */

static int code_of(const struct cli_option *o, int i)
{
    return o->letter ? o->letter : LONG_ONLY + i;
}

static const struct cli_option *row_of(const struct cli_command *command, int code)
{
    const struct cli_option *o;
    for (int i = 0; (o = cli_option(command, i)); i++)
        if (code_of(o, i) == code)
            return o;
    return NULL;
}

/* ':' is first, so that getopt distinguishes a missing argument from an unknown option, and is
 * silent. */
static void describe_options(const struct cli_command *command, struct option *table, char *letter)
{
    const struct cli_option *o;
    if (command->n_option > CLI_OPTIONS_MAX)
        BUG("'%s' has more than %d options", command->name, CLI_OPTIONS_MAX);
    *letter++ = ':';
    for (int i = 0; (o = cli_option(command, i)); i++) {
        table[i] = (struct option){
            .name = o->name,
            .has_arg = o->argument ? required_argument : no_argument,
            .val = code_of(o, i),
        };
        if (!o->letter)
            continue;
        *letter++ = o->letter;
        if (o->argument)
            *letter++ = ':';
    }
}

static int refuse_option(const struct cli_command *command, const char *written)
{
    const struct cli_option *o = optopt ? row_of(command, optopt) : NULL;
    const char *name[CLI_OPTIONS_MAX + 1];
    int n = 0;
    if (o)
        return cli_mistake(command->name, "option '--%s' does not have a value", o->name);
    if (optopt)
        return cli_mistake(command->name, "unknown option '-%c' of '%s'", optopt, command->name);
    while ((o = cli_option(command, n)))
        name[n++] = o->name;
    const char *near = nearest_name(written + strspn(written, "-"), name, n);
    bool settings = !near && command->operands && strstr(command->operands, "key=value");
    return cli_mistake(command->name, "unknown option '%s' of '%s'%s%s%s", written, command->name,
                       near ? "; did you mean '--" : "", near ? near : "",
                       near ? "'?"
                       : settings
                           ? "; settings are written key=value, as in seeds=5 or run.device=cuda"
                           : "");
}

/* ---- values ---- */

static int option_read_whole(const struct cli *cli, const struct cli_option *o,
                             const char *argument, int64_t *number)
{
    char *end;
    errno = 0;
    intmax_t read = strtoimax(argument, &end, 10);
    bool plain = isdigit((unsigned char)argument[*argument == '-']);
    if (o->kind == CLI_KIND_AUTO && !strcmp(argument, "auto")) {
        *number = 0;
        return CLI_GO_ON;
    }
    if (plain && !*end && !errno && read >= o->min && read <= o->max) {
        *number = read;
        return CLI_GO_ON;
    }
    return cli_mistake(
        cli->command->name,
        "option '--%s' must be a whole number from %" PRId64 " to %" PRId64 "%s, not '%s'", o->name,
        o->min, o->max, o->kind == CLI_KIND_AUTO ? ", or auto" : "", argument);
}

static int read_word(const struct cli *cli, const struct cli_option *o, const char *argument,
                     int *which)
{
    const char *allowed = o->word[0];
    int found = name_index(o->word, (int)o->max, argument);
    if (found >= 0) {
        *which = found;
        return CLI_GO_ON;
    }
    for (int i = 1; i < o->max; i++)
        allowed = arena_printf(cli->arena, "%s, %s", allowed, o->word[i]);
    return cli_mistake(cli->command->name, "option '--%s' must be one of %s, not '%s'", o->name,
                       allowed, argument);
}

/* An empty name mostly comes from an unset variable of a script, so "-o ''" is refused. */
static int read_text(const struct cli *cli, const struct cli_option *o, const char *argument,
                     const char **text)
{
    *text = argument;
    if (*argument || !strcmp(o->argument, "TEXT"))
        return CLI_GO_ON;
    return cli_mistake(cli->command->name, "option '--%s' must not be empty", o->name);
}

static int read_option(struct cli *cli, const struct cli_option *o, const char *argument)
{
    void *field = (char *)cli->options + o->offset;
    switch (o->kind) {
    case CLI_KIND_FLAG:
        *(bool *)field = true;
        return CLI_GO_ON;
    case CLI_KIND_TEXT:
        return read_text(cli, o, argument, field);
    case CLI_KIND_WHOLE:
    case CLI_KIND_AUTO:
        return option_read_whole(cli, o, argument, field);
    case CLI_KIND_WORD:
        return read_word(cli, o, argument, field);
    case CLI_KIND_OTHER:
        return o->read(cli, argument);
    }
    BUG("option '--%s' has no kind", o->name);
}

/* Operands must not be empty, except the words for `peat help --complete`. */
static int check_operands(const struct cli *cli)
{
    const struct cli_command *c = cli->command;
    for (int i = 0; c->run && i < cli->n_operand; i++)
        if (!*cli->operand[i])
            return cli_mistake(c->name, "operand %d is empty", i + 1);
    if (cli->n_operand >= c->least && cli->n_operand <= c->most)
        return CLI_GO_ON;
    if (c->missing)
        return cli_mistake(c->name, "%s", c->missing);
    if (c->most == 1)
        return cli_mistake(c->name, "%s needs one name, not %d", c->name, cli->n_operand);
    return cli_mistake(c->name, "unexpected operand '%s'", cli->operand[c->most]);
}

int cli_read(struct cli *cli, int argc, char **argv)
{
    const struct cli_command *command = cli->command;
    struct option table[CLI_OPTIONS_MAX + 2] = {0};
    char letters[2 * CLI_OPTIONS_MAX + 4] = {0};
    describe_options(command, table, letters);
    optind = 0; /* getopt may have read another command line before */
    for (int code; (code = getopt_long(argc, argv, letters, table, NULL)) != -1;) {
        if (code == '?')
            return refuse_option(command, argv[optind - 1]);
        if (code == ':')
            return cli_mistake(command->name, "option '--%s' needs a value",
                               row_of(command, optopt)->name);
        const struct cli_option *o = row_of(command, code);
        if (o->argument && cli->given[o - command->option])
            return cli_mistake(command->name, "option '--%s' is given twice", o->name);
        int status = read_option(cli, o, optarg);
        if (status != CLI_GO_ON)
            return status;
        cli->given[o - command->option] = true;
    }
    cli->operand = argv + optind;
    cli->n_operand = argc - optind;
    return check_operands(cli);
}
