# SPDX-License-Identifier: MIT
"""The rows of a batch, those that passes keep, and where batches of training come from."""
from __future__ import annotations

import copy

import torch
import torch.nn.functional as F

from .files import F64, Refused, part_of, read_tensors


def on_device(batch, device):
    """The batch on a device, from pinned memory. What must be known of its numbers is read before, as to read from a GPU is to
    wait for it: `padded`, whether rows begin with padding."""
    if "padded" in batch:
        return dict(batch)
    pos = batch.get("pos")
    if pos is not None and bool((pos == pos[:, :1]).all()):
        batch = {**batch, "pos": pos[:, :1]}
    padded = {k: bool(batch[k][:, 0].any()) for k in ("pad", "source_pad") if batch.get(k) is not None}
    pinned = device.type == "cuda"
    moved = {k: (v.pin_memory() if pinned and v.device.type == "cpu" else v).to(device, non_blocking=pinned)
             for k, v in batch.items()}
    return {**moved, "padded": padded}


class Side:
    """The rows of a sequence as schemes see them. pos [n, T] and grid [axes, n, T] are positions in double; n is 1
    where all rows have the same, else B."""

    def __init__(self, batch, like, source=False, class_first=False, total=None):
        name = "source" if source else "token"
        get = lambda key: batch.get(key)
        self.token = get(name)
        shape = (self.token if self.token is not None else get("patch")).shape
        self.B, self.T, self.device = shape[0], shape[1], like.device
        flags = ("source_pad", "source_special") if source else ("pad", "special")
        self.pad, self.special = (None if get(f) is None else get(f).bool() for f in flags)
        self.document = None if source else get("document")
        self.sequence, self.padded_first = get("sequence"), get("padded").get(flags[0], False)
        pos = None if source else get("pos")
        lead = int(class_first)
        start = self.starts()
        if start is None:
            self.pos = torch.arange(self.T, dtype=F64, device=self.device)[None]
        else:
            place = torch.arange(self.T, device=self.device).expand(self.B, -1)
            self.pos = (place - torch.where(start, place, 0).cummax(1).values).to(F64)
        self.grid = pos
        if class_first:
            self._lead(lead, batch)
        self.total, self.source = total or self.T, source
        self.places = self.pos if start is None else None  # while positions are places
        self.own = {}  # what schemes made for this side in a pass
        self.kept = self.so_far = None  # of the newest rows: what passes keep, and the side with all rows so far

    def newest(self, kept):
        """The rows behind those that passes kept."""
        part, begin = copy.copy(self), kept.done
        for name in ("token", "pad", "special", "document", "pos", "grid"):
            x = getattr(self, name)
            setattr(part, name, None if x is None else x[..., begin:])
        part.T, part.own, part.places, part.only_causal = self.T - begin, {}, None, False
        part.kept, part.so_far = kept, self
        return part

    def starts(self):
        """Where documents begin, and what stands behind padding in front, [B, T]; None: only in front of rows."""
        if self.document is None and not self.padded_first:
            return None
        first = self._changes()
        if self.pad is not None:
            first[:, 1:] |= self.pad[:, :-1] & ~self.pad[:, 1:]
        return first

    def _changes(self):
        first = torch.zeros(self.B, self.T, dtype=torch.bool, device=self.device)
        first[:, 0] = True
        if self.document is not None:
            first[:, 1:] |= self.document[:, 1:] != self.document[:, :-1]
        return first

    def _lead(self, lead, batch):
        """A class token before each row, at position 0."""
        def before(x, value):
            return None if x is None else torch.cat([torch.full_like(x[:, :1], value), x], 1)
        self.T += 1
        self.pos = F.pad(self.pos + lead, (1, 0))
        if self.grid is not None:
            self.grid = F.pad(self.grid + lead, (1, 0))
        if self.token is not None:
            self.token = before(self.token, batch["class_id"])
        self.pad = before(self.pad, False)
        if self.special is None:
            self.special = torch.zeros(self.B, self.T - 1, dtype=torch.bool, device=self.device)
        self.special = before(self.special, True)
        if self.document is not None:
            self.document = torch.cat([self.document[:, :1], self.document], 1)

    def neighbour(self, x, s):
        """x [B, T, ...] at t - s, 0 where there is none in the document."""
        at = torch.arange(self.T, device=self.device) - s
        near = at.clamp(0, self.T - 1)
        keep = (at == near).expand(self.B, -1)
        if self.pad is not None:
            keep = keep & ~self.pad[:, near]
        if self.document is not None:
            keep = keep & (self.document[:, near] == self.document)
        return x[:, near] * keep.reshape(self.B, self.T, *[1] * (x.dim() - 2))


class Kept:
    """Keys, values and inputs of layers, which do not change when tokens are added behind them: a pass over the newest rows
    of a causal model goes on from those of the passes before."""

    def __init__(self):
        self.done, self.found = 0, {}

    def so_far(self, name, rows, axis=1):
        """The rows of this name, with those of the passes before."""
        before = self.found.get(name)
        self.found[name] = rows if before is None else torch.cat([before, rows], axis)
        return self.found[name]

    def once(self, name, make):
        """What the first pass made."""
        if name not in self.found:
            self.found[name] = make()
        return self.found[name]


class Feed:
    """Batches of training steps, from files of `peat export --feed` or from the program, a few steps at a time."""

    def __init__(self, config, files=(), peat=None):
        self.files, self.peat, self.last, self.kept = list(files), peat, config["train"]["steps"], {}
        rows = config["train"]["batch"] * config["train"]["seq_len"]
        self.at_once = max(1, min(500, 4_000_000 // rows))

    def batch(self, t):
        prefix = f"{t}."
        if not any(n.startswith(prefix) for n in self.kept):
            self.kept = self._read(t)
        found = part_of(self.kept, prefix)
        if not found:
            raise Refused(f"no file of --feed has the batch of step {t}")
        return found

    def _read(self, t):
        if self.peat:
            return self.peat.export("--feed", f"{t}-{min(self.last, t + self.at_once - 1)}")[0]
        for path in self.files:
            tensors, _ = read_tensors(path)
            if any(n.startswith(f"{t}.") for n in tensors):
                return tensors
        return {}
