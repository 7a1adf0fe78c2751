# SPDX-License-Identifier: MIT
"""McLeish et al. 2024, section 3: the place of a digit in its number, and an offset in training."""
import torch

from formulas import since, starts


def own_positions(token, document, pad, digits, max_offset, training, random):
    digit = torch.isin(token, torch.tensor(digits, device=token.device).flatten()) & (pad == 0)
    fresh = starts(document, pad)
    fresh[:, 1:] |= ~digit[:, :-1]  # a number begins
    place = torch.arange(token.shape[1], device=token.device).expand_as(token)
    run = since(fresh, place) + 1
    if training and max_offset > 0:
        run = run + (random("offset", 1) * (max_offset + 1)).floor()
    return run * digit.double()


def encode(pos, table, scale):
    return scale * table[pos.long()]
