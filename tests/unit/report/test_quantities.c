/* SPDX-License-Identifier: MIT */
/*
 * test_quantities.c: each number is printed under its own name, in every format.
 *
 * Every number has a value that no other has, so that one in the place of another is seen.
 */
#include <strings.h>

#include "report/table.h"
#include "support/run_maker.h"
#include "support/support.h"

enum { FIELDS = 64, FIELD_ROOM = 128 };

static struct bench {
    struct run_maker run;
    struct arena arena;
    struct results r;
    struct error err;
    struct strbuf out;
} b;

static void bench_open(void)
{
    b = (struct bench){.err = {0}};
    arena_init(&b.arena, "quantities", 1 << 16);
    strbuf_init(&b.out);
    run_maker_open(&b.run, "e");
}

static void bench_close(void)
{
    run_maker_close(&b.run);
    arena_release(&b.arena);
    strbuf_release(&b.out);
}

static void read_run(void)
{
    static const struct results_options none;
    char *dir[] = {b.run.dir};
    run_maker_finish(&b.run);
    ck_assert_msg(results_read(&b.r, 1, dir, &none, &b.arena, &b.err) == PEAT_OK, "%s", b.err.text);
}

/* One row of one cell, whose meta.json has no text with a comma. */
static void read_own_numbers(void)
{
    run_maker_own_numbers(&b.run);
    run_maker_done(&b.run, "rotary", "sum", 0, 2.0, 3.0);
    run_maker_file(&b.run, 0, "meta.json", "{\"engine\":\"0.1.0\"}");
    read_run();
}

static struct table table_of(const char *columns)
{
    struct table t;
    const struct table_options o = {.length = -1, .columns = columns};
    ck_assert_msg(table_build(&t, &b.r, &o, &b.arena, &b.err) == PEAT_OK, "%s", b.err.text);
    return t;
}

/* ---- lines with fields ---- */

/* The fields of the line without the spaces around them and the end of a row of TeX; how many. */
static int split(const char *line, const char *separator, char field[FIELDS][FIELD_ROOM])
{
    const char *end = line + strcspn(line, "\n");
    int n = 0;
    while (line <= end && n < FIELDS) {
        const char *stop = strstr(line, separator);
        stop = stop && stop < end ? stop : end;
        const char *last = stop;
        line += strspn(line, " ");
        while (last > line && strchr(" \\", last[-1]))
            last--;
        snprintf(field[n++], FIELD_ROOM, "%.*s", last > line ? (int)(last - line) : 0, line);
        line = stop + strlen(separator);
        line += strcmp(separator, "  ") == 0 ? strspn(line, " ") : 0;
    }
    return n;
}

/* The field below the head, in the last line that has as many fields as the line of heads. */
static const char *below(const char *head, const char *separator)
{
    static char field[FIELDS][FIELD_ROOM], found[FIELD_ROOM];
    int at = -1, n_head = 0;
    found[0] = '\0';
    for (const char *line = b.out.text; *line; line += strcspn(line, "\n") + 1) {
        int n = split(line, separator, field);
        if (at >= 0 && n == n_head)
            snprintf(found, sizeof(found), "%s", field[at]);
        for (int i = 0; at < 0 && i < n; i++)
            if (strcmp(field[i], head) == 0) {
                at = i;
                n_head = n;
            }
    }
    ck_assert_msg(at >= 0, "no '%s' in\n%s", head, b.out.text);
    return found;
}

/* ---- numbers of cells ---- */

TEST(each_number_is_under_its_heading_in_table_md_and_tex)
{
    static const char *const separator[] = {"  ", "|", "&"};
    struct table t;
    char shown[32];
    const char *columns = "metric";
    read_own_numbers();
    for (int i = 0; i < QUANTITIES; i++)
        if (quantities[i].column)
            columns = arena_printf(&b.arena, "%s,%s", columns, quantities[i].column);
    t = table_of(columns);
    for (int format = 0; format < 3; format++) {
        strbuf_clear(&b.out);
        if (format == 0)
            format_text(&t, 1000, false, &b.out);
        else
            (format == 1 ? format_markdown : format_tex)(&t, &b.out);
        for (int i = 0; i < QUANTITIES; i++)
            if (quantities[i].column) {
                run_maker_shown(i, shown);
                ck_assert_str_eq(below(quantities[i].head, separator[format]), shown);
            }
    }
}

