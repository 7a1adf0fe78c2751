/* SPDX-License-Identifier: MIT */
/* cmd_results.c: peat results DIR... */

#include "cli/verbs.h"
#include "report/comparison_tables.h"

/* The values of --part. */
enum section { ALL, RESULTS, CONTRASTS, CLAIMS };

enum format { TABLE, MARKDOWN, CSV, TEX, JSON, JSONL };

static const char *const format_words[] = {"table", "md", "csv", "tex", "json", "jsonl"};
static const char *const part_words[] = {"all", "results", "contrasts", "claims"};
static const char *const spread_words[] = {"ci", "sd", "se"};
struct request {
    int format, part;
    struct results_options read;
    struct table_options table;
    int64_t digits; /* 0: the default */
    bool all_steps, family, notes;
    const char *file; /* NULL: stdout */
};

static bool use_bold(const struct request *q)
{
    const char *off = getenv("NO_COLOR"), *term = getenv("TERM");
    return !q->file && isatty(STDOUT_FILENO) && !(off && *off) && term && strcmp(term, "dumb") != 0;
}

struct printing {
    const struct request *q;
    const struct results *r;
    struct arena *a;
    struct strbuf *out;
    struct error *err;
};

static bool shows(const struct request *q, enum section section)
{
    return q->part == ALL || q->part == (int)section;
}

static void add_table(const struct printing *p, struct table *t)
{
    enum { NOTES = 3 };
    const struct request *q = p->q;
    if (q->format == TABLE && !q->notes)
        table_limit_notes(t, NOTES);
    strbuf_add(p->out, p->out->n ? "\n" : "");
    if (q->format == MARKDOWN)
        format_markdown(t, p->out);
    else if (q->format == TEX)
        format_tex(t, p->out);
    else
        cli_add_wrapped(t, q->file, use_bold(q), p->out);
}

static void add_contrasts(const struct printing *p)
{
    struct effects x;
    struct table t;
    for (int i = 0; i < effects_count(p->r); i++) {
        if (effects_of_report(&x, p->r, i, p->q->table.length, p->a, p->err) != PEAT_OK)
            return;
        effects_table(&t, &x, p->a);
        if (p->q->format == CSV)
            effects_csv(&x, i == 0, p->a, p->out);
        else
            add_table(p, &t);
    }
}

static void add_history(const struct printing *p, const struct claim_history *h)
{
    struct table t;
    if (p->q->format == JSON) {
        struct json m = json_map(p->a);
        claims_json(h, m);
        json_print(m.v, JSON_INDENTED, p->out);
        return;
    }
    if (p->q->format == CSV) {
        claims_csv(h, p->a, p->out);
        return;
    }
    for (int earlier = 0; earlier <= (h->first.version != NULL); earlier++) {
        claims_table(&t, h, earlier, p->a);
        add_table(p, &t);
    }
}

static void add_claims(const struct printing *p)
{
    struct claim_history h;
    if (claims_history(&h, p->r, p->a, p->err) == PEAT_OK && h.now.version)
        add_history(p, &h);
}

static void add_comparisons(const struct printing *p)
{
    const struct request *q = p->q;
    if (q->part == CONTRASTS && effects_count(p->r) == 0)
        error_set(p->err, PEAT_INVALID,
                  "option '--part contrasts': the experiment has no report.contrasts");
    else if (q->part == CLAIMS && !p->r->claims.claims)
        error_set(p->err, PEAT_INVALID, "option '--part claims': the experiment has no claims");
    if (p->err->status == PEAT_OK && shows(q, CONTRASTS))
        add_contrasts(p);
    if (p->err->status == PEAT_OK && shows(q, CLAIMS))
        add_claims(p);
}

static void add_json(const struct printing *p)
{
    const int *order;
    struct table_options o = p->q->table;
    o.whole = true;
    if (p->q->format == JSON)
        format_json(p->r, &o, p->a, p->out, p->err);
    else if (table_order(p->r, &o, p->a, &order, p->err) == PEAT_OK)
        format_jsonl(p->r, order, p->a, p->out);
}

static void add_results(const struct printing *p)
{
    const struct request *q = p->q;
    struct table t;
    if (shows(q, RESULTS) && table_build(&t, p->r, &q->table, p->a, p->err) == PEAT_OK)
        add_table(p, &t);
    if (p->err->status == PEAT_OK)
        add_comparisons(p);
}

static void print_all(const struct printing *p)
{
    const struct request *q = p->q;
    if (q->format == JSON || q->format == JSONL)
        add_json(p);
    else if (q->format == CSV && q->part != CONTRASTS && q->part != CLAIMS)
        format_csv(p->r, q->all_steps, q->table.columns, q->table.only_changed, p->out, p->err);
    else if (q->format == CSV)
        add_comparisons(p);
    else
        add_results(p);
}

static void print_request(const struct cli *cli, const struct request *q, int n_dir,
                          char *const *dir)
{
    struct results r;
    if (results_read(&r, n_dir, dir, &q->read, cli->arena, cli->err) == PEAT_OK)
        print_all(&(struct printing){q, &r, cli->arena, cli->out, cli->err});
    cli_output(cli, q->file);
}

/* Each directory is a separate run, with its own claims. */
static void print_family(const struct cli *cli, const struct request *q, int n, char *const *dir)
{
    struct claim_history h;
    if (claims_of_runs(&h, n, dir, &q->read, cli->arena, cli->err) == PEAT_OK)
        add_history(&(struct printing){q, NULL, cli->arena, cli->out, cli->err}, &h);
    cli_output(cli, q->file);
}

