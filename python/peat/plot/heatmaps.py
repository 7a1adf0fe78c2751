# SPDX-License-Identifier: MIT
"""Heat maps: a metric by two axes, or by an axis and the length; a table of a scheme."""
from __future__ import annotations

import math

from ..numerals import finite, interval
from ..reading import Refused
from ..series import Series, rows_of
from .points import length_of
from .style import PAGE, in_style, metric_label, new_axes, new_figure, point, said, short

ONE_SIGN = ("#f7f7f7", "#92c5de", "#3c8cc4", "#005c96", "#002440")
BOTH_SIGNS = ("#00487d", "#4da0d0", "#f7f7f7", "#e68c52", "#9c3a00")
DARK, PALE = "#000001", "#fffffe"  # not quite black and white: a page in dark colours turns black text white


def _colours(names):
    from matplotlib.colors import LinearSegmentedColormap
    return LinearSegmentedColormap.from_list("peat", names)


def heat(run, ax=None, length=None, lines=None, panels=None, **options):
    """Means; darker is better. A row that has nothing to combine stands in every column that it goes with; hatched: no
    value."""
    of = run.summary(length=length, **options)
    length, rows = length_of(of, length), rows_of(of)
    series = Series(of, rows, lines, panels, heat=True)
    by_length = not series.by
    columns = [str(n) for n in of["lengths"]] if by_length else series.panels
    mean = {}
    for k in range(len(columns)):
        for i, row in series.in_panel(0 if by_length else k):
            at = row.at.get(of["lengths"][k] if by_length else length)
            if at and finite(at["mean"]):
                mean[i, k] = at["mean"]
    if not mean:
        raise Refused("no row has a value yet")
    ax = ax or new_axes(height=0.9 + 0.25 * max(4, len(series.names)))
    _cells(ax, of, series.names, columns, mean)
    ax.set_xlabel(f"evaluation length ({of['length_unit']})" if by_length
                  else short(".".join(axis.rpartition(".")[2] for axis in series.by), 60))
    ax.set_title(metric_label(of, length=None if by_length else length))
    return ax


def _cells(ax, of, names, columns, mean):
    low, high = min(mean.values()), max(mean.values())
    span = high / 2 - low / 2  # the whole of it may be no number
    share = {place: (x / 2 - low / 2) / span if span else 0.0 for place, x in mean.items()}
    grid = [[share.get((i, k), math.nan) for k in range(len(columns))] for i in range(len(names))]
    better = ONE_SIGN if of["goal"] == "max" else ONE_SIGN[::-1]
    ax.patch.set(hatch="////", edgecolor="#bbbbbb", facecolor="none")
    ax.imshow(grid, aspect="auto", cmap=_colours(better), vmin=0, vmax=1)
    for (i, k), x in mean.items():
        at = share[i, k]
        dark = (at if of["goal"] == "max" else 1 - at) >= 0.55
        ax.text(k, i, interval(x), ha="center", va="center", color=PALE if dark else DARK, fontsize=7)
        point(ax, k, i, names[i], said(names[i], columns[k], x), marker="s", markersize=14, alpha=0, color=DARK)
    ax.set_xticks(range(len(columns)), [short(c, 30) for c in columns],
                  rotation=-30 if max(map(len, columns)) > 60 / len(columns) else 0,
                  ha="left" if max(map(len, columns)) > 60 / len(columns) else "center", rotation_mode="anchor")
    ax.set_yticks(range(len(names)), [short(n, 30) for n in names])
    ax.set_xlim(-0.5, len(columns) - 0.5)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.tick_params(length=0)


def scheme(values, ax=None, what="stream", low=None, high=None, title=""):
    """One table of a scheme, [rows, columns]: of a stream positions by dimensions, of a bias queries by keys, of angles
    their cosines. low, high: the ends of the colours, where several tables share them."""
    if low is None:
        low, high = scheme_range(values)
    ax = ax or new_axes(height=3.2)
    names = BOTH_SIGNS if low < 0 < high else ONE_SIGN[::-1] if high <= 0 else ONE_SIGN
    ax.imshow(values, aspect="auto", cmap=_colours(names), vmin=low, vmax=high, interpolation="nearest")
    ax.set_ylabel("query" if what == "bias" else "position")
    ax.set_xlabel({"bias": "key", "stream": "dimension", "angle": "cosine of the angle of pair"}.get(what, what))
    ax.set_title(title)
    return ax


def scheme_range(values):
    """The least and the largest value; symmetric where both signs are there."""
    known = [float(x) for x in values.ravel() if math.isfinite(x)] or [-1.0, 1.0]
    low, high = min(known), max(known)
    if low < 0 < high:
        low, high = -max(high, -low), max(high, -low)
    return (low, high) if low < high else (low - (low < 0), high + (low >= 0))


def scheme_figure(tables, titles, what="stream", width: float = PAGE):
    """Tables of one scheme side by side, [n, rows, columns], with one scale of colours: heads, or before and after
    training."""
    with in_style():
        low, high = scheme_range(tables)
        n, across = len(tables), min(len(tables), 2 if width < 4.5 else 4)
        down = -(-n // across)
        made, axes = new_figure(width, 0.6 + down * (2.6 if n <= 2 else 1.9), nrows=down, ncols=across, squeeze=False)
        for k, ax in enumerate(axes.flat):
            if k >= n:
                ax.set_axis_off()
                continue
            scheme(tables[k], ax, what, low, high, titles[k])
            if k % across:
                ax.set_ylabel("")
                ax.set_yticklabels([])
            if k + across < n:
                ax.set_xlabel("")
        made.colorbar(axes[0][0].images[0], ax=axes, aspect=30, pad=0.02).ax.tick_params(labelsize=7)
        return made
