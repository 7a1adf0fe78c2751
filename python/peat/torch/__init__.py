# SPDX-License-Identifier: MIT
"""A cell of PEAT in PyTorch, written from docs/checkpoint.md; needs PyTorch alone.

  import peat.torch
  model = peat.torch.load("cell.safetensors")     what `peat export DIR CELL -o FILE` wrote, or the folder of a
  logits = model(tokens)                          cell in a run directory; tokens [B, T]

  python3 -m peat.torch check PATH...             files of `peat export --batch`, or folders of them: the loss, logits
                                                  and gradients of the first batch are those that PEAT found
  python3 -m peat.torch train PATH                trains the cells of a run directory (see --help)
"""
from .files import Refused, read_tensors, write_tensors
from .model import Model, load
from .training import Training

__all__ = ["Model", "Refused", "Training", "load", "read_tensors", "write_tensors"]
