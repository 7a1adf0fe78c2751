# SPDX-License-Identifier: MIT
"""Files that PEAT writes and reads: safetensors, exported cells, folders of cells."""
from __future__ import annotations

import json
import os

import torch

from peat import safetensors
from peat.reading import Refused, record

F64 = torch.float64


DTYPES = {"F32": torch.float32, "F64": F64, "I32": torch.int32}


def read_tensors(path):
    """The tensors of a safetensors file by name, and its metadata."""
    return tensors_of(safetensors.read(path), path)


def tensors_of(found, path):
    tensors = {}
    for name, (word, shape, part) in found[0].items():
        if word not in DTYPES:
            raise Refused(f"'{path}': tensor '{name}' has dtype '{word}'; {', '.join(DTYPES)} can be read")
        flat = torch.frombuffer(bytearray(part), dtype=DTYPES[word]) if part else torch.empty(0, dtype=DTYPES[word])
        tensors[name] = flat.reshape(shape)
    return tensors, found[1]


def arrays_of(tensors):
    """NumPy arrays in F32."""
    return {n: t.detach().to("cpu", torch.float32).contiguous().numpy() for n, t in tensors.items()}


def write_tensors(path, tensors, meta):
    """Tensors in F32."""
    safetensors.write(path, arrays_of(tensors), dict(meta, format="pt"))


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
    config, result = (record(os.path.join(path, name)) for name in ("config.json", "result.json"))
    tensors, _ = read_tensors(os.path.join(kept, steps[-1], "model.safetensors"))
    return tensors, config, result["resolved"], {"peat_step": steps[-1][5:]}


def part_of(tensors, prefix):
    return {n[len(prefix):]: t for n, t in tensors.items() if n.startswith(prefix)}
