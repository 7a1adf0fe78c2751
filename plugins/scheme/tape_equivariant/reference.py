# SPDX-License-Identifier: MIT
"""Zhu et al. 2025, section 3, as in the authors' code: rotary whose cosines and sines attention and
the layer's inputs change, each head's like every other dimension."""
import numpy as np

from formulas import angles, silu


def state_of(state, pos, C, base):
    """Cosines and sines of a layer; those of the first, before any carry, are rotary's."""
    angle = angles(pos, base ** (-2 * np.arange(C // 2) / C))
    return np.concatenate([np.cos(angle), np.sin(angle)], -1) if state is None else state


def turn(x, e, C):
    n = C // 2
    cos, sin = e[..., :n], e[..., n:]
    a, b = x[..., :n], x[..., n:C]
    return np.concatenate([a * cos - b * sin, a * sin + b * cos, x[..., C:]], -1)


def qkv(q, k, pos, C, base, layer, state):
    e = state_of(None if layer == 0 else state[0], pos, C, base)
    return turn(q, e, C), turn(k, e, C)


def carry(x, W, state, layer, params, weights):
    gain, up, gate, down = (weights[n][layer] for n in ("gain", "up", "gate", "down"))
    e = state[0] + gain * (W @ state[0])
    units = silu(np.einsum("btd,sd->bst", x, gate))[..., None] * np.einsum("sh,bhtc->bstc", up, e)
    return e + np.einsum("hs,bstc->bhtc", down, units)
