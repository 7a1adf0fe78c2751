# SPDX-License-Identifier: MIT
"""labml.ai 2022: values turn by their position, and each output back by its query's."""
from formulas import angles, frequencies, turned


def qkv(q, k, v, pos, pos_k, C, base, layout, scores):
    w = frequencies(base, C // 2, pos)
    a, b = angles(pos, w), angles(pos_k, w)
    if scores:
        q, k = turned(q, a, layout), turned(k, b, layout)
    return q, k, turned(v, b, layout)


def context(o, pos, C, base, layout):
    return turned(o, -angles(pos, frequencies(base, C // 2, pos)), layout)
