/* SPDX-License-Identifier: MIT */
/* test_results.c: results, compare, export and inspect as a user runs them. */
#include "support/run_maker.h"
#include "support/shell.h"
#include "support/support.h"

static struct run_maker m;
static struct arena arena;

static void open_all(void)
{
    shell_open();
    arena_init(&arena, "results", 1 << 16);
}

static void close_all(void)
{
    if (m.name)
        run_maker_close(&m);
    arena_release(&arena);
    shell_close();
}

/* What the program printed, as JSON. */
static const struct value *printed_json(void)
{
    struct error err = {0};
    const struct value *v = json_parse(&arena, shell.printed.text, shell.printed.n, "stdout", &err);
    ck_assert_msg(v, "%s", err.text);
    return v;
}

/* With exit status 2, this reason on stderr, and nothing on stdout. */
static void assert_refuses(const char *words, const char *why)
{
    shell_says(2, why, "peat %s >out", words);
    shell_expect(0, "test ! -s out");
}

/* The run is called `grid` here. */
static void finish(void)
{
    run_maker_finish(&m);
    shell_expect(0, "ln -s %s grid", m.dir);
}

static void make_grid(void)
{
    run_maker_open(&m, "grid");
    for (int seed = 0; seed < 3; seed++) {
        run_maker_done(&m, "learned", "sum", seed, 2.5 + 0.1 * seed, 3.5);
        run_maker_done(&m, "rotary", "-", seed, 2.0 + 0.05 * seed, 3.0);
    }
    finish();
}

TEST(results_come_in_every_format)
{
    make_grid();
    shell_says(0, "grid: bpb on the validation data (lower is better)", "peat results grid");
    ck_assert_ptr_null(strchr(shell.printed.text, '\033'));
    shell_says(0, "| learned | sum |", "peat results grid --format md --baseline rotary");
    shell_prints(0, "25", "peat results grid --format csv | wc -l");
    shell_says(0, "\\toprule", "peat results grid --format tex");
    shell_prints(0, "2", "peat results grid --format jsonl --metric accuracy | wc -l");
    shell_expect(0, "peat results grid --format json");
    printed_json();
}

TEST(a_file_is_written_whole_or_not_at_all)
{
    make_grid();
    shell_expect(0, "peat results grid --format csv -o table.csv && wc -l <table.csv");
    ck_assert_str_eq(shell.printed.text, "25\n");
    assert_refuses("results grid --baseline alibi -o other.md", "no axis has the label");
    ck_assert(!shell_has("other.md"));
    assert_refuses("results grid -o nowhere/x.csv", "nowhere");
}

TEST(what_is_no_run_directory_is_refused)
{
    make_grid();
    assert_refuses("results", "which run directory?");
    assert_refuses("results grid/cells", "is not a run directory");
    assert_refuses("results absent", "there is no run directory");
    assert_refuses("results grid --format xml", "one of table, md, csv");
    assert_refuses("results grid --all-steps", "--format csv");
    assert_refuses("results grid --columns n --cols combine", "do not go together");
    assert_refuses("results grid --columns n -f json", "'--columns' is for --format table");
    assert_refuses("results grid --err sd -f csv", "every number in full");
    assert_refuses("results grid --err sdd", "one of ci, sd, se");
    assert_refuses("results grid --test wilcoxn", "one of sign-flip, wilcoxon, t");
    assert_refuses("results grid --precision 0", "precision");
    assert_refuses("results grid --sort schem", "did you mean 'scheme'?");
    assert_refuses("results grid --baseline rotry", "did you mean 'rotary'?");
    assert_refuses("results grid -f csv --columns sed", "did you mean 'seed'?");
    assert_refuses("compare absent rotary learned", "there is no run directory");
    assert_refuses("export grid 0", "-o FILE");
    assert_refuses("export grid 0 -o x.safetensors", "has no checkpoint");
}

TEST(compare_goes_seed_by_seed)
{
    make_grid();
    shell_prints(0, "0        2.000        2.500     -0.5000",
                 "peat compare grid rotary learned.sum --length 128");
    assert_printed("rotary.- against learned.sum");
    assert_printed("mean difference -0.55 ± 0.12 (95 % CI, Student t, n = 3)");
    assert_printed("effect size g_z -6.21 (without Hedges' correction d_z -11.00)");
    assert_printed("sign-flip test p 0.250; the smallest that 3 seeds can give is 0.250");
    assert_refuses("compare grid rotary rotary", "are the same row");
    assert_refuses("compare grid rotary alibi", "no row is called 'alibi'");
}

TEST(compare_has_every_test_and_says_it_in_json)
{
    make_grid();
    shell_says(0, "exact Wilcoxon signed-rank test p 0.250; the smallest that 3 seeds",
               "peat compare grid rotary learned --length 128 --test wilcoxon");
    shell_says(0, "paired t test p 0.003\n",
               "peat compare grid rotary learned --length 128 --test t");
    shell_expect(0, "peat compare grid rotary learned --length 128 --json");
    const struct value *v = printed_json();
    const struct value *x = value_get(v, "lengths")->item[0];
    ck_assert_double_eq_tol(value_get(x, "diff")->real, -0.55, 1e-12);
    ck_assert_double_eq_tol(value_get(x, "effect_dz")->real, -11.0, 1e-9);
    ck_assert_double_eq(value_get(x, "p")->real, 0.25);
    ck_assert_double_eq_tol(value_get(value_get(x, "differences"), "2")->real, -0.6, 1e-12);
}

