/* SPDX-License-Identifier: MIT */
/* test_labels.c: whatever a label holds, every figure and every format shows it as text. */
#include "support/page_text.h"
#include "support/run_maker.h"
#include "support/shell.h"
#include "support/support.h"
#include "support/texts.h"

/* json: the inside of its text; shown: what a person reads; tex, md: the source of that. */
static const struct label {
    const char *json, *shown, *md, *tex;
} labels[] = {
    {"100%", "100%", "100%", "100\\%"},
    {"%d%s%n %h%c %% %", "%d%s%n %h%c %% %", "%d%s%n %h%c %% %",
     "\\%d\\%s\\%n \\%h\\%c \\%\\% \\%"},
    {"it's ''a''", "it's ''a''", "it's ''a''", "it's '{}'a'{}'"},
    {"say \\\"b\\\"", "say \"b\"", "say \"b\"", "say {\\ttfamily\\char34}b{\\ttfamily\\char34}"},
    {"back\\\\slash\\\\", "back\\slash\\", "back\\\\slash\\\\",
     "back\\textbackslash{}slash\\textbackslash{}"},
    {"a_b^c{d}@e&f~g", "a_b^c{d}@e&f~g", "a\\_b^c{d}@e\\&f\\~g",
     "a\\_b\\textasciicircum{}c\\{d\\}@e\\&f\\textasciitilde{}g"},
    {"<b>|&amp;|", "<b>|&amp;|", "\\<b\\>\\|\\&amp;\\|", "$<$b$>$\\textbar{}\\&amp;\\textbar{}"},
    {"`date` $HOME #x", "`date` $HOME #x", "\\`date\\` \\$HOME \\#x", "`date` \\$HOME \\#x"},
    {"[x](y)*z*--", "[x](y)*z*--", "\\[x\\](y)\\*z\\*--", "{[}x](y){*}z{*}-{}-"},
    {"é 中 – ½ 🙂", "é 中 – ½ 🙂", "é 中 – ½ 🙂", "é 中 – ½ 🙂"},
    {"line\\nbreak\\ttab", "line\\nbreak\\ttab", "line\\\\nbreak\\\\ttab",
     "line\\textbackslash{}nbreak\\textbackslash{}ttab"},
};
enum { LABELS = sizeof(labels) / sizeof(labels[0]) };

static struct run_maker m;

/* More rows than one panel takes, some of them without a combine. */
static void make_run(void)
{
    shell_open();
    run_maker_open(&m, "grid");
    for (int i = 0; i < LABELS; i++)
        for (int seed = 0; seed < 2; seed++) {
            run_maker_done(&m, labels[i].json, "sum", seed, 2.0 + 0.1 * seed + 0.01 * i, 3.0);
            run_maker_done(&m, labels[i].json, labels[(i + 1) % LABELS].json, seed, 2.5, 3.0 + i);
        }
    for (int cell = 0; cell < m.n; cell++)
        run_maker_file(&m, cell, "metrics.jsonl",
                       "{\"step\":1,\"metric\":\"loss\",\"split\":\"train\",\"value\":3}\n"
                       "{\"step\":2,\"metric\":\"loss\",\"split\":\"train\",\"value\":2}\n");
    run_maker_finish(&m);
}

static void remove_run(void)
{
    run_maker_close(&m);
    shell_close();
}

static void assert_shown(const char *text)
{
    for (int i = 0; i < LABELS; i++)
        ck_assert_msg(strstr(text, labels[i].shown) != NULL, "%s", labels[i].shown);
}

/* The texts of a drawing, their entities read. */
static void read_svg(const char *name, struct strbuf *texts)
{
    static const char *const entity[][2] = {
        {"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}, {"&quot;", "\""}, {"&apos;", "'"}};
    size_t n;
    char *svg = shell_read(name, &n);
    for (const char *at = svg; (at = strstr(at, "<text")) && (at = strchr(at, '>'));) {
        for (at++; strncmp(at, "</text>", 7) != 0 && *at;) {
            size_t taken = 1;
            const char *text = at;
            for (int i = 0; i < 5; i++)
                if (strncmp(at, entity[i][0], strlen(entity[i][0])) == 0) {
                    taken = strlen(entity[i][0]);
                    text = entity[i][1];
                    break;
                }
            strbuf_add_bytes(texts, text, 1);
            at += taken;
        }
        strbuf_add(texts, "\n");
    }
    free(svg);
}

