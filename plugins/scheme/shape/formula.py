# SPDX-License-Identifier: MIT
"""Kiyono et al. 2021, section 3.2: all positions of a sequence move by one random number."""


def positions(pos, training, random, params):
    if not training and params["eval"] != "random":
        return pos + (params["max"] if params["eval"] == "max" else 0)
    return pos + (random("shift", 1) * (params["max"] + 1)).floor()
