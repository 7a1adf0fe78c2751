#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How a training step scales over T, d, layers and threads, one at a time.

  tests/bench/scaling.py build/bin/peat -o docs/performance

Runs `peat bench step` at each point, each axis twice and alternately, so a slow minute of the
machine does not hit only one end, keeps the better time, prints Markdown tables and writes
DIR/scaling.csv, and DIR/scaling.svg with matplotlib where it is installed.
"""
import argparse
import csv
import importlib.util
import json
import os
import subprocess
import sys

BASE = {"d": 128, "heads": 4, "layers": 4, "T": 128, "B": 16, "threads": 1}
TOKENS = 2048  # of a batch, whatever T is
AXES = {
    "T": [64, 128, 256, 512, 1024, 2048],
    "d": [64, 128, 256, 512, 768],
    "layers": [1, 2, 4, 8, 16],
    "threads": [1, 2],
}


def point(axis, value):
    sizes = dict(BASE, **{axis: value})
    if axis == "T":
        sizes["B"] = TOKENS // value
    if axis == "d":
        sizes["heads"] = max(4, value // 64)
    return sizes


def measure(program, sizes):
    words = [word for key, value in sizes.items() for word in (f"--{key}", str(value))]
    steps = "6" if sizes["d"] >= 512 or sizes["T"] >= 1024 else "12"
    command = [program, "bench", "step", *words, "--steps", steps, "--warmup", "2", "--json"]
    environment = dict(os.environ, GOMP_SPINCOUNT="1000")
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment)
    if done.returncode != 0:
        sys.exit(f"scaling.py: '{' '.join(command)}' ended with {done.returncode}")
    return json.loads(done.stdout)


def measure_axis(program, axis):
    best = {}
    for values in (AXES[axis], AXES[axis][::-1]):
        for value in values:
            result = measure(program, point(axis, value))
            if value not in best or result["step_ms_median"] < best[value]["step_ms_median"]:
                best[value] = result
    return [best[value] for value in AXES[axis]]


def print_table(axis, results):
    print(f"\n| {axis} | ms | tokens/s | GFLOP/s | of sgemm | peak MiB |")
    print("| --- | --- | --- | --- | --- | --- |")
    for r in results:
        print(f"| {r[axis]} | {r['step_ms_median']:.1f} | {r['tokens_per_s']:.0f} | "
              f"{r['gflops']:.0f} | {r['fraction_of_sgemm']:.2f} | {r['peak_rss_mib']:.0f} |",
              flush=True)


def plot(directory, data):
    """scaling.svg of scaling.csv."""
    import matplotlib
    from matplotlib.figure import Figure
    with open(data) as file:
        rows = list(csv.DictReader(file))
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "scaling", "font.size": 8}):
        made = Figure(figsize=(6.75, 4.6), layout="constrained")
        for ax, (axis, values) in zip(made.subplots(2, 2).flat, AXES.items()):
            own = [row for row in rows if row["axis"] == axis]
            ax.loglog([int(row["value"]) for row in own], [float(row["ms"]) for row in own], "o-", markersize=3, base=2)
            ax.set(title=f"over {axis}", ylabel="ms per step", xticks=values, xticklabels=values)
            ax.grid(True)
            ax.yaxis.set_major_formatter("{x:g}")
        made.savefig(os.path.join(directory, "scaling.svg"), metadata={"Date": None, "Creator": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("-o", "--output", required=True, help="directory for csv and svg")
    options = parser.parse_args()
    os.makedirs(options.output, exist_ok=True)
    data = os.path.join(options.output, "scaling.csv")
    with open(data, "w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["axis", "value", "ms", "tokens_per_s", "gflops", "of_sgemm", "peak_mib"])
        for axis in AXES:
            results = measure_axis(options.program, axis)
            print_table(axis, results)
            for r in results:
                rows.writerow([axis, r[axis], r["step_ms_median"], r["tokens_per_s"], r["gflops"],
                               r["fraction_of_sgemm"], r["peak_rss_mib"]])
    if importlib.util.find_spec("matplotlib"):
        plot(options.output, data)


if __name__ == "__main__":
    main()
