# SPDX-License-Identifier: MIT
"""What schemes and combinations compute, as tables; needs the program, which runs their own code.

  peat.inspect.scheme("alibi", d=64, T=32, heads=8)       a Table, from initial weights of seed 0
  peat.inspect.cell("runs/NAME/cells/ID")                 {name: Table} with the trained weights; start=True: before training
  table.describe()                                        what moves, what is constant, rank, likeness, linearity
"""
from .cells import cell
from .rig import scheme
from .table import Table

__all__ = ["Table", "cell", "scheme"]
