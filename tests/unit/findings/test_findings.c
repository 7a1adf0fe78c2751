/* SPDX-License-Identifier: MIT */
/* test_findings.c: planted diagnoses come back as means over seeds with their intervals. */
#include "findings/findings.h"
#include "support/run_maker.h"
#include "support/support.h"
#include "support/texts.h"

static struct bench {
    struct run_maker run;
    struct arena arena;
    struct results r;
    struct findings found;
    struct error err;
    struct strbuf text;
} b;

static void bench_open(void)
{
    b = (struct bench){.err = {0}};
    arena_init(&b.arena, "findings", 1 << 16);
    strbuf_init(&b.text);
    run_maker_open(&b.run, "e");
}

static void bench_close(void)
{
    run_maker_close(&b.run);
    arena_release(&b.arena);
    strbuf_release(&b.text);
}

static void plant(int cell, double angle, double at_input, double at_end)
{
    char text[512];
    snprintf(text, sizeof(text),
             "{\"version\":1,\"sizes\":{\"ratio\":3,\"start\":{\"ratio\":2}},\"subspaces\":{"
             "\"mean\":%g,\"random\":{\"mean\":%g}},"
             "\"collisions\":{\"decoded\":[{\"both\":0.5},{\"both\":0.4},{\"both\":0.25}]},"
             "\"attention\":{\"layers\":[{\"layer\":0,\"heads\":[{\"mean_distance\":2},"
             "{\"mean_distance\":5}]}]},"
             "\"probes\":{\"layers\":[{\"layer\":0,\"position_r2\":%g},"
             "{\"layer\":1,\"position_r2\":%g}]}}",
             angle, angle / 2, at_input, at_end);
    run_maker_file(&b.run, cell, "diagnose.json", text);
}

/* Rows learned.sum and rotary.sum of three seeds, of which the first row has diagnoses. */
static void plant_rows(void)
{
    for (int seed = 0; seed < 3; seed++) {
        run_maker_done(&b.run, "learned", "sum", seed, 2.5, 3.5);
        plant(seed, 60 + 3 * seed, 0.5 + 0.1 * seed, 0.25);
    }
    for (int seed = 0; seed < 3; seed++)
        run_maker_done(&b.run, "rotary", "sum", seed, 2.0, 3.0);
}

static void read_kept(void)
{
    static const struct results_options none;
    char *dir[] = {b.run.dir};
    run_maker_finish(&b.run);
    ck_assert_msg(results_read(&b.r, 1, dir, &none, &b.arena, &b.err) == PEAT_OK, "%s", b.err.text);
    findings_read(&b.found, &b.r, &b.arena);
}

static const struct measure *measure(const char *name)
{
    const struct measure *m = measure_find(name, "test", &b.err);
    ck_assert_msg(m != NULL, "%s", b.err.text);
    return m;
}

/* 60, 63, 66: sd 3, t(2, .975) = 4.302653 */
START_TEST(a_row_has_the_mean_and_the_interval_of_its_seeds)
{
    struct finding f[MEASURE_PARTS];
    plant_rows();
    read_kept();
    ck_assert_int_eq(b.found.n_cell, 3);
    ck_assert_int_eq(findings_of(&b.found, &b.found.row[0], measure("angle"), f), 1);
    ck_assert_int_eq(f[0].over.n, 3);
    ck_assert_double_eq_tol(f[0].over.mean, 63.0, 1e-12);
    ck_assert_double_eq_tol(f[0].over.sd, 3.0, 1e-12);
    ck_assert_double_eq_tol(f[0].over.ci_high, 63.0 + 4.302652729749 * 3.0 / sqrt(3.0), 1e-9);
    ck_assert_double_eq_tol(f[0].chance, 31.5, 1e-12);
    ck_assert_int_eq(findings_of(&b.found, &b.found.row[1], measure("angle"), f), 0);
}
END_TEST

START_TEST(layers_and_heads_are_found)
{
    struct finding f[MEASURE_PARTS];
    plant_rows();
    read_kept();
    ck_assert_int_eq(findings_of(&b.found, &b.found.row[0], measure("position_r2"), f), 2);
    ck_assert_int_eq((int)f[1].part, 1);
    ck_assert_double_eq_tol(f[0].over.mean, 0.6, 1e-12);
    ck_assert_double_eq_tol(f[1].over.mean, 0.25, 1e-12);
    ck_assert_int_eq(findings_of(&b.found, &b.found.row[0], measure("distance"), f), 1);
    ck_assert_double_eq_tol(f[0].over.mean, 3.5, 1e-12);
    ck_assert_int_eq(findings_of(&b.found, &b.found.row[0], measure("ratio_start"), f), 1);
    ck_assert_double_eq(f[0].over.mean, 2.0);
    ck_assert_int_eq(findings_of(&b.found, &b.found.row[0], measure("ratio"), f), 1);
    ck_assert_double_eq(f[0].over.mean, 3.0);
    ck_assert_int_eq(findings_of(&b.found, &b.found.row[0], measure("decoded_noisy"), f), 1);
    ck_assert_double_eq_tol(f[0].over.mean, 0.25, 1e-12);
}
END_TEST

