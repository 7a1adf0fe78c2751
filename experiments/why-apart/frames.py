#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""frames.py: the fixed matrices T and S of x = T e + S p, one file for each dose, arm and seed.

    python3 experiments/why-apart/frames.py FOLDER SEED...

FOLDER/DOSE/ARM.sN.safetensors holds combine.concat_project.weight [48, 48 + width of p] = [T, S], which multiplies the token e [48] beside
the position p. Where an arm gives tokens fewer than 48 dimensions the last columns of T are 0: what the table has there meets
nothing and is not trained. Random directions and turns are drawn for each seed. The positions' eight main directions are those
of the most variance over the 32 sinusoids of a window, which have 90 % of it. Plain Python.
"""
import json
import math
import pathlib
import random
import struct
import sys

WIDTH, POSITIONS, DIRECTIONS, SPLIT = 48, 32, 8, 10
DOSES = {"0.33": 1 / 3, "0.67": 2 / 3, "1": 1}


# ---- directions: lists of rows [WIDTH] ----

def dot(x, y):
    return math.fsum(a * b for a, b in zip(x, y))


def orthonormal(rows):
    """Gram-Schmidt, twice for the rounding."""
    found = []
    for row in rows:
        for axis in found + found:
            along = dot(row, axis)
            row = [x - along * a for x, a in zip(row, axis)]
        size = math.sqrt(dot(row, row))
        found.append([x / size for x in row])
    return found


def random_axes(draw, n):
    return orthonormal([[draw.gauss(0, 1) for _ in range(WIDTH)] for _ in range(n)])


def sinusoids():
    angles = [[p * 10000 ** (-2 * i / WIDTH) for i in range(WIDTH // 2)] for p in range(POSITIONS)]
    return [[f(a) for a in row for f in (math.sin, math.cos)] for row in angles]


def main_axes(rows):
    """Of the rows' variance, by orthogonal iteration."""
    mean = [math.fsum(column) / len(rows) for column in zip(*rows)]
    apart = [[x - m for x, m in zip(row, mean)] for row in rows]
    axes = random_axes(random.Random(1), DIRECTIONS)
    for _ in range(100):
        axes = orthonormal([[dot(along, column) for column in zip(*apart)]
                            for along in ([dot(row, axis) for row in apart] for axis in axes)])
    return axes


# ---- matrices: lists of WIDTH rows ----

def columns(axes, n):
    """The axes are the first of n columns; the others are 0."""
    return [[axis[i] for axis in axes] + [0.0] * (n - len(axes)) for i in range(WIDTH)]


def times(factor, rows):
    return [[factor * x for x in row] for row in rows]


def without(axes, dose):
    """I - dose (sum of axis axis')"""
    return [[(i == j) - dose * math.fsum(axis[i] * axis[j] for axis in axes) for j in range(WIDTH)] for i in range(WIDTH)]


def arms(seed, main):
    """(T, S) by dose and arm."""
    draw = random.Random(seed)
    one = columns([[float(i == j) for i in range(WIDTH)] for j in range(WIDTH)], WIDTH)
    turn, of_ten, placebo = random_axes(draw, WIDTH), random_axes(draw, SPLIT), random_axes(draw, DIRECTIONS)
    tokens, tenth = WIDTH - SPLIT, columns(one[-SPLIT:], SPLIT)
    split, smaller = (columns(one[:tokens], WIDTH), tenth), times(1 / math.sqrt(2), one)
    found = {("1", arm): frames for arm, frames in {
        "sum": (one, one),
        "sum-smaller": (smaller, smaller),
        "over": (one, tenth),
        "over-turned": (one, columns(of_ten, SPLIT)),
        "split": split,
        "split-turned": (columns(turn[:tokens], WIDTH), columns(turn[tokens:], SPLIT)),
        "split-larger": tuple(times(math.sqrt(2), part) for part in split),
        "narrow": (columns(turn[:tokens], WIDTH), one),
    }.items()}
    for label, dose in DOSES.items():
        found[label, "without"] = without(main, dose), one
        found[label, "random"] = without(placebo, dose), one
    return found


def write(path, rows):
    data = b"".join(struct.pack(f"<{len(row)}f", *row) for row in rows)
    head = json.dumps({"combine.concat_project.weight": {"dtype": "F32", "shape": [len(rows), len(rows[0])],
                                                 "data_offsets": [0, len(data)]}}).encode()
    head += b" " * (-len(head) % 8)
    path.write_bytes(struct.pack("<Q", len(head)) + head + data)


def main():
    if len(sys.argv) < 3 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    folder, axes = pathlib.Path(sys.argv[1]), main_axes(sinusoids())
    for dose in DOSES:
        (folder / dose).mkdir(parents=True)
    for seed in sys.argv[2:]:
        for (dose, arm), (of_token, of_position) in arms(int(seed), axes).items():
            write(folder / dose / f"{arm}.s{seed}.safetensors", [t + p for t, p in zip(of_token, of_position)])


if __name__ == "__main__":
    main()
