/* SPDX-License-Identifier: MIT */
/* test_trunks.c: cells that share the steps before their decay, as a user has them. */
#include "support/shell.h"
#include "support/support.h"

/* The decay of 40, 120 and 360 steps begins after 32, 96 and 288. */
static const char experiment[] = "version: 1\n"
                                 "name: x\n"
                                 "defaults:\n"
                                 "  task: {plugin: copy}\n"
                                 "  model: {d_model: 16, n_layer: 1, n_head: 2, dropout: 0.1}\n"
                                 "  train: {batch: 4, seq_len: 16, lr: 3e-3, schedule: wsd, "
                                 "warmup: 8}\n"
                                 "  eval: {lengths: [6], tokens: 60, every: 16}\n"
                                 "matrix:\n"
                                 "  position.scheme: [rotary, learned]\n"
                                 "  train.steps: [40, 120, 360]\n"
                                 "run: {checkpoint: {every: 25}}\n";

/* `alone` is a folder in which each cell was planned and trained by itself. */
static const char trainer[] = "set -e\n"
                              "for s in 40 120 360; do\n"
                              "  peat run x.yaml \"train.steps=[$s]\" -o one-$s -q >/dev/null\n"
                              "done\n"
                              "mkdir alone; mv one-*/cells/* alone\n";

/* Two folders of cells have the same ones, with the same bits. */
static const char comparer[] =
    "set -e\n"
    "test \"$(ls $1)\" = \"$(ls $2)\"\n"
    "for c in $1/*; do\n"
    "  o=$2/${c##*/}\n"
    "  cmp $c/metrics.jsonl $o/metrics.jsonl\n"
    "  w=$(cd $c; ls ckpt/*/model.safetensors | tail -1)\n" /* a killed cell may leave another */
    "  cmp $c/$w $o/$w\n"
    "  for k in measures weights_hash batch_hash; do\n"
    "    grep -A9 \"\\\"$k\\\"\" $c/result.json | grep -v -e '_s\"' -e meta_hash >one\n"
    "    grep -A9 \"\\\"$k\\\"\" $o/result.json | grep -v -e '_s\"' -e meta_hash | cmp - one\n"
    "  done\n"
    "done\n";

static void open_experiment(void)
{
    shell_open();
    shell_write("x.yaml", experiment);
    shell_write("alone.sh", trainer);
    shell_write("same.sh", comparer);
}

/* The cells of a run have the bits of those that were trained alone, and all are finished. */
static void assert_as_alone(const char *run)
{
    if (!shell_has("alone"))
        shell_says(0, "6\n", "sh alone.sh && ls alone | wc -l");
    shell_says(0, "6 cells, 6 finished, 0 problems", "peat verify %s", run);
    shell_expect(0, "sh same.sh %s/cells alone", run);
    ck_assert(!shell_has("run/trunks"));
}

TEST(shared_steps_have_the_bits_of_steps_that_are_not_shared)
{
    static const char *const how[] = {"-j 1 -t 1", "-j 1 -t 2", "-j 3 -t 1",
                                      "'train.steps=[360, 40, 120]' -j 1"};
    for (size_t i = 0; i < sizeof(how) / sizeof(*how); i++) {
        shell_expect(0, "peat run x.yaml -o run %s", how[i]);
        shell_says(0, "4\n", "cat run/cells/*/log.txt | grep -c 'of its trunk'");
        assert_as_alone("run");
        shell_expect(0, "rm -r run");
    }
}

TEST(each_shared_step_is_trained_once)
{
    shell_expect(0, "peat run x.yaml -o run -j 2 --only 'rotary*'");
    shell_says(0, "continues from step 32 of its trunk", "cat run/cells/*.120.*/log.txt");
    shell_says(0, "continues from step 96 of its trunk", "cat run/cells/*.360.*/log.txt");
    shell_expect(0, "cat run/cells/*.40.*/log.txt");
    ck_assert(!shell_printed("trunk"));
}

/* 40 + 120 + 360 steps, of which 32 + 96 are shared, are 1.09 of the longest. */
TEST(plan_counts_shared_steps_once)
{
    shell_says(0, "(4 cells continue from shorter ones, for 256 steps together)",
               "peat plan x.yaml | grep training");
    shell_expect(
        0, "peat plan x.yaml eval.every=0 eval.lengths=6 | grep -o '^[0-9.]* .FLOP' >three;"
           "peat plan x.yaml eval.every=0 'train.steps=[360]' | grep -o '^[0-9.]* .FLOP' >one;"
           "paste three one | awk '{r = $1 / $3; print r; exit !(r > 1.08 && r < 1.1)}'");
}

