# SPDX-License-Identifier: MIT
"""Philox4x32-10 and streams, as docs/checkpoint.md defines them, of whole numbers: Python's, arrays or tensors of int64."""
LOW = 0xFFFFFFFF


def words(key, index, use):
    """The four words of 32 bits of each block; keys and indices broadcast."""
    k0, k1, c0, c1, c2, c3 = key & LOW, key >> 32 & LOW, index & LOW, index >> 32 & LOW, 0, use
    for _ in range(10):
        p, r = c0 * 0xD2511F53, c2 * 0xCD9E8D57
        c0, c1, c2, c3 = (r >> 32 & LOW) ^ c1 ^ k0, r & LOW, (p >> 32 & LOW) ^ c3 ^ k1, p & LOW
        k0, k1 = k0 + 0x9E3779B9 & LOW, k1 + 0xBB67AE85 & LOW
    return c0, c1, c2, c3


def stream(seed, purpose, name=""):
    """The key of a purpose of a seed, below 2^64."""
    key = 0xCBF29CE484222325
    for byte in purpose.encode() + b"\0" + name.encode() + b"\0":
        key = (key ^ byte) * 0x100000001B3 & (1 << 64) - 1
    low, high = words(key, seed, 2)[:2]
    return low | high << 32
