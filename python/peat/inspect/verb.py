# SPDX-License-Identifier: MIT
"""peat inspect SCHEME [key=value ...], and peat inspect DIR [CELL]."""
from __future__ import annotations

import json
import math
import sys

from ..numerals import shown
from ..reading import Refused
from ..texttable import text_table
from ..writing import write_file
from . import drawings
from .cells import cell
from .describe import page
from .rig import choose, scheme


def verb(q: dict) -> int:
    if "draw" in q:
        return draw(q["draw"])
    if "folder" in q:
        return of_cell(q)
    train = q.get("phase") == "train"
    table = scheme(q["operands"][0], q["given"], d=q["d"], T=q["T"], heads=q.get("heads", 1), what=q.get("what"),
                   tokens=q.get("token"), rows=q.get("rows", 1), pad=q.get("pad", 0), combine=q.get("combine"),
                   step=q.get("step", 0) if train else None,
                   at={word.partition("=")[0]: f"command line:{i}" for i, word in enumerate(q["operands"]) if i})
    return put(q, table, q["operands"][0])


def draw(folder):
    """Keeps the drawings of a run's schemes, and says which cannot be drawn."""
    for one in drawings.keep(folder):
        print(f"{one['title']}: {one['why'] or one['what']}")
    return 0


def of_cell(q):
    start = cell(q["folder"], start=True)
    now = start if "start" in q else cell(q["folder"])
    if not now:
        raise Refused("the cell's scheme has nothing to show")
    if "what" not in q and "describe" not in q and q["format"] == "table":
        return write(q, listed(q, start, now).encode())
    table = choose(now, q.get("what", next(iter(now))), "the cell", None)
    name = next(name for name, of in now.items() if of is table)
    before = start.get(name) if now is not start else None
    return put(q, table, name, before if before and before.values.shape == table.values.shape else None)


def listed(q, start, now):
    """The tables with their sizes before training and now."""
    def number(x):
        return f"{x:.3g}" if math.isfinite(x) else "-"
    rows = []
    for name, table in now.items():
        before = start.get(name)
        before = before if before and before.values.shape == table.values.shape else None
        sheets, *shape = table.values.shape
        rows.append([name, " x ".join(map(str, ([sheets] if table.heads else []) + shape)),
                     number(before.size()) if before else "-", "-" if "start" in q else number(table.size()),
                     number(table.moved_from(before)) if before and "start" not in q else "-", table.meaning])
    heads = ("table", "shape", "size before", "now", "moved", "meaning")
    return text_table({"title": None, "labels": 1, "notes": ["size: root mean square; moved: size of the difference over the "
                                                            "size before"],
                       "columns": [{"head": head, "number": 0 < i < 5} for i, head in enumerate(heads)],
                       "rows": [[{"text": text} for text in row] for row in rows]}, q["columns"])


def put(q, table, name, before=None) -> int:
    form = q["format"]
    if "json" in q:
        rows, columns = table.values.shape[1:]
        heads = [plain(of) for of in table.describe()]
        text = json.dumps({"scheme": name, "what": table.what, "rows": rows, "columns": columns, "heads": heads}, indent=2) + "\n"
    elif "describe" in q:
        text = page(table, name)
    elif form == "npy":
        return write(q, table.npy())
    elif form in ("svg", "png"):
        return write(q, picture(table, before, form))
    else:
        text = table.csv() if form == "csv" else table.text(name, q["columns"])
    return write(q, text.encode())


def plain(x):
    if isinstance(x, dict):
        return {str(key): plain(v) for key, v in x.items()}
    return None if isinstance(x, float) and not math.isfinite(x) else x


def picture(table, before, form) -> bytes:
    """A heat map for each sheet; of a cell before and after training."""
    import numpy as np
    from ..plot.heatmaps import scheme_figure
    from ..plot.style import image
    values = [np.cos(t.values.astype(float)) if t.what == "angle" else t.values.astype(float) for t in (before, table) if t]
    when = ("before training", "after") if before else ("",)
    both = np.stack(values, 1).reshape(-1, *table.values.shape[1:])
    titles = [", ".join(filter(None, (table.sheet(k), w))) for k in range(len(table.values)) for w in when]
    return image(scheme_figure(both, titles, table.what), form, table.what)


def write(q, data: bytes) -> int:
    if "output" in q:
        write_file(q["output"], data)
    elif q["format"] in ("npy", "png"):
        sys.stdout.buffer.write(data)
    else:
        sys.stdout.write("".join(shown(line) + "\n" for line in data.decode().splitlines())
                         if sys.stdout.isatty() else data.decode())
    return 0
