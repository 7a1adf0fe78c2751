# SPDX-License-Identifier: MIT
"""Reference values of tests/unit/maths/test_crossed.c: restricted maximum likelihood of the crossed model by
scipy.optimize, on the covariance matrix of all values. For tables of equal weights and positive components the variance
of the mean is that of the analysis of variance."""
import numpy
from scipy import optimize


def table(S, J):
    """Values with both components above 0, from sines alone: the test makes the same."""
    return numpy.array([[0.3 + 0.5 * numpy.sin(1 + 3 * s) + 0.4 * numpy.sin(2 + 5 * j) + 0.3 * numpy.sin(7 * s * s + 11 * j * s + j)
                         for j in range(J)] for s in range(S)])


def reml(d):
    S, J = d.shape
    y, one = d.ravel(), numpy.ones(S * J)
    seeds, texts = numpy.kron(numpy.eye(S), numpy.ones((J, J))), numpy.kron(numpy.ones((S, S)), numpy.eye(J))

    def fit(log):
        a, b, e = numpy.exp(log)
        V = a * seeds + b * texts + e * numpy.eye(S * J)
        inverse = numpy.linalg.inv(V)
        information = one @ inverse @ one
        mean = one @ inverse @ y / information
        r = y - mean
        return (numpy.linalg.slogdet(V)[1] + numpy.log(information) + r @ inverse @ r) / 2, mean, 1 / information

    best = optimize.minimize(lambda log: fit(log)[0], numpy.log([.1, .1, .1]), method="Nelder-Mead",
                             options={"xatol": 1e-10, "fatol": 1e-13, "maxiter": 4000})
    return fit(best.x)[1:]


def satterthwaite(d):
    """Degrees of freedom by mean squares, as Clark (1973) writes the denominator of his F'."""
    S, J = d.shape
    seed, text, mean = d.mean(1, keepdims=True), d.mean(0, keepdims=True), d.mean()
    a, b = J * ((seed - mean) ** 2).sum() / (S - 1), S * ((text - mean) ** 2).sum() / (J - 1)
    e = ((d - seed - text + mean) ** 2).sum() / ((S - 1) * (J - 1))
    return (a + b - e) ** 2 / (a * a / (S - 1) + b * b / (J - 1) + e * e / ((S - 1) * (J - 1)))


if __name__ == "__main__":
    for S, J in (4, 6), (6, 12):
        print("{%d, %d, %.10f, %.10f, %.10f}," % (S, J, *reml(table(S, J)), satterthwaite(table(S, J))))
