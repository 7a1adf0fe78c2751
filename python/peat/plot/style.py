# SPDX-License-Identifier: MIT
"""How figures look, what their points say, and how they are saved."""
from __future__ import annotations

import contextlib
import io
import re
import warnings

from ..numerals import finite, interval, shown
from ..packages import need

COLUMN, PAGE = 3.25, 6.75  # widths in inches
# Okabe and Ito's colours, apart for the colour-blind.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#888888")
DASHES = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)), (0, (7, 2)))
POINTS = "os^vDPX<>*"
GREY, GRID = "#888888", "#bbbbbb"
STYLE = {"font.size": 8, "font.family": "DejaVu Sans", "axes.titlesize": 8, "axes.spines.top": False,
         "axes.spines.right": False, "axes.linewidth": 0.8, "legend.frameon": False, "legend.fontsize": 7,
         "xtick.labelsize": 7, "ytick.labelsize": 7, "lines.linewidth": 1.3, "lines.markersize": 4, "axes.axisbelow": True,
         "grid.color": GRID, "grid.linewidth": 0.5, "grid.linestyle": ":", "pdf.fonttype": 42, "svg.fonttype": "none",
         "savefig.dpi": 200, "text.parse_math": False}
MOST = 1e300  # numbers beyond it are drawn at it: matplotlib computes the ends of an axis from them and must not overflow
_BREAK = "\u241f"  # between the parts of an artist's gid: the row that it shows, what it says


def colour(i) -> str:
    return COLOURS[i % len(COLOURS)]


def dash(i):
    return DASHES[i // len(COLOURS) % len(DASHES)]


def short(text: str, most: int) -> str:
    text = shown(text) or "-"
    text = "\u200b" * text.startswith("_") + text  # matplotlib leaves labels out that begin with "_"
    return text if len(text) <= most else text[:most - 1] + "…"


def metric_label(of, split=None, length=None) -> str:
    """"bpb at 64 tokens, test part (lower is better)"."""
    split = split or of["split"]
    at = f" at {length} {of['length_unit']}" if length is not None else ""
    part = " of the training batch" if split == "train" else at + (", test part" if split == "test" else "")
    return f"{of['metric']}{part} ({'higher' if of['goal'] == 'max' else 'lower'} is better)"


def says(artists, row: str, text: str = "") -> None:
    """What a figure in a page says where the mouse is, and the row that it hides with."""
    for artist in artists if isinstance(artists, (list, tuple)) else [artists]:
        artist.set_gid(_BREAK.join(("says", shown(row), shown(text))))
        artist.set_in_layout(False)


def said(who, where, mean, half=None) -> str:
    return f"{who}{', ' if where else ''}{where}: {interval(mean, half)}"


def within(x):
    """The place of a number on an axis: one beyond MOST stands there."""
    return max(-MOST, min(MOST, x))


def point(ax, x, y, row, text, **style):
    """One point, that says its text: it is above lines and texts, so that the mouse reaches it."""
    if finite(x) and finite(y):
        says(ax.plot([within(x)], [within(y)], linestyle="", zorder=4, **style), row, text)


def new_figure(width, height, **rest):
    """A figure of these inches and its axes."""
    need("matplotlib", "a figure")
    from matplotlib.figure import Figure
    made = Figure(figsize=(width, height), layout="constrained")
    return made, made.subplots(**rest)


def new_axes(width=PAGE, height=3.2):
    """The axes of a figure of its own."""
    return new_figure(width, height)[1]


def in_style():
    return need("matplotlib", "a figure").rc_context(STYLE)


def is_narrow(ax) -> bool:
    return ax.figure.get_size_inches()[0] < 4.5


def svg_of(figure, title: str, salt: str = "peat") -> str:
    """The figure as an SVG element with a title, in which points say their texts; equal when it is drawn again."""
    matplotlib, out = need("matplotlib", "a figure"), io.StringIO()
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": salt}), _without_warnings():
        figure.savefig(out, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    text = out.getvalue()
    text = text[text.index("<svg"):]
    text = re.sub(r' id="(?!C\d)[A-Za-z0-9]+(?:_\d+)+"| xmlns:xlink="[^"]*"| ?<metadata>.*?</metadata>', "", text, flags=re.S)
    text = re.sub(f'<g id="says{_BREAK}([^"{_BREAK}]*){_BREAK}([^"]*)">',
                  lambda m: (f'<g data-row="{m[1]}">' if m[1] else "<g>") + (f"<title>{m[2]}</title>" if m[2] else ""), text)
    head, rest = text.split(">", 1)
    return f"{head} role=\"img\"><title>{_escaped(title)}</title>{rest}".replace("xlink:href", "href")


@contextlib.contextmanager
def _without_warnings():
    """Of letters that the font lacks, and of figures too small for their labels."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _escaped(text):
    return shown(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def image(figure, kind: str, title: str = "") -> bytes:
    """The file of a figure: svg, pdf or png."""
    if kind == "svg":
        return ('<?xml version="1.0" encoding="utf-8"?>\n' + svg_of(figure, title)).encode()
    out = io.BytesIO()
    with in_style(), _without_warnings():
        no_date = {"CreationDate": None} if kind == "pdf" else {}
        figure.savefig(out, format=kind, metadata={**no_date, "Title": title})
    return out.getvalue()


def save(figure, path: str, title: str = "", own: bool = False) -> None:
    """Saves as .svg, .pdf or .png, by the end of the name. own: a file of a run directory."""
    from ..writing import write_file, write_own
    (write_own if own else write_file)(path, image(figure, path.rpartition(".")[2], title))
