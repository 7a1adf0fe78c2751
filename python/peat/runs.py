# SPDX-License-Identifier: MIT
"""Runs: what a run directory holds, as tables of pandas and arrays of NumPy."""
from __future__ import annotations

import html
import json
import os

from . import files
from .packages import need
from .program import Program
from .reading import Refused


def open_run(*folders: str, program: str | None = None) -> Run:
    """The run in a directory, or in several that are read as one table. Reads files alone: the program is looked for when
    a method needs it."""
    if not folders:
        raise Refused("no run directory was named")
    for folder in folders:
        files.plan_of(folder)
    return Run([os.fspath(f) for f in folders], Program(program))


def run(experiment: str, overrides: dict | None = None, folder: str | None = None, program: str | None = None, **options) -> Run:
    """Trains an experiment's cells, or those that its directory still lacks, and shows the progress. Needs the program.

    overrides: settings as on the command line, {"train.lr": [1e-3, 2e-3]}; a list is an axis of the grid. folder: the run
    directory (default: runs/NAME). Other options are those of `peat run`: jobs=2, threads=1, only="rotary.*"."""
    peat = Program(program)
    words = [experiment, *(f"{key}={json.dumps(value)}" for key, value in (overrides or {}).items())]
    if folder is None:
        folder = os.path.join("runs", json.loads(peat.ask("plan", *words, "--json"))["experiment"])
    for name, value in options.items():
        words += [f"--{name.replace('_', '-')}"] + ([] if value is True else [str(value)])
    peat.follow("run", *words, "-o", folder)
    return open_run(folder, program=program)


class Run:
    """One run directory or several, read as one table. A cell is named by its id, its label or the start of its hash."""

    def __init__(self, folders, program):
        self.folders, self.program, self._read = folders, program, {}

    def __repr__(self):
        return f"peat.open({', '.join(map(repr, self.folders))})"

    def __str__(self):
        """The table, contrasts and claims as the terminal prints them. Needs the program."""
        return self.program.ask("results", *self.folders)

    def _repr_html_(self):
        return f"<pre>{html.escape(str(self))}</pre>"

    # ---- files alone ----

    def folder(self, cell: str) -> str:
        """The folder of a cell. Reads files alone."""
        refusal = None
        for folder in self.folders:
            try:
                return files.folder_of(folder, cell)
            except Refused as e:
                refusal = refusal or e
        raise refusal

    @property
    def axes(self) -> list:
        """The columns of cells and results that name a setting, where it is not the same in all cells. Reads files alone."""
        heads = [c.head for c in files.cells_of(self.folders)]
        return [name for name in dict.fromkeys(name for head in heads for name in head)
                if name not in ("cell", "label", "seed") and len({head.get(name) for head in heads}) > 1]

    @property
    def cells(self):
        """A row for each planned cell, finished or not: labels, axes, seed, state, sizes, times, folder. Reads files alone."""
        rows = [{**c.head, "status": c.state, "config_sha256": c.planned["hash"], **files.numbers_of(c),
                 "trained_by": c.meta.get("trained_by"), "folder": c.folder} for c in files.cells_of(self.folders)]
        return need("pandas", "a table of cells").DataFrame(rows)

    def results(self, metric: str | None = None, split: str | None = None, length: int | None = None):
        """A row for each cell that is done or diverged, and a column for each metric and length, as "bpb@64": values of its
        last evaluation. split: "test", "valid", "train"; without it "test" where a cell has that part, otherwise "valid".
        Reads files alone."""
        pandas = need("pandas", "a table of results")
        done = [c for c in files.cells_of(self.folders) if c.state in ("done", "diverged")]
        known = {m["split"] for c in done for m in c.result["measures"]}
        split = split or ("test" if "test" in known else "valid")
        rows = [{**c.head, "status": c.state, **{f"{m['metric']}@{m['length']}": m["value"] for m in c.result["measures"]
                 if m["split"] == split and metric in (None, m["metric"]) and length in (None, m["length"])}} for c in done]
        table = pandas.DataFrame(rows)
        values = [name for name in table.columns if "@" in name]
        if done and not values:
            raise Refused(f"no cell has values of {metric or 'a metric'} on '{split}'"
                          + (f" at {length}" if length is not None else "") + f"; parts are {', '.join(sorted(known))}")
        return table.astype({name: float for name in values})

    def curve(self, cell: str):
        """The lines of a cell's metrics.jsonl: losses of training with rate and norm of the gradient, and evaluations.
        Reads files alone."""
        columns = ["step", "metric", "split", "length", "value", "lr", "grad_norm"]
        rows = files.read_curve(self.folder(cell))
        return need("pandas", "a curve").DataFrame(rows, columns=columns).astype({"value": float})

    def weights(self, cell: str) -> dict:
        """{name: array} of a cell's newest checkpoint, by the names of docs/checkpoint.md. Reads files alone."""
        return files.read_arrays(files.newest_weights(self.folder(cell)))

    def model(self, cell: str):
        """The cell as a torch.nn.Module, where its scheme and combination have a formula. Reads files alone; needs PyTorch."""
        return need("peat.torch", "a model").load(self.folder(cell))

    # ---- the program ----

    def activations(self, cell: str, tokens=None, rows: int | None = None) -> dict:
        """{name: array} of what the program computes in a trained cell, whatever language its plugins are in: streams,
        queries, keys, values, logits, weights (docs/checkpoint.md). tokens: ids [B, T]; without them the first rows of the
        validation part. Needs the program."""
        from .activations import passes
        return passes(self.folder(cell), tokens=tokens, rows=rows, program=self.program.path)[0]

    def summary(self, **options) -> dict:
        """The object of `peat results --format json` (docs/formats.md): rows, table, contrasts, claims. options: metric,
        length, baseline, test. Needs the program."""
        key = tuple(sorted((k, v) for k, v in options.items() if v is not None))
        if key not in self._read:
            words = [word for name, value in key for word in (f"--{name}", str(value))]
            self._read[key] = json.loads(self.program.ask("results", *self.folders, "--format", "json", *words))
        return self._read[key]

    def table(self, **options):
        """The table that the terminal prints, in numbers: a row for each setting and length, with mean, interval, difference
        to the baseline and its p; `best` where the terminal has a star. attrs["text"] has it as texts, attrs["notes"] the
        notes. options as of summary(). Needs the program."""
        pandas, of = need("pandas", "the table"), self.summary(**options)
        leave = ("axes", "values", "test_stretches", "choice", "chosen")
        table = pandas.DataFrame([{**row["axes"], **{k: v for k, v in row.items() if k not in leave}} for row in of["rows"]])
        texts = of["table"]
        table.attrs = {"title": texts["title"], "notes": texts["notes"], "text": pandas.DataFrame(
            [[cell["text"] + cell.get("mark", "") for cell in row] for row in texts["rows"]],
            columns=[column["head"] for column in texts["columns"]])}
        return table

    def contrasts(self, **options):
        """The contrasts of the report: a row for each effect. Needs the program."""
        return need("pandas", "the contrasts").DataFrame(
            [{"contrast": of["name"], "metric": of["metric"], "length": of["length"], **effect}
             for of in self.summary(**options)["contrasts"] for effect in of["effects"]])

    def claims(self, **options):
        """The claims with their verdicts. Needs the program."""
        claims = (self.summary(**options)["claims"] or {"now": {"claims": []}})["now"]["claims"]
        return need("pandas", "the claims").DataFrame(claims)
