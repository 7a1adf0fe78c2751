# SPDX-License-Identifier: MIT
"""A table: sheets of rows and columns, its forms as text, CSV and NumPy's file."""
from __future__ import annotations

import io
from dataclasses import dataclass

import numpy as np


@dataclass
class Table:
    """values [sheets, rows, columns] in single precision. A stream or a node has a row for each position, a bias one for
    each query and a column for each key. heads: the sheets are heads; batch > 1: they are rows of a batch, each with its
    heads."""
    what: str
    values: np.ndarray
    heads: bool = False
    batch: int = 0
    rows: list | None = None  # their labels
    row_name: str = "position"
    column_name: str = ""
    meaning: str = ""

    def __post_init__(self):
        self.values = np.asarray(self.values, np.float32) + np.float32(0)  # no -0
        self.column_name = self.column_name or ("key" if self.what == "bias" else "dimension")

    @property
    def per_row(self):
        """The number of heads of each row of the batch; 0: the rows have no heads."""
        return len(self.values) // self.batch if self.batch > 1 and len(self.values) > self.batch else 0

    def sheet(self, k: int) -> str:
        if self.batch <= 1:
            return f"head {k}" if self.heads else ""
        return f"row {k // self.per_row}, head {k % self.per_row}" if self.per_row else f"row {k}"

    def array(self) -> np.ndarray:
        """Without the axes that it lacks."""
        _, rows, columns = self.values.shape
        if self.per_row:
            return self.values.reshape(self.batch, self.per_row, rows, columns)
        return self.values if self.heads or self.batch > 1 else self.values[0]

    def size(self) -> float:
        return float(np.sqrt((self.values.astype(float) ** 2).mean()))

    def moved_from(self, start: Table) -> float:
        """The size of the difference over the size of `start`."""
        off = self.values.astype(float) - start.values
        return float(np.sqrt((off ** 2).mean())) / start.size() if start.size() > 0 else float("nan")

    # ---- forms ----

    def text(self, name: str, width: int | None = None) -> str:
        """Columns that do not fit are left out, and " ..." says so."""
        label, cell, more, out = 6, 11, 4, []
        columns = self.values.shape[2]
        shown = columns if width is None else min(columns, max(1, (width - label - more) // cell))
        end = " ..." if shown < columns else ""
        for k, sheet in enumerate(self.values):
            out += [""] * (k > 0)
            of = f" of {self.sheet(k)}" if self.sheet(k) else ""
            out.append(f"{name}: {self.what}{of}, {sheet.shape[0]} x {sheet.shape[1]}")
            out.append(" " * label + "".join(f"{j:{cell}}" for j in range(shown)) + end)
            for i, row in enumerate(sheet):
                head = self.rows[i] if self.rows else str(i)
                out.append(head.rjust(label) + "".join(f" {x:{cell - 1}.4g}" for x in row[:shown]) + end)
        return "\n".join(out) + "\n"

    def csv(self) -> str:
        """Numbers in the shortest form that reads back. What has sheets starts each row with their numbers."""
        out = io.StringIO()
        sheets = self.heads or self.batch > 1
        if sheets:
            names = ["row"] * (self.batch > 1) + ["head"] * (self.batch <= 1 or self.per_row > 0) + ["position"]
            out.write(",".join(names + [str(j) for j in range(self.values.shape[2])]) + "\n")
        for k, sheet in enumerate(self.values):
            number = f"{k // self.per_row},{k % self.per_row}," if self.per_row else f"{k}," if sheets else ""
            for i, row in enumerate(sheet):
                out.write(number + (f"{i}," if sheets else "") + ",".join(map(shortest, row)) + "\n")
        return out.getvalue()

    def npy(self) -> bytes:
        out = io.BytesIO()
        np.save(out, self.array())
        return out.getvalue()

    def describe(self) -> list[dict]:
        """One description for each sheet: inspect/describe.py."""
        from .describe import describe
        return [describe(self, k) for k in range(len(self.values))]


def shortest(x) -> str:
    text = np.format_float_positional(x, trim="-") if x == 0 or 1e-4 <= abs(x) < 1e9 else repr(float(str(x)))
    return text.removesuffix(".0") if "e" not in text else text
