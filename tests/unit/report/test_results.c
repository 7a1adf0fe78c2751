/* SPDX-License-Identifier: MIT */
/* test_results.c: from run directories to rows, comparisons and tables. */
#include "report/numbers.h"
#include "report/selector.h"
#include "report/table.h"
#include "support/run_maker.h"
#include "support/support.h"

/* One table under test. */
static struct bench {
    struct run_maker run, other;
    struct arena arena;
    struct results r;
    struct table t;
    struct error err;
    struct strbuf out;
} b;

static void bench_open(void)
{
    b = (struct bench){.err = {0}};
    arena_init(&b.arena, "results", 1 << 16);
    strbuf_init(&b.out);
    run_maker_open(&b.run, "e");
}

static void bench_close(void)
{
    run_maker_close(&b.run);
    if (b.other.name)
        run_maker_close(&b.other);
    arena_release(&b.arena);
    strbuf_release(&b.out);
}

static peat_status read_with(const struct results_options *o)
{
    static const struct results_options none;
    char *dir[] = {b.run.dir, b.other.dir};
    run_maker_finish(&b.run);
    if (b.other.name)
        run_maker_finish(&b.other);
    return results_read(&b.r, b.other.name ? 2 : 1, dir, o ? o : &none, &b.arena, &b.err);
}

static void read_all(const struct results_options *o)
{
    ck_assert_msg(read_with(o) == PEAT_OK, "%s", b.err.text);
}

static void assert_error(const char *part)
{
    ck_assert_msg(strstr(b.err.text, part), "'%s' does not say '%s'", b.err.text, part);
}

static void assert_refused(const struct results_options *o, const char *part)
{
    ck_assert_int_ne(read_with(o), PEAT_OK);
    assert_error(part);
}

static const struct result_row *row(const char *scheme, const char *combine)
{
    for (int i = 0; i < b.r.n_row; i++)
        if (!strcmp(b.r.row[i].axis[0], scheme) && !strcmp(b.r.row[i].axis[1], combine))
            return &b.r.row[i];
    ck_abort_msg("no row %s %s", scheme, combine);
    return NULL;
}

static void make_table(const struct table_options *o)
{
    peat_status status = table_build(&b.t, &b.r, o, &b.arena, &b.err);
    ck_assert_msg(status == PEAT_OK, "%s", b.err.text);
}

static void assert_no_table(const struct table_options *o, const char *part)
{
    ck_assert_int_eq(table_build(&b.t, &b.r, o, &b.arena, &b.err), PEAT_INVALID);
    assert_error(part);
}

static void make_text(const struct table_options *o, int width)
{
    strbuf_clear(&b.out);
    make_table(o);
    format_text(&b.t, width, false, &b.out);
}

static int lines_with(const char *part)
{
    int n = 0;
    for (const char *line = b.out.text; *line;) {
        size_t length = strcspn(line, "\n");
        const char *hit = strstr(line, part);
        n += hit && hit < line + length;
        line += length + (line[length] == '\n');
    }
    return n;
}

static void make_csv(bool all_steps, const char *columns, bool only_changed)
{
    strbuf_clear(&b.out);
    peat_status status = format_csv(&b.r, all_steps, columns, only_changed, &b.out, &b.err);
    ck_assert_msg(status == PEAT_OK, "%s", b.err.text);
}

static void assert_has(const char *part)
{
    ck_assert_msg(strstr(b.out.text, part), "no '%s' in\n%s", part, b.out.text);
}

static const double rotary[] = {2.00, 2.10, 2.05}, learned[] = {2.50, 2.40, 2.60};

static const char against_learned[] =
    "{\"metric\":\"bpb\",\"goal\":\"min\",\"baseline\":{\"position.scheme\":\"learned\"}}";

/* Seed-major, as plans are. */
static void add_two_rows(struct run_maker *m)
{
    for (int seed = 0; seed < 3; seed++) {
        run_maker_done(m, "learned", "sum", seed, learned[seed], learned[seed] + 1.0);
        run_maker_done(m, "rotary", "sum", seed, rotary[seed], rotary[seed] + 2.0);
    }
}

static void read_two_rows(void)
{
    add_two_rows(&b.run);
    read_all(NULL);
}

/* One scheme with both combines, one with one. */
static void add_three_rows(void)
{
    run_maker_done(&b.run, "learned", "sum", 0, 3.0, 1.0);
    run_maker_done(&b.run, "learned", "concat", 0, 1.0, 3.0);
    run_maker_done(&b.run, "rotary", "sum", 0, 2.0, 2.0);
}

/* Two rows, and a second directory that is still empty. */
static void open_second(void)
{
    b.run.name = "first";
    run_maker_open(&b.other, "second");
    add_two_rows(&b.run);
}

/* ---- rows ---- */

static const char *const schemes[] = {"none", "alibi", "rotary", "learned"};

