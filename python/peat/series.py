# SPDX-License-Identifier: MIT
"""The rows of a summary, which of them share a colour, and which stand in a panel."""
from __future__ import annotations

import difflib

from .reading import Refused

TOGETHER = 7  # so many rows need no panels


class Row:
    """A row of the results: its label, its labels on the axes, its numbers by length."""

    def __init__(self, entry):
        self.label, self.axes, self.at = entry["row"], entry["axes"], {}
        self.entry = entry  # of the first length: what all lengths share


def rows_of(summary) -> list[Row]:
    rows = {}
    for entry in summary["rows"]:
        row = rows.setdefault(tuple(entry["axes"].items()), Row(entry))
        if entry["length"] is not None:
            row.at[entry["length"]] = entry
    return list(rows.values())


def axis_named(summary, word, option) -> str:
    """The axis by its name or the last part of it."""
    axes = summary["axes"]
    known = {axis.rpartition(".")[2]: axis for axis in axes} | {axis: axis for axis in axes}
    if word not in known:
        near = difflib.get_close_matches(word, known, 1)
        raise Refused(f"{option}: there is no axis '{word}'; the axes are {', '.join(axes) or 'none'}"
                      + (f"; did you mean '{near[0]}'?" if near else ""))
    return known[word]


class Series:
    """Labels for colours and for panels. Without `lines` and `panels` few rows have no panels, and many have a line for each
    scheme; axes that neither names make panels where only lines are given, otherwise lines."""

    def __init__(self, summary, rows, lines=None, panels=None, heat=False):
        axes = summary["axes"]
        lines = [axis_named(summary, word, "--lines") for word in _words(lines)]
        panels = [axis_named(summary, word, "--panels") for word in _words(panels)]
        for axis in lines:
            if axis in panels:
                raise Refused(f"--panels: axis '{axis}' is named already")
        if not lines and not panels:
            lines = [_colour_axis(axes, rows)] if axes and (heat or len(rows) > TOGETHER) and len(axes) > 1 else axes
        self.by = panels or [axis for axis in axes if axis not in lines]
        self.rows = rows
        self.name = [row.label if not self.by else _joined(row, [a for a in axes if a not in self.by]) for row in rows]
        self.names = list(dict.fromkeys(self.name))
        self.hosts = [row for row in rows if not self._is_guest(row)] if self.by else []
        self.panels = list(dict.fromkeys(_joined(row, self.by) for row in self.hosts)) or [""]

    def _agree(self, host, row):
        return all(host.axes[a] == row.axes[a] or (a == "position.combine" and "-" in (host.axes[a], row.axes[a]))
                   for a in self.by)

    def _dashes(self, row):
        return sum(row.axes[a] == "-" for a in self.by)

    def _is_guest(self, row):
        """A row that has nothing to combine stands in the panels of others, and needs none of its own."""
        return any(self._agree(host, row) and self._dashes(host) < self._dashes(row) for host in self.rows)

    def own_panel(self, row) -> int | None:
        name = _joined(row, self.by)
        return self.panels.index(name) if name in self.panels and not self._is_guest(row) else None

    def in_panel(self, panel: int) -> list[tuple[int, Row]]:
        """The number of the colour of each row of a panel, and the row."""
        host = next((row for row in self.hosts if _joined(row, self.by) == self.panels[panel]), None)
        return [(self.names.index(name), row) for name, row in zip(self.name, self.rows)
                if host is None or self._agree(host, row)]


def _words(given):
    return [word for word in given.split(",") if word] if isinstance(given, str) else list(given or ())


def _joined(row, axes):
    return ".".join(row.axes[a] for a in axes if row.axes[a] != "-") or "-"


def _colour_axis(axes, rows):
    return "position.scheme" if "position.scheme" in axes else max(axes, key=lambda a: len({row.axes[a] for row in rows}))
