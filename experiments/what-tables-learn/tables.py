#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""tables.py: the tables of positions that experiment.yaml starts from, made of the tables that runs/tables learned.

    tables.py RUN FOLDER          needs peat in PATH and NumPy

For each seed, with the table of the next seed's cell, so that no model gets its own: other.sN (as it is), shuffled.sN (its
rows in another order, drawn from N) and five.sN (the mean of its rows and their five main directions)."""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

import numpy

NAME = "position.0.learned.table"


def table_of(run, seed):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "cell.safetensors")
        subprocess.run(["peat", "export", run, f"learned.sum.s{seed}", "-o", path], check=True)
        data = path.read_bytes()
    length, = struct.unpack_from("<Q", data)
    entry = json.loads(data[8:8 + length])[NAME]
    begin, end = entry["data_offsets"]
    kind = {"F32": "<f4", "F64": "<f8"}[entry["dtype"]]
    return numpy.frombuffer(data[8 + length + begin:8 + length + end], kind).reshape(entry["shape"]).astype("<f4")


def write(path, rows):
    head = json.dumps({NAME: {"dtype": "F32", "shape": list(rows.shape), "data_offsets": [0, rows.size * 4]}}).encode()
    head += b" " * (-len(head) % 8)
    path.write_bytes(struct.pack("<Q", len(head)) + head + numpy.ascontiguousarray(rows, "<f4").tobytes())


def five_directions(rows):
    mean = rows.mean(0)
    u, s, v = numpy.linalg.svd(rows - mean, full_matrices=False)
    return mean + (u[:, :5] * s[:5]) @ v[:5]


def main():
    run, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(exist_ok=True)
    seeds = sorted(json.loads(p.read_text())["seed"] for p in pathlib.Path(run).glob("cells/*/config.json"))
    for seed, donor in zip(seeds, seeds[1:] + seeds[:1]):
        rows = table_of(run, donor)
        write(folder / f"other.s{seed}.safetensors", rows)
        write(folder / f"shuffled.s{seed}.safetensors", rows[numpy.random.RandomState(seed).permutation(len(rows))])
        write(folder / f"five.s{seed}.safetensors", five_directions(rows))


if __name__ == "__main__":
    main()
