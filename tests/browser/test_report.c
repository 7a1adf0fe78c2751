/* SPDX-License-Identifier: MIT */
/*
 * test_report.c: a report of 48 cells, opened in headless Chromium by open_report.py: it prints
 * nothing to the console, requests nothing, has its figures, nothing in it is cut off at 1280, 768
 * or 390 pixels, light or dark, and points, headings and switches do what a reader expects of them.
 *
 * --shots DIR keeps screenshots as PNG files.
 */
#include "support/shell.h"
#include "support/support.h"

static const char *shots; /* NULL: none asked for */

static const char *find_chromium(void)
{
    static const char *const name[] = {"chromium", "chromium-browser", "google-chrome"};
    for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++)
        if (is_installed(name[i]))
            return name[i];
    return NULL;
}

/* Eight rows of six seeds, trained in seconds; with one label long and strange. */
static void run_grid(void)
{
    shell_write("text.txt",
                "The quick brown fox jumps over the lazy dog, and the dog lets it be.\n");
    shell_expect(0, "for i in 1 2 3 4 5 6 7; do cat text.txt text.txt > t && mv t text.txt; done");
    shell_write("e.yaml",
                "version: 1\n"
                "name: grid\n"
                "description: A page with <markup> & \"quotes\" in what it is called\n"
                "defaults:\n"
                "  task: {plugin: text, path: text.txt}\n"
                "  model: {d_model: 16, n_layer: 1, n_head: 2}\n"
                "  train: {steps: 12, batch: 4, seq_len: 16}\n"
                "  eval: {every: 3, lengths: [16, 32], tokens: 128}\n"
                "matrix:\n"
                "  position.scheme:\n"
                "    [none, learned, sinusoidal, rotary, {plugin: rotary, base: 123456.5}, alibi]\n"
                "  position.combine: [sum, concat_split]\n"
                "seeds: 6\n"
                "report: {baseline: {position.scheme: none}}\n");
    shell_expect(0, "GOMP_SPINCOUNT=1000 peat run e.yaml -j 2 -t 1 -q -o run && peat inspect run");
}

static void assert_size(const char *name, long most)
{
    char path[128];
    struct stat st;
    snprintf(path, sizeof(path), "%s/%s", shell.dir, name);
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_int_lt(st.st_size, most);
}

static void open_report(const char *report, int figures)
{
    shell_expect(0,
                 "PYTHONDONTWRITEBYTECODE=1 python3 \"$PEAT_SOURCE\"/tests/browser/open_report.py "
                 "\"$(command -v %s)\" %s --figures %d %s%s",
                 find_chromium(), report, figures, shots ? "--shots " : "", shots ? shots : "");
}

TEST(a_report_of_48_cells_is_whole_in_a_browser)
{
    run_grid();
    shell_expect(0, "peat report run -o r.html");
    assert_size("r.html", 3 << 20);
    /* bars, length, curves, cost, heat map, and one for each of five schemes */
    open_report("r.html", 10);
}

TEST(a_report_of_a_grid_with_holes_is_whole_in_a_browser)
{
    run_grid();
    shell_expect(0, "for c in run/cells/alibi* run/cells/*s5*; do rm $c/result.json; "
                    "echo "
                    "'{\"state\":\"crashed\",\"reason\":\"a_very_long_reason_without_a_space_that_"
                    "can_not_be_broken_anywhere_at_all_and_goes_on\"}' > $c/end.json; done");
    shell_expect(0, "peat report run -o r.html --length 32 --baseline alibi --test t");
    open_report("r.html", 8);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--shots") == 0)
        shots = argv[2];
    if (!find_chromium())
        return skip_all("there is no chromium, chromium-browser or google-chrome");
    return run_tests((struct tests){"report", shell_open, shell_close, .seconds = 240,
                                    .needs = "PEAT python3 python3-jinja2 python3-matplotlib"});
}
