# SPDX-License-Identifier: MIT
"""Linear (Chen et al. 2023), NTK-aware and YaRN (Peng et al. 2024, section 3.2) frequencies."""
import numpy as np

from formulas import angles, turned


def frequencies(C, kind, s, L, base, beta_fast, beta_slow):
    w = base ** (-2 * np.arange(C // 2) / C)
    if kind == "linear":
        return w / s
    if kind == "ntk":
        return (base * s ** (C / (C - 2))) ** (-2 * np.arange(C // 2) / C) if C > 2 else w
    turns = L * w / (2 * np.pi)
    keep = np.clip((turns - beta_slow) / (beta_fast - beta_slow), 0, 1)
    return w * (keep + (1 - keep) / s)


def qkv(q, k, pos, pos_k, C, T_total, kind, factor, original_length, layout, base, beta_fast,
        beta_slow):
    s = max(1, T_total / original_length) if factor == "auto" else factor
    w = frequencies(C, kind, s, original_length, base, beta_fast, beta_slow)
    size = 0.1 * np.log(s) + 1 if kind == "yarn" else 1
    return size * turned(q, angles(pos, w), layout), size * turned(k, angles(pos_k, w), layout)
