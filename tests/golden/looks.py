#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""looks.py: claims that are judged at several numbers of seeds, by NumPy and SciPy alone.

    looks.py golden > tests/golden/looks.json   levels of looks, for unit.spending
    looks.py figure docs/guide/looks.svg        what looks save, in 10,000 drawn experiments; by matplotlib

Levels are found by Gauss-Legendre quadrature, and not by Simpson's rule as in the program.
"""
import json
import sys

import numpy
from scipy import optimize, stats

DRAWS, ALPHA = 10000, 0.05
WORDS = ("obrien-fleming", "pocock")


def spent(how, alpha, t):
    if how == "pocock":
        return alpha * numpy.log(1 + (numpy.e - 1) * t)
    return 2 * stats.norm.sf(stats.norm.isf(alpha / 2) / numpy.sqrt(t))


def levels(how, alpha, t):
    """Of each look the one-sided p below which a normal statistic rejects."""
    nodes, weights = numpy.polynomial.legendre.leggauss(300)
    s, mass, before, until, found = numpy.zeros(1), numpy.ones(1), 0.0, 0.0, []
    for now in t:
        step = numpy.sqrt(now - before)
        share = spent(how, alpha, now) - until
        edge = optimize.brentq(lambda e: mass @ stats.norm.sf(e, s, step) - share, -10 * now ** 0.5, 40 * now ** 0.5,
                               xtol=1e-14)
        found.append(stats.norm.sf(edge / numpy.sqrt(now)))
        low = -10 * numpy.sqrt(now)
        at = low + (edge - low) * (nodes + 1) / 2
        s, mass = at, weights * (edge - low) / 2 * (stats.norm.pdf(at[:, None], s, step) @ mass)
        before, until = now, until + share
    return found


def golden():
    designs = [(how, alpha, t) for how in WORDS for alpha in (0.05, 0.0125, 0.001)
               for t in ([0.25, 0.5, 0.75, 1.0], [0.3, 0.65, 1.0], [i / 12 for i in range(2, 13)])]
    return [{"spending": how, "alpha": alpha, "t": t, "level": levels(how, alpha, t)} for how, alpha, t in designs]


def p_above(x, n):
    part = x[:, :n]
    return stats.t.sf(part.mean(1) / part.std(1, ddof=1) * n ** 0.5, n - 1)


def drawn(how, effect, counts):
    """Share of experiments whose claim holds, and the seeds that they need in the mean."""
    x = effect + numpy.random.default_rng(round(1000 * effect)).standard_normal((DRAWS, counts[-1]))
    holds, fails = numpy.zeros(DRAWS, bool), numpy.zeros(DRAWS, bool)
    used = numpy.zeros(DRAWS)
    for n, level in zip(counts, levels(how, ALPHA, [n / counts[-1] for n in counts])):
        open_ = ~(holds | fails)
        p = p_above(x, n)
        used[open_] = n
        holds |= open_ & (p < level)
        fails |= open_ & (1 - p < level)
    return holds.mean(), used.mean()


def figure(path):
    effects = numpy.arange(0, 1.25, 0.1)
    lines = []
    for name, how, counts in ((WORDS[0], WORDS[0], [10, 20, 30, 40]), (WORDS[1], WORDS[1], [10, 20, 30, 40]),
                              ("40 seeds, no looks", WORDS[0], [40])):
        lines.append((name, [(e, *drawn(how, e, counts)) for e in effects]))
        print(name, *(f"{e:.1f}: {h:.4f}, {n:.1f}" for e, h, n in lines[-1][1]), sep="\n  ")
    import matplotlib
    from matplotlib.figure import Figure
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "looks", "font.size": 8}):
        made = Figure(figsize=(6.75, 2.6), layout="constrained")
        shares, seeds = made.subplots(1, 2)
        for name, rows in lines:
            for ax, column in ((shares, 1), (seeds, 2)):
                ax.plot([row[0] for row in rows], [row[column] for row in rows], marker="o", markersize=2.5, label=name)
        shares.set(title="share of experiments whose claim holds", ylim=(0, 1))
        seeds.set(title="seeds that are run, mean", ylim=(0, 45))
        for ax in (shares, seeds):
            ax.set(xlabel="true effect in standard deviations over seeds", xlim=(0, 1.2))
            ax.grid(True)
        shares.legend(loc="lower right")
        made.savefig(path, metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    if sys.argv[1:] == ["golden"]:
        json.dump({"looks": golden()}, sys.stdout, indent=1)
        print()
    elif len(sys.argv) == 3 and sys.argv[1] == "figure":
        figure(sys.argv[2])
    else:
        sys.exit(__doc__)
