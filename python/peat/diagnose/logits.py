# SPDX-License-Identifier: MIT
"""logit(i, j) = sum over parts a, b of scale q_a(i).k_b(j), plus the bias, because q is the sum of q_a and k the sum of
k_b. For tokens and positions these are the terms of Ke et al. 2021."""
import numpy as np

from .subject import NOT_LINEAR, ROUNDING, PARTS, of
from .words import ratio


def centred(x, seen):
    """x less its mean over the keys that each query sees; 0 at the others. A softmax ignores a constant of a row."""
    n = np.maximum(seen.sum(-1, keepdims=True), 1)
    return np.where(seen, x - np.where(seen, x, 0.0).sum(-1, keepdims=True) / n, 0.0)


class Sums:
    """Sums of one head over all windows."""

    def __init__(self, changed_by):
        self.square, self.cross, self.logit, self.pairs, self.changed_by = {}, {}, 0.0, 0, changed_by

    def add(self, terms, seen):
        logit = sum(terms.values())
        self.logit += (logit ** 2).sum()
        self.pairs += seen.sum()
        for name, x in terms.items():
            self.square[name] = self.square.get(name, 0.0) + (x ** 2).sum()
            self.cross[name] = self.cross.get(name, 0.0) + (x * logit).sum()

    @property
    def all(self):
        return sum(self.square.values())


def add_group(s, heads, group, real, v):
    bias = real.get("bias", 0.0) + group["scale"] * real.get("score_add", 0.0)
    for h in range(group["heads"][1] - group["heads"][0]):
        for i in range(0, s.N, s.each):
            part = slice(i, i + s.each)
            seen = s.seen[part, 0]
            terms = {f"{a}.{b}": group["scale"] * v["q"][a][part, h] @ v["k"][b][part, h].swapaxes(-1, -2)
                     for a in v["q"] for b in v["k"]}
            if not np.isscalar(bias):
                terms["bias"] = bias[part, h]
            heads[group["heads"][0] + h].add({name: centred(x, seen) for name, x in terms.items()}, seen)


def shares(heads, name):
    """The mean share of a term over the heads that have any variance."""
    return ratio(sum(h.square.get(name, 0.0) / h.all for h in heads if h.all > 0), sum(h.all > 0 for h in heads))


def layer_of(s, layer, groups, names):
    heads = [None] * s.H
    for group, real, v, _ in groups:
        heads[slice(*group["heads"])] = [Sums(group["changed_by"]) for _ in range(*group["heads"])]
        add_group(s, heads, group, real, v)
    return {"layer": layer, "exact": layer == 0, "error": max(error for *_, error in groups),
            "share": {name: shares(heads, name) for name in names},
            "heads": [{"head": i, "variance": ratio(h.logit, h.pairs), "changed_by": h.changed_by,
                       "share": {name: ratio(h.square.get(name, 0.0), h.all) for name in names},
                       "covariance": {name: ratio(h.cross.get(name, 0.0), h.logit) for name in names}}
                      for i, h in enumerate(heads)]}


def bend(s, layer, groups):
    """Why the layer's queries and keys cannot be decomposed; None: they can be."""
    if s.model.get("qk_norm", "none") not in ("none", False):
        return "model.qk_norm makes queries and keys that are not linear in the streams"
    if max(error for *_, error in groups) > ROUNDING:
        return f"layer {layer}: queries and keys are not linear in the streams"
    return None


def summary(share):
    def percent(*names):
        return f"{100 * sum(share.get(name, 0.0) for name in names):.0f} %"
    if "position.position" not in share:
        return (f"no position at the input; layer 0: {percent('token.token')} of the terms' variance is token-token, "
                f"{percent('bias')} bias")
    return (f"layer 0: {percent('token.token')} of the terms' variance is token-token, "
            f"{percent('token.position', 'position.token')} token-position and position-token, "
            f"{percent('position.position')} position-position, {percent('bias')} bias")


def diagnose_logits(s):
    parts = s.parts()[1]
    if parts["error"] >= ROUNDING:
        return {"skipped": NOT_LINEAR}
    kinds, layers, stopped = [p for p, _ in of(parts)], [], None
    names = [f"{a}.{b}" for a in kinds for b in kinds] + ["bias"]
    for layer in range(s.L):
        groups = s.projected(layer, parts)
        stopped = bend(s, layer, groups)
        if stopped:
            break
        layers.append(layer_of(s, layer, groups, names))
        stopped = s.obstacle(layer) if layer + 1 < s.L else None
        if stopped or layer + 1 == s.L:
            break
        parts = s.advanced(layer, parts, groups)
    if not layers:
        return {"skipped": stopped}
    return {"summary": summary(layers[0]["share"]), "streams": [p for p in PARTS if p in kinds], "layers": layers,
            "stopped": stopped}
