# SPDX-License-Identifier: MIT
"""Ke, He and Liu 2021, section 3.1, and with reset the special tokens of section 3.2."""
import numpy as np

from formulas import normalised


def score_add(pos, pos_k, p, norm_weight, norm_shift, u_q, u_k, reset, special, weights):
    P = normalised(p, norm_weight, norm_shift)
    Q, K = np.einsum("rd,hcd->hrc", P, u_q), np.einsum("rd,hcd->hrc", P, u_k)
    term = np.einsum("hbqc,hbkc->bhqk", Q[:, pos.astype(int)], K[:, pos_k.astype(int)])
    if reset:
        marked = special[:, None] == 1
        term = np.where(marked[:, :, None, :], weights["theta_key"], term)
        term = np.where(marked[:, :, :, None], weights["theta_query"], term)
    return term