START_TEST(the_table_has_a_row_for_each_row_that_was_diagnosed)
{
    struct table t;
    plant_rows();
    read_kept();
    ck_assert_int_eq(findings_table(&t, &b.found, "angle,position_r2@1", &b.err), PEAT_OK);
    format_text(&t, 100, false, &b.text);
    assert_has(b.text.text, "\nscheme   combine  n  angle (by chance)  position R² @1\n");
    assert_has(b.text.text, "\nlearned  sum      3  63.0 ± 7.5 (31.5)      0.2500 ± 0\n");
    assert_lacks(b.text.text, "rotary");
    ck_assert_int_eq(findings_table(&t, &b.found, NULL, &b.err), PEAT_OK);
    ck_assert_int_eq(findings_table(&t, &b.found, "angel", &b.err), PEAT_INVALID);
    assert_has(b.err.text, "did you mean 'angle'?");
    ck_assert_int_eq(findings_table(&t, &b.found, "position_r2@7", &b.err), PEAT_INVALID);
    assert_has(b.err.text, "no diagnosed row has 'position_r2@7'");
}
END_TEST

START_TEST(csv_and_json_have_every_number_in_full)
{
    plant_rows();
    read_kept();
    findings_csv(&b.found, &b.text);
    assert_has(b.text.text, "position.scheme,position.combine,measure,part,at,n,mean,sd,ci_low,"
                            "ci_high,chance,seed 0,seed 1,seed 2\n");
    assert_has(b.text.text, "\nlearned,sum,position_r2,layer,1,3,0.25,0,0.25,0.25,,0.25,0.25,0.25");
    struct json map = json_map(&b.arena);
    findings_json(&b.found, map);
    const struct value *row = json_get_item(map.v, "rows", 0);
    const struct value *angle = value_get_path(row, "measures.angle");
    ck_assert_double_eq_tol(json_get_number(angle, "mean"), 63.0, 1e-12);
    ck_assert_int_eq(json_get_count(angle, "values"), 3);
    ck_assert_int_eq(json_get_count(map.v, "rows"), 1);
}
END_TEST

START_TEST(a_kept_diagnosis_of_other_weights_is_left_out_with_the_reason)
{
    const char result[] =
        "{\"format\":1,\"hash\":\"00000000\",\"state\":\"done\",\"diverged\":null,\"steps\":3,"
        "\"measures\":[],\"files\":{\"ckpt/step-00000003/model.safetensors\":"
        "{\"bytes\":1,\"sha256\":\"ab\"}}}";
    struct result_cell cell = {.dir = b.run.dir, .label = "x"};
    const char *why;
    cell.result = json_parse(&b.arena, result, strlen(result), "result", &b.err);
    plant_rows();
    read_kept();
    cell.dir = b.r.cell[0].dir;
    ck_assert_ptr_null(findings_kept(&cell, &b.arena, &why));
    assert_has(why, "from weights that the cell no longer has");
    run_maker_file(&b.run, 0, "diagnose.json", "{\"version\":1,\"weights\":\"ab\"}");
    ck_assert_ptr_nonnull(findings_kept(&cell, &b.arena, &why));
}
END_TEST

START_TEST(the_document_lists_every_measure_with_its_meaning)
{
    char *path = path_join(getenv("PEAT_SOURCE"), "docs/diagnostics.md"), *text;
    size_t n;
    ck_assert_msg(file_read(path, 0, &text, &n, &b.err) == PEAT_OK, "%s", b.err.text);
    for (const struct measure *m = measures; m->name; m++) {
        strbuf_clear(&b.text);
        if (m->diagnostic)
            strbuf_addf(&b.text, "\n| `%s` | `%s`: %s |\n", m->name, m->diagnostic, m->meaning);
        else
            strbuf_addf(&b.text, "\n| `%s` | %s |\n", m->name, m->meaning);
        assert_has(text, b.text.text);
    }
    free(text);
    free(path);
}
END_TEST

int main(void)
{
    return run_list((struct tests){"findings", bench_open, bench_close},
                    TESTS(a_row_has_the_mean_and_the_interval_of_its_seeds,
                          layers_and_heads_are_found,
                          the_table_has_a_row_for_each_row_that_was_diagnosed,
                          csv_and_json_have_every_number_in_full,
                          a_kept_diagnosis_of_other_weights_is_left_out_with_the_reason,
                          the_document_lists_every_measure_with_its_meaning));
}
