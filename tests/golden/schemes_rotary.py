# SPDX-License-Identifier: MIT
"""Reference values of the tests of schemes that rotate queries and keys, by complex numbers: prints
C lists to paste."""
import numpy

Q8 = numpy.array([.1, .2, .3, .4, .5, .6, .7, .8])
K8 = Q8[::-1]


def show(name, values):
    print(f"/* {name} */\n{', '.join(repr(float(v)) for v in numpy.ravel(values))}")


def turned(x, turn, halves):
    n = len(x) // 2
    z = (x[:n] + 1j * x[n:] if halves else x[0::2] + 1j * x[1::2]) * turn
    return numpy.concatenate([z.real, z.imag]) if halves else numpy.ravel([z.real, z.imag], "F")


def xpos(p, centre, base, gamma, scale_base, sign, n):
    i = numpy.arange(n)
    zeta = (i / n + gamma) / (1 + gamma)
    return numpy.exp(1j * p * base ** (-i / n)) * zeta ** (sign * (p - centre) / scale_base)


for name, halves, base, gamma, scale_base in (("interleaved", False, 1e4, .4, 512),
                                              ("halves", True, 50, .1, 100)):
    for x, p, sign, which in ((Q8, 300, 1, "q"), (K8, 1, -1, "k")):
        show(f"xpos {which} {name}", turned(x, xpos(p, 4, base, gamma, scale_base, sign, 4), halves))

q, k = numpy.array([.1, -.2, .3, .4]), numpy.array([-.8, .7, .6, -.5])
softplus = lambda x: numpy.log(1 + numpy.exp(x))
phase = -numpy.sin(1 + numpy.arange(4)) ** 2
pos = numpy.array([0, 3, 20])
angle = pos[:, None] * 1e4 ** (-numpy.arange(4) / 4)
zq = softplus(q) * numpy.exp(1j * angle)
zk = softplus(k) * numpy.exp(1j * (angle + phase))
show("polar", (zq[:, None, :] * zk[None, :, :].conj()).real.sum(-1))


def scaled(kind, s, d=8, base=1e4, L=64, fast=8, slow=.5):
    i = numpy.arange(0, d, 2)
    w = 1 / base ** (i / d)
    if kind == "linear":
        return w / s, 1
    if kind == "ntk":
        return 1 / (base * s ** (d / (d - 2))) ** (i / d), 1
    gamma = numpy.clip((L / (2 * numpy.pi / w) - slow) / (fast - slow), 0, 1)
    return (1 - gamma) * w / s + gamma * w, .1 * numpy.log(s) + 1


for kind in ("linear", "ntk", "yarn"):
    w, magnitude = scaled(kind, 4)
    show(kind, turned(Q8, magnitude * numpy.exp(90j * w), False))