TEST(each_number_is_under_its_name_in_csv_and_json)
{
    char text[32];
    read_own_numbers();
    ck_assert_int_eq(format_csv(&b.r, false, NULL, false, &b.out, &b.err), PEAT_OK);
    for (int i = 0; i < QUANTITIES; i++)
        if (quantities[i].column) {
            snprintf(text, sizeof(text), "%.0f", b.run.q[i]);
            ck_assert_str_eq(below(quantities[i].csv ? quantities[i].csv : quantities[i].key, ","),
                             text);
        }
    strbuf_clear(&b.out);
    format_json(&b.r, &(struct table_options){.length = -1}, &b.arena, &b.out, &b.err);
    const struct value *v = json_parse(&b.arena, b.out.text, b.out.n, "out", &b.err);
    const struct value *row = json_get_item(v, "rows", 0);
    for (int i = 0; i < QUANTITIES; i++)
        if (quantities[i].column)
            ck_assert_double_eq(json_get_number(row, quantities[i].key), b.run.q[i]);
}

/* Columns of the csv that are texts of meta.json, each with its key there. */
TEST(each_text_of_meta_is_under_its_name_in_the_csv)
{
    static const char *const key[][2] = {{"host", "host"},
                                         {"cpu", "cpu"},
                                         {"gemm", "gemm"},
                                         {"blas", "blas"},
                                         {"blas_core", "blas_core"},
                                         {"libm", "libm"},
                                         {"precision", "precision"},
                                         {"compiler", "compiler"},
                                         {"engine_version", "engine"},
                                         {"started_utc", "started_utc"}};
    struct json m = json_map(&b.arena), plugin, data;
    for (size_t i = 0; i < sizeof(key) / sizeof(*key); i++)
        json_put_text(m, key[i][1], arena_printf(&b.arena, "<%s>", key[i][1]));
    json_put_int(m, "threads", 77);
    plugin = json_add_map(json_put_list(m, "plugins"));
    data = json_add_map(json_put_list(m, "data"));
    json_put_text(plugin, "kind", "scheme");
    json_put_text(plugin, "id", "<id>");
    json_put_text(plugin, "version", "<version>");
    json_put_text(plugin, "abi", "<abi>");
    json_put_text(plugin, "sha256", "<sha>");
    json_put_text(data, "sha256", "<data>");
    run_maker_done(&b.run, "rotary", "sum", 0, 2.0, 3.0);
    run_maker_file(&b.run, 0, "meta.json", json_to_text(m.v, JSON_INDENTED, &b.arena));
    read_run();
    ck_assert_int_eq(format_csv(&b.r, false, NULL, false, &b.out, &b.err), PEAT_OK);
    for (size_t i = 0; i < sizeof(key) / sizeof(*key); i++)
        ck_assert_str_eq(below(key[i][0], ","), arena_printf(&b.arena, "<%s>", key[i][1]));
    ck_assert_str_eq(below("threads", ","), "77");
    ck_assert_str_eq(below("plugin", ","), "scheme/<id>");
    ck_assert_str_eq(below("plugin_version", ","), "<version>");
    ck_assert_str_eq(below("plugin_abi", ","), "<abi>");
    ck_assert_str_eq(below("plugin_sha256", ","), "<sha>");
    ck_assert_str_eq(below("data_sha256", ","), "<data>");
}

/* ---- statistics ---- */

static const struct {
    const char *key;    /* of results --format json */
    const char *column; /* of the table; NULL: it has none */
    size_t at;          /* in struct summary */
    const char *shown;  /* in that column */
} printed[] = {
    {"mean", NULL, offsetof(struct summary, mean), NULL},
    {"sd", NULL, offsetof(struct summary, sd), NULL},
    {"ci_low", NULL, offsetof(struct summary, ci_low), NULL},
    {"ci_high", NULL, offsetof(struct summary, ci_high), NULL},
    {"diff", NULL, offsetof(struct summary, diff.mean), NULL},
    {"diff_sd", NULL, offsetof(struct summary, diff.sd), NULL},
    {"diff_ci_low", NULL, offsetof(struct summary, diff.ci_low), NULL},
    {"diff_ci_high", NULL, offsetof(struct summary, diff.ci_high), NULL},
    {"effect_dz", "d_z", offsetof(struct summary, diff.dz), "+0.19"},
    {"effect_gz", "g_z", offsetof(struct summary, diff.gz), "+0.20"},
    {"p", "p", offsetof(struct summary, diff.p), "0.210"},
    {"p_holm", "p_holm", offsetof(struct summary, diff.p_holm), "0.220"},
    {"p_t", NULL, offsetof(struct summary, diff.p_t), NULL},
    {"p_t_holm", "p_t", offsetof(struct summary, diff.p_t_holm), "0.240"},
    {"diff_text_half", NULL, offsetof(struct summary, diff.text_half), NULL},
    {"diff_text_df", NULL, offsetof(struct summary, diff.text_df), NULL},
};
enum { STATISTICS = sizeof(printed) / sizeof(*printed) };

