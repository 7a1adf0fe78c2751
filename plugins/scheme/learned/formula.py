# SPDX-License-Identifier: MIT
"""Gehring et al. 2017: a trained vector for each position."""


def encode(pos, table, scale, max_len, beyond, T_total):
    if beyond == "interpolate" and T_total > max_len:
        pos = pos * (max_len - 1) / (T_total - 1)
    row = pos.long().clamp(max=max_len - 1)
    P = table[row]
    if beyond == "interpolate":
        part = (pos - pos.floor())[..., None].to(table.dtype)
        P = (1 - part) * P + part * table[(row + 1).clamp(max=max_len - 1)]
    return scale * (P * (pos < max_len)[..., None] if beyond == "zero" else P)