void print_results(const struct cli *cli, char *dir)
{
    print_request(cli, &(struct request){.table.length = -1}, 1, &dir);
}

static bool has_clashes(const struct cli *cli)
{
    const struct request *q = cli->options;
    bool is_csv = q->format == CSV, is_json = q->format == JSON || q->format == JSONL;
    bool is_table = !is_csv && !is_json;
    const struct cli_clash one[] = {
        {"family", q->part != CLAIMS, "option '--family' is for --part claims"},
        {"all-steps", !is_csv, "option '--all-steps' is for --format csv"},
        {"family", q->format == JSONL,
         "option '--family' is for --format table, md, tex, csv or json"},
        {"part", is_json && !q->family,
         "option '--part' is for --format table, md, tex or csv: json has all"},
        {"part", is_csv && q->part == ALL,
         "option '--part all' is not for --format csv: results, contrasts and claims have other "
         "columns"},
        {"every-value", q->part == CONTRASTS || q->part == CLAIMS,
         "option '--every-value' shows rows alone: contrasts and claims are about chosen values"},
        {"columns", q->table.cols != NULL, "options '--columns' and '--cols' do not go together"},
        {"columns", is_json, "option '--columns' is for --format table, md, tex or csv"},
        {"only-changed", is_json, "option '--only-changed' is for --format table, md, tex or csv"},
        {"injection", !is_table,
         "option '--injection' is for --format table, md or tex: json has it in every row"},
        {"cols", !is_table, "option '--cols' is for --format table, md or tex"},
        {"err precision", !is_table,
         "options '--err' and '--precision' are for --format table, md or tex: the others have "
         "every number in full"},
        {"baseline test length", is_csv,
         "options '--baseline', '--test' and '--length' are not for --format csv: it compares "
         "nothing, and has every length"},
        {"notes", q->format != TABLE,
         "option '--notes' is for --format table: md and tex have all"},
        {"sort rows", is_csv,
         "options '--sort' and '--rows' are not for --format csv, which has a line for each cell"},
    };
    return CLI_CLASHES(cli, one);
}

/* The format that the end of the file's name says: "t.tex"; otherwise a table for a terminal. */
static int format_of(const char *file)
{
    const char *end = file ? strrchr(path_name(file), '.') : NULL;
    int format = TABLE;
    for (int i = MARKDOWN; end && i <= JSONL; i++)
        if (strcmp(end + 1, format_words[i]) == 0)
            format = i;
    return format;
}

static int show_results(const struct cli *cli)
{
    struct request *q = cli->options;
    if (!cli_given(cli, "format"))
        q->format = format_of(q->file);
    if (has_clashes(cli))
        return CLI_USAGE;
    q->table.digits = (int)q->digits;
    (q->family ? print_family : print_request)(cli, q, cli->n_operand, cli->operand);
    return CLI_DONE;
}

static const struct cli_option options[] = {
    CLI_WORD('f', "format", "FORMAT", format_words, format,
             "table (default), md, csv, tex, json or jsonl; else as -o FILE ends"),
    CLI_WORD(0, "part", "PART", part_words, part,
             "all (default), results, contrasts or claims; csv: results, if not said"),
    CLI_FLAG(0, "family", family,
             "with --part claims: each directory's own claims, Holm over all of them"),
    CLI_TEXT(0, "metric", "METRIC", read.metric, "another metric than the experiment's"),
    CLI_TEXT(0, "rows", "AXIS", table.rows, "the axis of the first column"),
    CLI_TEXT(0, "cols", "AXIS,...", table.cols, "axes that become columns, at one length"),
    CLI_TEXT('b', "baseline", "ROW", read.baseline,
             "compare with axis=label[,axis=label] or a label"),
    CLI_TEXT(0, "sort", "AXIS", table.sort, "order of rows: an axis, or `metric` for best first"),
    CLI_WHOLE(0, "length", "N", 0, INT64_MAX, table.length,
              "length of differences and --cols (default: the first)"),
    CLI_TEXT(0, "columns", "COLUMN,...", table.columns,
             "only these, as metric,diff,p_holm,g_z,n,params; csv: its own"),
    CLI_WORD(0, "err", "WHAT", spread_words, table.err,
             "behind a mean: ci (95 % interval, default), sd or se"),
    CLI_WHOLE(0, "precision", "N", 1, 15, digits,
              "significant digits of intervals and deviations (default 2)"),
    CLI_FLAG(0, "only-changed", table.only_changed, "leave out labels and costs that never differ"),
    CLI_WORD(0, "test", "TEST", paired_test_words, read.test,
             "test of paired differences: sign-flip (default), wilcoxon or t"),
    CLI_FLAG(0, "mix-stopped", read.mix_stopped,
             "compare rows that stop early (train.patience) with rows that do not"),
    CLI_FLAG(0, "every-value", read.every_value,
             "ignore report.best_over: a row for every value, with all seeds"),
    CLI_FLAG(0, "all-steps", all_steps, "csv: every evaluation instead of the last"),
    CLI_FLAG(0, "injection", table.injection, "say what acts where in each row"),
    CLI_FLAG(0, "notes", notes, "all notes below a table, also on how it is computed"),
    CLI_TEXT('o', "output", "FILE", file, "write there, whole or not at all"),
};

const struct cli_command cmd_results = {
    .name = "peat results",
    .summary = "the table: means over seeds, differences, costs",
    CLI_OPERANDS("DIR...", 1, CLI_MANY, "which run directory?"),
    CLI_ROWS(options),
    CLI_DEFAULTS(.table.length = -1),
    .run = show_results,
};
