/* SPDX-License-Identifier: MIT */
/* test_html.c: the page says what the table says, and needs nothing from elsewhere. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "page/html.h"
#include "report/table.h"
#include "support/run_maker.h"
#include "support/support.h"

/* One page under test. */
struct bench {
    struct run_maker run;
    struct arena arena;
    struct results r;
    struct error err;
    struct strbuf page;
};

static void bench_open(struct bench *b, const char *name)
{
    *b = (struct bench){.err = {0}};
    arena_init(&b->arena, "html", 1 << 16);
    strbuf_init(&b->page);
    run_maker_open(&b->run, name);
    b->run.report = "{\"metric\":\"bpb\",\"goal\":\"metric\","
                    "\"baseline\":{\"position.scheme\":\"learned\"},\"at\":\"final\"}";
}

static void bench_close(struct bench *b)
{
    run_maker_close(&b->run);
    arena_release(&b->arena);
    strbuf_release(&b->page);
}

static peat_status write_page(struct bench *b, int64_t length)
{
    static const struct results_options none;
    char *dir[] = {b->run.dir};
    const struct html_options o = {.n_dir = 1, .dir = dir, .length = length};
    run_maker_finish(&b->run);
    ck_assert_msg(results_read(&b->r, 1, dir, &none, &b->arena, &b->err) == PEAT_OK, "%s",
                  b->err.text);
    return html_report(&b->r, &o, &b->arena, &b->page, &b->err);
}

static void assert_written(struct bench *b)
{
    ck_assert_msg(write_page(b, -1) == PEAT_OK, "%s", b->err.text);
}

static void assert_has(const struct bench *b, const char *part)
{
    ck_assert_msg(strstr(b->page.text, part), "no '%s' in\n%s", part, b->page.text);
}

static void assert_lacks(const struct bench *b, const char *part)
{
    const char *at = strstr(b->page.text, part);
    ck_assert_msg(!at, "there is '%.80s'", at);
}

static void add_rows(struct run_maker *m)
{
    for (int seed = 0; seed < 3; seed++) {
        run_maker_done(m, "learned", "sum", seed, 2.5 + 0.1 * seed, 3.5 + 0.01 * seed);
        run_maker_done(m, "rotary", "sum", seed, 2.0 + 0.05 * seed, 3.0 - 0.07 * seed * seed);
    }
}

/* ---- parts ---- */

START_TEST(texts_are_escaped)
{
    struct strbuf out;
    strbuf_init(&out);
    html_text(&out, "<b a=\"1\" c='2'>\x01&amp;");
    ck_assert_str_eq(out.text, "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt; &amp;amp;");
    strbuf_release(&out);
}
END_TEST

START_TEST(two_drawings_share_no_name)
{
    static const char svg[] =
        "<?xml version=\"1.0\"?>\n<svg \n width=\"640\" height=\"400\"\n viewBox=\"0 0 640 400\"\n"
        " xmlns=\"http://www.w3.org/2000/svg\">\n<title>Gnuplot</title>\n<desc>By GNUPLOT</desc>\n"
        "<g id=\"gnuplot_canvas\"><path id='gpPt0' d='M0,0'/><use xlink:href='#gpPt0'/>"
        "<rect fill='url(#gpPat1)'/><text>gp</text></g>\n</svg>\n";
    struct strbuf out;
    strbuf_init(&out);
    html_svg(&out, svg, 7, "a < b");
    ck_assert_str_eq(
        out.text, "<svg role=\"img\" width=\"640\" height=\"400\" viewBox=\"0 0 640 400\">"
                  "<title>a &lt; b</title>\n"
                  "<g id=\"f7gnuplot_canvas\"><path id='f7gpPt0' d='M0,0'/>"
                  "<use xlink:href='#f7gpPt0'/><rect fill='url(#f7gpPat1)'/><text>gp</text></g>\n"
                  "</svg>\n");
    strbuf_clear(&out);
    html_svg(&out, "no drawing", 1, "x");
    ck_assert_str_eq(out.text, "");
    strbuf_release(&out);
}
END_TEST

/* ---- page ---- */

