/* SPDX-License-Identifier: MIT */
/* test_diagnose.c: peat diagnose on cells that were trained, as a user runs it. */
#include "support/shell.h"
#include "support/support.h"

static const char experiment[] =
    "version: 1\n"
    "name: d\n"
    "defaults:\n"
    "  task: {plugin: text, path: corpus.txt}\n"
    "  model: {d_model: 16, n_layer: 2, n_head: 2}\n"
    "  train: {steps: 20, batch: 4, seq_len: 16, lr: 1e-2}\n"
    "  eval: {lengths: [16], tokens: 1024}\n"
    "matrix:\n"
    "  position.scheme: [none, learned, rotary, alibi]\n"
    "  position.combine: [sum, {plugin: concat_split, d_pos: 4}, gate_scalar, film]\n"
    "seeds: 2\n";

static void write_corpus(const char *more)
{
    struct strbuf text;
    strbuf_init(&text);
    for (int i = 0; i < 400; i++)
        strbuf_addf(&text, "%d brown foxes jump over %d lazy dogs%s.\n", i % 7, i % 5, more);
    shell_write("corpus.txt", text.text);
    strbuf_release(&text);
}

/* One grid for all tests: they only read it, but for what each makes itself. */
static void train(void)
{
    shell_open();
    write_corpus("");
    shell_write("d.yaml", experiment);
    shell_expect(0, "peat run d.yaml");
}

/* ---- the command ---- */

TEST(a_cell_is_diagnosed_as_a_page_and_as_an_object)
{
    static const char *const title[] = {"Terms of the attention logits",
                                        "Sizes of tokens and positions",
                                        "Subspaces of tokens and positions",
                                        "Which dimensions carry what",
                                        "Collisions",
                                        "Linear probes",
                                        "Order sensitivity",
                                        "Attention by distance"};
    static const char *const name[] = {"logits",     "sizes",  "subspaces", "support",
                                       "collisions", "probes", "order",     "attention"};
    struct arena a;
    struct error err = {0};
    shell_expect(0, "peat diagnose runs/d learned.sum.s0");
    for (int i = 0; i < 8; i++)
        assert_printed(title[i]);
    shell_expect(0, "peat diagnose runs/d learned.sum.s0 --json");
    arena_init(&a, "test", 1 << 16);
    const struct value *v = json_parse(&a, shell.printed.text, shell.printed.n, "stdout", &err);
    ck_assert_msg(v != NULL, "%s", err.text);
    ck_assert_str_eq(json_get_text(v, "scheme"), "learned");
    ck_assert_str_eq(json_get_text(v, "combine"), "sum");
    ck_assert_int_eq(json_get_int(v, "step", 0), 20);
    for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++)
        ck_assert_msg(json_get_text(value_get(v, name[i]), "summary") != NULL, "%s", name[i]);
    arena_release(&a);
}

TEST(the_same_cell_gives_the_same_bytes_at_any_number_of_threads)
{
    shell_expect(
        0, "peat diagnose runs/d learned.sum.s0 --only logits,order,support --json > one.json");
    shell_expect(
        0, "peat diagnose runs/d learned.sum.s0 --only logits,order,support --json > two.json");
    shell_expect(
        0,
        "peat diagnose runs/d learned.sum.s0 --only logits,order,support --json -t 2 > three.json");
    shell_expect(0, "test -s one.json && cmp one.json two.json && cmp one.json three.json");
}

TEST(save_keeps_what_json_prints_beside_the_cell)
{
    struct arena a;
    struct error err = {0};
    struct value *kept;
    shell_expect(0, "peat diagnose runs/d rotary.-.s0 --json --save --only order,probes");
    arena_init(&a, "test", 1 << 16);
    const struct value *v = json_parse(&a, shell.printed.text, shell.printed.n, "stdout", &err);
    ck_assert_msg(v != NULL, "%s", err.text);
    char *dir = path_join(shell.dir, "runs/d/cells");
    char *cell = path_join(dir, json_get_text(v, "cell"));
    ck_assert_msg(json_read_file(cell, "diagnose.json", &a, &kept, &err) == PEAT_OK, "%s",
                  err.text);
    ck_assert(value_equal(v, kept));
    ck_assert(value_get(v, "order") && value_get(v, "probes") && !value_get(v, "logits"));
    shell_expect(0, "peat results runs/d && peat status runs/d");
    free(cell);
    free(dir);
    arena_release(&a);
}

