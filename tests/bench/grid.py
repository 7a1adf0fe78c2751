#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A grid of many small cells against as many processes of another program, two at a time.

  tests/bench/grid.py build/bin/peat 'OTHER COMMAND THAT TRAINS ONE CELL' --text FILE --times 3

PEAT trains 24 cells of d 128, 4 layers, 4 heads, T 128, batch 16, 50 steps with `run -j 2 -t 1`; the
other command runs 24 times, two at a time, and should do the same 50 steps. Start-up counts on both
sides. Prints both durations and their ratio for each time, then the median.
"""
import argparse
import concurrent.futures
import os
import statistics
import subprocess
import sys
import tempfile
import time

EXPERIMENT = """version: 1
name: grid
defaults:
  task: {{plugin: text, path: {text}}}
  model: {{d_model: 128, n_layer: 4, n_head: 4}}
  train: {{steps: 50, batch: 16, seq_len: 128}}
  eval: {{every: 50, lengths: [128], tokens: 2048}}
matrix:
  position.scheme: [learned, sinusoidal, rotary, alibi]
seeds: 6
"""
CELLS, AT_ONCE = 24, 2


def check(code, what):
    if code != 0:
        sys.exit(f"grid.py: {what} ended with {code}")


def time_peat(program, text):
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "grid.yaml")
        with open(path, "w") as file:
            file.write(EXPERIMENT.format(text=os.path.abspath(text)))
        command = [program, "run", path, "-o", os.path.join(directory, "run"), "-j", str(AT_ONCE)]
        start = time.monotonic()
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        check(done.returncode, "peat run")
        return time.monotonic() - start


def time_other(command):
    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        run = lambda _: subprocess.run(command, shell=True, stdout=subprocess.DEVNULL).returncode
        for code in pool.map(run, range(CELLS)):
            check(code, f"'{command}'")
    return time.monotonic() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("other")
    parser.add_argument("--text", required=True, help="a file of at least 100 KB")
    parser.add_argument("--times", type=int, default=3)
    options = parser.parse_args()
    ratios = []
    for _ in range(options.times):
        ours, other = time_peat(options.program, options.text), time_other(options.other)
        ratios.append(other / ours)
        print(f"{ours:8.1f} s {other:8.1f} s   {ratios[-1]:.2f}", flush=True)
    print(f"ratio {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")


if __name__ == "__main__":
    main()
