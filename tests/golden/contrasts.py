# SPDX-License-Identifier: MIT
"""Differences in several strata and the figures of scipy and statsmodels for them: writes
contrasts.json, which tests/unit/maths/test_strata.c and test_power.c compare with PEAT's own.

Cases are there for a reason: missing seeds, ties, one seed, 64 seeds, diverged cells, no spread."""
import itertools
import json
import pathlib

import numpy
import pandas
from scipy import integrate, stats
from statsmodels.stats.anova import AnovaRM
from statsmodels.stats.power import TTestPower
from statsmodels.stats.weightstats import ttost_paired

from statistics_formulas import t_quantile

random = numpy.random.Generator(numpy.random.PCG64(20240607))
NAN, INF = numpy.nan, numpy.inf


def noisy(n, levels, spread=0.1):
    seed = 0.2 * random.standard_normal((n, 1))
    return (numpy.array(levels) + seed + spread * random.standard_normal((n, len(levels)))).tolist()


def holes(d, places, what=NAN):
    d = [list(row) for row in d]
    for s, j in places:
        d[s][j] = what
    return d


# name -> differences by seed and stratum
CASES = {
    "plain": noisy(5, [-0.3, -0.1, 0.0, 0.2]),
    "two strata": noisy(6, [-0.3, 0.1]),
    "one stratum": noisy(6, [-0.4]),
    "missing seeds": holes(noisy(8, [-0.3, -0.2, -0.1]), [(1, 0), (4, 2), (4, 1)]),
    "diverged": holes(holes(noisy(7, [0.2, 0.3, 0.1]), [(2, 1)], INF), [(5, 0)], -INF),
    "ties": [[0.5, -0.25, 0.25], [0.25, 0.25, 0.5], [-0.5, 0.25, 0.5], [0.5, 0.5, 0.5], [0.25, -0.25, 0.25]],
    "one seed": [[0.3, -0.2]],
    "two seeds": noisy(2, [0.3, -0.2, 0.0]),
    "nobody is complete": holes(noisy(3, [0.1, 0.2]), [(0, 0), (1, 1), (2, 0)]),
    "no spread": [[0.25, 0.5]] * 4,
    "sixty-four": noisy(64, [-0.02, 0.03, 0.0, 0.01, 0.02]),
    "apart": noisy(12, [-1.0, 1.0, 0.0]),
}
MARGINS = (0.05, 0.25, 1.0)


def shares(d, value):
    """p of above, below: over all sign patterns, or nothing where there are too many."""
    if not 0 < len(d) <= 16:
        return NAN, NAN
    signs = numpy.array(list(itertools.product((1, -1), repeat=len(d))))
    all_values, own, slack = value(signs * d), value(numpy.array([d]))[0], 1e-12 * abs(d).sum()
    return numpy.mean(all_values >= own - slack), numpy.mean(all_values <= own + slack)


def wilcoxon_statistic(x):
    """Sum of signed mean ranks of the sizes, which are the same in every line."""
    return numpy.sign(x) @ stats.rankdata(abs(x[0]))


def tests_of(d):
    n = len(d)
    out = {"sign-flip": shares(d, lambda x: x.sum(axis=1)),
           "wilcoxon": shares(d[d != 0], wilcoxon_statistic), "t": (NAN, NAN)}
    if n > 1 and numpy.ptp(d) > 1e-12:
        out["t"] = tuple(stats.ttest_1samp(d, 0, alternative=a).pvalue for a in ("greater", "less"))
    if 1 < n <= 12 and len(set(abs(d))) == n and 0 not in d:
        for p, a in zip(out["wilcoxon"], ("greater", "less")):
            assert abs(stats.wilcoxon(d, mode="exact", alternative=a).pvalue - p) < 1e-12
    if 1 < n <= 12:
        for p, a in zip(out["sign-flip"], ("greater", "less")):
            same = stats.permutation_test((d,), numpy.sum, permutation_type="samples",
                                          n_resamples=numpy.inf, alternative=a)
            assert abs(same.pvalue - p) < 1e-12
    return out


def equivalence(d):
    if len(d) < 2 or numpy.ptp(d) < 1e-12:
        return [NAN] * len(MARGINS)
    return [ttost_paired(d, numpy.zeros(len(d)), -m, m)[0] for m in MARGINS]


