/* SPDX-License-Identifier: MIT */
/* test_plot.c: scripts and data of figures, as gnuplot gets them. */
#include "maths/statistics.h"
#include "plot/plot.h"
#include "support/run_maker.h"
#include "support/support.h"
#include "support/texts.h"

/* The figure under test. */
static struct bench {
    struct run_maker run;
    struct arena arena;
    struct results r;
    struct figure f;
    struct error err;
} b;

static void bench_open(void)
{
    b = (struct bench){.err = {0}};
    arena_init(&b.arena, "plot", 1 << 16);
    run_maker_open(&b.run, "e");
}

static void bench_close(void)
{
    run_maker_close(&b.run);
    figure_release(&b.f);
    arena_release(&b.arena);
}

static peat_status draw(struct plot_options o)
{
    static const struct results_options none;
    char *dir[] = {b.run.dir};
    run_maker_finish(&b.run);
    ck_assert_msg(results_read(&b.r, 1, dir, &none, &b.arena, &b.err) == PEAT_OK, "%s", b.err.text);
    return plot_make(&b.f, &b.r, &o, &b.arena, &b.err);
}

static void assert_draws(enum plot_kind kind)
{
    ck_assert_msg(draw((struct plot_options){.kind = kind, .length = -1}) == PEAT_OK, "%s",
                  b.err.text);
}

/* The line-th line of the block-th block of the data. */
static const char *data_line(int block, int line)
{
    const char *at = b.f.data.text;
    while (block-- > 0) {
        at = strstr(at, "\n\n\n");
        ck_assert_ptr_nonnull(at);
        at += 3;
    }
    while (line-- > 0) {
        at = strchr(at, '\n');
        ck_assert_ptr_nonnull(at);
        at++;
    }
    return at;
}

static void add_two_rows(struct run_maker *m)
{
    for (int seed = 0; seed < 3; seed++) {
        run_maker_done(m, "learned", "sum", seed, 2.5 + 0.1 * seed, 3.5);
        run_maker_done(m, "rotary", "sum", seed, 2.0 + 0.05 * seed, 3.0);
    }
}

/* ---- texts ---- */

START_TEST(texts_are_quoted_for_gnuplot)
{
    struct strbuf out;
    strbuf_init(&out);
    figure_quote(&out, "say \"it\" `date` \\");
    ck_assert_str_eq(out.text, "'say \"it\" `date` \\'");
    strbuf_clear(&out);
    figure_quote(&out, "it's\n'a' `date` é");
    ck_assert_str_eq(out.text, "\"it\\047s\\134n\\047a\\047 \\140date\\140 é\"");
    strbuf_release(&out);
}
END_TEST

START_TEST(the_name_of_a_file_tells_the_format)
{
    ck_assert_int_eq(figure_format_of("a/b.c.svg"), FIGURE_SVG);
    ck_assert_int_eq(figure_format_of("x.pdf"), FIGURE_PDF);
    ck_assert_int_eq(figure_format_of("x.png"), FIGURE_PNG);
    ck_assert_int_eq(figure_format_of("x.gif"), -1);
    ck_assert_int_eq(figure_format_of("svg"), -1);
}
END_TEST

START_TEST(colours_dashes_and_points_differ_for_many_series)
{
    for (int i = 0; i < 30; i++)
        for (int k = 0; k < i; k++)
            ck_assert(strcmp(figure_colour(i), figure_colour(k)) != 0 ||
                      (figure_dash(i) != figure_dash(k) && figure_point(i) != figure_point(k)));
}
END_TEST

START_TEST(a_label_can_not_leave_its_quotes)
{
    run_maker_done(&b.run, "x'; system('false'); '", "sum", 0, 2.5, 3.5);
    assert_draws(PLOT_BARS);
    assert_has(b.f.script.text, "\"x\\047; system(\\047false\\047); \\047.sum\" 0");
}
END_TEST