/* Every number of `results --format json` stands in the page, digit by digit. */
START_TEST(the_page_has_the_numbers_of_the_json_format)
{
    static const char *const key[] = {"mean", "sd",          "ci_low",       "ci_high", "diff",
                                      "p",    "diff_ci_low", "diff_ci_high", "p_holm"};
    struct bench b;
    struct strbuf json, cell;
    bench_open(&b, "e");
    strbuf_init(&json);
    strbuf_init(&cell);
    add_rows(&b.run);
    assert_written(&b);
    format_json(&b.r, NULL, &b.arena, &json);
    const struct value *v = value_from_json(&b.arena, json.text, json.n, "json", &b.err);
    const struct value *rows = value_get(v, "rows");
    ck_assert_int_eq(rows->n, 4);
    int seen = 0;
    for (int i = 0; i < rows->n; i++)
        for (size_t k = 0; k < sizeof(key) / sizeof(*key); k++) {
            const struct value *x = value_get(rows->item[i], key[k]);
            char text[32];
            if (x->kind == VALUE_NULL)
                continue;
            number_text(x->real, text);
            strbuf_clear(&cell);
            strbuf_addf(&cell, "<td class=\"number\">%s</td>", text);
            assert_has(&b, cell.text);
            seen++;
        }
    ck_assert_int_eq(seen, 2 * 4 + 2 * 9);
    assert_has(&b, "<td class=\"number\">2.7</td>");
    strbuf_release(&json);
    strbuf_release(&cell);
    bench_close(&b);
}
END_TEST

START_TEST(the_verdict_names_the_best_row_and_what_it_gains)
{
    struct bench b;
    bench_open(&b, "e");
    add_rows(&b.run);
    assert_written(&b);
    assert_has(&b, "<b>rotary · sum</b> has the lowest bpb at 128 tokens");
    assert_has(&b, "<p class=\"value\">2.05 ± 0.12</p><p class=\"soft\">bpb, mean and 95&nbsp;% "
                   "interval over 3 seeds</p>");
    assert_has(&b, "<p class=\"value\">-0.55 ± 0.12</p><p class=\"soft\">against <b>learned · "
                   "sum</b>, paired over 3 seeds; 21&nbsp;% lower</p>");
    assert_has(&b, "It is better than the baseline <b>learned · sum</b>: the 95&nbsp;% interval of "
                   "the gain leaves out 0.");
    assert_has(&b, "<p class=\"value\">p = 0.250</p><p class=\"soft\">exact sign-flip test");
    assert_has(&b,
               "But 3 seeds cannot make it significant among 1 comparison: that takes 6 or more.");
    assert_has(&b, "<p class=\"value\">12.3k parameters</p><p class=\"soft\">1.00× the baseline");
    assert_has(&b, "Every other row is separable from it.");
    assert_has(&b, "<th scope=\"row\" class=\"number\">256</th><td><b>rotary · sum</b></td>");
    assert_has(&b, "All 6 cells are in the means.");
    bench_close(&b);
}
END_TEST

START_TEST(a_best_baseline_is_said_to_be_it)
{
    struct bench b;
    bench_open(&b, "e");
    run_maker_done(&b.run, "learned", "sum", 0, 2.0, 3.0);
    run_maker_done(&b.run, "rotary", "sum", 0, 2.5, 3.5);
    assert_written(&b);
    assert_has(&b, "<b>learned · sum</b> has the lowest bpb at 128 tokens");
    assert_has(&b, "One seed: there is no interval");
    assert_has(&b, "It is the baseline: no row is better.");
    bench_close(&b);
}
END_TEST

START_TEST(a_gain_that_seeds_can_show_is_called_significant)
{
    struct bench b;
    bench_open(&b, "e");
    for (int seed = 0; seed < 6; seed++) {
        run_maker_done(&b.run, "learned", "sum", seed, 2.5 + 0.1 * seed, 3.5);
        run_maker_done(&b.run, "rotary", "sum", seed, 2.0 + 0.11 * seed, 3.0);
        run_maker_done(&b.run, "rotary", "-", seed, 2.01 + 0.1 * seed, 3.0);
    }
    b.run.report = "{\"metric\":\"bpb\",\"goal\":\"metric\","
                   "\"baseline\":{\"position.scheme\":\"learned\",\"position.combine\":\"sum\"}}";
    assert_written(&b);
    assert_has(&b, "6 seeds cannot make it significant among 2 comparisons: that takes 7 or more.");
    assert_has(&b, "Not separable from it: <b>rotary · sum</b>.");
    bench_close(&b);
    bench_open(&b, "e");
    for (int seed = 0; seed < 6; seed++) {
        run_maker_done(&b.run, "learned", "sum", seed, 2.5 + 0.1 * seed, 3.5);
        run_maker_done(&b.run, "rotary", "sum", seed, 2.0 + 0.11 * seed, 3.0);
    }
    assert_written(&b);
    assert_has(&b, "The gain is significant.");
    bench_close(&b);
}
END_TEST

