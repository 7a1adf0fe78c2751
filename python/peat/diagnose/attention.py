# SPDX-License-Identifier: MIT
"""Where each head attends, and how much of that its positions determine."""
from __future__ import annotations

import math

import numpy as np

from .logits import centred
from .words import ratio

DISTANCES = 12  # 0, 1, 2-3, 4-7, ..
ROUNDS = 100


def bins(distance):
    """The number of bits of a distance, 11 at most."""
    bits = np.frexp(np.abs(distance).astype(float))[1]
    return np.minimum(np.where(distance == 0, 0, bits), DISTANCES - 1)


def explained(sums, count, square):
    """The shares of the logits that query and key positions explain, and that j - i alone explains, with a constant for
    each query: alternating least squares of M(i, j) = row(i) + f(j - i), each pair weighted by its count."""
    T = len(sums)
    at = np.arange(T) - np.arange(T)[:, None] + T - 1
    n, f, fixed_n = count.sum(1), np.zeros(2 * T - 1), np.bincount(at.ravel(), count.ravel(), 2 * T - 1)
    for _ in range(ROUNDS):
        row = np.divide((sums - count * f[at]).sum(1), n, out=np.zeros(T), where=n > 0)
        f = np.bincount(at.ravel(), (sums - count * row[:, None]).ravel(), 2 * T - 1)
        f = np.divide(f, fixed_n, out=np.zeros_like(f), where=fixed_n > 0)
    mean = np.divide(sums, count, out=np.zeros_like(sums), where=count > 0)
    fixed, left = (count * mean ** 2).sum(), (count * (mean - row[:, None] - f[at]) ** 2).sum()
    return ratio(fixed, square), ratio(max(0.0, fixed - left), square)


class Queries:
    """The queries that see a key and are not padding."""

    def __init__(self, s):
        self.seen = s.seen[:, 0] & ~s.pad[:, :, None] & s.seen[:, 0].any(-1, keepdims=True)
        self.n, self.keys = self.seen.any(-1).sum(), self.seen.sum(-1)
        place = np.arange(s.T)
        self.distance = np.abs(place - place[:, None])
        self.bin, self.bins = bins(self.distance), int(bins(np.array(s.T - 1))) + 1

    def by_bin(self, x):
        """Sums of x [N, T, T] over the seen keys at each distance."""
        return np.bincount(self.bin.ravel(), np.where(self.seen, x, 0.0).sum(0).ravel(), self.bins)


def head_of(q, number, group, real, seen, h):
    """One head of a group."""
    logits, weights = centred(real["logits"][:, h], seen), np.where(q.seen, real["weights"][:, h], 0.0)
    bias = centred(real["bias"][:, h], seen) if "bias" in real else None
    turned = (not group["changed_by"] and "score_add" not in real and real["q"].shape == real["chain.q"].shape
              and not np.array_equal(real["q"], real["chain.q"]))
    plain = centred(group["scale"] * real["q"][:, h] @ real["k"][:, h].swapaxes(-1, -2), seen) if turned else None
    logits = np.where(q.seen, logits, 0.0)
    square = (logits ** 2).sum()
    first = np.take_along_axis(weights, q.seen.argmax(-1)[..., None], -1)[..., 0]
    entropy = -(weights * np.log(np.where(weights > 0, weights, 1.0))).sum()
    most = np.log(np.maximum(q.keys, 1)).sum()
    position, distance = explained(logits.sum(0), q.seen.sum(0).astype(float), square)
    pairs = q.by_bin(np.ones_like(logits))

    def share(x):
        return ratio((np.where(q.seen, x, 0.0) ** 2).sum(), square)
    return {"head": number, "entropy": ratio(entropy, q.n), "entropy_share": ratio(entropy, most),
            "mean_distance": ratio((weights * q.distance).sum(), q.n),
            "self": ratio(np.diagonal(weights, axis1=1, axis2=2).sum(), q.n),
            "first": ratio(first[q.keys > 0].sum(), q.n),
            "by_distance": [ratio(x, q.n) for x in q.by_bin(weights)], "position_share": position,
            "distance_share": distance, "bias_share": math.nan if bias is None else share(bias),
            "bias_by_distance": None if bias is None else [ratio(x, n) for x, n in zip(q.by_bin(bias), pairs)],
            "rotation_share": share(logits - (0 if bias is None else bias) - plain) if turned else math.nan,
            "changed_by": group["changed_by"]}, entropy, most


def ends(q, T):
    """The least and the greatest distance of each bin."""
    low = [0] + [1 << i for i in range(q.bins - 1)]
    return [[a, min(b - 1, T - 1) if i + 1 < DISTANCES else T - 1]
            for i, (a, b) in enumerate(zip(low, [1] + [2 * a for a in low[1:]]))]


def diagnose_attention(s):
    q, layers, entropy, most = Queries(s), [], 0.0, 0.0
    for layer in range(s.L):
        heads = []
        for group, real in s.attention(layer):
            for h, number in enumerate(range(*group["heads"])):
                head, e, m = head_of(q, number, group, real, s.seen[:, 0], h)
                heads.append(head)
                entropy, most = entropy + e, most + m
        layers.append({"layer": layer, "heads": heads})
    near = min(((head["mean_distance"], of["layer"], head["head"]) for of in layers for head in of["heads"]),
               key=lambda item: item[0])
    uniform = q.by_bin(np.ones(q.seen.shape) / np.maximum(q.keys, 1)[..., None])
    return {"summary": f"entropy is {100 * ratio(entropy, most):.0f} % of what uniform attention has; the nearest-looking "
                       f"head is head {near[2]} of layer {near[1]}, {near[0]:.1f} tokens away in the mean",
            "distances": ends(q, s.T), "uniform": [ratio(x, q.n) for x in uniform], "layers": layers}
