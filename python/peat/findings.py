# SPDX-License-Identifier: MIT
"""Measures of what cells learned, from the diagnoses that `peat diagnose --save` kept: rows over seeds.

Reads the rows from the program and diagnose.json of the cells from files; nothing is trained or loaded."""
from __future__ import annotations

import csv
import difflib
import io
import math
import os
from typing import NamedTuple

from . import files
from .numerals import finite, interval, mean_interval, plural, t95
from .series import rows_of
from .reading import Refused


class Measure(NamedTuple):
    name: str
    head: str                 # head of its column
    diagnostic: str | None    # that it is read from; None: the head of the diagnosis
    list: str | None          # path of a list with an item for each part; None: the measure is one number
    part: str | None          # what numbers a part, "layer"
    key: str                  # path of the number, from the diagnostic or the item; *: the mean over a list
    chance: str | None        # path of the value by chance
    usual: bool               # shown by default; of a list its first and last part
    meaning: str


MEASURES = (
    Measure("loss", "loss", None, None, None, "loss", None, False, "nats per target on the windows"),
    Measure("ratio_start", "tok:pos start", "sizes", None, None, "start/ratio", None, True,
            "size of tokens over size of positions at the input, before training"),
    Measure("ratio", "tok:pos end", "sizes", None, None, "ratio", None, True,
            "size of tokens over size of positions at the input"),
    Measure("cosine_start", "cosine start", "sizes", None, None, "start/cosine", None, False,
            "mean cosine between a token's and a position's vector before training"),
    Measure("cosine", "cosine", "sizes", None, None, "cosine", None, True,
            "mean cosine between a token's and a position's vector; 0 by chance"),
    Measure("cosine_size_start", "|cosine| start", "sizes", None, None, "start/cosine_size", "chance", False,
            "mean size of that cosine before training"),
    Measure("cosine_size", "|cosine|", "sizes", None, None, "cosine_size", "chance", True,
            "mean size of the cosine between a token's and a position's vector"),
    Measure("angle_start", "angle start", "subspaces", None, None, "start/mean", "start/random/mean", False,
            "mean angle between what tokens and positions span, before training (degrees)"),
    Measure("angle", "angle", "subspaces", None, None, "mean", "random/mean", True,
            "mean angle between what tokens and positions span (degrees)"),
    Measure("smallest_angle", "smallest angle", "subspaces", None, None, "smallest", "random/smallest", False,
            "smallest angle between what tokens and positions span (degrees)"),
    Measure("overlap", "overlap", "subspaces", None, None, "overlap", "random/overlap", False,
            "mean squared cosine of the angles between what tokens and positions span"),
    Measure("token_rank", "token rank", "subspaces", None, None, "token/rank", None, False,
            "dimensions that hold 99 % of the tokens' variance"),
    Measure("position_rank", "position rank", "subspaces", None, None, "position/rank", None, False,
            "dimensions that hold 99 % of the positions' variance"),
    Measure("disjoint_start", "disjoint start", "support", None, None, "start/disjoint", "start/disjoint_by_chance", False,
            "disjoint-support index before training"),
    Measure("disjoint", "disjoint", "support", None, None, "disjoint", "disjoint_by_chance", True,
            "disjoint-support index; 1: no dimension carries both"),
    Measure("without_token", "without tokens", "support", None, None, "whole/token", None, False,
            "change of the loss (nats) without the tokens' part of the input"),
    Measure("without_position", "without positions", "support", None, None, "whole/position", None, True,
            "change of the loss (nats) without the positions' part of the input"),
    Measure("block_token", "block of tokens", "support", "blocks", "begin", "token", None, False,
            "change of the loss without some dimensions of the tokens' part"),
    Measure("block_position", "block of positions", "support", "blocks", "begin", "position", None, False,
            "change of the loss without some dimensions of the positions' part"),
    Measure("decoded_token", "token decoded", "collisions", None, None, "decoded/0/token", None, False,
            "share of the tokens that the nearest sum gets right"),
    Measure("decoded_position", "position decoded", "collisions", None, None, "decoded/0/position", None, False,
            "share of the positions that the nearest sum gets right"),
    Measure("decoded", "both decoded", "collisions", None, None, "decoded/0/both", None, True,
            "share of the sums whose token and position the nearest sum gets right"),
    Measure("decoded_noisy", "decoded in noise", "collisions", None, None, "decoded/2/both", None, False,
            "the same share in noise of half the sums' standard deviation"),
    Measure("collisions", "collisions", "collisions", None, None, "exact", None, False,
            "sums equal to that of another token at another position"),
    Measure("nearest", "nearest", "collisions", None, None, "near_least", None, False,
            "least distance of two sums that differ in both, in mean distances"),
    Measure("token_token", "tok.tok", "logits", "layers", "layer", "share/token.token", None, True,
            "share of the terms of the logits in which query and key are tokens"),
    Measure("token_position", "tok.pos", "logits", "layers", "layer", "share/token.position", None, True,
            "share of the terms in which a token asks for a position"),
    Measure("position_token", "pos.tok", "logits", "layers", "layer", "share/position.token", None, True,
            "share of the terms in which a position asks for a token"),
    Measure("position_position", "pos.pos", "logits", "layers", "layer", "share/position.position", None, True,
            "share of the terms in which query and key are positions"),
    Measure("bias", "bias", "logits", "layers", "layer", "share/bias", None, True,
            "share of the terms that schemes add to the logits"),
    Measure("position_r2", "position R²", "probes", "layers", "layer", "position_r2", None, True,
            "R² of a linear probe for the position, on positions that it has not seen"),
    Measure("position_accuracy", "position read", "probes", "layers", "layer", "position_accuracy",
            "chance/position_accuracy", False, "share of the positions that a linear probe gets right"),
    Measure("token_accuracy", "token read", "probes", "layers", "layer", "token_accuracy", "chance/token_accuracy", False,
            "share of the tokens that a linear probe gets right"),
    Measure("order", "reordering", "order", "layers", "layer", "change", None, True,
            "change of the last place when the other tokens change places"),
    Measure("distance", "distance", "attention", "layers", "layer", "heads/*/mean_distance", None, False,
            "mean distance in tokens, weighted by attention, over the heads"),
    Measure("entropy", "entropy", "attention", "layers", "layer", "heads/*/entropy_share", None, False,
            "entropy of the weights as a share of that of equal weights, over the heads"),
    Measure("position_share", "by place", "attention", "layers", "layer", "heads/*/position_share", None, False,
            "share of the logits' variance that the two places explain, over the heads"),
    Measure("distance_share", "by distance", "attention", "layers", "layer", "heads/*/distance_share", None, False,
            "share of the logits' variance that their distance explains, over the heads"),
)