START_TEST(long_labels_are_cut_between_characters)
{
    run_maker_done(&b.run, "ääääääääääääääääääääääääääääääääääääääääääää", "sum", 0, 2.5, 3.5);
    run_maker_done(&b.run, "ää", "sum", 0, 2.5, 3.5);
    assert_draws(PLOT_BARS);
    assert_has(b.f.script.text, "('äääääääääääääääääääääääääääääääääääääääääää…' 0, 'ää.sum' 1)");
}
END_TEST

/* ---- bars ---- */

START_TEST(bars_are_the_means_and_intervals_of_the_table)
{
    double x, mean, low, high;
    add_two_rows(&b.run);
    assert_draws(PLOT_BARS);
    for (int i = 0; i < 2; i++) {
        const struct summary *s = &b.r.row[i].at[0];
        ck_assert_int_eq(sscanf(data_line(0, i), "%lf %lf %lf %lf", &x, &mean, &low, &high), 4);
        ck_assert_double_eq(x, i);
        ck_assert_double_eq(mean, s->mean);
        ck_assert_double_eq(low, s->ci_low);
        ck_assert_double_eq(high, s->ci_high);
    }
    ck_assert_int_eq(sscanf(data_line(1, 5), "%lf %lf", &x, &mean), 2);
    ck_assert_double_eq(mean, 2.1);
    assert_has(b.f.script.text, "set xlabel 'bpb at 128 tokens (lower is better)'");
}
END_TEST

START_TEST(one_seed_has_a_point_and_no_interval)
{
    run_maker_done(&b.run, "learned", "sum", 0, 2.5, 3.5);
    assert_draws(PLOT_BARS);
    ck_assert_int_eq(strncmp(data_line(0, 0), "0 2.5 2.5 2.5 ", 14), 0);
}
END_TEST

START_TEST(a_row_without_values_says_why)
{
    add_two_rows(&b.run);
    run_maker_state(&b.run, "alibi", "sum", 0, "diverged");
    run_maker_state(&b.run, "fire", "sum", 0, "crashed");
    run_maker_state(&b.run, "cope", "sum", 0, "todo");
    assert_draws(PLOT_BARS);
    assert_has(b.f.script.text, "set label 'diverged' at graph 0.02, first 2");
    assert_has(b.f.script.text, "set label 'failed' at graph 0.02, first 3");
    assert_has(b.f.script.text, "set label 'not finished' at graph 0.02, first 4");
    assert_has(data_line(0, 2), "NaN");
}
END_TEST

START_TEST(nothing_finished_is_nothing_to_draw)
{
    run_maker_state(&b.run, "learned", "sum", 0, "todo");
    for (int kind = 0; kind < PLOT_KINDS; kind++) {
        ck_assert_int_eq(draw((struct plot_options){.kind = (enum plot_kind)kind, .length = -1}),
                         PEAT_INVALID);
        ck_assert(b.err.text[0]);
        figure_release(&b.f);
    }
}
END_TEST

/* ---- panels ---- */

/* Eight rows and more stand in panels; a row without a combine is in each of them. */
START_TEST(a_row_that_combines_nothing_stands_in_every_panel)
{
    static const char *const scheme[] = {"learned", "sinusoidal", "fourier", "abacus"};
    run_maker_done(&b.run, "none", "-", 0, 3.0, 4.0);
    for (int i = 0; i < 4; i++) {
        run_maker_done(&b.run, scheme[i], "sum", 0, 2.5, 3.5);
        run_maker_done(&b.run, scheme[i], "multiply", 0, 2.6, 3.6);
    }
    assert_draws(PLOT_LENGTH);
    assert_has(b.f.script.text, "set title 'sum'");
    assert_has(b.f.script.text, "set title 'multiply'");
    assert_lacks(b.f.script.text, "set title '-'");
    ck_assert_int_eq(count_parts(b.f.script.text, "data index 0 using 1:2 "), 2);
    ck_assert_int_eq(count_parts(b.f.script.text, "data index 1 using 1:2 "), 1);
    ck_assert_int_eq(count_parts(b.f.script.text, " title 'learned'"), 1);
}
END_TEST

