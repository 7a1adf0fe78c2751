/* SPDX-License-Identifier: MIT */
/* test_verify.c: peat verify finds what is not as it was, and one hash stands for equal bits. */
#include <stdlib.h>
#include <string.h>

#include "support/shell.h"
#include "support/support.h"

static const char experiment[] = "version: 1\n"
                                 "name: verified\n"
                                 "defaults:\n"
                                 "  task: {plugin: text, path: text.txt}\n"
                                 "  model: {d_model: 8, n_layer: 1, n_head: 1, d_ff: 8}\n"
                                 "  train: {steps: 10, batch: 2, seq_len: 8}\n"
                                 "  eval: {every: 5, lengths: [8], tokens: 64}\n"
                                 "matrix:\n"
                                 "  position.scheme: [none, rotary]\n"
                                 "seeds: 2\n";

static void open_run(void)
{
    shell_open();
    shell_write("e.yaml", experiment);
    shell_expect(0, "seq 1000 >text.txt && peat run e.yaml -q -o r && cp -r r whole");
}

/* Edits a file and takes its checksum off: it then counts as made by hand. */
#define FORGE "sed -i -z 's/,\\n  \"check\": \"[0-9a-f]*\"//; s/"

START_TEST(whole_directory_has_no_problem_and_a_hash)
{
    shell_says(0, "r: 4 cells, 4 finished, 0 problems\nhash ", "peat verify r");
    shell_says(0, "\"problems\": []", "peat verify r --json");
    shell_expect(0, "hash=$(peat verify r | sed -n 's/^hash //p') && [ ${#hash} = 64 ] && "
                    "peat results r --format json | grep $hash && peat report r | grep -q $hash && "
                    "peat verify r --json | grep $hash");
}
END_TEST

START_TEST(each_damage_is_a_line_with_its_cell)
{
    static const struct {
        const char *command, *says;
    } row[] = {
        {"printf x | dd of=$(ls none*s0*/ckpt/*/model.safetensors) bs=1 seek=3000 conv=notrunc",
         "problem: none.-.s0: ckpt/step-00000010/model.safetensors is not the one"},
        {"rm -r none*s0*/ckpt",
         "problem: none.-.s0: ckpt/step-00000010/model.safetensors is missing"},
        {"cp -r rotary*s0*/ckpt none*s0*", "problem: none.-.s0: its checkpoint is of another cell"},
        {"truncate -s -9 none*s0*/metrics.jsonl", "metrics.jsonl is not the one"},
        {"rm none*s0*/meta.json", "meta.json is missing"},
        {FORGE "\"d_ff\": 8/\"d_ff\": 16/' none*s0*/config.json",
         "problem: none.-.s0: the settings in config.json are not those of its hash"},
        {FORGE "\"label\": \"[^\"]*/\"label\": \"x/' none*s0*/config.json",
         "plan.json and config.json are not of one cell: their label differs"},
        {FORGE "\"params\": [0-9]*/\"params\": 7/' none*s0*/result.json",
         "config.json and result.json are not of one cell: their params differs"},
        {"seq 999 >../../text.txt", "text.txt' is not what it was made with"},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
        shell_expect(0, "rm -rf r && cp -r whole r && cd r/cells && %s", row[i].command);
        shell_says(1, row[i].says, "peat verify r");
        assert_printed("hash none: there are problems");
    }
}
END_TEST

START_TEST(what_is_not_here_is_a_note)
{
    shell_expect(0, "mv text.txt away");
    shell_says(0, "text.txt' is not here: not compared", "peat verify r");
    assert_printed("4 finished, 0 problems\nhash ");
}
END_TEST

#define HASH "peat verify %s | sed -n 's/^hash //p'"

START_TEST(equal_bits_have_one_hash_wherever_they_were_made)
{
    shell_expect(0, "mkdir there && cp e.yaml text.txt there && cd there && "
                    "peat run e.yaml -q -o elsewhere -j 2 -t 2");
    shell_expect(0, "[ $(" HASH ") = $(" HASH ") ]", "r", "there/elsewhere");
}
END_TEST

/* Also when it is sealed as if it had been so from the start. */
START_TEST(other_values_have_another_hash)
{
    static const char *const edit[] = {
        FORGE "\"value\": [0-9.]*/\"value\": 1.25/' r/cells/none*s0*/result.json",
        FORGE "\"weights_hash\": \"../\"weights_hash\": \"zz/' r/cells/none*s0*/result.json",
        FORGE "\"every\": 5/\"every\": 7/' r/cells/none*s0*/config.json"};
    for (size_t i = 0; i < sizeof(edit) / sizeof(*edit); i++) {
        shell_expect(0, "rm -rf r && cp -r whole r && %s", edit[i]);
        shell_expect(0, "peat results r --format json | grep -A1 hashes >now && "
                        "peat results whole --format json | grep -A1 hashes >then && "
                        "! cmp -s now then && ! grep null now then");
    }
}
END_TEST

START_TEST(retrained_cells_have_the_same_bits)
{
    shell_says(0, "; retrained with seed 7: 4 the same, 0 not",
               "peat verify r --retrain 9 --seed 7");
    shell_says(0, "\"seed\": 7", "peat verify r --retrain 1 --seed 7 --json");
    shell_expect(0, FORGE "\"value\": [0-9.]*/\"value\": 1.25/' r/cells/none*s0*/result.json");
    shell_says(1, "retrained: none.-.s0: differs: its values differ", "peat verify r --retrain 9");
}
END_TEST

START_TEST(data_may_have_moved_and_may_not_have_changed)
{
    shell_expect(0, "mv text.txt moved.txt && tr 0-8 1-9 <moved.txt >other.txt");
    shell_says(1, "retrained: none.-.s0: failed: ", "peat verify r --retrain 4 --seed 7");
    shell_says(0, "; retrained with seed 7: 4 the same, 0 not",
               "peat verify r --retrain 4 --seed 7 task.path=moved.txt");
    shell_says(1, "; retrained with seed 7: 0 the same, 4 not",
               "peat verify r --retrain 4 --seed 7 task.path=other.txt");
    shell_says(2, "task.path is where data lie: a path", "peat verify r --retrain 1 task.path=no");
    shell_says(2, "give --retrain N", "peat verify r task.path=moved.txt");
}
END_TEST

START_TEST(other_kernels_are_not_comparable)
{
    shell_expect(0, "OPENBLAS_CORETYPE=Prescott peat run e.yaml -q -o old 2>&1");
    if (shell_run("grep -h '\"blas_core\"' r/cells/none*s0*/meta.json >a; "
                  "grep -h '\"blas_core\"' old/cells/none*s0*/meta.json >b; cmp -s a b") == 0)
        return;
    shell_says(1, "not comparable: blas", "peat verify old --retrain 1");
}
END_TEST

int main(void)
{
    return run_list(
        (struct tests){"verify", open_run, shell_close, .seconds = 120},
        TESTS(whole_directory_has_no_problem_and_a_hash, each_damage_is_a_line_with_its_cell,
              what_is_not_here_is_a_note, equal_bits_have_one_hash_wherever_they_were_made,
              other_values_have_another_hash, retrained_cells_have_the_same_bits,
              data_may_have_moved_and_may_not_have_changed, other_kernels_are_not_comparable));
}
