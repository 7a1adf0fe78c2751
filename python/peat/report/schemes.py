# SPDX-License-Identifier: MIT
"""The drawings of the schemes that `peat inspect DIR` keeps in schemes.json: tables that only a scheme's own code can compute."""
from __future__ import annotations

import math
import os

from .. import files
from ..numerals import plural


TEXTS, SIZES = ("title", "name", "what", "numbers", "values"), ("heads", "all_heads", "rows", "columns", "width", "model_heads")


def drawings(run) -> tuple:
    """The drawings, and notes (what, why) on those that cannot be shown. A scheme that several directories have is shown
    for the first of them."""
    shown, notes = {}, []
    for folder in run.folders:
        try:
            kept = files.read_map(os.path.join(folder, "schemes.json"), needed=False)
        except files.Refused as e:
            notes.append((folder, str(e)))
            continue
        if not kept:
            notes.append((folder, "it has no drawings of its schemes; `peat inspect` with this directory makes them"))
            continue
        for one in files.maps_in(kept.get("schemes")):
            title, why = str(one.get("title")), one.get("why") or _fault(one) or _other_weights(folder, one)
            if title not in shown:
                shown[title] = None if why else one
                notes += [(title, str(why))] if why else []
    return list(filter(None, shown.values())), notes


def _fault(one):
    """Why it cannot be read."""
    whole = all(isinstance(one.get(key), str) for key in TEXTS) and all(isinstance(one.get(key), int) for key in SIZES)
    try:
        return None if whole and len(tables(one)[0]) else "its drawing in schemes.json is damaged"
    except (TypeError, ValueError, AttributeError):
        return "its drawing in schemes.json is damaged"


def _other_weights(folder, one):
    result = files.read_beside({"directory": folder, "cell": str(one.get("cell"))}, "result.json") or {}
    same = result.get("weights_hash") == one.get("weights_hash")
    return "it was drawn from weights that the cell no longer has" if one.get("before") and not same else None


def tables(one) -> tuple:
    """[n, rows, columns] and n titles: heads, each before training and after it where both are known."""
    import numpy
    shape = (max(1, one["heads"]), one["rows"], one["columns"])

    def read(key):
        values = numpy.array([math.nan if word.startswith("n") else float(word) for word in one[key].split()])
        return (numpy.cos(values) if one["what"] == "angle" else values).reshape(shape)
    heads = [f"head {k}" for k in range(shape[0])] if one["heads"] else [""]
    if not one.get("before"):
        return read("values"), heads
    both = numpy.stack([read("before"), read("values")], 1).reshape(-1, *shape[1:])
    return both, [f"{head}{', ' if head else ''}{when}" for head in heads for when in ("before training", "after")]


def caption(one) -> str:
    text = f"{one['title']}: {one['what'][:60]} at positions 0 to {one['rows'] - 1}" \
        + (", the first heads" if one["heads"] < one["all_heads"] else "")
    if one.get("before"):
        return f"{text}, in the cell {one['label']} before training and after it."
    return f"{text}, initial weights of seed 0; a width of {one['width']}, {plural(one['model_heads'], 'head')}."
