# SPDX-License-Identifier: MIT
"""Zheng et al. 2024 (DAPE): S + B + f(S, B), f a small network over the heads."""
import torch
import torch.nn.functional as F


def logits(S, bias, w_score, w_bias, b1, w2, slope):
    bias = bias.expand_as(S)
    hidden = torch.einsum("wh,bhqk->bwqk", w_score, S) + torch.einsum("wh,bhqk->bwqk", w_bias, bias)
    hidden = F.leaky_relu(hidden + b1[:, :, None], slope)
    return S + bias + torch.einsum("hw,bwqk->bhqk", w2, hidden)