TEST(rows_stand_in_plan_order_with_values_by_seed_and_their_interval)
{
    read_two_rows();
    ck_assert_int_eq(b.r.n_row, 2);
    ck_assert_str_eq(b.r.row[0].axis[0], "learned");
    ck_assert_str_eq(b.r.metric, "bpb");
    ck_assert_str_eq(b.r.length_unit, "tokens");
    ck_assert(!b.r.goal_max);
    ck_assert_int_eq(b.r.n_length, 2);
    ck_assert_int_eq(b.r.length[0], 128);
    const struct result_row *x = row("rotary", "sum");
    ck_assert_int_eq(x->n_cell, 3);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(x->cell[i]->seed, i);
        ck_assert_double_eq(x->cell[i]->at[0]->value, rotary[i]);
        ck_assert_double_eq(x->cell[i]->at[1]->value, rotary[i] + 2.0);
    }
    const struct summary *s = &x->at[0];
    ck_assert_int_eq(s->n, 3);
    ck_assert_double_eq_tol(s->mean, 2.05, 1e-12);
    ck_assert_double_eq_tol(s->sd, 0.05, 1e-12);
    ck_assert_double_eq_tol(s->ci_high - s->mean, 4.302652729749462 * 0.05 / sqrt(3), 1e-10);
    ck_assert(!s->untrained);
    ck_assert(x->at[1].untrained);
}

TEST(one_seed_has_a_mean_and_no_interval)
{
    run_maker_done(&b.run, "rotary", "sum", 0, 2.0, 3.0);
    read_all(NULL);
    const struct summary *s = &b.r.row[0].at[0];
    ck_assert_double_eq(s->mean, 2.0);
    ck_assert_double_nan(s->sd);
    ck_assert_double_nan(s->ci_low);
    ck_assert(b.r.row[0].best[0]);
}

TEST(cells_that_did_not_finish_are_counted_and_never_averaged)
{
    static const char *const state[] = {"todo",    "interrupted", "failed", "crashed",
                                        "timeout", "oom",         "stale",  "diverged"};
    run_maker_done(&b.run, "rotary", "sum", 0, 2.0, 3.0);
    for (int i = 0; i < 8; i++)
        run_maker_state(&b.run, "rotary", "sum", 1 + i, state[i]);
    run_maker_done(&b.run, "rotary", "sum", 9, (double)NAN, 5.0);
    read_all(NULL);
    const struct result_row *x = &b.r.row[0];
    ck_assert_int_eq(x->n_cell, 10);
    ck_assert_int_eq(x->missing, 2);
    ck_assert_int_eq(x->failed, 4);
    ck_assert_int_eq(x->stale, 1);
    ck_assert_int_eq(x->diverged, 1);
    ck_assert_int_eq(x->at[0].n, 1);
    ck_assert_double_eq(x->at[0].mean, 2.0);
    ck_assert_int_eq(x->at[1].n, 2);
    ck_assert_double_eq(x->at[1].mean, 4.0);
}

TEST(a_grid_without_results_is_a_table_without_values)
{
    run_maker_state(&b.run, "rotary", "sum", 0, "todo");
    read_all(NULL);
    ck_assert_int_eq(b.r.n_length, 0);
    ck_assert_int_eq(b.r.row[0].missing, 1);
    struct table_options o = {.length = -1, .cols = "combine"};
    make_table(&o);
    o.cols = NULL;
    make_table(&o);
    format_text(&b.t, 100, false, &b.out);
    format_json(&b.r, &(struct table_options){.length = -1}, &b.arena, &b.out, &b.err);
    assert_has("no cell has a value yet");
    assert_has("1 of 1 cells not finished");
}

/* ---- metric ---- */

TEST(another_metric_brings_its_own_goal)
{
    add_two_rows(&b.run);
    read_all(&(struct results_options){.metric = "accuracy"});
    ck_assert(b.r.goal_max);
    ck_assert_int_eq(b.r.n_length, 1);
    ck_assert_double_eq_tol(row("rotary", "sum")->at[0].mean, 0.795, 1e-12);
    ck_assert(row("rotary", "sum")->best[0]);
    ck_assert(!row("learned", "sum")->best[0]);
    read_all(&(struct results_options){.metric = "loss"});
    ck_assert_str_eq(b.r.split, "train");
    ck_assert_double_eq(b.r.row[0].at[0].mean, 1.25);
    assert_refused(&(struct results_options){.metric = "acuracy"}, "did you mean 'accuracy'?");
}

TEST(the_reports_goal_wins_over_the_metrics)
{
    b.run.report = "{\"metric\":\"\",\"goal\":\"max\",\"baseline\":null}";
    read_two_rows();
    ck_assert(b.r.goal_max);
    ck_assert(row("learned", "sum")->best[0]);
}

/* ---- comparisons ---- */

TEST(differences_are_paired_by_seed)
{
    b.run.report = against_learned;
    add_two_rows(&b.run);
    run_maker_done(&b.run, "learned", "sum", 3, 100.0, 100.0);
    run_maker_state(&b.run, "rotary", "sum", 3, "crashed");
    read_all(NULL);
    const struct result_row *x = row("rotary", "sum"), *y = row("learned", "sum");
    const struct summary *s = &x->at[0];
    const double d[] = {-0.5, -0.3, -0.55};
    ck_assert_int_eq(x->baseline, (int)(y - b.r.row));
    ck_assert_int_eq(s->pairs.n, 3);
    ck_assert_double_eq_tol(s->diff.mean, -0.45, 1e-12);
    ck_assert_double_eq_tol(s->diff.ci_high - s->diff.mean, stats_ci_half(d, 3), 1e-12);
    ck_assert_double_eq(s->diff.p, 0.25);
    ck_assert_int_eq(y->baseline, (int)(y - b.r.row));
    ck_assert_double_nan(y->at[0].diff.mean);
    ck_assert_double_nan(y->at[0].diff.p);
    ck_assert_int_eq(b.r.comparisons[0], 1);
}

