# SPDX-License-Identifier: MIT
"""A cell's training: loss, learning rate, steps, checkpoints, and the file that PEAT reads."""
from __future__ import annotations

import io
import json
import math
import os
import time

import torch

from peat.reading import contents

from . import pieces
from .batches import on_device
from .files import F64, Refused, write_tensors
from .model import Model


def loss_of(out, batch, targets=None, rows=None, cross_entropy=pieces.cross_entropy):
    """The mean loss over the targets that are not -1, and over rows with classes. With the numbers of targets and of
    rows of a whole batch, the part of its loss that these rows have."""
    logits, classes = out if isinstance(out, tuple) else (out, None)
    total = 0
    if logits.dim() == 3:
        n = int((batch["target"] >= 0).sum()) if targets is None else targets
        total = cross_entropy(logits.flatten(0, 1), batch["target"].to(logits.device).long().flatten()) / n
    else:
        classes = logits
    if classes is not None:
        label = batch["label"].to(classes.device).long()
        total = total + cross_entropy(classes, label) / (len(label) if rows is None else rows)
    return total


def rate(train, t):
    """The learning rate of step t."""
    warmup, steps, kind = train["warmup"], train["steps"], train["schedule"]
    if t <= warmup:
        return train["lr"] * t / warmup
    if kind == "constant":
        return train["lr"]
    flat = warmup
    if kind == "wsd":
        flat = max(warmup, steps - max(1, math.floor(train["decay"] * steps + 0.5)))
        if t <= flat:
            return train["lr"]
    x = (t - flat) / (steps - flat)
    h = (1 + math.cos(math.pi * x)) / 2 if kind == "cosine" else 1 - x
    return train["lr"] * (train["lr_min"] + (1 - train["lr_min"]) * h)


def optimiser(groups, **how):
    """AdamW, and whether it is the one of few kernels, which can leave out an update that a number on the device forbids."""
    try:
        return torch.optim.AdamW(groups, fused=True, **how), True
    except (TypeError, RuntimeError):  # this PyTorch has none, or none for this device
        return torch.optim.AdamW(groups, **how), False