TEST(compare_refuses_pairs_that_are_none)
{
    run_maker_open(&m, "grid");
    for (int seed = 0; seed < 3; seed++) {
        m.batches = "aa";
        run_maker_done(&m, "learned", "sum", seed, 2.5, 3.5);
        m.batches = seed ? "bb" : "aa";
        run_maker_done(&m, "rotary", "sum", seed, 2.0, 3.0);
    }
    finish();
    shell_says(0, "2 of 3 pairs refused: different batches",
               "peat compare grid rotary learned --length 128");
    assert_printed("other batches");
    assert_printed("(one seed: no interval)");
}

TEST(compare_without_a_common_seed_fails)
{
    run_maker_open(&m, "grid");
    run_maker_done(&m, "learned", "sum", 0, 2.5, 3.5);
    run_maker_state(&m, "rotary", "sum", 0, "crashed");
    run_maker_done(&m, "rotary", "sum", 1, 2.5, 3.5);
    finish();
    shell_says(1, "crashed", "peat compare grid rotary learned");
}

/* ---- a real grid ---- */

/* Of one cell's result.json. */
static double stored_loss(const char *path, int64_t length)
{
    size_t n;
    char *text = shell_read(path, &n);
    struct error err = {0};
    const struct value *measures =
        value_get(json_parse(&arena, text, n, "result.json", &err), "measures");
    double found = (double)NAN;
    for (int i = 0; i < measures->n; i++) {
        const struct value *one = measures->item[i];
        if (!strcmp(value_get(one, "metric")->text, "loss") &&
            !strcmp(value_get(one, "split")->text, "valid") &&
            value_get(one, "length")->integer == length)
            found = value_get(one, "value")->real;
    }
    free(text);
    return found;
}

TEST(the_mean_in_the_table_is_that_of_the_cells)
{
    shell_write("e.yaml", "version: 1\n"
                          "name: real\n"
                          "defaults:\n"
                          "  task: {plugin: copy}\n"
                          "  model: {d_model: 16, n_layer: 1, n_head: 2}\n"
                          "  train: {steps: 4, batch: 4, seq_len: 17}\n"
                          "  eval: {tokens: 32, every: 2}\n"
                          "matrix:\n"
                          "  position.scheme: [none, learned]\n"
                          "seeds: 2\n"
                          "report: {metric: loss, baseline: {position.scheme: none}}\n");
    shell_expect(0, "peat run -q e.yaml -o real");
    shell_expect(0, "peat results real --format json");
    const struct value *rows = value_get(printed_json(), "rows"), *last = rows->item[rows->n - 1];
    int64_t length = value_get(last, "length")->integer;
    double sum = 0.0;
    for (int seed = 0; seed < 2; seed++) {
        char path[32];
        shell_expect(0, "cp real/cells/learned.*.s%d-*/result.json %d.json", seed, seed);
        snprintf(path, sizeof(path), "%d.json", seed);
        sum += stored_loss(path, length);
    }
    ck_assert_double_eq_tol(value_get(last, "mean")->real, sum / 2, 1e-12);
    ck_assert_int_eq(value_get(last, "n_pairs")->integer, 2);
    shell_says(0, ",loss,valid,", "peat results real --format csv --all-steps");
    shell_expect(0, "peat export real 3 -o model.safetensors && grep -a peat_config "
                    "model.safetensors | grep -aq '\"format\":\"pt\"'");
}

/* ---- inspect ---- */

/* Row and column of what was printed, from the start, or from the end when negative. */
static double csv_at(int row, int column)
{
    const char *text = shell.printed.text;
    for (int i = 0; i < row; i++)
        text = strchr(text, '\n') + 1;
    const char *end = strchr(text, '\n');
    if (column < 0) {
        int n = 1;
        for (const char *c = text; c < end; c++)
            n += *c == ',';
        column += n;
    }
    for (int k = 0; k < column; k++)
        text = strchr(text, ',') + 1;
    return strtod(text, NULL);
}

/* Values that the tensor2tensor library prints. */
TEST(inspect_prints_the_numbers_themselves)
{
    shell_expect(0, "peat inspect sinusoidal layout=halves frequencies=tensor2tensor --d 128 "
                    "--T 128 --format csv -o t.csv");
    shell_prints(0, "128", "wc -l <t.csv");
    shell_expect(0, "cat t.csv");
    ck_assert_double_eq_tol(csv_at(63, -16), 0.9984067, 1e-7);
    ck_assert_double_eq_tol(csv_at(127, -16), 0.9935305, 1e-7);
    ck_assert_double_eq_tol(csv_at(63, -1), 0.99998015, 1e-8);
    ck_assert_double_eq_tol(csv_at(127, -1), 0.99991935, 1e-8);
    shell_prints(0, "7",
                 "peat inspect alibi --d 8 --T 3 --heads 2 --format csv >a.csv; wc -l <a.csv");
    shell_expect(0, "cat a.csv");
    ck_assert_double_eq(csv_at(1, 4), -0.125);
    ck_assert_double_eq(csv_at(4, 4), -0.0078125);
    shell_says(0, "rotary: angle, 3 x 4", "peat inspect rotary --d 8 --T 3");
    assert_refuses("inspect rotary base=x --d 8 --T 3", "command line:1: ");
    assert_refuses("inspect none --d 8 --T 3", "has no table");
    assert_refuses("inspect rotary --T 3", "--d and --T are needed");
    assert_refuses("inspect alibi --d 9 --heads 2 --T 3", "is not divisible by n_head 2");
}

int main(void)
{
    return run_tests((struct tests){"results", open_all, close_all, .seconds = 60});
}
