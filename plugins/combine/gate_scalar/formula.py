# SPDX-License-Identifier: MIT
"""Hallam and Tseng 2026: g x + (1 - g) p, g = sigmoid(W_t x + W_p p + b), one number."""


def merge(x, w_token, w_position, bias):
    p = sum(x[1:])
    g = (x[0] @ w_token + p @ w_position + bias).sigmoid()
    return g * x[0] + (1 - g) * p