class Training:
    """A cell's training from its start. `rank` of `world` processes has its share of the rows of each batch."""

    def __init__(self, tensors, meta, device="cpu", dtype=torch.float32, rank=0, world=1,
                 program="peat", compiled=False):
        self.config, how = json.loads(meta["peat_config"]), json.loads(meta.get("peat_training", "null"))
        if how is None or meta["peat_step"] != "0":
            raise Refused("the weights are not those of a start: `peat export --start` writes them")
        self.train, self.rank, self.world, self.device = self.config["train"], rank, world, torch.device(device)
        self.model = Model({n: t.to(device, dtype, copy=True) for n, t in tensors.items()}, self.config,
                           json.loads(meta["peat_resolved"]), program).train()
        self.model.compiled = compiled
        self.named, self.bounds = {}, []
        groups = {True: [], False: []}
        for name, w in self.model.named_parameters():
            w.requires_grad_(not how[name]["frozen"])
            if w.requires_grad:
                self.named[name] = w
                groups[how[name]["decay"]].append(w)
                if "bounds" in how[name]:
                    self.bounds.append((w, *how[name]["bounds"]))
        t = self.train
        self.adamw, self.fused = optimiser(
            [{"params": p, "weight_decay": t["weight_decay"] if decay else 0.0} for decay, p in groups.items() if p],
            lr=t["lr"], betas=(t["beta1"], t["beta2"]), eps=t["eps"])
        self.finite = torch.ones((), dtype=torch.bool, device=device)
        self.rounds = t.get("precision") == "bf16" and dtype == torch.float32
        self.first_loss = self.last_loss = None
        self.done = self.above = 0
        self.diverged, self.curve, self.times = None, [], []

    def share(self, batch):
        """This process's rows, and the number of the first."""
        B = len(batch["sequence"])
        if B < self.world:
            raise Refused(f"a batch has {B} rows, and there are {self.world} processes")
        a, b = B * self.rank // self.world, B * (self.rank + 1) // self.world
        return {n: x[:, a:b] if n == "pos" else x[a:b] for n, x in batch.items()}, a

    def step(self, batch):
        """One step; the loss of the whole batch and the norm of its gradient, which may not be computed yet. A number that
        is not finite leaves out this update and all later ones."""
        t, m = self.done + 1, self.model
        targets = int((batch["target"] >= 0).sum()) if "target" in batch else None
        rows, m.step = len(batch["sequence"]), t
        mine, m.first_row = self.share(batch)
        mine = on_device(mine, self.device)
        self.adamw.zero_grad(set_to_none=True)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.rounds):
            loss = loss_of(m(mine), mine, targets, rows, m.piece(pieces.cross_entropy))
        loss.backward()
        loss = loss.detach()
        if t == 1:
            self.unreached = [n for n, w in self.named.items() if w.grad is None]
        for w in self.named.values():
            w.grad = torch.zeros_like(w) if w.grad is None else w.grad
        if self.world > 1:
            for x in (loss, *(w.grad for w in self.named.values())):
                torch.distributed.all_reduce(x)
        clip = self.train["clip"] or math.inf
        norm, self.done = torch.nn.utils.clip_grad_norm_(list(self.named.values()), clip), t
        self.finite = self.finite & loss.isfinite() & norm.isfinite()
        if self.fused:
            self.adamw.found_inf = (~self.finite).float()
        elif not self.finite:
            return loss, norm
        for group in self.adamw.param_groups:
            group["lr"] = rate(self.train, t)
        self.adamw.step()
        with torch.no_grad():
            for w, low, high in self.bounds:
                w.clamp_(low, high)
        return loss, norm

    def watch(self, t, loss, norm):
        """Whether the run ends here, as docs/checkpoint.md says."""
        if not math.isfinite(loss) or not math.isfinite(norm):
            self.diverged = f"{'gradient' if math.isfinite(loss) else 'loss'} is not finite at step {t}"
        else:
            self.first_loss = loss if t == 1 else self.first_loss
            self.above = self.above + 1 if loss > self.first_loss + 2 else 0
            if self.above >= 50:
                self.diverged = f"loss stayed more than 2 nats above the first for 50 steps, until step {t}"

    def at_once(self, every):
        """Steps after which losses are read: to the next tenth, and so few that `watch` ends at none but the last."""
        t = self.done
        return 1 if t == 0 or self.above > 40 else min(10 - t % 10, every - t % every, self.train["steps"] - t)

    def note(self, seen, start):
        """Waits for steps that began at `start`, of which `seen` has losses and norms."""
        values = torch.stack([x for step in seen for x in step]).view(-1, 2).tolist()
        ms, self.done = 1e3 * (time.perf_counter() - start) / len(seen), self.done - len(seen)
        for loss, norm in values:
            self.done += 1
            t = self.done
            self.watch(t, loss, norm)
            self.last_loss = loss
            self.times.append(ms)
            if t == 1 or t % 10 == 0 or t == self.train["steps"] or self.diverged:
                self.curve.append([t, *(x if math.isfinite(x) else None for x in (loss, rate(self.train, t), norm))])
            if self.diverged:
                return

    KEPT = ("first_loss", "last_loss", "done", "above", "curve", "times")

    def save(self, path):
        """Numbers are JSON: PyTorch 1.13 loads no float but in a tensor, unless it runs a pickle."""
        facts = {"hash": self.config["hash"], **{k: getattr(self, k) for k in self.KEPT}}
        state = {"model": self.model.state_dict(), "moments": self.adamw.state_dict()["state"], "facts": json.dumps(facts)}
        torch.save(state, path + ".tmp")
        os.replace(path + ".tmp", path)

    def restore(self, path):
        try:
            state = torch.load(io.BytesIO(contents(path)), map_location=self.device, weights_only=True)
            facts = json.loads(state["facts"])
            if facts["hash"] != self.config["hash"]:
                raise Refused(f"'{path}' is the checkpoint of another cell")
            if not facts["done"] == facts["curve"][-1][0] <= self.train["steps"] or len(facts["times"]) != facts["done"]:
                raise ValueError
            self.model.load_state_dict(state["model"])
            self.adamw.load_state_dict(dict(self.adamw.state_dict(), state=state["moments"]))
            for k in self.KEPT:
                setattr(self, k, facts[k])
        except Refused:
            raise
        except Exception as e:
            raise Refused(f"'{path}' is not a whole checkpoint of peat.torch ({type(e).__name__})") from None

    def by(self):
        """The program, the device and the precision in words."""
        where = torch.cuda.get_device_name(self.device) if self.device.type == "cuda" else self.device.type
        words = [f"PyTorch {torch.__version__}" + self.model.compiled * " compiled", where]
        words += ["float64"] if next(self.model.parameters()).dtype == F64 else ["bf16"] if self.rounds else []
        return ", ".join(words + ([f"{self.world} processes"] if self.world > 1 else []))

    def formulas(self):
        return [{"path": f, "sha256": h} for f, h in sorted(self.model.formula_files().items())]

    def write(self, path):
        """The file that `peat cell --trained` reads."""
        kept = {n: w for n, w in self.model.named_parameters()}
        for name, w in self.named.items():
            state = self.adamw.state.get(w)
            kept["opt.v." + name] = state["exp_avg_sq"] if state else torch.zeros_like(w)
        times = sorted(self.times[3:] or self.times)
        facts = {"by": self.by(), "steps": self.done, "seconds": sum(self.times) / 1e3,
                 "median_step_ms": times[len(times) // 2], "first_loss": self.first_loss,
                 "last_loss": self.last_loss if math.isfinite(self.last_loss) else None, "curve": self.curve,
                 "formulas": self.formulas()}
        if self.diverged:
            facts.update(diverged=self.done, what=self.diverged)
        write_tensors(path, kept, {"peat_hash": self.config["hash"], "peat_trained": json.dumps(facts)})
