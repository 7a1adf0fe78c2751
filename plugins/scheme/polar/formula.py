# SPDX-License-Identifier: MIT
"""Gopalakrishnan et al. 2025 (PoPE): content is the magnitude, position the angle."""
import torch
import torch.nn.functional as F

from formulas import angles, frequencies


def wave(x, angle):
    return torch.cat([x * angle.cos().to(x.dtype), x * angle.sin().to(x.dtype)], -1)


def qkv(q, k, pos, pos_k, phase, base):
    w = frequencies(base, q.shape[-1], pos)
    q, k = F.softplus(q, threshold=50), F.softplus(k, threshold=50)
    return wave(q, angles(pos, w)), wave(k, angles(pos_k, w) + phase[:, None])