START_TEST(few_rows_share_one_panel)
{
    add_two_rows(&b.run);
    assert_draws(PLOT_LENGTH);
    ck_assert_int_eq(count_parts(b.f.script.text, "with filledcurves"), 2);
    assert_has(b.f.script.text, " title 'learned.sum'");
    ck_assert_int_eq(strncmp(data_line(1, 1), "256 3 3 3 ", 10), 0);
}
END_TEST

/* Schemes by combinations: 2 x 2, and one that has nothing to combine. */
static void add_crossed(struct run_maker *m)
{
    run_maker_done(m, "learned", "sum", 0, 2.5, 3.5);
    run_maker_done(m, "learned", "gate", 0, 2.4, 3.4);
    run_maker_done(m, "sine", "sum", 0, 2.3, 3.3);
    run_maker_done(m, "sine", "gate", 0, 2.2, 3.2);
    run_maker_done(m, "rotary", "-", 0, 2.0, 3.0);
}

START_TEST(lines_and_panels_are_of_the_axes_that_are_named)
{
    add_crossed(&b.run);
    ck_assert_int_eq(
        draw((struct plot_options){.kind = PLOT_LENGTH, .length = -1, .lines = "combine"}),
        PEAT_OK);
    assert_has(b.f.script.text, "set title 'learned'");
    assert_has(b.f.script.text, "set title 'rotary'");
    ck_assert_int_eq(count_parts(b.f.script.text, " title 'sum'"), 1);
    ck_assert_int_eq(count_parts(b.f.script.text, "data index 0 using 1:2 "), 1);
    figure_release(&b.f);
    ck_assert_int_eq(draw((struct plot_options){
                         .kind = PLOT_LENGTH, .length = -1, .panels = "position.combine"}),
                     PEAT_OK);
    assert_has(b.f.script.text, "set title 'gate'");
    ck_assert_int_eq(count_parts(b.f.script.text, "data index 4 using 1:2 "), 2);
    ck_assert_int_eq(count_parts(b.f.script.text, " title 'sine'"), 1);
}
END_TEST

START_TEST(an_axis_that_is_not_there_or_twice_is_refused)
{
    add_crossed(&b.run);
    ck_assert_int_eq(
        draw((struct plot_options){.kind = PLOT_LENGTH, .length = -1, .lines = "combin"}),
        PEAT_INVALID);
    assert_has(b.err.text, "--lines: there is no axis 'combin'");
    assert_has(b.err.text, "did you mean 'combine'?");
    figure_release(&b.f);
    ck_assert_int_eq(draw((struct plot_options){.kind = PLOT_COST,
                                                .length = -1,
                                                .lines = "scheme",
                                                .panels = "combine,position.scheme"}),
                     PEAT_INVALID);
    assert_has(b.err.text, "--panels: axis 'position.scheme' is named already");
}
END_TEST

/* ---- curves ---- */

static void add_history(struct run_maker *m, int cell, double shift)
{
    struct strbuf text;
    strbuf_init(&text);
    for (int step = 10; step <= 50; step += 10) {
        strbuf_addf(&text,
                    "{\"step\":%d,\"metric\":\"loss\",\"split\":\"train\",\"length\":null,"
                    "\"value\":%g}\n",
                    step, shift + 1.0 / step);
        strbuf_addf(&text,
                    "{\"step\":%d,\"metric\":\"bpb\",\"split\":\"valid\",\"length\":128,"
                    "\"value\":%g}\n",
                    step, shift + step);
    }
    strbuf_add(&text, "{\"step\":60,\"metric\":\"bpb\",\"split\":\"va");
    run_maker_file(m, cell, "metrics.jsonl", text.text);
    strbuf_release(&text);
}

