# SPDX-License-Identifier: MIT
"""Chen et al. 2021, section 3: the product of two position vectors of each head."""
import torch


def bias(pos, pos_k, p_q, p_k):
    return torch.einsum("bqhw,bkhw->bhqk", p_q[pos.long()], p_k[pos_k.long()])
