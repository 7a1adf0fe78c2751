# SPDX-License-Identifier: MIT
"""Where the results come from, and the commands that make them again: read from files of the run directories."""
from __future__ import annotations

import os
import shlex
from collections import Counter

from .. import files

MACHINE = (("engine", "engine"), ("abi", "plugin ABI"), ("compiler", "compiler"), ("build", "build"), ("blas", "BLAS"),
           ("blas_core", "BLAS kernels"), ("precision", "precision"), ("threads", "threads"), ("cpu", "processor"),
           ("host", "host"))
DISTINCT, HASH = 16, 12  # so many texts of a kind, and digits of a hash, are shown


def facts(run, of) -> list:
    """(what, lines of text): each text with the number of cells where not all have it."""
    metas = list(filter(None, (files.read_beside(cell, "meta.json") for cell in of["cells"])))
    if not metas:
        return []
    found = [(name, _tally(metas, key)) for key, name in MACHINE]
    dates = sorted(meta["started_utc"] for meta in metas if isinstance(meta.get("started_utc"), str))
    if dates:
        found.append(("started", [dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"]))
    for key in ("plugins", "data"):
        found.append((key, list(dict.fromkeys(_file(one) for meta in metas for one in files.maps_in(meta.get(key))))))
    found += [(f"hash of {folder}", [hash or "none: a cell is damaged"]) for folder, hash in zip(run.folders, of["hashes"])]
    return [(name, lines) for name, lines in found if lines]


def _tally(metas, key):
    count = Counter(str(meta[key]) for meta in metas if meta.get(key) is not None and str(meta[key]))
    texts = [text + (f" ({n} cells)" if n != len(metas) else "") for text, n in count.items()]
    return ["; ".join(texts[:DISTINCT] + ["and more"] * (len(texts) > DISTINCT))] if texts else []


def _file(one):
    name = f"{one['kind']}/{one.get('id', '')} {one.get('version', '')}" if "kind" in one else one.get("path", "")
    return f"{name}, sha256 {str(one.get('sha256', ''))[:HASH]}"


def commands(folder) -> str:
    """They work from any folder."""
    word, shown = shlex.quote(os.path.realpath(folder)), folder.encode("unicode_escape").decode()
    if os.path.exists(os.path.join(folder, "resolved.yaml")):
        text = f"# the cells that {shown} still lacks\npeat run {word}\n# every cell again, elsewhere\npeat run {word} -o again\n"
    else:
        text = f"# every cell, or those that {shown} still lacks\npeat run {word}/experiment.yaml -o {word}\n"
    return text + (f"# one cell\npeat cell {word} 0\n# the table, a figure for a paper\npeat results {word}\n"
                   f"peat plot {word} --kind bars --format pdf\n# check that nothing has changed\npeat verify {word}\n")


def sources(folders) -> list:
    """(path, text) of the experiment's files."""
    found = []
    for path in (os.path.join(folder, name) for folder in folders for name in ("experiment.yaml", "resolved.yaml")):
        if os.path.isfile(path) and os.path.getsize(path) <= 1 << 20:
            with open(path, encoding="utf-8", errors="replace") as file:
                found.append((path, file.read()))
    return found
