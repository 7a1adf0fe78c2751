/* SPDX-License-Identifier: MIT */
/*
 * cmd_tokenize.c: peat tokenize FILE... --vocab N -o DIR: from texts to a folder of token ids,
 * which the task `tokens` reads.
 *
 * Texts are checked here; python/peat/tokenize.py learns the pieces and writes the ids, in a folder
 * beside the new one. The same files and settings give the same bytes at any number of processors.
 * On an error, and when a stop ends the process, no folder is left.
 */

#include "cli/pythonverb.h"
#include "cli/verbs.h"
#include "process/python.h"

static const char *const model_words[] = {"unigram", "bpe"};

/* The unknown piece, which no text contains, one piece for each byte, and one more. */
enum { PIECES_LEAST = 258, PIECES_MOST = 1 << 20 };

struct request {
    const char *dir;
    int64_t vocab, learn_mib;
    int model;
};

/* ---- texts ---- */

static peat_status check_text(const char *path, const unsigned char *byte, size_t size,
                              struct error *err)
{
    const char *kind = file_kind(byte, size);
    uint32_t code;
    if (size == 0)
        return error_set(err, PEAT_INVALID, "'%s' is empty", path);
    if (kind)
        return error_set(err, PEAT_INVALID, "'%s' is %s", path, kind);
    for (size_t at = 0, n; at < size; at += n) {
        n = utf8_read(byte + at, size - at, &code);
        if (n == 0)
            return error_set(err, PEAT_INVALID,
                             "'%s' is not UTF-8 at byte %zu; `iconv -t UTF-8` converts a text",
                             path, at);
        if (code == 0)
            return error_set(err, PEAT_INVALID, "'%s' is not text: byte %zu is 0", path, at);
    }
    return PEAT_OK;
}

static peat_status check_texts(const struct cli *cli, int64_t *bytes)
{
    struct data_files files = {.a = cli->arena, .keep_most = SIZE_MAX};
    peat_status status = PEAT_OK;
    for (int i = 0; status == PEAT_OK && i < cli->n_operand; i++) {
        const unsigned char *byte;
        size_t n = 0;
        status = data_read(&files, cli->operand[i], cli->arena, &byte, &n, cli->err);
        if (status == PEAT_OK)
            status = check_text(cli->operand[i], byte, n, cli->err);
        *bytes += (int64_t)n;
    }
    return status;
}

/* ---- pieces and ids ---- */

/* The program says on stderr why it fails. */
static peat_status run_program(const struct cli *cli, const char *made)
{
    enum { FIRST = 5 }; /* the first text */
    const struct request *q = cli->options;
    const char *python = installed_dir(cli->arena, PEAT_PYTHONDIR);
    const char *const given[FIRST] = {
        arena_printf(cli->arena, "%s/peat/tokenize.py", python ? python : ""), made,
        arena_printf(cli->arena, "%" PRId64, q->vocab), model_words[q->model],
        arena_printf(cli->arena, "%" PRId64, q->learn_mib)};
    char **word = ARENA_ARRAY(cli->arena, FIRST + cli->n_operand, char *);
    for (int i = 0; i < FIRST + cli->n_operand; i++)
        word[i] = i < FIRST ? arena_strdup(cli->arena, given[i]) : cli->operand[i - FIRST];
    if (!file_exists(given[0]))
        return error_set(cli->err, PEAT_NOTFOUND,
                         "pieces of words need '%s', which is not there (Debian: apt-get install "
                         "python3-peat)",
                         given[0]);
    int code;
    peat_status status = python_run(cli, word, FIRST + cli->n_operand, &code);
    return status != PEAT_OK ? status
           : code == 0       ? PEAT_OK
           : code == 2       ? PEAT_INVALID
                             : PEAT_FAILED;
}

static peat_status publish(const char *made, const char *dir, int64_t vocab, int64_t *ids,
                           struct error *err)
{
    enum { HEADER = 128, NARROW = 1 << 16 };
    struct stat st;
    if (stat(path_in(made, DATA_FOLDER_IDS).text, &st) != 0 || rename(made, dir) != 0)
        return error_set(err, PEAT_IO, "cannot rename '%s' to '%s': %s", made, dir,
                         strerror(errno));
    *ids = (st.st_size - HEADER) / (vocab <= NARROW ? 2 : 4);
    return dir_sync_parent(dir, err);
}

static peat_status make_folder(const struct cli *cli, const char *dir, int64_t *ids)
{
    const struct request *q = cli->options;
    const char *made = arena_printf(cli->arena, "%s.tmp-%ld", dir, (long)getpid());
    struct stops_held held;
    stops_hold(&held);
    peat_status status = dir_make(made, cli->err);
    if (status == PEAT_OK)
        status = run_program(cli, made);
    if (status == PEAT_OK)
        status = publish(made, dir, q->vocab, ids, cli->err);
    if (status != PEAT_OK)
        dir_remove(made, NULL);
    stops_let(&held);
    return status;
}

static int tokenize_files(const struct cli *cli)
{
    const struct request *q = cli->options;
    int64_t bytes = 0, ids = 0;
    if (!q->dir)
        return cli_mistake(cmd_tokenize.name, "name the folder to write: -o DIR");
    if (q->vocab == 0)
        return cli_mistake(cmd_tokenize.name, "how many pieces? give --vocab N");
    const char *dir = path_bare(q->dir, cli->arena);
    peat_status status = file_exists(dir) ? error_set(cli->err, PEAT_INVALID,
                                                      "'%s' exists already: name a new folder", dir)
                                          : check_texts(cli, &bytes);
    if (status == PEAT_OK)
        status = make_folder(cli, dir, &ids);
    if (status != PEAT_OK)
        return status == PEAT_FAILED || status == PEAT_IO ? CLI_FAILED : CLI_USAGE;
    cli_print("%s: %" PRId64 " ids of %" PRId64 " pieces are %" PRId64
              " bytes of text, %.2f bytes an id\n",
              dir, ids, q->vocab, bytes, (double)bytes / (double)ids);
    return CLI_DONE;
}

static const struct cli_option options[] = {
    CLI_WHOLE(0, "vocab", "N", PIECES_LEAST, PIECES_MOST, vocab,
              "how many pieces; 257 of them are the bytes and the unknown piece"),
    CLI_WORD('m', "model", "MODEL", model_words, model,
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
