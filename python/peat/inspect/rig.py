# SPDX-License-Identifier: MIT
"""A scheme in a model of one layer around it, with initial weights of seed 0: a cell that is planned, run and removed."""
from __future__ import annotations

import contextlib
import json
import os
import re
import tempfile

import numpy as np

from ..activations import passes
from ..program import Program
from ..reading import Refused
from .table import Table

TEXT = b"The quick brown fox, 42 of 7, jumps over the lazy dog.\n"


def scheme(name: str, given: dict | None = None, *, d: int, T: int, heads: int = 1, what: str | None = None, tokens=None,
           rows: int = 1, pad: int = 0, step: int | None = None, combine: str | None = None,
           program: str | None = None, at: dict | None = None) -> Table:
    """The table `what` of a scheme: "stream", "bias", or a node that it names; None: the first that it has.

    given: parameters, those of the combination as "combine.KEY". tokens: ids [T] (default: a sentence); rows of them in
    the batch, after `pad` places of padding. step: in the training phase. at: {parameter: its place, for messages}."""
    given, places = given or {}, T + pad
    ids = np.asarray(tokens if tokens is not None else np.resize(np.frombuffer(TEXT, np.uint8), T), int)
    token, padding = np.zeros((rows, places)), np.zeros((rows, places))
    token[:, pad:], padding[:, :pad] = ids, 1
    batch = {"batch.token": token, "batch.sequence": np.arange(rows, dtype=float)}
    batch |= {"batch.pad": padding} if pad else {}
    with tempfile.TemporaryDirectory() as made:
        folder = _planned(made, name, given, combine, d, places, heads, max(256, int(ids.max(initial=0)) + 1), program, at or {})
        x, meta = passes(folder, given=batch, start=True, step=step, program=program,
                         only="stream.position.*,*.attention*.bias,*.attention*.score_add,probe.*")
    asked = tokens is not None or rows > 1 or pad or step is not None or combine or what
    found = _tables(x, meta["peat_activations"], rows, bool(asked), heads)
    if combine and "stream" not in found:
        raise Refused(f"scheme '{name}' gives no stream, so combine '{combine}' has nothing to merge")
    return choose(found, what, f"scheme '{name}'", T)


def choose(found, what, of, T):
    if not found:
        raise Refused(f"{of} has no table: no stream, no bias, and it names nothing for inspection")
    if what is not None and what not in found:
        from difflib import get_close_matches
        near = get_close_matches(what, found, 1)
        raise Refused(f"--what: {of} has no table '{what}'; it has: {', '.join(found)}"
                      + (f"; did you mean '{near[0]}'?" if near else ""))
    first = next(iter(found))
    if first not in ("stream", "bias", "score_add"):
        first = next((key for key, t in found.items() if t.values.shape[1] == T), first)
    return found[what or first]


def _planned(made, name, given, combine, d, places, heads, vocab, program, at):
    """The folder of the only cell of a plan."""
    np.save(os.path.join(made, "ids.npy"), np.arange(40 * places + 400, dtype="<i4") % vocab)
    own = {key: x for key, x in given.items() if not key.startswith("combine.")}
    merge = {key.removeprefix("combine."): x for key, x in given.items() if key.startswith("combine.")}
    words = {"version": 1, "name": "inspect", "seeds": 1, "run": {"plan_timeout": _seconds()}, "defaults": {
        "task": {"plugin": "tokens", "path": "ids.npy", "vocab": vocab},
        "model": {"d_model": d, "n_layer": 1, "n_head": heads, "d_ff": d},
        "train": {"steps": 1, "batch": 1, "seq_len": places}, "eval": {"lengths": [places]}}, "matrix": {
        "position.scheme": [{"plugin": _named(name), **own}], "position.combine": [{"plugin": _named(combine or "sum"), **merge}]}}
    path, text = os.path.join(made, "x.yaml"), json.dumps(words, indent=1)  # a line for each parameter
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    try:
        Program(program).ask("plan", path, "--write", "-o", os.path.join(made, "run"))
    except Refused as e:
        placed = re.sub(rf"{re.escape(path)}:(\d+)(:\d+)?: ", lambda m: _place(text.split("\n")[:int(m[1])], at), str(e))
        raise Refused(re.sub(rf"{re.escape(path)}: |, for cell [^ ;]+", "", placed)) from None
    cells = os.path.join(made, "run", "cells")
    return os.path.join(cells, *os.listdir(cells))


def _place(lines, at):
    """"command line:1: " where the last of the lines has a parameter with that place."""
    combine = "combine." if any('"position.combine"' in line for line in lines) else ""
    keys = (re.match(r'\s*"([^"]+)":', line) for line in reversed(lines))
    place = at.get(combine + next(filter(None, keys))[1])
    return f"{place}: " if place else ""


def _seconds():
    """The limit of a plugin's function, as core/process/apart.c reads it."""
    with contextlib.suppress(KeyError, ValueError):
        seconds = float(os.environ["PEAT_PLUGIN_SECONDS"])
        return min(seconds, 1e8) if seconds > 0 else 30
    return 30


def _named(plugin):
    return os.path.abspath(plugin) if "/" in plugin else plugin


def _tables(x, about, rows, asked, heads):
    """{name: Table} in the order stream, bias, score_add, nodes."""
    found = {}
    for name in x:
        if name.startswith("stream.position."):
            found["stream"] = _table("stream", x[name], rows, about["shared"].get(name, ()))
    for what in ("bias", "score_add"):
        own = [name for name in sorted(x) if name.endswith(f".{what}") and ".attention" in name]
        if own:
            found[what] = _table(what, np.concatenate([x[name] for name in own], axis=1), rows,
                                 about["shared"].get(own[0], ()), heads if what == "bias" and not asked else None)
    for name in about["probes"]:
        what = name.split(".", 2)[2]
        found.setdefault(what, _table(what, x[name], rows, about["shared"].get(name, ())))
    return found


def _table(what, values, rows, shared, heads=None):
    """Sheets of the last two axes. Rows and heads that share one sheet are not repeated; heads: show all of them."""
    if heads is not None:
        return Table(what, values[0], heads=True)
    values = values.reshape((1,) * (2 - values.ndim) + values.shape)
    for axis in shared:
        values = np.take(values, [0], axis) if axis < values.ndim - 2 else values
    batch = rows if rows > 1 and values.ndim > 2 and values.shape[0] == rows else 0
    sheets = values.reshape(-1, *values.shape[-2:])
    return Table(what, sheets, heads=len(sheets) > 1, batch=batch)
