/* SPDX-License-Identifier: MIT */
/*
 * test_result_numbers.c: every format of `peat results` agrees with scipy on the same values.
 *
 * tests/golden/results.json holds cells and what tests/golden/results.py made of them.
 */
#include "support/golden_file.h"
#include "support/run_maker.h"
#include "support/shell.h"
#include "support/support.h"

static const char *const tests[] = {"sign-flip", "wilcoxon", "t"};

/* The grid of results.json as a run directory. */
struct grid {
    struct run_maker run;
    struct arena arena;
    const struct value *golden;
};

static const struct value *read_json(struct arena *a, const char *text, size_t n)
{
    struct error err = {0};
    const struct value *v = json_parse(a, text, n, "json", &err);
    ck_assert_msg(v, "%s", err.text);
    return v;
}

static void add_cell(struct run_maker *m, const struct value *cell)
{
    const struct value *hash = value_get(cell, "hashes"), *values = value_get(cell, "values");
    const char *scheme = value_get(cell, "scheme")->text, *state = value_get(cell, "state")->text;
    int64_t seed = value_get(cell, "seed")->integer;
    m->batches = value_get(hash, "batch")->text;
    m->init = value_get(hash, "init")->text;
    m->shapes = value_get(hash, "shapes")->text;
    if (values->kind == VALUE_LIST)
        run_maker_done(m, scheme, "sum", seed, values->item[0]->real, values->item[1]->real);
    else
        run_maker_state(m, scheme, "sum", seed, state);
}

static struct grid g;

static void grid_open(void)
{
    arena_init(&g.arena, "golden", 1 << 20);
    shell_open();
    run_maker_open(&g.run, "golden");
    g.run.report = "{\"metric\":\"bpb\",\"goal\":\"min\","
                   "\"baseline\":{\"position.scheme\":\"none\"}}";
    g.golden = golden_read("results.json", &g.arena);
    const struct value *cells = value_get(g.golden, "cells");
    for (int i = 0; i < cells->n; i++)
        add_cell(&g.run, cells->item[i]);
    run_maker_finish(&g.run);
}

static void grid_close(void)
{
    run_maker_close(&g.run);
    shell_close();
    arena_release(&g.arena);
}

static const struct value *expected_of(const char *scheme, int64_t length)
{
    const struct value *all = value_get(g.golden, "expected");
    for (int i = 0; i < all->n; i++)
        if (!strcmp(value_get(all->item[i], "scheme")->text, scheme) &&
            value_get(all->item[i], "length")->integer == length)
            return all->item[i];
    ck_abort_msg("scipy has no row %s", scheme);
    return NULL;
}

/* ---- json ---- */

static void assert_equal(const struct value *x, const struct value *y, const char *what)
{
    ck_assert_msg(x && y, "%s is missing", what);
    if (y->kind == VALUE_NULL || x->kind == VALUE_NULL)
        ck_assert_msg(x->kind == y->kind, "%s: one of the two is null", what);
    else
        ck_assert_msg(fabs(x->real - y->real) <= 1e-9 * fabs(y->real) + 1e-14,
                      "%s: %.17g instead of %.17g", what, x->real, y->real);
}

static void assert_row(const struct value *row, const char *test)
{
    static const char *const key[] = {
        "n",           "mean",         "sd",        "ci_low",    "ci_high",       "failed",
        "diverged",    "stale",        "missing",   "n_pairs",   "diff",          "diff_sd",
        "diff_ci_low", "diff_ci_high", "effect_dz", "effect_gz", "pairs_by_data", "pairs_refused"};
    const char *scheme = value_get(value_get(row, "axes"), "position.scheme")->text;
    const struct value *y = expected_of(scheme, value_get(row, "length")->integer);
    char what[64];
    for (size_t k = 0; k < sizeof(key) / sizeof(*key); k++) {
        snprintf(what, sizeof(what), "%s %s", scheme, key[k]);
        assert_equal(value_get(row, key[k]), value_get(y, key[k]), what);
    }
    snprintf(what, sizeof(what), "%s %s", scheme, test);
    assert_equal(value_get(row, "p"), value_get(value_get(y, "p"), test), what);
    assert_equal(value_get(row, "p_holm"), value_get(value_get(y, "p_holm"), test), what);
}

TEST(json_agrees_with_scipy_in_every_number)
{
    for (int t = 0; t < 3; t++) {
        shell_expect(0, "peat results %s -f json --test %s", g.run.dir, tests[t]);
        const struct strbuf *out = &shell.printed;
        const struct value *v = read_json(&g.arena, out->text, out->n);
        const struct value *rows = value_get(v, "rows");
        ck_assert_int_eq(rows->n, value_get(g.golden, "expected")->n);
        for (int i = 0; i < rows->n; i++)
            assert_row(rows->item[i], tests[t]);
    }
}

