# SPDX-License-Identifier: MIT
"""PEAT's random numbers in PyTorch, as docs/checkpoint.md defines them."""
from __future__ import annotations

import torch

from peat import philox


def stream(seed, purpose, name):
    key = philox.stream(seed, purpose, name)
    return torch.tensor(key - (key >> 63 << 64))  # as int64 holds it


def substream(key, n):
    r0, r1 = philox.words(key, torch.as_tensor(n, dtype=torch.int64, device=key.device), 1)[:2]
    return r0 | r1 << 32


def uniform(key, index):
    r0, r1 = philox.words(key, index, 0)[:2]
    return (r0 >> 11 | r1 << 21).to(torch.float64) * 2.0 ** -53
