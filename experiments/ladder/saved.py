#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""saved.py: how much training a split saves, by size and training.

    python3 experiments/ladder/saved.py CSV...    the csv files of all shards

The rule, written before the first cell was trained:
  * Of each seed that has sum and split of a kind of positions at all ends of a size: through the sum's losses (bits per byte of
    the test part) at three ends that follow each other goes one power law, loss = a + b bytes^-c. It is solved for the bytes at
    which the sum has the split's loss; saved = log(these bytes / the split's bytes). The three ends begin with the one in
    question, or are the last three. At the last end the law goes on beyond what was trained, which is marked.
  * A seed whose three losses are on no power law that falls ever more slowly has no number, and then its row has none.
  * Intervals are Student's t over seeds, 90 %. `over size` is the least-squares slope of each seed's saved over log10 of the size
    at 20 bytes for each parameter, of the seeds that all sizes have; `over training` that over log2 of the end at one size.
  * A split of sinusoids saves a tenth where the interval at 2.08M and 20 is above 0.10. The saving does not change with size
    where the interval of the slope is within 0.10, and changes where it leaves out 0 and is not within 0.10.
Needs nothing beside Python.
"""
import csv
import math
import statistics
import sys

T90 = {2: 2.919986, 4: 2.131847, 7: 1.894579}  # Student's t by degrees of freedom
RATIO = 4  # of an end to the one before
SIZES = {"0.11M": 110592, "0.31M": 307200, "0.79M": 786432, "2.08M": 2076672}


def losses(paths):
    """By positions, size and seed: {arm: {end: bits per byte of the test part}}."""
    value = {}
    for path in paths:
        with open(path) as file:
            for line in csv.DictReader(file):
                if (line["split"], line["metric"], line["status"]) == ("test", "bpb", "done") and line["arm"] in ("sum", "split"):
                    of = value.setdefault((line["positions"], line["size"], line["seed"]), {"sum": {}, "split": {}})
                    of[line["arm"]][float(line["end"])] = float(line["value"])
    return value


def saved(total, split, end):
    """total: the sum's losses by end. None where they are on no such law."""
    ends = sorted(total)
    i = min(ends.index(end), len(ends) - 3)
    first, middle, last = (total[e] for e in ends[i:i + 3])
    fall = (middle - last) / (first - middle) if first > middle else 0  # RATIO^-c
    if not 0 < fall < 1:
        return None
    a = last - (middle - last) * fall / (1 - fall)
    left = (split - a) / (first - a)  # (bytes / those of the first end)^-c
    return math.log(left) / math.log(fall) * math.log(RATIO) - math.log(end / ends[i]) if left > 0 else None


def rows(value):
    """By positions, size and end: {seed: saved}."""
    found = {}
    for (positions, size, seed), of in value.items():
        if of["sum"] and of["sum"].keys() == of["split"].keys():
            for end in of["sum"]:
                found.setdefault((positions, size, end), {})[seed] = saved(of["sum"], of["split"][end], end)
    return found


def slope(x, y):
    mean = statistics.mean(x)
    return sum((a - mean) * b for a, b in zip(x, y)) / sum((a - mean) ** 2 for a in x)


def slopes(x, by_seed):
    """Of the seeds that all have; by_seed: a {seed: saved} for each x."""
    return [slope(x, [of[seed] for of in by_seed]) for seed in sorted(set.intersection(*map(set, by_seed)))]


def said(name, values):
    if None in values or len(values) - 1 not in T90:
        return f"{name:<34}  no number, {len(values)} seeds"
    half = T90[len(values) - 1] * statistics.stdev(values) / len(values) ** 0.5
    return f"{name:<34}  {statistics.mean(values):+.3f} ± {half:.3f}  {len(values)} seeds"


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    found = rows(losses(sys.argv[1:]))
    for positions, size, end in sorted(found):
        beyond = "" if (positions, size, end * RATIO) in found else "  beyond"
        print(said(f"{positions} {size} {end:g}", list(found[positions, size, end].values())) + beyond)
    for positions in sorted({p for p, _, _ in found}):
        at = {size: found[positions, size, 20] for size in SIZES if (positions, size, 20) in found}
        if len(at) > 2 and not any(None in of.values() for of in at.values()):
            print(said(f"{positions} over size", slopes([math.log10(SIZES[size]) for size in at], list(at.values()))))
        for size in SIZES:
            of = {end: found[key] for key in sorted(found) if key[:2] == (positions, size) for end in key[2:]}
            if len(of) > 2 and not any(None in by_seed.values() for by_seed in of.values()):
                print(said(f"{positions} {size} over training", slopes([math.log2(end) for end in of], list(of.values()))))


if __name__ == "__main__":
    main()