START_TEST(each_task_has_a_best_row_of_its_own)
{
    struct bench b;
    bench_open(&b, "e");
    b.run.axes = "[{\"key\":\"position.scheme\"},{\"key\":\"task\"}]";
    b.run.second = "task";
    for (int seed = 0; seed < 2; seed++) {
        run_maker_done(&b.run, "learned", "copy", seed, 2.0 + seed, 3.0);
        run_maker_done(&b.run, "rotary", "copy", seed, 1.0 + seed, 3.0);
        run_maker_done(&b.run, "learned", "sort", seed, 7.0 + seed, 3.0);
        run_maker_done(&b.run, "rotary", "sort", seed, 8.0 + seed, 3.0);
    }
    assert_written(&b);
    assert_has(&b, "2 tasks, each with a best row of its own");
    assert_has(&b, "<td><b>rotary · copy</b></td>");
    assert_has(&b, "<td><b>learned · sort</b></td>");
    assert_has(&b, "<h2>Over tasks</h2>");
    assert_has(&b, "no test: 2 tasks: fewer than 5, too few to test ranks");
    bench_close(&b);
}
END_TEST

START_TEST(what_cells_learned_is_shown_where_it_was_saved)
{
    struct bench b;
    bench_open(&b, "e");
    add_rows(&b.run);
    run_maker_file(
        &b.run, 0, "diagnose.json",
        "{\"version\":1,\"logits\":{\"summary\":\"tokens <lead>\",\"layers\":[{\"layer\":0,"
        "\"share\":{\"token.token\":0.5,\"token.position\":0.125,\"bias\":0.25}}]},"
        "\"probes\":{\"summary\":\"linear\",\"layers\":[{\"position_r2\":0.875},"
        "{\"position_r2\":0.25}]},"
        "\"order\":{\"skipped\":\"not causal\"},"
        "\"attention\":{\"summary\":\"near\",\"layers\":[{\"heads\":["
        "{\"mean_distance\":4},{\"mean_distance\":8}]}]}}");
    assert_written(&b);
    assert_has(&b, "<h2>What the cells learned</h2>");
    assert_has(&b, "<tr><th scope=\"row\">learned.sum.s0</th><td class=\"number\">0.375</td>"
                   "<td class=\"number\">0.875</td><td class=\"number\">0.25</td>"
                   "<td class=\"number\">6</td><td class=\"number\">-</td>");
    assert_has(&b, "<dd>tokens &lt;lead&gt;</dd>");
    assert_has(&b, "<dd>left out: not causal</dd>");
    bench_close(&b);
    bench_open(&b, "e");
    add_rows(&b.run);
    assert_written(&b);
    assert_lacks(&b, "What the cells learned");
    bench_close(&b);
}
END_TEST

START_TEST(a_damaged_diagnosis_is_passed_over)
{
    struct bench b;
    bench_open(&b, "e");
    add_rows(&b.run);
    run_maker_file(&b.run, 0, "diagnose.json", "{\"version\":1,");
    run_maker_file(&b.run, 1, "diagnose.json", "[1,2]");
    run_maker_file(&b.run, 2, "diagnose.json", "{\"logits\":7,\"probes\":{\"layers\":{}}}");
    assert_written(&b);
    assert_has(&b, "</html>");
    bench_close(&b);
}
END_TEST

START_TEST(what_is_not_in_the_means_is_listed_with_its_reason)
{
    struct bench b;
    bench_open(&b, "e");
    add_rows(&b.run);
    run_maker_state(&b.run, "alibi", "sum", 0, "diverged");
    run_maker_state(&b.run, "fire", "sum", 0, "crashed");
    run_maker_state(&b.run, "cope", "sum", 0, "todo");
    assert_written(&b);
    assert_has(&b, "6 of 9 cells are in the means");
    assert_has(&b, "<p>9 cells: 1 todo, 6 done, 1 diverged, 1 crashed.</p>");
    assert_has(&b, "<td>diverged</td><td>at step 12: loss is not finite</td>");
    assert_has(&b, "<td>crashed</td><td>why</td>");
    bench_close(&b);
}
END_TEST

