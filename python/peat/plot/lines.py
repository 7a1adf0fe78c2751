# SPDX-License-Identifier: MIT
"""Lines with bands: a metric by the length that it was evaluated at, by the step; and points by cost."""
from __future__ import annotations

import math

from .. import files
from ..numerals import count, finite, half_of, mean_interval
from ..reading import Refused
from ..series import Series, rows_of
from .points import length_of
from .style import GREY, POINTS, colour, dash, is_narrow, metric_label, new_axes, point, said, says, within

BINS, STEPS_LEAST, SAYING = 120, 3, 24


def line(ax, i, row, places, every=1):
    """A line with its band. places: (x, mean, half, where); some of the points say where they are."""
    places = [p for p in places if finite(p[0]) and finite(p[1])]
    if not places:
        return
    x, mean = [p[0] for p in places], [p[1] for p in places]
    half = [p[2] if finite(p[2]) else 0.0 for p in places]
    low, high = [within(m - h) for m, h in zip(mean, half)], [within(m + h) for m, h in zip(mean, half)]
    says(ax.fill_between(x, low, high, color=colour(i), alpha=0.14, linewidth=0), row)
    says(ax.plot(x, [within(m) for m in mean], color=colour(i), linestyle=dash(i), marker=POINTS[i % len(POINTS)], markevery=every), row)
    for p in places[::max(1, len(places) // SAYING)]:
        point(ax, p[0], p[1], row, said(row, p[3], p[1], p[2]), marker="o", markersize=8, color=colour(i), alpha=0,
              clip_on=False)


def label_y(ax, text):
    ax.set_ylabel(text.replace(" (", "\n(") if is_narrow(ax) else text)


# ---- by length ----

def lengths(run, ax=None, panel=0, lines=None, panels=None, **options):
    """The metric by evaluation length: mean over seeds, the band is the 95 % interval; dashed: the training length."""
    of = run.summary(**options)
    if len(of["lengths"]) < 2:
        raise Refused(f"{of['metric']} was evaluated at one length only: list more in eval.lengths" if of["lengths"]
                      else "nothing is finished yet")
    rows = rows_of(of)
    if not any(finite(e["mean"]) for row in rows for e in row.at.values()):
        raise Refused("no row has a value yet")
    ax, unit = ax or new_axes(), of["length_unit"]
    for i, row in Series(of, rows, lines, panels).in_panel(panel):
        line(ax, i, row.label, [(n, e["mean"], half_of(e["mean"], e["ci_high"]), f"{n} {unit}")
                                for n, e in row.at.items()])
    _length_axis(ax, of["lengths"])
    trained = _trained_length(of) if unit == "tokens" else None
    if trained and of["lengths"][0] <= trained <= of["lengths"][-1]:
        ax.axvline(trained, color=GREY, linestyle="--", linewidth=0.9, zorder=1)
    ax.set_xlabel(f"evaluation length ({unit}{f'; trained with {trained}' if trained else ''})")
    label_y(ax, metric_label(of))
    ax.grid(True, axis="y")
    return ax


def _length_axis(ax, at):
    if at[0] > 0 and at[-1] >= 4 * at[0]:
        ax.set_xscale("log", base=2)
    ax.set_xticks(at, [str(n) for n in at])
    ax.minorticks_off()


def _trained_length(of):
    """That of all cells; None: they differ."""
    trained = [(files.read_beside(cell, "config.json") or {}).get("train") for cell in of["cells"]]
    known = {one["seq_len"] for one in files.maps_in(trained) if isinstance(one.get("seq_len"), int)}
    return known.pop() if len(known) == 1 else None


# ---- by step ----

class Curves:
    """What the cells of each row have of one curve, averaged in at most BINS places."""

    def __init__(self, of, metric, split, length):
        self.of, self.metric, self.split, self.length = of, metric, split, length
        self.cells, self.known = {}, {}
        for cell in of["cells"]:
            if cell["row"] is not None and cell["state"] in ("done", "running", "partial"):
                self.cells.setdefault(cell["row"], []).append(self._points(cell))
        every = [points for cells in self.cells.values() for points in cells]
        self.last = max((step for points in every for step in points), default=0)
        self.most = max(map(len, every), default=0)

    def _points(self, cell):
        try:
            read = files.read_curve(files.folder_beside(cell), f'"{self.metric}"')
        except Refused:
            return {}
        return {one["step"]: one["value"] for one in files.maps_in(read) if one.get("metric") == self.metric
                and isinstance(one.get("step"), int) and one["step"] > 0 and isinstance(one.get("value"), (int, float))
                and one.get("split") == self.split and finite(one.get("value"))
                and self.length in (None, one.get("length"))}

    def places(self, row) -> list:
        """(step, mean over the seeds that came so far, half of the interval, where)."""
        if row.label not in self.known:
            self.known[row.label] = list(self._places(row))
        return self.known[row.label]

    def _places(self, row):
        cells = self.cells.get(row.label, [])
        bins = [{} for _ in range(BINS)]
        for i, points in enumerate(cells):
            for step, value in points.items():
                bins[min(BINS - 1, (step - 1) * BINS // self.last)].setdefault(i, []).append((step, value))
        for of_bin in filter(None, bins):
            step = math.fsum(sum(s for s, _ in at) / len(at) for at in of_bin.values()) / len(of_bin)
            mean, half = mean_interval([math.fsum(v for _, v in at) / len(at) for at in of_bin.values()])
            some = f", {len(of_bin)} of {len(cells)} seeds" if len(of_bin) < len(cells) else ""
            yield step, mean, half, f"step {step:.0f}{some}"


def curves_of(run, length=None, metric=None, **options) -> Curves:
    """Evaluations of the metric, or the training loss where there are too few of them."""
    of = run.summary(length=length, metric=metric, **options)
    if of["lengths"]:
        train = of["split"] == "train"
        found = Curves(of, of["metric"], "train" if train else "valid", None if train else length_of(of, length))
        if found.most >= STEPS_LEAST:
            return found
        if metric:
            raise Refused(f"{metric} was evaluated at fewer than {STEPS_LEAST} steps: set eval.every, or leave --metric out "
                          "for the training loss")
    found = Curves(of, "loss", "train", None)
    if not found.most:
        raise Refused("no cell has taken a step yet")
    return found


def curves(run, ax=None, panel=0, lines=None, panels=None, read: Curves | None = None, **options):
    """The metric by training step: mean over the seeds that trained so long, the band is the 95 % interval."""
    read = read or curves_of(run, **options)
    ax, of = ax or new_axes(), read.of
    series = Series(of, rows_of(of), lines, panels)
    every = min(read.most, BINS) // 6 + 1
    for i, row in series.in_panel(panel):
        line(ax, i, row.label, read.places(row), every)
    ax.set_xlim(0, read.last)
    _leave_out_beginning(ax, [read.places(row) for row in series.rows], read)
    ax.set_xlabel("step")
    label_y(ax, "loss of the training batch" if read.split == "train" else metric_label(of, read.split, read.length))
    ax.grid(True, axis="y")
    return ax


def _leave_out_beginning(ax, rows, read):
    """All panels have one range; a steep beginning would make the rest a line along the bottom."""
    ends = [(step, mean - (half if finite(half) else 0), mean + (half if finite(half) else 0))
            for places in rows for step, mean, half, _ in places]
    low, high = min(e[1] for e in ends), max(e[2] for e in ends)
    later = max((e[2] for e in ends if e[0] > read.last / 10), default=high)
    span = later - low
    if read.of["goal"] != "max" and span > 0 and high - low > 1.5 * span:
        high = later + 0.05 * span
    if low < high:
        low, high = low - 0.05 * (high - low), high + 0.05 * (high - low)
        ax.set_ylim(low, high)
        for one in [x for x in ax.lines if len(x.get_ydata()) == 1 and not low <= x.get_ydata()[0] <= high]:
            one.remove()


# ---- by cost ----

COSTS = {"time": ("step_ms_median", "median time of a training step (ms)", 1), "params": ("params", "parameters", 1),
         "flops": ("flops_per_token", "training FLOPs for a token", 1), "memory": ("peak_rss_kib", "peak memory (MiB)", 1024)}


def cost(run, ax=None, cost="time", length=None, lines=None, panels=None, **options):
    """The metric against what it cost: mean with its 95 % interval. A colour for each line, a shape for each panel."""
    of = run.summary(length=length, **options)
    length, rows = length_of(of, length), rows_of(of)
    key, label, unit = COSTS[cost]
    ax, series, drawn = ax or new_axes(), Series(of, rows, lines, panels), 0
    for i, name in enumerate(series.names):
        ax.plot([], [], linestyle="", color=colour(i), marker="o" if series.by else POINTS[i % len(POINTS)], label=name)
    for k, name in enumerate(series.panels if series.by else []):
        ax.plot([], [], color=GREY, linestyle="", marker=POINTS[k % len(POINTS)], label=name)
    if series.by and any(series.own_panel(row) is None for row in rows):
        ax.plot([], [], color=GREY, linestyle="", marker=POINTS[len(series.panels) % len(POINTS)], label="nothing to combine")
    for name, row in zip(series.name, rows):
        e, x = row.at.get(length), row.entry.get(key)
        if not e or not finite(x) or not finite(e["mean"]):
            continue
        drawn, i, own = drawn + 1, series.names.index(name), series.own_panel(row) if series.by else series.names.index(name)
        half = half_of(e["mean"], e["ci_high"])
        if finite(half):
            says(ax.plot([x / unit] * 2, [within(e["mean"] - half), within(e["mean"] + half)], color=colour(i)), row.label)
        where = f"{label} {f'{x:.3g}' if cost == 'time' else count(x / unit)}"
        point(ax, x / unit, e["mean"], row.label, said(row.label, where, e["mean"], half), color=colour(i), markersize=5,
              marker=POINTS[(len(series.panels) if own is None else own) % len(POINTS)])
    if not drawn:
        raise Refused("no finished cell has this cost in its result")
    if cost in ("params", "flops"):
        ax.xaxis.set_major_formatter(lambda x, _: count(x))
    ax.set_xlabel(label)
    label_y(ax, metric_label(of, length=length))
    ax.margins(0.06)
    ax.grid(True)
    return ax