TEST(holm_is_over_the_rows_shown)
{
    for (int seed = 0; seed < 6; seed++)
        for (int i = 0; i < 4; i++)
            run_maker_done(&b.run, schemes[i], "sum", seed, 3.0 - 0.1 * i + 0.001 * seed * i, 1.0);
    read_all(&(struct results_options){.baseline = "none"});
    ck_assert_int_eq(b.r.comparisons[0], 3);
    for (int i = 1; i < 4; i++) {
        ck_assert_double_eq(row(schemes[i], "sum")->at[0].diff.p, 1.0 / 32.0);
        ck_assert_double_eq(row(schemes[i], "sum")->at[0].diff.p_holm, 3.0 / 32.0);
    }
}

TEST(a_dash_on_combine_goes_with_any)
{
    run_maker_done(&b.run, "none", "-", 0, 3.0, 3.0);
    run_maker_done(&b.run, "learned", "sum", 0, 2.0, 2.0);
    run_maker_done(&b.run, "learned", "concat", 0, 2.5, 2.0);
    run_maker_done(&b.run, "rotary", "-", 0, 1.5, 2.0);
    read_all(&(struct results_options){.baseline = "scheme=none"});
    for (int i = 1; i < 4; i++)
        ck_assert_int_eq(b.r.row[i].baseline, 0);
    ck_assert_double_eq(row("learned", "concat")->at[0].diff.mean, -0.5);
    /* By combine, rows without one are compared with nothing. */
    read_all(&(struct results_options){.baseline = "position.combine=sum"});
    ck_assert_int_eq(row("rotary", "-")->baseline, -1);
    ck_assert_int_eq(row("none", "-")->baseline, -1);
    ck_assert_int_eq(row("learned", "concat")->baseline, 1);
    assert_refused(&(struct results_options){.baseline = "learned"},
                   "row 'none.-' has several baselines");
}

TEST(a_p_that_seeds_cannot_make_significant_is_no_number)
{
    struct table_options o = {.length = -1};
    b.run.report = against_learned;
    read_two_rows();
    make_text(&o, 200);
    ck_assert_ptr_null(strstr(b.out.text, "p_holm"));
    assert_has("p_t: paired t test, Holm over 1 comparison; assumes that differences are normal");
    assert_has("over 3 seeds");
    ck_assert_double_eq(row("rotary", "sum")->at[0].diff.p_t,
                        row("rotary", "sum")->at[0].diff.p_t_holm);
    make_text(&(struct table_options){.length = -1, .columns = "p_holm"}, 200);
    assert_has("needs 6 seeds");
    for (int seed = 3; seed < 6; seed++) {
        run_maker_done(&b.run, "learned", "sum", seed, 2.5 + 0.01 * seed, 3.0);
        run_maker_done(&b.run, "rotary", "sum", seed, 2.0, 3.0);
    }
    read_all(NULL);
    make_text(&o, 200);
    ck_assert_ptr_null(strstr(b.out.text, "needs"));
    ck_assert_ptr_null(strstr(b.out.text, "p_t"));
    assert_has("0.031");
}

/* A decoder's causal and an encoder's masked bits per byte are not of one scale. */
TEST(other_objectives_are_neither_ranked_nor_paired)
{
    b.run.second = "model.arch";
    b.run.axes = "[{\"key\":\"position.scheme\",\"labels\":[]},{\"key\":\"model.arch\","
                 "\"labels\":[]}]";
    b.run.task = ",\"objective\":\"auto\"";
    for (int seed = 0; seed < 3; seed++)
        for (int i = 0; i < 2; i++) {
            b.run.arch = i ? "encoder" : "decoder";
            run_maker_done(&b.run, "learned", b.run.arch, seed, 3.0 - i + 0.01 * seed, 1.0);
            run_maker_done(&b.run, "rotary", b.run.arch, seed, 2.9 - i - 0.02 * seed, 1.0);
        }
    read_all(&(struct results_options){.baseline = "model.arch=decoder"});
    ck_assert_int_eq(b.r.n_task, 2);
    ck_assert(row("rotary", "decoder")->best[0]);
    ck_assert(row("rotary", "encoder")->best[0]);
    ck_assert(!row("learned", "encoder")->best[0]);
    ck_assert_int_eq(row("rotary", "encoder")->at[0].pairs.refused[OTHER_TASK], 3);
    ck_assert_double_nan(row("rotary", "encoder")->at[0].diff.mean);
    make_text(&(struct table_options){.length = -1}, 200);
    assert_has("6 of 6 pairs refused: different tasks, metrics or objectives");
}

TEST(another_arch_alone_is_no_other_objective)
{
    b.run.second = "model.arch";
    b.run.task = ",\"objective\":\"causal\"";
    run_maker_done(&b.run, "learned", "decoder", 0, 3.0, 1.0);
    b.run.arch = "encoder";
    run_maker_done(&b.run, "learned", "encoder", 0, 3.0, 1.0);
    read_all(NULL);
    ck_assert_int_eq(b.r.n_task, 1);
}

TEST(a_baseline_that_names_nothing_is_refused)
{
    add_two_rows(&b.run);
    assert_refused(&(struct results_options){.baseline = "alibi"}, "no axis has the label");
    assert_refused(&(struct results_options){.baseline = "scheme=alibi"},
                   "there are learned, rotary");
    assert_refused(&(struct results_options){.baseline = "size=S"}, "there is no axis 'size'");
    assert_refused(&(struct results_options){.baseline = "scheme=rotary,x"},
                   "'x' is not axis=label");
}

