# SPDX-License-Identifier: MIT
"""Files that PEAT writes and reads: safetensors, exported cells, folders of cells."""
from __future__ import annotations

import json
import os
import struct

import torch

F64 = torch.float64


class Refused(Exception):
    """A cell or a file that cannot be used; its text says why."""


DTYPES = {"F32": torch.float32, "F64": F64, "I32": torch.int32}


def read_tensors(path):
    """The tensors of a safetensors file by name, and its metadata."""
    with open(path, "rb") as f:
        data = f.read()
    try:
        n = struct.unpack("<Q", data[:8])[0]
        header = json.loads(data[8:8 + n])
        meta = header.pop("__metadata__", {})
        tensors = {}
        for name, entry in header.items():
            begin, end = entry["data_offsets"]
            part = bytearray(data[8 + n + begin:8 + n + end])
            dtype = DTYPES[entry["dtype"]]
            flat = torch.frombuffer(part, dtype=dtype) if part else torch.empty(0, dtype=dtype)
            tensors[name] = flat.reshape(entry["shape"])
    except (struct.error, KeyError, TypeError, ValueError, AttributeError) as e:
        raise Refused(f"'{path}' is not a safetensors file of PEAT: {e}") from None
    return tensors, meta


def write_tensors(path, tensors, meta):
    """Tensors in F32."""
    header, at = {"__metadata__": dict(meta, format="pt")}, 0
    for name, t in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(t.shape), "data_offsets": [at, at + 4 * t.numel()]}
        at += 4 * t.numel()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for t in tensors.values():
            f.write(bytes(t.detach().to("cpu", torch.float32).contiguous().view(-1).numpy().tobytes()))


def read_cell(path):
    """Tensors, configuration and resolved parameters of an exported file or of a cell's folder."""
    if not os.path.isdir(path):
        tensors, meta = read_tensors(path)
        if "peat_config" not in meta:
            raise Refused(f"'{path}' has no peat_config: it is not of `peat export`")
        return tensors, json.loads(meta["peat_config"]), json.loads(meta["peat_resolved"]), meta
    kept = os.path.join(path, "ckpt")
    steps = sorted(n for n in (os.listdir(kept) if os.path.isdir(kept) else ()) if n[:5] == "step-" and n[5:].isdigit())
    if not steps or not os.path.exists(os.path.join(path, "result.json")):
        raise Refused(f"'{path}' is not the folder of a trained cell: `peat export DIR CELL -o FILE` writes what it has")
    with open(os.path.join(path, "config.json")) as f:
        config = json.load(f)
    with open(os.path.join(path, "result.json")) as f:
        resolved = json.load(f)["resolved"]
    tensors, _ = read_tensors(os.path.join(kept, steps[-1], "model.safetensors"))
    return tensors, config, resolved, {"peat_step": steps[-1][5:]}


def part_of(tensors, prefix):
    return {n[len(prefix):]: t for n, t in tensors.items() if n.startswith(prefix)}
