# SPDX-License-Identifier: MIT
"""Chu et al. 2021 (PEG) on sequences: a residual depth-wise convolution."""
from formulas import convolved


def residual(x, w, kernel, causal, document, pad):
    return x + convolved(x, w, document, pad, first=0 if causal else -(kernel // 2))
