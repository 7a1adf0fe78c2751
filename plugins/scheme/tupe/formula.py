# SPDX-License-Identifier: MIT
"""Ke, He and Liu 2021, section 3.1, and with reset the special tokens of section 3.2."""
import torch
import torch.nn.functional as F

score_terms = 1


def score_add(pos, pos_k, p, norm_weight, norm_shift, u_q, u_k, reset, special, special_k, weights):
    P = F.layer_norm(p, p.shape[-1:], norm_weight, norm_shift, 1e-5)
    Q, K = torch.einsum("rd,hcd->hrc", P, u_q), torch.einsum("rd,hcd->hrc", P, u_k)
    term = torch.einsum("hbqc,hbkc->bhqk", Q[:, pos.long()], K[:, pos_k.long()])
    if reset:
        term = torch.where(special_k[:, None, None, :] == 1, weights["theta_key"], term)
        term = torch.where(special[:, None, :, None] == 1, weights["theta_query"], term)
    return term
