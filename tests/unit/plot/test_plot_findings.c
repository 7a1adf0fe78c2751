/* SPDX-License-Identifier: MIT */
/* test_plot_findings.c: planted diagnoses as figures: by row, by layer, along an axis of numbers.
 */
#include "plot/plot_findings.h"
#include "support/run_maker.h"
#include "support/support.h"
#include "support/texts.h"

static struct bench {
    struct run_maker run;
    struct arena arena;
    struct results r;
    struct findings found;
    struct figure f;
    struct error err;
} b;

static void bench_open(void)
{
    b = (struct bench){.err = {0}};
    arena_init(&b.arena, "findings", 1 << 16);
    run_maker_open(&b.run, "e");
    b.run.axes = "[{\"key\":\"position.scheme\"},{\"key\":\"model.d_model\"}]";
    b.run.second = "model.d_model";
}

static void bench_close(void)
{
    run_maker_close(&b.run);
    figure_release(&b.f);
    arena_release(&b.arena);
}

static void plant(const char *scheme, const char *width, double angle)
{
    char text[256];
    run_maker_done(&b.run, scheme, width, 0, 2.5, 3.5);
    snprintf(text, sizeof(text),
             "{\"version\":1,\"subspaces\":{\"mean\":%g,\"random\":{\"mean\":%g}},"
             "\"probes\":{\"layers\":[{\"layer\":0,\"position_r2\":0.5},"
             "{\"layer\":1,\"position_r2\":0.25}]}}",
             angle, angle - 10);
    run_maker_file(&b.run, b.run.n - 1, "diagnose.json", text);
}

static peat_status draw(const char *measure, const char *over)
{
    static const struct results_options none;
    char *dir[] = {b.run.dir};
    run_maker_finish(&b.run);
    ck_assert_msg(results_read(&b.r, 1, dir, &none, &b.arena, &b.err) == PEAT_OK, "%s", b.err.text);
    findings_read(&b.found, &b.r, &b.arena);
    figure_release(&b.f);
    return plot_findings(&b.f, &b.found,
                         &(struct findings_figure){.measure = measure, .over = over}, &b.err);
}

static void plant_widths(void)
{
    plant("learned", "64", 70);
    plant("learned", "16", 50);
    plant("sine", "16", 52);
    run_maker_done(&b.run, "rotary", "16", 0, 2.0, 3.0);
}

START_TEST(labels_that_are_numbers_stand_where_they_are)
{
    plant_widths();
    ck_assert_msg(draw("angle", "d_model") == PEAT_OK, "%s", b.err.text);
    assert_has(b.f.script.text, "set xtics ('16' 16, '64' 64)");
    assert_has(b.f.data.text,
               "64 70 70 70 \"learned, 64: 70.00\"\n16 50 50 50 \"learned, 16: 50.00\"\n");
    assert_has(b.f.data.text, "16 41 NaN NaN \"\"\n64 60 NaN NaN \"\"\n"); /* chance, ascending */
    assert_lacks(b.f.script.text, "rotary");
}
END_TEST

START_TEST(a_measure_of_layers_is_a_line_by_layer)
{
    plant_widths();
    ck_assert_msg(draw("position_r2", NULL) == PEAT_OK, "%s", b.err.text);
    assert_has(b.f.script.text, "set xtics ('0' 0, '1' 1)");
    assert_has(b.f.script.text, "set xlabel 'blocks passed'");
    assert_has(b.f.data.text, "0 0.5 0.5 0.5 \"learned.16, 0: 0.5000\"\n1 0.25 0.25 0.25 ");
    ck_assert_int_eq(draw("position_r2", "d_model"), PEAT_INVALID);
    assert_has(b.err.text, "'position_r2@0' is the first");
    ck_assert_msg(draw("position_r2@1", "d_model") == PEAT_OK, "%s", b.err.text);
    assert_has(b.f.data.text, "16 0.25 0.25 0.25 ");
}
END_TEST

START_TEST(one_number_is_a_point_for_each_row_that_has_it)
{
    plant_widths();
    ck_assert_msg(draw("angle", NULL) == PEAT_OK, "%s", b.err.text);
    assert_has(b.f.script.text, "set ytics ('learned.64' 0, 'learned.16' 1, 'sine.16' 2)");
    assert_has(b.f.script.text, "angle (grey: by chance)");
    ck_assert_int_eq(draw("ratio", NULL), PEAT_INVALID);
    assert_has(b.err.text, "no diagnosed row has a number for 'ratio'");
}
END_TEST

int main(void)
{
    return run_list((struct tests){"plot findings", bench_open, bench_close},
                    TESTS(labels_that_are_numbers_stand_where_they_are,
                          a_measure_of_layers_is_a_line_by_layer,
                          one_number_is_a_point_for_each_row_that_has_it));
}