START_TEST(nothing_finished_is_a_page_too)
{
    struct bench b;
    bench_open(&b, "e");
    run_maker_state(&b.run, "learned", "sum", 0, "todo");
    assert_written(&b);
    assert_has(&b, "Nothing is finished yet.");
    assert_has(&b, "</html>");
    bench_close(&b);
}
END_TEST

START_TEST(the_page_asks_for_nothing_from_elsewhere)
{
    struct bench b;
    bench_open(&b, "e");
    add_rows(&b.run);
    assert_written(&b);
    assert_has(&b, "Content-Security-Policy");
    assert_lacks(&b, "http://");
    assert_lacks(&b, "https://");
    assert_lacks(&b, "<script");
    assert_lacks(&b, "<link");
    assert_lacks(&b, "@import");
    bench_close(&b);
}
END_TEST

START_TEST(labels_can_not_become_markup)
{
    struct bench b;
    bench_open(&b, "<i>e");
    run_maker_done(&b.run, "x<script>alert(1)", "a&b", 0, 2.0, 3.0);
    run_maker_done(&b.run, "learned", "a&b", 0, 2.0, 3.0);
    assert_written(&b);
    assert_lacks(&b, "<script");
    assert_lacks(&b, "<i>");
    assert_has(&b, "x&lt;script&gt;alert(1).a&amp;b");
    assert_has(&b, "<title>&lt;i&gt;e</title>");
    bench_close(&b);
}
END_TEST

START_TEST(every_element_that_is_opened_is_closed)
{
    static const char *const name[] = {"section", "table", "tr",  "div",    "p",
                                       "details", "ul",    "pre", "figure", "main"};
    struct bench b;
    bench_open(&b, "e");
    add_rows(&b.run);
    run_maker_state(&b.run, "alibi", "sum", 0, "diverged");
    assert_written(&b);
    for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++) {
        char open[2][24], close[24];
        int n = 0;
        snprintf(open[0], sizeof(open[0]), "<%s>", name[i]);
        snprintf(open[1], sizeof(open[1]), "<%s ", name[i]);
        snprintf(close, sizeof(close), "</%s>", name[i]);
        for (int k = 0; k < 2; k++)
            for (const char *at = b.page.text; (at = strstr(at, open[k])); at++)
                n++;
        for (const char *at = b.page.text; (at = strstr(at, close)); at++)
            n--;
        ck_assert_msg(n == 0, "%s: %d more opened than closed", name[i], n);
    }
    bench_close(&b);
}
END_TEST

START_TEST(a_length_that_was_not_evaluated_is_refused)
{
    struct bench b;
    bench_open(&b, "e");
    add_rows(&b.run);
    ck_assert_int_eq(write_page(&b, 99), PEAT_INVALID);
    bench_close(&b);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("html");
    TCase *tests = tcase_create("html");
    tcase_add_test(tests, texts_are_escaped);
    tcase_add_test(tests, two_drawings_share_no_name);
    tcase_add_test(tests, the_page_has_the_numbers_of_the_json_format);
    tcase_add_test(tests, the_verdict_names_the_best_row_and_what_it_gains);
    tcase_add_test(tests, a_best_baseline_is_said_to_be_it);
    tcase_add_test(tests, a_gain_that_seeds_can_show_is_called_significant);
    tcase_add_test(tests, each_task_has_a_best_row_of_its_own);
    tcase_add_test(tests, what_cells_learned_is_shown_where_it_was_saved);
    tcase_add_test(tests, a_damaged_diagnosis_is_passed_over);
    tcase_add_test(tests, what_is_not_in_the_means_is_listed_with_its_reason);
    tcase_add_test(tests, nothing_finished_is_a_page_too);
    tcase_add_test(tests, the_page_asks_for_nothing_from_elsewhere);
    tcase_add_test(tests, labels_can_not_become_markup);
    tcase_add_test(tests, every_element_that_is_opened_is_closed);
    tcase_add_test(tests, a_length_that_was_not_evaluated_is_refused);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
