#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two builds train the same drawn cells on this machine: are the hashes of their weights the same?

  tests/bench/bits.py --seed 1 --count 30 OLD/bin/peat NEW/bin/peat

A cell is a row of experiments/every-scheme.yaml with a drawn combination, task, model and precision, trained for
eight steps. What the first build cannot plan is drawn again. Exit status 1 when the weights of a cell differ or the
second build does not train it.
"""
import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

EXPERIMENT = pathlib.Path(__file__).resolve().parents[2] / "experiments" / "every-scheme.yaml"
FIXED = ["train.steps=8", "train.seq_len=64", "eval.lengths=auto", "eval.every=4"]
DRAWN = {
    "position.combine": ("concat_overlap", "concat_project", "concat_split", "concat_wide", "film", "gate_scalar",
                         "gate_vector", "matrix_per_position", "multiply", "sum", "sum_norm", "sum_project"),
    "task": ("addition", "bag", "copy", "count", "needle", "order", "parity", "reverse", "selective_copy", "sort"),
    "model.arch": ("decoder", "decoder", "encoder", "seq2seq"),
    "model.mixer": ("attention", "attention", "attention", "conv", "rnn"),
    "model.norm": ("layer", "rms"),
    "model.norm_place": ("before", "after"),
    "model.activation": ("gelu", "gelu_tanh", "relu"),
    "model.attention.path": ("auto", "fused", "composed"),
    "model.d_model": ("32", "64"),
    "train.precision": ("fp32", "fp32", "bf16"),
    "train.schedule": ("cosine", "linear", "constant"),
    "run.threads": ("1", "2"),
    "run.gemm": ("onednn", "openblas"),
}


def call(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def draw(program, source):
    """The words of a cell that the program can plan, and its id."""
    for _ in range(1000):
        words = FIXED + [f"{key}={source.choice(values)}" for key, values in DRAWN.items()]
        planned = call(program, "plan", str(EXPERIMENT), *words, "--ids")
        ids = planned.stdout.split()
        if planned.returncode == 0 and ids:
            return words, source.choice(ids)
    sys.exit(f"bits.py: {program} plans none of 1000 drawn cells: {planned.stdout.strip()}")


def weights(program, words, cell):
    """The hash of the trained weights; otherwise the last line that the program printed."""
    with tempfile.TemporaryDirectory() as folder:
        done = call(program, "run", str(EXPERIMENT), *words, "--only", cell.rsplit("-", 1)[0] + "*", "-o", f"{folder}/run")
        result = next(pathlib.Path(folder).glob("run/cells/*/result.json"), None)
        lines = done.stdout.strip().splitlines() or [f"exit status {done.returncode}"]
        return json.loads(result.read_text())["weights_hash"] if result else lines[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs=2, metavar="PROGRAM")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=30)
    options = parser.parse_args()
    source, different = random.Random(options.seed), 0
    for _ in range(options.count):
        words, cell = draw(options.programs[0], source)
        one, other = (weights(program, words, cell) for program in options.programs)
        different += one != other
        print("same     " if one == other else "DIFFERENT", one[:16], cell, *words[len(FIXED):], flush=True)
        if one != other:
            print(f"  the second: {other}", flush=True)
    print(f"{options.count - different} of {options.count} cells have the same weights")
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