/* ---- many cells ---- */

static const struct value *print_json(struct arena *a, const char *command)
{
    struct error err = {0};
    shell_expect(0, "%s", command);
    const struct value *v = json_parse(a, shell.printed.text, shell.printed.n, "stdout", &err);
    ck_assert_msg(v != NULL, "%s", err.text);
    return v;
}

TEST(a_pattern_gives_rows_that_are_means_over_the_seeds_of_single_cells)
{
    struct arena a;
    double angle[2], cosine[2];
    arena_init(&a, "test", 1 << 16);
    for (int seed = 0; seed < 2; seed++) {
        const struct value *one =
            print_json(&a, seed ? "peat diagnose runs/d learned.sum.s1 --json"
                                : "peat diagnose runs/d learned.sum.s0 --json");
        angle[seed] = json_get_number(value_get(one, "subspaces"), "mean");
        cosine[seed] = json_get_number(value_get(one, "sizes"), "cosine_size");
    }
    const struct value *v = print_json(&a, "peat diagnose runs/d 'learned.sum.*' --json");
    ck_assert_int_eq(json_get_count(v, "rows"), 1);
    const struct value *row = json_get_item(v, "rows", 0);
    ck_assert_int_eq(json_get_count(row, "seeds"), 2);
    const struct value *m = value_get_path(row, "measures.angle");
    ck_assert_double_eq_tol(json_get_number(m, "mean"), (angle[0] + angle[1]) / 2, 1e-9);
    ck_assert_double_eq_tol(json_get_number(m, "sd"), fabs(angle[0] - angle[1]) / sqrt(2.0), 1e-9);
    m = value_get_path(row, "measures.cosine_size");
    ck_assert_double_eq_tol(json_get_number(m, "mean"), (cosine[0] + cosine[1]) / 2, 1e-9);
    arena_release(&a);
}

TEST(what_was_saved_of_many_cells_is_read_without_plugins_and_data)
{
    shell_expect(0, "peat diagnose runs/d 'learned*' --save -f csv -o now.csv");
    shell_expect(0, "mv corpus.txt away.txt");
    int status = shell_run("PEAT_PLUGIN_PATH=/nowhere peat diagnose runs/d 'learned*' --kept "
                           "-f csv -o kept.csv");
    shell_expect(0, "mv away.txt corpus.txt");
    ck_assert_int_eq(status, 0);
    shell_expect(0, "test -s kept.csv && cmp now.csv kept.csv");
    shell_says(0, "position R² @0", "peat diagnose runs/d 'learned*' --kept");
    shell_says(0, "no diagnosis of it was kept",
               "peat diagnose runs/d '*learned.sum*' --kept && "
               "peat diagnose runs/d '[ln]*.s0' --kept");
    shell_expect(0, "peat report runs/d -o page.html");
    shell_says(0, "1", "grep -c 'What the cells learned' page.html");
}

/* Concatenation keeps tokens and positions apart by construction, before training and after. */
TEST(the_cosine_of_a_concatenation_is_nothing_and_of_a_sum_it_is_not)
{
    struct arena a;
    arena_init(&a, "test", 1 << 16);
    const struct value *v =
        print_json(&a, "peat diagnose runs/d 'learned.*' --only sizes,subspaces --json");
    for (int i = 0; i < json_get_count(v, "rows"); i++) {
        const struct value *row = json_get_item(v, "rows", i);
        const struct value *m = value_get(row, "measures");
        bool concat = strstr(json_get_text(row, "row"), "concat") != NULL;
        bool gate =
            strstr(json_get_text(row, "row"), "gate") || strstr(json_get_text(row, "row"), "film");
        double now = json_get_number(value_get(m, "cosine_size"), "mean");
        double start = json_get_number(value_get(m, "cosine_size_start"), "mean");
        ck_assert(json_get_number(value_get(m, "ratio_start"), "mean") > 0.0);
        if (gate) {
            ck_assert_ptr_null(value_get(m, "cosine_size"));
        } else {
            ck_assert(concat ? now < 1e-9 && start < 1e-9 : now > 0.05 && start > 0.05);
            ck_assert(!concat || json_get_number(value_get(m, "angle_start"), "mean") > 89.999);
        }
    }
    arena_release(&a);
}

