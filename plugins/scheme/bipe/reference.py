# SPDX-License-Identifier: MIT
"""He et al. 2024, section 3: the place in a segment is a vector, the segment's number a position."""
import numpy as np

from formulas import starts


def places(token, document, pad, separators):
    """The number of the segment of each token, and its place in it."""
    fresh = starts(document, pad)
    segment, place = np.zeros(token.shape), np.zeros(token.shape)
    for b, t in np.ndindex(*token.shape):
        if not fresh[b, t]:
            ends = token[b, t - 1] in separators
            segment[b, t] = segment[b, t - 1] + ends
            place[b, t] = 0 if ends else place[b, t - 1] + 1
    return segment, place


def positions(token, document, pad, separators):
    return places(token, document, pad, separators)[0]


def own_positions(token, document, pad, separators, longest):
    return np.minimum(places(token, document, pad, separators)[1], longest - 1)


def encode(pos, table, scale):
    return scale * table[pos.astype(int)]
