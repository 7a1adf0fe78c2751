# SPDX-License-Identifier: MIT
"""Wang et al. 2021 (CrossFormer), dynamic position bias: a small network of the distance."""
import torch.nn.functional as F


def bias_rel(delta, weights, depth, log, norm, out):
    x = (delta.sign() * delta.abs().log1p() if log else delta)[:, None].to(out.dtype)
    for i in range(depth):
        w, b, gain, shift = (weights.get(f"{i}.{k}") for k in ("weight", "shift", "norm_weight", "norm_shift"))
        x = x @ w + b
        x = (F.layer_norm(x, x.shape[-1:], gain.flatten(), shift.flatten(), 1e-5) if norm else x).relu()
    return (x @ out).T
