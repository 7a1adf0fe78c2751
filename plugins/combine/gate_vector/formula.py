# SPDX-License-Identifier: MIT
"""Hallam and Tseng 2026: g x + (1 - g) p, g = sigmoid(W_t x + W_p p + b)."""


def merge(x, w_token, w_position, bias):
    p = sum(x[1:])
    g = (x[0] @ w_token.T + p @ w_position.T + bias).sigmoid()
    return g * x[0] + (1 - g) * p