static const char *const kinds[] = {"curves", "bars", "length", "cost", "heatmap"};

LOOP_TEST(every_figure_shows_every_label_as_text, 5)
{
    struct strbuf texts;
    strbuf_init(&texts);
    shell_expect(0, "peat plot %s --kind %s -o x.svg", m.dir, kinds[_i]);
    read_svg("x.svg", &texts);
    assert_shown(texts.text);
    strbuf_release(&texts);
    if (_i > 0) /* formats differ in nothing that depends on the kind */
        return;
    shell_expect(0, "peat plot %s --kind %s -o x.png && head -c 4 x.png | grep -q PNG", m.dir,
                 kinds[_i]);
    shell_expect(0, "peat plot %s --kind %s -o x.pdf && tail -c 6 x.pdf | grep -q EOF", m.dir,
                 kinds[_i]);
}

TEST(the_page_shows_every_label_as_text)
{
    struct strbuf shown;
    size_t n;
    strbuf_init(&shown);
    shell_expect(0, "peat report %s -o r.html", m.dir);
    char *page = shell_read("r.html", &n);
    page_text(page, &shown);
    assert_shown(shown.text);
    free(page);
    strbuf_release(&shown);
}

TEST(every_table_shows_every_label_as_text)
{
    shell_expect(0, "peat results %s", m.dir);
    assert_shown(shell.printed.text);
    shell_expect(0, "peat results %s --cols combine", m.dir);
    assert_shown(shell.printed.text);
    shell_expect(0, "peat status %s", m.dir);
    shell_expect(0, "peat results %s -f md", m.dir);
    for (int i = 0; i < LABELS; i++) {
        char cell[128];
        snprintf(cell, sizeof(cell), "| %s | sum |", labels[i].md);
        assert_has(shell.printed.text, cell);
    }
    shell_expect(0, "peat results %s -f tex", m.dir);
    for (int i = 0; i < LABELS; i++) {
        char cell[160];
        snprintf(cell, sizeof(cell), "\n  %s & sum &", labels[i].tex);
        assert_has(shell.printed.text, cell);
    }
}

/* A field of a line of csv, without its quotes. */
static const char *read_field(const char *at, char *field)
{
    bool quoted = *at == '"';
    for (at += quoted; *at && (quoted || !strchr(",\n", *at)); at++) {
        if (quoted && *at == '"' && *++at != '"')
            break;
        *field++ = *at;
    }
    *field = '\0';
    return at + 1;
}

TEST(data_formats_have_every_label)
{
    struct arena a;
    struct error err;
    arena_init(&a, "labels", 1 << 16);
    shell_expect(0, "peat results %s -f json", m.dir);
    const struct value *all = json_parse(&a, shell.printed.text, shell.printed.n, "stdout", &err),
                       *row;
    ck_assert_ptr_nonnull(all);
    for (int i = 0; i < LABELS; i++) {
        struct error bad;
        const char *text = arena_printf(&a, "\"%s\"", labels[i].json);
        const struct value *label = json_parse(&a, text, strlen(text), "label", &bad);
        bool found = false;
        for (int k = 0; (row = json_get_item(all, "rows", k)); k++)
            found = found || same_text(json_get_text(value_get(row, "axes"), "position.scheme"),
                                       label->text);
        ck_assert_msg(found, "%s", labels[i].shown);
    }
    shell_expect(0, "peat results %s -f csv --columns scheme,combine,value", m.dir);
    for (int i = 0; i < LABELS; i++) {
        bool found = false;
        for (const char *line = shell.printed.text; (line = strchr(line, '\n')) && *++line;) {
            char field[128];
            read_field(line, field);
            found = found || strcmp(field, labels[i].shown) == 0;
        }
        ck_assert_msg(found, "%s", labels[i].shown);
    }
    arena_release(&a);
}

