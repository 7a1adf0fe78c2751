# SPDX-License-Identifier: MIT
"""How a trained cell uses position: the numbers of `peat diagnose`; docs/diagnostics.md says what they mean.

  peat.diagnose.cell("runs/NAME/cells/ID")          the object of diagnose.json; only=["order"] for some of it
  peat.diagnose.cells("runs/NAME", "learned.*")     a DataFrame: a row for each cell, measure, and layer or block
"""
from __future__ import annotations

import fnmatch
import os

import numpy as np

from .. import files
from ..packages import need
from ..safetensors import Refused
from .subject import Subject
from .words import rounded

#: Diagnostics in the order of the page, and whether they need a model with attention.
NAMES = {"logits": True, "sizes": False, "subspaces": False, "support": False, "collisions": False, "probes": False,
         "order": False, "attention": True}
_MODULES = {"sizes": "spaces", "subspaces": "spaces", "support": "spaces"}


def diagnosis(folder: str, only=None, batches: int = 4, program: str | None = None) -> dict:
    """The object with all digits."""
    s = Subject(folder, batches, program)
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


def cell(folder: str, only=None, batches: int = 4, program: str | None = None) -> dict:
    """The object of diagnose.json, with six significant digits. folder: of a cell in a run directory."""
    return rounded(diagnosis(folder, only, batches, program))


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
