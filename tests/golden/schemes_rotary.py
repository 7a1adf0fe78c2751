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

# p_rope: 3/4 of the 4 pairs
n = numpy.arange(4)
angle = numpy.where(n < 3, 3 * 1e4 ** (-n / 4), 0)
for halves in False, True:
    show(f"p_rope, halves {halves}", turned(Q8, numpy.exp(1j * angle), halves))


def wave(phase, *shape):
    return numpy.sin(1 + numpy.arange(numpy.prod(shape)) + phase).reshape(shape)


def show_heads(name, q, k, turn, halves):
    for which, x in ("q", q), ("k", k):
        show(f"{name} {which}", [[turned(x[h, t], turn(h, t), halves) for t in range(x.shape[1])]
                                 for h in range(x.shape[0])])


# carope: 2 heads of 4, 3 tokens; the angle of pair i is a sum of powers i
x, w = wave(100, 3, 8), wave(0, 2, 8)
shift = numpy.log(numpy.exp(1e4 ** (2 / 4) - 1) - 1)
f = 1 / (softplus(x @ w.T + shift) + 1)
show_heads("carope", wave(100, 2, 3, 4), wave(200, 2, 3, 4),
           lambda h, t: numpy.exp(1j * sum(f[s, h] ** numpy.arange(2) for s in range(t + 1))), False)

# selective_rope: 2 heads of 4, 3 tokens, rank 3, 2 taps, with a gate
down, up, taps = wave(0, 3, 8), wave(10, 2, 2, 3), wave(20, 2, 2, 2)
gate_w, gate_b = wave(30, 2, 8), wave(40, 2)
u = x.reshape(3, 2, 4)
u = (u / numpy.sqrt((u ** 2).sum(-1, keepdims=True) + 1e-6)).reshape(3, 8)
phi = numpy.einsum("tr,hnr->thn", u @ down.T, up)
phi = numpy.array([taps[0] * phi[t] + (taps[1] * phi[t - 1] if t > 0 else 0) for t in range(3)])
phi = phi / (1 + numpy.exp(-(u @ gate_w.T + gate_b)))[:, :, None]
show_heads("selective_rope", wave(100, 2, 3, 4), wave(200, 2, 3, 4), lambda h, t: numpy.exp(
    1j * 5e5 ** (-numpy.arange(2) / 2) * phi[:t + 1, h].sum(0)), True)

# fope: a head of 8 trained with 700 tokens, which 3 of 4 frequencies go round in, mixed to 2 pairs;
# cosine and sine are no rotation, so pairs are written out
q, pos = wave(100, 1, 3, 8)[0], numpy.array([0, 3, 20])
w = 1e4 ** (-numpy.arange(3) / 4)
start = numpy.array([[1, 0], [0, 0], [0, 1]])
c = numpy.cos(pos[:, None] * w) @ (wave(0, 3, 2) + start)
s = numpy.sin(pos[:, None] * w) @ (wave(10, 3, 2) + start)
y = q.copy()
y[:, :2] = q[:, :2] * c - q[:, 4:6] * s
y[:, 4:6] = q[:, :2] * s + q[:, 4:6] * c
show("fope", y)

# liere: a head of 4 in blocks; the exponential by the eigenvectors of i A
for b in 4, 2:
    g, q, pos = wave(0, 4 // b, b * (b - 1) // 2), wave(100, 3, 4), [0, 3, 20.5]
    y = numpy.zeros((3, 4))
    for n in range(4 // b):
        A = numpy.zeros((b, b))
        A[numpy.triu_indices(b, 1)] = g[n]
        values, vectors = numpy.linalg.eigh(1j * (A - A.T))
        for t in range(3):
            R = vectors @ numpy.diag(numpy.exp(-1j * values * pos[t])) @ vectors.conj().T
            y[t, n * b:(n + 1) * b] = R.real @ q[t, n * b:(n + 1) * b]
    show(f"liere, blocks of {b}", y)

# query_temperature: floor 4, scale 0.5
pos = numpy.array([0, 2, 3, 6.5, 7, 100])
show("query_temperature", 1 + .5 * numpy.log(1 + numpy.floor((pos + 1) / 4)))