TEST(a_measure_is_drawn_by_row_by_layer_and_over_an_axis)
{
    shell_expect(0, "peat diagnose runs/d 'learned.*' --save > saved");
    int status =
        shell_run("peat diagnose runs/d 'l*' --kept --figure angle -o angle.svg && "
                  "peat diagnose runs/d 'l*' --kept --figure position_r2 -o r2.svg && "
                  "peat diagnose runs/d 'l*' --kept --figure angle --over combine -o o.svg");
    if (status != 0 && shell_printed("gnuplot is not installed")) {
        shell_expect(0, "test -s angle.gp");
        return;
    }
    ck_assert_int_eq(status, 0);
    shell_expect(0, "grep -q '<svg' angle.svg && grep -q '<svg' r2.svg && grep -q '<svg' o.svg");
    shell_says(2, "did you mean 'angle'",
               "peat diagnose runs/d 'l*' --kept --figure angel -o x.svg");
    shell_says(2, "there is no axis 'combin'",
               "peat diagnose runs/d 'l*' --kept --figure angle --over combin -o x.svg");
}

TEST(a_cell_that_cannot_be_diagnosed_is_named_and_the_others_go_on)
{
    shell_expect(0, "rm -rf runs/broken && cp -r runs/d runs/broken && "
                    "rm -r runs/broken/cells/learned.sum.s1*/ckpt/*");
    shell_expect(1, "peat diagnose runs/broken 'learned.sum.*' --only sizes -f json "
                    ">out.json 2>err.txt");
    shell_expect(0, "grep -q 'learned.sum.s1: ' err.txt && grep -q '\"cell\": \"learned.sum.s1\"' "
                    "out.json && grep -q '\"n\": 1' out.json");
    shell_says(2, "they are gone or damaged", "peat diagnose runs/broken 'learned.sum.s1*'");
}

TEST(a_pattern_that_fits_nothing_and_options_without_effect_are_refused)
{
    shell_says(2, "no cell of 'runs/d' matches 'x*'", "peat diagnose runs/d 'x*'");
    shell_says(2, "for many cells", "peat diagnose runs/d learned.sum.s0 -f csv");
    shell_says(2, "computes nothing", "peat diagnose runs/d '*' --kept --save");
    shell_says(2, "needs -o FILE", "peat diagnose runs/d '*' --figure angle");
    shell_says(2, "did you mean 'angle'",
               "peat diagnose runs/d 'l*.s0' --only order --columns angel");
}

/* ---- tables ---- */

TEST(a_cell_shows_what_its_scheme_and_combination_have_come_to)
{
    static const struct {
        const char *cell, *shown;
    } one[] = {{"learned.sum.s0", "the vector that learned gives each position"},
               {"learned.sum.s0", "each token in the model's input"},
               {"learned.film.s0", "film.scale"},
               {"learned.film.s0", "film.shift"},
               {"learned.gate_scalar.s0", "gate_scalar.gate"},
               {"rotary.-.s0", "rotary.angle"},
               {"alibi.-.s0", "bias.0"}};
    for (size_t i = 0; i < sizeof(one) / sizeof(*one); i++)
        shell_says(0, one[i].shown, "peat inspect runs/d %s", one[i].cell);
    shell_says(2, "did you mean 'film.scale'",
               "peat inspect runs/d learned.film.s0 --what film.scal");
    shell_says(2, "name one of its cells", "peat inspect runs/d --what bias");
    shell_says(0, "rotary", "peat inspect runs/d && test -s runs/d/schemes.json");
    shell_says(2, "a cell has sizes and tokens of its own", "peat inspect runs/d 0 --d 4");
    shell_says(2, "is for DIR CELL", "peat inspect rotary --start --d 4 --T 4");
    shell_says(0, "components hold 99 %", "peat inspect runs/d learned.sum.s0 --describe");
}

TEST(tokens_are_shown_by_their_characters)
{
    shell_says(0, "‘b’", "peat inspect runs/d learned.sum.s0 --what token");
    shell_expect(0, "peat diagnose runs/d learned.sum.s0 --only collisions | "
                    "grep -E \"nearest: '.*' at [0-9]+ and '.*' at [0-9]+\"");
}

