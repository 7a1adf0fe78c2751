# SPDX-License-Identifier: MIT
"""What this package computes of a cell, beside what PEAT did."""
from __future__ import annotations

import math
import os

import torch

from .batches import Feed, Kept
from .files import F64, Refused, part_of, read_cell
from .model import Model
from .program import Peat
from .training import Training, loss_of


def apart(ours, theirs):
    """The largest difference, relative to the largest number where that is above 1."""
    if ours.shape != theirs.shape:
        return math.inf
    if not ours.numel():
        return 0.0
    return float((ours - theirs).abs().max() / max(1.0, float(theirs.abs().max())))


def differences(path: str, program: str = "peat", device="cpu") -> dict:
    """What this module makes of the first batch of an exported file in double precision on a device, against what PEAT did:
    {what: difference}."""
    tensors, config, resolved, meta = read_cell(path)
    kept = part_of(tensors, "batch.")
    if not kept:
        raise Refused(f"'{path}' has no batch: `peat export DIR CELL --batch -o FILE` writes one")
    model = Model({n: t.to(device, F64) for n, t in tensors.items() if not n.startswith("batch.")}, config, resolved, program)
    found = {}

    def compare(name, batch):
        out = model(batch)
        logits = out if isinstance(out, tuple) else (out,)
        for word, ours in zip(("logits", "classes"), logits):
            found[f"{name} {word}"] = apart(ours.detach().cpu().reshape(batch[word].shape), batch[word])
        return out
    model.train()
    model.step = 1
    batch = part_of(kept, "train.")
    loss = loss_of(compare("training", batch), batch)
    found["loss"] = apart(loss.detach().cpu().reshape(1), batch["loss"])
    loss.backward()
    of = part_of(kept, "grad.")
    for name, w in model.named_parameters():
        if name in of:
            ours = torch.zeros_like(of[name]) if w.grad is None else w.grad.cpu()
            found["gradient of " + name] = apart(ours, of[name])
    model.eval()
    model.step = int(meta["peat_step"])
    with torch.no_grad():
        batch = part_of(kept, "valid.")
        whole = compare("evaluation", batch)
        if "peat_answers" in meta:
            found["the newest rows alone"] = apart(newest(model, batch).cpu(), whole.cpu())
    return found


def newest(model, batch):
    """Logits of a batch by a pass over the first half of each row, and one over each row behind it."""
    kept, (B, T), made = Kept(), batch["token"].shape, []
    model.total = T
    for end in range(max(1, T // 2), T + 1):
        made.append(model.newest({n: x[..., :end] if x.shape == (B, T) and not n.startswith("source") else x
                                  for n, x in batch.items()}, kept))
    model.total = None
    return torch.cat(made, 1)


def run_steps(options, path):
    """The first steps of a cell in double precision, beside PEAT's: the largest differences of losses, norms and weights."""
    peat = Peat(options.peat, path)
    tensors, meta = peat.export("--start")
    theirs, _ = peat.export("--steps", str(options.steps))
    x = Training(tensors, meta, dtype=F64, program=options.peat)
    feed = Feed(x.config, peat=peat)
    seen = [x.step(feed.batch(t + 1)) for t in range(options.steps)]
    found = {"loss": apart(torch.tensor([a for a, _ in seen], dtype=F64), theirs["steps.loss"]),
             "norm of the gradient": apart(torch.tensor([b for _, b in seen], dtype=F64), theirs["steps.grad_norm"])}
    for name, w in x.model.named_parameters():
        found[name] = apart(w.detach(), theirs[name])
    return found


def files_of(paths):
    for path in paths:
        if os.path.isdir(path) and not os.path.exists(os.path.join(path, "config.json")):
            yield from sorted(os.path.join(path, n) for n in os.listdir(path) if n.endswith(".safetensors"))
        else:
            yield path