TEST(best_are_the_best_mean_and_what_is_not_separable_from_it)
{
    const double close[] = {2.01, 2.08, 2.07};
    add_two_rows(&b.run);
    for (int seed = 0; seed < 3; seed++)
        run_maker_done(&b.run, "alibi", "sum", seed, close[seed], 9.0);
    run_maker_done(&b.run, "none", "sum", 0, 2.06, 9.0);
    read_all(NULL);
    ck_assert(row("rotary", "sum")->best[0]);
    ck_assert(row("alibi", "sum")->best[0]);
    ck_assert(!row("learned", "sum")->best[0]);
    ck_assert(!row("none", "sum")->best[0]);
    ck_assert(!row("alibi", "sum")->best[1]);
}

/* ---- several directories ---- */

TEST(directories_with_the_same_axes_make_one_table)
{
    open_second();
    run_maker_done(&b.other, "rotary", "sum", 3, 2.2, 3.0);
    run_maker_done(&b.other, "rotary", "sum", 0, 99.0, 99.0);
    run_maker_done(&b.other, "alibi", "sum", 0, 2.3, 3.0);
    read_all(NULL);
    ck_assert_str_eq(b.r.experiment, "first + second");
    ck_assert_int_eq(b.r.n_row, 3);
    ck_assert_int_eq(b.r.n_seed, 4);
    ck_assert_int_eq(row("rotary", "sum")->at[0].n, 4);
    ck_assert_double_eq(row("rotary", "sum")->cell[0]->at[0]->value, 2.0);
}

TEST(n_is_said_for_each_length_where_lengths_have_different_numbers)
{
    add_two_rows(&b.run);
    run_maker_done(&b.run, "rotary", "sum", 3, 2.0, (double)NAN);
    read_all(NULL);
    make_text(&(struct table_options){.length = -1}, 1000);
    assert_has("over n seeds");
    assert_has("4, 3/4");
}

TEST(one_cell_of_two_directories_with_different_bits_is_noted)
{
    char note[512];
    open_second();
    run_maker_done(&b.other, "rotary", "sum", 0, rotary[0], rotary[0] + 2.0);
    run_maker_done(&b.other, "rotary", "sum", 1, 99.0, 99.0);
    read_all(NULL);
    ck_assert_int_eq(b.r.n_rival, 1);
    const struct result_cell *kept = row("rotary", "sum")->cell[1];
    ck_assert_ptr_eq(b.r.rival[0].counts, kept);
    ck_assert_ptr_nonnull(strstr(kept->dir, b.run.dir));
    ck_assert_ptr_nonnull(strstr(b.r.rival[0].other->dir, b.other.dir));
    make_text(&(struct table_options){.length = -1}, 1000);
    snprintf(note, sizeof(note), "'%s' and '%s' are one cell with different bits: the first counts",
             kept->dir, b.r.rival[0].other->dir);
    assert_has(note);
    make_csv(false, "seed,scheme,metric,split,length,value", false);
    ck_assert_int_eq(lines_with("1,rotary,bpb,valid,128,"), 1);
    ck_assert_int_eq(lines_with(",99"), 0);
}

TEST(directories_that_differ_are_refused_with_both_named)
{
    open_second();
    add_two_rows(&b.other);
    b.other.d_model = 32;
    b.other.axes = "[{\"key\":\"position.scheme\"},{\"key\":\"size\"}]";
    assert_refused(NULL, "position.scheme, size");
    assert_error(b.run.dir);
    assert_error(b.other.dir);
    b.other.axes = b.run.axes;
    b.other.report = "{\"metric\":\"accuracy\"}";
    assert_refused(NULL, "of the second 'accuracy'");
    read_all(&(struct results_options){.metric = "accuracy"});
}

TEST(one_row_with_two_settings_is_refused)
{
    open_second();
    b.other.d_model = 64;
    run_maker_done(&b.other, "rotary", "sum", 3, 2.2, 3.0);
    assert_refused(NULL, "their settings of 'model' differ");
}

TEST(a_directory_that_is_none_is_refused)
{
    char *dir[] = {b.run.dir};
    struct results_options none = {.metric = NULL};
    ck_assert_int_eq(results_read(&b.r, 1, dir, &none, &b.arena, &b.err), PEAT_NOTFOUND);
    b.run.axes = "{}";
    run_maker_state(&b.run, "rotary", "sum", 0, "todo");
    assert_refused(NULL, "plan.json' is damaged: its axes is of another kind");
}

/* ---- naming rows ---- */

TEST(rows_are_named_by_labels_or_axes)
{
    run_maker_done(&b.run, "learned", "sum", 0, 2.0, 2.0);
    run_maker_done(&b.run, "learned", "concat", 0, 2.5, 2.0);
    run_maker_done(&b.run, "rotary(base=500,x=1)", "-", 0, 1.5, 2.0);
    read_all(NULL);
    static const struct {
        const char *text;
        int row;
    } named[] = {{"learned.sum", 0},
                 {"learned.concat", 1},
                 {"concat", 1},
                 {"rotary(base=500,x=1)", 2},
                 {"rotary(base=500,x=1).-", 2},
                 {"scheme=learned,combine=concat", 1},
                 {"position.scheme=rotary(base=500,x=1)", 2},
                 {"scheme=rotary(base=500,x=1),combine=sum", 2}};
    for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++) {
        const struct result_row *x = selector_row(&b.r, named[i].text, &b.arena, &b.err);
        ck_assert_msg(x, "%s: %s", named[i].text, b.err.text);
        ck_assert_int_eq((int)(x - b.r.row), named[i].row);
    }
    ck_assert_ptr_null(selector_row(&b.r, "learned", &b.arena, &b.err));
    assert_error("'learned' names 2 rows");
    ck_assert_ptr_null(selector_row(&b.r, "alibi", &b.arena, &b.err));
    ck_assert_ptr_nonnull(strstr(b.err.text, "no row is called 'alibi'; there are learned.sum"));
}

