/* SPDX-License-Identifier: MIT */
/* test_best_over.c: a value chosen on some seeds and run on the others, as a user has it. */
#include "support/shell.h"
#include "support/support.h"

/* Two rows, three values, two seeds to choose and two to report: 12 + 4 of 24 cells are run. */
static const char experiment[] =
    "version: 1\n"
    "name: x\n"
    "defaults:\n"
    "  task: {plugin: copy}\n"
    "  model: {d_model: 16, n_layer: 1, n_head: 2}\n"
    "  train: {steps: 12, batch: 2, seq_len: 16}\n"
    "  eval: {lengths: 6, tokens: 60}\n"
    "matrix:\n"
    "  position.scheme: [none, learned]\n"
    "  train.lr: [1e-4, 1e-2, 1e-3]\n"
    "seeds: 4\n"
    "report:\n"
    "  metric: loss\n"
    "  best_over: {axes: train.lr, choose: [0, 1]}\n"
    "  contrasts:\n"
    "    - {name: learns, factor: position.scheme, of: [learned, none]}\n"
    "claims:\n"
    "  - {name: first, contrast: learns, direction: less, margin: 0.5}\n";

static void open_experiment(void)
{
    shell_open();
    shell_write("x.yaml", experiment);
}

TEST(one_run_chooses_and_then_trains_the_chosen_value_alone)
{
    shell_says(0, "16 cells: 16 done", "peat run x.yaml -j 2");
    assert_printed("none: train.lr = 1e-2 is the best of 3 (loss ");
    assert_printed(
        "chosen: the best lr of each row by loss at 6 symbols, by its mean over seeds 0, "
        "1, which are in no number of this table");
    assert_printed("lr=1e-2");
    shell_says(0, "x: 24 cells: 16 done, 8 unchosen", "peat status runs/x");
    shell_says(0, "16\n", "ls runs/x/cells/*/result.json | wc -l");
    shell_expect(0, "! ls runs/x/cells/*1e-[34].s[23]-*/result.json");
    shell_says(0, "16 cells, 16 finished, 0 problems", "peat verify runs/x");
}

TEST(the_reported_numbers_are_of_the_seeds_that_chose_nothing)
{
    shell_expect(0, "peat run x.yaml");
    shell_says(0, "\"2\": ", "peat results runs/x -f json");
    assert_printed("\"3\": ");
    ck_assert(!shell_printed("\"0\": "));
    shell_says(0, "lr=1e-2", "peat results runs/x -f md");
    shell_says(0, "lr=1e-2", "peat results runs/x -f tex");
    shell_says(0, ",best_over\n", "peat results runs/x -f csv | head -1");
    shell_says(0, "\n2 ", "peat compare runs/x learned none");
    ck_assert(!shell_printed("\n0 "));
    shell_expect(0, "peat report runs/x -o x.html");
    shell_says(0, "chosen: the best lr of each row", "cat x.html");
    shell_says(0, "what 4 cells learned", "peat diagnose runs/x '*' --only sizes");
    ck_assert(!shell_printed("left out"));
    shell_says(0, "1e-4", "peat results runs/x --every-value");
    shell_says(2, "'--every-value' shows rows alone",
               "peat results runs/x --every-value --part claims");
}

TEST(the_plan_counts_what_will_be_run)
{
    shell_says(0, "16 cells: 2 rows x 2 seeds + 12 for choosing; ", "peat plan x.yaml");
    assert_printed("12 todo, 4 waiting");
    assert_printed("best_over: 12 cells of seeds 0, 1 choose train.lr for each of 2 rows; then 4 "
                   "cells of the chosen values are run, and 8 of other values are not");
    assert_printed("claim first: 2 seeds can decide it");
    shell_says(0, "16 cells, 4 seeds", "peat validate x.yaml");
    shell_expect(0, "peat run x.yaml");
    shell_says(0, "choosing; 16 done\n", "peat plan x.yaml");
}

