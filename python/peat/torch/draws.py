# SPDX-License-Identifier: MIT
"""PEAT's random numbers, as docs/checkpoint.md defines them."""
from __future__ import annotations

import torch

LOW = 0xFFFFFFFF


def signed(x):
    """An unsigned number of 64 bits as an int64 tensor holds it."""
    return x - (1 << 64) if x >= 1 << 63 else x


def philox(key, index, use):
    """Philox4x32-10: four tensors of 32-bit words for int64 tensors that broadcast."""
    key, index = torch.broadcast_tensors(key, index)
    k0, k1 = key & LOW, key >> 32 & LOW
    c0, c1 = index & LOW, index >> 32 & LOW
    c2, c3 = torch.zeros_like(c0), torch.full_like(c0, use)
    for _ in range(10):
        p, r = c0 * 0xD2511F53, c2 * 0xCD9E8D57
        c0, c1, c2, c3 = (r >> 32 & LOW) ^ c1 ^ k0, r & LOW, (p >> 32 & LOW) ^ c3 ^ k1, p & LOW
        k0, k1 = k0 + 0x9E3779B9 & LOW, k1 + 0xBB67AE85 & LOW
    return c0, c1, c2, c3


def joined(r0, r1):
    return r0 | r1 << 32


def stream(seed, purpose, name):
    key = 0xCBF29CE484222325
    for byte in purpose.encode() + b"\0" + name.encode() + b"\0":
        key = (key ^ byte) * 0x100000001B3 & (1 << 64) - 1
    return joined(*philox(torch.tensor(signed(key)), torch.tensor(signed(seed)), 2)[:2])


def substream(key, n):
    return joined(*philox(key, torch.as_tensor(n, dtype=torch.int64, device=key.device), 1)[:2])


def uniform(key, index):
    r0, r1 = philox(key, index, 0)[:2]
    return (r0 >> 11 | r1 << 21).to(torch.float64) * 2.0 ** -53
