# SPDX-License-Identifier: MIT
"""Likhomanenko et al. 2021, section 3.2: p -> (p + global shift + local shift) times a scale."""
import numpy as np


def positions(pos, training, random, shift, jitter, stretch):
    if not training:
        return pos
    u = 2 * np.array(random["positions"]) - 1
    moved = pos + shift * u[:, :1] + jitter * u[:, 2:]
    return moved * np.exp(np.log(stretch) * u[:, 1:2])
