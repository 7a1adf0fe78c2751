# SPDX-License-Identifier: MIT
"""Yang et al. 2025 (PaTH): q_i . H_i ... H_(j+1) k_j in the place of q_i . k_j."""
import torch
import torch.nn.functional as F

from formulas import by_head, convolved


def score_add(q, k, x_k, weights, document, pad):
    """H_t = I - b_t w_t w_t': section 3 takes the product apart by a solve with a triangle instead of going from place to
    place."""
    u = torch.einsum("btr,hcr->bthc", x_k @ weights["down"].T, weights["up"])
    u = F.silu(convolved(u, weights["taps"], document, pad))
    w = (u / ((u ** 2).sum(-1, keepdim=True) + 1e-6).sqrt()).transpose(1, 2)  # as the authors' code
    b = 2 * (by_head(x_k, weights["beta"]) + weights["beta_shift"][:, None]).sigmoid()[..., None]
    one = torch.eye(w.shape[2], dtype=w.dtype, device=w.device)
    made = torch.linalg.solve_triangular(one + b * (w @ w.transpose(2, 3)).tril(-1),
                                         b * (w @ k.transpose(2, 3)).tril(-1), upper=False)
    return -(q @ w.transpose(2, 3)).tril() @ made