static double own_statistic(int i)
{
    return 0.11 + 0.01 * i;
}

/* Of the second row, which is compared with the first over pairs enough for any test. */
static void read_own_statistics(void)
{
    b.run.report = "{\"metric\":\"bpb\",\"goal\":\"min\","
                   "\"baseline\":{\"position.scheme\":\"learned\"}}";
    run_maker_done(&b.run, "learned", "sum", 0, 2.0, 3.0);
    run_maker_done(&b.run, "rotary", "sum", 0, 2.5, 3.5);
    read_run();
    struct summary *s = &b.r.row[1].at[0];
    s->pairs.n = 20;
    for (int i = 0; i < STATISTICS; i++)
        memcpy((char *)s + printed[i].at, &(double){own_statistic(i)}, sizeof(double));
}

TEST(each_statistic_is_in_its_column_and_under_its_key)
{
    read_own_statistics();
    struct table t = table_of("p,p_holm,p_t,g_z,d_z");
    format_text(&t, 1000, false, &b.out);
    for (int i = 0; i < STATISTICS; i++)
        if (printed[i].column)
            ck_assert_str_eq(below(printed[i].column, "  "), printed[i].shown);
    strbuf_clear(&b.out);
    format_json(&b.r, &(struct table_options){.length = -1}, &b.arena, &b.out, &b.err);
    const struct value *v = json_parse(&b.arena, b.out.text, b.out.n, "out", &b.err);
    const struct value *row = json_get_item(v, "rows", 2);
    for (int i = 0; i < STATISTICS; i++)
        ck_assert_double_eq(json_get_number(row, printed[i].key), own_statistic(i));
}

/* ---- documents ---- */

static const char *document(const char *name)
{
    size_t n;
    char *text, *path = path_join(getenv("PEAT_SOURCE"), name);
    ck_assert_msg(file_read(path, 0, &text, &n, &b.err) == PEAT_OK, "%s", b.err.text);
    const char *kept = arena_strdup(&b.arena, text);
    free(text);
    free(path);
    return kept;
}

static void has_line(const char *text, const char *line)
{
    ck_assert_msg(strstr(text, line), "no line '%s'", line);
}

/* The row of docs/formats.md that begins so. */
static const char *row_of(const char *formats, const char *begin)
{
    const char *row = strstr(formats, begin);
    ck_assert_msg(row, "no '%s' in docs/formats.md", begin);
    return arena_printf(&b.arena, "%.*s", (int)strcspn(row + 1, "\n"), row + 1);
}

/* docs/formats.md: unit and meaning where the number is first written, and the column of the csv;
 * docs/guide.md: every one that results show. */
TEST(each_number_is_in_the_documents)
{
    const char *formats = document("docs/formats.md"), *guide = document("docs/guide.md");
    for (int i = 0; i < QUANTITIES; i++) {
        const struct quantity *q = &quantities[i];
        const char *list = q->files & IN_PLAN ? "cells[]." : "", *unit = *q->unit ? " " : "";
        has_line(row_of(formats, arena_printf(&b.arena, "\n| `%s%s` |", list, q->key)),
                 arena_printf(&b.arena, "|%s%s | %s |", unit, q->unit, q->meaning));
        bool timed = strstr(q->unit, "second") || strcmp(q->unit, "KiB") == 0;
        ck_assert_msg(timed == !!(q->flags & QUANTITY_TIMED),
                      "%s: docs/reliability.md says by its "
                      "unit what the hash leaves out",
                      q->key);
        if (!q->column)
            continue;
        has_line(row_of(strstr(formats, "\n## csv\n"),
                        arena_printf(&b.arena, "\n| `%s` |", q->csv ? q->csv : q->key)),
                 q->csv ? arena_printf(&b.arena, "`%s` of ", q->key) : "as in `");
        has_line(guide, arena_printf(&b.arena, "\n| `%s` | %s | `%s` | %s |\n", q->column, q->head,
                                     q->key, q->meaning));
    }
}

/* The name in the program is the name in the files. */
TEST(each_number_is_called_by_its_key)
{
#define QUANTITY(files, name, key, ...) {#name, key},
    static const char *const name[][2] = {
#include "base/quantities.inc"
    };
    for (int i = 0; i < QUANTITIES; i++)
        ck_assert_msg(strcasecmp(name[i][0], name[i][1]) == 0, "Q_%s is '%s'", name[i][0],
                      name[i][1]);
}

int main(void)
{
    return run_tests((struct tests){"quantities", bench_open, bench_close, .needs = "PEAT_SOURCE"});
}
