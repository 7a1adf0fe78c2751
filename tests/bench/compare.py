#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares two programs that print a step time, run alternately, pair by pair.

Neighbouring runs see the same machine load, so ratios are steadier than times. Each
command prints one JSON object, on its last line, with the keys of `peat bench step --json`.

  tests/bench/compare.py --pairs 7 'build/bin/peat bench step --d 64 --json' 'OTHER COMMAND'

Prints per pair both values and their ratio (above 1: the first is faster), then the median ratio
with its spread, the peak memory of both, and the kernels that they used.
"""
import argparse
import json
import statistics
import subprocess
import sys


def run(command):
    done = subprocess.run(command, shell=True, stdout=subprocess.PIPE, text=True)
    lines = done.stdout.strip().splitlines()
    if done.returncode != 0 or not lines:
        sys.exit(f"compare.py: '{command}' ended with {done.returncode} and printed no result")
    return json.loads(lines[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("first")
    parser.add_argument("second")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--key", default="step_ms_median", help="what is compared")
    parser.add_argument("--quiet", action="store_true", help="the summary line alone")
    parser.add_argument("--d", type=int, nargs="+", default=[0], help="each in turn in the place of {d} in both commands")
    parser.add_argument("--bound", type=float, help="per cent: status 1 when the second is slower by more")
    options = parser.parse_args()
    medians = [compare(options, d) for d in options.d]
    sys.exit(options.bound is not None and max(medians) > 1 + options.bound / 100)


def kernels(result):
    """What a program computed with, where it says so."""
    return ", ".join(result[key] for key in ("gemm", "blas_core", "vectors") if key in result) or result["engine"]


def compare(options, d):
    """The median ratio of both commands, the second over the first."""
    first, second = (command.replace("{d}", str(d)) for command in (options.first, options.second))
    ratios, firsts, seconds, memory = [], [], [], [0.0, 0.0]
    for pair in range(options.pairs):
        # The order changes: no program always finds the warmer machine.
        if pair % 2 == 0:
            a, b = run(first), run(second)
        else:
            b, a = run(second), run(first)
        firsts.append(a[options.key])
        seconds.append(b[options.key])
        ratios.append(b[options.key] / a[options.key])
        memory = [max(memory[0], a["peak_rss_mib"]), max(memory[1], b["peak_rss_mib"])]
        if not options.quiet:
            print(f"{firsts[-1]:10.3f} {seconds[-1]:10.3f}   {ratios[-1]:.3f}", flush=True)
    print(f"{f'd {d}, ' if d else ''}{options.key}: {statistics.median(firsts):.3f} and {statistics.median(seconds):.3f}, "
          f"ratio {statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f}); "
          f"peak MiB {memory[0]:.0f} and {memory[1]:.0f}; {kernels(a)} and {kernels(b)}")
    return statistics.median(ratios)


if __name__ == "__main__":
    main()
