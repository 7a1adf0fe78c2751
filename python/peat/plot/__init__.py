# SPDX-License-Identifier: MIT
"""Figures of runs by matplotlib: each function draws into an axes and returns it.

  ax = peat.plot.forest(run)                       a figure of its own, as wide as a page
  peat.plot.bars(run, ax, length=128)              into an axes of yours
  figure = peat.plot.figure(run, "curves", width=peat.plot.COLUMN)
  peat.plot.save(figure, "curves.pdf")             fonts embedded; equal when it is drawn again

run is what peat.open() gives. All need the program, whose numbers they show, and matplotlib (Debian: python3-matplotlib).
"""
from .heatmaps import heat, scheme, scheme_figure
from .kinds import KINDS, figure, title_of
from .learned import findings, findings_figure
from .lines import cost, curves, lengths
from .points import bars, forest
from .style import COLUMN, PAGE, save, svg_of

__all__ = ["COLUMN", "KINDS", "PAGE", "bars", "cost", "curves", "figure", "findings", "findings_figure", "forest", "heat",
           "lengths", "save", "scheme", "scheme_figure", "svg_of", "title_of"]
