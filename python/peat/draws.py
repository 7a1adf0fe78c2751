# SPDX-License-Identifier: MIT
"""PEAT's random numbers in NumPy, as docs/checkpoint.md defines them. Keys and indices broadcast."""
import numpy as np

from . import philox
from .philox import stream  # noqa: F401 with the others


def halves(key, index, use):
    """The low and the high 64 bits of each block."""
    key, index = np.broadcast_arrays(np.asarray(key, np.uint64), np.asarray(index, np.uint64))
    words = philox.words(key.ravel().view(np.int64), index.ravel().view(np.int64), use)
    r = [x.reshape(key.shape).astype(np.uint64) for x in words]
    return [low | high << np.uint64(32) for low, high in (r[:2], r[2:])]


def substream(key, index):
    return halves(key, index, 1)[0]


def bits(key, index):
    return halves(key, index, 0)[0]


def uniform(key, index):
    return (bits(key, index) >> np.uint64(11)) * 2.0 ** -53


def normal(key, index):
    low, high = (x >> np.uint64(11) for x in halves(key, index, 0))
    return np.sqrt(-2 * np.log((low + np.uint64(1)) * 2.0 ** -53)) * np.cos(2 * np.pi * (high * 2.0 ** -53))
