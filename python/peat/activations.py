# SPDX-License-Identifier: MIT
"""Forward passes of a cell by the program itself: `peat export --activations`, docs/formats.md."""
from __future__ import annotations

import json
import os
import tempfile

from . import files, safetensors
from .packages import need
from .program import Program


def passes(folder: str, *, tokens=None, given: dict | None = None, only: str | None = None, rows: int | None = None,
           start: bool = False, step: int | None = None, threads: int = 1, program: str | None = None):
    """({name: array}, metadata) of what the cell in a folder of a run directory computes. Needs the program.

    tokens: ids [rows, places]; given: {name: array [rows, ...]} that take the place of what a pass computes; without both
    the first windows of the validation part, so many rows. only: patterns of names, "loss,block.*.stream"."""
    numpy, folder = need("numpy", "an array"), os.path.abspath(folder)
    words = [os.path.dirname(os.path.dirname(folder)), os.path.basename(folder), "--activations"]
    for option, value in (("--only", only), ("--rows", rows), ("--step", step), ("--threads", threads)):
        words += [option, str(value)] if value is not None else []
    with tempfile.TemporaryDirectory() as made:
        out = os.path.join(made, "out.safetensors")
        if tokens is not None:
            words += ["--tokens", os.path.join(made, "tokens.npy")]
            numpy.save(words[-1], numpy.asarray(tokens, "<i4"))
        if given is not None:
            words += ["--given", os.path.join(made, "given.safetensors")]
            safetensors.write(words[-1], {name: numpy.ascontiguousarray(x, "<f8") for name, x in given.items()})
        Program(program).ask("export", *words, *(["--start"] if start else []), "-o", out)
        return files.read_arrays(out), json_of(safetensors.read(out)[1])


def json_of(meta):
    """The metadata with its objects parsed."""
    return {key: json.loads(text) if text[:1] in "{[" else text for key, text in meta.items()}
