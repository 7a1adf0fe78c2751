#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How much of a grid of small cells is training: 48 cells of d 32, two at a time, one thread each.

  tests/bench/small_cells.py build/release/bin/peat --times 3
  tests/bench/small_cells.py build/release/bin/peat eval.tokens=65536

By processor time (user and system, of `peat run` and all its cells) training is what as many steps
again add: the grid is run with its 200 steps and with 400, in turn. By wall time it is what the
cells' results say of their steps and evaluations, as a share of the run times its two jobs. On a busy
machine both are rough: caches are shared, and waiting counts as training. Words after the program are
settings for both.
"""
import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

EXPERIMENT = pathlib.Path(__file__).with_name("small_cells.yaml")
JOBS, STEPS, CELLS = 2, 200, 48


def spent():
    use = resource.getrusage(resource.RUSAGE_CHILDREN)
    return use.ru_utime + use.ru_stime


def run(program, steps, settings, folder):
    """Processor and wall seconds of the whole run, and sums over its cells' results."""
    directory = os.path.join(folder, f"steps-{steps}")
    command = [program, "run", EXPERIMENT, "-o", directory, "-j", str(JOBS), "-t", "1", "--quiet",
               f"train.steps={steps}", *settings]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}
    before, start = spent(), time.monotonic()
    done = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL)
    wall, processor = time.monotonic() - start, spent() - before
    results = [json.loads(path.read_text())
               for path in pathlib.Path(directory).glob("cells/*/result.json")]
    if done.returncode != 0 or len(results) != CELLS:
        sys.exit(f"small_cells.py: peat run ended with {done.returncode}, {len(results)} results")
    return processor, wall, {key: sum(r[key] for r in results) for key in ("wall_s", "eval_s")}


def measure(options, folder):
    """Prints a row, and returns training's share of processor time."""
    os.mkdir(folder)
    processor, wall, cells = run(options.program, STEPS, options.settings, folder)
    twice, _, _ = run(options.program, 2 * STEPS, options.settings, folder)
    share = (twice - processor) / processor
    train, evaluate = (cells[key] / wall / JOBS for key in ("wall_s", "eval_s"))
    print(f"{processor:8.2f} {twice - processor:8.2f} {share:6.1%} {wall:9.1f} {train:7.1%} "
          f"{evaluate:9.1%}", flush=True)
    return share


def main():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("program")
    parser.add_argument("settings", nargs="*")
    parser.add_argument("--times", type=int, default=1)
    options = parser.parse_args()
    shares = []
    print("  s, all   trains  share   wall: s  trains evaluates")
    # All are deleted at the end: some file systems look long for inodes that were not used just now.
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(options.times):
            shares.append(measure(options, os.path.join(folder, str(turn))))
    print(f"training is {statistics.median(shares):.1%} of processor time "
          f"({min(shares):.1%} to {max(shares):.1%})")


if __name__ == "__main__":
    main()