/* The directory's one hash, which holds every result. */
static void keep_hash(const char *name)
{
    shell_expect(0, "peat verify runs/x | grep ^hash > %s", name);
}

TEST(seeds_of_the_command_line_leave_those_that_choose)
{
    shell_says(0, "14 cells: 14 done", "peat run x.yaml seeds=[7]");
    shell_expect(0, "peat plan runs/x/resolved.yaml --ids | "
                    "sort > again && peat plan x.yaml seeds=[7] --ids | sort | cmp - again");
    shell_says(0, "\"7\": ", "peat results runs/x -f json");
    ck_assert(!shell_printed("\"0\": "));
    shell_says(2, "seed 0 of 'choose' is not one of 'seeds'",
               "peat plan x.yaml seeds=[7] 'report.best_over={axes: train.lr, choose: [0]}'");
    shell_says(2, "command line:1: 'choose' keeps every seed", "peat plan x.yaml seeds=[0]");
}

TEST(stages_that_are_interrupted_or_run_apart_come_to_the_same)
{
    shell_expect(0, "peat run x.yaml -j 2");
    keep_hash("whole");
    shell_expect(0, "rm -r runs");
    shell_says(1,
               "2 cells wait for best_over to choose train.lr: run again when the cells of "
               "seeds 0, 1 have ended",
               "peat run x.yaml --only '*.s[02]'");
    shell_expect(0, "peat run x.yaml");
    keep_hash("apart");
    shell_expect(0, "cmp whole apart");
    shell_expect(0, "peat run x.yaml");
    shell_says(0, "16 cells: 16 finished before", "peat run x.yaml");
}

TEST(a_cell_for_choosing_that_failed_lets_its_row_alone_wait)
{
    shell_expect(0, "peat plan x.yaml --write");
    shell_expect(0, "cd runs/x/cells/none.-.1e-3.s1-*; "
                    "printf '{\"format\":1,\"state\":\"crashed\",\"reason\":\"why\"}' > end.json");
    shell_says(1, "none: no lr is chosen yet: 1 of 6 cells of seeds 0, 1 have no result",
               "peat run x.yaml");
    assert_printed("1 failed; --retry-failed tries it again");
    assert_printed("2 waiting");
    assert_printed("learned: train.lr = ");
    shell_says(0, "none: train.lr = ", "peat run x.yaml --retry-failed");
}

TEST(a_value_that_diverges_is_not_chosen)
{
    shell_expect(0, "sed -i 's/1e-4, 1e-2, 1e-3/1e-3, 90/; s/lengths: 6,/lengths: 6, every: 1,/' "
                    "x.yaml");
    shell_expect(0, "peat run x.yaml train.clip=0 train.warmup=0 train.eps=1e-12");
    assert_printed("lr=1e-3");
}

TEST(slurm_is_given_the_cells_for_choosing_first)
{
    shell_says(0, "12 cells in 12 tasks would be submitted",
               "peat run x.yaml --launcher slurm --dry-run");
    assert_printed("4 cells wait for best_over to choose train.lr");
    shell_expect(0, "peat run x.yaml --only '*.s[01]'");
    shell_says(0, "4 cells in 4 tasks would be submitted",
               "peat run x.yaml --launcher slurm --dry-run");
}

