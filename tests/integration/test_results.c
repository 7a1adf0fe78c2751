/* SPDX-License-Identifier: MIT */
/* test_results.c: results, compare, export, inspect and bench as a user runs them. */
#include <sys/wait.h>

#include "support/run_maker.h"
#include "support/support.h"

/* A run of the program: what it printed and how it ended. */
static struct outcome {
    char out[1 << 16], err[1 << 12];
    int code;
} o;

static struct run_maker m;
static struct arena arena;

static void open_arena(void)
{
    arena_init(&arena, "results", 1 << 16);
}

static void close_all(void)
{
    if (m.name)
        run_maker_close(&m);
    arena_release(&arena);
}

/* What the program printed, as JSON. */
static const struct value *printed_json(void)
{
    struct error err = {0};
    const struct value *v = json_parse(&arena, o.out, strlen(o.out), "stdout", &err);
    ck_assert_msg(v, "%s", err.text);
    return v;
}

static void slurp(const char *path, char *text, size_t n)
{
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    text[fread(text, 1, n - 1, f)] = '\0';
    fclose(f);
}

/* peat with these words, in dir. */
static void run_peat(const char *dir, const char *words)
{
    const char *peat = getenv("PEAT");
    char command[2048], out[128], err[128];
    ck_assert_ptr_nonnull(peat);
    snprintf(out, sizeof(out), "%s/stdout", dir);
    snprintf(err, sizeof(err), "%s/stderr", dir);
    snprintf(command, sizeof(command),
             "cd '%s' && PEAT_PYTHON=/usr/bin/python3 '%s' %s >'%s' 2>'%s'", dir, peat, words, out,
             err);
    int status = system(command);
    ck_assert(WIFEXITED(status));
    o.code = WEXITSTATUS(status);
    slurp(out, o.out, sizeof(o.out));
    slurp(err, o.err, sizeof(o.err));
}

static void assert_runs(const char *dir, const char *words)
{
    run_peat(dir, words);
    ck_assert_msg(o.code == 0, "peat %s: %d: %s", words, o.code, o.err);
}

static void assert_refuses(const char *dir, const char *words, const char *why)
{
    run_peat(dir, words);
    ck_assert_msg(o.code == 2, "peat %s: %d", words, o.code);
    ck_assert_msg(strstr(o.err, why), "peat %s: '%s' does not say '%s'", words, o.err, why);
    ck_assert_str_eq(o.out, "");
}

static int lines(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static void assert_has(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part), "no '%s' in\n%s", part, text);
}

static void make_grid(void)
{
    run_maker_open(&m, "grid");
    for (int seed = 0; seed < 3; seed++) {
        run_maker_done(&m, "learned", "sum", seed, 2.5 + 0.1 * seed, 3.5);
        run_maker_done(&m, "rotary", "-", seed, 2.0 + 0.05 * seed, 3.0);
    }
    run_maker_finish(&m);
}

START_TEST(results_come_in_every_format)
{
    make_grid();
    assert_runs(m.dir, "results .");
    assert_has(o.out, "grid: bpb on the validation data (lower is better)");
    ck_assert_ptr_null(strchr(o.out, '\033'));
    assert_runs(m.dir, "results . --format md --baseline rotary");
    assert_has(o.out, "| learned | sum |");
    assert_runs(m.dir, "results . --format csv");
    ck_assert_int_eq(lines(o.out), 1 + 6 * 4);
    assert_runs(m.dir, "results . --format tex");
    assert_has(o.out, "\\toprule");
    assert_runs(m.dir, "results . --format jsonl --metric accuracy");
    ck_assert_int_eq(lines(o.out), 2);
    assert_runs(m.dir, "results . --format json");
    printed_json();
}
END_TEST

