# SPDX-License-Identifier: MIT
"""Files of a run directory with a checksum, so that a flipped bit is damage and not another number."""
import json
import os

from .reading import seal
from .writing import write_own


def write_sealed(folder: str, name: str, tree: dict) -> None:
    """Writes a map with its seal as its last member, "check"."""
    sealed = tree | {"check": seal(tree)}
    write_own(os.path.join(folder, name), (json.dumps(sealed, indent=2, ensure_ascii=False) + "\n").encode())
