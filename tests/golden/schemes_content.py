# SPDX-License-Identifier: MIT
"""Reference values of the tests of schemes that look at content, or act elsewhere than on q.k:
prints C lists to paste. Pairs are computed one by one, as the papers write them."""
import numpy

exp, log = numpy.exp, numpy.log


def show(name, values):
    print(f"/* {name} */\n{', '.join(repr(float(v)) for v in numpy.ravel(values))}")


def wave(phase, *shape):
    return numpy.sin(1 + numpy.arange(numpy.prod(shape)) + phase).reshape(shape)


def weight(k, *shape):
    return wave(10 * k, *shape)


def pairs(H, T, f):
    return [[[f(h, i, j) for j in range(T)] for i in range(T)] for h in range(H)]


def sigmoid(x):
    return 1 / (1 + exp(-x))


# shaw: 1 head of 2, 4 tokens, clip 2
q, k, a = wave(100, 4, 2), wave(200, 4, 2), weight(0, 5, 2)
clip = lambda d: max(-2, min(2, d)) + 2
show("shaw_keys", pairs(1, 4, lambda h, i, j: q[i] @ a[clip(i - j)]))
show("huang", pairs(1, 4, lambda h, i, j: q[i] @ a[clip(i - j)] + k[j] @ a[clip(i - j)]))
W, o = wave(300, 4, 4), wave(400, 4, 2)
show("shaw", [o[i] + sum(W[i, j] * a[clip(i - j)] for j in range(4)) for i in range(4)])

# transformer_xl: 2 heads of 2, 3 tokens
q, k = wave(100, 2, 3, 2), wave(200, 2, 3, 2)
u, v, w_r = weight(0, 2, 2), weight(1, 2, 2), weight(2, 2, 2, 4)


def r(d):
    w = 1e4 ** (-numpy.arange(0, 4, 2) / 4)
    return numpy.concatenate([numpy.sin(d * w), numpy.cos(d * w)])


show("transformer_xl", pairs(2, 3, lambda h, i, j: q[h, i] @ w_r[h] @ r(i - j) + u[h] @ k[h, j] +
                             v[h] @ w_r[h] @ r(i - j)))

# wavelet: 1 head of 8, tokens at 0, 3 and 2
q, pos = wave(100, 3, 8), [0, 3, 2]


def ricker(t):
    return (1 - t ** 2) * exp(-t ** 2 / 2)


