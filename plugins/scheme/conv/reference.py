# SPDX-License-Identifier: MIT
"""Chu et al. 2021 (PEG) on sequences: a residual depth-wise convolution."""
from formulas import before


def residual(x, w, kernel, causal, document, pad):
    first = 0 if causal else -(kernel // 2)
    return x + sum(w[i] * before(x, first + i, document, pad) for i in range(kernel))
