# SPDX-License-Identifier: MIT
"""Hallam and Tseng 2026: W [x; p_1; p_2; ...] + b."""
import numpy as np


def merge(x, weight, bias):
    B, T = x[0].shape[:2]
    streams = np.concatenate([np.broadcast_to(s, (B, T, s.shape[-1])) for s in x], -1)
    return streams @ weight.T + (bias if isinstance(bias, np.ndarray) else 0)
