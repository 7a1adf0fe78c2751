# SPDX-License-Identifier: MIT
"""Permutes the other tokens of each window and measures the change at the last place."""
from __future__ import annotations

import numpy as np

from .. import draws
from .words import ratio

PERMUTATIONS = 4
EXACT = 1e-12


def last_places(s):
    """The last place of each window that is not padding; -1: all are."""
    return np.where(s.pad.all(1), -1, s.T - 1 - (~s.pad[:, ::-1]).argmax(1))


def may_move(s, last):
    """[N, T]: the places of a window that may be exchanged."""
    place = np.arange(s.T)
    free = (place != last[:, None]) & ~s.pad & (last[:, None] >= 0)
    if s.about["causal"]:
        free &= place <= last[:, None]
    if "batch.document" in s.batch:
        document = s.batch["batch.document"]
        free &= document == np.take_along_axis(document, np.maximum(last, 0)[:, None], 1)
    return free


def permutation(s, number, free):
    """[N, T]: the place from which each place gets its token."""
    source = np.tile(np.arange(s.T), (s.N, 1))
    key = draws.substream(s.stream, 2 + number)
    for row in range(s.N):
        place = np.flatnonzero(free[row])
        own = draws.substream(draws.substream(key, row // s.each), row % s.each)
        draw = draws.bits(own, np.arange(len(place)))
        for i in range(len(place) - 1, 0, -1):
            a, b = place[i], place[int(draw[i]) % (i + 1)]
            source[row, [a, b]] = source[row, [b, a]]
    return source


def taken(x, source):
    return np.take_along_axis(x, source.reshape(*source.shape, *(1,) * (x.ndim - 2)), 1)


def head(s, x):
    """The logits of normed rows [n, D]."""
    w = s.weights
    if "tie.weight" in w:
        x = x @ w["tie.weight"].T
    return x @ (w["head.weight"] if "head.weight" in w else w["token.weight"]).T


def diagnose_order(s):
    if s.T < 3:
        return {"skipped": "windows of less than 3 tokens have no order to change"}
    last = last_places(s)
    sources = [permutation(s, i, may_move(s, last)) for i in range(PERMUTATIONS)]
    moved = [name for name in s.batch
             if name in ("batch.token", "batch.segment", "batch.special") or name.startswith("batch.stream.")]
    rows = np.flatnonzero(last >= 0)
    names = [f"block.{layer}.stream" for layer in range(s.L)] + ["stream", "norm"]
    change, norm, input_moves = np.zeros(s.L + 2), np.zeros(s.L + 2), False
    ran = s.vary([{name: taken(s.batch[name], source) for name in moved} for source in sources], ",".join(names))
    for source, y in zip(sources, ran):
        for i, name in enumerate(names):
            was, now = (x[name][rows, last[rows]] for x in (s.x, y))
            was, now = (head(s, was), head(s, now)) if name == "norm" else (was, now)
            change[i] += ((now - was) ** 2).sum()
            norm[i] += (was ** 2).sum()
        for i in range(0, s.N, s.each):
            was, now = taken(s.x[names[0]], source)[i:i + s.each], y[names[0]][i:i + s.each]
            input_moves |= bool(((now - was) ** 2).sum() > EXACT ** 2 * (was ** 2).sum())
    return told(s, np.sqrt([ratio(c, n) for c, n in zip(change, norm)]), input_moves)


def must_be_zero(s, layer, input_moves):
    """Attention without positions treats the keys as a set: a bidirectional model is then equivariant at every depth, a
    causal one in its first layer, whose last query sees all keys. Other mixers read in order."""
    free = s.model.get("mixer", "attention") != "attention" or any(of["hooks"] for of in s.schemes)
    return not (free or input_moves or s.model.get("window", 0) > 0) and (not s.about["causal"] or layer <= 1)


def told(s, relative, input_moves):
    layers = [{"layer": layer, "change": relative[layer], "must_be_zero": must_be_zero(s, layer, input_moves)}
              for layer in range(1, s.L + 1)]
    if any(of["must_be_zero"] and of["change"] > EXACT for of in layers):
        summary = "order changes the last output where it must not: this is an error"
    elif layers[-1]["must_be_zero"]:
        summary = "the model does not know the order of the other tokens, as it must be without positions"
    else:
        summary = (f"permuting the other tokens moves the last place's stream by {relative[1]:.3g} of its length after the "
                   f"first block and by {relative[s.L]:.3g} after the last")
    return {"summary": summary, "permutations": PERMUTATIONS, "windows": PERMUTATIONS * s.N, "layers": layers,
            "logits": relative[s.L + 1]}
