# SPDX-License-Identifier: MIT
"""Ruoss et al. 2023, section 3: positions are an ordered sample of a longer range (Floyd's)."""
import numpy as np


def sample(u, n, most):
    taken = []
    for k in range(n):
        x = int(np.floor(u[k] * (most - n + k + 1)))
        taken.append(most - n + k if x in taken else x)
    return np.sort(taken)


def positions(pos, training, random, params, T_total):
    most, row = params["max"], pos.astype(int)
    if not training and params["eval"] == "plain":
        return pos
    if not training and params["eval"] == "even":
        return np.floor((row + 0.5) * most / T_total)
    return np.array([sample(u, T_total, most)[r] for u, r in zip(random["positions"], row)])
