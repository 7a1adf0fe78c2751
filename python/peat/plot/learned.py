# SPDX-License-Identifier: MIT
"""A measure of what cells learned: by row, by layer, or by the labels of an axis."""
from __future__ import annotations

import math

from ..findings import measure_named
from ..numerals import finite
from ..reading import Refused
from ..series import Series, axis_named
from .kinds import in_panels
from .lines import line
from .points import height_of, points
from .style import GREY, PAGE, in_style, new_axes, new_figure


class Drawn:
    """The numbers of one measure that a figure shows. name: "position_r2", or "position_r2@0" for one of its parts."""

    def __init__(self, found, name: str, over: str | None = None):
        own, _, part = name.partition("@")
        self.measure, self.found, self.part = measure_named(own, "--figure"), found, part
        if part and not self.measure.list:
            raise Refused(f"--figure: {own} is one number: without '@'")
        self.by_part = bool(self.measure.list) and not part
        if over and self.by_part:
            raise Refused(f"--over: which {self.measure.part} of {own}? '{own}@0' is the first")
        self.over = axis_named(found.of, over, "--over") if over else None
        self.numbers = {row: [f for f in found.values(row, self.measure) if part in ("", str(f.part)) and finite(f.mean)]
                        for row, _ in found.rows}
        self.rows = [row for row, numbers in self.numbers.items() if numbers]
        if not self.rows:
            raise Refused(f"no diagnosed row has a number for '{name}'")
        self.has_chance = any(finite(f.chance) for row in self.rows for f in self.numbers[row])

    @property
    def label(self):
        part = f", {self.measure.part} {self.part}" if self.part else ""
        return self.measure.head + part + (" (grey: by chance)" if self.has_chance else "")


def findings(found, measure: str, ax=None, over: str | None = None, lines=None, panels=None, panel=0):
    """A measure of peat.findings.Findings: a point for each row, a line over its layers where it has parts, or over the
    labels of an axis. Mean over seeds with its 95 % interval (Student t); grey: by chance."""
    drawn, ax = Drawn(found, measure, over), ax or new_axes()
    if drawn.by_part:
        return _parts(ax, drawn, Series(found.of, drawn.rows, lines, panels).in_panel(panel))
    if drawn.over:
        return _over(ax, drawn)
    points(ax, [(row.label, row.label, f.mean, f.half, f.values.values(), f.chance)
                for row in drawn.rows for f in drawn.numbers[row][:1]])
    ax.set_xlabel(drawn.label)
    return ax


def findings_figure(found, measure: str, width: float = PAGE, over=None, lines=None, panels=None):
    """The whole figure, with panels and legend."""
    with in_style():
        drawn = Drawn(found, measure, over)
        if drawn.by_part:
            series = Series(found.of, drawn.rows, lines, panels)
            return in_panels(len(series.panels), width, series.panels, series.names,
                             lambda ax, k: findings(found, measure, ax, None, lines, panels, k))
        if drawn.over:
            return in_panels(1, width, [" "], _lines_over(drawn), lambda ax, k: _over(ax, drawn))
        made, ax = new_figure(width, height_of(len(drawn.rows), width))
        findings(found, measure, ax)
        return made


def _chance_line(ax, at):
    """at: {x: chances}"""
    known = [(x, math.fsum(c) / len(c)) for x, c in sorted(at.items()) if c]
    if known:
        ax.plot(*zip(*known), color=GREY, linestyle="--")


def _parts(ax, drawn, rows):
    chance = {}
    for i, row in rows:
        numbers = drawn.numbers[row]
        line(ax, i, row.label, [(f.part, f.mean, f.half, str(f.part)) for f in numbers])
        for f in numbers:
            chance.setdefault(f.part, []).extend([f.chance] if finite(f.chance) else [])
    _chance_line(ax, chance)
    m = drawn.measure
    ax.set_xlabel("first dimension of the block" if m.part != "layer" else
                  "layer" if m.diagnostic in ("logits", "attention") else "blocks passed")
    ax.xaxis.get_major_locator().set_params(integer=True)
    return _finish(ax, drawn)


def _lines_over(drawn):
    return list(dict.fromkeys(_rest(row, drawn.over) for row in drawn.rows))


def _rest(row, over):
    return ".".join(label for axis, label in row.axes.items() if axis != over and label != "-") or "-"


def _over(ax, drawn):
    """A line for rows that differ on this axis alone; labels that are all numbers stand at their places."""
    labels = list(dict.fromkeys(row.axes[drawn.over] for row in drawn.rows))
    try:
        place = {label: float(label) for label in labels}
    except ValueError:
        place = {label: float(k) for k, label in enumerate(labels)}
    chance = {}
    for i, name in enumerate(_lines_over(drawn)):
        places = []
        for row in drawn.rows:
            if _rest(row, drawn.over) == name:
                f, label = drawn.numbers[row][0], row.axes[drawn.over]
                places.append((place[label], f.mean, f.half, label))
                chance.setdefault(place[label], []).extend([f.chance] if finite(f.chance) else [])
        line(ax, i, name, sorted(places))
    _chance_line(ax, chance)
    ax.set_xticks(list(place.values()), list(place))
    ax.set_xlabel(drawn.over.rpartition(".")[2])
    return _finish(ax, drawn)


def _finish(ax, drawn):
    ax.set_ylabel(drawn.label)
    ax.grid(True, axis="y")
    return ax
