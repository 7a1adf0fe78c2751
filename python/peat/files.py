# SPDX-License-Identifier: MIT
"""Files of run directories, read as they are: plans, results, curves, weights. Nothing of the program is started."""
from __future__ import annotations

import hashlib
import os
import re

from . import reading, safetensors
from .reading import Refused


def read_map(path, needed=True):
    """The map of a JSON file that PEAT wrote; None: there is no file, and none is needed."""
    try:
        return reading.record(path)
    except FileNotFoundError:
        if needed:
            raise Refused(f"'{path}' does not exist") from None
        return None


_HEAD = ("label", "scheme", "combine", "task", "seed", "hash")


def plan_of(folder):
    if not os.path.isdir(folder):
        raise Refused(f"there is no directory '{folder}'")
    plan = read_map(os.path.join(folder, "plan.json"), needed=False)
    if plan is None:
        raise Refused(f"'{folder}' is not a run directory: it has no plan.json")
    try:
        for i, planned in enumerate(plan["cells"]):
            if not re.fullmatch(r"[A-Za-z0-9_+=-][A-Za-z0-9._+=-]*", planned["id"]):
                raise Refused(f"'{folder}/plan.json' is damaged: the id of cell {i} cannot be '{planned['id']}'")
            if not set(_HEAD) <= planned.keys() or not isinstance(planned.get("axes") or {}, dict):
                raise KeyError
    except (KeyError, TypeError, AttributeError):
        raise Refused(f"'{folder}/plan.json' is damaged: a field is missing or of another kind") from None
    return plan


def folder_of(folder, name):
    """The folder of a cell by its id, also without the hash, its label or the start of its hash."""
    planned = plan_of(folder)["cells"]
    fit = [c for c in planned if name in (c["id"], c["label"], c["id"].rpartition("-")[0])]
    fit = fit or [c for c in planned if len(name) >= 4 and c["hash"].startswith(name)]
    if len(fit) != 1:
        known = ", ".join(c["label"] for c in planned[:5]) + (", ..." if len(planned) > 5 else "")
        raise Refused(f"{len(fit) or 'no'} cells of '{folder}' are called '{name}'; there are {known}")
    return os.path.join(folder, "cells", fit[0]["id"])


# ---- the files of a cell ----

def _same(data, seal):
    return len(data) == seal["bytes"] and hashlib.sha256(data).hexdigest() == seal["sha256"]


def _curve_is_whole(folder, seal):
    """Whether metrics.jsonl is the one that the result was sealed with, or a bundle thinned it and sealed it anew."""
    data = reading.contents(os.path.join(folder, "metrics.jsonl"))
    if len(data) == seal["bytes"]:
        return _same(data, seal)
    thinned = read_map(os.path.join(folder, "thinned.json"), needed=False) or {}
    return thinned.get("of") == seal["sha256"] and _same(data, thinned)


def _is_sealed(folder, planned, result, meta):
    """Whether the result is of the planned cell, and of the files beside it."""
    files, seal = result.get("files") or {}, result.get("meta_hash")
    if not result["hash"] == planned["hash"] == read_map(os.path.join(folder, "config.json"))["hash"]:
        return False
    if result.get("format", 1) > 1 and not (seal and "metrics.jsonl" in files) or seal and seal != reading.seal(meta):
        return False
    kept = {name: os.path.join(folder, name) for name in files if name != "metrics.jsonl"}
    return ("metrics.jsonl" not in files or _curve_is_whole(folder, files["metrics.jsonl"])) and all(
        os.path.getsize(path) == files[name]["bytes"] for name, path in kept.items() if os.path.exists(path))


def _has_values(result):
    """Whether each value of the last evaluation is there, and numbers are numbers, or null of a cell that diverged."""
    measures = result["measures"]
    numbers = [m["value"] for m in measures] + [result.get(key) for key in NUMBERS]
    maps = [result.get(key) or {} for key in ("diverged", "untrained", "resolved", "files")]
    return (result["state"] in ("done", "diverged") and all({"metric", "split", "length", "step"} <= m.keys() for m in measures)
            and all(isinstance(x, (int, float, type(None))) for x in numbers) and all(isinstance(x, dict) for x in maps))


def _unfinished(folder):
    end = read_map(os.path.join(folder, "end.json"), needed=False)
    if end:
        return end.get("state") if end.get("state") in ("failed", "crashed", "timeout", "oom") else "partial"
    return "running" if os.path.exists(os.path.join(folder, "running.json")) else "todo"