class Finding(NamedTuple):
    """One number of a row: its values by seed, their mean, the half of its 95 % interval, the value by chance."""
    part: int | None
    values: dict
    mean: float
    half: float
    chance: float


def measure_named(name: str, option: str) -> Measure:
    known = {m.name: m for m in MEASURES}
    if name not in known:
        near = difflib.get_close_matches(name, known, 1)
        raise Refused(f"{option}: there is no measure '{name}'; there are {', '.join(known)}"
                      + (f"; did you mean '{near[0]}'?" if near else ""))
    return known[name]


def _at(tree, path) -> float:
    for i, word in enumerate(path.split("/") if path else ()):
        if isinstance(tree, list) and word == "*":
            rest = "/".join(path.split("/")[i + 1:])
            return math.fsum(_at(one, rest) for one in tree) / len(tree) if tree else math.nan
        try:
            tree = tree[int(word)] if isinstance(tree, list) else tree[word]
        except (KeyError, IndexError, ValueError, TypeError):
            return math.nan
    return float(tree) if isinstance(tree, (int, float)) and not isinstance(tree, bool) else math.nan


def read_measure(measure: Measure, diagnosis: dict) -> tuple[dict, float]:
    """{part: value} of one diagnosis (None: the measure has no parts), and the value by chance."""
    tree = diagnosis.get(measure.diagnostic) if measure.diagnostic else diagnosis
    if not isinstance(tree, dict):
        return {}, math.nan
    chance = _at(tree, measure.chance) if measure.chance else math.nan
    if not measure.list:
        value = _at(tree, measure.key)
        return ({None: value} if finite(value) else {}), chance
    items = files.maps_in(tree.get(measure.list))
    return {item.get(measure.part, i): _at(item, measure.key) for i, item in enumerate(items)}, chance


