# SPDX-License-Identifier: MIT
"""Reference values of tests/unit/test_statistics.c, from scipy: prints C tables to paste."""
import numpy
from scipy import stats

from statistics_formulas import holm, paired_t, sign_flip, t_quantile, wilcoxon

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
SIGNED = DIFFERENCES | {
    "equal sizes": [1.0, 1.0, -1.0, 1.0, 1.0, -1.0, 1.0, 1.0],
    "nothing": [0.0, 0.0, 0.0],
    "no spread": [0.25, 0.25, 0.25],
    "ties and zeros": [0.5, -0.25, 0.5, 0.0, 0.75, -0.5, 0.25, 0.25, 0.0, 1.0],
}
WELCH = {
    "equal": ([1.0, 2.0, 3.0], [2.0, 3.0, 4.0]),
    "unlike": ([0.5, 0.75, 0.25, 0.875, 0.5], [4.0, 1.0]),
    "pair": ([1.0, 2.0], [1.5, 3.5]),
}
HOLM = {
    "one": [0.04],
    "plain": [0.01, 0.04, 0.03, 0.005],
    "ties": [0.02, 0.02, 0.5, 0.02, 0.9],
    "capped": [0.6, 0.7, 0.8],
}


def row(name, values, *results):
    numbers = ", ".join(repr(float(v)) for v in values)
    tail = ", ".join(repr(float(r)) for r in results)
    print(f'    {{"{name}", {len(values)}, {{{numbers}}}, {tail}}},')


def welch(x, y):
    vx, vy = numpy.var(x, ddof=1) / len(x), numpy.var(y, ddof=1) / len(y)
    df = (vx + vy) ** 2 / (vx**2 / (len(x) - 1) + vy**2 / (len(y) - 1))
    half = t_quantile(0.975, df) * numpy.sqrt(vx + vy)
    # At the edge of its own interval Welch's test has p = .05.
    edge = stats.ttest_ind(numpy.array(x) - numpy.mean(x) + half, numpy.array(y) - numpy.mean(y),
                           equal_var=False)
    assert abs(edge.pvalue - 0.05) < 1e-9
    return half


def c_number(x):
    return "NAN" if numpy.isnan(x) else "INFINITY" if numpy.isinf(x) else repr(float(x))


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
print("/* Wilcoxon p, t p, d_z, g_z */")
for name, d in SIGNED.items():
    numbers = ", ".join(repr(float(v)) for v in d)
    tail = ", ".join(c_number(v) for v in (wilcoxon(d), *paired_t(d)))
    print(f'    {{"{name}", {len(d)}, {{{numbers}}}, {tail}}},')
print("/* Wilcoxon of 60 distinct differences, and of 250 */")
for n in (60, 250):
    d = [(((37 * i) % 101) - 40) / 16 + i / 1024 for i in range(n)]
    long = stats.wilcoxon(d, mode="exact" if n == 60 else "approx",
                                           correction=True).pvalue
    print(f"    {{{n}, {float(long)!r}}},")
print("/* Welch's half-width: sd, n, sd, n */")
for name, (x, y) in WELCH.items():
    print(f'    {{"{name}", {float(numpy.std(x, ddof=1))!r}, {len(x)}, {float(numpy.std(y, ddof=1))!r}, '
          f"{len(y)}, {float(welch(x, y))!r}}},")
print("/* tails: t, df, p; f, a, b, p */")
for t, df in ((0.0, 3), (1.0, 1), (2.5, 7), (40.0, 2), (-3.0, 19)):
    print(f"    {{{t}, {df}, {float(2 * stats.t.sf(abs(t), df))!r}}},")
for f, a, b in ((0.5, 2, 8), (4.0, 3, 15), (30.0, 1, 4), (1.0, 19, 95)):
    print(f"    {{{f}, {a}, {b}, {float(stats.f.sf(f, a, b))!r}}},")