START_TEST(a_file_is_written_whole_or_not_at_all)
{
    char path[128];
    make_grid();
    assert_runs(m.dir, "results . --format csv -o table.csv");
    ck_assert_str_eq(o.out, "");
    snprintf(path, sizeof(path), "%s/table.csv", m.dir);
    slurp(path, o.out, sizeof(o.out));
    ck_assert_int_eq(lines(o.out), 1 + 6 * 4);
    assert_refuses(m.dir, "results . --baseline alibi -o other.md", "no axis has the label");
    snprintf(path, sizeof(path), "%s/other.md", m.dir);
    ck_assert(!file_exists(path));
    assert_refuses(m.dir, "results . -o nowhere/x.csv", "nowhere");
}
END_TEST

START_TEST(what_is_no_run_directory_is_refused)
{
    make_grid();
    assert_refuses(m.dir, "results", "which run directory?");
    assert_refuses(m.dir, "results cells", "is not a run directory");
    assert_refuses(m.dir, "results absent", "there is no run directory");
    assert_refuses(m.dir, "results . --format xml", "one of table, md, csv");
    assert_refuses(m.dir, "results . --all-steps", "--format csv");
    assert_refuses(m.dir, "results . --columns n --cols combine", "do not go together");
    assert_refuses(m.dir, "results . --columns n -f json", "'--columns' is for --format table");
    assert_refuses(m.dir, "results . --err sd -f csv", "every number in full");
    assert_refuses(m.dir, "results . --err sdd", "one of ci, sd, se");
    assert_refuses(m.dir, "results . --test wilcoxn", "one of sign-flip, wilcoxon, t");
    assert_refuses(m.dir, "results . --precision 0", "precision");
    assert_refuses(m.dir, "results . --sort schem", "did you mean 'scheme'?");
    assert_refuses(m.dir, "results . --baseline rotry", "did you mean 'rotary'?");
    assert_refuses(m.dir, "results . -f csv --columns sed", "did you mean 'seed'?");
    assert_refuses(m.dir, "compare absent rotary learned", "there is no run directory");
    assert_refuses(m.dir, "export . 0", "-o FILE");
    assert_refuses(m.dir, "export . 0 -o x.safetensors", "has no checkpoint");
}
END_TEST

START_TEST(compare_goes_seed_by_seed)
{
    make_grid();
    assert_runs(m.dir, "compare . rotary learned.sum --length 128");
    assert_has(o.out, "rotary.- against learned.sum");
    assert_has(o.out, "\n0        2.000        2.500     -0.5000\n");
    assert_has(o.out, "mean difference -0.55 ± 0.12 (95 % CI, Student t, n = 3)");
    assert_has(o.out, "effect size g_z -6.21 (without Hedges' correction d_z -11.00)");
    assert_has(o.out, "sign-flip test p 0.250; the smallest that 3 seeds can give is 0.250");
    assert_refuses(m.dir, "compare . rotary rotary", "are the same row");
    assert_refuses(m.dir, "compare . rotary alibi", "no row is called 'alibi'");
}
END_TEST

START_TEST(compare_has_every_test_and_says_it_in_json)
{
    make_grid();
    assert_runs(m.dir, "compare . rotary learned --length 128 --test wilcoxon");
    assert_has(o.out, "exact Wilcoxon signed-rank test p 0.250; the smallest that 3 seeds");
    assert_runs(m.dir, "compare . rotary learned --length 128 --test t");
    assert_has(o.out, "paired t test p 0.003\n");
    assert_runs(m.dir, "compare . rotary learned --length 128 --json");
    const struct value *v = printed_json();
    const struct value *x = value_get(v, "lengths")->item[0];
    ck_assert_double_eq_tol(value_get(x, "diff")->real, -0.55, 1e-12);
    ck_assert_double_eq_tol(value_get(x, "effect_dz")->real, -11.0, 1e-9);
    ck_assert_double_eq(value_get(x, "p")->real, 0.25);
    ck_assert_double_eq_tol(value_get(value_get(x, "differences"), "2")->real, -0.6, 1e-12);
}
END_TEST

