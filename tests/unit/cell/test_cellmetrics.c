/* SPDX-License-Identifier: MIT */
/* test_cellmetrics.c: lines of a curve: what is kept, what is read, what is damaged. */
#include "cell/cellmetrics.h"
#include "support/support.h"

static struct cell_metrics m;
static struct error err;
static struct strbuf curve;
static int64_t sealed_bytes; /* of the curve, by its final checkpoint */

static void seal_curve(void)
{
    struct arena a;
    struct value *seal;
    arena_init(&a, "seal", 4096);
    ck_assert_int_eq(metrics_seal(&m, scratch_dir, 3, true, &a, &seal, &err), PEAT_OK);
    sealed_bytes = json_get_int(seal, "bytes", -1);
    arena_release(&a);
}

/* A curve of three steps, with an evaluation at the last. */
static void write_curve(void)
{
    scratch_make();
    strbuf_init(&curve);
    err = (struct error){0};
    ck_assert_int_eq(metrics_open(&m, scratch_dir, 0, false, &err), PEAT_OK);
    for (int step = 1; step <= 3; step++)
        metrics_step(&m, step, 8, 1.0 / step, 0.1, 2.0);
    metrics_measure(&m, &(struct measure){"bpb", "valid", 8, 3, 1.5});
    seal_curve();
    ck_assert_int_eq(metrics_publish(&m, scratch_dir, &err), PEAT_OK);
    metrics_close(&m);
}

/* Of the file as it is now; lives until the next call. */
static const char *read_curve(void)
{
    char *text = NULL;
    size_t n = 0;
    ck_assert_int_eq(file_read(scratch_path("metrics.jsonl"), 0, &text, &n, &err), PEAT_OK);
    strbuf_clear(&curve);
    strbuf_add_bytes(&curve, text, n);
    free(text);
    return curve.text;
}

static void put_curve(const char *text)
{
    ck_assert_int_eq(file_write(scratch_path("metrics.jsonl"), text, strlen(text), &err), PEAT_OK);
}

TEST(evaluation_made_anew_changes_nothing_before_it_is_published)
{
    char *before = strdup(read_curve());
    ck_assert_int_eq(metrics_open(&m, scratch_dir, sealed_bytes, true, &err), PEAT_OK);
    metrics_measure(&m, &(struct measure){"bpb", "valid", 8, 3, 1.5});
    metrics_measure(&m, &(struct measure){"bpb", "valid", 16, 3, 2.5});
    ck_assert_str_eq(read_curve(), before);
    ck_assert_int_eq(metrics_publish(&m, scratch_dir, &err), PEAT_OK);
    metrics_close(&m);
    const char *after = read_curve();
    ck_assert(strncmp(after, before, strlen(before)) == 0);
    ck_assert_ptr_nonnull(strstr(after + strlen(before), "\"length\":16"));
    free(before);
}

TEST(lines_behind_what_was_sealed_are_not_kept)
{
    struct strbuf longer;
    strbuf_init(&longer);
    char *before = strdup(read_curve());
    strbuf_addf(&longer, "%s%s", before, before);
    put_curve(longer.text);
    ck_assert_int_eq(metrics_open(&m, scratch_dir, sealed_bytes, false, &err), PEAT_OK);
    metrics_measure(&m, &(struct measure){"bpb", "valid", 8, 3, 1.5});
    metrics_close(&m);
    ck_assert_str_eq(read_curve(), before);
    strbuf_release(&longer);
    free(before);
}

/* "1 2 -3 ": the lines by number, damaged ones below 0. */
static bool add_line(void *ctx, int line, const struct value *v)
{
    strbuf_addf(ctx, "%d ", v ? line : -line);
    return true;
}

static void assert_lines(const char *with, const char *expected)
{
    struct strbuf lines;
    strbuf_init(&lines);
    ck_assert_int_eq(metrics_each(scratch_dir, with, add_line, &lines, &err), PEAT_OK);
    ck_assert_str_eq(lines.text, expected);
    strbuf_release(&lines);
}

TEST(lines_are_read_in_their_order_and_damaged_ones_are_told)
{
    assert_lines(NULL, "1 2 3 4 ");
    assert_lines("\"bpb\"", "4 ");
    read_curve();
    *strstr(curve.text, "0.5") = '7';
    curve.text[curve.n - 3] = '\0';
    put_curve(curve.text);
    assert_lines(NULL, "1 -2 3 ");
}

TEST(lines_of_other_kinds_are_damaged)
{
    put_curve("{\"step\":1,\"metric\":\"loss\",\"value\":null}\n"
              "{\"step\":-1,\"metric\":\"loss\",\"value\":1}\n"
              "{\"step\":1,\"metric\":[],\"value\":1}\n"
              "{\"step\":1,\"metric\":\"loss\",\"value\":\"1\"}\n"
              "[]\n\n");
    assert_lines(NULL, "1 -2 -3 -4 -5 -6 ");
}

static void tear_down(void)
{
    strbuf_release(&curve);
    scratch_remove();
}

int main(void)
{
    return run_tests((struct tests){"cellmetrics", write_curve, tear_down});
}
