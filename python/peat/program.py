# SPDX-License-Identifier: MIT
"""The program peat, started."""
from __future__ import annotations

import os
import subprocess
import sys

from .reading import Refused


def beside() -> str:
    """The program that was installed, or built, with this package; otherwise the first on PATH. The variable PEAT names
    another."""
    prefix = os.path.abspath(__file__).partition("/lib/python3")[0]
    own = os.path.join(prefix, "bin", "peat")
    return os.environ.get("PEAT") or (own if os.access(own, os.X_OK) else "peat")


class Program:
    """Where the program is, and its calls."""

    def __init__(self, path: str | None = None):
        self.path = path or beside()

    def _start(self, words, **streams):
        try:
            return subprocess.Popen([self.path, *map(os.fspath, words)], stdin=subprocess.DEVNULL, text=True,
                                    encoding="utf-8", errors="replace", **streams)
        except OSError as e:
            raise Refused(f"the program '{self.path}' cannot be started: {e.strerror}; the variable PEAT names it") from None

    def ask(self, *words) -> str:
        """What it prints. Refused has its message where it fails; its warnings go to stderr."""
        child = self._start(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out, said = child.communicate()
        if child.returncode:
            raise Refused(" ".join(said.removeprefix("peat: ").split("\n")).strip() or f"peat {words[0]} failed")
        sys.stderr.write(said)
        return out

    def follow(self, *words) -> None:
        """Prints line by line what it prints. Refused has its last line where it fails."""
        last = ""
        with self._start(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as child:
            for line in child.stdout:
                print(line, end="", flush=True)
                last = line.strip() or last
        if child.returncode:
            raise Refused(last.removeprefix("peat: ") or f"peat {words[0]} failed")
