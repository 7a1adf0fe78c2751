#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs nanoGPT's own training program with a seed, and takes its loss on the whole validation part.

    nanogpt.py CHECKOUT SEED [--peat-init]

CHECKOUT is a clone of nanoGPT (github.com/karpathy/nanoGPT, commit 3adf61e) in which data/shakespeare_char/prepare.py
was run. The options are those that its README gives for a CPU. With --peat-init the first weights have PEAT's sizes
(docs/checkpoint.md): linear layers 1/sqrt(fan in), those into the residual stream divided by sqrt(2 layers), tables
1/sqrt(width) times sqrt(width) where they enter. Needs PyTorch and NumPy."""
import argparse
import contextlib
import io
import math
import os
import sys
import tempfile

OPTIONS = ("config/train_shakespeare_char.py --device=cpu --compile=False --eval_iters=20 --log_interval=1000 "
           "--block_size=64 --batch_size=12 --n_layer=4 --n_head=4 --n_embd=128 --max_iters=2000 "
           "--lr_decay_iters=2000 --dropout=0.0").split()


def start_as_peat(model, torch):
    """Makes nanoGPT's models begin with weights of PEAT's sizes."""
    begin = model.GPT.__init__

    def begin_as_peat(self, config):
        begin(self, config)
        for name, p in self.named_parameters():
            if p.dim() == 2:
                into_stream = math.sqrt(2 * config.n_layer) if name.endswith("c_proj.weight") else 1
                torch.nn.init.normal_(p, std=1 / (math.sqrt(p.shape[1]) * into_stream))
        for table in (self.transformer.wte, self.transformer.wpe):
            table.register_forward_hook(lambda module, given, rows: rows * math.sqrt(config.n_embd))

    model.GPT.__init__ = begin_as_peat


def validation_loss(model, torch, np, length=64, rows=50):
    """The mean over every stretch of the validation part, as PEAT takes it."""
    ids = np.fromfile("data/shakespeare_char/val.bin", dtype=np.uint16).astype(np.int64)
    n = (len(ids) - 1) // length
    given = torch.from_numpy(ids[:n * length]).view(n, length)
    wanted = torch.from_numpy(ids[1:n * length + 1]).view(n, length)
    model.eval()
    with torch.no_grad():
        return sum(model(given[i:i + rows], wanted[i:i + rows])[1].item() * len(given[i:i + rows])
                   for i in range(0, n, rows)) / n


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout")
    parser.add_argument("seed", type=int)
    parser.add_argument("--peat-init", action="store_true")
    asked = parser.parse_args()
    os.chdir(asked.checkout)
    sys.path.insert(0, ".")
    import model
    import numpy as np
    import torch
    if asked.peat_init:
        start_as_peat(model, torch)
    with open("train.py", encoding="utf-8") as file:
        program = file.read().replace("torch.manual_seed(1337 + seed_offset)", f"torch.manual_seed({asked.seed})")
    printed, scope = io.StringIO(), {"__name__": "__main__"}
    with tempfile.TemporaryDirectory() as out, contextlib.redirect_stdout(printed):
        sys.argv = ["train.py", *OPTIONS, f"--out_dir={out}"]
        exec(compile(program, "train.py", "exec"), scope)
    said = [line for line in printed.getvalue().splitlines() if line.startswith("step 2000")][-1]
    print("PEAT's first weights" if asked.peat_init else "its own first weights", asked.seed, said.split("val ")[1],
          "whole part", f"{validation_loss(scope['model'], torch, np):.4f}", sep=", ")


if __name__ == "__main__":
    main()
