# SPDX-License-Identifier: MIT
"""Hua et al. 2024: cosines and sines that are mixtures of rotary's frequencies."""
import torch
import torch.nn.functional as F

from formulas import angles, frequencies, rotated


def turn(x, pos, cosine, sine, base, C):
    n_in, n_out = cosine.shape[1:]
    first = torch.eye(n_in, n_in * n_out, dtype=cosine.dtype, device=x.device)[:, ::-(-n_in // n_out)][:, :n_out]
    angle = angles(pos, frequencies(base, C // 2, pos)[:n_in])
    mixed_cos, mixed_sin = (f(angle).to(cosine.dtype) @ (first + w) for f, w in ((torch.cos, cosine), (torch.sin, sine)))
    still = (0, C // 2 - n_out)
    return rotated(x, F.pad(mixed_cos, still, value=1.0), F.pad(mixed_sin, still), "halves")


def qkv(q, k, pos, pos_k, cosine, sine, base, C):
    return turn(q, pos, cosine, sine, base, C), turn(k, pos_k, cosine, sine, base, C)
