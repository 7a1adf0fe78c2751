# SPDX-License-Identifier: MIT
"""Veisi et al. 2025 (CARoPE), section 2: angles are sums over tokens of powers of f(x)."""
import math

import torch.nn.functional as F

from formulas import by_head, count, turned


def turns(x, weight, base, C):
    # softplus(shift) + 1 = base^(2/C), so that w = 0 is rotary
    one = math.expm1(2 / C * math.log(base))
    shift = one + math.log(-math.expm1(-one))
    f = 1 / (F.softplus(by_head(x, weight) + shift, threshold=50) + 1)
    return (f[..., None] ** count(C // 2, x).to(x.dtype)).cumsum(2)


def qkv(q, k, x_q, x_k, weight, base, C, layout):
    return turned(q, turns(x_q, weight, base, C), layout), turned(k, turns(x_k, weight, base, C), layout)
