# SPDX-License-Identifier: MIT
"""Peng 2021, the time shift of RWKV: the first features are those of neighbours."""
import numpy as np

from formulas import before


def shifted(x, fraction, causal, document, pad):
    n = int(fraction * x.shape[-1])
    if causal:
        return np.concatenate([before(x, 1, document, pad)[..., :n], x[..., n:]], -1)
    m = n // 2
    return np.concatenate([before(x, 1, document, pad)[..., :m],
                           before(x, -1, document, pad)[..., m:2 * m], x[..., 2 * m:]], -1)


def hidden(xq, xk, xv, fraction, causal, document, pad):
    return tuple(shifted(x, fraction, causal, document, pad) for x in (xq, xk, xv))