/* The table of a learned scheme is a weight; what is shown before training is the initial one. */
TEST(the_table_of_a_cell_is_its_weights_before_training_and_after)
{
    shell_expect(0, "peat inspect runs/d learned.sum.s0 --what learned -o now.csv && "
                    "peat inspect runs/d learned.sum.s0 --what learned --start -o start.csv");
    shell_expect(1, "cmp -s now.csv start.csv");
    shell_expect(0, "peat plan d.yaml name=untrained --write -o runs/untrained && "
                    "peat inspect runs/untrained learned.sum.s0 --what learned --start -o plan.csv "
                    "&& cmp plan.csv start.csv");
    shell_says(2, "it was not trained yet", "peat inspect runs/untrained learned.sum.s0");
    shell_expect(0, "test $(wc -l < now.csv) = 16");
    if (shell_run("peat inspect runs/d learned.sum.s0 -o pair.svg") != 0 &&
        shell_printed("gnuplot is not installed"))
        return;
    shell_expect(0, "grep -q 'before training' pair.svg && grep -q 'after' pair.svg");
    shell_expect(0, "peat report runs/d -o page.html && grep -q 'before training and after it' "
                    "page.html");
}

TEST(a_diagnosis_changes_nothing_of_the_cell)
{
    shell_expect(0, "find runs/d -type f ! -name diagnose.json ! -name lock | sort | "
                    "xargs sha256sum > before");
    shell_expect(0, "peat diagnose runs/d alibi.-.s0 > page");
    shell_expect(0, "find runs/d -type f ! -name diagnose.json ! -name lock | sort | "
                    "xargs sha256sum | cmp - before");
}

TEST(what_a_cell_does_not_have_is_said)
{
    shell_says(0, "not linear, not decomposed",
               "peat diagnose runs/d learned.gate_scalar.s0 --only logits,subspaces");
    shell_says(0, "no position at the input",
               "peat diagnose runs/d rotary.-.s0 --only subspaces,order");
    shell_says(0, "(must be zero)", "peat diagnose runs/d none.-.s0 --only order");
}

TEST(mistakes_are_refused_with_what_would_be_right)
{
    shell_says(2, "a run directory and a cell are needed", "peat diagnose runs/d");
    shell_says(2, "did you mean 'learned.sum.s0'", "peat diagnose runs/d learned.sun.s0");
    shell_expect(2, "peat diagnose runs/nowhere 0");
    shell_says(2, "did you mean 'logits'", "peat diagnose runs/d 0 --only logit");
    shell_says(2, "from 1 to 1024", "peat diagnose runs/d 0 --batches 0");
    shell_says(0, "example:", "peat diagnose --help");
}

TEST(other_data_than_in_training_are_refused_by_name)
{
    write_corpus(" again");
    int status = shell_run("peat diagnose runs/d learned.sum.s0");
    bool named = shell_printed("corpus.txt") && shell_printed("content has changed");
    shell_expect(0, "mv corpus.txt gone.txt");
    int missing = shell_run("peat diagnose runs/d learned.sum.s0");
    bool said = shell_printed("corpus.txt") && shell_printed("needs the cell's plugins");
    write_corpus("");
    ck_assert_int_eq(status, 2);
    ck_assert(named);
    ck_assert_int_eq(missing, 2);
    ck_assert(said);
    shell_expect(0, "peat diagnose runs/d learned.sum.s0 --only order");
}

TEST(a_cell_that_was_not_trained_has_nothing_to_diagnose)
{
    shell_expect(0, "peat plan d.yaml name=later --write -o runs/later");
    shell_says(2, "it was not trained yet", "peat diagnose runs/later learned.sum.s0");
}

/* ---- numbers ---- */

static const char agree[] = "OPENBLAS_NUM_THREADS=1 PYTHONPATH=\"$PEAT_SOURCE\"/python "
                            "/usr/bin/python3 \"$PEAT_SOURCE\"/tests/integration/diagnose/agree.py";

TEST(every_number_of_the_fixtures_is_found_again)
{
    shell_says(0, "16 of 16 cells agree", "%s", agree);
}

TEST(a_wrong_number_is_found)
{
    shell_expect(0, "cp -r \"$PEAT_SOURCE\"/python . && sed -i 's/^ENERGY = 0.99/ENERGY = 0.9/' "
                    "python/peat/diagnose/spaces.py && ! cmp -s python/peat/diagnose/spaces.py "
                    "\"$PEAT_SOURCE\"/python/peat/diagnose/spaces.py");
    shell_says(1, "0 of 1 cells agree",
               "OPENBLAS_NUM_THREADS=1 PYTHONPATH=python /usr/bin/python3 "
               "\"$PEAT_SOURCE\"/tests/integration/diagnose/agree.py learned.concat");
}

int main(void)
{
    return run_tests((struct tests){"diagnose", train, shell_close, .seconds = 120, .once = true});
}
