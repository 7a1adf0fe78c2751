# SPDX-License-Identifier: MIT
"""Reference values of the tests of combinations: prints C lists to paste. x [2,2,4], p [1,2,4];
the i-th number of a tensor is a small fraction of its index, so that tests can make it too."""
import numpy


def ramp(shape, a, b):
    """(a i mod 7 - 3) / b"""
    i = numpy.arange(numpy.prod(shape))
    return ((a * i % 7 - 3) / b).reshape(shape)


x, p = ramp((2, 2, 4), 3, 2), ramp((1, 2, 4), 5, 4)


def show(name, y):
    print(name, ", ".join(repr(float(v)) for v in numpy.asarray(y).ravel()))


def sigmoid(z):
    return 1 / (1 + numpy.exp(-z))


wt, wp, b = ramp((4, 4), 2, 5), ramp((4, 4), 4, 5), ramp((4,), 3, 5)
g = sigmoid(x @ wt.T + p @ wp.T + b)
show("gate_vector", g * x + (1 - g) * p)

ws, wb = ramp((4, 4), 2, 5), ramp((4, 4), 4, 5)
show("film", x * (1 + p @ ws.T) + p @ wb.T)

w, b = ramp((4,), 2, 5), ramp((4,), 3, 5)
u = x + p
show("sum_norm", w * (u - u.mean(-1, keepdims=True))
     / numpy.sqrt(u.var(-1, keepdims=True) + 0.01) + b)

# position t of every row has matrix t of three
n = ramp((3, 4, 4), 2, 5)
show("full", x + numpy.einsum("bti,tij->btj", x, n[:2]))
v, o = ramp((3, 4, 2), 2, 5), ramp((3, 2, 4), 3, 5)
show("low_rank", x + numpy.einsum("bti,tir,trj->btj", x, v[:2], o[:2]))
s = ramp((3, 4), 2, 5)
show("diagonal", x * (1 + s[:2]))
a = ramp((3, 2), 2, 5)[:2]
y = numpy.empty_like(x)
y[..., 0::2] = x[..., 0::2] * numpy.cos(a) - x[..., 1::2] * numpy.sin(a)
y[..., 1::2] = x[..., 0::2] * numpy.sin(a) + x[..., 1::2] * numpy.cos(a)
show("block_rotation", y)
