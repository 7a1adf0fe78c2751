# SPDX-License-Identifier: MIT
"""labml.ai 2022: values turn by their position, and each output back by its query's."""
import numpy as np

from formulas import angles, turned


def frequency(C, base):
    return base ** (-np.arange(C // 2) / (C // 2))


def qkv(q, k, v, pos, pos_k, C, base, layout, scores):
    a, b = angles(pos, frequency(C, base)), angles(pos_k, frequency(C, base))
    if scores:
        q, k = turned(q, a, layout), turned(k, b, layout)
    return q, k, turned(v, b, layout)


def context(o, pos, C, base, layout):
    return turned(o, -angles(pos, frequency(C, base)), layout)
