# SPDX-License-Identifier: MIT
"""A trained matrix for each position acts on the tokens."""
import torch

min_streams = 1


def merge(x, pos, kind, weights):
    tokens, rest = x[0], sum(x[1:])
    table = {name: w[pos.long()] for name, w in weights.items()}
    if kind == "full":
        return tokens + times(tokens, table["matrix"]) + rest
    if kind == "low_rank":
        return tokens + times(times(tokens, table["in"]), table["out"]) + rest
    if kind == "diagonal":
        return tokens * (1 + table["scale"]) + rest
    a, b, cos, sin = tokens[..., 0::2], tokens[..., 1::2], table["angle"].cos(), table["angle"].sin()
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2) + rest


def times(x, matrix):
    """Each row x [B, T, n] times its matrix, of which [B, T, n m] has the numbers."""
    return (x[..., None, :] @ matrix.reshape(*matrix.shape[:2], x.shape[-1], -1))[..., 0, :]
