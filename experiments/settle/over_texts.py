#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""over_texts.py: settle's three claims over all texts, which one run's claims cannot say.

    python3 experiments/settle/over_texts.py RUN...

Of each seed the mean over the runs; then Student's t over seeds, one-sided, with Holm's correction over the three
claims. Prints the verdicts with 90 % intervals. Needs `peat` in PATH and nothing beside Python.
"""
import csv
import math
import statistics
import subprocess
import sys

ALPHA = 0.05
COLUMNS = "positions,arm,train.steps,seed,best_over,metric,split,value"


def splitting(run):
    """split - sum in bits per byte of the test part, by (positions, steps) and seed."""
    text = subprocess.run(["peat", "results", run, "-f", "csv", "--columns", COLUMNS],
                          check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout
    value = {(line["positions"], line["train.steps"], line["arm"], line["seed"]): float(line["value"])
             for line in csv.DictReader(text.splitlines())
             if (line["best_over"], line["metric"], line["split"]) == ("reported", "bpb", "test")}
    return {(p, steps, seed): value[p, steps, "split", seed] - value[p, steps, "sum", seed]
            for p, steps, arm, seed in value if arm == "split"}


def over_texts(runs, of):
    """By seed, the mean over runs of what `of` takes from a run and a seed."""
    seeds = sorted({seed for _, _, seed in runs[0]})
    return [statistics.mean(of(run, seed) for run in runs) for seed in seeds]


def below(t, df):
    """P(T < t) of Student's t with an odd df (Abramowitz and Stegun 1964, 26.7.3)."""
    angle = math.atan(t / math.sqrt(df))
    term, total = math.cos(angle), 0.0
    for k in range(3, df + 1, 2):
        total += term
        term *= math.cos(angle) ** 2 * (k - 1) / k
    return 0.5 + (angle + math.sin(angle) * total) / math.pi


def quantile(p, df):
    low, high = 0.0, 1000.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle, df) < p else (low, middle)
    return low


def holm(p):
    """Adjusted p values, in the order of p."""
    adjusted, largest = [0.0] * len(p), 0.0
    for rank, i in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        largest = max(largest, min(1.0, (len(p) - rank) * p[i]))
        adjusted[i] = largest
    return adjusted


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    runs = [splitting(run) for run in sys.argv[1:]]
    claims = {
        "a split of sinusoids is better at 6000 steps": lambda r, s: r["sinusoidal", "6000", s],
        "a split of learned positions is better at 6000 steps": lambda r, s: r["learned", "6000", s],
        "the gap of sinusoids is smaller at 6000 steps than at 1500":
            lambda r, s: r["sinusoidal", "1500", s] - r["sinusoidal", "6000", s],
    }
    effects, p, opposite = [], [], []
    for of in claims.values():
        x = over_texts(runs, of)
        mean, error, df = statistics.mean(x), statistics.stdev(x) / math.sqrt(len(x)), len(x) - 1
        if df % 2 == 0:
            sys.exit(f"over_texts.py: the runs have {len(x)} seeds, and t is computed for an even number of them")
        effects.append((mean, quantile(1 - ALPHA, df) * error, len(x)))
        p.append(below(mean / error, df))
        opposite.append(below(-mean / error, df))
    print(f"{'claim':<58}  {'verdict':<9}  {'effect':>17}  p_holm  n")
    for name, (mean, half, n), own, other in zip(claims, effects, holm(p), holm(opposite)):
        verdict = "holds" if own < ALPHA else "fails" if other < ALPHA else "undecided"
        print(f"{name:<58}  {verdict:<9}  {mean:+.4f} ± {half:.4f}  {own:>6.2g}  {n}")


if __name__ == "__main__":
    main()