class Findings:
    """The kept diagnoses of a run's rows. rows: (row, {seed: diagnosis}); left_out: (cell, why)."""

    def __init__(self, run, kept=None, **options):
        """kept(cell of the summary): its diagnosis, or None; it may raise Refused. Without it diagnose.json of the cell."""
        self.of, self.left_out, found = run.summary(**options), [], {}
        self.labels = {}
        for cell in self.of["cells"]:
            if cell["row"] is None or cell["state"] != "done":
                continue
            try:
                tree = (kept or kept_diagnosis)(cell)
            except Refused as e:
                self.left_out.append((cell["label"], str(e)))
                continue
            if tree:
                found.setdefault(cell["row"], {})[cell["seed"]] = tree
                self.labels[id(tree)] = cell["label"]
        self.rows = [(row, found[row.label]) for row in rows_of(self.of) if row.label in found]
        self._trees, self._known = found, {}
        self.n = sum(len(trees) for _, trees in self.rows)

    def diagnosed(self) -> list:
        """(label of the cell, its diagnosis)"""
        return [(self.labels[id(tree)], tree) for _, trees in self.rows for tree in trees.values()]

    def values(self, row, measure: Measure) -> list[Finding]:
        """The numbers of a row, which are read once."""
        key = row.label, measure.name
        if key not in self._known:
            self._known[key] = self._values(self._trees[row.label], measure)
        return self._known[key]

    def _values(self, trees, measure):
        read = {seed: read_measure(measure, tree) for seed, tree in trees.items()}
        parts = list(dict.fromkeys(part for values, _ in read.values() for part in values))
        chances = [chance for values, chance in read.values() if values and finite(chance)]
        chance = math.fsum(chances) / len(chances) if chances else math.nan
        return [Finding(part, of_seed := {seed: values.get(part, math.nan) for seed, (values, _) in read.items()},
                        *mean_interval(of_seed.values()), chance) for part in parts]

    def parts(self, measure) -> list:
        """Of the row that has the most."""
        return max(([f.part for f in self.values(row, measure) if finite(f.mean)] for row, _ in self.rows),
                   key=len, default=[])

    # ---- the table ----

    def _columns(self, asked):
        if asked is None:
            for m in MEASURES:
                parts = self.parts(m) if m.usual else []
                yield from ((m, part) for part in (parts[:1] if m.diagnostic == "logits" else parts[:1] + parts[1:][-1:]))
            return
        for word in asked.split(","):
            name, _, at = word.partition("@")
            m = measure_named(name, "--columns")
            fit = [part for part in self.parts(m) if not at or str(part) == at]
            if at and not fit:
                has = f"; {name} has a {m.part} behind '@'" if m.part else ""
                raise Refused(f"--columns: no diagnosed row has '{word}'{has}")
            yield from ((m, part) for part in fit)

    def table(self, columns: str | None = None) -> dict:
        """The table as texts, as `table` of `peat results --format json`. columns: "angle,position_r2@0"."""
        chosen, axes = list(self._columns(columns)), self.of["axes"]
        heads = [axis.rpartition(".")[2] for axis in axes] or ["row"]
        heads += ["n"] + [m.head + ("" if part is None else f" @{part}") + (" (by chance)" if m.chance else "")
                          for m, part in chosen]
        rows = [[*([row.axes[a] for a in axes] or ["-"]), str(len(trees)), *(self._text(row, m, part) for m, part in chosen)]
                for row, trees in self.rows]
        notes = [f"{m.head}: {m.meaning}" for m in dict.fromkeys(m for m, _ in chosen)]
        if any(part is not None for _, part in chosen):
            notes.append("@: the layer; of probes and reordering, blocks passed (0: the input)")
        for why in dict.fromkeys(why for _, why in self.left_out):
            cells = [cell for cell, own in self.left_out if own == why]
            more = f" and {plural(len(cells) - 1, 'more cell')}" if len(cells) > 1 else ""
            notes.append(f"left out: {cells[0]}{more}: {why}")
        labels = max(1, len(axes))
        title = f"{self.of['experiment']}: what {plural(self.n, 'cell')} learned, mean ± 95 % CI (Student t) over n seeds"
        return {"title": title,
                "labels": labels, "costs_from": len(heads), "strong": None, "notes": notes,
                "columns": [{"head": head, "number": i >= labels} for i, head in enumerate(heads)],
                "rows": [[{"text": text} for text in row] for row in rows]}

    def _text(self, row, measure, part):
        one = next((f for f in self.values(row, measure) if f.part == part), None)
        if not one or not finite(one.mean):
            return "-"
        small = lambda x, least: 0.0 if abs(x) < least else x  # noqa: E731 -- smaller ones are rounding
        text = interval(small(one.mean, 1e-9), small(one.half, 1e-9) if finite(one.half) else None)
        return text + (f" ({small(one.chance, 1e-6):.3g})" if finite(one.chance) else "")

    # ---- every number in full ----

    def lines(self) -> list[dict]:
        """A line for each row, measure and part."""
        def sd(f, n):
            return f.half * math.sqrt(n) / t95(n - 1) if n > 1 else math.nan
        return [{**row.axes, "measure": m.name, "part": m.part or "", "at": "" if f.part is None else f.part,
                 "n": (n := sum(map(finite, f.values.values()))), "mean": f.mean, "sd": sd(f, n),
                 "ci_low": f.mean - f.half, "ci_high": f.mean + f.half, "chance": f.chance,
                 **{f"seed {seed}": f.values.get(seed, math.nan) for seed in self.of["seeds"]}}
                for row, _ in self.rows for m in MEASURES for f in self.values(row, m)]

    def csv(self) -> str:
        lines, out = self.lines(), io.StringIO()
        if lines:
            table = csv.DictWriter(out, lines[0], lineterminator="\n")
            table.writeheader()
            table.writerows({k: "" if isinstance(v, float) and not finite(v) else v for k, v in line.items()} for line in lines)
        return out.getvalue()


def kept_diagnosis(cell: dict):
    """diagnose.json of a cell of a summary; None: none was kept. Refused: it is damaged, or of other weights."""
    tree = files.read_map(os.path.join(files.folder_beside(cell), "diagnose.json"), needed=False)
    sealed = (files.read_beside(cell, "result.json") or {}).get("files") or {}
    weights = next((seal["sha256"] for name, seal in sealed.items() if name.endswith("/model.safetensors")), None)
    if tree and weights and tree.get("weights") != weights:
        raise Refused("its diagnosis was made from weights that the cell no longer has")
    return tree
