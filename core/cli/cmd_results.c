/* SPDX-License-Identifier: MIT */
/* cmd_results.c: peat results DIR... */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/verbs.h"
#include "report/comparison_tables.h"
#include "report/ranking.h"

/* The printed form. */
enum section { ALL, RESULTS, CONTRASTS, CLAIMS };

enum format { TABLE, MARKDOWN, CSV, TEX, JSON, JSONL };

static const char *const format_words[] = {"table", "md", "csv", "tex", "json", "jsonl"};
static const char *const part_words[] = {"all", "results", "contrasts", "claims"};
static const char *const spread_words[] = {"ci", "sd", "se"};
const char *const test_words[PAIRED_TESTS] = {"sign-flip", "wilcoxon", "t"};

struct request {
    int format, part;
    struct results_options read;
    struct table_options table;
    int64_t digits; /* 0: the usual ones */
    bool all_steps, ranks;
    const char *file; /* NULL: stdout */
};

static bool use_bold(const struct request *q)
{
    const char *off = getenv("NO_COLOR"), *term = getenv("TERM");
    return !q->file && isatty(STDOUT_FILENO) && !(off && *off) && term && strcmp(term, "dumb") != 0;
}

static void write_formatted(const struct table *t, const struct request *q, struct strbuf *out)
{
    if (q->format == MARKDOWN)
        format_markdown(t, out);
    else if (q->format == TEX)
        format_tex(t, out);
    else
        format_text(t, cli_width(q->file, 60, INT_MAX), use_bold(q), out);
}

static bool shows(const struct request *q, enum section section)
{
    return q->part == ALL || q->part == (int)section;
}

/* Below what was printed already. */
static void add_table(const struct table *t, const struct request *q, struct strbuf *out)
{
    strbuf_add(out, out->n ? "\n" : "");
    write_formatted(t, q, out);
}

static peat_status write_contrasts(const struct results *r, const struct request *q,
                                   struct arena *a, struct strbuf *out, struct error *err)
{
    struct effects x;
    struct table t;
    peat_status status = PEAT_OK;
    for (int i = 0; status == PEAT_OK && i < effects_count(r); i++) {
        status = effects_of_report(&x, r, i, q->table.length, a, err);
        if (status == PEAT_OK && q->format == CSV) {
            effects_csv(&x, i == 0, out);
        } else if (status == PEAT_OK) {
            effects_table(&t, &x, a);
            add_table(&t, q, out);
        }
    }
    return status;
}

static peat_status write_claims(const struct results *r, const struct request *q, struct arena *a,
                                struct strbuf *out, struct error *err)
{
    struct claim_history h;
    struct table t;
    peat_status status = claims_history(&h, r, a, err);
    if (status != PEAT_OK || !h.now.version)
        return status;
    if (q->format == CSV) {
        claims_csv(&h, out);
        return PEAT_OK;
    }
    claims_table(&t, &h, false, a);
    add_table(&t, q, out);
    if (h.first.version) {
        claims_table(&t, &h, true, a);
        add_table(&t, q, out);
    }
    return PEAT_OK;
}

/* What was asked for and is not there. */
static peat_status nothing_to_show(const struct results *r, const struct request *q,
                                   struct error *err)
{
    if (q->part == CONTRASTS && effects_count(r) == 0)
        return error_set(err, PEAT_INVALID,
                         "option '--part contrasts': the experiment has no report.contrasts");
    if (q->part == CLAIMS && r->claims.n == 0)
        return error_set(err, PEAT_INVALID, "option '--part claims': the experiment has no claims");
    return PEAT_OK;
}

static peat_status write_comparisons(const struct results *r, const struct request *q,
                                     struct arena *a, struct strbuf *out, struct error *err)
{
    peat_status status = nothing_to_show(r, q, err);
    if (status == PEAT_OK && shows(q, CONTRASTS))
        status = write_contrasts(r, q, a, out, err);
    if (status == PEAT_OK && shows(q, CLAIMS))
        status = write_claims(r, q, a, out, err);
    return status;
}