START_TEST(curves_are_means_over_seeds_with_their_intervals)
{
    double x, mean, low, high;
    for (int seed = 0; seed < 3; seed++) {
        run_maker_done(&b.run, "learned", "sum", seed, 2.5, 3.5);
        add_history(&b.run, seed, seed);
    }
    assert_draws(PLOT_CURVES);
    for (int i = 0; i < 5; i++) {
        const double value[] = {10.0 * (i + 1), 10.0 * (i + 1) + 1, 10.0 * (i + 1) + 2};
        ck_assert_int_eq(sscanf(data_line(0, i), "%lf %lf %lf %lf", &x, &mean, &low, &high), 4);
        ck_assert_double_eq(x, 10.0 * (i + 1));
        ck_assert_double_eq_tol(mean, value[1], 1e-12);
        ck_assert_double_eq_tol(high - mean, stats_ci_half(value, 3), 1e-12);
    }
    ck_assert_int_eq(*data_line(0, 5), '\n');
    assert_has(b.f.script.text, "set xrange [0:50]");
}
END_TEST

START_TEST(without_evaluations_on_the_way_curves_are_the_training_loss)
{
    double x, mean;
    run_maker_state(&b.run, "learned", "sum", 0, "todo");
    run_maker_done(&b.run, "rotary", "sum", 0, 2.5, 3.5);
    run_maker_file(&b.run, 1, "metrics.jsonl",
                   "{\"step\":10,\"metric\":\"loss\",\"split\":\"train\",\"value\":4.5}\n"
                   "{\"step\":20,\"metric\":\"loss\",\"split\":\"train\",\"value\":null,"
                   "\"diverged\":true}\n"
                   "{\"step\":30,\"metric\":\"loss\",\"split\":\"train\",\"value\":3.5}\n"
                   "{\"step\":30,\"metric\":\"loss\",\"split\":\"valid\",\"length\":128,"
                   "\"value\":9}\n");
    assert_draws(PLOT_CURVES);
    assert_has(b.f.script.text, "loss of the training batch");
    assert_has(data_line(0, 0), "NaN NaN NaN NaN \"\"\n");
    ck_assert_int_eq(sscanf(data_line(1, 1), "%lf %lf", &x, &mean), 2);
    ck_assert_double_eq(x, 30.0);
    ck_assert_double_eq(mean, 3.5);
}
END_TEST

START_TEST(a_metric_that_was_asked_for_is_never_replaced)
{
    run_maker_done(&b.run, "rotary", "sum", 0, 2.5, 3.5);
    run_maker_file(&b.run, 0, "metrics.jsonl",
                   "{\"step\":10,\"metric\":\"loss\",\"split\":\"train\",\"value\":4.5}\n");
    ck_assert_int_eq(draw((struct plot_options){.kind = PLOT_CURVES, .length = -1, .asked = true}),
                     PEAT_INVALID);
    assert_has(b.err.text, "eval.every");
}
END_TEST

/* ---- cost and heat map ---- */

START_TEST(cost_is_what_was_asked_for)
{
    add_two_rows(&b.run);
    ck_assert_int_eq(
        draw((struct plot_options){.kind = PLOT_COST, .cost = COST_PARAMS, .length = 256}),
        PEAT_OK);
    ck_assert_int_eq(strncmp(data_line(0, 0), "12345 3.5 3.5 3.5 ", 18), 0);
    assert_has(b.f.script.text, "set xlabel 'parameters'");
    figure_release(&b.f);
    ck_assert_int_eq(draw((struct plot_options){.kind = PLOT_COST, .length = 99}), PEAT_INVALID);
    assert_has(b.err.text, "there are 128, 256");
}
END_TEST

