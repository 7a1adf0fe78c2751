# SPDX-License-Identifier: MIT
"""A point with its interval for each row, its seeds below it: means of rows, differences of contrasts."""
from __future__ import annotations

from ..numerals import finite, half_of
from ..reading import Refused
from ..series import rows_of
from .style import GREY, colour, is_narrow, metric_label, new_axes, point, said, short, says, within

BELOW = 0.27  # from a row's mean to its seeds


def height_of(n: int, width: float) -> float:
    """Inches for so many rows: in a column a label has a line of its own."""
    return 0.75 + max(n, 3) * (0.36 if width < 4.5 else 0.22)


def points(ax, items, shape="o"):
    """items: (label, row, mean, half, values of seeds, by chance)."""
    narrow = is_narrow(ax)
    for i, (label, row, mean, half, seeds, chance) in enumerate(items):
        y = i + 0.12 if narrow else i
        for value in seeds:
            point(ax, value, y + BELOW, row, said(label, "one seed", value), marker="o", markersize=2, color="#999999")
        point(ax, chance, y, row, said(label, "by chance", chance), marker="x", color=GREY)
        if finite(mean):
            if finite(half):
                ends = [within(mean - half), within(mean + half)]
                says(ax.plot(ends, [y, y], color=colour(0), solid_capstyle="butt"), row)
            point(ax, mean, y, row, said(label, "", mean, half), marker=shape, markersize=5, color=colour(0))
        if narrow:
            ax.text(0.01, i - 0.2, short(label, 48), transform=ax.get_yaxis_transform(), fontsize=6.5, va="center")
    ax.set_yticks([] if narrow else range(len(items)), [] if narrow else [short(item[0], 44) for item in items])
    ax.set_ylim(len(items) - 0.4, -0.6)
    ax.grid(True, axis="both")
    ax.margins(x=0.03)
    return ax


def bars(run, ax=None, length=None, **options):
    """The mean of each row with its 95 % interval (Student t), its seeds below it; the dashed line is the baseline."""
    of = run.summary(length=length, **options)
    length, rows = length_of(of, length), rows_of(of)
    at = [row.at.get(length) or row.entry for row in rows]
    if not any(finite(e["mean"]) for e in at):
        raise Refused("no row has a value at this length")
    ax = ax or new_axes(height=height_of(len(rows), 6.75))
    points(ax, [(row.label, row.label, e["mean"], half_of(e["mean"], e["ci_high"]),
                 [x for x in e["values"].values() if finite(x)], None)
                for row, e in zip(rows, at)])
    for i, e in enumerate(at):
        if not e["n"]:
            state = next((said for key, said in (("diverged", "diverged"), ("failed", "failed"), ("missing", "not finished"))
                          if e[key]), "no value")
            ax.text(0.02, i, state, transform=ax.get_yaxis_transform(), va="center", fontsize=7)
    baseline = {e["baseline"] for e in at}
    own = [e["mean"] for row, e in zip(rows, at) if baseline == {row.label} and finite(e["mean"])]
    if own:
        ax.axvline(within(own[0]), color=GREY, linestyle="--", linewidth=0.9, zorder=1)
    _cut_wide_intervals(ax, at)
    ax.set_xlabel(metric_label(of, length=length))
    return ax


def _cut_wide_intervals(ax, at):
    """The interval of two seeds is twelve times as wide as their distance: it is cut at the frame, so that it does not
    compress everything else."""
    values = [within(x) for e in at for x in e["values"].values() if finite(x)]
    low, high = min(values), max(values)
    ends = [within(x) for e in at for x in (e["ci_low"], e["ci_high"]) if finite(x)] + values
    span = high - low
    if span and (min(ends) < low - span or max(ends) > high + span):
        ax.set_xlim(max(low - span, min(ends)), min(high + span, max(ends)))


def length_of(of, length):
    if not of["lengths"]:
        raise Refused("nothing is finished yet")
    return of["lengths"][0] if length is None else length


def effects_of(of):
    """The effects of the contrasts with the metric and length of the first: another would have another scale."""
    if not of["contrasts"]:
        raise Refused("there is no contrast to draw: the experiment has no report.contrasts")
    first = of["contrasts"][0]
    return first, [(f"{c['name']}: {e['of']}", e) for c in of["contrasts"]
                   if (c["metric"], c["length"]) == (first["metric"], first["length"]) for e in c["effects"]]


def forest(run, ax=None, length=None, **options):
    """Paired differences of the contrasts with their 95 % intervals; small points are seeds, the dashed line is no
    difference."""
    of = run.summary(length=length, **options)
    first, effects = effects_of(of)
    if not any(e["n"] for _, e in effects):
        raise Refused("no contrast has a pair of values yet")
    ax = ax or new_axes(height=0.2 + height_of(len(effects), 6.75))
    points(ax, [(label, "", e["diff"], half_of(e["diff"], e["diff_ci_high"]), e["differences"], None)
                for label, e in effects], shape="s")
    low, high = ax.get_xlim()
    ax.set_xlim(min(low, 0), max(high, 0))
    ax.axvline(0, color=GREY, linestyle="--", linewidth=0.9, zorder=1)
    left, right = ("second", "first") if first["goal"] == "max" else ("first", "second")
    ax.set_title(f"← the {left} is better          the {right} is better →", fontsize=7)
    ax.set_xlabel(f"{first['metric']} at {first['length']} {of['length_unit']}: first minus second")
    return ax
