# SPDX-License-Identifier: MIT
"""Wang et al. 2020, section 2: each word is r exp(i (w p + phase)) in each component."""
import numpy as np


def encode(token, pos, amplitude, frequency, phase, scale):
    shift = phase[token] if isinstance(phase, np.ndarray) else 0
    z = amplitude[token] * np.exp(1j * (frequency[token] * pos[..., None] + shift))
    return scale * np.concatenate([z.real, z.imag], -1)
