/* SPDX-License-Identifier: MIT */
/* test_report.c: the page says what the table says, and is self-contained. It is written without
 * its figures (test_figures.c), which take seconds. Skipped where Jinja is not installed. */
#include "support/page_text.h"
#include "support/run_maker.h"
#include "support/shell.h"
#include "support/support.h"
#include "support/texts.h"

/* The page under test. */
static struct bench {
    struct run_maker run;
    struct arena arena;
    struct error err;
    const char *options;       /* keyword arguments of peat.report.page; "": none */
    struct strbuf page, shown; /* markup, and what it shows */
} b;

static const char program[] =
    "import peat, sys\n"
    "from peat.report.figures import Figures\n"
    "Figures._element = lambda *given: ''\n"
    "try:\n"
    "    peat.report.write(peat.open(sys.argv[1]), 'r.html', **eval(sys.argv[2]))\n"
    "except peat.Refused as e:\n"
    "    sys.exit(str(e))\n";

static void bench_open(void)
{
    b = (struct bench){.options = ""};
    shell_open();
    shell_write("page.py", program);
    arena_init(&b.arena, "html", 1 << 16);
    strbuf_init(&b.page);
    strbuf_init(&b.shown);
    run_maker_open(&b.run, "e");
    b.run.report = "{\"metric\":\"bpb\",\"goal\":\"metric\","
                   "\"baseline\":{\"position.scheme\":\"learned\"},\"at\":\"final\"}";
}

static void bench_close(void)
{
    run_maker_close(&b.run);
    shell_close();
    arena_release(&b.arena);
    strbuf_release(&b.page);
    strbuf_release(&b.shown);
}

static int write_page(void)
{
    run_maker_finish(&b.run);
    return shell_run(
        "PYTHONPATH=\"$PEAT_SOURCE\"/python /usr/bin/python3 page.py %s 'dict(%s)' 2>&1", b.run.dir,
        b.options);
}

static void show_page(void)
{
    size_t n;
    ck_assert_msg(write_page() == 0, "%s", shell.printed.text);
    char *page = shell_read("r.html", &n);
    strbuf_clear(&b.page);
    strbuf_add(&b.page, page);
    free(page);
    strbuf_clear(&b.shown);
    page_text(b.page.text, &b.shown);
}

static void assert_shows(const char *part)
{
    assert_has(b.shown.text, part);
}

static void add_rows(void)
{
    for (int seed = 0; seed < 3; seed++) {
        run_maker_done(&b.run, "learned", "sum", seed, 2.5 + 0.1 * seed, 3.5 + 0.01 * seed);
        run_maker_done(&b.run, "rotary", "sum", seed, 2.0 + 0.05 * seed, 3.0 - 0.07 * seed * seed);
    }
}

static void show_rows(void)
{
    add_rows();
    show_page();
}

/* Every number of `results --format json` stands in its row and column, digit by digit. */
TEST(the_page_has_the_numbers_of_the_json_format)
{
    static const char *const key[] = {"mean", "sd",          "ci_low",       "ci_high", "diff",
                                      "p",    "diff_ci_low", "diff_ci_high", "p_holm"};
    char cell[128];
    int seen = 0;
    show_rows();
    shell_expect(0, "peat results %s -f json", b.run.dir);
    const struct value *v =
        json_parse(&b.arena, shell.printed.text, shell.printed.n, "json", &b.err);
    const struct value *rows = value_get(v, "rows");
    ck_assert_int_eq(rows->n, 4);
    for (int i = 0; i < rows->n; i++)
        for (size_t k = 0; k < sizeof(key) / sizeof(*key); k++) {
            const struct value *x = value_get(rows->item[i], key[k]);
            const char *row =
                arena_printf(&b.arena, "%s | %s", value_get(rows->item[i], "row")->text,
                             value_get(rows->item[i], "length")->text);
            page_cell(b.shown.text, row, key[k], cell);
            if (x->kind == VALUE_NULL)
                ck_assert_str_eq(cell, "");
            else
                ck_assert_double_eq(strtod(cell, NULL), value_number(x));
            seen += x->kind != VALUE_NULL;
        }
    ck_assert_int_eq(seen, 2 * 4 + 2 * 9);
    page_cell(b.shown.text, "learned.sum | 128", "seed 2", cell);
    ck_assert_str_eq(cell, "2.7");
}

