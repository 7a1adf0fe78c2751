# SPDX-License-Identifier: MIT
"""Golovneva et al. 2024, equations 2 to 4: positions are sums of the query's gates."""


def logits(S, q, e, positions, mask):
    gate = S.sigmoid() * mask
    p = gate.flip(-1).cumsum(-1).flip(-1).clamp(max=positions - 1)
    n = p.detach().floor().long()
    z = q @ e.T
    low, high = z.gather(-1, n), z.gather(-1, (n + 1).clamp(max=positions - 1))
    return S + (1 - (p - n)) * low + (p - n) * high