/* ---- numbers ---- */

TEST(intervals_have_two_significant_digits)
{
    static const struct {
        double x, half;
        bool with_sign;
        const char *text;
    } one[] = {{2.14321, 0.01234, false, "2.143 ± 0.012"},
               {2.14321, 0.0996, false, "2.14 ± 0.10"},
               {2.14321, 1.5, false, "2.1 ± 1.5"},
               {1234.5, 123.4, false, "1234 ± 123"},
               {-0.25, 0.031, true, "-0.250 ± 0.031"},
               {0.25, 0.031, true, "+0.250 ± 0.031"},
               {0.5, 0.0, false, "0.5000 ± 0"},
               {2.14321, NAN, false, "2.143"},
               {0.0, NAN, true, "0"},
               {12345.6, NAN, false, "12346"},
               {NAN, 0.1, false, "-"},
               {0.008499, 0.012, false, "0.008 ± 0.012"},
               {0.008499, 0.12, false, "0.01 ± 0.12"},
               {0.0949999, 0.12, false, "0.09 ± 0.12"},
               {0.00849999, NAN, false, "0.008500"},
               {9.4999e10, 1.2e10, false, "9.5e+10 ± 1.2e+10"}};
    for (size_t i = 0; i < sizeof(one) / sizeof(*one); i++) {
        ck_assert_str_eq(number_interval(&b.arena, one[i].x, one[i].half, one[i].with_sign),
                         one[i].text);
    }
}

TEST(counts_have_three_digits_and_a_unit)
{
    static const struct {
        double x;
        const char *text;
    } one[] = {{0, "0"},          {812, "812"},      {999.4, "999"},     {999.6, "1.00k"},
               {43512, "43.5k"},  {999600, "1.00M"}, {1234567, "1.23M"}, {3.4e9, "3.40G"},
               {-1500, "-1.50k"}, {NAN, "-"}};
    for (size_t i = 0; i < sizeof(one) / sizeof(*one); i++) {
        ck_assert_str_eq(number_count(&b.arena, one[i].x), one[i].text);
    }
}

/* ---- tables ---- */

static void assert_fits(size_t width)
{
    for (const char *line = b.out.text; *line;) {
        size_t n = strcspn(line, "\n");
        char copy[512];
        snprintf(copy, sizeof(copy), "%.*s", (int)n, line);
        bool note = strstr(copy, ": ") || strstr(copy, "Student");
        ck_assert_msg(note || text_columns(copy) <= width, "too wide: %s", copy);
        line += n + (line[n] == '\n');
    }
}

TEST(the_table_says_what_its_numbers_are)
{
    b.run.name = "sum-vs-concat";
    b.run.dropped = "[\"none x concat: nothing to merge\"]";
    add_two_rows(&b.run);
    run_maker_state(&b.run, "rotary", "sum", 3, "crashed");
    run_maker_state(&b.run, "learned", "sum", 3, "diverged");
    run_maker_state(&b.run, "learned", "sum", 4, "todo");
    read_all(&(struct results_options){.baseline = "learned"});
    make_text(&(struct table_options){.length = -1, .injection = true}, 100);
    assert_has("sum-vs-concat: bpb on the validation data (lower is better), mean ± 95 % CI "
               "(Student t) over n seeds");
    assert_has("2.05 ± 0.12*");
    assert_has("u: at this length");
    assert_has("baseline (scheme=learned)");
    assert_has(
        "3 seeds cannot reach p < .05 in a sign-flip test over 1 comparison: that takes 6 seeds");
    assert_has("1 of 9 cells failed");
    assert_has("1 of 9 cells diverged");
    assert_has("1 of 9 cells not finished");
    assert_has("schemes with nothing to merge have one row each: peat status names 1");
    assert_has("  rotary: acts");
    assert_has("3/4");
    assert_has("3/5");
    assert_fits(100);
}

TEST(a_narrow_table_repeats_its_labels)
{
    read_two_rows();
    make_text(&(struct table_options){.length = -1, .columns = "metric,cost"}, 60);
    int labels = 0;
    for (const char *at = b.out.text; (at = strstr(at, "\nlearned")); at++)
        labels++;
    ck_assert_int_gt(labels, 1);
    assert_fits(60);
}