TEST(jsonl_has_the_rows_of_json_one_a_line)
{
    int n = 0;
    shell_expect(0, "peat results %s -f jsonl", g.run.dir);
    for (const char *line = shell.printed.text; *line; n++) {
        size_t length = strcspn(line, "\n");
        assert_row(read_json(&g.arena, line, length), "sign-flip");
        line += length + 1;
    }
    ck_assert_int_eq(n, value_get(g.golden, "expected")->n);
}

/* ---- csv ---- */

TEST(csv_has_every_value_as_it_was_stored)
{
    char line[200], number[32];
    shell_expect(0, "peat results %s -f csv --columns scheme,seed,metric,length,value", g.run.dir);
    const struct value *cells = value_get(g.golden, "cells");
    for (int i = 0; i < cells->n; i++) {
        const struct value *c = cells->item[i], *values = value_get(c, "values");
        if (values->kind != VALUE_LIST)
            continue;
        for (int at = 0; at < 2; at++) {
            number_text(values->item[at]->real, number);
            snprintf(line, sizeof(line), "\n%s,%d,bpb,%d,%s\n", value_get(c, "scheme")->text,
                     (int)value_get(c, "seed")->integer, at ? 256 : 128, number);
            ck_assert_msg(shell_printed(line), "no line%s", line);
        }
    }
    assert_printed("\nbroken,0,bpb,128,\n");
}

/* ---- tables ---- */

/* The next number of the line, with the decimals it is printed with; false at the line's end. */
static bool next_number(const char **at, double *x, int *decimals)
{
    for (const char *text = *at; *text && *text != '\n'; text++) {
        bool minus = !strncmp(text, "$-$", 3) || *text == '-';
        const char *digits = text + (!strncmp(text, "$-$", 3) ? 3 : *text == '-' || *text == '+');
        if (!isdigit((unsigned char)*digits))
            continue;
        char *end;
        *x = (minus ? -1.0 : 1.0) * strtod(digits, &end);
        const char *dot = memchr(digits, '.', (size_t)(end - digits));
        const char *e = memchr(digits, 'e', (size_t)(end - digits));
        *decimals = e ? 17 : dot ? (int)(end - dot) - 1 : 0;
        *at = end;
        return true;
    }
    return false;
}

/* Equal as far as it is printed. */
static void assert_next(const char **at, double y, const char *what)
{
    double x = 0.0;
    int decimals = 0;
    ck_assert_msg(next_number(at, &x, &decimals), "%s is missing in %s", what, *at);
    ck_assert_msg(fabs(x - y) <= 0.5000001 * pow(10.0, -decimals) + 1e-14,
                  "%s: %.17g instead of %.17g", what, x, y);
    bool full = decimals >= 9 || x == floor(x);
    ck_assert_msg(full || what[0] == 'p' || what[0] == 'g', "%s has %d decimals", what, decimals);
}

static double number_of(const struct value *y, const char *key)
{
    const struct value *v = value_get(y, key);
    return v->kind == VALUE_NULL ? (double)NAN : v->real;
}

static const char *line_of(const char *before, const char *scheme)
{
    char start[64];
    snprintf(start, sizeof(start), "\n%s%s ", before, scheme);
    const char *line = strstr(shell.printed.text, start);
    ck_assert_msg(line, "no line of %s in\n%s", scheme, shell.printed.text);
    return line + strlen(start);
}

/* Of results.json: the size of the family, and the n with COMPARISONS * 2 / 2^n < .05. */
enum { COMPARISONS = 9, SEEDS_NEEDED = 9 };

/* With 10 digits: mean, half-width, difference, half-width, p, g_z, n. */
static void assert_line(const char *line, const struct value *y)
{
    double half = number_of(y, "ci_high") - number_of(y, "mean");
    double diff = number_of(y, "diff"), diff_half = number_of(y, "diff_ci_high") - diff;
    double p = number_of(value_get(y, "p_holm"), "wilcoxon"), gz = number_of(y, "effect_gz");
    if (isfinite(number_of(y, "mean")))
        assert_next(&line, number_of(y, "mean"), "mean");
    if (isfinite(half))
        assert_next(&line, half, "interval");
    if (isfinite(diff))
        assert_next(&line, diff, "diff");
    if (isfinite(diff_half))
        assert_next(&line, diff_half, "interval of diff");
    if (isfinite(p) && COMPARISONS * ldexp(2.0, -(int)number_of(y, "n_pairs")) < 0.05)
        assert_next(&line, p, "p_holm");
    else if (isfinite(p)) /* "needs 9 seeds" */
        assert_next(&line, SEEDS_NEEDED, "p_holm");
    if (isfinite(gz))
        assert_next(&line, gz, "g_z");
    assert_next(&line, number_of(y, "n"), "n");
}

