#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""tokens.py: do tokens use the dimensions in which added sinusoids hardly move?

    python3 experiments/still-dimensions/tokens.py RUN TEXT >tokens-by-dimension.csv
    python3 experiments/still-dimensions/tokens.py tokens-by-dimension.csv

The first form reads the tables of tokens of the sums in RUN, before training and after it (`peat export`), and writes
for each dimension how far the sinusoids move in it (largest minus smallest value over positions 0 to 31, at scale 1) and
the variance of the tokens in it, each byte weighted by its frequency in the part of TEXT that is trained on. The second
prints from that file, with 95 % intervals over seeds (Student's t), how much more variance tokens have in a still
dimension (it moves by at most 0.5) than in a moving one, and the share of their variance in still dimensions.
Needs `peat` in PATH for the first form, and nothing beside Python.
"""
import array
import collections
import csv
import json
import math
import pathlib
import statistics
import struct
import subprocess
import sys
import tempfile

D, LENGTH, TRAINED = 48, 32, 0.9
T95 = {7: 2.364624}  # Student's t by degrees of freedom


def movement(i):
    """Of sine (even i) or cosine of frequency 10000^(-2 (i // 2) / D) over the positions of a window."""
    angle = [p * 10000 ** (-2 * (i // 2) / D) for p in range(LENGTH)]
    value = [math.cos(a) if i % 2 else math.sin(a) for a in angle]
    return max(value) - min(value)


def table(run, cell, *options):
    """token.weight [V, D] of a cell."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "cell.safetensors")
        subprocess.run(["peat", "export", run, cell, *options, "-o", str(path)], check=True)
        data = path.read_bytes()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    first, end = json.loads(data[8:start])["token.weight"]["data_offsets"]
    weight = array.array("f", data[start + first:start + end])
    return [weight[row:row + D] for row in range(0, len(weight), D)]


def variance(rows, share, i):
    """Of dimension i over tokens that occur with these shares."""
    mean = sum(p * rows[token][i] for token, p in share.items())
    return sum(p * (rows[token][i] - mean) ** 2 for token, p in share.items())


def measure(run, text):
    data = pathlib.Path(text).read_bytes()
    trained = data[:int(TRAINED * len(data))]
    share = {token: n / len(trained) for token, n in collections.Counter(trained).items()}
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["seed", "when", "dimension", "movement", "variance"])
    for plan in json.loads(pathlib.Path(run, "plan.json").read_text())["cells"]:
        if plan["axes"]["arm"] != "sum":
            continue
        for when, options in (("start", ["--start"]), ("end", [])):
            rows = table(run, plan["id"], *options)
            for i in range(D):
                out.writerow([plan["seed"], when, i, f"{movement(i):.6g}", f"{variance(rows, share, i):.6g}"])


def said(name, values):
    half = T95[len(values) - 1] * statistics.stdev(values) / len(values) ** 0.5
    print(f"{name:<42}  {statistics.mean(values):.3f} ± {half:.3f}  from {min(values):.3f} to {max(values):.3f}")


def summarize(path):
    cells = collections.defaultdict(list)
    with open(path) as file:
        for line in csv.DictReader(file):
            cells[line["when"], line["seed"]].append((float(line["movement"]) <= 0.5, float(line["variance"])))
    still = sum(s for s, _ in next(iter(cells.values())))
    print(f"{still} of {D} dimensions are still: {still / D:.3f} of the variance would be there by chance")
    for when, name in (("start", "before training"), ("end", "after training")):
        of = [[sum(v for s, v in cell if s == which) for which in (True, False)]
              for (at, _), cell in cells.items() if at == when]
        said(f"variance, still to moving, {name}", [a / still / (b / (D - still)) for a, b in of])
        said(f"share of still dimensions, {name}", [a / (a + b) for a, b in of])


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    if len(sys.argv) == 3:
        measure(*sys.argv[1:])
    else:
        summarize(sys.argv[1])


if __name__ == "__main__":
    main()