TEST(the_verdict_names_the_best_row_and_what_it_gains)
{
    char cell[128];
    show_rows();
    assert_shows("\nrotary · sum has the lowest bpb at 128 tokens\n");
    assert_shows("\n2.05 ± 0.12\nbpb, mean and 95 % interval over 3 seeds\n");
    assert_shows("\n-0.55 ± 0.12\nagainst learned · sum, paired over 3 seeds; 21 % lower\n");
    assert_shows("It is better than the baseline learned · sum: the 95 % interval of the gain "
                 "leaves out 0.");
    assert_shows("\nneeds 6 seeds\nexact sign-flip test; paired t, if differences are normal: ");
    assert_shows(
        "But 3 seeds cannot make it significant among 1 comparison: that takes 6 or more.");
    assert_shows("\n12.3k parameters\n1.00× the baseline's; ");
    assert_shows("Every other row is separable from it.");
    page_cell(b.shown.text, "256", "best", cell);
    ck_assert_str_eq(cell, "rotary · sum");
    assert_shows("\nAll 6 cells are in the means.\n");
    assert_lacks(b.shown.text, "What the cells learned");
}

TEST(a_gain_whose_interval_has_0_in_it_is_not_called_one)
{
    static const double rotary[] = {2.0, 2.6, 2.1};
    for (int seed = 0; seed < 3; seed++) {
        run_maker_done(&b.run, "learned", "sum", seed, 2.5, 3.5);
        run_maker_done(&b.run, "rotary", "sum", seed, rotary[seed], 3.0);
    }
    show_page();
    assert_shows("rotary · sum has the lowest bpb");
    assert_shows(
        "It cannot be distinguished from the baseline learned · sum: the 95 % interval of the gain "
        "has 0 in it.");
    assert_lacks(b.shown.text, "It is better than the baseline");
}

/* The usual columns of the table, and the sizes where tokens and positions meet. */
TEST(each_number_of_a_cell_is_under_its_heading)
{
    static const enum quantity_name shown[] = {Q_PARAMS,
                                               Q_PARAMS_POSITIONAL,
                                               Q_PARAMS_FROZEN,
                                               Q_FLOPS_PER_TOKEN,
                                               Q_TOKENS_PER_S,
                                               Q_PEAK_RSS_KIB,
                                               Q_WALL_S,
                                               Q_EVAL_S,
                                               Q_INPUT_RATIO_START,
                                               Q_INPUT_RATIO};
    char cell[128], own[32], row[64];
    b.run.report = "{\"metric\":\"bpb\",\"goal\":\"metric\",\"baseline\":null}";
    run_maker_own_numbers(&b.run);
    run_maker_shown(Q_INPUT_RATIO_START, own);
    snprintf(row, sizeof(row), "rotary | sum | %s", own);
    run_maker_done(&b.run, "rotary", "sum", 0, 2.0, 3.0);
    show_page();
    for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++) {
        run_maker_shown(shown[i], own);
        page_cell(b.shown.text, row, quantities[shown[i]].head, cell);
        ck_assert_str_eq(cell, own);
        if (quantities[shown[i]].form != FORM_RATIO)
            continue;
        page_cell(b.shown.text, "rotary.sum | rotary: acts", quantities[shown[i]].head, cell);
        ck_assert_str_eq(cell, own);
    }
    char tile[160], step[32], flops[32];
    run_maker_shown(Q_PARAMS, own);
    run_maker_shown(Q_FLOPS_PER_TOKEN, flops);
    run_maker_shown(Q_STEP_MS_MEDIAN, step);
    snprintf(tile, sizeof(tile), "\n%s parameters\n%s training FLOPs a token, %s ms a step", own,
             flops, step);
    assert_shows(tile);
}

TEST(a_best_baseline_is_said_to_be_it)
{
    run_maker_done(&b.run, "learned", "sum", 0, 2.0, 3.0);
    run_maker_done(&b.run, "rotary", "sum", 0, 2.5, 3.5);
    show_page();
    assert_shows("learned · sum has the lowest bpb at 128 tokens");
    assert_shows("One seed: there is no interval");
    assert_shows("It is the baseline: no row is better.");
}

TEST(a_row_without_the_factor_of_the_baseline_is_not_called_it)
{
    b.run.report = "{\"metric\":\"bpb\",\"goal\":\"metric\","
                   "\"baseline\":{\"position.combine\":\"sum\"}}";
    for (int seed = 0; seed < 3; seed++) {
        run_maker_done(&b.run, "learned", "sum", seed, 3.0 + 0.1 * seed, 3.0);
        run_maker_done(&b.run, "learned", "concat", seed, 2.9 + 0.1 * seed, 3.0);
        run_maker_done(&b.run, "rotary", "-", seed, 2.0 + 0.1 * seed, 3.0);
    }
    show_page();
    assert_shows("rotary has the lowest bpb at 128 tokens");
    assert_lacks(b.shown.text, "It is the baseline");
    assert_shows("It adds no stream, so that the baseline (combine=sum) does not apply to it.");
}

