# SPDX-License-Identifier: MIT
"""x p_1 p_2 ..., or x (1 + p_1) (1 + p_2) ..."""


def merge(x, form):
    y = x[0]
    for p in x[1:]:
        y = y * (p if form == "product" else 1 + p)
    return y