START_TEST(compare_refuses_pairs_that_are_none)
{
    run_maker_open(&m, "grid");
    for (int seed = 0; seed < 3; seed++) {
        m.batches = "aa";
        run_maker_done(&m, "learned", "sum", seed, 2.5, 3.5);
        m.batches = seed ? "bb" : "aa";
        run_maker_done(&m, "rotary", "sum", seed, 2.0, 3.0);
    }
    run_maker_finish(&m);
    assert_runs(m.dir, "compare . rotary learned --length 128");
    assert_has(o.out, "2 of 3 pairs refused: different batches");
    assert_has(o.out, "other batches");
    assert_has(o.out, "(one seed: no interval)");
}
END_TEST

START_TEST(compare_without_a_common_seed_fails)
{
    run_maker_open(&m, "grid");
    run_maker_done(&m, "learned", "sum", 0, 2.5, 3.5);
    run_maker_state(&m, "rotary", "sum", 0, "crashed");
    run_maker_done(&m, "rotary", "sum", 1, 2.5, 3.5);
    run_maker_finish(&m);
    run_peat(m.dir, "compare . rotary learned");
    ck_assert_int_eq(o.code, 1);
    assert_has(o.out, "crashed");
}
END_TEST

/* ---- a real grid ---- */

static void write_experiment(const char *dir)
{
    static const char text[] = "version: 1\n"
                               "name: real\n"
                               "defaults:\n"
                               "  task: {plugin: copy}\n"
                               "  model: {d_model: 16, n_layer: 1, n_head: 2}\n"
                               "  train: {steps: 4, batch: 4, seq_len: 17}\n"
                               "  eval: {tokens: 32, every: 2}\n"
                               "matrix:\n"
                               "  position.scheme: [none, learned]\n"
                               "seeds: 2\n"
                               "report: {metric: loss, baseline: {position.scheme: none}}\n";
    char path[128];
    struct error err = {0};
    snprintf(path, sizeof(path), "%s/e.yaml", dir);
    ck_assert_int_eq(file_write(path, text, sizeof(text) - 1, &err), PEAT_OK);
}

