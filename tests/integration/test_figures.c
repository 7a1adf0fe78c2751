/* SPDX-License-Identifier: MIT */
/* test_figures.c: plot, report and the pictures of inspect as a user runs them. */
#include "support/page_text.h"
#include "support/run_maker.h"
#include "support/shell.h"
#include "support/support.h"
#include "support/texts.h"

/* A directory to work in, and a run to draw. */
static struct run_maker m;

static void bench_open(void)
{
    shell_open();
    run_maker_open(&m, "grid");
    for (int seed = 0; seed < 3; seed++) {
        run_maker_done(&m, "learned", "sum", seed, 2.5 + 0.1 * seed, 3.5);
        run_maker_done(&m, "rotary", "-", seed, 2.0 + 0.05 * seed, 3.0);
    }
    for (int cell = 0; cell < 6; cell++) {
        struct strbuf text;
        strbuf_init(&text);
        for (int step = 10; step <= 100; step += 10)
            strbuf_addf(&text,
                        "{\"step\":%d,\"metric\":\"loss\",\"split\":\"train\",\"value\":%g}\n",
                        step, 3.0 + cell + 9.0 / step);
        run_maker_file(&m, cell, "metrics.jsonl", text.text);
        strbuf_release(&text);
    }
    run_maker_finish(&m);
}

static void bench_close(void)
{
    run_maker_close(&m);
    shell_close();
}

/* The page of the run, and what it shows; the caller frees it and releases `shown`. */
static char *make_report(struct strbuf *shown)
{
    size_t n;
    shell_expect(0, "peat report %s -o r.html", m.dir);
    char *page = shell_read("r.html", &n);
    strbuf_init(shown);
    page_text(page, shown);
    return page;
}

/* ---- plot ---- */

TEST(mistakes_are_told_before_anything_is_drawn)
{
    shell_says(2, "which run directory?", "peat plot --kind bars");
    shell_says(2, "which figure?", "peat plot %s", m.dir);
    shell_says(2, "one of curves, bars, length, cost, heatmap", "peat plot %s --kind pie", m.dir);
    shell_says(2, "ends in none of .svg, .pdf and .png", "peat plot %s --kind bars -o x.txt",
               m.dir);
    shell_says(2, "does not end in .pdf", "peat plot %s --kind bars -f pdf -o x.svg", m.dir);
    shell_says(2, "there are 128, 256", "peat plot %s --kind bars --length 3", m.dir);
    shell_says(2, "nowhere", "peat plot %s --kind bars -o nowhere/x.svg", m.dir);
    shell_says(2, "is not a run directory", "peat plot . --kind bars");
    shell_expect(2, "peat report");
    shell_expect(2, "peat report %s -o nowhere/r.html", m.dir);
}

/* ---- report ---- */

/* ---- inspect ---- */

TEST(a_scheme_is_described_in_numbers)
{
    shell_expect(0, "peat inspect sinusoidal layout=halves frequencies=tensor2tensor --d 512 --T "
                    "128 --describe");
    assert_printed("286 of 512 dimensions move by more than 0.5, 355 by 0.1, 445 by 0.01");
    assert_printed("57.3 % of the energy");
    assert_printed("40 components hold 99 %");
    assert_printed("(i, d/2 + i)");
    shell_says(0, "\"residual\": {", "peat inspect random_fixed --d 64 --T 128 --describe --json");
    ck_assert(shell_printed("\"1\": 0.9"));
    shell_says(0, "alibi: bias of head 1, 16 x 16",
               "peat inspect alibi --d 8 --heads 2 --T 16 --describe");
    assert_printed("100.0 % of that is a function of i - j alone");
    shell_expect(2, "peat inspect sinusoidal --d 8 --T 8 --json");
    shell_expect(2, "peat inspect sinusoidal --d 8 --T 8 --describe -f csv");
}

TEST(numpy_reads_the_table)
{
    size_t n;
    float value;
    shell_expect(0, "peat inspect sinusoidal --d 6 --T 5 -f npy -o t.npy");
    char *npy = shell_read("t.npy", &n);
    ck_assert_int_eq(memcmp(npy, "\x93NUMPY\x01\x00", 8), 0);
    size_t head = 10 + (unsigned char)npy[8] + 256 * (size_t)(unsigned char)npy[9];
    ck_assert_uint_eq(head % 64, 0);
    ck_assert_int_eq(npy[head - 1], '\n');
    assert_has(npy + 10, "'fortran_order': False, 'shape': (5, 6), }");
    ck_assert_uint_eq(n, head + 5 * 6 * sizeof(float));
    memcpy(&value, npy + head + sizeof(float), sizeof(float));
    ck_assert_double_eq((double)value, 1.0);
    free(npy);
    shell_expect(0, "peat inspect alibi --d 8 --T 3 --heads 2 -f npy >a.npy");
    npy = shell_read("a.npy", &n);
    assert_has(npy + 10, "'shape': (2, 3, 3), }");
    free(npy);
}

GROUP(drawings)

TEST(every_kind_of_figure_is_drawn_and_equal_when_it_is_drawn_again)
{
    static const char *const kind[] = {"curves", "bars", "length", "cost", "heatmap"};
    for (int i = 0; i < 5; i++) {
        char name[40];
        size_t n;
        shell_expect(0, "peat plot %s --kind %s -o 'my %s.svg'", m.dir, kind[i], kind[i]);
        snprintf(name, sizeof(name), "my %s.svg", kind[i]);
        assert_printed(name);
        char *svg = shell_read(name, &n);
        assert_has(svg, "</svg>");
        ck_assert_int_gt(count_parts(svg, "<text "), 3);
        free(svg);
    }
    shell_expect(0, "peat plot %s --kind curves -o again.svg && cmp again.svg 'my curves.svg'",
                 m.dir);
}

