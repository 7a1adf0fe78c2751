#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""between_rates.py: would rates between those that were tried change the gap between split and sum?

    python3 experiments/settle/between_rates.py AXIS CSV...    AXIS: train.lr or rate

Through the mean losses of the seeds that choose, at the best rate and its neighbours, goes a parabola in log2(rate). For each
pair of split and sum: the change of split - sum if both had the loss of their parabola's lowest point, and the ratio of the
rates there. Needs nothing beside Python.
"""
import collections
import csv
import math
import statistics
import sys


def tried(path, axis):
    """By row and rate: the losses of the seeds that choose."""
    losses = collections.defaultdict(lambda: collections.defaultdict(list))
    with open(path) as file:
        for line in csv.DictReader(file):
            if (line["best_over"], line["split"], line["metric"]) == ("chooses", "valid", "bpb"):
                row = line["positions"], line["arm"], line.get("train.steps") or line["width"]
                losses[row][float(line[axis])].append(float(line["value"]))
    return losses


def lowest(losses):
    """The rate at the parabola's lowest point between the neighbours, and its loss minus that of the best rate."""
    loss = {rate: statistics.mean(of) for rate, of in losses.items()}
    rates = sorted(loss)
    best = min(rates, key=loss.get)
    i = min(max(rates.index(best), 1), len(rates) - 2)
    before, at, after = (loss[rate] for rate in rates[i - 1:i + 2])
    bend, slope = (before - 2 * at + after) / 2, (after - before) / 2
    t = max(-1, min(1, -slope / (2 * bend))) if bend > 0 else 0
    return rates[i] * (rates[i + 1] / rates[i]) ** t, at + slope * t + bend * t * t - loss[best]


def main():
    if len(sys.argv) < 3 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    print(f"{'file':<32}  {'split and sum of':<18}  change  ratio of rates")
    for path in sys.argv[2:]:
        losses = tried(path, sys.argv[1])
        for row in losses:
            other = row[0], "sum", row[2]
            if row[1] == "split" and other in losses:
                (rate, change), (of_sum, change_of_sum) = lowest(losses[row]), lowest(losses[other])
                print(f"{path[-32:]:<32}  {row[0] + ' ' + row[2]:<18}  {change - change_of_sum:+.4f}  {rate / of_sum:.2f}")


if __name__ == "__main__":
    main()