/* Of one cell's result.json. */
static double stored_loss(const char *dir, const char *id, int64_t length)
{
    char path[256], *text = NULL;
    size_t n;
    struct error err = {0};
    snprintf(path, sizeof(path), "%s/runs/real/cells/%s/result.json", dir, id);
    ck_assert_msg(file_read(path, 0, &text, &n, &err) == PEAT_OK, "%s", err.text);
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

START_TEST(the_mean_in_the_table_is_that_of_the_cells)
{
    struct error err = {0};
    char dir[64];
    new_folder(dir, sizeof(dir));
    write_experiment(dir);
    assert_runs(dir, "run -q e.yaml");
    assert_runs(dir, "results runs/real --format json");
    const struct value *v = printed_json();
    const struct value *rows = value_get(v, "rows"), *last = rows->item[rows->n - 1];
    int64_t length = value_get(last, "length")->integer;
    char **name;
    int n, found = 0;
    double sum = 0.0;
    char cells[128];
    snprintf(cells, sizeof(cells), "%s/runs/real/cells", dir);
    ck_assert_int_eq(dir_list(cells, &name, &n, &err), PEAT_OK);
    for (int i = 0; i < n; i++)
        if (strncmp(name[i], "learned.", 8) == 0) {
            sum += stored_loss(dir, name[i], length);
            found++;
        }
    names_free(name, n);
    ck_assert_int_eq(found, 2);
    ck_assert_double_eq_tol(value_get(last, "mean")->real, sum / 2, 1e-12);
    ck_assert_int_eq(value_get(last, "n_pairs")->integer, 2);
    assert_runs(dir, "results runs/real --format csv --all-steps");
    assert_has(o.out, ",loss,valid,");
    assert_runs(dir, "export runs/real 3 -o model.safetensors");
    char path[128];
    snprintf(path, sizeof(path), "%s/model.safetensors", dir);
    slurp(path, o.out, sizeof(o.out));
    assert_has(o.out + 8, "peat_config");
    assert_has(o.out + 8, "\"format\":\"pt\"");
    dir_remove(dir, NULL);
}
END_TEST

/* ---- inspect and bench ---- */

/* Row and column from the start, or from the end when negative. */
static double csv_at(const char *text, int row, int column)
{
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
START_TEST(inspect_prints_the_numbers_themselves)
{
    static char text[1 << 19];
    char dir[64], path[128];
    new_folder(dir, sizeof(dir));
    assert_runs(dir, "inspect sinusoidal layout=halves frequencies=tensor2tensor --d 128 --T 128 "
                     "--format csv -o t.csv");
    snprintf(path, sizeof(path), "%s/t.csv", dir);
    slurp(path, text, sizeof(text));
    ck_assert_int_eq(lines(text), 128);
    ck_assert_double_eq_tol(csv_at(text, 63, -16), 0.9984067, 1e-7);
    ck_assert_double_eq_tol(csv_at(text, 127, -16), 0.9935305, 1e-7);
    ck_assert_double_eq_tol(csv_at(text, 63, -1), 0.99998015, 1e-8);
    ck_assert_double_eq_tol(csv_at(text, 127, -1), 0.99991935, 1e-8);
    assert_runs(dir, "inspect alibi --d 8 --T 3 --heads 2 --format csv");
    ck_assert_int_eq(lines(o.out), 1 + 2 * 3);
    ck_assert_double_eq(csv_at(o.out, 1, 4), -0.125);
    ck_assert_double_eq(csv_at(o.out, 4, 4), -0.0078125);
    assert_runs(dir, "inspect rotary --d 8 --T 3");
    assert_has(o.out, "rotary: angle, 3 x 4");
    assert_refuses(dir, "inspect rotary base=x --d 8 --T 3", "command line:1: ");
    assert_refuses(dir, "inspect none --d 8 --T 3", "has no table");
    assert_refuses(dir, "inspect rotary --T 3", "--d and --T are needed");
    assert_refuses(dir, "inspect alibi --d 9 --heads 2 --T 3", "is not divisible by n_head 2");
    dir_remove(dir, NULL);
}
END_TEST

START_TEST(bench_prints_its_keys)
{
    static const char *const key[] = {"engine",
                                      "d",
                                      "heads",
                                      "layers",
                                      "T",
                                      "B",
                                      "V",
                                      "threads",
                                      "precision",
                                      "step_ms_median",
                                      "step_ms_min",
                                      "tokens_per_s",
                                      "gflops",
                                      "peak_rss_mib",
                                      "sgemm_gflops",
                                      "fraction_of_sgemm"};
    char dir[64];
    new_folder(dir, sizeof(dir));
    assert_runs(dir,
                "bench step --d 16 --heads 2 --layers 1 --T 8 --B 2 --V 11 --steps 2 --warmup 0 "
                "--json");
    const struct value *v = printed_json();
    for (size_t i = 0; i < sizeof(key) / sizeof(*key); i++)
        ck_assert_msg(value_get(v, key[i]), "no %s", key[i]);
    ck_assert_double_gt(value_get(v, "sgemm_gflops")->real, 0.0);
    assert_refuses(dir, "bench", "there is 'step'");
    dir_remove(dir, NULL);
}
END_TEST

int main(void)
{
    return run_list((struct tests){"results", open_arena, close_all, .seconds = 60},
                    TESTS(results_come_in_every_format, a_file_is_written_whole_or_not_at_all,
                          what_is_no_run_directory_is_refused, compare_goes_seed_by_seed,
                          compare_has_every_test_and_says_it_in_json,
                          compare_refuses_pairs_that_are_none, compare_without_a_common_seed_fails,
                          the_mean_in_the_table_is_that_of_the_cells,
                          inspect_prints_the_numbers_themselves, bench_prints_its_keys));
}
