# SPDX-License-Identifier: MIT
"""0 x + p_1 + p_2 + ..."""


def merge(x):
    return 0 * x[0] + sum(x[1:])
