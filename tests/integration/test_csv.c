/* SPDX-License-Identifier: MIT */
/* test_csv.c: the csv names every cell and every axis, and no spreadsheet calculates with it. */
#include "support/shell.h"
#include "support/support.h"

#define SMALL                                                                                      \
    "version: 1\nname: l\n"                                                                        \
    "defaults:\n  task: {plugin: copy}\n  model: {d_model: 8, n_layer: 1, n_head: 1}\n"            \
    "  train: {steps: 1, batch: 1, seq_len: 16}\n  eval: {tokens: 64}\n"

/* Labels that are one in the names of files, and those that a spreadsheet would calculate. */
static const char alike[] = SMALL "matrix:\n  size:\n"
                                  "    \"-1\": {train.lr: 1e-3}\n"
                                  "    \"1\": {train.lr: 2e-3}\n"
                                  "    \"é\": {train.lr: 3e-3}\n"
                                  "    \"ü\": {train.lr: 4e-3}\n"
                                  "    \"=1+2\": {train.lr: 5e-3}\n"
                                  "    \"+1+2\": {train.lr: 6e-3}\n"
                                  "    \"-cmd|x\": {train.lr: 7e-3}\n"
                                  "    \"@a, \\\"b\\\"\": {train.lr: 8e-3}\n"
                                  "    \"+.5e1\": {train.lr: 9e-3}\n";

TEST(cells_with_labels_alike_have_names_of_their_own_everywhere)
{
    shell_write("l.yaml", alike);
    shell_expect(0, "peat run l.yaml -q");
    shell_expect(0, "peat results runs/l -f csv -o t.csv --columns cell,label,size");
    shell_says(0, "9\n", "tail -n +2 t.csv | cut -d, -f1 | sort -u | wc -l");
    shell_says(0, "9\n", "tail -n +2 t.csv | cut -d, -f2 | sort -u | wc -l");
    shell_expect(0, "test -d runs/l/cells/$(grep é t.csv | head -1 | cut -d, -f1)");
    shell_expect(0, "peat logs runs/l $(grep é t.csv | head -1 | cut -d, -f1)");
    shell_expect(0, "peat logs runs/l $(grep ü t.csv | head -1 | cut -d, -f2)");
    shell_expect(0, "peat run l.yaml -q --only $(grep ü t.csv | head -1 | cut -d, -f1)");
    shell_says(0, "9\n", "peat plan l.yaml | grep 'fused *1 done$' | sort -u | wc -l");
}

TEST(a_spreadsheet_finds_no_formula_and_numbers_stay_numbers)
{
    static const char *const field[] = {
        "-1", "1", "é", "ü", "'=1+2", "'+1+2", "'-cmd|x", "\"'@a, \"\"b\"\"\"", "+.5e1"};
    shell_write("l.yaml", alike);
    shell_expect(0, "peat plan l.yaml --write && peat results runs/l -f csv --all-steps");
    shell_expect(0,
                 "for c in $(peat plan l.yaml --ids); do "
                 "echo '{\"state\":\"failed\",\"reason\":\"x\"}' >runs/l/cells/$c/end.json; done; "
                 "peat results runs/l -f csv --columns size,combine,seed");
    for (size_t i = 0; i < sizeof(field) / sizeof(*field); i++) {
        char line[64];
        snprintf(line, sizeof(line), "\n%s,-,0\n", field[i]);
        assert_printed(line);
    }
}

TEST(sixteen_axes_have_sixteen_columns_whatever_their_names)
{
    static const char *const axis[][2] = {
        {"threads", "train.lr: 1e-3"},    {"host", "train.warmup: 1"},
        {"status", "train.clip: 2"},      {"goal", "train.beta1: 0.8"},
        {"value_", "train.beta2: 0.9"},   {"label", "train.eps: 1e-7"},
        {"cpu", "train.lr_min: 0.2"},     {"axis", "train.weight_decay: 0.1"},
        {"params", "model.dropout: 0.1"}, {"gemm", "model.norm: rms"},
        {"plugin", "model.window: 8"},    {"precision", "model.activation: relu"},
        {"cpu_s", "model.d_ff: 16"},      {"wall_s", "model.tie_embeddings: true"},
        {"blas", "model.embed_scale: 1"}, {"compiler", "train.schedule: linear"}};
    struct strbuf text;
    strbuf_init(&text);
    strbuf_add(&text, SMALL "matrix:\n");
    for (int i = 0; i < 16; i++)
        strbuf_addf(&text, "  %s: {x%d: {%s}}\n", axis[i][0], i, axis[i][1]);
    shell_write("l.yaml", text.text);
    strbuf_release(&text);
    shell_expect(0, "peat run l.yaml -q");
    shell_expect(0, "peat results runs/l -f csv");
    for (int i = 0; i < 16; i++) {
        const char *before =
            strcmp(axis[i][0], "value_") && strcmp(axis[i][0], "axis") ? "axis." : "";
        char name[64], label[16];
        snprintf(name, sizeof(name), ",%s%s,", before, axis[i][0]);
        snprintf(label, sizeof(label), ",x%d,", i);
        assert_printed(name);
        assert_printed(label);
    }
    shell_says(0, "\n0\n",
               "peat results runs/l -f csv | head -1 | tr , '\\n' | sort | uniq -d | wc -l | "
               "sed 's/^/\\n/'");
    shell_expect(0, "peat results runs/l -f csv --only-changed");
}

TEST(an_axis_has_its_column_under_its_key_too)
{
    shell_write("l.yaml", SMALL "matrix: {position.scheme: [none, alibi]}\n");
    shell_expect(0, "peat run l.yaml -q");
    shell_says(0, "scheme\nnone\n", "peat results runs/l -f csv --columns position.scheme");
}

/* A hash of the batches is that of the first and of the last one. */
TEST(seconds_and_hashes_are_of_what_their_names_say)
{
    shell_write("l.yaml", SMALL "matrix:\n  steps:\n"
                                "    few: {train.steps: 1, eval.tokens: 60000}\n"
                                "    many: {train.steps: 400}\n"
                                "    more: {train.steps: 401}\n");
    shell_expect(0, "peat run l.yaml -q && "
                    "peat results runs/l -f csv --columns steps,wall_s,eval_s -o t.csv");
    shell_expect(0, "awk -F, '/^few/ {bad += $2 > $3} /^m/ {bad += $2 < $3} END {exit bad}' t.csv");
    shell_says(0, "3\n",
               "cat runs/l/cells/*/result.json | grep '\"batch_hash\"' | sort -u | wc -l");
}

int main(void)
{
    return run_tests((struct tests){"csv", shell_open, shell_close, .seconds = 120});
}
