# SPDX-License-Identifier: MIT
"""The schemes of a run directory as the page shows them, kept in schemes.json so that readers run no plugin.

Each scheme with its parameters is drawn once, at the sizes of the first cell that has it: with the trained weights of the
first finished cell beside the initial ones, where training changed it, or else with initial weights."""
from __future__ import annotations

import json
import os

import numpy as np

from .. import files
from ..reading import Refused
from ..report.schemes import has_tables
from ..sealed import write_sealed
from .cells import cell as cell_tables
from .describe import page
from .rig import TEXT, scheme
from .table import Table

MOST, POSITIONS, HEADS, VALUES = 32, 256, 8, 1 << 17


def parameters(given):
    return {key: x for key, x in given.items() if key not in ("plugin", "where", "share")}


def whole(x):
    """A parameter with whole numbers as integers."""
    if isinstance(x, (dict, list)):
        return {key: whole(v) for key, v in x.items()} if isinstance(x, dict) else [whole(v) for v in x]
    return int(x) if isinstance(x, float) and x.is_integer() else x


def title(plugin, given):
    return plugin + "".join(f" {key}={x if isinstance(x, str) else json.dumps(whole(x))}" for key, x in given.items())


def looks(folder):
    """{title: drawing without a table}, and what it takes to draw it, in the order of the cells."""
    found, how = {}, {}
    for c in files.cells_of([folder]):
        config = files.read_map(os.path.join(c.folder, "config.json"), needed=False)
        for k, of in enumerate(((config or {}).get("position") or {}).get("scheme") or []):
            model, given = config["model"], parameters(of)
            key = title(of["plugin"], given)
            if of["plugin"] == "none" or key not in found and len(found) == MOST:
                continue
            done = c.state == "done"
            if key not in found or done and not found[key]["cell"]:
                found[key] = {"title": key, "width": model["d_model"], "model_heads": model["n_head"],
                              "cell": c.planned["id"] if done else None, "label": c.planned["label"] if done else None,
                              "weights_hash": c.result.get("weights_hash") if done else None, "why": None, "again": False}
                how[key] = {"plugin": of["plugin"], "given": given, "folder": c.folder, "index": k,
                            "T": min(config["train"]["seq_len"], POSITIONS),
                            "alone": len(config["position"]["scheme"]) == 1}
    for key, of in found.items():
        same = [h["given"] for h in how.values() if h["plugin"] == how[key]["plugin"]]
        given = {k: x for k, x in how[key]["given"].items() if any(k not in g or g[k] != x for g in same)}
        of["name"] = title(how[key]["plugin"], given)
    return found, how


def own_table(tables, plugin, alone):
    """The scheme's table: its stream, or a node that it names, or its bias."""
    for name, table in tables.items():
        if name == plugin or name.startswith(plugin + "."):
            return table
    return tables.get("bias.0") if alone else None


def trained(how, program):
    """(after, before) of the cell, where training changed the table; otherwise None."""
    plugin = os.path.basename(how["plugin"]).removesuffix(".so")
    before, after = (own_table(cell_tables(how["folder"], start, program), plugin, how["alone"]) for start in (True, False))
    changed = before and after and before.values.shape == after.values.shape and after.moved_from(before) > 0
    return (after, before) if changed else None


def initial(of, how, program):
    """From positions alone: a table that tokens change is not shown."""
    sizes = {"d": of["width"], "T": how["T"], "heads": of["model_heads"], "program": program}
    table = scheme(how["plugin"], how["given"], **sizes)
    other = scheme(how["plugin"], how["given"], tokens=np.resize(np.frombuffer(TEXT[::-1], np.uint8), how["T"]), **sizes)
    if not np.array_equal(np.broadcast_arrays(table.values, other.values)[1], table.values):
        raise Refused(f"scheme '{how['plugin']}' has no table that depends only on positions")
    return table, None


def drawn(of, how, program):
    """The drawing with its table. A cell that cannot be run is drawn from initial weights."""
    pair = None
    try:
        pair = trained(how, program) if of["cell"] else None
    except Refused:
        of["again"] = True
    try:
        table, before = pair or initial(of, how, program)
    except Refused as e:
        return of | {"why": str(e)}
    shown = [cut(t) for t in (table, before) if t]
    sheets, rows, columns = shown[0].shape
    heads = {"all_heads": len(table.values) if table.heads else 0, "heads": sheets if table.heads else 0}
    text = [" ".join(f"{value:.4g}" for value in x.ravel()) for x in shown]  # more than a picture shows
    first = Table(table.what, table.values[:HEADS], heads=table.heads)
    return of | {"what": table.what, "numbers": page(first, how["plugin"]), **heads, "rows": rows, "columns": columns,
                 "values": text[0]} | ({"before": text[1]} if before else {})


def cut(table):
    """The first heads and positions, for which the page has room."""
    x = table.values[:HEADS]
    while x.size > VALUES:
        rows = max(1, x.shape[1] // 2)
        x = x[:, :rows, :x.shape[2] // 2] if table.what == "bias" or x.shape[1] == 1 else x[:, :rows]
    return x


def _kept(folder):
    """The drawings that are there; none where one of them cannot be read."""
    try:
        kept = files.maps_in((files.read_map(os.path.join(folder, "schemes.json"), needed=False) or {}).get("schemes"))
    except Refused:
        return []
    return kept if all(of.get("why") or has_tables(of) for of in kept) else []


def keep(folder: str, program: str | None = None) -> list:
    """Writes schemes.json, unless it has the drawings of these cells already; returns them."""
    found, how = looks(folder)
    kept = _kept(folder)
    same = ("title", "name", "cell", "weights_hash")
    if [[k.get(key) for key in same] for k in kept] != [[of[key] for key in same] for of in found.values()] or any(
            k.get("again") for k in kept):
        kept = [drawn(of, how[key], program) for key, of in found.items()]
        write_sealed(folder, "schemes.json", {"format": 1, "schemes": kept})
    return kept