TEST(a_saved_figure_says_its_metric_and_its_points)
{
    size_t n;
    shell_expect(0, "peat plot %s --kind length -o l.svg", m.dir);
    char *svg = shell_read("l.svg", &n);
    assert_has(svg, "<title>bpb at 128 tokens (lower is better)</title>");
    assert_has(svg, "<title>rotary.-, 128");
    free(svg);
}

TEST(other_formats_sizes_and_places_work)
{
    size_t n;
    shell_expect(0,
                 "peat plot %s --kind bars -f pdf -o x.pdf && cp x.pdf first.pdf && "
                 "peat plot %s --kind bars -o x.pdf && cmp x.pdf first.pdf",
                 m.dir, m.dir);
    char *pdf = shell_read("x.pdf", &n);
    ck_assert_int_eq(strncmp(pdf, "%PDF", 4), 0);
    free(pdf);
    shell_expect(0, "grep -aq /CIDFontType2 x.pdf");
    shell_expect(0, "peat plot %s --kind bars -o x.png", m.dir);
    char *png = shell_read("x.png", &n);
    ck_assert_int_eq(strncmp(png + 1, "PNG", 3), 0);
    free(png);
    shell_expect(0,
                 "peat plot %s --kind bars --size column -o c.svg && grep -q 'width=\"234pt' c.svg",
                 m.dir);
    shell_expect(0, "peat plot %s --kind bars && test -s %s/figures/bars.svg", m.dir, m.dir);
}

/* A name with a line end is shown in one line of the page's commands. */
TEST(a_name_with_a_newline_begins_no_line)
{
    shell_expect(0,
                 "name=$(printf 'a\nsystem(\"touch made\")\nb'); cp -r %s \"$name\" && "
                 "peat report \"$name\" -o r.html",
                 m.dir);
    shell_expect(0, "grep -F '# every cell, or those that a\\nsystem(' r.html");
}

TEST(what_python_lacks_is_said_with_its_path)
{
    shell_write("bare", "#!/bin/sh\nexec /usr/bin/python3 -S \"$@\"\n");
    shell_expect(0, "chmod +x bare");
    shell_says(2,
               "peat: peat plot needs matplotlib, which '/usr/bin/python3' does not have (Debian: "
               "python3-matplotlib; PEAT_PYTHON names another interpreter)",
               "PEAT_PYTHON=./bare peat plot %s --kind bars -o x.svg", m.dir);
    shell_says(2, "peat: peat report needs jinja2, which",
               "PEAT_PYTHON=./bare peat report %s -o r.html", m.dir);
    shell_says(2, "peat report needs python3, which is not installed",
               "PEAT_PYTHON= PATH=/nonexistent \"$PEAT\" report %s -o r.html", m.dir);
    ck_assert(!shell_has("x.svg") && !shell_has("r.html"));
}

/* Bars, lengths, curves, cost and the two axes. */
TEST(the_report_has_every_figure_for_a_page_and_for_a_telephone)
{
    static const char *const heading[] = {"Every row", "By evaluation length", "By training step",
                                          "Quality against cost", "Two axes at a glance"};
    struct strbuf shown;
    char text[80];
    char *page = make_report(&shown);
    for (int i = 0; i < 5; i++) {
        snprintf(text, sizeof(text), "\n%s\n[%s]\n[%s]\n", heading[i], heading[i], heading[i]);
        ck_assert_int_eq(count_parts(shown.text, text), 1);
    }
    ck_assert_int_eq(count_parts(page, "<svg"), 10);
    strbuf_release(&shown);
    free(page);
}

/* As `peat run` has drawn them; one that cannot be drawn is named. */
TEST(the_report_shows_what_the_schemes_look_like)
{
    struct strbuf shown;
    shell_write("e.yaml",
                "version: 1\nname: drawn\ndefaults:\n  task: {plugin: copy}\n"
                "  model: {d_model: 16, n_layer: 1, n_head: 2}\n"
                "  train: {steps: 2, batch: 2, seq_len: 24}\n  eval: {tokens: 64}\n"
                "matrix:\n  position.scheme: [{plugin: sinusoidal, layout: halves, base: 500},\n"
                "    {plugin: alibi, where: {layers: [0]}}, none, shaw]\n");
    shell_expect(0, "peat run e.yaml -q -o drawn && peat inspect drawn && cp drawn/schemes.json %s",
                 m.dir);
    char *page = make_report(&shown);
    assert_has(
        shown.text,
        "\nsinusoidal\n[sinusoidal]\n[sinusoidal]\nsinusoidal layout=halves frequencies=paper "
        "base=500 scale=1: stream at positions 0 to 23");
    assert_has(shown.text, "\nalibi\n[alibi]\n[alibi]\n");
    assert_has(shown.text, "of the energy is in one constant vector");
    assert_has(shown.text, "scheme 'shaw' has no table that depends only on positions");
    ck_assert_int_eq(count_parts(page, "<svg"), 14);
    strbuf_release(&shown);
    free(page);
}

int main(void)
{
    const struct tests common = {"figures", bench_open, bench_close, .seconds = 120};
    struct tests drawings = common;
    drawings.group = "drawings";
    int end = run_tests(common);
    return is_here("python3-jinja2 python3-matplotlib") ? end | run_tests(drawings) : end;
}
