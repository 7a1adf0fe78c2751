# SPDX-License-Identifier: MIT
"""Dai et al. 2019, section 3.3: terms (b) to (d) of the score, (a) being the host's."""
import torch

from formulas import count, distance, looked_up, sinusoids


def score_add(q, k, pos, pos_k, weights, base, D):
    u, v, w_r = weights["u"], weights["v"], weights["w_r"]
    far, row = distance(pos, pos_k).unique(return_inverse=True)  # every distance once
    w = base ** (-2 * count(D // 2, pos) / D)
    r = sinusoids(far[:, None] * w, D, "halves").to(w_r.dtype)
    R = torch.einsum("hcd,rd->hrc", w_r, r)
    return looked_up(q + v[:, None], R, row) + u[:, None] @ k.transpose(2, 3)
