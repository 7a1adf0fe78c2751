# SPDX-License-Identifier: MIT
"""python3 -m peat.torch: docs/python.md."""
from __future__ import annotations

import argparse
import fnmatch
import math
import os
import sys
import tempfile
import time

import torch

from peat.reading import record

from .batches import Feed
from .check import differences, files_of, run_steps
from .files import Refused, read_tensors
from .program import Peat
from .training import Training


def processes():
    """(rank, world, device index) under torchrun."""
    return tuple(int(os.environ.get(k, d)) for k, d in (("RANK", 0), ("WORLD_SIZE", 1), ("LOCAL_RANK", 0)))


def device_of(name: str, local: int) -> str:
    if name == "cuda" and not torch.cuda.is_available():
        raise Refused("this PyTorch finds no CUDA device: --device cpu, or a PyTorch with CUDA")
    return f"cuda:{local}" if name == "cuda" else name


def planned(run: str, only: list[str]) -> list[str]:
    """Folders of the cells of a run directory that have no result yet, in the order of the plan."""
    cells = record(os.path.join(run, "plan.json"))["cells"]
    named = [c for c in cells if not only or any(fnmatch.fnmatchcase(c[k], o) for o in only for k in ("id", "label"))]
    if not named:
        raise Refused(f"no cell of '{run}' fits --only; there are {', '.join(c['label'] for c in cells[:5])}"
                      + (", ..." if len(cells) > 5 else ""))
    folders = [os.path.join(run, "cells", c["id"]) for c in named]
    return [f for f in folders if not os.path.exists(os.path.join(f, "result.json"))]


def run_train(options):
    rank, world, local = processes()
    device = device_of(options.device, local)
    grid = os.path.exists(os.path.join(options.path, "plan.json"))
    folders = planned(options.path, options.only) if grid else [options.path]
    if world > 1:
        torch.distributed.init_process_group("nccl" if options.device == "cuda" else "gloo")
    failed = 0
    for n, folder in enumerate(folders, 1):
        try:
            if grid and rank == 0:
                print(f"cell {n} of {len(folders)}: {os.path.basename(folder)}", file=sys.stderr)
            train_one(options, folder, os.path.join(folder, "torch.pt") if grid else options.checkpoint, device, rank, world)
        except Refused as e:
            if not grid or world > 1:
                raise
            failed += 1
            print(f"peat.torch: {os.path.basename(folder)}: {e}", file=sys.stderr)
    if world > 1:
        torch.distributed.destroy_process_group()
    if failed:
        raise Refused(f"{failed} of {len(folders)} cells were not trained")


def train_one(options, path, checkpoint, device, rank, world):
    """Trains the cell of a folder, or of a file, and goes on from the checkpoint where there is one."""
    peat = Peat(options.peat, path) if os.path.isdir(path) else None
    if not peat and not (options.feed and options.output):
        raise Refused("a file of `peat export --start` needs --feed FILE... and -o FILE")
    tensors, meta = peat.export("--start") if peat else read_tensors(path)
    x = Training(tensors, meta, device, getattr(torch, options.dtype), rank, world, options.peat)
    if x.train.get("patience"):
        raise Refused("train.patience stops by evaluations during training: run.engine: torch has them")
    if checkpoint and os.path.exists(checkpoint):
        x.restore(checkpoint)
    feed = Feed(x.config, options.feed or (), peat)
    while x.done < x.train["steps"] and not x.diverged:
        batches = [feed.batch(x.done + 1 + i) for i in range(x.at_once(options.every))]
        start = time.perf_counter()
        x.note([x.step(batch) for batch in batches], start)
        if rank == 0 and x.done % options.every == 0:
            print(f"step {x.done} of {x.train['steps']}: loss {x.last_loss:.4f}", file=sys.stderr)
            if checkpoint:
                x.save(checkpoint)
    if rank == 0:
        finish(x, peat, options.output)
        if checkpoint and checkpoint != options.checkpoint and os.path.exists(checkpoint):
            os.remove(checkpoint)


def finish(x, peat, output):
    with tempfile.TemporaryDirectory() as folder:
        path = output or os.path.join(folder, "trained.safetensors")
        x.write(path)
        if peat:
            peat("cell", "--trained", path)


def run_check(options):
    failed = n = 0
    tolerance = options.tolerance or (1e-6 if options.steps else 1e-9)
    for path in options.path if options.steps else files_of(options.path):
        found = run_steps(options, path) if options.steps else differences(path, options.peat)
        what, worst = max(found.items(), key=lambda x: x[1] if x[1] == x[1] else math.inf)
        bad = not worst <= tolerance
        failed, n = failed + bad, n + 1
        print(f"{path}: {'differs' if bad else 'agrees'}: {len(found)} comparisons, at most {worst:.1e} ({what})")
    if not n:
        raise Refused("no file was found")
    if failed:
        sys.exit(f"peat.torch: {failed} of {n} cells differ by more than {tolerance:g}")


def parser():
    p = argparse.ArgumentParser(prog="python3 -m peat.torch", description="Cells of PEAT in PyTorch.")
    verbs = p.add_subparsers(dest="verb", required=True)
    check = verbs.add_parser("check", help="compare files of `peat export --batch` with what PyTorch computes")
    check.add_argument("path", nargs="+", help="a file, or a folder of files")
    check.add_argument("--steps", type=int, default=0, metavar="N",
                       help="of cells' folders: train their first N steps in double precision beside PEAT")
    check.add_argument("--tolerance", type=float, help="largest difference (default: 1e-9; with --steps 1e-6)")
    check.set_defaults(run=run_check)
    train = verbs.add_parser("train", help="train cells, whose results PEAT then evaluates and writes", description="""
        Trains the cells of a run directory that have no result (`peat plan EXP --write` makes one), or the one in the
        folder PATH of a cell, from the weights and with the batches that PEAT gives; then has PEAT evaluate it and write
        its result. Started again, it goes on from what it saved. Under torchrun processes share the rows of a batch.
        Where there is no peat, PATH is a file of `peat export --start`, with files of `peat export --feed I-J`; `peat cell
        DIR ID --trained FILE` then reads what -o wrote.""")
    train.add_argument("path", help="a run directory, the folder of a cell, or a file of `peat export --start`")
    train.add_argument("--only", nargs="+", metavar="CELL", default=[],
                       help="of a run directory: labels or ids, which may have *")
    train.add_argument("--device", default="cpu", help="cpu or cuda (default: cpu)")
    train.add_argument("--dtype", choices=("float32", "float64"), default="float32", help="(default: float32)")
    train.add_argument("--feed", nargs="+", metavar="FILE", help="batches, with a file as PATH")
    train.add_argument("-o", "--output", metavar="FILE", help="keep what was trained")
    train.add_argument("--checkpoint", metavar="FILE", help="save here, and go on from here")
    train.add_argument("--every", type=int, default=500, metavar="K", help="steps between these (default: 500)")
    train.set_defaults(run=run_train)
    for one in (check, train):
        one.add_argument("--peat", default=os.environ.get("PEAT", "peat"), metavar="PROGRAM",
                         help="the program (default: $PEAT, or peat)")
    return p


def main(argument=None):
    options = parser().parse_args(argument)
    try:
        options.run(options)
    except (Refused, OSError) as e:
        sys.exit(f"peat.torch: {e}")


if __name__ == "__main__":
    main()
