#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Weights of a model with `sum` that computes what a concatenation did.

  sum_of_concat.py FROM TO      FROM: what `peat export` wrote of a cell with concat_split or
                                concat_overlap; TO: a file for model.start
  sum_of_concat.py --run DIR TO of every cell of a run, as TO/AFTER.sSEED.safetensors, where AFTER
                                are the labels behind the combination

[x; p] = [x; 0] + [0; p]: each table is filled up with zeros to the width of the model, where the
other streams are. The model that starts so needs the same scheme, `combine: sum`, and the same
settings of `model`.
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

SCHEMES = 16  # more than a model can have


def read(path):
    with open(path, "rb") as f:
        header = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
        data = f.read()
    config = json.loads(header.pop("__metadata__")["peat_config"])
    return config, {name: (t["dtype"], t["shape"], data[slice(*t["data_offsets"])])
                    for name, t in header.items()}


def write(path, tensors):
    header, data = {}, b""
    for name, (dtype, shape, part) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


def stream_of(name):
    """0: tokens; 1, 2, ...: schemes; the last: segments; None: not a table of a stream."""
    part = name.removeprefix("encoder.").split(".")
    if name.removeprefix("encoder.") in ("token.weight", "class.token"):
        return 0
    if part[0] == "segment":
        return SCHEMES
    return int(part[1]) + 1 if part[0] == "position" else None


def offsets(path, config, tensors):
    """Where each stream begins, by its number."""
    width = config["model"]["d_model"]
    combine = config["position"]["combine"]
    if combine["plugin"] not in ("concat_split", "concat_overlap"):
        sys.exit(f"{path}: the combination is {combine['plugin']}, not concat_split or concat_overlap")
    overlaps = combine["plugin"] == "concat_overlap"
    tables = {stream_of(name): shape[1] for name, (_, shape, _) in sorted(tensors.items())
              if stream_of(name) is not None and len(shape) == 2 and shape[1] < width}
    begin, end = {}, 0
    for stream in sorted(tables):
        begin[stream] = tables[0] - combine["shared"] if overlaps and stream else end
        end = begin[stream] + tables[stream]
    if end != width:
        sys.exit(f"{path}: the tables end at {end} of {width} dimensions; is a stream without a table?")
    return begin


def filled_up(table, begin, width):
    dtype, (rows, own), data = table
    size = len(data) // (rows * own)
    before, after = bytes(begin * size), bytes((width - own - begin) * size)
    return dtype, [rows, width], b"".join(
        before + data[r * own * size:(r + 1) * own * size] + after for r in range(rows))


def exported(run, cell):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cell.safetensors")
        subprocess.run(["peat", "export", run, cell, "-o", path], check=True, stdout=subprocess.DEVNULL)
        return read(path)


def as_sum(path, config, tensors):
    begin, width = offsets(path, config, tensors), config["model"]["d_model"]
    for name, table in tensors.items():
        stream = stream_of(name)
        if stream in begin and len(table[1]) == 2 and table[1][1] < width:
            tensors[name] = filled_up(table, begin[stream], width)
    return tensors


def convert_run(run, folder):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(run, "plan.json")) as f:
        cells = json.load(f)["cells"]
    for cell in cells:
        name = ".".join(cell["label"].split(".")[2:])
        write(os.path.join(folder, name + ".safetensors"), as_sum(cell["label"], *exported(run, cell["label"])))


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "--run":
        convert_run(sys.argv[2], sys.argv[3])
    elif len(sys.argv) == 3:
        write(sys.argv[2], as_sum(sys.argv[1], *read(sys.argv[1])))
    else:
        sys.exit(__doc__.strip())
