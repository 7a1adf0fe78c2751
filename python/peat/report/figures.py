# SPDX-License-Identifier: MIT
"""The figures of the page."""
from __future__ import annotations

from itertools import count as counter

from markupsafe import Markup

from .. import plot
from ..findings import measure_named
from ..reading import Refused


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
        return Markup("<h3>{}</h3>\n<figure>\n").format(title) + Markup(both) \
            + Markup("<figcaption>{}</figcaption>\n</figure>\n").format(caption)

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
        m = measure_named(name, "")
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
