# SPDX-License-Identifier: MIT
"""PEAT's random numbers in NumPy, as docs/checkpoint.md defines them. Keys and indices broadcast."""
import numpy as np

LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)


def philox(key, index, use):
    """Philox4x32-10: the low and the high 64 bits of each block."""
    key, index = np.broadcast_arrays(np.asarray(key, np.uint64), np.asarray(index, np.uint64))
    k0, k1, c0, c1 = key & LOW, key >> HALF, index & LOW, index >> HALF
    c2, c3 = np.zeros_like(c0), np.full_like(c0, use)
    for _ in range(10):
        p, r = c0 * np.uint64(0xD2511F53), c2 * np.uint64(0xCD9E8D57)
        c0, c1, c2, c3 = r >> HALF ^ c1 ^ k0, r & LOW, p >> HALF ^ c3 ^ k1, p & LOW
        k0, k1 = k0 + np.uint64(0x9E3779B9) & LOW, k1 + np.uint64(0xBB67AE85) & LOW
    return c0 | c1 << HALF, c2 | c3 << HALF


def stream(seed, purpose, name=""):
    key = 0xCBF29CE484222325
    for byte in purpose.encode() + b"\0" + name.encode() + b"\0":
        key = (key ^ byte) * 0x100000001B3 & (1 << 64) - 1
    return philox(key, seed, 2)[0]


def substream(key, index):
    return philox(key, index, 1)[0]


def bits(key, index):
    return philox(key, index, 0)[0]


def uniform(key, index):
    return (bits(key, index) >> np.uint64(11)) * 2.0 ** -53


def normal(key, index):
    low, high = (x >> np.uint64(11) for x in philox(key, index, 0))
    return np.sqrt(-2 * np.log((low + np.uint64(1)) * 2.0 ** -53)) * np.cos(2 * np.pi * (high * 2.0 ** -53))
