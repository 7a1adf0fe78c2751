# SPDX-License-Identifier: MIT
"""Likhomanenko et al. 2021, section 3.2: p -> (p + global shift + local shift) times a scale."""
import math


def positions(pos, training, random, T, shift, jitter, stretch):
    if not training:
        return pos
    u = 2 * random("positions", 2 + T) - 1
    moved = pos + shift * u[:, :1] + jitter * u[:, 2:]
    return moved * (math.log(stretch) * u[:, 1:2]).exp()
