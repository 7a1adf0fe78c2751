# SPDX-License-Identifier: MIT
"""Dai et al. 2019, section 3.3: terms (b) to (d) of the score, (a) being the host's."""
import numpy as np

from formulas import distance


def score_add(q, k, pos, pos_k, weights, base, D):
    u, v, w_r = weights["u"], weights["v"], weights["w_r"]
    d = distance(pos, pos_k)[:, 0]
    w = base ** (-2 * np.arange(D // 2) / D)
    r = np.concatenate([np.sin(d[..., None] * w), np.cos(d[..., None] * w)], -1)
    R = np.einsum("hcd,bqkd->bhqkc", w_r[..., :r.shape[-1]], r)
    return (np.einsum("bhqkc,bhqc->bhqk", np.broadcast_to(R, q.shape[:1] + R.shape[1:]),
                      q + v[:, None])
            + np.einsum("hc,bhkc->bhk", u, k)[:, :, None])
