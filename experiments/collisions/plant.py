#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""plant.py: tables in which two sums of token and position are equal, one file for each seed.

    plant.py FOLDER SEED...

FOLDER/planted.sN.safetensors and FOLDER/drawn.sN.safetensors hold token.weight [19, 32], drawn with deviation
1/sqrt(32), and position.0.learned.table [16, 32], the sinusoids of experiment.yaml. In the planted ones
bar = foo + p - q and bar_2 = foo_2 + p - q (ids 3 to 6) with p and q the sinusoids of places 1 and 2, so that the
sums at these places are equal for either pair. In the drawn ones nothing is planted. Plain Python, the same bytes
everywhere that has IEEE doubles."""
import json
import math
import random
import struct
import sys

WIDTH, TOKENS, PLACES, SCALE = 32, 19, 16, math.sqrt(2)
ENTERS = math.sqrt(WIDTH)  # model.embed_scale, which both tables meet
FOO, FOO_2, BAR, BAR_2 = 3, 4, 5, 6


def sinusoid(place):
    """As scheme sinusoidal with scale sqrt(2)."""
    angles = [place * 10000 ** (-2 * i / WIDTH) for i in range(WIDTH // 2)]
    return [SCALE * f(a) for a in angles for f in (math.sin, math.cos)]


def tables(seed, planted):
    draw = random.Random(seed)
    token = [[draw.gauss(0, 1 / ENTERS) for _ in range(WIDTH)] for _ in range(TOKENS)]
    if planted:
        apart = [(p - q) / ENTERS for p, q in zip(sinusoid(1), sinusoid(2))]
        for bar, foo in ((BAR, FOO), (BAR_2, FOO_2)):
            token[bar] = [x + d for x, d in zip(token[foo], apart)]
    return {"token.weight": token,
            "position.0.learned.table": [[x / ENTERS for x in sinusoid(place)] for place in range(PLACES)]}


def write(path, tensors):
    head, data = {}, b""
    for name, rows in tensors.items():
        flat = [x for row in rows for x in row]
        begin, data = len(data), data + struct.pack(f"<{len(flat)}f", *flat)
        head[name] = {"dtype": "F32", "shape": [len(rows), len(rows[0])], "data_offsets": [begin, len(data)]}
    head = json.dumps(head).encode()
    head += b" " * (-len(head) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head + data)


def main():
    folder, seeds = sys.argv[1], [int(seed) for seed in sys.argv[2:]]
    for seed in seeds:
        for name, planted in (("planted", True), ("drawn", False)):
            write(f"{folder}/{name}.s{seed}.safetensors", tables(seed, planted))


if __name__ == "__main__":
    main()
