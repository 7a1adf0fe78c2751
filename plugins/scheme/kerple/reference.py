# SPDX-License-Identifier: MIT
"""Chi et al. 2022: kernels of the distance with two trained numbers of each head."""
import numpy as np


def bias_rel(delta, r1, r2, kind):
    m = np.abs(delta)
    return -r1 * (np.log(1 + r2 * m) if kind == "log" else m ** r2)
