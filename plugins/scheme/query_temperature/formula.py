# SPDX-License-Identifier: MIT
"""Llama 4's temperature tuning: queries times 1 + scale log(1 + floor((p + 1) / floor))."""


def qkv(q, k, pos, floor, scale):
    factor = 1 + scale * ((pos.clamp(min=0) + 1) / floor).floor().log1p()
    return q * factor[:, None, :, None].to(q.dtype), k
