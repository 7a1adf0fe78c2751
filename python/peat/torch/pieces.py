# SPDX-License-Identifier: MIT
"""What a block computes between the hooks of schemes, as functions of tensors and fixed words. torch.compile makes one
program of each for all layers, and cells of a shape find it in PyTorch's cache.

  norms = (kind, eps, weight, bias); product = (weight, bias); dropped = (kept, p) or None
"""
from __future__ import annotations

import functools

import torch
import torch.nn.functional as F


def norm(x, kind, eps, weight, bias):
    x = x.to(weight.dtype)  # autocast rounds products, and norms are computed in single precision
    if kind == "rms":
        return x / ((x * x).mean(-1, keepdim=True) + eps).sqrt() * weight
    return F.layer_norm(x, x.shape[-1:], weight, bias, eps)


def opened(x, norms, product):
    """The input of a branch after its norm, and the product that it begins with."""
    y = norm(x, *norms)
    return y, F.linear(y, *product)


def closed(x, y, product, dropped, after):
    """x with a branch: y, after the product that the branch ends with. after: the norm of the sum, or None."""
    x = x + without(y if product is None else F.linear(y, *product), dropped)
    return x if after is None else norm(x, *after)


def fed_forward(x, before, up, act, down, dropped, after):
    """x with the branch of the MLP."""
    y = x if before is None else norm(x, *before)
    return closed(x, act(F.linear(y, *up)), down, dropped, after)


def without(x, dropped):
    return x if dropped is None else x * dropped[0] / (1 - dropped[1])


def cross_entropy(logits, truth):
    """The sum over the rows of logits [n, V] whose truth is not -1."""
    return F.cross_entropy(logits, truth, ignore_index=-1, reduction="sum")


def gated(f):
    def act(y):
        g, v = y.chunk(2, -1)
        return f(g) * v
    return act


def gelu_tanh(y):
    return F.gelu(y, approximate="tanh")


ACTIVATIONS = {"gelu": F.gelu, "relu": F.relu, "gelu_tanh": gelu_tanh, "swiglu": gated(F.silu), "geglu": gated(F.gelu)}


@functools.lru_cache(None)
def compiled(f):
    return torch.compile(f, dynamic=False)
