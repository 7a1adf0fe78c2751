# SPDX-License-Identifier: MIT
"""Formulas of results tables by way of scipy, shared by statistics.py and results.py."""
import itertools

import numpy
from scipy import special, stats


def t_quantile(p, df):
    """stats.t.ppf of scipy 1.10 errs by up to 4e-10; a root of its distribution function does not."""
    tail = 2 * min(p, 1 - p)
    if tail > 0.5:
        y = special.betaincinv(0.5, df / 2, 1 - tail)
        t = numpy.sqrt(df * y / (1 - y))
    else:
        x = special.betaincinv(df / 2, 0.5, tail)
        t = numpy.sqrt(df * (1 - x) / x)
    return float(numpy.copysign(t, p - 0.5)) if p != 0.5 else 0.0


def sign_flip(d):
    """Enumerated: scipy's own permutation test for the same hypothesis agrees."""
    d = numpy.array(d)
    limit = abs(d.sum()) - 1e-12 * abs(d).sum()
    signs = itertools.product((1, -1), repeat=len(d))
    p = numpy.mean([abs(numpy.dot(s, d)) >= limit for s in signs])
    if 1 < len(d) <= 12:
        same = stats.permutation_test((d,), lambda x: numpy.sum(x), permutation_type="samples",
                                      n_resamples=numpy.inf, alternative="two-sided")
        assert abs(same.pvalue - p) < 1e-12, (d, same.pvalue, p)
    return p


def wilcoxon(d):
    """Over all sign patterns of the mean ranks; scipy's exact method agrees where it applies."""
    d = numpy.array(d)
    d = d[d != 0]
    if len(d) == 0:
        return 1.0
    ranks = stats.rankdata(abs(d))
    middle = ranks.sum() / 2
    far = abs(ranks[d > 0].sum() - middle) - 1e-9
    sums = [abs(numpy.dot(s, ranks) - middle) for s in itertools.product((0, 1), repeat=len(d))]
    p = numpy.mean([s >= far for s in sums])
    if len(set(abs(d))) == len(d):
        assert abs(stats.wilcoxon(d, mode="exact").pvalue - p) < 1e-12, d
    elif len(d) <= 12:
        statistic = lambda x: numpy.dot(stats.rankdata(abs(x)), numpy.sign(x))
        same = stats.permutation_test((d,), statistic, permutation_type="samples",
                                      n_resamples=numpy.inf, alternative="two-sided")
        assert abs(same.pvalue - p) < 1e-12, (d, same.pvalue, p)
    return p


def paired_t(d):
    """p, d_z, g_z; NaN where the differences have no spread."""
    d = numpy.array(d)
    if len(d) < 2 or numpy.ptp(d) == 0:
        return numpy.nan, numpy.nan, numpy.nan
    test = stats.ttest_rel(d, numpy.zeros(len(d)))
    m, dz = len(d) - 1, numpy.mean(d) / numpy.std(d, ddof=1)
    j = numpy.exp(special.gammaln(m / 2) - special.gammaln((m - 1) / 2)) / numpy.sqrt(m / 2)
    return test.pvalue, dz, j * dz if len(d) > 2 else numpy.nan


def holm(p):
    p = numpy.array(p)
    order, out, so_far = p.argsort(kind="stable"), numpy.empty(len(p)), 0.0
    for j, i in enumerate(order):
        so_far = max(so_far, min(1.0, (len(p) - j) * p[i]))
        out[i] = so_far
    return out
