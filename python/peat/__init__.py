# SPDX-License-Identifier: MIT
"""Results of PEAT's run directories in Python: tables of pandas, weights as NumPy arrays. Reads files alone; docs/python.md.

  import peat
  peat.cells("runs/NAME")            a row for each planned cell: labels, axes, seed, state, sizes, times, folder
  peat.results("runs/NAME")          a row for each value: metric, split, length; columns as of `peat results -f csv`
  peat.curve("runs/NAME", "CELL")    a row for each line of metrics.jsonl
  peat.weights("runs/NAME", "CELL")  {name: array} of the newest checkpoint; peat.weights(FILE): of a safetensors file

A cell is named by its id, its label or the start of its hash. peat.torch loads when it is touched, and needs PyTorch;
peat.convert is a module of its own.
"""
from __future__ import annotations

import hashlib
import importlib
import os
import re

from . import reading, safetensors
from .reading import Refused

__all__ = ["cells", "results", "curve", "weights", "Refused"]
__version__ = "1.0.0"


def __getattr__(name: str):
    """peat.torch, loaded when it is touched."""
    if name == "torch":
        try:
            return importlib.import_module("peat.torch")
        except ModuleNotFoundError as e:
            if e.name != "torch":
                raise
            raise Refused("peat.torch needs PyTorch, which this Python does not have (Debian: python3-torch)") from None
    raise AttributeError(f"module 'peat' has no attribute '{name}'")


# ---- files of a run directory ----

def _json(path, needed=True):
    """A map; None: there is no file, and none is needed."""
    try:
        return reading.record(path)
    except FileNotFoundError:
        if needed:
            raise Refused(f"'{path}' does not exist") from None
        return None


_HEAD = ("label", "scheme", "combine", "task", "seed", "hash")


def _plan(folder):
    if not os.path.isdir(folder):
        raise Refused(f"there is no directory '{folder}'")
    if not os.path.exists(os.path.join(folder, "plan.json")):
        raise Refused(f"'{folder}' is not a run directory: it has no plan.json")
    plan = _json(os.path.join(folder, "plan.json"))
    try:
        for planned in plan["cells"]:
            if not re.fullmatch(r"[A-Za-z0-9_+=-][A-Za-z0-9._+=-]*", planned["id"]):
                raise Refused(f"'{folder}/plan.json' is damaged: the id of a cell cannot be '{planned['id']}'")
            if not set(_HEAD) <= planned.keys() or not isinstance(planned.get("axes") or {}, dict):
                raise KeyError
    except (KeyError, TypeError, AttributeError):
        raise Refused(f"'{folder}/plan.json' is damaged: a field is missing or of another kind") from None
    return plan


def _find(folder, name):
    """The folder of a cell by its id, label or the start of its hash."""
    planned = _plan(folder)["cells"]
    fit = [c for c in planned if name in (c["id"], c["label"])]
    fit = fit or [c for c in planned if len(name) >= 4 and c["hash"].startswith(name)]
    if len(fit) != 1:
        known = ", ".join(c["label"] for c in planned[:5]) + (", ..." if len(planned) > 5 else "")
        raise Refused(f"{len(fit) or 'no'} cells of '{folder}' are called '{name}'; there are {known}")
    return os.path.join(folder, "cells", fit[0]["id"])


def _same(data, seal):
    return len(data) == seal["bytes"] and hashlib.sha256(data).hexdigest() == seal["sha256"]


def _curve_is_whole(folder, seal):
    """Whether metrics.jsonl is the one that the result was sealed with, or a bundle thinned it and sealed it anew."""
    data = reading.contents(os.path.join(folder, "metrics.jsonl"))
    if len(data) == seal["bytes"]:
        return _same(data, seal)
    thinned = _json(os.path.join(folder, "thinned.json"), needed=False) or {}
    return thinned.get("of") == seal["sha256"] and _same(data, thinned)


def _is_sealed(folder, planned, result, meta):
    """Whether the result is of the planned cell, and of the files beside it."""
    files, seal = result.get("files") or {}, result.get("meta_hash")
    if not result["hash"] == planned["hash"] == _json(os.path.join(folder, "config.json"))["hash"]:
        return False
    if result.get("format", 1) > 1 and not (seal and "metrics.jsonl" in files) or seal and seal != reading.seal(meta):
        return False
    kept = {name: os.path.join(folder, name) for name in files if name != "metrics.jsonl"}
    return ("metrics.jsonl" not in files or _curve_is_whole(folder, files["metrics.jsonl"])) and all(
        os.path.getsize(path) == files[name]["bytes"] for name, path in kept.items() if os.path.exists(path))


_VALUE = ("metric", "split", "length", "step", "value")


def _values(result):
    """A map of each value of the last evaluation."""
    goal = {m["name"]: m["goal"] for m in result["metrics"]}
    values = [{**{key: m[key] for key in _VALUE}, "status": result["state"], "goal": goal.get(m["metric"], "min")}
              for m in result["measures"]]
    numbers = [m["value"] for m in values] + [result.get(key) for key in _NUMBERS]
    maps = [result.get(key) or {} for key in ("diverged", "untrained", "resolved", "files")]
    if result["state"] not in ("done", "diverged") or not (
            all(isinstance(x, (int, float, type(None))) for x in numbers) and all(isinstance(x, dict) for x in maps)):
        raise ValueError
    return values


