/* SPDX-License-Identifier: MIT */
/* cmd_new.c: peat new NAME [TEXT]: a commented experiment to start from. */

#include "cli/verbs.h"
#include "experiment/experiment.h"

/* The name, the description and the task go between these. */
static const char head[] =
    "# Run it:         peat run %s\n"
    "# Ask first:      peat plan %s          cells, costs, minutes\n"
    "# Read it again:  peat results %s\n"
    "# Show it:        peat report %s -o %s.html\n"
    "# docs/guide.md explains every key; a key that is left out has its default.\n"
    "version: 2\n"
    "name: %s                     # results go to runs/%s\n"
    "\n"
    "# What all cells have in common.\n"
    "defaults:\n";

static const char of_text[] =
    "  # Bytes of a text; the last tenth is held out. `peat plugins list --kind task` has others.\n"
    "  task: {plugin: text, path: %s}\n"
    "  model: {d_model: 64, n_layer: 2, n_head: 4}\n"
    "  train: {steps: 300, batch: 16, seq_len: 64, lr: 4e-3}\n"
    "  # Trained on 64 bytes; the second length shows how schemes go on beyond them.\n"
    "  eval: {lengths: [64, 128], tokens: 8192}\n";

static const char of_symbols[] =
    "  # Symbols to be given back in reverse; `peat new NAME FILE` starts from a text instead.\n"
    "  task: {plugin: reverse, symbols: 8}\n"
    "  model: {d_model: 32, n_layer: 2, n_head: 4}\n"
    "  train: {steps: 600, batch: 16, seq_len: 32, lr: 4e-3}\n"
    "  eval: {tokens: 8192}\n";

static const char tail[] =
    "\n"
    "# Every scheme with every combination. `peat plugins list` has all, `peat plugins info "
    "rotary`\n"
    "# the parameters of one: {plugin: rotary, base: 500}. [sinusoidal, alibi] act together. Any\n"
    "# setting can be an axis, here or on the command line: peat run %s 'train.lr=[1e-3, 4e-3]'\n"
    "matrix:\n"
    "  position.scheme: [none, learned, sinusoidal, rotary]\n"
    "  position.combine: [sum, concat_split]\n"
    "\n"
    "# Three seeds show a large difference; a claim at 5 %% needs at least six.\n"
    "seeds: 3\n"
    "\n"
    "run: {jobs: auto, threads: 1}    # as many cells at once as cores and memory allow\n"
    "\n"
    "# Each row is compared with the one of these labels, seed by seed.\n"
    "report: {metric: %s, baseline: {position.scheme: none}}\n";

/* In single quotes, in which YAML doubles its own. */
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

static int make_experiment(const struct cli *cli)
{
    const char *name = cli->operand[0], *text = cli->n_operand > 1 ? cli->operand[1] : NULL;
    const char *file = arena_printf(cli->arena, "%s.yaml", name);
    if (check(name, file, text, cli->err) != PEAT_OK)
        return CLI_USAGE;
    strbuf_addf(cli->out, head, name, name, name, name, name, name, name);
    if (text)
        strbuf_addf(cli->out, of_text, quoted(cli->arena, text));
    else
        strbuf_add(cli->out, of_symbols);
    strbuf_addf(cli->out, tail, name, text ? "bpb" : "token_accuracy");
    if (cli_write(file, cli->out, cli->err) == PEAT_OK)
        cli_print("wrote %s; edit it, then\n  peat plan %s    # cells, costs, minutes\n"
                  "  peat run %s     # trains them and prints the table\n",
                  file, name, name);
    return CLI_DONE;
}

const struct cli_command cmd_new = {
    .name = "peat new",
    .summary = "write an experiment to start from",
    .about = "Writes NAME.yaml, an experiment of 18 small models on TEXT, a file of some tens of\n"
             "kilobytes or more, with a comment at every key. Without TEXT its task makes its\n"
             "own data. On two cores it takes about a minute.",
    .example = "peat new mine experiments/data/genesis.txt && peat run mine",
    CLI_OPERANDS("NAME [FILE]", 1, 2, "a name for the experiment is needed"),
    .run = make_experiment,
};
