# SPDX-License-Identifier: MIT
"""Wang et al. 2021 (CrossFormer), dynamic position bias: a small network of the distance."""
import numpy as np

from formulas import normalised


def bias_rel(delta, weights, depth, log, norm, out):
    x = (np.sign(delta) * np.log1p(np.abs(delta)) if log else delta)[:, None]
    for i in range(depth):
        layer = {k: weights.get(f"{i}.{k}") for k in ("weight", "shift", "norm_weight", "norm_shift")}
        x = x @ layer["weight"] + layer["shift"]
        x = np.maximum(normalised(x, layer["norm_weight"], layer["norm_shift"]) if norm else x, 0)
    return (x @ out).T
