# SPDX-License-Identifier: MIT
"""Ruoss et al. 2023, section 3: positions are an ordered sample of a longer range (Floyd's)."""
import torch


def sample(u, n, most):
    """n different whole numbers below most in their order, for each row of u [B, n]."""
    taken = torch.empty_like(u)
    for k in range(n):
        x = (u[:, k] * (most - n + k + 1)).floor()
        taken[:, k] = torch.where((taken[:, :k] == x[:, None]).any(1), most - n + k, x)
    return taken.sort(1).values


def positions(pos, training, random, params, T_total):
    most = params["max"]
    if not training and params["eval"] == "plain":
        return pos
    if not training and params["eval"] == "even":
        return ((pos + 0.5) * most / T_total).floor()
    drawn = sample(random("positions", T_total), T_total, most)
    return drawn.gather(1, pos.long().expand(len(drawn), -1))
