# SPDX-License-Identifier: MIT
"""What formulas of several schemes share. Positions and angles are in double; a result has the dtype of what it acts on."""
import torch


def count(n, like):
    """0, 1, ... n - 1 in double, where `like` is."""
    return torch.arange(n, dtype=torch.float64, device=like.device)


def frequencies(base, n, like):
    """n frequencies, base^(-i/n)."""
    return base ** (-count(n, like) / n)


def angles(pos, frequency):
    """[B, 1, T, n]: position times frequency [n]."""
    return (pos[..., None] * frequency)[:, None]


def rotated(x, cos, sin, layout):
    """x [B, H, T, C], of which the first n pairs (a, b) become (a cos - b sin, a sin + b cos); the rest stays."""
    n = cos.shape[-1]
    a, b = (x[..., :n], x[..., n:2 * n]) if layout == "halves" else (x[..., 0:2 * n:2], x[..., 1:2 * n:2])
    y = a * cos - b * sin, a * sin + b * cos
    y = torch.cat(y, -1) if layout == "halves" else torch.stack(y, -1).flatten(-2)
    return torch.cat([y, x[..., 2 * n:]], -1)


def turned(x, angle, layout, size=1):
    """x, of which each pair turns by its angle [B, 1|H, T, n] and grows by size."""
    return rotated(x, (size * angle.cos()).to(x.dtype), (size * angle.sin()).to(x.dtype), layout)


def sinusoids(angle, d, layout):
    """Sines and cosines of angles [B, T, n] as vectors of d numbers; the last are 0 where d is more than 2 n."""
    x = torch.stack([angle.sin(), angle.cos()], -1).flatten(-2)
    x = torch.cat([angle.sin(), angle.cos()], -1) if layout == "halves" else x
    return torch.nn.functional.pad(x, (0, d - x.shape[-1]))


def distance(pos, pos_k):
    """i - j for the query at i and the key at j: [B, 1, T, T_k]."""
    return (pos[:, :, None] - pos_k[:, None, :])[:, None]


def rows(pos, pos_k, most, causal):
    """The row of i - j in a table from -most (0 in a decoder) to most: [B, 1, T, T_k]."""
    low = 0 if causal else -most
    return (distance(pos, pos_k).clamp(low, most) - low).long()


def looked_up(q, table, row):
    """q_i . table[row_ij], of a table [R, C] or [H, R, C]: [B, H, T, T_k]."""
    scores = q @ table.to(q.dtype).transpose(-1, -2)
    return scores.gather(-1, row.expand(*scores.shape[:2], -1, -1))


def looked_up_by_keys(k, table, row):
    """k_j . table[row_ij]."""
    return looked_up(k, table, row.transpose(2, 3)).transpose(2, 3)


def by_head(x, weight):
    """x [B, T, D] times a vector of each head, [H, D]: [B, H, T]."""
    return (x @ weight.T).transpose(1, 2)


def before(x, s, document, pad):
    """x [B, T, ...] s places earlier in its document; 0 where there is none, or padding."""
    T = x.shape[1]
    at = torch.arange(T, device=x.device) - s
    near = at.clamp(0, T - 1)
    own = (at == near) & (document[:, near] == document) & (pad[:, near] == 0)
    return x[:, near] * own.reshape(own.shape + (1,) * (x.dim() - 2))


def convolved(x, taps, document, pad, first=0):
    """The sum over i of taps[i] times x at t - first - i."""
    return sum(taps[i] * before(x, first + i, document, pad) for i in range(len(taps)))


def starts(document, pad):
    """Where a document begins, [B, T]: at the first place, and behind padding."""
    fresh = torch.ones_like(document, dtype=torch.bool)
    fresh[:, 1:] = (document[:, 1:] != document[:, :-1]) | (pad[:, :-1] == 1)
    return fresh


def since(start, x):
    """x [B, T], which never falls, minus what it was at the last start."""
    return x - torch.where(start, x, 0).cummax(1).values


def grid(pos, columns):
    """Row and column of each place, as the task gives them, or of a grid that is read line by line."""
    if pos.dim() == 3:
        return pos
    row = (pos / columns).floor()
    return torch.stack([row, pos - columns * row])


def slopes(H, like):
    """Press et al. 2022, section 3, and for H that is not a power of two their code: [H]."""
    n = 1 << H.bit_length() - 1
    own = 2 ** (-8 * (count(n, like) + 1) / n)
    return own if n == H else torch.cat([own, slopes(2 * n, like)[0::2][:H - n]])
