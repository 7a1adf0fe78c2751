# SPDX-License-Identifier: MIT
"""peat plot DIR... --kind KIND."""
from __future__ import annotations

import logging
import os

from ..packages import need
from ..runs import open_run
from ..reading import Refused
from .kinds import figure, title_of
from .style import COLUMN, PAGE, save


def verb(q: dict) -> int:
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it tells where it keeps fonts
    need("matplotlib", "peat plot")
    run, width = open_run(*q["operands"]), COLUMN if q.get("size") == "column" else PAGE
    options = {k: q[k] for k in ("metric", "length", "baseline", "lines", "panels", "cost") if k in q}
    drawn = figure(run, q["kind"], width, **options)
    path = q.get("output") or os.path.join(_figures(q["operands"][0]), f"{q['kind']}.{q.get('format', 'svg')}")
    title = title_of(run, **{k: v for k, v in options.items() if k in ("metric", "length", "baseline")})
    save(drawn, path, title, own="output" not in q)
    print(path)
    return 0


def _figures(folder):
    path = os.path.join(folder, "figures")
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as e:
        raise Refused(f"cannot make directory '{path}': {e.strerror}") from None
    return path