TEST(a_baseline_of_some_rows_is_not_called_the_baseline)
{
    b.run.report = "{\"metric\":\"bpb\",\"goal\":\"metric\","
                   "\"baseline\":{\"position.combine\":\"sum\"}}";
    for (int seed = 0; seed < 3; seed++)
        for (int i = 0; i < 2; i++) {
            run_maker_done(&b.run, i ? "learned" : "sine", "sum", seed, 3.0 + 0.1 * seed - i, 3.0);
            run_maker_done(&b.run, i ? "learned" : "sine", "concat", seed, 4.0 + 0.1 * seed, 3.0);
        }
    show_page();
    assert_shows("learned · sum has the lowest bpb");
    assert_shows("It is the baseline of 1 of the 3 other rows.");
}

TEST(a_gain_is_significant_until_more_comparisons_need_more_seeds)
{
    for (int seed = 0; seed < 6; seed++) {
        run_maker_done(&b.run, "learned", "sum", seed, 2.5 + 0.1 * seed, 3.5);
        run_maker_done(&b.run, "rotary", "sum", seed, 2.0 + 0.11 * seed, 3.0);
    }
    show_page();
    assert_shows("The gain is significant.");
    for (int seed = 0; seed < 6; seed++)
        run_maker_done(&b.run, "rotary", "-", seed, 2.01 + 0.1 * seed, 3.0);
    b.run.report = "{\"metric\":\"bpb\",\"goal\":\"metric\","
                   "\"baseline\":{\"position.scheme\":\"learned\",\"position.combine\":\"sum\"}}";
    show_page();
    assert_shows("6 seeds cannot make it significant among 2 comparisons: that takes 7 or more.");
    assert_shows("Not separable from it: rotary · sum.");
}

TEST(each_task_has_a_best_row_of_its_own)
{
    b.run.axes = "[{\"key\":\"position.scheme\"},{\"key\":\"task\"}]";
    b.run.second = "task";
    for (int seed = 0; seed < 2; seed++) {
        run_maker_done(&b.run, "learned", "copy", seed, 2.0 + seed, 3.0);
        run_maker_done(&b.run, "rotary", "copy", seed, 1.0 + seed, 3.0);
        run_maker_done(&b.run, "learned", "sort", seed, 7.0 + seed, 3.0);
        run_maker_done(&b.run, "rotary", "sort", seed, 8.0 + seed, 3.0);
    }
    show_page();
    assert_shows("2 tasks, each with a best row of its own");
    assert_shows("\n128 | rotary · copy | ");
    assert_shows("\n128 | learned · sort | ");
}

TEST(what_cells_learned_is_shown_where_it_was_saved)
{
    add_rows();
    run_maker_file(
        &b.run, 0, "diagnose.json",
        "{\"version\":1,\"logits\":{\"summary\":\"tokens <lead>\",\"layers\":[{\"layer\":0,"
        "\"share\":{\"token.token\":0.5,\"token.position\":0.125,\"bias\":0.25}}]},"
        "\"probes\":{\"summary\":\"linear\",\"layers\":[{\"position_r2\":0.875},"
        "{\"position_r2\":0.25}]},"
        "\"order\":{\"skipped\":\"not causal\"},"
        "\"attention\":{\"summary\":\"near\",\"layers\":[{\"heads\":["
        "{\"mean_distance\":4},{\"mean_distance\":8}]}]}}");
    show_page();
    assert_shows("\nWhat the cells learned\n");
    assert_shows("\nlearned | sum | 1 | 0.5000 | 0.1250 | 0.2500 | 0.8750 | 0.2500\n");
    assert_shows("\ntokens <lead>\n");
    assert_shows("\nleft out: not causal\n");
}

TEST(a_damaged_diagnosis_is_passed_over)
{
    add_rows();
    run_maker_file(&b.run, 0, "diagnose.json", "{\"version\":1,");
    run_maker_file(&b.run, 1, "diagnose.json", "[1,2]");
    run_maker_file(&b.run, 2, "diagnose.json", "{\"logits\":7,\"probes\":{\"layers\":{}}}");
    show_page();
    assert_has(b.page.text, "</html>");
}

TEST(what_is_not_in_the_means_is_listed_with_its_reason)
{
    add_rows();
    run_maker_state(&b.run, "alibi", "sum", 0, "diverged");
    run_maker_state(&b.run, "fire", "sum", 0, "crashed");
    run_maker_state(&b.run, "cope", "sum", 0, "todo");
    show_page();
    assert_shows("6 of 9 cells are in the means");
    assert_shows("\n9 cells: 1 todo, 6 done, 1 diverged, 1 crashed.\n");
    assert_shows("\nalibi.sum.s0 | diverged | at step 12: loss is not finite\n");
    assert_shows("\nfire.sum.s0 | crashed | why\n");
}

