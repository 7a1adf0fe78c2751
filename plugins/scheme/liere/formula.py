# SPDX-License-Identifier: MIT
"""Ostmeier et al. 2024, section 3: blocks are multiplied by exp(p A), A skew-symmetric."""
import torch


def turn(x, pos, generator, C):
    block = C // len(generator)
    i, j = torch.triu_indices(block, block, 1, device=x.device)
    A = generator.new_zeros(len(generator), block, block)
    A[:, i, j] = generator
    A = A - A.transpose(1, 2)
    R = torch.matrix_exp(pos[:, None, :, None, None, None].to(A.dtype) * A)  # [B, 1, T, blocks, block, block]
    y = R @ x[..., :C].reshape(*x.shape[:-1], -1, block, 1)
    return torch.cat([y.reshape(*x.shape[:-1], C), x[..., C:]], -1)


def qkv(q, k, pos, pos_k, generator, C):
    return turn(q, pos, generator, C), turn(k, pos_k, generator, C)
