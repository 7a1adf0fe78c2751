/* SPDX-License-Identifier: MIT */
/* pythonverb.c: verbs whose work is done by the package of Python beside the program. */
#include "cli/pythonverb.h"

#include "process/python.h"

/* Before anything else the package's own folder comes first in sys.path. */
static const char start[] =
    "import sys; sys.path.insert(0, sys.argv[1]); sys.dont_write_bytecode = True\n"
    "from peat.verbs import main\n"
    "sys.exit(main(sys.argv[2], sys.argv[3:]))";

static const char *option_word(const struct cli *cli, const struct cli_option *o)
{
    const void *field = (const char *)cli->options + o->offset;
    switch (o->kind) {
    case CLI_KIND_TEXT:
        return arena_printf(cli->arena, "--%s=%s", o->name, *(const char *const *)field);
    case CLI_KIND_WHOLE:
    case CLI_KIND_AUTO:
        return arena_printf(cli->arena, "--%s=%" PRId64, o->name, *(const int64_t *)field);
    case CLI_KIND_WORD:
        return arena_printf(cli->arena, "--%s=%s", o->name, o->word[*(const int *)field]);
    default:
        return arena_printf(cli->arena, "--%s", o->name);
    }
}

/* The program, the verb, the options that were given, "--" and the operands, behind what starts
 * them; returns how many. */
static int make_words(const struct cli *cli, const char *program, const char *folder, char **word)
{
    const struct cli_command *c = cli->command;
    const char *const first[] = {"-c", start, folder, program, cli_verb(c)};
    int n = 0;
    for (size_t i = 0; i < sizeof(first) / sizeof(*first); i++)
        word[n++] = arena_strdup(cli->arena, first[i]);
    for (int i = 0; i < c->n_option; i++)
        if (cli->given[i])
            word[n++] = arena_strdup(cli->arena, option_word(cli, &c->option[i]));
    word[n++] = arena_strdup(cli->arena, "--");
    for (int i = 0; i < cli->n_operand; i++)
        word[n++] = cli->operand[i];
    return n;
}

int cli_run_in_python(const struct cli *cli)
{
    enum { FIRST = 6 };
    char program[PATH_MAX];
    const char *folder = installed_dir(cli->arena, PEAT_PYTHONDIR);
    char **word = ARENA_ARRAY(cli->arena, FIRST + CLI_OPTIONS_MAX + cli->n_operand, char *);
    if (!folder || !file_exists(arena_printf(cli->arena, "%s/peat/verbs.py", folder))) {
        error_set(cli->err, PEAT_NOTFOUND,
                  "%s needs the package peat of Python in '%s', which is not there (Debian: "
                  "apt-get install python3-peat)",
                  cli->command->name, folder ? folder : PEAT_PYTHONDIR);
        return CLI_USAGE;
    }
    if (own_program(program, sizeof(program), cli->err) != PEAT_OK)
        return CLI_FAILED;
    int n = make_words(cli, program, folder, word);
    struct child c = {.argv = python_words(word, n, cli->arena), .own_group = true, .grace = 1};
    if (child_start(&c, cli->err) != PEAT_OK) {
        python_start_error(&c, cli->command->name, cli->err);
        return CLI_USAGE;
    }
    child_wait(&c);
    if (c.signal && !stops_waiting())
        error_set(cli->err, PEAT_FAILED, "%s was ended by signal %d", *c.argv, c.signal);
    return c.code < 0 ? CLI_FAILED : c.code;
}
