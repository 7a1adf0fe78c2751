# SPDX-License-Identifier: MIT
"""Peng 2021, the time shift of RWKV: the first features are those of neighbours."""
import torch

from formulas import before


def shifted(x, fraction, causal, document, pad):
    n = int(fraction * x.shape[-1])
    m = n if causal else n // 2
    left, right = before(x, 1, document, pad), x if causal else before(x, -1, document, pad)
    return torch.cat([left[..., :m], right[..., m:2 * m], x[..., 2 * m:]], -1)


def hidden(xq, xk, xv, fraction, causal, document, pad):
    return tuple(shifted(x, fraction, causal, document, pad) for x in (xq, xk, xv))
