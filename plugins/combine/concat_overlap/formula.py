# SPDX-License-Identifier: MIT
"""[x; 0] + [0; p_1 + p_2 + ...]: tokens have the first dimensions, positions the last."""
import torch.nn.functional as F


def merge(x, D):
    p = sum(x[1:])
    return F.pad(x[0], (0, D - x[0].shape[-1])) + F.pad(p, (D - p.shape[-1], 0))
