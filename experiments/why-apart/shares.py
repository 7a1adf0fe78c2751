#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""shares.py: what share of the gap between sum and split an arm of why-apart closes.

    python3 experiments/why-apart/shares.py CSV...    one csv file for each text

The rule, written before the first cell was trained:
  * Of each seed, gap = sum - split and closed = sum - ARM, in bits per byte of the test part; with several texts the mean of
    each over the texts. share = (mean of closed over seeds) / (mean of gap over seeds).
  * Its interval are all r for which closed - r gap is not told from 0 by Student's t over seeds at 5 % on each side (Fieller
    1954). Where the gap itself is not told from 0 there is no share.
  * An arm explains half of the gap or more where the whole interval is above 0.5, less than half where it is below 0.5;
    else that is undecided.
  * The mediated share is that of `without - random` at dose 1 after 6000 steps over all texts: what taking the tokens' part in
    the positions' directions out closes, less what as many random directions do. All other lines describe.
Needs nothing beside Python.
"""
import csv
import math
import statistics
import sys

T90 = {7: 1.894579}  # Student's t by degrees of freedom


def losses(path):
    """By steps, arm and dose: bits per byte of the test part by seed."""
    value = {}
    with open(path) as file:
        for line in csv.DictReader(file):
            if (line["best_over"], line["split"], line["metric"]) == ("reported", "test", "bpb"):
                row = int(line["train.steps"]), line["arm"], line["dose"]
                value.setdefault(row, {})[line["seed"]] = float(line["value"])
    return value


def minus(texts, a, b):
    """By seed, a - b, the mean over texts."""
    return [statistics.mean(of[a][seed] - of[b][seed] for of in texts) for seed in sorted(texts[0][a])]


def share(closed, gap):
    """Of the means, with both ends of Fieller's interval; None where the gap is not told from 0."""
    n, c, g = len(gap), statistics.mean(closed), statistics.mean(gap)
    k = T90[n - 1] ** 2 / n
    both = sum((x - c) * (y - g) for x, y in zip(closed, gap)) / (n - 1)
    square, middle = g * g - k * statistics.variance(gap), c * g - k * both
    if square <= 0:
        return None
    half = math.sqrt(middle**2 - square * (c * c - k * statistics.variance(closed)))
    return c / g, (middle - half) / square, (middle + half) / square


def verdict(low, high):
    return "half or more" if low > 0.5 else "less than half" if high < 0.5 else "undecided"


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    texts = [losses(path) for path in sys.argv[1:]]
    print(f"{'steps':<5}  {'arm':<16}  {'dose':<4}  {'share':>7}  {'90 % interval':<18}  of the gap")
    for steps in sorted({steps for steps, _, _ in texts[0]}):
        start = steps, "sum", "1"
        gap = minus(texts, start, (steps, "split", "1"))
        rows = [(arm, dose, start, (steps, arm, dose)) for n, arm, dose in texts[0] if n == steps and arm not in ("sum", "split")]
        rows += [("without - random", dose, (steps, "random", dose), (steps, "without", dose))
                 for n, arm, dose in texts[0] if (n, arm) == (steps, "without")]
        for arm, dose, a, b in rows:
            found = share(minus(texts, a, b), gap)
            said = f"{found[0]:+7.3f}  {f'{found[1]:+.3f} to {found[2]:+.3f}':<18}  {verdict(*found[1:])}" if found else "no gap"
            print(f"{steps:<5}  {arm:<16}  {dose:<4}  {said}")


if __name__ == "__main__":
    main()
