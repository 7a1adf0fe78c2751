# SPDX-License-Identifier: MIT
"""Tan et al. 2024, section 2: A_ij = z_ij times the product of 1 - z_ik over j < k < i."""
import torch
import torch.nn.functional as F


def softmax(S, mask, rest):
    """In logarithms: log z = logsigmoid(S), log(1 - z) = logsigmoid(-S)."""
    own = S.shape[-1] - S.shape[-2]  # the key of the first query, which may be one of the newest rows
    earlier = mask * torch.ones_like(S).tril(own - 1)
    left = F.logsigmoid(-S) * earlier
    log_rest = left.flip(-1).cumsum(-1).flip(-1)
    A = (F.logsigmoid(S) + log_rest - left).exp() * earlier
    return A + (log_rest[..., :1].exp() * mask * torch.ones_like(S).tril(own).triu(own) if rest == "own" else 0)
