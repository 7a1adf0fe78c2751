/* SPDX-License-Identifier: MIT */
/* dispatch.c: finds the command that the words of a call name. */

#include "cli/command.h"
#include "cli/findrun.h"
#include "process/apart.h"

/* ---- help ---- */

struct request {
    bool complete;
};

static const struct cli_option help_options[] = {
    CLI_FLAG(0, "complete", complete,
             "completions of the last of these words, after --: for shells"),
};

static const struct cli_command help_command = {
    .name = "peat help",
    .operands = "[VERB ...]",
    .most = CLI_MANY,
    CLI_ROWS(help_options),
};

static int refuse_verb(const struct cli_command *group, const char *word)
{
    const char *name[32];
    int n = 0;
    for (; group->verb && group->verb[n] && n < 32; n++)
        name[n] = cli_verb(group->verb[n]);
    char near[SUGGESTION];
    return cli_mistake(group->name, "unknown verb '%s' of '%s'%s", word, group->name,
                       suggestion(word, name, n, near));
}

static int finish_reading(const struct cli_command *command, int status)
{
    if (status != CLI_ASKS_HELP)
        return status;
    cli_print_help(command, stdout);
    return CLI_DONE;
}

static int run_help(const struct cli_command *of, int argc, char **argv)
{
    struct request q = {0};
    struct cli cli = {.command = &help_command, .options = &q};
    int status = cli_read(&cli, argc, argv);
    if (status != CLI_GO_ON)
        return finish_reading(&help_command, status);
    if (q.complete) {
        cli_complete(of, cli.n_operand, cli.operand);
        return CLI_DONE;
    }
    for (int i = 0; i < cli.n_operand; i++) {
        const struct cli_command *verb = cli_find_verb(of, cli.operand[i]);
        if (!verb)
            return refuse_verb(of, cli.operand[i]);
        of = verb;
    }
    return finish_reading(of, CLI_ASKS_HELP);
}

/* ---- commands ---- */

/* If the last operand is a run directory, the error says that the directory comes first. */
static void say_order(const struct cli *cli)
{
    int last = cli->n_operand - 1;
    const char *dir = last > 0 ? run_called(cli->operand[last], cli->arena) : NULL;
    if (!dir)
        return;
    struct strbuf rest = STRBUF_NEW;
    for (int i = 0; i < last; i++)
        strbuf_addf(&rest, " %s", cli->operand[i]);
    error_set(cli->err, PEAT_INVALID, "the run directory comes first: %s %s%s", cli->command->name,
              dir, rest.text);
    strbuf_release(&rest);
}

/* Replaces operands that the command calls DIR by the directories that they name. */
static bool find_runs(struct cli *cli)
{
    const char *name = cli->command->operands ? cli->command->operands : "";
    for (int i = 0; i < cli->n_operand && !strncmp(name, "DIR", 3); i++) {
        bool one = strcmp(name, "DIR...") != 0;
        const char *dir = find_run(cli->operand[i], cli->arena, cli->err);
        if (one && !dir)
            say_order(cli);
        if (cli->err->status != PEAT_OK)
            return false;
        cli->operand[i] = arena_strdup(cli->arena, dir);
        const char *next = strchr(name, ' ');
        name = next ? next + 1 : one ? "" : name;
    }
    return true;
}

static int run_verb(struct cli *cli)
{
    int code = find_runs(cli) ? cli->command->run(cli) : CLI_USAGE;
    if (cli->err->status == PEAT_OK)
        return code;
    cli_say("%s", cli->err->text);
    return code == CLI_DONE ? CLI_USAGE : code;
}

static peat_status run_child(void *ctx, struct trail *trail, struct strbuf *code, struct error *err)
{
    struct cli *cli = ctx;
    (void)err;
    cli->trail = trail;
    strbuf_addf(code, "%d", cli_finish(run_verb(cli)));
    return PEAT_OK;
}

/* For commands that load plugins. If a plugin ends the child, this prints one line. */
static int run_apart(struct cli *cli)
{
    struct strbuf code = STRBUF_NEW;
    peat_status status =
        apart_run(run_child, cli, apart_seconds(), APART_PRINTS, &code, NULL, cli->err);
    int end = status == PEAT_OK ? atoi(code.text) : cli_refuse(cli->err);
    strbuf_release(&code);
    return end;
}

static int run_command(const struct cli_command *command, int argc, char **argv)
{
    struct arena arena;
    struct strbuf out = STRBUF_NEW;
    struct error err = {0};
    arena_init(&arena, command->name, 1 << 16);
    struct cli cli = {.command = command, .arena = &arena, .err = &err, .out = &out};
    cli.options = arena_zalloc(&arena, command->options_size + 1);
    if (command->defaults)
        memcpy(cli.options, command->defaults, command->options_size);
    int status = cli_read(&cli, argc, argv);
    if (status != CLI_GO_ON)
        status = finish_reading(command, status);
    else
        status = command->apart ? run_apart(&cli) : run_verb(&cli);
    strbuf_release(&out);
    arena_release(&arena);
    return status;
}

int cli_dispatch(const struct cli_command *command, int argc, char **argv)
{
    if (!command->verb)
        return run_command(command, argc, argv);
    if (argc < 2) {
        cli_print_help(command, stderr);
        return CLI_USAGE;
    }
    const char *word = argv[1];
    if (!strcmp(word, "help"))
        return run_help(command, argc - 1, argv + 1);
    const struct cli_option *option = cli_find_option(command, word);
    if (option)
        return finish_reading(command, option->read(NULL, NULL));
    const struct cli_command *verb = cli_find_verb(command, word);
    return verb ? cli_dispatch(verb, argc - 1, argv + 1) : refuse_verb(command, word);
}
