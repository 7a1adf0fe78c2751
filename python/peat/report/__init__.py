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

from .. import numerals
from ..findings import Findings
from ..packages import need
from ..series import axis_named
from ..writing import write_file

__all__ = ["page", "write"]

LEARNED = ("position_r2", "order", "ratio", "cosine_size", "angle", "disjoint")  # measures that are drawn


def write(run, path: str, **options) -> None:
    """Writes the page, whole or not at all. options as of page()."""
    write_file(path, page(run, **options).encode())


def page(run, title: str | None = None, family: bool = False, lines=None, panels=None, length=None, **options) -> str:
    """The page as HTML. length: what verdict, differences and figures are about (default: the first); family: claims of each
    directory by its own results, Holm over all; lines, panels: axes of figures; metric, baseline, test as of Run.summary()."""
    jinja2 = need("jinja2", "the page")
    need("matplotlib", "the page")
    from . import figures, provenance, schemes, tables, verdict
    of = run.summary(length=length, **options)
    for axes, option in ((lines, "--lines"), (panels, "--panels")):
        for word in axes.split(",") if isinstance(axes, str) else axes or ():
            axis_named(of, word, option)
    claims, drawn = _claims(run, of, family, options), schemes.drawings(run)
    at = length if length is not None else of["lengths"][0] if of["lengths"] else None
    style, script = (_read(name) for name in ("page.css", "page.js"))
    env = jinja2.Environment(loader=jinja2.FileSystemLoader(_HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True,
                             finalize=_printable, undefined=jinja2.StrictUndefined)
    env.filters["lines"] = _lines
    env.globals.update(n=numerals, schemes=schemes, tables=tables, verdict=verdict)
    return env.get_template("page.html").render(
        of=of, title=title or of["experiment"], claims=claims, said=verdict.Verdict(of, at), length=at,
        claim_list=claims and (claims.get("claims") or claims.get("now", {}).get("claims", [])),
        figures=figures.Figures(run, lines=lines, panels=panels, length=length, **options),
        learned=Findings(run, length=length, **options), learned_figures=LEARNED, drawn=drawn[0], not_drawn=drawn[1],
        facts=provenance.facts(run, of), sources=provenance.sources(run.folders),
        commands="".join(map(provenance.commands, run.folders)), version=_version(), style=style, script=script,
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()).lstrip()


_HERE = os.path.dirname(os.path.abspath(__file__))


def _claims(run, of, family, options):
    if not family:
        return of["claims"]
    words = [word for name in ("metric", "baseline", "test") if options.get(name) for word in (f"--{name}", options[name])]
    return json.loads(run.program.ask("results", *run.folders, "--part", "claims", "--family", "--format", "json", *words))


def _version():
    from .. import __version__
    return __version__


def _read(name):
    from markupsafe import Markup
    with open(os.path.join(_HERE, name), encoding="utf-8") as file:
        return Markup(file.read())


def _printable(value):
    """Texts of a run directory with control characters as escapes, line ends and tabs too."""
    return numerals.shown(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def _lines(text):
    """Of texts of several lines, as in <pre>: line ends and tabs stay."""
    from markupsafe import escape
    return escape("\n".join("\t".join(map(numerals.shown, line.split("\t"))) for line in str(text).split("\n")))
