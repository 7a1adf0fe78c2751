# SPDX-License-Identifier: MIT
"""Veisi et al. 2025 (CARoPE), section 2: angles are sums over tokens of powers of f(x)."""
import numpy as np

from formulas import softplus, turned


def turns(x, weight, base, C):
    # softplus(shift) + 1 = base^(2/C), so that w = 0 is rotary
    shift = np.log(np.expm1(np.expm1(2 / C * np.log(base))))
    f = 1 / (softplus(np.einsum("btd,hd->bht", x, weight) + shift) + 1)
    return np.cumsum(f[..., None] ** np.arange(C // 2), 2)


def qkv(q, k, x_q, x_k, weight, base, C, layout):
    return (turned(q, turns(x_q, weight, base, C), layout),
            turned(k, turns(x_k, weight, base, C), layout))