TEST(rows_can_be_sorted_and_grouped)
{
    add_three_rows();
    run_maker_state(&b.run, "alibi", "sum", 0, "todo");
    read_all(NULL);
    static const struct {
        struct table_options o;
        const char *first[4];
    } one[] = {
        {{.length = -1}, {"3.000", "1.000", "2.000", "-"}},
        {{.length = -1, .sort = "metric"}, {"1.000", "2.000", "3.000", "-"}},
        {{.length = 256, .sort = "metric"}, {"3.000", "2.000", "1.000", "-"}},
        {{.length = -1, .sort = "combine"}, {"3.000", "2.000", "-", "1.000"}},
        {{.length = -1, .rows = "combine"}, {"3.000", "2.000", "-", "1.000"}},
    };
    for (size_t i = 0; i < sizeof(one) / sizeof(*one); i++) {
        make_table(&one[i].o);
        for (int k = 0; k < 4; k++)
            ck_assert_str_eq(b.t.cell[k * b.t.n_column + 2].text, one[i].first[k]);
    }
    struct table_options bad = {.length = 7};
    assert_no_table(&bad, "length 7; there are 128, 256");
    bad = (struct table_options){.length = -1, .cols = "combine,size"};
    assert_no_table(&bad, "there is no axis 'size'");
}

TEST(axes_become_columns)
{
    add_three_rows();
    read_all(NULL);
    make_text(&(struct table_options){.length = 256, .cols = "combine"}, 100);
    assert_has("e: bpb on the validation data (lower is better) at 256 tokens");
    assert_has("scheme       sum  concat\n");
    assert_has("learned  1.000*u  3.000u\n");
    assert_has("rotary   2.000u\n");
}

TEST(markdown_and_tex_escape_what_they_must)
{
    run_maker_done(&b.run, "a|b", "concat_split", 0, 3.0, 1.0);
    run_maker_done(&b.run, "100%", "sum", 0, 2.5, 2.0);
    read_all(NULL);
    make_table(&(struct table_options){.length = -1});
    format_markdown(&b.t, &b.out);
    assert_has("| a\\|b | concat\\_split | 3.000 |");
    assert_has("| 100% | sum | **2.500** |");
    strbuf_clear(&b.out);
    format_tex(&b.t, &b.out);
    assert_has("a\\textbar{}b & concat\\_split & 3.000");
    assert_has("100\\% & sum & \\textbf{2.500}");
    assert_has("\\begin{tabular}{llrr");
}

/* ---- pairing ---- */

static void set_hashes(const char *const hash[3])
{
    b.run.batches = hash[0];
    b.run.init = hash[1];
    b.run.shapes = hash[2];
}

/* Two rows of six seeds; from `from` on the second row's cells have the other hashes. */
static void add_hashed_rows(int from, const char *const other[3])
{
    b.run.report = against_learned;
    static const char *const first[] = {"aa", "bb", "cc"};
    for (int seed = 0; seed < 6; seed++) {
        set_hashes(first);
        run_maker_done(&b.run, "learned", "sum", seed, 3.0 + 0.1 * seed, 1.0);
        set_hashes(seed >= from ? other : first);
        run_maker_done(&b.run, "rotary", "sum", seed, 2.0 + 0.09 * seed, 1.0);
    }
}

static const struct {
    int from;            /* the first seed of the second row with these hashes: */
    const char *hash[3]; /* of batches, of initial values, of shapes */
    struct pairs pairs;
    double diff_p[2]; /* the difference and its p, when there is a pair */
    const char *text[2];
} pairings[] = {
    {4,
     {"other", "bb", "cc"},
     {.n = 4, .refused[OTHER_BATCHES] = 2},
     {-1.015, 0.125},
     {"2 of 6 pairs refused: different batches", "-1."}},
    {0,
     {"other", "bb", "cc"},
     {.n = 0, .refused[OTHER_BATCHES] = 6},
     {NAN, NAN},
     {"6 of 6 pairs refused: different batches", "unpaired"}},
    {3,
     {"aa", "other", "cc"},
     {.n = 3, .refused[OTHER_INIT] = 3},
     {-1.01, 0.25},
     {"3 of 6 pairs refused: different initial values in weights of the same shape", "-1."}},
    {0,
     {"aa", "other", "wider"},
     {.n = 6, .by_data = 6},
     {-1.025, 1.0 / 32.0},
     {"6 of 6 pairs (1 row) share the data order alone", "-1."}},
};

/* What saw other batches, or began with other values in equal shapes, is no pair; other shapes
 * share their data alone, and the table says so. Without a pair there is no test. */
TEST(pairs_that_are_none_are_refused_and_counted)
{
    for (size_t i = 0; i < sizeof(pairings) / sizeof(*pairings); i++) {
        bench_close();
        bench_open();
        add_hashed_rows(pairings[i].from, pairings[i].hash);
        read_all(NULL);
        const struct summary *s = &row("rotary", "sum")->at[0];
        ck_assert_int_eq(s->n, 6);
        ck_assert_mem_eq(&s->pairs, &pairings[i].pairs, sizeof(s->pairs));
        ck_assert_int_eq(b.r.comparisons[0], s->pairs.n > 0);
        if (s->pairs.n) {
            ck_assert_double_eq_tol(s->diff.mean, pairings[i].diff_p[0], 1e-12);
            ck_assert_double_eq(s->diff.p, pairings[i].diff_p[1]);
        } else {
            ck_assert(isnan(s->diff.mean) && isnan(s->diff.p));
        }
        make_text(&(struct table_options){.length = -1}, 120);
        assert_has(pairings[i].text[0]);
        assert_has(pairings[i].text[1]);
    }
}

