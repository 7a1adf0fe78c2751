# SPDX-License-Identifier: MIT
"""The report: the results of a run as one page for a browser, that needs no network and no other file.

  peat.report.write(run, "page.html")
  html = peat.report.page(run, length=128)

Needs the program, matplotlib and Jinja (Debian: python3-matplotlib, python3-jinja2).
"""
from __future__ import annotations

import base64
import hashlib
import json
import os
from itertools import count as counter

from .. import findings as findings_of, numerals, plot
from ..packages import need
from ..safetensors import Refused
from ..series import axis_named, rows_of
from ..writing import write_file

__all__ = ["page", "write"]

LEARNED = ("position_r2", "order", "ratio", "cosine_size", "angle", "disjoint")  # measures that are drawn
PAGE_PX, EM_PX, PADDING_PX = 1110, 7.6, 18  # for columns of a table side by side
CELLS_SHOWN = 60


def write(run, path: str, **options) -> None:
    """Writes the page, whole or not at all. options as of page()."""
    write_file(path, page(run, **options).encode())


def page(run, title: str | None = None, family: bool = False, lines=None, panels=None, length=None, **options) -> str:
    """The page as HTML. length: what verdict, differences and figures are about (default: the first); family: claims of each
    directory by its own results, Holm over all; lines, panels: axes of figures; metric, baseline, test as of Run.summary()."""
    jinja2 = need("jinja2", "the page")
    need("matplotlib", "the page")
    from . import provenance, schemes, verdict
    of = run.summary(length=length, **options)
    for axes, option in ((lines, "--lines"), (panels, "--panels")):
        for word in (axes or "").split(",") if isinstance(axes, str) else axes or ():
            axis_named(of, word, option)
    claims = of["claims"]
    if family:
        words = [word for name in ("metric", "baseline", "test") if options.get(name) for word in (f"--{name}", options[name])]
        claims = json.loads(run.program.ask("results", *run.folders, "--part", "claims", "--family", "--format", "json", *words))
    learned = findings_of.Findings(run, length=length, **options)
    drawn, not_drawn = schemes.drawings(run, of["cells"])
    at = length if length is not None else of["lengths"][0] if of["lengths"] else None
    figures = Figures(run, lines=lines, panels=panels, length=length, **options)
    here = os.path.dirname(os.path.abspath(__file__))
    script = _read(here, "page.js")
    env = jinja2.Environment(loader=jinja2.FileSystemLoader(here), autoescape=True, trim_blocks=True, lstrip_blocks=True,
                             finalize=_printable, undefined=jinja2.StrictUndefined)
    return env.get_template("page.html").render(
        of=of, title=title or of["experiment"], claims=claims, said=verdict.Verdict(of, at), length=at, verdict=verdict,
        claim_list=(claims or {}).get("claims") or (claims or {"now": {"claims": []}}).get("now", {}).get("claims", []),
        figures=figures, learned=learned, learned_figures=LEARNED, findings=findings_of, drawn=drawn, not_drawn=not_drawn,
        schemes=schemes, n=numerals, blocks=blocks, groups=verdict.groups_of(of), missing=missing(of),
        injection=injection(of), ratios=has_ratios(of),
        exact=exact(of), facts=provenance.facts(run, of), sources=provenance.sources(run.folders),
        commands="".join(map(provenance.commands, run.folders)), cells_shown=CELLS_SHOWN,
        version=_version(), style=_markup(_read(here, "page.css")), script=_markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()).lstrip()


def _version():
    from .. import __version__
    return __version__


def _read(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return file.read()


def _markup(text):
    from markupsafe import Markup
    return Markup(text)


def _printable(value):
    """Texts of a run directory with control characters as escapes; line ends stay, for what is in <pre>."""
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    return "\n".join("\t".join(map(numerals.shown, line.split("\t"))) for line in value.split("\n"))


# ---- figures ----

class Figures:
    """Figures as elements of the page, each drawn twice: for a page's width and for a telephone's."""

    def __init__(self, run, **options):
        self.run, self.options, self.number = run, options, counter(1)

    def _element(self, draw, title, caption, of_panels=""):
        """of_panels: what the caption says where there are several."""
        try:
            drawn = [draw(width) for width in (plot.PAGE, plot.COLUMN)]
        except Refused:
            return ""  # it has nothing to show: one length, no contrast, no curve
        svg = [plot.svg_of(one, title, f"peat-{next(self.number)}") for one in drawn]
        caption += of_panels if len(drawn[0].axes) > 1 else ""
        both = "".join(f'<div class="drawing {kind}">{_coloured(one)}</div>' for kind, one in zip(("wide", "narrow"), svg))
        return _markup("<h3>{}</h3>\n<figure>\n").format(title) + _markup(both) \
            + _markup("<figcaption>{}</figcaption>\n</figure>\n").format(caption)

    def of_kind(self, kind, title, caption):
        takes = {"bars": (), "forest": ()}.get(kind, ("lines", "panels"))
        options = {k: v for k, v in self.options.items() if v is not None and (k not in ("lines", "panels") or k in takes)}
        if kind == "length":
            options.pop("length", None)
        if kind == "cost":
            options["cost"] = "flops"
        return self._element(lambda width: plot.figure(self.run, kind, width, **options), title, caption,
                             " A row that has nothing to combine stands in every panel.")

    def of_finding(self, found, name):
        m = findings_of.measure_named(name, "")
        caption = f"{m.meaning[0].upper()}{m.meaning[1:]}. Mean over seeds with its 95 % interval (Student t)" \
            + ("; grey: by chance." if m.chance else ".")
        return self._element(lambda width: plot.findings_figure(found, name, width, None, self.options.get("lines"),
                             self.options.get("panels")), m.head[0].upper() + m.head[1:], caption)

    def of_scheme(self, one, tables, caption):
        values, titles = tables(one)
        return self._element(lambda width: plot.scheme_figure(values, titles, one["what"], width), one["name"], caption(one))


def _coloured(svg):
    """Black, white and grey become the colours of the page."""
    for own, css in (("#000000", "currentColor"), ("fill: #ffffff", "fill: none"), ("#bbbbbb", "var(--line)")):
        svg = svg.replace(own, css)
    return svg


# ---- tables ----

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