class Cell:
    """A planned cell; state is "damaged" or "partial" where its files are not as PEAT wrote them."""

    def __init__(self, folder, plan, planned):
        self.planned = planned
        self.folder = os.path.join(folder, "cells", planned["id"])
        self.result, self.meta = None, {}
        try:
            self.meta = read_map(os.path.join(self.folder, "meta.json"), needed=False) or {}
            self.result = read_map(os.path.join(self.folder, "result.json"), needed=False)
            self.state = self._finished() if self.result else _unfinished(self.folder)
        except (Refused, OSError, LookupError, TypeError, ValueError, AttributeError):
            self.state = "damaged" if os.path.exists(os.path.join(self.folder, "result.json")) else "partial"
        self.head = {"experiment": plan["experiment"], "cell": planned["id"], "label": planned["label"],
                     "scheme": planned["scheme"], "combine": planned["combine"], "task": planned["task"]}
        axes = planned.get("axes") or {}
        self.head.update((k, v) for k, v in axes.items()
                         if k not in ("position.scheme", "position.combine") and k not in self.head)
        self.head["seed"] = planned["seed"]

    def _finished(self):
        if not _has_values(self.result) or not _is_sealed(self.folder, self.planned, self.result, self.meta):
            return "damaged"
        return "stale" if os.path.lexists(os.path.join(self.folder, "stale.json")) else self.result["state"]


def cells_of(folders):
    if not folders:
        raise Refused("no run directory was named")
    for folder in folders:
        plan = plan_of(folder)
        for planned in plan["cells"]:
            yield Cell(folder, plan, planned)


#: Numbers of a result with their columns, as `peat results --format csv` calls them.
NUMBERS = {"params": "params", "params_positional": "params_pe", "params_frozen": "params_frozen",
            "flops_per_token": "flops_per_token", "input_ratio_start": "input_ratio_start",
            "input_ratio": "input_ratio", "tokens_per_s": "tokens_per_s", "step_ms_median": "step_ms_median",
            "peak_rss_kib": "peak_rss_kib", "wall_s": "wall_s", "eval_s": "eval_s", "cpu_s": "cpu_s",
            "flops_per_s": "flops_per_s"}


def numbers_of(cell):
    known = dict(cell.planned, **(cell.result or {})) if cell.state != "damaged" else cell.planned
    return {column: known[key] for key, column in NUMBERS.items() if key in known}


def folder_beside(cell):
    """The folder of a cell of a summary, as peat.Run.summary() has it."""
    return os.path.join(cell["directory"], "cells", cell["cell"])


def read_beside(cell, name):
    """A map in the folder of a cell of a summary; None: it is not there, or damaged."""
    try:
        return read_map(os.path.join(folder_beside(cell), name), needed=False)
    except (Refused, OSError):
        return None


def maps_in(value):
    """The maps of what should be a list of maps."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


# ---- weights and curves ----

_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4"}


def read_arrays(path) -> dict:
    """{name: array} of a safetensors file."""
    import numpy
    out = {}
    for name, (word, shape, part) in safetensors.read(path)[0].items():
        if word not in _DTYPES:
            raise Refused(f"'{path}': tensor '{name}' has dtype '{word}'; {', '.join(_DTYPES)} can be read")
        out[name] = numpy.frombuffer(part, _DTYPES[word]).reshape(shape).copy()
    return out


def newest_weights(folder):
    """The file of a cell's newest checkpoint."""
    kept = os.path.join(folder, "ckpt")
    steps = [n for n in (os.listdir(kept) if os.path.isdir(kept) else ()) if n.startswith("step-") and n[5:].isdigit()]
    if not steps:
        raise Refused(f"'{folder}' has no checkpoint")
    return os.path.join(kept, max(steps, key=lambda n: int(n[5:])), "model.safetensors")


def read_curve(folder, word=None):
    """The lines of metrics.jsonl; with a word only those that have it."""
    path, rows, number = os.path.join(folder, "metrics.jsonl"), [], 0
    try:
        for number, line in enumerate(reading.contents(path).split(b"\n")[:-1], 1):  # the last may be being written
            if word is None or word.encode() in line:
                rows.append(reading.line(line))
    except FileNotFoundError:
        raise Refused(f"'{path}' does not exist: the cell has not begun") from None
    except ValueError as e:
        raise Refused(f"'{path}': line {number} is damaged: {e}") from None
    return rows
