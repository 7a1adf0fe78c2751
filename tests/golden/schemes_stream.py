# SPDX-License-Identifier: MIT
"""Reference values of the tests of schemes that give a stream: prints C lists to paste."""
import numpy
from scipy import special


def show(name, values):
    print(f"/* {name} */\n{', '.join(repr(float(v)) for v in numpy.ravel(values))}")


def wave(k, *shape):
    return numpy.sin(1 + numpy.arange(numpy.prod(shape)) + 10 * k).reshape(shape)


p = numpy.arange(4)[:, None]
angle = p * wave(0, 2)
r = numpy.concatenate([numpy.cos(angle), numpy.sin(angle)], -1) / numpy.sqrt(4)
x = r @ wave(1, 4, 2) + wave(2, 2)
x = x * 0.5 * (1 + special.erf(x / numpy.sqrt(2)))
show("fourier", x @ wave(3, 2, 3) + wave(4, 3))

d, L = 5, 20
w = 100.0 ** (-2 * numpy.arange(2) / d) * d / L
table = numpy.zeros((4, d))
table[:, 0:4:2], table[:, 1:4:2] = numpy.sin(p * w), numpy.cos(p * w)
show("tape", 0.5 * table)
