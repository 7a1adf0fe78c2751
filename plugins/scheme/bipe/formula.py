# SPDX-License-Identifier: MIT
"""He et al. 2024, section 3: the place in a segment is a vector, the segment's number a position."""
import torch

from formulas import since, starts


def places(token, document, pad, separators):
    """The number of the segment of each token, and its place in it."""
    fresh = starts(document, pad)
    ends = torch.isin(token, torch.tensor(separators, device=token.device).flatten())
    follows = torch.zeros_like(fresh)
    follows[:, 1:] = ends[:, :-1] & ~fresh[:, 1:]
    place = torch.arange(token.shape[1], device=token.device).expand_as(token)
    return since(fresh, follows.long().cumsum(1)), since(fresh | follows, place)


def positions(token, document, pad, separators):
    return places(token, document, pad, separators)[0].double()


def own_positions(token, document, pad, separators, longest):
    return places(token, document, pad, separators)[1].clamp(max=longest - 1).double()


def encode(pos, table, scale):
    return scale * table[pos.long()]
