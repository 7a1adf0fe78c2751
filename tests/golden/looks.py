#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""looks.py: claims that are judged at several numbers of seeds, by NumPy and SciPy alone.

    looks.py golden > tests/golden/looks.json   levels of looks, for unit.spending
    looks.py figure docs/guide/looks.svg        what looks save, in 10,000 drawn experiments; by gnuplot

Levels are found by Gauss-Legendre quadrature, and not by Simpson's rule as in the program.
"""
import json
import subprocess
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
    data = "\n\n\n".join("\n".join("%g %g %g" % row for row in rows) for _, rows in lines)
    plots = [", ".join(f"$d index {i} using 1:{column} with linespoints pt 7 ps 0.4 lw 1.5 title '{name}'"
                       for i, (name, _) in enumerate(lines)) for column in (2, 3)]
    script = f"""set terminal svg size 900,320 font 'sans,12' background rgb 'white'
set output '{path}'
$d << EOD
{data}
EOD
set multiplot layout 1,2
set grid
set xlabel 'true effect in standard deviations over seeds'
set key bottom right
set title 'share of experiments whose claim holds'
plot [0:1.2] [0:1] {plots[0]}
set key top right
set title 'seeds that are run, mean'
plot [0:1.2] [0:45] {plots[1]}
"""
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["golden"]:
        json.dump({"looks": golden()}, sys.stdout, indent=1)
        print()
    elif len(sys.argv) == 3 and sys.argv[1] == "figure":
        figure(sys.argv[2])
    else:
        sys.exit(__doc__)
