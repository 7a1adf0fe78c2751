# SPDX-License-Identifier: MIT
"""[x; p_1; p_2; ...]: the model is wider by the positions."""
import torch


def merge(x):
    return torch.cat([s.expand(*x[0].shape[:2], -1) for s in x], -1)