TEST(best_of_unpaired_rows_goes_by_welchs_interval)
{
    const double near[] = {2.0, 2.2, 2.1}, other[] = {2.05, 2.3, 2.0}, far[] = {3.0, 3.1, 2.9};
    for (int seed = 0; seed < 3; seed++) {
        b.run.batches = "aa";
        run_maker_done(&b.run, "rotary", "sum", seed, near[seed], 1.0);
        b.run.batches = "bb";
        run_maker_done(&b.run, "alibi", "sum", seed, other[seed], 1.0);
        run_maker_done(&b.run, "none", "sum", seed, far[seed], 1.0);
    }
    read_all(NULL);
    ck_assert(row("rotary", "sum")->best[0]);
    ck_assert(row("alibi", "sum")->best[0]);
    ck_assert(!row("none", "sum")->best[0]);
}

TEST(another_test_is_used_and_named)
{
    add_hashed_rows(6, NULL);
    double d[6];
    for (int seed = 0; seed < 6; seed++)
        d[seed] = 2.0 + 0.09 * seed - (3.0 + 0.1 * seed);
    for (int test = 0; test < PAIRED_TESTS; test++) {
        read_all(&(struct results_options){.test = (enum paired_test)test});
        const struct summary *s = &row("rotary", "sum")->at[0];
        ck_assert_double_eq_tol(s->diff.p, paired_p((enum paired_test)test, d, 6), 1e-9);
        ck_assert_double_eq_tol(s->diff.dz, effect_dz(d, 6), 1e-6);
        ck_assert_double_eq_tol(s->diff.gz / s->diff.dz, effect_gz(d, 6) / effect_dz(d, 6), 1e-9);
        make_text(&(struct table_options){.length = -1}, 120);
        assert_has(paired_test_name((enum paired_test)test));
    }
}

/* ---- columns ---- */

TEST(columns_are_those_asked_for_in_their_order)
{
    add_hashed_rows(6, NULL);
    read_all(NULL);
    struct table_options o = {.length = -1, .columns = "n,p,metric@256,d_z,missing,step"};
    make_table(&o);
    static const char *const head[] = {"scheme",  "combine", "n",       "p",
                                       "bpb@256", "d_z",     "missing", "step ms"};
    ck_assert_int_eq(b.t.n_column, 8);
    for (int k = 0; k < 8; k++)
        ck_assert_str_eq(b.t.column[k].head, head[k]);
    o.columns = "n,p_hol";
    assert_no_table(&o, "did you mean 'p_holm'?");
    o.columns = "metric@7";
    assert_no_table(&o, "");
}

TEST(columns_spread_and_digits_are_those_that_can_be_shown)
{
    static const struct {
        struct table_options o;
        const char *has[4], *lacks;
    } one[] = {
        {{.length = -1, .columns = "metric,cost", .only_changed = true},
         {"scheme ", "tok/s",
          "the same in every row: combine sum, tok:pos start 16 : 1, tok:pos end 1 : 4"},
         "combine  "},
        {{.length = -1, .err = SPREAD_SD, .digits = 4},
         {"mean ± standard deviation over 3 seeds", "2.05000 ± 0.05000"},
         NULL},
        {{.length = -1, .err = SPREAD_SE, .digits = 1},
         {"mean ± standard error over 3 seeds", "2.05 ± 0.03"},
         NULL},
    };
    read_two_rows();
    for (size_t i = 0; i < sizeof(one) / sizeof(*one); i++) {
        make_text(&one[i].o, 200);
        for (int k = 0; one[i].has[k]; k++)
            assert_has(one[i].has[k]);
        ck_assert(!one[i].lacks || !strstr(b.out.text, one[i].lacks));
    }
    assert_no_table(&(struct table_options){.length = -1, .columns = "diff"},
                    "'diff' needs a baseline");
}

TEST(csv_columns_can_be_chosen)
{
    run_maker_done(&b.run, "rotary(base=500,x=1)", "sum", 0, 0.5, 2.0);
    run_maker_done(&b.run, "learned", "sum", 1, 0.25, 2.0);
    read_all(NULL);
    make_csv(false, "seed,scheme,cpu,value", false);
    assert_has("seed,scheme,cpu,value\n0,\"rotary(base=500,x=1)\",\"a, \"\"b\"\"\",0.5\n");
    make_csv(false, "seed,scheme,cpu,value", true);
    assert_has("seed,scheme,value\n0,\"rotary(base=500,x=1)\",0.5\n");
    ck_assert_int_eq(format_csv(&b.r, false, "sede", false, &b.out, &b.err), PEAT_INVALID);
    assert_error("it has experiment, cell, ");
    assert_error("; did you mean 'seed'?");
}

/* ---- tasks ---- */

/* Four schemes on n tasks; the values of each task are on a scale of their own. */
static void add_tasks(int n)
{
    static const char *const task[] = {"copy", "sort", "add", "text", "recall", "parity"};
    b.run.axes = "[{\"key\":\"position.scheme\"},{\"key\":\"task\"}]";
    b.run.second = "task";
    b.run.report = "{\"metric\":\"bpb\",\"goal\":\"min\","
                   "\"baseline\":{\"position.scheme\":\"none\"}}";
    for (int t = 0; t < n; t++)
        for (int i = 0; i < 4; i++)
            for (int seed = 0; seed < 2; seed++)
                run_maker_done(&b.run, schemes[i], task[t], seed, (t + 1) * (4.0 - i + 0.01 * seed),
                               1.0);
}

TEST(best_is_marked_within_each_task)
{
    add_tasks(3);
    read_all(NULL);
    ck_assert_int_eq(b.r.n_task, 3);
    for (int i = 0; i < b.r.n_row; i++)
        ck_assert_int_eq(b.r.row[i].best[0], strcmp(b.r.row[i].axis[0], "learned") == 0);
}

