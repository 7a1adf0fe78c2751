/* SPDX-License-Identifier: MIT */
/*
 * test_rebuild.c: cells rebuilt in PyTorch from docs/checkpoint.md alone. Trained decoders have the
 * same validation loss to 1e-5; cells of every kind are trained beside PEAT, from their first
 * random number on, with the same losses and gradients. Skipped where PyTorch is not installed.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/shell.h"
#include "support/support.h"

static const char experiment[] = "version: 1\n"
                                 "name: rebuild\n"
                                 "defaults:\n"
                                 "  task: {plugin: text, path: text.txt}\n"
                                 "  model: {d_model: 32, n_layer: 2, n_head: 4}\n"
                                 "  train: {steps: 300, batch: 8, seq_len: 32, lr: 2e-3}\n"
                                 "  eval: {lengths: [32, 64], tokens: 2048}\n"
                                 "matrix:\n"
                                 "  position.scheme: [learned, sinusoidal, rotary, alibi]\n"
                                 "  position.combine: [sum, concat_split, concat_project, "
                                 "sum_project, gate_scalar]\n";

/* Compares {length: loss} with result.json's measures. */
static const char compare[] =
    "import glob, json, subprocess, sys\n"
    "n = 0\n"
    "for path in sorted(glob.glob('runs/cells/*/result.json')):\n"
    "    result = json.load(open(path))\n"
    "    subprocess.run([sys.argv[1], 'export', 'runs', result['id'], '-o', 'm.safetensors'],\n"
    "                   check=True)\n"
    "    out = subprocess.run([sys.executable, sys.argv[2], 'm.safetensors'], check=True,\n"
    "                         capture_output=True, text=True).stdout\n"
    "    for length, loss in json.loads(out).items():\n"
    "        ours = [m['value'] for m in result['measures'] if m['metric'] == 'loss'\n"
    "                and m['split'] == 'valid' and m['length'] == int(length)]\n"
    "        print(result['id'], length, loss, ours)\n"
    "        assert len(ours) == 1 and abs(ours[0] - loss) <= 1e-5 * abs(loss)\n"
    "        n += 1\n"
    "assert n == 24, n\n";

START_TEST(pytorch_computes_the_same_loss)
{
    shell_write("rebuild.yaml", experiment);
    shell_write("compare.py", compare);
    shell_expect(0, "cat \"$PEAT_SOURCE\"/include/peat/*.h > text.txt");
    shell_expect(0, "peat run rebuild.yaml -o runs -j 2");
    shell_expect(0, "OMP_NUM_THREADS=1 /usr/bin/python3 compare.py \"$PEAT\" "
                    "\"$PEAT_SOURCE\"/tests/integration/torch_rebuild.py");
}
END_TEST

/* ---- training ---- */

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
    "    masked: {model.arch: encoder}\n"
    "    classes: {model: {arch: encoder, head: class}, task: {plugin: order}}\n"
    "    bert: {model: {arch: encoder, head: both}, task: {plugin: text_pair, path: text.txt}}\n"
    "    two: {model.arch: seq2seq, task: {plugin: copy}}\n"
    "    split: {position.combine: {plugin: concat_split, d_pos: 6}}\n"
    "    project: {position.combine: concat_project}\n"
    "  exclude: {kind: [split, project], position.scheme: [rotary, alibi, t5_bias, tupe]}\n"
    "  include:\n"
    "  - {position.scheme: {plugin: rotary, where: {across: true}}, kind: two}\n"
    "  - {position.scheme: {plugin: alibi, where: {across: true}}, kind: two}\n";

START_TEST(pytorch_trains_to_the_same_weights)
{
    shell_write("train.yaml", kinds);
    shell_expect(0, "cat \"$PEAT_SOURCE\"/include/peat/*.h > text.txt");
    shell_expect(0, "peat run train.yaml -o runs -j 2 -t 1");
    shell_expect(0, "test $(ls runs/cells/*/result.json | wc -l) = 36");
    shell_expect(0, "set -e; for d in runs/cells/*; do "
                    "peat export runs ${d##*/} --start -o $d/start.st; "
                    "peat export runs ${d##*/} -o $d/end.st; "
                    "set -- \"$@\" $d/start.st $d/end.st $d/metrics.jsonl; done; "
                    "OMP_NUM_THREADS=1 /usr/bin/python3 "
                    "\"$PEAT_SOURCE\"/tests/integration/torch_train.py \"$@\"");
}
END_TEST

int main(void)
{
    if (system("/usr/bin/python3 -c 'import torch' 2>/dev/null") != 0)
        return skip_all("PyTorch (python3-torch) is not installed");
    return run_list((struct tests){"rebuild", shell_open, shell_close, .seconds = 900},
                    TESTS(pytorch_computes_the_same_loss, pytorch_trains_to_the_same_weights));
}
