# SPDX-License-Identifier: MIT
"""Hallam and Tseng 2026: W [x; p_1; p_2; ...] + b."""
import torch


def merge(x, weights):
    streams = torch.cat([s.expand(*x[0].shape[:2], -1) for s in x], -1)
    return streams @ weights["weight"].T + weights.get("bias", 0)