def interaction(x):
    """x: complete seeds. F by statsmodels, Greenhouse and Geisser's epsilon by its eigenvalues."""
    n, k = x.shape
    if n < 2 or k < 2 or numpy.ptp(x - x.mean(axis=1, keepdims=True), axis=0).max() < 1e-12:
        return [NAN] * 3
    table = pandas.DataFrame([(s, j, x[s, j]) for s in range(n) for j in range(k)], columns=["seed", "at", "d"])
    f = AnovaRM(table, "d", "seed", within=["at"]).fit().anova_table["F Value"][0]
    if k == 2:
        assert abs(stats.ttest_rel(x[:, 0], x[:, 1]).statistic ** 2 - f) < 1e-9 * f
    contrasts = numpy.linalg.svd(numpy.ones((1, k)))[2][1:]  # orthonormal, each of sum 0
    root = numpy.linalg.eigvalsh(contrasts @ numpy.cov(x.T) @ contrasts.T)
    epsilon = root.sum() ** 2 / ((k - 1) * (root**2).sum())
    return [f, epsilon, stats.f.sf(f, epsilon * (k - 1), epsilon * (k - 1) * (n - 1))]


def expected(d):
    d = numpy.array(d)
    complete = d[numpy.isfinite(d).all(axis=1)]
    mean = complete.mean(axis=1) if len(complete) else numpy.array([])
    n = len(mean)
    half = t_quantile(0.975, n - 1) * stats.sem(mean) if n > 1 else NAN
    f, epsilon, p = interaction(complete)
    return {"n": n, "mean": mean.mean() if n else NAN, "half": half, "tests": tests_of(mean),
            "equivalence": equivalence(mean), "f": f, "epsilon": epsilon, "p": p}


def equivalence_power(effect, margin, n, alpha):
    """Over the sample's variance: the chance of the mean between the two edges that it leaves."""
    df, t = n - 1, t_quantile(1 - alpha, n - 1)

    def at(q):
        s = numpy.sqrt(q / df) * t
        inside = stats.norm.cdf(margin * n**0.5 - effect * n**0.5 - s) - stats.norm.cdf(s - margin * n**0.5 - effect * n**0.5)
        return inside * stats.chi2.pdf(q, df)

    last = df * (margin * n**0.5 / t) ** 2
    points = [p for p in stats.chi2.ppf((0.001, 0.5, 0.999), df) if p < last]
    return integrate.quad(at, 0, min(last, stats.chi2.isf(1e-15, df)), epsabs=1e-13, limit=500, points=points)[0]


def t_power(effect, n, tails, alpha):
    """By integration; statsmodels agrees wherever its noncentral t is defined (scipy 1.10 has gaps)."""
    df, t = n - 1, t_quantile(1 - alpha / tails, n - 1)

    def at(q):
        s, mean = numpy.sqrt(q / df) * t, effect * n**0.5
        return (stats.norm.sf(s - mean) + (tails == 2) * stats.norm.cdf(-s - mean)) * stats.chi2.pdf(q, df)

    points = stats.chi2.ppf((0.001, 0.5, 0.999), df)
    power = integrate.quad(at, 0, stats.chi2.isf(1e-15, df), epsabs=1e-13, limit=500, points=points)[0]
    with numpy.errstate(invalid="ignore"):
        other = TTestPower().power(effect, n, alpha, alternative="larger" if tails == 1 else "two-sided")
    if abs(other - power) > 1e-8:
        print("statsmodels has", other, "instead of", power, "at", effect, n, tails, alpha)
    return power


def powers():
    out = []
    for n in (2, 3, 5, 9, 20, 64):
        for effect in (0.0, 0.3, 1.0, 2.5, -0.8):
            for alpha in (0.05, 0.005):
                for tails in (1, 2):
                    out.append({"n": n, "tails": tails, "effect": effect, "margin": 0.0, "alpha": alpha,
                                "power": t_power(abs(effect), n, tails, alpha)})
        for effect, margin in ((0.0, 1.0), (0.0, 3.0), (0.5, 1.0), (-0.5, 2.0), (1.5, 1.0)):
            out.append({"n": n, "tails": 0, "effect": effect, "margin": margin, "alpha": 0.05,
                        "power": equivalence_power(effect, margin, n, 0.05)})
    return out


def json_ready(x):
    if isinstance(x, dict):
        return {k: json_ready(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return [json_ready(v) for v in x]
    if isinstance(x, (float, numpy.floating)):
        return None if numpy.isnan(x) else float(x) if numpy.isfinite(x) else "inf" if x > 0 else "-inf"
    return int(x) if isinstance(x, numpy.integer) else x


cases = [{"name": name, "d": d, "expected": expected(d)} for name, d in CASES.items()]
text = json.dumps(json_ready({"margins": MARGINS, "cases": cases, "powers": powers()}))
text = text.replace('{"name"', '\n{"name"').replace('{"n": ', '\n{"n": ').replace('"powers"', '\n"powers"')
pathlib.Path(__file__).with_name("contrasts.json").write_text(text + "\n")