def _state(folder):
    end = _json(os.path.join(folder, "end.json"), needed=False)
    if end:
        return end.get("state") if end.get("state") in ("failed", "crashed", "timeout", "oom") else "partial"
    return "running" if os.path.exists(os.path.join(folder, "running.json")) else "todo"


class _Cell:
    def __init__(self, folder, plan, planned):
        self.planned = planned
        self.folder = os.path.join(folder, "cells", planned["id"])
        self.result = self.meta = None
        try:
            self.meta = _json(os.path.join(self.folder, "meta.json"), needed=False) or {}
            self.result = _json(os.path.join(self.folder, "result.json"), needed=False)
            self.state = self._finished() if self.result else _state(self.folder)
        except (Refused, OSError, LookupError, TypeError, ValueError, AttributeError):  # not as PEAT wrote it
            self.state = "damaged" if os.path.exists(os.path.join(self.folder, "result.json")) else "partial"
        self.head = {"experiment": plan["experiment"], "cell": planned["id"], "label": planned["label"],
                     "scheme": planned["scheme"], "combine": planned["combine"], "task": planned["task"]}
        axes = planned.get("axes") or {}
        self.head.update((k, v) for k, v in axes.items()
                         if k not in ("position.scheme", "position.combine") and k not in self.head)
        self.head["seed"] = planned["seed"]

    def _finished(self):
        self.values = _values(self.result)
        if not _is_sealed(self.folder, self.planned, self.result, self.meta):
            return "damaged"
        return "stale" if os.path.lexists(os.path.join(self.folder, "stale.json")) else self.result["state"]


def _all(folders):
    if not folders:
        raise Refused("no run directory was named")
    for folder in folders:
        plan = _plan(folder)
        for planned in plan["cells"]:
            yield _Cell(folder, plan, planned)


#: Numbers of a result with their columns, as `peat results --format csv` calls them.
_NUMBERS = {"params": "params", "params_positional": "params_pe", "params_frozen": "params_frozen",
            "flops_per_token": "flops_per_token", "input_ratio_start": "input_ratio_start",
            "input_ratio": "input_ratio", "tokens_per_s": "tokens_per_s", "step_ms_median": "step_ms_median",
            "peak_rss_kib": "peak_rss_kib", "wall_s": "wall_s", "eval_s": "eval_s", "cpu_s": "cpu_s",
            "flops_per_s": "flops_per_s"}


def _numbers(cell):
    known = dict(cell.planned, **(cell.result or {})) if cell.state != "damaged" else cell.planned
    return {column: known[key] for key, column in _NUMBERS.items() if key in known}


# ---- tables ----

def cells(*folders: str):
    """A table with a row for each planned cell of run directories, finished or not."""
    import pandas
    rows = []
    for c in _all(folders):
        rows.append({**c.head, "status": c.state, "config_sha256": c.planned["hash"], **_numbers(c),
                     "trained_by": (c.meta or {}).get("trained_by"), "folder": c.folder})
    return pandas.DataFrame(rows)


def results(*folders: str):
    """A table with a row for each value that a finished cell has: its last evaluation. Cells that diverged are there
    with their status; those that failed, are damaged or not finished are not: cells() has them."""
    import pandas
    rows, columns = [], ["metric", "split", "length", "step", "value", "status", "goal"]
    for c in _all(folders):
        if c.state not in ("done", "diverged"):
            continue
        rows += [{**c.head, **value, **_numbers(c), "trained_by": c.meta.get("trained_by")} for value in c.values]
    table = pandas.DataFrame(rows) if rows else pandas.DataFrame(columns=columns)
    return table.astype({"value": float})


def curve(folder: str, cell: str | None = None):
    """A table of metrics.jsonl: losses of training with rate and norm of the gradient, and evaluations. folder is a
    run directory, or without `cell` the folder of a cell."""
    import pandas
    path = os.path.join(_find(folder, cell) if cell else folder, "metrics.jsonl")
    rows = []
    try:
        for number, line in enumerate(reading.contents(path).split(b"\n")[:-1], 1):  # the last may be being written
            rows.append(reading.line(line))
    except FileNotFoundError:
        raise Refused(f"'{path}' does not exist: the cell has not begun") from None
    except ValueError as e:
        raise Refused(f"'{path}': line {number} is damaged: {e}") from None
    columns = ["step", "metric", "split", "length", "value", "lr", "grad_norm"]
    return pandas.DataFrame(rows, columns=columns).astype({"value": float})


# ---- weights ----

_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4"}


def weights(path: str, cell: str | None = None) -> dict:
    """{name: array} of a cell's newest checkpoint, or of a safetensors file."""
    if cell or os.path.isdir(path):
        path = _newest(_find(path, cell) if cell else path)
    import numpy
    out = {}
    for name, (word, shape, part) in safetensors.read(path)[0].items():
        if word not in _DTYPES:
            raise Refused(f"'{path}': tensor '{name}' has dtype '{word}'; {', '.join(_DTYPES)} can be read")
        out[name] = numpy.frombuffer(part, _DTYPES[word]).reshape(shape).copy()
    return out


def _newest(folder):
    kept = os.path.join(folder, "ckpt")
    steps = [n for n in (os.listdir(kept) if os.path.isdir(kept) else ()) if n.startswith("step-") and n[5:].isdigit()]
    if not steps:
        raise Refused(f"'{folder}' has no checkpoint")
    return os.path.join(kept, max(steps, key=lambda n: int(n[5:])), "model.safetensors")
