# SPDX-License-Identifier: MIT
"""How a trained cell uses position: the numbers of `peat diagnose`; docs/diagnostics.md says what they mean.

  peat.diagnose.cell("runs/NAME/cells/ID")          the object of diagnose.json; only=["order"] for some of it
  peat.diagnose.cells("runs/NAME", "learned.*")     a DataFrame: a row for each cell, measure, and layer or block
"""
from __future__ import annotations

import fnmatch

import numpy as np

from .. import files
from ..packages import need
from ..sealed import write_sealed
from .subject import Subject
from .words import rounded

#: Diagnostics in the order of the page, and whether they need a model with attention.
NAMES = {"logits": True, "sizes": False, "subspaces": False, "support": False, "collisions": False, "probes": False,
         "order": False, "attention": True}
_MODULES = {"sizes": "spaces", "subspaces": "spaces", "support": "spaces"}


def diagnosis(folder: str, only=None, program: str | None = None, **options) -> dict:
    """The object with all digits. options: batches (4) of evaluation windows, threads (1)."""
    s = Subject(folder, program=program, **options)
    out, mixer = _head(s), s.model.get("mixer", "attention")
    for name, of_attention in NAMES.items():
        if only and name not in only:
            continue
        if of_attention and mixer != "attention":
            out[name] = {"skipped": f"the model has no attention (model.mixer: {mixer})"}
            continue
        module = need(f"peat.diagnose.{_MODULES.get(name, name)}", "peat diagnose")
        out[name] = getattr(module, f"diagnose_{name}")(s)
    return out


def cell(folder: str, only=None, program: str | None = None, **options) -> dict:
    """The object of diagnose.json, with six significant digits. folder: of a cell in a run directory."""
    return rounded(diagnosis(folder, only, program, **options))


def cells(folder: str, pattern: str = "*", only=None, program: str | None = None, **options):
    """A DataFrame with a row for each finished cell that the pattern fits, measure, and layer or block."""
    from ..findings import MEASURES, read_measure
    rows = []
    for c in files.cells_of([folder]):
        if c.state in ("done", "diverged") and any(fnmatch.fnmatchcase(c.head[key], pattern) for key in ("label", "cell")):
            tree = cell(c.folder, only, program, **options)
            for m in MEASURES:
                values, chance = read_measure(m, tree)
                rows += [{**c.head, "measure": m.name, "part": m.part, "at": part, "value": value, "chance": chance}
                         for part, value in values.items()]
    return need("pandas", "a table of diagnoses").DataFrame(rows)


def keep(folder: str, tree: dict) -> None:
    """Stores an object of cell() as diagnose.json of its cell."""
    write_sealed(folder, "diagnose.json", tree)


def _head(s):
    cell = s.config
    ids = [of["id"] for of in s.schemes]
    return {"version": 1, "cell": cell["id"], "label": cell["label"], "hash": cell["hash"],
            "engine": s.about["peat_engine"], "scheme": "+".join(ids) or "none", "combine": s.about["combine"] or "-",
            "layers": s.L, "heads": s.H, "width": s.D, "causal": s.about["causal"], "step": int(s.about["peat_step"]),
            "weights": s.about["peat_weights"], "length": s.T, "windows": s.N, "tokens": s.N * s.T,
            "loss": np.nanmean(s.x["loss"]), "notes": _notes(s)}


def _notes(s):
    about, state = s.about, s.about["peat_state"]
    notes = [f"{about['changed']} since the training"] if about.get("changed") else []
    if state not in ("done", "diverged", "stale"):
        notes.append(f"the cell is {state}: these are the weights of step {about['peat_step']} of "
                     f"{s.config['train']['steps']}")
    if state == "diverged":
        notes.append("the training diverged")
    if about["length"] > 512:
        notes.append(f"windows of {about['length']} tokens are cut to their first {s.T}")
    if s.tables.moving_token:
        notes.append("the combination gives a token another vector at each position: all of that is counted as token here")
    return notes