static peat_status write_table(const struct results *r, const struct request *q, struct arena *a,
                               struct strbuf *out, struct error *err)
{
    struct table t;
    peat_status status = PEAT_OK;
    if (shows(q, RESULTS))
        status = table_build(&t, r, &q->table, a, err);
    if (status == PEAT_OK && shows(q, RESULTS))
        write_formatted(&t, q, out);
    return status == PEAT_OK ? write_comparisons(r, q, a, out, err) : status;
}

static peat_status write_json(const struct results *r, const struct request *q, struct arena *a,
                              struct strbuf *out, struct error *err)
{
    const int *order;
    peat_status status = table_order(r, &q->table, a, &order, err);
    if (status == PEAT_OK && q->format == JSON)
        format_json(r, order, a, out);
    else if (status == PEAT_OK)
        format_jsonl(r, order, a, out);
    return status;
}

static peat_status write_ranks(const struct results *r, const struct request *q, struct arena *a,
                               struct strbuf *out, struct error *err)
{
    struct ranking k;
    struct table t;
    peat_status status = ranking_make(&k, r, q->table.length, a, err);
    if (status != PEAT_OK)
        return status;
    if (q->format == JSON) {
        ranking_json(&k, a, out);
        return PEAT_OK;
    }
    ranking_table(&k, a, &t);
    write_formatted(&t, q, out);
    return PEAT_OK;
}

static peat_status write_results(const struct results *r, const struct request *q, struct arena *a,
                                 struct strbuf *out, struct error *err)
{
    if (q->ranks)
        return write_ranks(r, q, a, out, err);
    switch (q->format) {
    case CSV:
        if (q->part == CONTRASTS || q->part == CLAIMS)
            return write_comparisons(r, q, a, out, err);
        return format_csv(r, q->all_steps, q->table.columns, q->table.only_changed, out, err);
    case JSON:
    case JSONL:
        return write_json(r, q, a, out, err);
    default:
        return write_table(r, q, a, out, err);
    }
}

static int print_request(const struct request *q, int n_dir, char *const *dir, struct arena *a)
{
    struct results r;
    struct error err = {0};
    struct strbuf out;
    strbuf_init(&out);
    peat_status status = results_read(&r, n_dir, dir, &q->read, a, &err);
    if (status == PEAT_OK)
        status = write_results(&r, q, a, &out, &err);
    if (status == PEAT_OK)
        status = cli_write(q->file, &out, &err);
    strbuf_release(&out);
    return status == PEAT_OK ? CLI_DONE : cli_refuse(&err);
}

int print_results(char *dir, struct arena *a)
{
    return print_request(&(struct request){.table = {.length = -1}}, 1, &dir, a);
}

/* An option that would have no effect is a mistake. */
static const char *what_clashes(const struct cli *cli)
{
    const struct request *q = cli->options;
    bool is_csv = q->format == CSV, is_json = q->format == JSON || q->format == JSONL;
    bool is_table = !is_csv && !is_json;
    const struct {
        const char *given; /* one of these */
        bool clash;
        const char *why;
    } one[] = {
        {"all-steps", !is_csv, "option '--all-steps' is for --format csv"},
        {"ranks", is_csv || q->format == JSONL,
         "option '--ranks' is for --format table, md, tex or json"},
        {"part", q->ranks, "options '--part' and '--ranks' do not go together"},
        {"part", is_json, "option '--part' is for --format table, md, tex or csv: json has all"},
        {"part", is_csv && q->part == ALL,
         "option '--part all' is not for --format csv: results, contrasts and claims have other "
         "columns"},
        {"columns cols rows sort only-changed injection err precision", q->ranks,
         "option '--ranks' makes a table of its own: no options on columns and rows go with it"},
        {"every-value", q->part == CONTRASTS || q->part == CLAIMS,
         "option '--every-value' shows rows alone: contrasts and claims are about chosen values"},
        {"columns", q->table.cols != NULL, "options '--columns' and '--cols' do not go together"},
        {"columns", is_json, "option '--columns' is for --format table, md, tex or csv"},
        {"only-changed", is_json, "option '--only-changed' is for --format table, md, tex or csv"},
        {"cols", !is_table, "option '--cols' is for --format table, md or tex"},
        {"err precision", !is_table,
         "options '--err' and '--precision' are for --format table, md or tex: the others have "
         "every number in full"},
        {"baseline test length", is_csv,
         "options '--baseline', '--test' and '--length' are not for --format csv: it compares "
         "nothing, and has every length"},
        {"sort rows", is_csv,
         "options '--sort' and '--rows' are not for --format csv, which has a line for each cell"},
    };
    for (size_t i = 0; i < sizeof(one) / sizeof(*one); i++)
        if (one[i].clash && cli_given(cli, one[i].given))
            return one[i].why;
    return NULL;
}

