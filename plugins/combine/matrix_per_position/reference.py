# SPDX-License-Identifier: MIT
"""A trained matrix for each position acts on the tokens."""
import numpy as np


def merge(x, pos, kind, weights, D):
    tokens, rest, row = x[0], sum(x[1:]), pos.astype(int)
    table = {k: v[row] for k, v in weights.items()}
    if kind == "full":
        return tokens + np.einsum("btd,bted->bte", *fit(tokens, square(table["matrix"], D))) + rest
    if kind == "low_rank":
        V = table["in"].reshape(row.shape + (D, -1))
        U = table["out"].reshape(row.shape + (-1, D))
        return tokens + (tokens[:, :, None] @ V @ U)[:, :, 0] + rest
    if kind == "diagonal":
        return tokens * (1 + table["scale"]) + rest
    z = (tokens[..., 0::2] + 1j * tokens[..., 1::2]) * np.exp(1j * table["angle"])
    return np.stack([z.real, z.imag], -1).reshape(tokens.shape) + rest


def square(flat, D):
    """[B, T, out, in] of x N_p."""
    return flat.reshape(flat.shape[:2] + (D, D)).swapaxes(2, 3)


def fit(x, M):
    return x, np.broadcast_to(M, x.shape[:1] + M.shape[1:])
