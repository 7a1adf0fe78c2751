/* SPDX-License-Identifier: MIT */
/* cmd_inspect.c: peat inspect SCHEME [key=value ...] --d N --T N. */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/json.h"
#include "base/number.h"
#include "cli/verbs.h"
#include "experiment/words.h"
#include "inspect/describe.h"
#include "inspect/scheme_table.h"
#include "plot/heatmap.h"
#include "tensor/gemm.h"

enum format { TABLE, CSV, NPY, SVG, PNG };
enum { LARGEST = 1 << 16 };

static const char *const format_words[] = {"table", "csv", "npy", "svg", "png"};

/* What was asked for. */
struct request {
    struct scheme_request scheme;
    int format;
    bool describe, json;
    const char *file; /* NULL: stdout */
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

/* ---- npy ---- */

/* NumPy's format 1.0: the header ends with a newline at a multiple of 64 bytes. */
static void add_npy(const struct scheme_table *t, struct strbuf *out)
{
    enum { PREFIX = 10, BLOCK = 64 };
    const char order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';
    int64_t n = (t->heads ? t->heads : 1) * t->rows * t->columns;
    struct strbuf head;
    strbuf_init(&head);
    strbuf_addf(&head, "{'descr': '%cf4', 'fortran_order': False, 'shape': (", order);
    if (t->heads)
        strbuf_addf(&head, "%" PRId64 ", ", t->heads);
    strbuf_addf(&head, "%" PRId64 ", %" PRId64 "), }", t->rows, t->columns);
    strbuf_fill(&head, ' ', BLOCK - 1 - (PREFIX + head.n) % BLOCK);
    strbuf_add(&head, "\n");
    const unsigned char length[] = {(unsigned char)(head.n & 0xff), (unsigned char)(head.n >> 8)};
    strbuf_add_bytes(out, "\x93NUMPY\x01\x00", PREFIX - sizeof(length));
    strbuf_add_bytes(out, length, sizeof(length));
    strbuf_add_bytes(out, head.text, head.n);
    strbuf_add_bytes(out, t->value, (size_t)n * sizeof(*t->value));
    strbuf_release(&head);
}

/* ---- everything ---- */

static peat_status add_description(const struct scheme_table *t, const struct request *q,
                                   struct arena *a, struct strbuf *out, struct error *err)
{
    struct value *v;
    if (!q->json)
        return describe_page(q->scheme.team, t, q->scheme.scheme, out, a, err);
    peat_status status = describe_value(q->scheme.team, t, q->scheme.scheme, &v, a, err);
    if (status == PEAT_OK) {
        json_print(v, JSON_INDENTED, out);
        strbuf_add(out, "\n");
    }
    return status;
}

static peat_status add_svg(const struct heatmap *h, struct strbuf *out, struct error *err)
{
    struct figure f;
    heatmap_figure(h, &f);
    peat_status status = figure_svg(&f, out, err);
    figure_release(&f);
    return status;
}

static peat_status add_format(const struct scheme_table *t, const struct request *q,
                              struct arena *a, struct strbuf *out, struct error *err)
{
    const struct heatmap h = heatmap_of_scheme(t, a);
    if (q->describe)
        return add_description(t, q, a, out, err);
    switch (q->format) {
    case CSV:
        add_csv(t, out);
        return PEAT_OK;
    case NPY:
        add_npy(t, out);
        return PEAT_OK;
    case SVG:
        return add_svg(&h, out, err);
    case PNG:
        return heatmap_png(&h, out, err);
    default:
        add_table(t, q->scheme.scheme, cli_width(q->file, 1, INT_MAX), out);
        return PEAT_OK;
    }
}

/* Bytes would upset a terminal. */
static int check_request(const struct request *q)
{
    bool bytes = q->format == NPY || q->format == PNG;
    if (!q->scheme.d || !q->scheme.T)
        return cli_mistake(cmd_inspect.name, "--d and --T are needed");
    if (q->json && !q->describe)
        return cli_mistake(cmd_inspect.name, "option '--json' is for --describe");
    if (q->describe && q->format != TABLE)
        return cli_mistake(cmd_inspect.name, "option '--describe' prints text: without --format");
    if (bytes && !q->file && isatty(STDOUT_FILENO))
        return cli_mistake(cmd_inspect.name,
                           "--format %s is not for a terminal: name a file with -o",
                           format_words[q->format]);
    return CLI_DONE;
}

static int inspect_scheme(const struct cli *cli)
{
    struct request *q = cli->options;
    struct scheme_table t;
    struct value *given = NULL;
    struct error err = {0};
    struct strbuf out;
    struct team team = {1, NULL};
    int code = check_request(q);
    if (code != CLI_DONE)
        return code;
    q->scheme.scheme = cli->operand[0];
    q->scheme.trail = cli->trail;
    q->scheme.team = &team;
    strbuf_init(&out);
    parallel_start();
    peat_status status = gemm_start(&team, "auto", &err);
    if (status == PEAT_OK)
        status = words_map(cli->arena, cli->n_operand - 1, cli->operand + 1, &given, &err);
    q->scheme.given = given;
    if (status == PEAT_OK)
        status = scheme_table_make(&t, &q->scheme, cli->arena, &err);
    if (status == PEAT_OK)
        status = add_format(&t, q, cli->arena, &out, &err);
    if (status == PEAT_OK)
        status = cli_write(q->file, &out, &err);
    strbuf_release(&out);
    return status == PEAT_OK ? CLI_DONE : cli_refuse(&err);
}

static const struct cli_option options[] = {
    CLI_WHOLE('d', "d", "N", 1, LARGEST, scheme.d, "width of the stream and of the model"),
    CLI_WHOLE('T', "T", "N", 1, LARGEST, scheme.T, "positions 0 .. N-1"),
    CLI_WHOLE('H', "heads", "N", 1, LARGEST, scheme.heads, "attention heads (default 1)"),
    CLI_WORD('f', "format", "FORMAT", format_words, format,
             "table (default), csv, npy, svg or png"),
    CLI_FLAG(0, "describe", describe, "what the numbers look like instead of the numbers"),
    CLI_FLAG(0, "json", json, "with --describe: an object instead of a page"),
    CLI_TEXT('o', "output", "FILE", file, "write there, whole or not at all"),
};

const struct cli_command cmd_inspect = {
    .name = "peat inspect",
    .summary = "what a scheme makes of positions, as numbers",
    .about = "Prints what a scheme makes of positions, before any training: its stream with a row\n"
             "per position; or else its bias per head with a row per query and a column per key;\n"
             "or else what it names for inspection, such as the angles of rotary. csv of a stream\n"
             "has a row per position and nothing else; csv of what differs by head starts each\n"
             "row with the head and the position. npy is for numpy.load; svg (by gnuplot) and png\n"
             "are heat maps. --describe tells which dimensions move, how much of the energy is\n"
             "constant, the rank, how alike positions are, and whether a shift is linear.",
    .example = "peat inspect sinusoidal layout=halves --d 128 --T 128 --describe\n"
               "peat inspect alibi --d 64 --T 128 --heads 8 --format svg -o alibi.svg",
    CLI_OPERANDS("SCHEME [key=value ...]", 1, CLI_MANY, "which scheme?"),
    CLI_ROWS(options),
    CLI_DEFAULTS(.scheme.heads = 1),
    .run = inspect_scheme,
    .apart = true,
};
