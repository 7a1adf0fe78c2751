#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Step time and peak memory of every scheme beside those of `none`: docs/performance.md has the table.

  tests/bench/schemes.py build/release/bin/peat --pairs 5
  tests/bench/schemes.py build/release/bin/peat cope dape

Each scheme's `peat bench step` runs in turn with none's, on one thread, at d 64, 4 heads, 2 layers,
T 256, B 4; processor times are divided pair by pair, so that other load cancels. A scheme that needs
settings is measured with its defaults, or named at the end where it has none. Memory is the peak of
the whole process, of which libraries take their part. The last column is what `peat plan` counts.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

SIZES = {"d": 64, "heads": 4, "layers": 2, "T": 256, "B": 4, "V": 256}
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}
PLAN = """version: 1
name: schemes
defaults:
  task: {{plugin: text, path: {text}}}
  model: {{d_model: 64, n_layer: 2, n_head: 4}}
  train: {{steps: 1, batch: 4, seq_len: 256}}
matrix: {{position.scheme: [none, {scheme}]}}
seeds: 1
"""


def output_of(words):
    done = subprocess.run(words, env=ENVIRONMENT, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


def step(program, scheme):
    """Processor ms of a step and peak MiB, or None where the scheme cannot run so."""
    words = [program, "bench", "step", "--json", "--scheme", scheme, "--steps", "9", "--warmup", "2"]
    for key, value in SIZES.items():
        words += ["--" + key, str(value)]
    text = output_of(words)
    if text is None:
        return None
    run = json.loads(text)
    return run["step_cpu_ms_median"], run["peak_rss_mib"]


def planned(program, scheme, folder):
    """The scheme's training as a multiple of none's, as plan counts it."""
    path, text = os.path.join(folder, "plan.yaml"), os.path.join(folder, "text.txt")
    with open(text, "wb") as file:
        file.write(bytes(range(32, 127)) * 200)
    with open(path, "w") as file:
        file.write(PLAN.format(text=text, scheme=scheme))
    printed = output_of([program, "plan", path, "--json"])
    if printed is None:
        return float("nan")
    # As plan_training_work of core/experiment/cost.c.
    work = [cell["flops_per_token"] * SIZES["T"] * SIZES["B"] + 30 * cell["activation_bytes"]
            for cell in json.loads(printed)["cells"]]
    return work[-1] / work[0]


def measure(program, scheme, pairs):
    """Ratios of time with their spread, MiB more than none's, ratio of peaks; None: cannot run."""
    ratios, more, peaks = [], [], []
    for _ in range(pairs):
        own, none = step(program, scheme), step(program, "none")
        if own is None:
            return None
        ratios.append(own[0] / none[0])
        more.append(own[1] - none[1])
        peaks.append(own[1] / none[1])
    return (statistics.median(ratios), min(ratios), max(ratios), statistics.median(more),
            statistics.median(peaks))


def main():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("program")
    parser.add_argument("scheme", nargs="*")
    parser.add_argument("--pairs", type=int, default=3)
    options = parser.parse_args()
    listed = json.loads(output_of([options.program, "plugins", "list", "--kind", "scheme", "--json"]))
    names = options.scheme or [one["name"] for one in listed if one["name"] != "none"]
    rows, left_out = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            found = measure(options.program, name, options.pairs)
            if found is None:
                left_out.append(name)
                continue
            rows.append((*found, name, planned(options.program, name, folder)))
            print(f"{name} {found[0]:.2f}", file=sys.stderr, flush=True)
    print("| scheme | step time / none's | peak MiB more than none's | peak / none's | plan counts |")
    print("| --- | --- | --- | --- | --- |")
    for time, low, high, more, peak, name, plan in sorted(rows):
        print(f"| {name} | {time:.2f} ({low:.2f} to {high:.2f}) | {round(more)} | {peak:.2f} | "
              f"{plan:.2f} |")
    if left_out:
        print(f"\nNot measured, as they need settings or another scheme: {', '.join(left_out)}.")


if __name__ == "__main__":
    main()
