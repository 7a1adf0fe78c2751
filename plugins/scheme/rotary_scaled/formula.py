# SPDX-License-Identifier: MIT
"""Linear (Chen et al. 2023), NTK-aware, YaRN (Peng et al. 2024, section 3.2) and LongRoPE (Ding et al. 2024, section
3) frequencies."""
import math

import torch

from formulas import angles, count, frequencies, turned


def scaled(w, C, kind, ramp, s, L, base, beta_fast, beta_slow):
    if kind == "linear":
        return w / s
    if kind == "ntk":
        return w * s ** (-2 * count(len(w), w) / max(C - 2, 1))
    turns = L * w / (2 * math.pi)
    keep = ((turns - beta_slow) / (beta_fast - beta_slow)).clamp(0, 1)
    if kind == "yarn" and ramp == "index":  # find_correction_range of the authors' code
        at = [C * math.log(L / (beta * 2 * math.pi)) / (2 * math.log(base)) for beta in (beta_fast, beta_slow)]
        low, high = max(math.floor(at[0]), 0), min(math.ceil(at[1]), C - 1)
        keep = 1 - ((count(len(w), w) - low) / (high - low or 0.001)).clamp(0, 1)
    return w * (keep + (1 - keep) / s)


def size(kind, s, L):
    return 0.1 * math.log(s) + 1 if kind == "yarn" else math.sqrt(1 + math.log(s) / math.log(L)) if kind == "longrope" else 1


def qkv(q, k, pos, pos_k, T_total, kind, factor, original_length, layout, base, beta_fast, beta_slow,
        ramp="turns", short_factor=(), long_factor=()):
    s, C = max(1, T_total / original_length) if factor == "auto" else factor, q.shape[-1]
    w = frequencies(base, C // 2, pos)
    own = long_factor if T_total > original_length else short_factor
    if kind == "longrope":
        w = w / torch.tensor(own, dtype=w.dtype, device=w.device) if len(own) else w
    else:
        w = scaled(w, C, kind, ramp, s, original_length, base, beta_fast, beta_slow)
    by = size(kind, s, original_length)
    return turned(q, angles(pos, w), layout, by), turned(k, angles(pos_k, w), layout, by)
