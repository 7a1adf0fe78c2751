#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""in_steps.py: how many steps a sum needs for the loss of a split, in multiples of the split's.

    python3 experiments/settle/in_steps.py results.csv

Through the mean losses of the sum after 1500, 6000 and 24000 steps goes one power law, loss = a + b steps^-c; it is solved for
the steps at which the sum has the mean loss of the split. `chord` is a straight line in log(steps) between two lengths instead,
where the split's loss lies between them or beyond the last. Intervals are the 5 % and 95 % quantiles of 2000 bootstrap samples
of the seeds. Nobody claimed this before the run, and behind 24000 steps nothing was trained.
Needs nothing beside Python.
"""
import csv
import math
import random
import statistics
import sys

STEPS = (1500, 6000, 24000)
SAMPLES = 2000


def losses(path):
    """By positions, arm and steps: bits per byte of the test part by seed."""
    value = {}
    with open(path) as file:
        for line in csv.DictReader(file):
            if (line["best_over"], line["split"], line["metric"]) == ("reported", "test", "bpb"):
                row = line["positions"], line["arm"], int(line["train.steps"])
                value.setdefault(row, {})[line["seed"]] = float(line["value"])
    return value


def power_law(loss):
    """The steps at which a + b steps^-c, which goes through three losses at steps of equal ratio, has a loss."""
    first, middle, last = loss
    ratio = (middle - last) / (first - middle)  # (steps' ratio)^-c
    c = -math.log(ratio) / math.log(STEPS[1] / STEPS[0])
    b = (first - middle) / (STEPS[0] ** -c - STEPS[1] ** -c)
    a = first - b * STEPS[0] ** -c
    return lambda wanted: ((wanted - a) / b) ** (-1 / c)


def chord(loss):
    """The same by straight lines in log(steps); the last one goes on."""
    def steps(wanted):
        k = 0 if wanted > loss[1] else 1
        slope = (loss[k + 1] - loss[k]) / math.log(STEPS[k + 1] / STEPS[k])
        return STEPS[k] * math.exp((wanted - loss[k]) / slope)
    return steps


def factors(value, positions, seeds, curve):
    """At each length, the steps of the sum over those of the split."""
    mean = {arm: [statistics.mean(value[positions, arm, n][s] for s in seeds) for n in STEPS] for arm in ("sum", "split")}
    steps = curve(mean["sum"])
    return [steps(loss) / n for loss, n in zip(mean["split"], STEPS)]


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    value, draw = losses(sys.argv[1]), random.Random(1)
    print("positions    curve      " + "".join(f"{n:>22}" for n in STEPS))
    for positions in ("sinusoidal", "learned"):
        seeds = sorted(value[positions, "sum", STEPS[0]])
        samples = [[draw.choice(seeds) for _ in seeds] for _ in range(SAMPLES)]
        for name, curve in (("power law", power_law), ("chord", chord)):
            drawn = sorted_columns([factors(value, positions, sample, curve) for sample in samples])
            row = [f"{f:.2f} [{of[SAMPLES // 20]:.2f}, {of[-SAMPLES // 20]:.2f}]"
                   for f, of in zip(factors(value, positions, seeds, curve), drawn)]
            print(f"{positions:<11}  {name:<11}" + "".join(f"{text:>22}" for text in row))


def sorted_columns(rows):
    return [sorted(column) for column in zip(*rows)]


if __name__ == "__main__":
    main()
