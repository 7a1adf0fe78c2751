# SPDX-License-Identifier: MIT
"""PEAT in Python: runs are started, read, drawn and reported; docs/python.md.

  import peat
  run = peat.run("grid.yaml", {"train.lr": [1e-3, 2e-3]})    trains it, and shows the progress
  run = peat.open("runs/NAME")                               what a run directory holds: run.cells, run.results(), ...
  peat.plot.forest(run)                                      an axes of matplotlib
  peat.report.write(run, "page.html")                        the page of `peat report`
  peat.diagnose.cell(run.folder("CELL"))                     the numbers of `peat diagnose`
  peat.inspect.scheme("alibi", d=64, T=32, heads=8)          a table of a scheme
  peat.weights("FILE.safetensors")                           {name: array}

Modules load when they are touched: peat.plot needs matplotlib, peat.report Jinja too, peat.diagnose
SciPy, peat.torch PyTorch.
"""
from .files import read_arrays as weights
from .packages import need
from .runs import Run, open_run as open, run
from .reading import Refused

__all__ = ["Refused", "Run", "open", "run", "weights"]
__version__ = "1.0.0"

_MODULES = ("diagnose", "findings", "inspect", "plot", "report", "torch")


def __getattr__(name: str):
    """A module, loaded when it is touched."""
    if name in _MODULES:
        return need(f"peat.{name}", f"peat.{name}")
    raise AttributeError(f"module 'peat' has no attribute '{name}'")
