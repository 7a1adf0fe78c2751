# SPDX-License-Identifier: MIT
"""Sun et al. 2022, section 3: rotary, and a factor zeta^((p - c)/s) of queries, its inverse of keys."""
import numpy as np

from formulas import angles, turned


def qkv(q, k, pos, pos_k, C, base, gamma, scale_base, centre, layout):
    i = np.arange(C // 2)
    w, zeta = base ** (-2 * i / C), (2 * i / C + gamma) / (1 + gamma)
    size = [np.log(zeta) * ((p[..., None] - centre) / scale_base)[:, None] for p in (pos, pos_k)]
    return (turned(q, angles(pos, w) - 1j * size[0], layout),
            turned(k, angles(pos_k, w) + 1j * size[1], layout))