START_TEST(of_cost_a_colour_is_a_scheme_and_a_shape_a_combination)
{
    add_crossed(&b.run);
    ck_assert_int_eq(
        draw((struct plot_options){
            .kind = PLOT_COST, .cost = COST_PARAMS, .length = -1, .panels = "combine"}),
        PEAT_OK);
    const char *script = b.f.script.text;
    assert_has(script, "data index 0 using 1:2 with points ps 1.2 lc rgb '#0072B2' pt 7");
    assert_has(script, "data index 1 using 1:2 with points ps 1.2 lc rgb '#0072B2' pt 5");
    assert_has(script, "data index 2 using 1:2 with points ps 1.2 lc rgb '#D55E00' pt 7");
    assert_has(script, "data index 4 using 1:2 with points ps 1.2 lc rgb '#009E73' pt 9");
    assert_has(script, "lc rgb '#888888' pt 5 title 'gate'");
    assert_has(script, "lc rgb '#888888' pt 9 title 'nothing to combine'");
}
END_TEST

START_TEST(a_row_that_combines_nothing_stands_in_every_column_of_the_heat_map)
{
    add_crossed(&b.run);
    assert_draws(PLOT_HEATMAP);
    ck_assert_int_eq(strncmp(b.f.data.text, "2.5 2.4\n2.3 2.2\n2 2\n", 20), 0);
    assert_has(b.f.script.text, "set xtics ('sum' 0, 'gate' 1)");
}
END_TEST

/* The interval of two seeds is twelve times as wide as they are apart. */
START_TEST(intervals_that_would_squeeze_the_rest_run_out_of_the_bars)
{
    double low = 0.0, high = 0.0;
    for (int seed = 0; seed < 2; seed++) {
        run_maker_done(&b.run, "learned", "sum", seed, 2.0 + 0.1 * seed, 3.0);
        run_maker_done(&b.run, "rotary", "sum", seed, 2.0 + 0.01 * seed, 3.0);
    }
    assert_draws(PLOT_BARS);
    const char *range = strstr(b.f.script.text, "set xrange [");
    ck_assert_ptr_nonnull(range);
    ck_assert_int_eq(sscanf(range, "set xrange [%lf:%lf]", &low, &high), 2);
    ck_assert_double_eq_tol(low, 1.9, 1e-9);
    ck_assert_double_eq_tol(high, 2.2, 1e-9);
}
END_TEST

START_TEST(the_heat_map_has_a_gap_where_there_is_no_row)
{
    run_maker_done(&b.run, "learned", "sum", 0, 2.5, 3.5);
    run_maker_done(&b.run, "learned", "multiply", 0, 2.25, 3.5);
    run_maker_done(&b.run, "rotary", "sum", 0, 2.0, 3.0);
    assert_draws(PLOT_HEATMAP);
    ck_assert_int_eq(strncmp(b.f.data.text, "2.5 2.25\n2 NaN\n", 15), 0);
    assert_has(b.f.script.text, "set xtics ('sum' 0, 'multiply' 1)");
    assert_has(b.f.script.text, "set palette negative");
}
END_TEST

int main(void)
{
    return run_list(
        (struct tests){"plot", bench_open, bench_close},
        TESTS(texts_are_quoted_for_gnuplot, the_name_of_a_file_tells_the_format,
              colours_dashes_and_points_differ_for_many_series, a_label_can_not_leave_its_quotes,
              long_labels_are_cut_between_characters, bars_are_the_means_and_intervals_of_the_table,
              one_seed_has_a_point_and_no_interval, a_row_without_values_says_why,
              nothing_finished_is_nothing_to_draw,
              a_row_that_combines_nothing_stands_in_every_panel, few_rows_share_one_panel,
              curves_are_means_over_seeds_with_their_intervals,
              without_evaluations_on_the_way_curves_are_the_training_loss,
              a_metric_that_was_asked_for_is_never_replaced, cost_is_what_was_asked_for,
              the_heat_map_has_a_gap_where_there_is_no_row,
              lines_and_panels_are_of_the_axes_that_are_named,
              an_axis_that_is_not_there_or_twice_is_refused,
              of_cost_a_colour_is_a_scheme_and_a_shape_a_combination,
              a_row_that_combines_nothing_stands_in_every_column_of_the_heat_map,
              intervals_that_would_squeeze_the_rest_run_out_of_the_bars));
}
