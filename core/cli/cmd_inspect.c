/* SPDX-License-Identifier: MIT */
/* cmd_inspect.c: peat inspect SCHEME [key=value ...] --d N --T N. */
#include <inttypes.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/verbs.h"
#include "experiment/scheme_table.h"
#include "tensor/gemm.h"

enum { TABLE, CSV, LARGEST = 1 << 16 };

static const char *const format_words[] = {"table", "csv"};

static const struct cli_option options[] = {
    {'d', "d", "N", "width of the stream and of the model"},
    {'T', "T", "N", "positions 0 .. N-1"},
    {'H', "heads", "N", "attention heads (default 1)"},
    {'f', "format", "FORMAT", "table (default) or csv"},
    {'o', "output", "FILE", "write there, whole or not at all"},
    {0, NULL, NULL, NULL},
};

static const struct cli_command command = {
    .name = "inspect",
    .usage = "SCHEME [key=value ...]",
    .about = "Prints what a scheme makes of positions, before any training: its stream with a row\n"
             "per position; or else its bias per head with a row per query and a column per key;\n"
             "or else what it names for inspection, such as the angles of rotary. csv of a stream\n"
             "has a row per position and nothing else; csv of what differs by head starts each\n"
             "row with the head and the position.",
    .option = options,
    .example = "peat inspect sinusoidal layout=halves --d 128 --T 128 --format csv",
};

/* ---- csv ---- */

/* Every float in the shortest form that reads back. */
static void add_csv(const struct scheme_table *t, struct strbuf *out)
{
    int64_t heads = t->heads ? t->heads : 1;
    if (t->heads) {
        strbuf_add(out, "head,position");
        for (int64_t j = 0; j < t->columns; j++)
            strbuf_addf(out, ",%" PRId64, j);
        strbuf_add(out, "\n");
    }
    const float *value = t->value;
    for (int64_t row = 0; row < heads * t->rows; row++) {
        if (t->heads)
            strbuf_addf(out, "%" PRId64 ",%" PRId64 ",", row / t->rows, row % t->rows);
        for (int64_t j = 0; j < t->columns; j++) {
            char text[32];
            number_text_single(*value++, text);
            strbuf_addf(out, "%s%s", j ? "," : "", text);
        }
        strbuf_add(out, "\n");
    }
}

/* ---- table ---- */

static int terminal_width(const char *file)
{
    enum { DEFAULT = 100 };
    struct winsize size;
    bool unknown = file || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0;
    return unknown ? DEFAULT : size.ws_col;
}

/* Columns that do not fit are left out; the last one says so. */
static void add_head(const struct scheme_table *t, int64_t head, int width, struct strbuf *out)
{
    enum { LABEL = 6, CELL = 11, MORE = 4 };
    int64_t fit = (width - LABEL - MORE) / CELL;
    int64_t shown = t->columns < fit ? t->columns : fit > 0 ? fit : 1;
    const char *more = shown < t->columns ? " ..." : "";
    strbuf_addf(out, "%*s", LABEL, "");
    for (int64_t j = 0; j < shown; j++)
        strbuf_addf(out, "%*" PRId64, CELL, j);
    strbuf_addf(out, "%s\n", more);
    for (int64_t i = 0; i < t->rows; i++) {
        const float *row = t->value + (head * t->rows + i) * t->columns;
        strbuf_addf(out, "%*" PRId64, LABEL, i);
        for (int64_t j = 0; j < shown; j++)
            strbuf_addf(out, " %*.4g", CELL - 1, (double)row[j]);
        strbuf_addf(out, "%s\n", more);
    }
}

static void add_table(const struct scheme_table *t, const char *scheme, int width,
                      struct strbuf *out)
{
    for (int64_t h = 0; h < (t->heads ? t->heads : 1); h++) {
        strbuf_addf(out, "%s%s: %s", h ? "\n" : "", scheme, t->what);
        if (t->heads)
            strbuf_addf(out, " of head %" PRId64, h);
        strbuf_addf(out, ", %" PRId64 " x %" PRId64 "\n", t->rows, t->columns);
        add_head(t, h, width, out);
    }
}

static int inspect(const struct scheme_request *q, int format, const char *file, struct arena *a)
{
    struct scheme_table t;
    struct error err = {0};
    struct strbuf out;
    parallel_start();
    peat_status status = gemm_start(&err);
    if (status == PEAT_OK)
        status = scheme_table_make(&t, q, a, &err);
    if (status != PEAT_OK)
        return cli_refuse(&err);
    strbuf_init(&out);
    if (format == CSV)
        add_csv(&t, &out);
    else
        add_table(&t, q->scheme, terminal_width(file), &out);
    if (file)
        status = file_write(file, out.text, out.n, &err);
    else
        fwrite(out.text, 1, out.n, stdout);
    strbuf_release(&out);
    return status == PEAT_OK ? CLI_DONE : cli_refuse(&err);
}

int cmd_inspect(int argc, char **argv)
{
    struct cli cli;
    struct scheme_request q = {.heads = 1};
    int format = TABLE;
    const char *file = NULL;
    cli_open(&cli, &command, argc, argv);
    for (int letter; (letter = cli_next(&cli)) != CLI_END;) {
        bool good = true;
        switch (letter) {
        case 'd':
            good = cli_whole_number(&cli, 1, LARGEST, &q.d);
            break;
        case 'T':
            good = cli_whole_number(&cli, 1, LARGEST, &q.T);
            break;
        case 'H':
            good = cli_whole_number(&cli, 1, LARGEST, &q.heads);
            break;
        case 'f':
            good = cli_word(&cli, format_words, 2, &format);
            break;
        case 'o':
            file = cli.argument;
            break;
        default:
            good = false;
        }
        if (!good)
            return cli.status;
    }
    if (!cli.n_operand)
        return cli_mistake(&command, "which scheme?");
    if (!q.d || !q.T)
        return cli_mistake(&command, "--d and --T are needed");
    q.scheme = cli.operand[0];
    q.n_word = cli.n_operand - 1;
    q.word = cli.operand + 1;
    struct arena arena;
    arena_init(&arena, "inspect", 1 << 20);
    int status = inspect(&q, format, file, &arena);
    arena_release(&arena);
    return status;
}