TEST(empty_and_long_labels_are_drawn_and_cut)
{
    struct strbuf longest, texts;
    strbuf_init(&longest);
    strbuf_init(&texts);
    strbuf_fill(&longest, 'x', 300);
    run_maker_done(&m, "", "sum", 0, 2.0, 3.0);
    run_maker_done(&m, longest.text, longest.text, 0, 2.0, 3.0);
    run_maker_done(&m, "ääää%ääääääääääääääääääääääääääääääääääääääääääääääää", "sum", 0, 2, 3);
    run_maker_finish(&m);
    for (int i = 1; i < 5; i++) {
        shell_expect(0, "peat plot %s --kind %s -o x.svg", m.dir, kinds[i]);
        read_svg("x.svg", &texts);
        assert_has(texts.text, "xxxxxxxxxxxxxx…");
        assert_has(texts.text, "ääää%ääääääääääää");
        assert_lacks(texts.text, longest.text);
        strbuf_clear(&texts);
    }
    shell_expect(0, "peat results %s && peat report %s -o r.html", m.dir, m.dir);
    strbuf_release(&longest);
    strbuf_release(&texts);
}

/* Rows of one panel have no value at this length, as where tasks are mixed. */
TEST(a_panel_without_values_is_drawn_empty)
{
    static const char *const kind[] = {"bars", "length", "cost", "heatmap"};
    struct strbuf texts;
    strbuf_init(&texts);
    for (int i = 0; i < LABELS; i++)
        run_maker_done(&m, labels[i].json, "other task", 0, (double)NAN, (double)NAN);
    run_maker_finish(&m);
    for (int i = 0; i < 4; i++)
        shell_expect(0, "peat plot %s --kind %s -o %s.svg", m.dir, kind[i], kind[i]);
    read_svg("length.svg", &texts);
    assert_has(texts.text, "other task\n");
    assert_has(texts.text, "no value\n");
    strbuf_release(&texts);
}

TEST(no_value_at_all_is_said)
{
    struct run_maker none;
    run_maker_open(&none, "grid");
    run_maker_done(&none, "rotary", "sum", 0, (double)NAN, (double)NAN);
    run_maker_finish(&none);
    for (int i = 1; i < 5; i++)
        shell_expect(2, "peat plot %s --kind %s -o x.svg", none.dir, kinds[i]);
    shell_expect(0, "peat report %s -o r.html", none.dir);
    run_maker_close(&none);
}

/* Numbers of any size: no line of 300 digits, and they are drawn. */
TEST(numbers_of_any_size_keep_their_columns_and_are_drawn)
{
    static const double sizes[] = {1e308, -1e308, 5e-324, 1e-300, 0.0, -0.0, 123456789012.0, 2.5};
    struct run_maker big;
    run_maker_open(&big, "grid");
    for (int i = 0; i < 8; i++)
        for (int seed = 0; seed < 2; seed++) {
            char label[16];
            snprintf(label, sizeof(label), "n%d", i);
            run_maker_done(&big, label, "sum", seed, seed ? sizes[i] : 0.5 * sizes[i], sizes[i]);
        }
    run_maker_finish(&big);
    static const char *const format[] = {"table", "md", "tex", "csv", "json"};
    for (int i = 0; i < 5; i++) {
        shell_expect(0, "peat results %s -f %s | tr ' ,|' '\\n\\n\\n' | awk 'length > 70'", big.dir,
                     format[i]);
        ck_assert_msg(shell.printed.n == 0, "%s", shell.printed.text);
    }
    shell_says(0, "7.500e+307", "peat results %s", big.dir);
    shell_expect(0, "! peat results %s | grep -e '-0[^.0-9]'", big.dir);
    for (int i = 1; i < 5; i++)
        shell_expect(0, "peat plot %s --kind %s -o x.svg", big.dir, kinds[i]);
    shell_expect(0, "peat report %s -o r.html", big.dir);
    shell_expect(0, "! grep -q '[0-9]\\{60\\}' r.html");
    run_maker_close(&big);
}

int main(void)
{
    return run_tests((struct tests){"labels", make_run, remove_run, .seconds = 120,
                                    .needs = "python3-jinja2 python3-matplotlib"});
}
