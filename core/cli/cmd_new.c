/* SPDX-License-Identifier: MIT */
/* cmd_new.c: peat new NAME [TEXT]: a commented experiment to start from. */

#include "cli/verbs.h"
#include "experiment/experiment.h"

/* The texts of new.yaml, new_text.yaml and new_symbols.yaml, from the build. */
extern const char new_experiment[], new_text_task[], new_symbols_task[];

/* Quotes with single quotes, which YAML doubles inside. */
static const char *quoted(struct arena *a, const char *text)
{
    struct strbuf out = STRBUF_NEW;
    strbuf_add(&out, "'");
    for (; *text; text++)
        strbuf_addf(&out, "%s%c", *text == '\'' ? "'" : "", *text);
    strbuf_add(&out, "'");
    return strbuf_keep(&out, a);
}

static peat_status check(const char *name, const char *file, const char *text, struct error *err)
{
    if (!experiment_is_name(name))
        return error_set(err, PEAT_INVALID,
                         "an experiment cannot be called '%s': letters, digits, '.', '_' and '-', "
                         "and no '.' or '-' first",
                         name);
    if (file_exists(file))
        return error_set(err, PEAT_INVALID, "'%s' exists already", file);
    if (text && (!file_exists(text) || path_is_directory(text) || strchr(text, '\n')))
        return error_set(err, PEAT_NOTFOUND, "there is no text file '%s'", text);
    return PEAT_OK;
}

static const char *without_yaml(struct arena *a, const char *name)
{
    int n = (int)(strlen(name) - strlen(".yaml"));
    return path_ends_in(name, ".yaml") && n > 0 ? arena_printf(a, "%.*s", n, name) : name;
}

static int make_experiment(const struct cli *cli)
{
    const char *name = without_yaml(cli->arena, cli->operand[0]);
    const char *text = cli->n_operand > 1 ? cli->operand[1] : NULL;
    const char *file = arena_printf(cli->arena, "%s.yaml", name);
    if (check(name, file, text, cli->err) != PEAT_OK)
        return CLI_USAGE;
    const struct {
        const char *mark, *by;
    } word[] = {{"@TASK@", text ? new_text_task : new_symbols_task},
                {"@METRIC@", text ? "bpb" : "token_accuracy"},
                {"@NAME@", name},
                {"@TEXT@", text ? quoted(cli->arena, text) : ""}}; /* last: may have @WORDS@ */
    const char *experiment = new_experiment;
    for (size_t i = 0; i < sizeof(word) / sizeof(*word); i++)
        experiment = text_replaced(experiment, word[i].mark, word[i].by, cli->arena);
    strbuf_add(cli->out, experiment);
    if (cli_write(file, cli->out, cli->err) == PEAT_OK)
        cli_print("wrote %s; edit it, then\n  peat plan %s    # cells, costs, minutes\n"
                  "  peat run %s     # trains them and prints the table\n",
                  file, name, name);
    return CLI_DONE;
}

const struct cli_command cmd_new = {
    .name = "peat new",
    .summary = "write an experiment to start from",
    CLI_OPERANDS("NAME [FILE]", 1, 2, "a name for the experiment is needed"),
    .run = make_experiment,
};
