/* SPDX-License-Identifier: MIT */
/* test_sealed.c: a finished cell is its result with the files that it is sealed with. */
#include "support/shell.h"
#include "support/support.h"

static const char experiment[] = "version: 1\n"
                                 "name: seals\n"
                                 "defaults:\n"
                                 "  task: {plugin: copy, symbols: 4}\n"
                                 "  model: {d_model: 8, n_layer: 1, n_head: 1, d_ff: 8}\n"
                                 "  train: {steps: 20, batch: 2, seq_len: 9}\n"
                                 "  eval: {every: 5, lengths: [4], tokens: 16}\n"
                                 "matrix:\n"
                                 "  position.scheme: [none, rotary, alibi]\n"
                                 "seeds: 2\n";

static void open_run(void)
{
    shell_open();
    shell_write("e.yaml", experiment);
    shell_expect(0, "peat run e.yaml -q -o r && cp -r r whole");
}

/* The run directory as it was, and then this command in the directory of the cells. */
static void damage(const char *command)
{
    shell_expect(0,
                 "rm -rf r && cp -r whole r && cd r/cells && none=$(ls -d none*s0*) && "
                 "rotary=$(ls -d rotary*s0*) && %s",
                 command);
}

static const struct {
    const char *command, *says;
} damages[] = {
    {"cp $rotary/metrics.jsonl $none", "metrics.jsonl is not the one that result.json was sealed"},
    {"truncate -s -100 $none/metrics.jsonl", "metrics.jsonl is not the one"},
    {"sed -i 3d $none/metrics.jsonl", "metrics.jsonl is not the one"},
    {"cat $rotary/metrics.jsonl >>$none/metrics.jsonl", "metrics.jsonl is not the one"},
    {"cp $none/metrics.jsonl x && cat x >>$none/metrics.jsonl && rm x",
     "metrics.jsonl is not the "},
    {"rm $none/metrics.jsonl", "metrics.jsonl is missing"},
    {"rm $none/meta.json", "meta.json is missing: the programs that made the result are unknown"},
    {"cp $rotary/meta.json $none", "meta.json is not the one"},
    {"cp $rotary/*.json* $none", "none.-.s0-"},
    {"sed -i 's/\"value\": [0-9.]*/\"value\": 0.5/' $none/result.json", "result.json' is damaged"},
    {"sed -i '/\"check\"/d; s/\"weights_hash\": \\(.*\\),/\"weights_hash\": \\1/; "
     "/\"files\"/,/^  },/d; /meta_hash/d' $none/result.json",
     "result.json is not sealed with the files beside it"},
    {"truncate -s -4 $none/ckpt/*/model.safetensors", "model.safetensors is not the one"},
};

enum { DAMAGES = sizeof(damages) / sizeof(*damages) };

TEST(damaged_cell_is_named_and_in_no_mean)
{
    for (int i = 0; i < DAMAGES; i++) {
        damage(damages[i].command);
        shell_says(0, "6 cells: 5 done, 1 damaged", "peat status r");
        assert_printed(damages[i].says);
        shell_says(0, "1 of 6 cells damaged: not in the means", "peat results r");
        assert_printed(damages[i].says);
        assert_printed("1/2");
        shell_expect(0, "peat results r --format csv --columns cell,status,value | "
                        "grep '^none.-.s0-.*,damaged,$'");
        shell_expect(1, "peat results r --format csv --all-steps --columns cell,value | "
                        "grep '^none.-.s0-.*,[0-9]'");
        shell_expect(0,
                     "peat report r -o page.html && sed \"s/&#39;/'/g\" page.html | "
                     "grep -qF \"%s\"",
                     damages[i].says);
    }
}

/* What no clock decides. */
static const char numbers[] =
    "cd %s/cells && cat */metrics.jsonl >../../%s && sha256sum */ckpt/*/model.safetensors "
    ">>../../%s && "
    "grep -v '_s\"\\|_ms_\\|_kib\"\\|meta_hash\\|check' */result.json "
    ">>../../%s";

TEST(run_mends_damaged_cells)
{
    shell_expect(0, numbers, "whole", "before", "before", "before");
    for (int i = 0; i < DAMAGES; i++) {
        damage(damages[i].command);
        shell_says(0, "the cell is run again", "peat run e.yaml -o r");
        shell_says(0, "6 cells: 6 done", "peat status r");
        shell_expect(0, numbers, "r", "after", "after", "after");
        shell_expect(0, "cmp before after");
    }
}

TEST(run_mends_a_diverged_cell_with_its_last_evaluation)
{
    shell_expect(1, "peat run e.yaml -q -o d position.scheme=none seeds=1 eval.every=1 "
                    "train.steps=200 train.lr=100 train.clip=0");
    shell_says(0, "1 diverged", "peat status d");
    shell_expect(0, "rm -f before after");
    shell_expect(0, numbers, "d", "before", "before", "before");
    shell_says(0, "\"split\": \"valid\"", "cat d/cells/*/result.json");
    shell_expect(0, "truncate -s -9 d/cells/*/result.json");
    shell_says(1, "the cell is run again", "peat run d");
    shell_expect(0, numbers, "d", "after", "after", "after");
    shell_expect(0, "cmp before after");
}

int main(void)
{
    return run_tests((struct tests){"sealed", open_run, shell_close, .seconds = 120});
}
