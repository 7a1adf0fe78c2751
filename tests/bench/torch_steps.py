#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Steps of a cell by peat.torch beside those of a plain PyTorch loop of the same shape, in turn.

  peat plan experiments/quickstart.yaml --write -o run
  peat export run learned.sum.s0 --start -o start.st && peat export run learned.sum.s0 --feed 1-40 -o feed.st
  PYTHONPATH=python tests/bench/torch_steps.py start.st feed.st [--device cuda --bf16 --compile]

The plain model is a decoder with learned positions that are added, blocks with the norm before, GELU and
an output head of its own, whatever the cell's scheme is. Start, export and evaluation are not in the times.
With --compile the plain model goes through torch.compile, and peat.torch is measured with it and without.
"""
import argparse
import statistics
import sys
import time

if __name__ == "__main__":
    sys.path.pop(0)  # this folder has a profile.py, which PyTorch's own imports would find
import torch
import torch.nn.functional as F
from torch import nn

import peat.torch
from peat.torch.files import part_of
from peat.torch.training import optimiser

FUSED = getattr(F, "scaled_dot_product_attention", None)


class Block(nn.Module):
    def __init__(self, d, heads, d_ff, T):
        super().__init__()
        self.heads, self.norm1, self.norm2 = heads, nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.out, self.up, self.down = nn.Linear(d, 3 * d), nn.Linear(d, d), nn.Linear(d, d_ff), nn.Linear(d_ff, d)
        self.register_buffer("future", torch.ones(T, T, dtype=torch.bool).triu(1))

    def forward(self, x):
        q, k, v = (y.unflatten(-1, (self.heads, -1)).transpose(1, 2) for y in self.qkv(self.norm1(x)).chunk(3, -1))
        if FUSED:
            o = FUSED(q, k, v, is_causal=True)
        else:
            o = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(self.future, -torch.inf).softmax(-1) @ v
        x = x + self.out(o.transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Plain(nn.Module):
    def __init__(self, V, d, heads, layers, d_ff, T):
        super().__init__()
        self.token, self.place = nn.Embedding(V, d), nn.Embedding(T, d)
        self.blocks = nn.Sequential(*(Block(d, heads, d_ff, T) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, V, bias=False)

    def forward(self, token, target):
        x = self.token(token) + self.place.weight[:token.shape[1]]
        return F.cross_entropy(self.head(self.norm(self.blocks(x))).flatten(0, 1), target.flatten(), ignore_index=-1)


def plain_steps(config, V, device, bf16, compile):
    m, t = config["model"], config["train"]
    model = Plain(V, m["d_model"], m["n_head"], m["n_layer"], m["d_ff"], t["seq_len"]).to(device)
    adamw, _ = optimiser(list(model.parameters()), lr=t["lr"])
    loss_of = torch.compile(model) if compile else model

    def step(batch):
        adamw.zero_grad(set_to_none=True)
        token, target = (batch[k].to(device).long() for k in ("token", "target"))
        with torch.autocast(device, torch.bfloat16, enabled=bf16):
            loss = loss_of(token, target)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adamw.step()
    return step


def timed(step, batches, device):
    start = time.perf_counter()
    for batch in batches:
        step(batch)
    if device == "cuda":
        torch.cuda.synchronize()
    return 1e3 * (time.perf_counter() - start) / len(batches)


def measured(start, feed, device, bf16, compile, n_rounds):
    """{name: tokens a second}, medians over rounds that alternate."""
    tensors, meta = peat.torch.read_tensors(start)
    kept = {n: x for path in feed for n, x in peat.torch.read_tensors(path)[0].items()}
    batches = [part_of(kept, f"{t}.") for t in sorted({int(n.split(".")[0]) for n in kept})]
    steps = {}
    for compiled in (False, True)[:1 + compile]:
        training = peat.torch.Training(tensors, meta, device, compiled=compiled)
        training.rounds = bf16
        steps["peat.torch compiled" if compiled else "peat.torch"] = training.step
    steps["plain"] = plain_steps(training.config, len(tensors["token.weight"]), device, bf16, compile)
    for step in steps.values():
        timed(step, batches[:3], device)
    rounds = [{name: timed(step, batches, device) for name, step in steps.items()} for _ in range(n_rounds)]
    return {name: 1e3 * batches[0]["token"].numel() / statistics.median(r[name] for r in rounds) for name in steps}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("start")
    p.add_argument("feed", nargs="+")
    p.add_argument("--device", default="cpu")
    p.add_argument("--bf16", action="store_true")
    p.add_argument("--compile", action="store_true")
    p.add_argument("--rounds", type=int, default=5)
    options = p.parse_args()
    found = measured(options.start, options.feed, options.device, options.bf16, options.compile, options.rounds)
    for name, rate in found.items():
        print(f"{name:20} {rate:10.0f} tokens/s, {rate / found['plain']:6.3f} of plain")


if __name__ == "__main__":
    main()