/* Cells that were trained without halves are evaluated again, not trained. */
TEST(one_half_of_the_data_chooses_and_the_other_is_reported)
{
    shell_expect(0, "sed -i 's/axes: train.lr, choose: .*}/axes: train.lr, by: halves}/; "
                    "s/tokens: 60/tokens: 2000/; s/^seeds: 4/seeds: 2/; /^claims/,$d' x.yaml");
    shell_says(2, "best_over by halves needs eval: {halves: true}", "peat validate x.yaml");
    shell_expect(0, "peat run x.yaml report.best_over=null && cp -r runs/x before");
    shell_says(0, "every value is run", "peat plan x.yaml eval.halves=true");
    shell_says(0, "lr=1e-2", "peat run x.yaml eval.halves=true");
    assert_printed("by its mean over one half of the held-out data, which is in no number");
    shell_expect(0, "ls before/cells > a; ls runs/x/cells > b; cmp a b");
    shell_expect(0, "cd runs/x/cells; for c in *; do cmp $c/ckpt/*/model.safetensors "
                    "../../../before/cells/$c/ckpt/*/model.safetensors || exit 1; done");
    /* The table's value is the one of the split `report`. */
    shell_expect(0,
                 "peat results runs/x -f csv --columns label,metric,split,best_over,value > all");
    shell_expect(0, "grep '^none.-.1e-2.s0,loss,report,reported,' all | cut -d, -f5 > value");
    shell_expect(0, "peat results runs/x -f json | grep -F \"$(cat value)\"");
    shell_says(0, "none.-.1e-3.s1,loss,choose,chooses,", "cat all");
}

TEST(claims_of_before_best_over_do_not_hide_the_table)
{
    shell_expect(0, "peat run x.yaml report.best_over=null seeds=[0]");
    shell_says(0, "CHANGED AFTER THE FIRST STEP", "peat run x.yaml");
    assert_printed("lr=1e-2");
}

TEST(shards_choose_when_their_directories_meet)
{
    shell_says(1, "waiting", "peat run x.yaml -o a --shard 1/2");
    shell_says(1, "waiting", "peat run x.yaml -o b --shard 2/2");
    shell_says(0, "no lr is chosen yet", "peat results a");
    shell_says(0, "lr=1e-2", "peat results a b");
}

/* 6 cells choose at 12 steps; then two seeds are run with 12 and 24 steps, 8 cells, which share
 * nothing without schedule: wsd. */
TEST(one_value_is_chosen_for_all_lengths_at_one_of_them)
{
#define AT                                                                                         \
    "'train.steps=[24, 12]' seeds=3 "                                                              \
    "'report.best_over={axes: train.lr, choose: [0], at: {train.steps: 12}}'"
    shell_says(0, "14 cells: 4 rows x 2 seeds + 6 for choosing; ", "peat plan x.yaml " AT);
    assert_printed(
        "best_over: 6 cells of seed 0 choose train.lr at train.steps=12 for each of 2 "
        "rows; then 8 cells of the chosen values are run, and 22 of other values are not");
    shell_says(0, "14 cells: 14 done", "peat run x.yaml -j 2 " AT);
    assert_printed("none: train.lr = 1e-2 is the best of 3 (loss ");
    assert_printed("chosen: the best lr of each row at train.steps=12 by loss at 6 symbols");
    shell_expect(0, "! ls runs/x/cells/*.24.s0-*/result.json");
    shell_says(0, "8\n", "ls runs/x/cells/*1e-2.*.s[12]-*/result.json | wc -l");
    shell_says(0, "x: 36 cells: 14 done, 22 unchosen", "peat status runs/x");
    shell_says(0, "4\n", "peat results runs/x -f md | grep -c lr=1e-2");
    shell_says(0, "14 cells, 14 finished, 0 problems", "peat verify runs/x");
}

/* Of the seed for choosing only the shortest is run, so that it keeps no state for others. */
TEST(lengths_of_the_chosen_value_share_their_steps)
{
    shell_expect(0, "peat run x.yaml " AT " train.schedule=wsd train.warmup=2");
    shell_says(0, "4\n", "cat runs/x/cells/*/log.txt | grep -c 'of its trunk'");
    shell_expect(0, "! grep -l '\"trunk\"' runs/x/cells/*s0-*/config.json");
    ck_assert(!shell_has("runs/x/trunks"));
}

int main(void)
{
    return run_tests((struct tests){"best_over", open_experiment, shell_close, .seconds = 120});
}
