# SPDX-License-Identifier: MIT
"""The tables of the page beside those that the program prints, and how columns fit its width."""
from __future__ import annotations

from .. import numerals
from ..series import rows_of

PAGE_PX, EM_PX, PADDING_PX = 1110, 7.6, 18  # for columns of a table side by side


def blocks(table) -> list:
    """Columns that stand side by side, as (is cost, numbers of the columns): the labels, and as many as fit a page."""
    def width(k):
        texts = [table["columns"][k]["head"]] + [row[k]["text"] + row[k].get("mark", "") for row in table["rows"]]
        return EM_PX * max(map(len, texts)) + PADDING_PX
    labels, found, room = list(range(table["labels"])), [], 0.0
    for k in range(table["labels"], len(table["columns"])):
        is_cost = k >= table["costs_from"]
        if not found or found[-1][0] != is_cost or room < width(k):
            found.append((is_cost, list(labels)))
            room = PAGE_PX - sum(map(width, labels))
        found[-1][1].append(k)
        room -= width(k)
    return found


def missing(of) -> list:
    """Cells that should be in the means and are not: label, state, reason."""
    return [(cell["label"], cell["state"], cell["reason"] or "") for cell in of["cells"]
            if cell["reported"] and cell["state"] != "done"]


def has_ratios(of) -> bool:
    return any(numerals.finite(row.get("input_ratio_start")) for row in of["rows"])


def injection(of) -> list:
    """A line for each row: what acts where, and sizes of tokens to sizes of positions."""
    keys = ("input_ratio_start", "input_ratio") if has_ratios(of) else ()
    return [[row.label, row.entry["injection"] or "unknown", *(numerals.ratio(row.entry.get(key)) for key in keys)]
            for row in rows_of(of)]


STATISTICS = ("diff", "diff_sd", "diff_ci_low", "diff_ci_high", "effect_dz", "effect_gz", "p", "p_holm", "p_t", "p_t_holm",
              "diff_text_half", "diff_text_df")


def exact(of) -> dict:
    """Every number in full, as a table."""
    heads = ["length", "n", "mean", "sd", "ci_low", "ci_high", *STATISTICS]

    def full(x):
        return {"text": "" if x is None else repr(x) if isinstance(x, float) else str(x)}
    rows = [[{"text": row["row"]}, *(full(row[key]) for key in heads), *(full(row["values"].get(str(s))) for s in of["seeds"])]
            for row in of["rows"] if row["length"] is not None]
    heads = ["row", *heads, *(f"seed {s}" for s in of["seeds"])]
    return {"labels": 1, "costs_from": len(heads), "rows": rows, "strong": None, "notes": [],
            "columns": [{"head": head, "number": k > 0} for k, head in enumerate(heads)]}
