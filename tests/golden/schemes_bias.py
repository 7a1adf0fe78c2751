# SPDX-License-Identifier: MIT
"""Reference values of the tests of schemes that add to the logits: prints C lists to paste."""
import numpy


def show(name, values):
    print(f"/* {name} */\n{', '.join(repr(float(v)) for v in numpy.ravel(values))}")


def wave(k, *shape):
    return numpy.sin(1 + numpy.arange(numpy.prod(shape)) + 10 * k).reshape(shape)


def t5_bucket(n, buckets, far):
    """e + floor((b - e) log(n/e) / log(far/e)) in whole numbers: the largest k with
    (n/e)^(b-e) >= (far/e)^k."""
    e = buckets // 2
    if n < e:
        return n
    span = buckets - e
    k = 0
    while k < span and n ** span * e ** (k + 1) >= far ** (k + 1) * e ** span:
        k += 1
    return min(e + k, buckets - 1)


def t5_first(buckets, far):
    found = [t5_bucket(n, buckets, far) for n in range(4 * far)]
    return [found.index(b) for b in range(buckets)]


for buckets, far in ((32, 128), (16, 128), (8, 32), (4, 32), (16, 64)):
    print(f"/* t5_bias: first distance of each of {buckets}, {far} */\n{t5_first(buckets, far)}")

d = numpy.array([0, 1, 2, 3, 4, 5.0])
r1, r2 = numpy.array([[0.8], [0.3]]), numpy.array([[1.5], [0.7]])
show("kerple log", -r1 * numpy.log(1 + r2 * d))
show("kerple power", -r1 * d ** r2)

delta = numpy.array([0, -1, -2, 3, -4, 5])
alpha, beta, mu = (numpy.array(x)[:, None] for x in ((0.3, -0.2), (1.5, -0.7), (0.1, -0.4)))
scale = numpy.array([[2.0 ** -4], [2.0 ** -8]]) * numpy.exp(alpha)
show("bam", -scale * (abs(delta) + 1e-5) ** beta)
show("bam, location", -scale * (abs(delta - numpy.exp(mu) + numpy.exp(-mu)) + 1e-5) ** beta)

c, threshold, T = 0.1, 2.5, 4
i, j = numpy.arange(T)[:, None], numpy.arange(T)[None, :]
psi = lambda x: numpy.log(c * x + 1)
x = psi(abs(i - j)) / psi(numpy.maximum(i, threshold))
hidden = numpy.maximum(x[..., None] * wave(2, 3) + wave(3, 3), 0)
show("fire", numpy.einsum("ijw,hw->hij", hidden, wave(4, 2, 3)))

delta = numpy.array([0, -1, -3, 7.0])
angle = delta[:, None] * 100.0 ** (-2 * numpy.arange(3) / 6)
p = lambda a: numpy.concatenate([numpy.sin(a), numpy.cos(a)], -1)
show("sandwich", p(angle) @ p(0 * angle[0]) / (8 * numpy.arange(1, 4)[:, None] / 3))

delta = numpy.array([[-3], [0], [1], [8.0]])


def norm(x, w, b):
    centred = x - x.mean(-1, keepdims=True)
    return centred / numpy.sqrt((centred ** 2).mean(-1, keepdims=True) + 1e-5) * w + b


x = numpy.maximum(norm(delta @ wave(0, 1, 3) + wave(1, 3), wave(2, 3), wave(3, 3)), 0)
x = numpy.maximum(norm(x @ wave(4, 3, 3) + wave(5, 3), wave(6, 3), wave(7, 3)), 0)
show("dynamic_bias, norm", (x @ wave(8, 3, 2)).T)
x = numpy.sign(delta) * numpy.log(abs(delta) + 1)
x = numpy.maximum(x @ wave(0, 1, 3) + wave(1, 3), 0)
x = numpy.maximum(x @ wave(2, 3, 3) + wave(3, 3), 0)
show("dynamic_bias, log", (x @ wave(4, 3, 2)).T)

pos = [0, 2, 1]
show("diet_abs", numpy.einsum("ihc,jhc->hij", wave(0, 3, 2, 2)[pos], wave(1, 3, 2, 2)[pos]))
