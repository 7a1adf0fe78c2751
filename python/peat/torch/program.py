# SPDX-License-Identifier: MIT
"""The program peat, for a cell in its folder of a run directory."""
from __future__ import annotations

import os
import subprocess
import tempfile

from .files import Refused, read_tensors


class Peat:
    """The program, for a cell in its folder of a run directory."""

    def __init__(self, program, folder):
        self.program, folder = program, os.path.abspath(folder)
        self.run, self.id = os.path.dirname(os.path.dirname(folder)), os.path.basename(folder)
        if not os.path.exists(os.path.join(folder, "config.json")):
            raise Refused(f"'{folder}' is not the folder of a cell, runs/NAME/cells/ID; `peat plan EXP --write` makes it")

    def __call__(self, verb, *words):
        try:
            done = subprocess.run([self.program, verb, self.run, self.id, *words], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True)
        except OSError as e:
            raise Refused(f"cannot run '{self.program}': {e.strerror}; --peat names the program") from None
        if done.returncode:
            raise Refused(f"peat {verb}: {done.stderr.strip().removeprefix('peat: ')}")

    def export(self, *words):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.safetensors")
            self("export", *words, "-o", path)
            return read_tensors(path)
