# SPDX-License-Identifier: MIT
"""Files of run directories, read as they are: plans, results, curves, weights. Nothing of the program is started."""
from __future__ import annotations

import hashlib
import os
import re

from . import safetensors
from .safetensors import Refused


def read_map(path, needed=True):
    """A map, of a regular file: nothing that is in a run directory may hang or fill the memory."""
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            raise Refused(f"'{path}' is not a file")
        with open(path, encoding="utf-8") as f:
            found = safetensors.parse(f.read())
    except FileNotFoundError:
        if needed:
            raise Refused(f"'{path}' does not exist") from None
        return None
    except ValueError as e:
        raise Refused(f"'{path}' is not JSON: {e}") from None
    if not isinstance(found, dict):
        raise Refused(f"'{path}' is not a map")
    return found


def plan_of(folder):
    if not os.path.isdir(folder):
        raise Refused(f"there is no directory '{folder}'")
    if not os.path.exists(os.path.join(folder, "plan.json")):
        raise Refused(f"'{folder}' is not a run directory: it has no plan.json")
    plan = read_map(os.path.join(folder, "plan.json"))
    for planned in plan["cells"]:
        if not re.fullmatch(r"[A-Za-z0-9_+=-][A-Za-z0-9._+=-]*", planned["id"]):
            raise Refused(f"'{folder}/plan.json' is damaged: the id of a cell cannot be '{planned['id']}'")
    return plan


def folder_of(folder, name):
    """The folder of a cell by its id, label or the start of its hash."""
    planned = plan_of(folder)["cells"]
    fit = [c for c in planned if name in (c["id"], c["label"])]
    fit = fit or [c for c in planned if len(name) >= 4 and c["hash"].startswith(name)]
    if len(fit) != 1:
        known = ", ".join(c["label"] for c in planned[:5]) + (", ..." if len(planned) > 5 else "")
        raise Refused(f"{len(fit) or 'no'} cells of '{folder}' are called '{name}'; there are {known}")
    return os.path.join(folder, "cells", fit[0]["id"])


def _whole(folder, result):
    """Whether metrics.jsonl is the one that the result was sealed with, or a bundle thinned it and sealed it anew."""
    seal = (result.get("files") or {}).get("metrics.jsonl")
    if not seal:
        return True
    try:
        with open(os.path.join(folder, "metrics.jsonl"), "rb") as f:
            data = f.read()
    except OSError:
        return False
    if len(data) != seal["bytes"]:
        thinned = read_map(os.path.join(folder, "thinned.json"), needed=False) or {}
        seal = thinned if thinned.get("of") == seal["sha256"] else seal
    return len(data) == seal["bytes"] and hashlib.sha256(data).hexdigest() == seal["sha256"]


def _state(folder, planned, result):
    if result:
        damaged = result.get("hash") != planned["hash"] or not _whole(folder, result)
        stale = not damaged and os.path.lexists(os.path.join(folder, "stale.json"))
        return "damaged" if damaged else "stale" if stale else result["state"]
    end = read_map(os.path.join(folder, "end.json"), needed=False)
    if end:
        return end["state"] if end["state"] in ("failed", "crashed", "timeout", "oom") else "partial"
    return "running" if os.path.exists(os.path.join(folder, "running.json")) else "todo"


class Cell:
    def __init__(self, folder, plan, planned):
        self.planned = planned
        self.folder = os.path.join(folder, "cells", planned["id"])
        self.result = read_map(os.path.join(self.folder, "result.json"), needed=False)
        self.meta = read_map(os.path.join(self.folder, "meta.json"), needed=False) or {}
        self.state = _state(self.folder, planned, self.result)
        self.head = {"experiment": plan["experiment"], "cell": planned["id"], "label": planned["label"],
                     "scheme": planned["scheme"], "combine": planned["combine"], "task": planned["task"]}
        axes = planned.get("axes") or {}
        self.head.update((k, v) for k, v in axes.items()
                         if k not in ("position.scheme", "position.combine") and k not in self.head)
        self.head["seed"] = planned["seed"]


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
    known = dict(cell.planned, **(cell.result or {}))
    return {column: known[key] for key, column in NUMBERS.items() if key in known}


def read_beside(cell, name):
    """A map in the folder of a cell of a summary, as peat.Run.summary() has it; None: it is not there, or damaged."""
    try:
        return read_map(os.path.join(cell["directory"], "cells", cell["cell"], name), needed=False)
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
        with open(path, "rb") as f:
            for number, line in enumerate(f, 1):
                if not line.endswith(b"\n"):
                    break  # a process is writing it
                if word is None or word.encode() in line:
                    rows.append(safetensors.parse(line))
    except FileNotFoundError:
        raise Refused(f"'{path}' does not exist: the cell has not begun") from None
    except ValueError as e:
        raise Refused(f"'{path}': line {number} is not JSON: {e}") from None
    return rows
