# SPDX-License-Identifier: MIT
"""Reference values of tests/unit/test_statistics.c, from scipy: prints C tables to paste."""
import itertools

import numpy
from scipy import special, stats

SAMPLES = {
    "pair": [2.0, 2.5],
    "few": [2.143, 2.151, 2.139],
    "ties": [0.5, 0.25, 0.5, 0.25, 0.5],
    "same": [1.25, 1.25, 1.25, 1.25],
    "mixed": [-1.5, 0.0, 3.25, 7.0, -2.75, 0.125, 4.5, 1.0],
    "close": [1000000.1, 1000000.2, 1000000.4, 1000000.3],
}
DIFFERENCES = {
    "one": [0.3],
    "pair": [0.25, 0.5],
    "split": [0.25, -0.5, 1.0],
    "rounding": [0.1, 0.2, -0.3, 0.4],
    "ties": [0.5, 0.5, -0.5, 0.5, -0.5, 0.5],
    "zeros": [0.0, 0.0, 0.75, 0.0],
    "eight": [0.01, 0.03, -0.02, 0.05, 0.04, 0.02, -0.01, 0.06],
    "twelve": [0.3, -0.1, 0.25, 0.5, -0.4, 0.15, 0.05, 0.7, -0.2, 0.35, 0.45, -0.6],
    "sixteen": [((7 * i) % 16 - 6) / 8 for i in range(16)],
}
HOLM = {
    "one": [0.04],
    "plain": [0.01, 0.04, 0.03, 0.005],
    "ties": [0.02, 0.02, 0.5, 0.02, 0.9],
    "capped": [0.6, 0.7, 0.8],
}


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


def row(name, values, *results):
    numbers = ", ".join(repr(float(v)) for v in values)
    tail = ", ".join(repr(float(r)) for r in results)
    print(f'    {{"{name}", {len(values)}, {{{numbers}}}, {tail}}},')


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


def holm(p):
    p = numpy.array(p)
    order, out, so_far = p.argsort(kind="stable"), numpy.empty(len(p)), 0.0
    for j, i in enumerate(order):
        so_far = max(so_far, min(1.0, (len(p) - j) * p[i]))
        out[i] = so_far
    return out


print("/* t quantile: p, then df 1 .. 100 */")
for p in (0.975, 0.9995):
    quantiles = ", ".join(repr(t_quantile(p, df)) for df in range(1, 101))
    print(f"    {{{p}, {{{quantiles}}}}},")
print("/* t quantile elsewhere: p, df, t */")
for p, df in ((0.025, 4), (0.75, 2.5), (1e-12, 3), (0.975, 1e6), (0.3, 0.5), (0.995, 1000), (0.6, 7),
              (0.50001, 3), (0.5, 9)):
    print(f"    {{{p}, {df}, {t_quantile(p, df)!r}}},")
print("/* samples: mean, sd, half-width, median */")
for name, x in SAMPLES.items():
    half = t_quantile(0.975, len(x) - 1) * stats.sem(x)
    row(name, x, numpy.mean(x), numpy.std(x, ddof=1), half, numpy.median(x))
print("/* sign-flip p */")
for name, d in DIFFERENCES.items():
    row(name, d, sign_flip(d))
print("/* Holm */")
for name, p in HOLM.items():
    adjusted = ", ".join(repr(float(v)) for v in holm(p))
    print(f'    {{"{name}", {len(p)}, {{{", ".join(map(repr, p))}}}, {{{adjusted}}}}},')
