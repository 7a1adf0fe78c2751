# SPDX-License-Identifier: MIT
"""Numbers of a diagnosis as it shows them."""
import math


def ratio(part, whole):
    """NaN where the whole is 0."""
    return part / whole if whole > 0 else math.nan


def rounded(tree):
    """A tree of plain numbers with six significant digits; None for those that are not finite."""
    if isinstance(tree, dict):
        return {key: rounded(x) for key, x in tree.items()}
    if isinstance(tree, (list, tuple)):
        return [rounded(x) for x in tree]
    if hasattr(tree, "tolist"):
        return rounded(tree.tolist())
    if isinstance(tree, float):
        return float(f"{tree:.6g}") + 0.0 if math.isfinite(tree) else None
    return tree
