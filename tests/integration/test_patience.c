/* SPDX-License-Identifier: MIT */
/* test_patience.c: cells that stop when they get no better, as a user has them. */
#include "support/shell.h"
#include "support/support.h"

/* Nothing is copied right after so few steps: the main metric stays 0, and the first evaluation is
 * the best. One row stops at step 8 of 40, the other has no patience. */
static const char experiment[] = "version: 1\n"
                                 "name: x\n"
                                 "defaults:\n"
                                 "  task: {plugin: copy}\n"
                                 "  model: {d_model: 16, n_layer: 1, n_head: 2}\n"
                                 "  train: {steps: 40, batch: 2, seq_len: 16, lr: 1e-5}\n"
                                 "  eval: {lengths: [6], tokens: 60, every: 2}\n"
                                 "matrix:\n"
                                 "  position.scheme: [none, learned]\n"
                                 "  train.patience: [0, 3]\n"
                                 "seeds: 2\n"
                                 "report: {baseline: {train.patience: 0}}\n";

static void open_experiment(void)
{
    shell_open();
    shell_write("x.yaml", experiment);
}

TEST(a_cell_stops_after_so_many_evaluations_without_a_better_one)
{
    shell_expect(0, "peat run x.yaml");
    shell_says(0, "\"steps\": 8,\n  \"stopped\": true", "cat runs/x/cells/none*3.s0*/result.json");
    shell_says(0, "\"step\": 8,", "cat runs/x/cells/none*3.s0*/result.json");
    shell_says(0, "\"steps\": 40,", "cat runs/x/cells/none*0.s0*/result.json");
    ck_assert(!shell_printed("stopped"));
    shell_says(0, "8 cells, 8 finished, 0 problems", "peat verify runs/x");
    shell_says(0, "8 finished before", "peat run x.yaml");
    shell_says(0, "2 the same", "peat verify runs/x --retrain 2 --seed 3");
}

TEST(the_table_names_the_step_and_compares_with_no_row_that_did_not_stop)
{
    shell_says(0, "stopped: cells that train.patience ended before their last step",
               "peat run x.yaml -q && peat results runs/x --notes");
    assert_printed("rows that may stop early are neither ranked nor paired");
    assert_printed("4 of 4 pairs refused: one stops early");
    shell_says(0, "| none | 3 | 8 | 2 |", "peat results runs/x -f md --columns steps,stopped");
    assert_printed("| learned | 0 | 40 | 0 |");
    shell_says(0, "\"steps_most\": 8", "peat results runs/x -f json");
    shell_says(1, "one stops early", "peat compare runs/x none.3 none.0");
    shell_says(0, "mean difference", "peat compare runs/x none.3 none.0 --mix-stopped");
    shell_says(0, "mean difference", "peat compare runs/x none.3 learned.3");
    shell_expect(0, "peat results runs/x --mix-stopped");
    ck_assert(!shell_printed("refused"));
}

TEST(a_cell_without_patience_is_the_cell_that_it_was)
{
    shell_expect(0, "peat plan x.yaml 'train.patience=[0]' --json | grep '\"hash\"' > with");
    shell_expect(
        0, "sed -i '/patience/d' x.yaml && peat plan x.yaml --json | grep '\"hash\"' > without");
    shell_expect(0, "cmp with without");
    shell_expect(0, "peat run x.yaml && ! grep -r patience runs/x/cells/*/config.json");
}

TEST(what_decides_when_it_stops_makes_another_cell)
{
    shell_expect(
        0, "peat plan x.yaml --ids | sort > one; peat plan x.yaml eval.every=4 --ids | sort > two");
    shell_says(0, "4\n", "comm -12 one two | wc -l");
}

TEST(an_interrupted_cell_stops_at_the_same_step_with_the_same_bits)
{
    shell_expect(0, "sed -i '/matrix/,$d' x.yaml && "
                    "echo 'run: {checkpoint: {every: 500}}' >> x.yaml");
#define LONG "train.steps=100000 train.patience=9 eval.every=500"
    shell_expect(0, "peat run x.yaml -o whole " LONG);
    shell_expect(130, INTERRUPTED("peat run x.yaml -o cut " LONG, ANY("cut/cells/*/ckpt/step-*")));
    shell_says(0, "1 done", "peat run x.yaml -o cut " LONG);
    shell_says(0, "continues from step", "cat cut/cells/*/log.txt");
    shell_says(0, "\"steps\": 5000,\n  \"stopped\": true", "cat cut/cells/*/result.json");
    shell_expect(0, "cmp whole/cells/*/metrics.jsonl cut/cells/*/metrics.jsonl");
    shell_expect(0, "cmp whole/cells/*/ckpt/*/model.safetensors "
                    "cut/cells/*/ckpt/*/model.safetensors");
}

TEST(a_result_that_was_lost_is_made_again_without_training)
{
    shell_expect(0, "peat run x.yaml --only 'none.*3.s0'");
    shell_expect(0,
                 "cp runs/x/cells/none*/result.json was && rm runs/x/cells/none*3.s0*/result.json");
    shell_expect(0, "peat run x.yaml --only 'none.*3.s0'");
    shell_expect(
        0, "grep -e weights_hash -e '\"steps\"' was > a; "
           "grep -e weights_hash -e '\"steps\"' runs/x/cells/none*3.s0*/result.json > b; cmp a b");
}

int main(void)
{
    return run_tests((struct tests){"patience", open_experiment, shell_close, .seconds = 120});
}
