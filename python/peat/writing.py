# SPDX-License-Identifier: MIT
"""Files written whole or not at all."""
import os
import tempfile

from .safetensors import Refused


def write_file(path: str, data: bytes) -> None:
    """Writes a file beside the one that the path, or a link there, names, and renames it. A device or a pipe is written
    into."""
    path, made = os.path.realpath(path), None
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "wb") as file:
                file.write(data)
            return
        mask = os.umask(0)
        os.umask(mask)
        handle, made = tempfile.mkstemp(dir=os.path.dirname(path) or ".", prefix=".peat-")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            os.fchmod(file.fileno(), 0o666 & ~mask)
        os.replace(made, path)
        made = None
    except OSError as e:
        raise Refused(f"cannot write '{path}': {e.strerror}") from None
    finally:
        if made:
            os.unlink(made)
