# SPDX-License-Identifier: MIT
"""Whole figures: a kind, in its panels, with its legend."""
from __future__ import annotations

from ..packages import need
from ..reading import Refused
from ..series import Series, rows_of
from . import heatmaps, lines, points
from .style import PAGE, POINTS, colour, dash, in_style, metric_label, new_figure, short

KINDS = ("curves", "bars", "length", "cost", "heatmap", "forest")


def figure(run, kind: str, width: float = PAGE, **options):
    """A figure of a kind of `peat plot`: options are length, metric, baseline, test and, where the kind has them, lines,
    panels and cost. Returns matplotlib's figure."""
    if kind not in KINDS:
        raise Refused(f"there is no kind of figure '{kind}'; there are {', '.join(KINDS)}")
    need("matplotlib", "a figure")
    with in_style():
        if kind in ("length", "curves"):
            return _panels(run, kind, width, options)
        return _one(run, kind, width, options)


def title_of(run, length=None, **options) -> str:
    of = run.summary(length=length, **{k: v for k, v in options.items() if k in ("metric", "baseline", "test")})
    return metric_label(of, length=points.length_of(of, length)) if of["lengths"] else of["experiment"]


def _one(run, kind, width, options):
    of = run.summary(**{k: v for k, v in options.items() if k in ("metric", "length", "baseline", "test")})
    rows = rows_of(of)
    if kind in ("bars", "forest"):
        n = len(points.effects_of(of)[1]) if kind == "forest" else len(rows)
        made, ax = new_figure(width, points.height_of(n, width) + 0.2 * (kind == "forest"))
        (points.forest if kind == "forest" else points.bars)(run, ax, **options)
    elif kind == "heatmap":
        names = Series(of, rows, options.get("lines"), options.get("panels"), heat=True).names
        made, ax = new_figure(width, 1.1 + 0.25 * max(4, len(names)))
        heatmaps.heat(run, ax, **options)
    else:
        series = Series(of, rows, options.get("lines"), options.get("panels"))
        entries = len(series.names) + (len(series.panels) + 1 if series.by else 0)
        made, ax = new_figure(width, 2.4 if width < 4.5 else max(3.2, 0.4 + 0.17 * entries))
        lines.cost(run, ax, **options)
        _legend(made, ax, *ax.get_legend_handles_labels())
    return made


def _panels(run, kind, width, options):
    """Panels of one range beside one legend."""
    read = None
    if kind == "curves":
        read = lines.curves_of(run, **{k: v for k, v in options.items() if k not in ("lines", "panels")})
        options = {"lines": options.get("lines"), "panels": options.get("panels"), "read": read}
    of = read.of if read else run.summary(**{k: v for k, v in options.items() if k not in ("lines", "panels")})
    series = Series(of, rows_of(of), options.get("lines"), options.get("panels"))
    n = len(series.panels)
    return in_panels(n, width, series.panels, series.names, lambda ax, k: (
        lines.curves if kind == "curves" else lines.lengths)(run, ax, panel=k, **options))


def in_panels(n, width, titles, names, draw):
    """draw(ax, k) for each of n panels beside a legend of lines."""
    across = 1 if n == 1 or width < 4.5 else 2 if n <= 4 else 3
    down = -(-n // across)
    narrow = width < 4.5
    high = (2.4 if n == 1 else 1.9) * down + (0 if narrow else 0.4)
    made, axes = new_figure(width, max(high, 0.4 if narrow else 0.5 + 0.17 * len(names)), nrows=down, ncols=across, sharex=True,
                      sharey=True, squeeze=False)
    for k, ax in enumerate(axes.flat):
        if k >= n:
            ax.set_axis_off()
            continue
        draw(ax, k)
        ax.set_title(short(titles[k], 40 // across + 12) if titles[k].strip() else "")
        ax.tick_params(labelbottom=k + across >= n)
        if not ax.lines:
            ax.text(0.5, 0.5, "no value", transform=ax.transAxes, ha="center")
    if n > 1:
        if not narrow:
            made.supxlabel(axes[0][0].get_xlabel(), fontsize=8)
        made.supylabel(axes[0][0].get_ylabel(), fontsize=8)
        for k, ax in enumerate(axes.flat):
            ax.set(xlabel=ax.get_xlabel() if narrow and k == n - 1 else "", ylabel="")
    from matplotlib.lines import Line2D
    handles = [Line2D([], [], color=colour(i), linestyle=dash(i), marker=POINTS[i % len(POINTS)]) for i in range(len(names))]
    free = n < across * down  # a place without a panel
    _legend(made, axes.flat[n] if free else axes[0][-1], handles, names, (0, 1) if free else (1.01, 1.02))
    return made


LEGEND = 0.155  # inches for a line of it


def _legend(made, ax, handles, names, place=(1.01, 1.02)):
    """At the place beside the axes, or in a column below everything."""
    width, height = made.get_size_inches()
    handles, names = handles[:40], [short(n, 38) for n in names[:40]]
    if width >= 4.5:
        ax.legend(handles, names, handlelength=2.6, loc="upper left", bbox_to_anchor=place)
        return
    below = LEGEND * len(names) + 0.1
    made.set_size_inches(width, height + below)
    made.get_layout_engine().set(rect=(0, below / (height + below), 1, height / (height + below)))
    made.legend(handles, names, handlelength=2.6, loc="lower left", bbox_to_anchor=(0.04, 0), borderaxespad=0.2)
