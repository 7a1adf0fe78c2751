# SPDX-License-Identifier: MIT
"""McLeish et al. 2024, section 3: the place of a digit in its number, and an offset in training."""
import numpy as np

from formulas import starts


def own_positions(token, document, pad, digits, max_offset, training, random):
    is_digit = np.isin(token, digits) & (pad == 0)
    place = np.zeros(token.shape)
    for b, t in np.ndindex(*token.shape):
        goes_on = t > 0 and not starts(document, pad)[b, t]
        place[b, t] = is_digit[b, t] * (1 + (place[b, t - 1] if goes_on else 0))
    offset = np.zeros((len(token), 1))
    if training and "offset" in random:
        offset = np.floor(np.array(random["offset"]) * (max_offset + 1))
    return np.where(place > 0, place + offset, 0)


def encode(pos, table, scale):
    return scale * table[pos.astype(int)]
