/* SPDX-License-Identifier: MIT */
/*
 * test_rebuild.c: cells of every kind trained in PyTorch beside PEAT from docs/checkpoint.md alone,
 * from their first random number on, with the same losses and gradients. Skipped where PyTorch is
 * not installed.
 */
#include "support/shell.h"
#include "support/support.h"

/* Beside a smaller eps the rounding of a gradient that happens to be nearly zero is a large part of
 * the update. */
static const char kinds[] =
    "version: 1\n"
    "name: train\n"
    "defaults:\n"
    "  task: {plugin: text, path: text.txt}\n"
    "  model: {d_model: 16, n_layer: 2, n_head: 2, d_ff: 24, dropout: 0.1}\n"
    "  train: {steps: 6, batch: 3, seq_len: 16, lr: 3e-3, warmup: 2, weight_decay: 0.1, "
    "eps: 1e-5}\n"
    "  eval: {tokens: 32}\n"
    "  position: {combine: sum}\n"
    "matrix:\n"
    "  position.scheme: [learned, sinusoidal, rotary, alibi, t5_bias, tupe]\n"
    "  kind:\n"
    "    decoder: {}\n"
    "    masked: {model.arch: encoder, train: {schedule: wsd, decay: 0.5}}\n"
    "    classes: {model: {arch: encoder, head: class}, task: {plugin: order}}\n"
    "    bert: {model: {arch: encoder, head: both}, task: {plugin: text_pair, path: text.txt}}\n"
    "    two: {model.arch: seq2seq, task: {plugin: copy}}\n"
    "    split: {position.combine: {plugin: concat_split, d_pos: 6}}\n"
    "    project: {position.combine: concat_project}\n"
    "  exclude: {kind: [split, project], position.scheme: [rotary, alibi, t5_bias, tupe]}\n"
    "  include:\n"
    "  - {position.scheme: {plugin: rotary, where: {across: true}}, kind: two}\n"
    "  - {position.scheme: {plugin: alibi, where: {across: true}}, kind: two}\n"
    "  - {position.scheme: {plugin: alibi, where: {across: only}}, kind: two}\n";

TEST(pytorch_trains_to_the_same_weights)
{
    shell_write("train.yaml", kinds);
    /* A text that stays: with others AdamW makes more of the rounding of a gradient near 0. */
    shell_expect(0, "cd \"$PEAT_SOURCE\" && cat LICENSE LICENSE LICENSE > \"$OLDPWD\"/text.txt");
    shell_expect(0, "peat run train.yaml -o runs -j 2 -t 1");
    shell_expect(0, "test $(ls runs/cells/*/result.json | wc -l) = 37");
    shell_expect(0, "set -e; for d in runs/cells/*; do "
                    "peat export runs ${d##*/} --start -o $d/start.st; "
                    "peat export runs ${d##*/} -o $d/end.st; "
                    "set -- \"$@\" $d/start.st $d/end.st $d/metrics.jsonl; done; "
                    "OMP_NUM_THREADS=1 PYTHONPATH=\"$PEAT_SOURCE\"/python /usr/bin/python3 "
                    "\"$PEAT_SOURCE\"/tests/integration/torch_train.py \"$@\"");
}

int main(void)
{
    return run_tests((struct tests){"rebuild", shell_open, shell_close, .seconds = 900,
                                    .needs = "PEAT PEAT_SOURCE python3-torch"});
}
