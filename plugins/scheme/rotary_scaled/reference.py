# SPDX-License-Identifier: MIT
"""Linear (Chen et al. 2023), NTK-aware and YaRN (Peng et al. 2024, section 3.2) frequencies."""
import numpy as np

from formulas import angles, turned


def frequencies(C, kind, ramp, s, L, base, beta_fast, beta_slow):
    w = base ** (-2 * np.arange(C // 2) / C)
    if kind == "linear":
        return w / s
    if kind == "ntk":
        return (base * s ** (C / (C - 2))) ** (-2 * np.arange(C // 2) / C) if C > 2 else w
    turns = L * w / (2 * np.pi)
    keep = np.clip((turns - beta_slow) / (beta_fast - beta_slow), 0, 1)
    if kind == "yarn" and ramp == "index":  # find_correction_range of the authors' code
        at = [C * np.log(L / (beta * 2 * np.pi)) / (2 * np.log(base)) for beta in (beta_fast, beta_slow)]
        low, high = max(np.floor(at[0]), 0), min(np.ceil(at[1]), C - 1)
        keep = 1 - np.clip((np.arange(C // 2) - low) / (high - low if high != low else 0.001), 0, 1)
    return w * (keep + (1 - keep) / s)


def qkv(q, k, pos, pos_k, C, T_total, kind, ramp, factor, original_length, layout, base,
        beta_fast, beta_slow):
    s = max(1, T_total / original_length) if factor == "auto" else factor
    w = frequencies(C, kind, ramp, s, original_length, base, beta_fast, beta_slow)
    size = 0.1 * np.log(s) + 1 if kind == "yarn" else 1
    return size * turned(q, angles(pos, w), layout), size * turned(k, angles(pos_k, w), layout)
