# SPDX-License-Identifier: MIT
"""The tables of a cell's scheme and combination: with the trained weights, and before training."""
from __future__ import annotations

import numpy as np

from ..diagnose.subject import Subject
from .table import Table

WINDOWS_MOST = 64


def cell(folder: str, start: bool = False, program: str | None = None) -> dict:
    """{name: Table}: the stream of each scheme, positions and tokens in the model's input, the bias of each layer that
    differs from the layer before, and every node named for inspection; on the first window, where windows differ."""
    s, found = Subject(folder, batches=1, program=program, start=start), {}
    x, about = s.run(only="*.attention*.bias,probe.*", rows=s.N)

    def add(name, table):
        own = next(n for n in (name, *(f"{name}.{k}" for k in range(1, 1000))) if n not in found)
        found[own] = table
    for name in s.streams:
        if name.startswith("stream.position."):
            plugin = s.schemes[int(name.split(".")[2])]["id"]
            add(plugin, Table("stream", s.x[name][:1], meaning=f"the vector that {plugin} gives each position"))
    t = s.tables
    if not t.missing:
        add("position", Table("position", t.position[None], meaning="each position in the model's input"))
        texts = s.about.get("peat_tokens") or {}
        labels = [f"‘{texts[i]}’" if texts and texts[i] is not None else str(i) for i in t.token_id]
        add("token", Table("token", t.token[None], rows=labels, row_name="token",
                           meaning="each token in the model's input, in the order of the windows"))
    for layer in range(s.L):
        own = [x[name][0] for name in sorted(x) if name.startswith(f"block.{layer}.attention") and name.endswith(".bias")]
        if own:
            bias = Table("bias", _whole(x, layer, s), heads=True, meaning="what schemes add to the logits, by query and key")
            last = next(reversed(found.values()), None)
            if not (last and last.what == "bias" and np.array_equal(last.values, bias.values)):
                add(f"bias.{layer}", bias)
    for name in about["probes"]:
        table = _node(name, x[name], s, 0 in about["shared"].get(name, ()))
        if table and not any(table.what == of.what and np.array_equal(table.values, of.values) for of in found.values()):
            add(name.removeprefix("probe."), table)
    return found


def _whole(x, layer, s):
    """The biases of all heads; 0 where no scheme adds one."""
    out = np.zeros((s.H, s.T, s.T))
    name = f"block.{layer}.attention"
    for key, value in x.items():
        if key == f"{name}.bias":
            out[:] = value[0]
        elif key.startswith(f"{name}.heads.") and key.endswith(".bias"):
            begin, end = key.split(".")[4].split("-")
            out[int(begin):int(end)] = value[0]
    return out


def _node(name, values, s, shared):
    """One number for each place: windows down, positions across. Else the last two axes of the first window."""
    plugin, what = name.split(".")[1:3]
    if values.ndim < 2:
        return None
    meaning = f"{plugin} names it for inspection"
    rows = values.ndim > 2 and len(values) == s.N
    if rows and values.shape[1:] == (s.T, 1) and s.N > 1 and not shared:
        return Table(what, values[None, :WINDOWS_MOST, :, 0], row_name="window", column_name="position", meaning=meaning)
    one = values[0] if values.ndim > 2 else values
    sheets = one.reshape(-1, *one.shape[-2:])
    return Table(what, sheets, heads=len(sheets) > 1, meaning=meaning)
