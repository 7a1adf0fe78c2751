/* SPDX-License-Identifier: MIT */
/* cmd_diagnose.c: peat diagnose DIR CELL. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/file.h"
#include "base/jsonfile.h"
#include "cli/cli.h"
#include "cli/cli_apart.h"
#include "cli/verbs.h"
#include "diagnose/celldiagnosis.h"
#include "tensor/gemm.h"

enum { AS_JSON = CLI_LONG, SAVE, ONLY, BATCHES };
enum { ONLY_MAX = 16, BATCHES_MAX = 1024, THREADS_MAX = 1024 };

static const struct cli_option options[] = {
    {AS_JSON, "json", NULL, "an object instead of a page"},
    {SAVE, "save", NULL, "keep the object as diagnose.json in the cell, for 'peat report'"},
    {ONLY, "only", "NAME,...", "logits, subspaces, support, collisions, probes, order, attention"},
    {BATCHES, "batches", "N", "batches of evaluation windows, up to 1024 tokens each (default 4)"},
    {'t', "threads", "N", "threads (default: 1); the figures are the same"},
    {0, NULL, NULL, NULL},
};

static const struct cli_command command = {
    .name = "diagnose",
    .usage = "DIR CELL",
    .about = "Looks inside a trained cell: of which pairs of streams the attention logits are\n"
             "made, whether tokens and positions keep apart in subspaces and dimensions, which\n"
             "sums collide, what linear probes find after every block, how much the order of\n"
             "the tokens matters, and where the heads look. It runs the trained weights on the\n"
             "first windows of the cell's first evaluation length, so it needs the cell's\n"
             "plugins and data; data that have changed since are refused. CELL is an index, a\n"
             "label or the start of a hash. docs/diagnostics.md explains every figure.",
    .option = options,
    .example = "peat diagnose runs/sum-vs-concat learned.sum.s0\n"
               "peat diagnose runs/sum-vs-concat 3 --only logits,order --json",
};

struct request {
    const char *dir, *cell;
    bool json, save;
    int64_t batches, threads;
    int n_only;
    const char *only[ONLY_MAX];
};

/* ---- --only ---- */

static int unknown_name(const char *word)
{
    const char *name[ONLY_MAX];
    struct strbuf all;
    int n = 0;
    strbuf_init(&all);
    for (; diagnostics[n].name; n++) {
        name[n] = diagnostics[n].name;
        strbuf_addf(&all, "%s%s", n ? ", " : "", name[n]);
    }
    const char *near = nearest_name(word, name, n);
    int status =
        cli_mistake(&command, "there is no diagnostic '%s'%s%s%s; there are %s", word,
                    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "", all.text);
    strbuf_release(&all);
    return status;
}

static bool is_diagnostic(const char *word)
{
    for (const struct diagnostic *d = diagnostics; d->name; d++)
        if (!strcmp(d->name, word))
            return true;
    return false;
}

/* Cuts the list at its commas; it is the process's own argv. */
static int read_only(struct request *q, char *list)
{
    char *rest = list;
    for (char *word; (word = strsep(&rest, ","));) {
        if (!is_diagnostic(word))
            return unknown_name(word);
        if (q->n_only < ONLY_MAX)
            q->only[q->n_only++] = word;
    }
    return CLI_DONE;
}

/* ---- one cell ---- */

static int page_width(void)
{
    enum { DEFAULT = 100, NARROW = 72, WIDE = 120 };
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return DEFAULT;
    return size.ws_col < NARROW ? NARROW : size.ws_col > WIDE ? WIDE : size.ws_col;
}

static void print(const struct request *q, const struct value *v)
{
    struct strbuf out;
    strbuf_init(&out);
    if (q->json) {
        value_to_json(v, false, 2, &out);
        strbuf_add(&out, "\n");
    } else {
        diagnosis_page(v, page_width(), &out);
    }
    fwrite(out.text, 1, out.n, stdout);
    strbuf_release(&out);
}

static int diagnose_open_cell(const struct request *q, struct cell_diagnosis *d)
{
    struct value *v;
    struct error err = {0};
    if (d->changed)
        cli_say("%s since the training of '%s'", d->changed, d->cell->label);
    if (cell_diagnosis_run(d, q->only, q->n_only, &v, &err) != PEAT_OK) {
        cli_say("%s", err.text);
        return CLI_FAILED;
    }
    print(q, v);
    if (!q->save || jsonfile_write(d->cell->dir, "diagnose.json", v, &err) == PEAT_OK)
        return CLI_DONE;
    cli_say("%s", err.text);
    return CLI_FAILED;
}

static int run(const struct request *q, struct arena *a)
{
    struct rundir r;
    struct error err = {0};
    struct cell_diagnosis d;
    struct team team = {.threads = 1};
    int index;
    parallel_start();
    if (gemm_start(&team, "openblas", &err) != PEAT_OK ||
        rundir_read(q->dir, &r, a, &err) != PEAT_OK ||
        rundir_find(&r, q->cell, &index, &err) != PEAT_OK)
        return cli_refuse(&err);
    int status = CLI_USAGE;
    if (cell_diagnosis_open(&d, &r.cell[index], (int)q->batches, (int)q->threads, &err) == PEAT_OK)
        status = diagnose_open_cell(q, &d);
    else
        cli_refuse(&err);
    cell_diagnosis_close(&d);
    return status;
}

static int run_apart(void *ctx, struct trail *trail)
{
    struct arena arena;
    (void)trail;
    arena_init(&arena, "diagnose", 1 << 20);
    int status = run(ctx, &arena);
    arena_release(&arena);
    return status;
}

int cmd_diagnose(int argc, char **argv)
{
    struct cli cli;
    struct request q = {.batches = 4, .threads = 1};
    cli_open(&cli, &command, argc, argv);
    for (int letter; (letter = cli_next(&cli)) != CLI_END;) {
        bool good = true;
        switch (letter) {
        case AS_JSON:
            q.json = true;
            break;
        case SAVE:
            q.save = true;
            break;
        case ONLY:
            cli.status = read_only(&q, (char *)(uintptr_t)cli.argument);
            good = cli.status == CLI_DONE;
            break;
        case BATCHES:
            good = cli_whole_number(&cli, 1, BATCHES_MAX, &q.batches);
            break;
        case 't':
            good = cli_whole_number(&cli, 1, THREADS_MAX, &q.threads);
            break;
        default:
            good = false;
        }
        if (!good)
            return cli.status;
    }
    if (cli.n_operand != 2)
        return cli_mistake(&command, "a run directory and a cell are needed");
    q.dir = cli.operand[0];
    q.cell = cli.operand[1];
    return cli_apart(run_apart, &q);
}
