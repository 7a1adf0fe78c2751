/* SPDX-License-Identifier: MIT */
/* cmd_tokenize.c: peat tokenize FILE... --vocab N -o DIR. */

#include "cli/verbs.h"
#include "pieces/tokenize.h"

struct request {
    const char *dir;
    int64_t vocab, learn_mib;
    enum pieces_model model;
};

static int tokenize_files(const struct cli *cli)
{
    const struct request *q = cli->options;
    struct tokenize t = {.file = (const char *const *)cli->operand,
                         .n = cli->n_operand,
                         .vocab = q->vocab,
                         .model = q->model,
                         .learn_mib = q->learn_mib,
                         .dir = q->dir};
    if (!q->dir)
        return cli_mistake(cmd_tokenize.name, "name the folder to write: -o DIR");
    if (q->vocab == 0)
        return cli_mistake(cmd_tokenize.name, "how many pieces? give --vocab N");
    peat_status status = tokenize(&t, cli->arena, cli->err);
    if (status != PEAT_OK)
        return status == PEAT_FAILED || status == PEAT_IO ? CLI_FAILED : CLI_USAGE;
    cli_print("%s: %" PRId64 " ids of %" PRId64 " pieces are %" PRId64
              " bytes of text, %.2f bytes an id\n",
              t.dir, t.ids, t.vocab, t.bytes, (double)t.bytes / (double)t.ids);
    return CLI_DONE;
}

static const struct cli_option options[] = {
    CLI_WHOLE(0, "vocab", "N", PIECES_LEAST, PIECES_MOST, vocab,
              "how many pieces; 257 of them are the bytes and the unknown piece"),
    CLI_WORD('m', "model", "MODEL", pieces_model_word, model,
             "unigram (default) or bpe: how pieces are learned"),
    CLI_WHOLE(0, "learn-mib", "N", 1, 1 << 16, learn_mib,
              "learn from so many MiB, taken evenly over the text (default 16)"),
    CLI_TEXT('o', "output", "DIR", dir, "the folder to make"),
};

const struct cli_command cmd_tokenize = {
    .name = "peat tokenize",
    .summary = "pieces of words from a text, and the text as their ids",
    CLI_OPERANDS("FILE...", 1, CLI_MANY, "which texts?"),
    CLI_ROWS(options),
    CLI_DEFAULTS(.learn_mib = 16),
    .run = tokenize_files,
};
