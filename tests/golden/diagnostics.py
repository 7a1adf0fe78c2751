# SPDX-License-Identifier: MIT
"""Reference values of tests/unit/test_{subspace,support,collisions,probe}.c, from numpy, scipy and
scikit-learn: prints C tables to paste. The tests make their tables by the same formula."""
import numpy
from scipy import linalg, stats
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score


def noise(seed):
    """A fixed sequence without structure, in [-1, 1)."""
    state = seed
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield (state >> 11) * 2.0**-52 - 1.0


def table(seed, rows, columns, rising):
    """Column j is scaled by 1 / (1 + j), or by (1 + j) / columns."""
    draw = noise(seed)
    x = numpy.empty((rows, columns), numpy.float32)
    for i in range(rows):
        for j in range(columns):
            x[i, j] = next(draw) * ((1.0 + j) / columns if rising else 1.0 / (1.0 + j)) + 0.25
    return x.astype(float)


def show(name, values):
    print(f"/* {name} */ {{{', '.join(repr(float(v)) for v in numpy.atleast_1d(values))}}}")


def basis(x, share):
    value, vector = numpy.linalg.eigh(numpy.cov(x.T, bias=True))
    value, vector = value[::-1], vector[:, ::-1]
    k = int(numpy.searchsorted(numpy.cumsum(value), share * value.sum()) + 1)
    return value, vector[:, :k], k


def subspaces():
    print("== subspace")
    token, position = table(1, 40, 12, False), table(2, 20, 12, True)
    bases = []
    for name, x in (("token", token), ("position", position)):
        value, vectors, k = basis(x, 0.9)
        entropy = numpy.exp(stats.entropy(value))
        mean = numpy.square(x.mean(0)).sum()
        show(f"{name}: components, entropy, variance, constant",
             [k, entropy, value.sum(), mean / (mean + value.sum())])
        show(f"{name}: eigenvalues, ascending", value[::-1])
        bases.append(vectors)
    angles = numpy.sort(numpy.degrees(linalg.subspace_angles(*bases)))
    show("principal angles", angles)
    show("overlap", numpy.mean(numpy.cos(numpy.radians(angles)) ** 2))
    # A random line and k fixed axes of d: cos^2 is Beta(k / 2, (d - k) / 2).
    for k, d in ((1, 8), (3, 8), (5, 32)):
        cosine = stats.beta(k / 2, (d - k) / 2)
        angle = [numpy.degrees(numpy.arccos(numpy.sqrt(cosine.ppf(1 - q)))) for q in (0.05, 0.5, 0.95)]
        show(f"angle of a line and {k} of {d}: q05, q50, q95", angle)


def supports():
    print("== support")
    t, p = table(1, 40, 12, False).var(0), table(2, 20, 12, True).var(0)
    u, v = t / t.sum(), p / p.sum()
    show("overlap, chance, shared, spearman",
         [numpy.minimum(u, v).sum(), numpy.minimum.outer(u, v).sum() / len(u),
          numpy.minimum(t, p).sum() / min(t.sum(), p.sum()), stats.spearmanr(t, p)[0]])
    show("token variances", t)
    show("spearman with ties", stats.spearmanr([1, 2, 2, 3, 0, 2], [5, 5, 1, 4, 0, 1])[0])


def collisions():
    print("== collisions")
    token, position = table(3, 30, 6, False), table(4, 7, 6, True)
    V, T = len(token), len(position)
    x = (token[:, None] + position[None]).reshape(V * T, -1)
    a, i = numpy.divmod(numpy.arange(V * T), T)
    distance = numpy.sqrt(numpy.square(x[:, None] - x[None]).sum(-1))
    scale = numpy.sqrt(2 * (token.var(0).sum() + position.var(0).sum()))
    both = numpy.where((a[:, None] != a) & (i[:, None] != i), distance, numpy.inf)
    show("scale", scale)
    show("near token, position, least, mean",
         numpy.array([numpy.where((a[:, None] != a) & (i[:, None] == i), distance, numpy.inf).min(),
                      numpy.where((a[:, None] == a) & (i[:, None] != i), distance, numpy.inf).min(),
                      both.min(), both.min(1).mean()]) / scale)
    nearest = both.argmin(1)
    pairs = sorted({(both[q, n], *min((a[q], i[q], a[n], i[n]), (a[n], i[n], a[q], i[q])))
                    for q, n in enumerate(nearest)})
    for distance, *pair in pairs[:8]:
        print(f"    {{{', '.join(str(int(k)) for k in pair)}, {float(distance)!r}}},")
    show("shares of a normal number within 0.5, 1, 2", 2 * stats.norm.cdf([0.5, 1, 2]) - 1)


def activations(seed, groups, each, columns):
    """Row r of group g: noise around a curve, and the class r % 7 in two columns."""
    draw = noise(seed)
    n = groups * each
    x = numpy.empty((n, columns), numpy.float32)
    for r in range(n):
        for j in range(columns):
            x[r, j] = next(draw) + 0.1 * (j + 1) * (r // each) / groups
        x[r, 0] = x[r, 0] + numpy.float32(0.5 * (r % 7))
        x[r, 1] = x[r, 1] - numpy.float32(0.25 * ((r % 7) * (r % 7)))
    return x.astype(float)


def probes():
    print("== probe")
    groups, each, columns = 20, 12, 9
    x = activations(5, groups, each, columns)
    group = numpy.repeat(numpy.arange(groups), each)
    label = numpy.arange(len(x)) % 7
    test = group % 4 == 3
    scaled = (x - x[~test].mean(0)) / x[~test].std(0)
    y = 3.0 * group + 1.0
    rows = []
    for k in range(9):
        C = numpy.cov(scaled[~test].T, bias=True)
        alpha = 10.0 ** (k - 6) * numpy.trace(C) / columns * (~test).sum()
        fit = Ridge(alpha=alpha, solver="cholesky").fit(scaled[~test], y[~test])
        guess = fit.predict(scaled[test])
        rows.append((r2_score(y[test], guess), numpy.abs(y[test] - guess).mean(),
                     r2_score(y[~test], fit.predict(scaled[~test]))))
    for k, row in enumerate(rows):
        print(f"    {{1e{k - 6}, {', '.join(repr(float(v)) for v in row)}}},")
    residual = scaled[~test].copy()
    for c in range(7):
        own = label[~test] == c
        residual[own] -= residual[own].mean(0)
    shrinkage = ledoit_wolf_shrinkage(residual, assume_centered=True)
    lda = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage).fit(scaled[~test], label[~test])
    right = (lda.predict(scaled[test]) == label[test]).sum()
    show("shrinkage, right answers, test rows", [shrinkage, right, test.sum()])


subspaces()
supports()
collisions()
probes()