def wavelets(psi, scales, shifts):
    return pairs(1, 3, lambda h, i, j: sum(
        q[i, m] * psi((pos[i] - pos[j] - m % shifts) / scales[m // shifts]) for m in range(8)))


show("wavelet, ricker", wavelets(ricker, [1, 2, 4, 8], 2))
show("wavelet, gaussian", wavelets(lambda t: exp(-t ** 2), [4, 8], 4))

# tapa: 2 heads of 4, tokens at 0, 3 and 1
q, k, pos = wave(100, 2, 3, 4), wave(200, 2, 3, 4), [0, 3, 1]


def tapa(A, alpha):
    size = lambda h, i, j: q[h, i, :A] @ k[h, j, :A] / A ** 0.5
    phase = lambda h, i, j: q[h, i, A:] @ k[h, j, A:] / (4 - A) ** 0.5
    return pairs(2, 3, lambda h, i, j: size(h, i, j) * numpy.cos(
        2 * numpy.pi * abs(pos[i] - pos[j]) ** alpha * phase(h, i, j)))


show("tapa", tapa(2, 0.1))
show("tapa, other powers and parts", tapa(3, 1))

# tape_equivariant: 2 heads of 4, tokens at 0, 3 and 1, width 3, between layers 0 and 1 of 2
pos, n = numpy.array([0, 3, 1]), 2
angle = pos[:, None] * 1e4 ** (-numpy.arange(n) / n)
e = numpy.concatenate([numpy.cos(angle), numpy.sin(angle)], 1)
gain, up, gate, down = weight(0, 2), weight(1, 3, 2), weight(2, 3, 8), weight(3, 2, 3)
x, W = wave(100, 3, 8), wave(200, 2, 3, 3)
seen = numpy.array([e + gain[h] * W[h] @ e for h in range(2)])
carried = seen.copy()
for t in range(3):
    z = gate @ x[t]
    units = (z * sigmoid(z))[:, None] * (up @ seen[:, t])
    carried[:, t] += down @ units
show("tape_equivariant, carried", carried)
turned = [[carried[h, t, m] * q[h, t, m] - carried[h, t, n + m] * q[h, t, n + m] if m < n else
           carried[h, t, m] * q[h, t, m - n] + carried[h, t, m - n] * q[h, t, m]
           for m in range(4)] for q in [wave(100, 2, 3, 4)] for h in range(2) for t in range(3)]
show("tape_equivariant, queries of layer 1", turned)

# tupe: 2 heads of 2, positions 0, 2, 1 of 3
p, norm_w, norm_b, u_q, u_k = (weight(0, 3, 4), weight(1, 4), weight(2, 4), weight(3, 2, 2, 4),
                               weight(4, 2, 2, 4))
p = (p - p.mean(1, keepdims=True)) / numpy.sqrt(p.var(1, keepdims=True) + 1e-5) * norm_w + norm_b
p = p[[0, 2, 1]]
show("tupe", pairs(2, 3, lambda h, i, j: (u_q[h] @ p[i]) @ (u_k[h] @ p[j])))

# deberta, own projections: 2 heads of 2, 4 tokens, clip 2
q, k = wave(100, 2, 4, 2), wave(200, 2, 4, 2)
p, w_q, w_k = weight(0, 4, 4), weight(1, 2, 2, 4), weight(2, 2, 2, 4)
delta = lambda i, j: 0 if i - j <= -2 else 3 if i - j >= 2 else i - j + 2
show("deberta", pairs(2, 4, lambda h, i, j: q[h, i] @ w_k[h] @ p[delta(i, j)] +
                      k[h, j] @ w_q[h] @ p[delta(j, i)]))

# cope: 1 head of 2, 4 tokens, 3 positions
q, S, e = wave(100, 4, 2), 2 * wave(200, 4, 4), weight(0, 3, 2)


def cope(h, i, j):
    position = min(sum(sigmoid(S[i, m]) for m in range(j, i + 1)), 2)
    low, high = int(numpy.floor(position)), int(numpy.ceil(position))
    part = position - low
    return S[i, j] + part * q[i] @ e[high] + (1 - part) * q[i] @ e[low]


show("cope", pairs(1, 4, cope))
S = numpy.array([2, -1, .5, 1])
show("cope, positions", [sum(sigmoid(S[j:])) for j in range(4)])

# dape: 2 heads, 2 tokens, width 3; a bias of the key alone
S, bias = wave(100, 2, 2, 2), numpy.broadcast_to(wave(200, 2, 1, 2), (2, 2, 2))
w_score, w_bias, b1, w2 = weight(0, 3, 2), weight(1, 3, 2), weight(2, 3), weight(3, 2, 3)


def dape(h, i, j):
    x = w_score @ S[:, i, j] + w_bias @ bias[:, i, j] + b1
    return S[h, i, j] + bias[h, i, j] + w2[h] @ numpy.where(x > 0, x, .01 * x)


show("dape", pairs(2, 2, dape))

# forgetting: 2 heads, 3 tokens, d_model 4
x, w, b = wave(100, 3, 4), weight(0, 2, 4), weight(1, 2)
show("forgetting", [[-sum(log(sigmoid(w[h] @ x[t] + b[h])) for t in range(j + 1))
                     for j in range(3)] for h in range(2)])

# erpe: 2 heads, 3 tokens
W, w = wave(100, 2, 3, 3), weight(0, 2, 5)
show("erpe", pairs(2, 3, lambda h, i, j: W[h, i, j] + w[h, i - j + 2]))

# roper: a head of 4, positions 0, 3, 20
v, W, pos = wave(100, 3, 4), wave(200, 3, 3), [0, 3, 20]
for layout in "interleaved", "halves":
    z = v[:, 0::2] + 1j * v[:, 1::2] if layout == "interleaved" else v[:, :2] + 1j * v[:, 2:]
    w = 1e4 ** (-numpy.arange(2) / 2)
    z = numpy.array([sum(W[i, j] * exp(1j * w * (pos[j] - pos[i])) * z[j] for j in range(3))
                     for i in range(3)])
    y = numpy.stack([z.real, z.imag], -1 if layout == "interleaved" else 1)
    show(f"roper, {layout}", y)

# conv: 4 tokens of 2 features, 3 taps
x, w = wave(100, 4, 2), weight(0, 3, 2)
for name, first in (("decoder", 0), ("encoder", -1)):
    show(f"conv, {name}", [x[t] + sum((w[i] * x[t - first - i] for i in range(3)
                                       if 0 <= t - first - i < 4), 0 * x[0]) for t in range(4)])

# grids of 3 columns: place 5 is row 1, column 2
w = 1e4 ** (-numpy.arange(2) / 2)
show("sincos2d", [f(x * w) for x in (1, 2) for f in (numpy.sin, numpy.cos)])
q = wave(100, 8)
z = q[0::2] + 1j * q[1::2]
w = 100 ** (-numpy.arange(2) / 2)
turned = lambda angle: numpy.stack([(z * exp(1j * angle)).real, (z * exp(1j * angle)).imag], -1)
show("rotary2d, axial", turned(numpy.concatenate([2 * w, 1 * w])))
show("rotary2d, learned", turned(2 * weight(0, 4) + 1 * weight(1, 4)))

# cable: 2 heads, 3 tokens, d_model 4; b_i is left out
x, w, b = wave(100, 3, 4), weight(0, 2, 4), weight(1, 2)
show("cable", [[sum(log(1 + exp(w[h] @ x[t] + b[h])) for t in range(j + 1)) for j in range(3)]
               for h in range(2)])

# path: 2 heads of 2, 4 tokens, rank 2, 2 taps; products of the matrices themselves
q, k, x = wave(100, 2, 4, 2), wave(200, 2, 4, 2), wave(100, 4, 4)
down, up, taps = weight(0, 2, 4), weight(1, 2, 2, 2), weight(2, 2, 2, 2)
beta = 2 * sigmoid(x @ weight(3, 2, 4).T + weight(4, 2))
u = numpy.einsum("tr,hcr->thc", x @ down.T, up)
u = numpy.array([taps[0] * u[t] + (taps[1] * u[t - 1] if t > 0 else 0) for t in range(4)])
u = u * sigmoid(u)
u = u / numpy.sqrt((u ** 2).sum(-1, keepdims=True) + 1e-6)


def path(h, i, j):
    product = numpy.eye(2)
    for t in range(j + 1, i + 1):
        product = (numpy.eye(2) - beta[t, h] * numpy.outer(u[t, h], u[t, h])) @ product
    return q[h, i] @ product @ k[h, j] - q[h, i] @ k[h, j]


show("path", pairs(2, 4, path))

# complex_word: words 3, 0, 3 at positions 0, 2, 7.5; 2 components of 4 words
r, f, phase = weight(0, 7, 2), weight(1, 7, 2), weight(2, 7, 2)
z = numpy.array([r[j] * exp(1j * (f[j] * p + phase[j])) for j, p in ((3, 0), (0, 2), (3, 7.5))])
show("complex_word", numpy.concatenate([z.real, z.imag], 1))

# stick_breaking: 1 head, 4 tokens; what is left stands on the diagonal
z = sigmoid(2 * wave(200, 4, 4))
A = numpy.zeros((4, 4))
for i in range(4):
    left = 1
    for j in range(i - 1, -1, -1):
        A[i, j] = z[i, j] * left
        left *= 1 - z[i, j]
    A[i, i] = left
show("stick_breaking", A)

# sigmoid: 1 head, 4 tokens, 8 keys
W = numpy.tril(sigmoid(2 * wave(200, 4, 4) - log(8)))
show("sigmoid", W)