static int show_results(const struct cli *cli)
{
    struct request *q = cli->options;
    const char *why = what_clashes(cli);
    if (why)
        return cli_mistake(cmd_results.name, "%s", why);
    q->table.digits = (int)q->digits;
    return print_request(q, cli->n_operand, cli->operand, cli->arena);
}

static const struct cli_option options[] = {
    CLI_WORD('f', "format", "FORMAT", format_words, format,
             "table (default), md, csv, tex, json or jsonl"),
    CLI_WORD(0, "part", "PART", part_words, part,
             "all (default), results, contrasts or claims; csv: results, if not said"),
    CLI_TEXT(0, "metric", "METRIC", read.metric, "another metric than the experiment's"),
    CLI_TEXT(0, "rows", "AXIS", table.rows, "the axis of the first column"),
    CLI_TEXT(0, "cols", "AXIS,...", table.cols, "axes that become columns, at one length"),
    CLI_TEXT('b', "baseline", "ROW", read.baseline,
             "compare with axis=label[,axis=label] or a label"),
    CLI_TEXT(0, "sort", "AXIS", table.sort, "order of rows: an axis, or `metric` for best first"),
    CLI_WHOLE(0, "length", "N", 0, INT64_MAX, table.length,
              "length of differences and --cols (default: the first)"),
    CLI_TEXT(0, "columns", "NAME,...", table.columns,
             "only these, as metric,diff,p_holm,g_z,n,params; csv: its own"),
    CLI_WORD(0, "err", "WHAT", spread_words, table.err,
             "behind a mean: ci (95 % interval, default), sd or se"),
    CLI_WHOLE(0, "precision", "N", 1, 15, digits,
              "significant digits of intervals and deviations (default 2)"),
    CLI_FLAG(0, "only-changed", table.only_changed, "leave out labels and costs that never differ"),
    CLI_WORD(0, "test", "TEST", test_words, read.test,
             "of paired differences: sign-flip (default), wilcoxon or t"),
    CLI_FLAG(0, "ranks", ranks, "rank methods over tasks: Friedman's test, critical difference"),
    CLI_FLAG(0, "mix-stopped", read.mix_stopped,
             "compare rows that stop early (train.patience) with rows that do not"),
    CLI_FLAG(0, "every-value", read.every_value,
             "without report.best_over: a row for every value, with all seeds"),
    CLI_FLAG(0, "all-steps", all_steps, "csv: every evaluation instead of the last"),
    CLI_FLAG(0, "injection", table.injection, "say what acts where in each row"),
    CLI_TEXT('o', "output", "FILE", file, "write there, whole or not at all"),
};

const struct cli_command cmd_results = {
    .name = "peat results",
    .summary = "the table: means over seeds, differences, costs",
    .about = "Prints the results of run directories: a row for each setting, the mean over seeds\n"
             "with a 95 % interval, differences to the baseline paired by seed, and what it cost;\n"
             "below them the experiment's contrasts and its claims with their verdicts.\n"
             "Needs neither plugins nor data. csv is tidy: a line per cell, metric, split and\n"
             "length.",
    .example = "peat results runs/sum-vs-concat --cols combine",
    CLI_OPERANDS("DIR...", 1, CLI_MANY, "which run directory?"),
    CLI_ROWS(options),
    CLI_DEFAULTS(.table.length = -1),
    .run = show_results,
};
