# SPDX-License-Identifier: MIT
"""Sun et al. 2022, section 3: rotary, and a factor zeta^((p - c)/s) of queries, its inverse of keys."""
from formulas import angles, count, frequencies, turned


def qkv(q, k, pos, pos_k, base, gamma, scale_base, centre, layout):
    n = q.shape[-1] // 2
    w, zeta = frequencies(base, n, pos), (count(n, pos) / n + gamma) / (1 + gamma)
    size = [zeta ** ((p[:, None, :, None] - centre) / scale_base) for p in (pos, pos_k)]
    return turned(q, angles(pos, w), layout, size[0]), turned(k, angles(pos_k, w), layout, 1 / size[1])
