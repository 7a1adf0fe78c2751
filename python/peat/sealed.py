# SPDX-License-Identifier: MIT
"""Files of a run directory with a checksum, so that a flipped bit is damage and not another number."""
import hashlib
import json
import os

from .writing import write_own


def whole(x):
    """Whole numbers as integers, as the canonical form has them."""
    if isinstance(x, dict):
        return {key: whole(v) for key, v in x.items()}
    if isinstance(x, list):
        return [whole(v) for v in x]
    return int(x) if isinstance(x, float) and x.is_integer() else x


def write_sealed(folder: str, name: str, tree: dict) -> None:
    """Writes a map with the SHA-256 of its canonical form as its last member, "check"."""
    text = json.dumps(whole(tree), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    sealed = tree | {"check": hashlib.sha256(text.encode()).hexdigest()}
    write_own(os.path.join(folder, name), (json.dumps(sealed, indent=2, ensure_ascii=False) + "\n").encode())