/* ---- data ---- */

TEST(csv_has_a_line_for_each_cell_metric_split_and_length)
{
    run_maker_done(&b.run, "rotary(base=500,x=1)", "sum", 0, 0.1, 2.0);
    run_maker_state(&b.run, "learned", "sum", 0, "diverged");
    run_maker_state(&b.run, "alibi", "sum", 0, "oom");
    run_maker_state(&b.run, "none", "-", 0, "todo");
    run_maker_state(&b.run, "none", "-", 1, "stale");
    read_all(NULL);
    make_csv(false, NULL, false);
    ck_assert_int_eq(lines_with(","), 1 + 4 * 4);
    ck_assert_int_eq(lines_with(",todo,"), 0);
    assert_has("experiment,cell,label,scheme,combine,task,seed,metric,split,length,step,value,");
    assert_has("\"rotary(base=500,x=1)\",sum,text,0,bpb,valid,128,300,0.1,00000000,done,min,");
    assert_has(",accuracy,valid,128,300,0.99,00000000,done,max,");
    assert_has(",loss,train,64,300,1.25,");
    assert_has("learned,sum,text,0,bpb,valid,128,12,,00000001,diverged,min,");
    assert_has("alibi,sum,text,0,bpb,valid,128,,,00000002,oom,min,");
    assert_has(",bpb,valid,128,,,00000004,stale,min,");
    assert_has(",12345,2000,74000,16,0.25,1000,1.5,20480,3.25,0.5,3.5,");
    assert_has(",1,h,\"a, \"\"b\"\"\",");
    assert_has(",task/text;scheme/rotary,1.0;1.1,0.1;0.1,aa;bb,cc,2026-01-31T12:00:00Z,\n");
}

TEST(csv_of_all_steps_reads_the_curves_without_step_0)
{
    run_maker_done(&b.run, "rotary", "sum", 0, 0.1, 2.0);
    run_maker_state(&b.run, "learned", "sum", 0, "todo");
    run_maker_file(
        &b.run, 0, "metrics.jsonl",
        "{\"step\":0,\"metric\":\"bpb\",\"split\":\"valid\",\"length\":128,\"value\":8.0}\n"
        "{\"step\":10,\"metric\":\"loss\",\"split\":\"train\",\"length\":null,\"value\":2.5}\n"
        "{\"step\":20,\"metric\":\"bpb\",\"split\":\"valid\",\"length\":128,\"value\":null}\n"
        "{\"step\":30,\"metric\":\"bp");
    read_all(NULL);
    make_csv(true, NULL, false);
    ck_assert_int_eq(lines_with(","), 3);
    assert_has(",0,loss,train,,10,2.5,");
    assert_has(",0,bpb,valid,128,20,,");
}

TEST(value_that_is_no_number_is_named)
{
    run_maker_done(&b.run, "rotary", "sum", 0, 2.0, 3.0);
    run_maker_done(&b.run, "rotary", "sum", 1, (double)NAN, 5.0);
    read_all(NULL);
    make_text(&(struct table_options){.length = -1}, 100);
    assert_has("rotary.sum.s1: bpb@128 is not a finite number: not in the mean");
}

TEST(json_has_an_entry_for_each_row_and_length)
{
    add_two_rows(&b.run);
    run_maker_state(&b.run, "rotary", "sum", 3, "crashed");
    read_all(&(struct results_options){.baseline = "learned"});
    format_json(&b.r, &(struct table_options){.length = -1}, &b.arena, &b.out, &b.err);
    const struct value *v = json_parse(&b.arena, b.out.text, b.out.n, "out", &b.err);
    ck_assert_msg(v, "%s", b.err.text);
    const struct value *rows = value_get(v, "rows");
    ck_assert_int_eq(rows->n, 4);
    ck_assert_str_eq(value_get(v, "goal")->text, "min");
    const struct value *baseline = rows->item[0], *other = rows->item[2];
    ck_assert_str_eq(value_get(value_get(other, "axes"), "position.scheme")->text, "rotary");
    ck_assert_int_eq(value_get(baseline, "diff")->kind, VALUE_NULL);
    ck_assert_double_eq_tol(value_get(other, "diff")->real, -0.45, 1e-12);
    ck_assert_double_eq(value_get(other, "p_holm")->real, 0.25);
    ck_assert_int_eq(value_get(other, "failed")->integer, 1);
    ck_assert_int_eq(value_get(other, "length")->integer, 128);
    const struct value *values = value_get(other, "values");
    ck_assert_double_eq(value_get(values, "1")->real, rotary[1]);
    ck_assert_int_eq(value_get(values, "3")->kind, VALUE_NULL);
    strbuf_clear(&b.out);
    format_jsonl(&b.r, NULL, &b.arena, &b.out);
    ck_assert_int_eq(lines_with("\"axes\""), 4);
}

TEST(only_notes_on_methods_are_left_out)
{
    struct table t = {.arena = &b.arena};
    for (int i = 0; i < 3; i++)
        table_note(&t, "doubt");
    table_limit_notes(&t, 2);
    ck_assert_int_eq(t.n_note, 3);
    table_note_method(&t, "method");
    table_limit_notes(&t, 2);
    ck_assert_int_eq(t.n_note, 4);
    ck_assert_str_eq(t.note[3], "1 more note on how this is computed: --notes");
}

int main(void)
{
    return run_tests((struct tests){"results", bench_open, bench_close});
}
