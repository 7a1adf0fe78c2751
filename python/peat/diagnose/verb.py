# SPDX-License-Identifier: MIT
"""peat diagnose DIR CELL, or a pattern of cells."""
from __future__ import annotations

import json
import statistics
import sys

from .. import files
from ..findings import Findings, kept_diagnosis
from ..numerals import finite, shown
from ..reading import Refused
from ..runs import open_run
from ..texttable import text_table
from ..writing import write_file
from . import cell as diagnose_cell, keep
from .page import page

FAILED = 1


def verb(q: dict) -> int:
    options = {"only": q["only"].split(",") if "only" in q else None, **{key: q[key] for key in ("batches", "threads") if key in q}}
    if "cells" in q:
        return Grid(q, options).run()
    tree = diagnose_cell(q["folder"], **options)
    if "save" in q:
        keep(q["folder"], tree)
    if "json" in q:
        print(json.dumps(tree, indent=2, ensure_ascii=False))
    else:
        print("\n".join(map(shown, page(tree, q["width"]).splitlines())))
    return 0


class Grid:
    """Many cells, one after another, and their rows. Those that are not done are left out and named."""

    def __init__(self, q, options):
        self.q, self.options, self.failed = q, options, 0

    def run(self):
        q = self.q
        found = Findings(open_run(q["operands"][0]), self.tree_of)
        found.left_out += [(c["label"], c["state"]) for c in found.of["cells"]
                           if c["cell"] in q["cells"] and c["row"] is not None and c["state"] not in ("done", "diverged")]
        if not found.n:
            first = found.left_out[0]
            raise Refused(f"none of {len(q['cells'])} cells could be diagnosed: {first[0]}: {first[1]}")
        if "figure" in q:
            self.draw(found)
        else:
            self.write(self.text_of(found))
        return FAILED if self.failed else 0

    def tree_of(self, cell):
        """The diagnosis of a cell of the table; None: it is not asked for."""
        if cell["cell"] not in self.q["cells"]:
            return None
        if "kept" in self.q:
            tree = kept_diagnosis(cell)
            if not tree:
                raise Refused("no diagnosis of it was kept")
            return tree
        folder = files.folder_beside(cell)
        try:
            tree = diagnose_cell(folder, **self.options)
            if "save" in self.q:
                keep(folder, tree)
        except Refused as e:
            self.failed += 1
            print(f"peat: {cell['label']}: {e}", file=sys.stderr)
            raise
        if sys.stderr.isatty():
            print(f"peat: {cell['label']}", file=sys.stderr)
        return tree

    def text_of(self, found):
        form = "json" if "json" in self.q else self.q.get("format", "table")
        if form == "csv":
            return found.csv()
        if form == "json":
            return json.dumps(object_of(found), indent=2, ensure_ascii=False) + "\n"
        return text_table(found.table(self.q.get("columns")), self.q["width"])

    def write(self, text):
        if "output" in self.q:
            write_file(self.q["output"], text.encode())
        else:
            sys.stdout.write(text)

    def draw(self, found):
        from ..plot.learned import findings_figure
        from ..plot.style import save
        q = self.q
        save(findings_figure(found, q["figure"], over=q.get("over"), lines=q.get("lines"), panels=q.get("panels")), q["output"])
        print(q["output"])


def object_of(found) -> dict:
    """Every number as one object: a list for each measure that has parts."""
    rows, lines = {}, found.lines()
    for (row, _), of in ((r, [x for x in lines if all(x[a] == label for a, label in r[0].axes.items())]) for r in found.rows):
        measures = {}
        for x in of:
            one = {key: x[key] if finite(x[key]) else None for key in ("mean", "ci_low", "ci_high", "chance")}
            values = [v for k, v in x.items() if k.startswith("seed ")]
            known = list(filter(finite, values))
            one = {"n": x["n"], **one, "sd": statistics.stdev(known) if len(known) > 1 else None,
                   "values": [v if finite(v) else None for v in values]}
            if x["part"]:
                measures.setdefault(x["measure"], []).append({x["part"]: x["at"], **one})
            else:
                measures[x["measure"]] = one
        rows[row.label] = {"row": row.label, "axes": row.axes, "seeds": found.of["seeds"], "measures": measures}
    return {"version": 1, "experiment": found.of["experiment"], "rows": list(rows.values()),
            "left_out": [{"cell": cell, "why": why} for cell, why in found.left_out]}
