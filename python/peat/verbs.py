# SPDX-License-Identifier: MIT
"""What the program starts for its verbs `plot` and `report`. The program has read and checked the command line: here it is
"--name=value" for each option that was given, "--", and the run directories."""
from __future__ import annotations

import os
import sys

from .packages import need
from .runs import Run
from .program import Program
from .safetensors import Refused

SUMMARY = ("metric", "length", "baseline", "test")  # options that choose the numbers


def _read(words):
    """The options as a dictionary, and the operands."""
    end = words.index("--")
    options = {}
    for word in words[:end]:
        name, equals, value = word[2:].partition("=")
        options[name] = value if equals else True
    if "length" in options:
        options["length"] = int(options["length"])
    return options, words[end + 1:]


def report(program, words) -> None:
    options, folders = _read(words)
    path = options.pop("output", None)
    page = need("peat.report", "peat report").page(Run(folders, Program(program)), **options)
    if path:
        need("peat.writing", "").write_file(path, page.encode())
    else:
        sys.stdout.buffer.write(page.encode())


def plot(program, words) -> None:
    drawing = need("peat.plot", "peat plot")
    options, folders = _read(words)
    run = Run(folders, Program(program))
    path, kind, form = options.pop("output", None), options.pop("kind"), options.pop("format", "svg")
    width = drawing.COLUMN if options.pop("width", "page") == "column" else drawing.PAGE
    figure = drawing.figure(run, kind, width, **options)
    if not path:
        path = os.path.join(folders[0], "figures", f"{kind}.{form}")
        _make_folder(os.path.dirname(path))
    drawing.save(figure, path, drawing.title_of(run, **{k: v for k, v in options.items() if k in SUMMARY}))
    print(path)


def _make_folder(path):
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as e:
        raise Refused(f"cannot make directory '{path}': {e.strerror}") from None


def main(program, words) -> int:
    """Returns the exit code."""
    try:
        {"plot": plot, "report": report}[words[0]](program, words[1:])
        sys.stdout.flush()
    except Refused as e:
        print(f"peat: {e}", file=sys.stderr)
        return 2
    except OSError as e:
        print(f"peat: {words[0]}: {e.strerror or e}", file=sys.stderr)
        return 2
    return 0
