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
            kept = _kept(folder)
        except files.Refused as e:
            notes.append((folder, str(e)))
            continue
        for one in kept:
            title, why = str(one.get("title")), one.get("why") or _other_weights(folder, one)
            if title not in shown:
                shown[title] = None if why else one
                notes += [(title, str(why))] if why else []
    return list(filter(None, shown.values())), notes


def _kept(folder):
    """The drawings in the directory. A file with one that cannot be read is damaged."""
    path = os.path.join(folder, "schemes.json")
    kept = files.read_map(path, needed=False)
    if not kept:
        if all(c["scheme"] == "none" for c in files.plan_of(folder)["cells"]):
            return []
        raise files.Refused("it has no drawings of its schemes; `peat inspect` with this directory makes them")
    drawn = files.maps_in(kept.get("schemes"))
    for i, one in enumerate(drawn):
        if not one.get("why") and not has_tables(one):
            raise files.Refused(f"'{path}' is damaged: schemes[{i}] has no table of its size")
    return drawn


def has_tables(one) -> bool:
    """Whether a drawing has the tables that its sizes say."""
    whole = all(isinstance(one.get(key), str) for key in TEXTS) and all(isinstance(one.get(key), int) for key in SIZES)
    try:
        return bool(whole and len(tables(one)[0]))
    except (TypeError, ValueError, AttributeError, OverflowError):
        return False


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