static void assert_table(const char *format, const char *before, int64_t length)
{
    const struct value *all = value_get(g.golden, "expected");
    shell_expect(0,
                 "peat results %s -f %s --test wilcoxon --precision 10 --length %d "
                 "--only-changed "
                 "--columns metric@%d,diff,p_holm,g_z,n",
                 g.run.dir, format, (int)length, (int)length);
    for (int i = 0; i < all->n; i++) {
        const struct value *y = all->item[i];
        if (value_get(y, "length")->integer == length)
            assert_line(line_of(before, value_get(y, "scheme")->text), y);
    }
}

TEST(tables_agree_with_scipy_in_every_digit)
{
    for (int64_t length = 128; length <= 256; length += 128) {
        assert_table("md", "| ", length);
        assert_table("tex", "  ", length);
        assert_table("table", "", length);
    }
}

TEST(the_table_says_what_is_not_in_its_numbers)
{
    shell_expect(0, "peat results %s --notes", g.run.dir);
    static const char *const said[] = {
        "unpaired",
        "7 of 56 pairs refused: different batches",
        "7 of 56 pairs (1 row) share the data order alone",
        "cells failed: not in the means",
        "cells diverged: not in the means",
        "1 of 73 cells not finished",
        "1 of 73 cells stale",
        "Holm over 9 comparisons",
    };
    for (size_t i = 0; i < sizeof(said) / sizeof(*said); i++)
        ck_assert_msg(shell_printed(said[i]), "no '%s' in\n%s", said[i], shell.printed.text);
}

/* Without --notes what the numbers lack stays, however much it is. */
TEST(only_notes_on_methods_are_left_out)
{
    shell_expect(0, "peat results %s >few", g.run.dir);
    shell_says(0, "7 of 56 pairs refused: different batches\n1 of 73 cells not finished",
               "cat few");
    assert_printed("1 of 73 cells stale");
    ck_assert(!shell_printed("share the data order alone") && !shell_printed("Holm over"));
    shell_says(0, " more notes on how this is computed: --notes\n", "tail -n 1 few");
    shell_says(2, "option '--notes' is for --format table", "peat results %s --notes -f md",
               g.run.dir);
    shell_says(0, "\\begin{tabular}", "peat results %s -o t.tex && cat t.tex", g.run.dir);
    shell_expect(0, "peat results %s -f table -o t.tex && cmp t.tex few", g.run.dir);
}

/* ---- other programs ---- */

/* The first in PATH, or Debian's own. */
static const char *python_with_pandas(void)
{
    static const char *const python[] = {"python3", "/usr/bin/python3"};
    for (int i = 0; i < 2; i++)
        if (shell_run("%s -c 'import pandas'", python[i]) == 0)
            return python[i];
    return NULL;
}

TEST(csv_loads_in_pandas_with_the_same_means)
{
    static const char script[] =
        "import json, sys, pandas\n"
        "d = pandas.read_csv(sys.argv[1])\n"
        "assert d.seed.dtype.kind == 'i' and d.value.dtype.kind == 'f', d.dtypes\n"
        "d = d[(d.metric == 'bpb') & (d.status == 'done')]\n"
        "mean = d.groupby(['scheme', 'length']).value.mean()\n"
        "rows = [r for r in json.load(open(sys.argv[2]))['rows'] if r['n']]\n"
        "assert len(rows) == len(mean), (len(rows), len(mean))\n"
        "for r in rows:\n"
        "    m = mean[r['axes']['position.scheme'], r['length']]\n"
        "    assert abs(m - r['mean']) < 1e-12, (r, m)\n"
        "print('agreed')\n";
    const char *python = python_with_pandas();
    if (!python) {
        printf("not tested: no python3 here has pandas\n");
    } else {
        shell_write("load.py", script);
        shell_expect(0, "peat results %s -f csv -o x.csv", g.run.dir);
        shell_expect(0, "peat results %s -f json -o x.json", g.run.dir);
        shell_says(0, "agreed", "%s load.py x.csv x.json", python);
    }
}

int main(void)
{
    return run_tests((struct tests){"result_numbers", grid_open, grid_close, .seconds = 60});
}