TEST(a_killed_run_ends_in_the_bits_of_one_that_was_not)
{
    for (int i = 0; i < 12; i++) {
        shell_run(
            "peat run x.yaml -o run -j 2 -q --retry-failed >/dev/null 2>&1 & pid=$!; sleep 0.%02d; "
            "pkill -KILL -P $pid; kill -KILL $pid; wait $pid",
            4 + 5 * i % 37);
    }
    shell_expect(0, "peat run x.yaml -o run -j 2 --retry-failed");
    assert_as_alone("run");
}

/* A cell by hand, as a batch system starts it, in any order. */
TEST(a_cell_that_finds_no_state_trains_the_steps)
{
    shell_expect(0, "peat plan x.yaml -o run --write");
    shell_expect(0, "for c in $(peat plan x.yaml --ids | sort -r); do peat cell run $c || exit; "
                    "rm -rf run/trunks; done");
    shell_expect(1, "grep -q 'of its trunk' run/cells/*/log.txt");
    assert_as_alone("run");
    shell_expect(0, "rm -r run && peat plan x.yaml -o run --write && "
                    "for c in $(peat plan x.yaml --ids | grep rotary); do peat cell run $c & done; "
                    "wait; for c in $(peat plan x.yaml --ids); do peat cell run $c || exit; done");
    assert_as_alone("run");
}

/* Every second trunk, not every second cell. */
TEST(a_shard_has_all_cells_of_its_trunks)
{
    shell_expect(0, "peat run x.yaml -o run --shard 1/2 -q >/dev/null && "
                    "ls run/cells/*/result.json");
    ck_assert(shell_printed("rotary.-.360") && !shell_printed("learned"));
    shell_expect(0, "peat run x.yaml -o run --shard 2/2");
    shell_says(0, "4\n", "cat run/cells/*/log.txt | grep -c 'of its trunk'");
    assert_as_alone("run");
}

TEST(states_are_kept_while_a_cell_needs_them)
{
    shell_expect(0, "peat run x.yaml -o run --only 'rotary.*.40.*' && ls run/trunks/*");
    assert_printed("step-00000032");
    shell_says(0, "1 state is kept for cells that share steps", "peat status run");
    shell_says(0, "\"trunk_states\": 1", "peat status run --json");
    shell_expect(0, "peat bundle run -o b.tar.gz --partial || peat bundle run -o b.tar.gz; "
                    "tar tf b.tar.gz");
    ck_assert(!shell_printed("trunks"));
    shell_says(0, "6 todo", "peat plan x.yaml -o other | grep cells:");
    shell_expect(0, "peat run x.yaml -o run --only 'rotary.*.120.*'");
    shell_says(0, "2 states are kept", "peat status run");
    shell_expect(0, "peat run x.yaml -o run 'train.steps=[40, 120]' --only 'rotary*'");
    ck_assert(!shell_has("run/trunks"));
}

TEST(a_damaged_state_is_named_and_not_used)
{
    shell_expect(0, "peat run x.yaml -o run --only '*.120.*'");
    shell_expect(0, "printf x | dd of=$(ls run/trunks/*/step-00000096/model.safetensors | head -1) "
                    "bs=1 seek=900 conv=notrunc");
    shell_says(0, "step-00000096 is not used: model.safetensors does not have the checksum",
               "peat verify run");
    shell_expect(0, "peat run x.yaml -o run");
    shell_says(0, "1\n", "cat run/cells/*.360.*/log.txt | grep -c 'continues from step 96'");
    assert_as_alone("run");
}

/* Another engine is made up in the state, whose check is then its own again. */
TEST(a_state_of_another_program_is_refused)
{
    shell_expect(0, "peat run x.yaml -o run --only 'rotary.*.40.*'");
    shell_expect(0, "sed -i -e 's/\"engine\": \"[^\"]*\"/\"engine\": \"0.0.1\"/' -e '/\"check\"/d' "
                    "-e 's/},$/}/;' run/trunks/*/*/state.json; "
                    "peat run x.yaml -o run && cat run/cells/rotary.*.120.*/log.txt");
    assert_printed("is not used");
    assert_as_alone("run");
}

/* Their evaluations decide when they end, or their curves differ. */
TEST(cells_that_differ_in_more_share_nothing)
{
    static const char *const word[] = {"eval.every=2 train.patience=1000", "train.schedule=cosine",
                                       "train.decay=1 train.warmup=0"};
    for (size_t i = 0; i < sizeof(word) / sizeof(*word); i++) {
        shell_expect(0, "peat plan x.yaml --json %s", word[i]);
        ck_assert_msg(!shell_printed("\"trunk\""), "%s", word[i]);
    }
    shell_expect(0, "peat plan x.yaml --json");
    assert_printed("\"trunk\"");
    shell_expect(0, "echo 'overrides: [{when: {train.steps: 360}, set: {eval.every: 32}}]' "
                    ">>x.yaml; peat plan x.yaml | grep training");
    assert_printed("2 cells continue");
}

int main(void)
{
    return run_tests((struct tests){"trunks", open_experiment, shell_close, .seconds = 240});
}
