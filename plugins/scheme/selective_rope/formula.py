# SPDX-License-Identifier: MIT
"""Movahedi et al. 2025, sections 3.3 and 4.1: angles are sums over tokens of chosen angles."""
import torch

from formulas import by_head, convolved, frequencies, turned


def turns(x, weights, width, C, base, gate, document, pad):
    heads = x.unflatten(2, (-1, width))
    u = (heads / ((heads ** 2).sum(-1, keepdim=True) + 1e-6).sqrt()).flatten(2)  # as the authors' code
    z = torch.einsum("btr,hnr->bthn", u @ weights["down"].T, weights["up"])
    phi = convolved(z, weights["taps"], document, pad).transpose(1, 2)
    if gate:
        phi = phi * (by_head(u, weights["gate"]) + weights["gate_shift"][:, None]).sigmoid()[..., None]
    return frequencies(base, C // 2, x).to(x.dtype) * phi.cumsum(2)


def qkv(q, k, x_q, W_q, params, weights, H, C, base, document, pad):
    width = len(W_q) // H  # of the model's heads
    angle = turns(x_q, weights, width, C, base, params["gate"], document, pad)
    return turned(q, angle, "halves"), turned(k, angle, "halves")
