# SPDX-License-Identifier: MIT
"""Chen et al. 2021, section 3: the product of two position vectors of each head."""
import numpy as np


def bias(pos, pos_k, p_q, p_k):
    return np.einsum("bqhw,bkhw->bhqk", p_q[pos.astype(int)], p_k[pos_k.astype(int)])