TEST(nothing_finished_is_a_page_too)
{
    run_maker_state(&b.run, "learned", "sum", 0, "todo");
    show_page();
    assert_shows("Nothing is finished yet.");
    assert_has(b.page.text, "</html>");
}

TEST(the_page_asks_for_nothing_from_elsewhere)
{
    show_rows();
    assert_has(b.page.text, "Content-Security-Policy");
    static const char *const asking[] = {"http://", "https://", "src=", "<link", "@import"};
    for (size_t i = 0; i < sizeof(asking) / sizeof(*asking); i++)
        assert_lacks(b.page.text, asking[i]);
}

TEST(labels_can_not_become_markup)
{
    b.options = "title=\"<b a=\\\"1\\\" c=2>\\x01&amp;\"";
    run_maker_done(&b.run, "x<script>alert(1)", "a&b", 0, 2.0, 3.0);
    run_maker_done(&b.run, "learned", "a&b", 0, 2.0, 3.0);
    show_page();
    assert_lacks(b.page.text, "<script>alert");
    assert_has(b.page.text, "<title>&lt;b ");
    ck_assert_int_eq(strncmp(b.shown.text, "<b a=\"1\" c=2>\\x01&amp;\n", 23), 0);
    assert_shows("\nx<script>alert(1).a&b | ");
    assert_has(b.page.text, "\npeat cell "); /* lines stay where there are some */
}

TEST(a_length_that_was_not_evaluated_is_refused)
{
    add_rows();
    b.options = "length=99";
    ck_assert_int_eq(write_page(), 1);
    assert_has(shell.printed.text, "nothing was evaluated at length 99; there are 128, 256");
}

/* ---- what an adviser sees ---- */

static int place_of(const char *part)
{
    const char *at = strstr(b.page.text, part);
    ck_assert_msg(at != NULL, "no '%s'", part);
    return (int)(at - b.page.text);
}

static const char claim[] =
    "[{\"name\":\"turning helps\",\"text\":\"rotary is better by <0.1>\",\"rows\":["
    "{\"position.scheme\":\"rotary\"},{\"position.scheme\":\"learned\"}],"
    "\"direction\":\"less\",\"margin\":0.1,\"alpha\":0.05,\"test\":\"t\",\"metric\":null,"
    "\"length\":128,\"expect\":null}]";

TEST(the_page_opens_with_the_claims_and_their_verdicts_in_words)
{
    add_rows();
    run_maker_claim(&b.run, claim, 0);
    show_page();
    assert_shows("\nholds turning helps: rotary is better by <0.1>\n");
    assert_shows("found -0.55");
    assert_shows(" bpb at 128 tokens over 3 seeds; p = ");
    ck_assert_int_lt(place_of("id=\"claims\""), place_of("id=\"verdict\""));
    ck_assert_int_lt(place_of("id=\"verdict\""), place_of("id=\"table\""));
    assert_lacks(b.page.text, "id=\"contrasts\"");
    ck_assert_int_lt(place_of("id=\"table\""), place_of("<details class=\"fold\""));
}

TEST(what_is_beside_the_point_is_folded_and_what_went_wrong_is_open)
{
    static const char *const folded[] = {"injection", "provenance", "reproduce", "exact"};
    show_rows();
    for (size_t i = 0; i < sizeof(folded) / sizeof(*folded); i++)
        assert_has(
            b.page.text,
            arena_printf(&b.arena, "<section id=\"%s\">\n<details class=\"fold\">", folded[i]));
    assert_has(b.page.text, "<section id=\"cells\">\n<details class=\"fold\">");
    run_maker_state(&b.run, "alibi", "sum", 0, "diverged");
    show_page();
    assert_has(b.page.text, "<section id=\"cells\">\n<details class=\"fold\" open>");
}

/* Of long labels: with all columns the table would be cut off. */
TEST(a_table_that_is_too_wide_for_the_page_is_several)
{
    enum { LONG = 90 };
    char label[LONG + 1] = "";
    add_rows();
    show_page();
    int tables = count_parts(b.page.text, "<table>");
    memset(label, 'x', LONG);
    run_maker_done(&b.run, label, "sum", 0, 2.0, 3.0);
    show_page();
    ck_assert_int_gt(count_parts(b.page.text, "<table>"), tables);
}

TEST(figures_of_an_unknown_axis_are_refused)
{
    add_rows();
    b.options = "panels=\"shceme\"";
    ck_assert_int_eq(write_page(), 1);
    assert_has(shell.printed.text, "--panels: there is no axis 'shceme'");
    assert_has(shell.printed.text, "did you mean 'scheme'?");
}

int main(void)
{
    return run_tests((struct tests){"report", bench_open, bench_close, .seconds = 60,
                                    .needs = "PEAT PEAT_SOURCE python3-jinja2 python3-matplotlib"});
}
