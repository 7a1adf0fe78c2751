#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The parts of check.sh (see there). Each prints one line; a part that fails is named, and the others go on."""
import argparse
import glob
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

for place in ("FX_GRAPH", "AUTOGRAD"):  # cells of a shape share what one has compiled, as with run.engine: torch.compile
    os.environ.setdefault(f"TORCHINDUCTOR_{place}_CACHE", "1")

import torch

import peat.torch
import torch_steps
from peat.torch import attention
from peat.torch.check import differences, files_of
from peat.torch.files import part_of, read_cell
from peat.torch.training import loss_of

HERE = os.path.dirname(os.path.abspath(__file__))
PEAT = os.environ["PEAT"]
NINE = ["none", "learned", "rotary", "alibi", "t5_bias", "shaw", "cope", "path", "forgetting"]
FEW = ["none", "alibi", "kerple", "fire", "shaw", "tupe"]


def peat_words(*words):
    """What the program prints; its last lines are the reason where it fails."""
    done = subprocess.run([PEAT, *words], capture_output=True, text=True)
    if done.returncode:
        raise Failed(f"peat {' '.join(words)}: {' / '.join((done.stdout + done.stderr).strip().splitlines()[-4:])}")
    return done.stdout


class Failed(Exception):
    pass


def schemes(names):
    return "position.scheme=[" + ", ".join(names) + "]"


class Check:
    def __init__(self, options):
        self.options, self.small, self.device = options, options.small, options.device
        self.engine = [f"run.engine={'torch.compile' if options.compile else 'torch'}", f"run.device={options.device}"]
        self.eager = ["run.engine=torch", f"run.device={options.device}"]
        self.jobs = ["-q", "-j", "2" if self.small else "8"]

    def run(self, file, out, *words):
        return peat_words("run", os.path.join(HERE, file), "-o", out, *self.jobs, *words)

    def measures(self, run):
        """{cell, metric, split, length, step: value} of the results of a run directory."""
        found = {}
        for path in glob.glob(run + "/cells/*/result.json"):
            with open(path) as f:
                for m in json.load(f)["measures"]:
                    found[path.split("/")[-2], m["metric"], m["split"], m["length"]] = m["value"]
        return found

    def apart(self, a, b):
        a, b = self.measures(a), self.measures(b)
        if not a or sorted(a) != sorted(b):
            raise Failed("the two have not the same cells and values")
        return max(abs(a[k] - b[k]) / max(1, abs(a[k])) for k in a), len(a)

    def table(self):
        """(a) the quickstart's cells print README's table."""
        if self.small:
            few = ["seeds=1", "train.steps=40", "position.scheme=[none, rotary]"]
            self.run("quickstart.yaml", "a", *few, *self.eager)
            self.run("quickstart.yaml", "a-peat", *few)
            return "2 cells of the quickstart, 40 steps: values as by peat to %.0e (%d)" % self.within(1e-4, "a", "a-peat")
        self.run("quickstart.yaml", "a", *self.eager)
        printed, cells = peat_words("results", "a"), len(glob.glob("a/cells/*/result.json"))
        with open(os.path.join(HERE, "README.table")) as f:
            missing = [line for line in f.read().splitlines() if line not in printed]
        if missing:
            raise Failed(f"{len(missing)} lines of README's table are others, as: {missing[-1]}")
        return f"README's table, from {cells} cells"

    def within(self, bound, *runs):
        found = self.apart(*runs)
        if not found[0] <= bound:
            raise Failed(f"{' and '.join(runs)} differ by {found[0]:.1e}")
        return found

    def agree(self):
        """(b) nine schemes of different kinds agree with C in 20 steps and their evaluation."""
        words = ["train.steps=20", "position.combine=[sum]", schemes(NINE)]
        self.run("every-scheme.yaml", "b", *words, *self.eager)
        self.run("every-scheme.yaml", "b-peat", *words)
        return "nine schemes, 20 steps: values as by peat to %.0e (%d)" % self.within(1e-3, "b", "b-peat")

    def rest(self):
        """(b) the rest takes ten steps."""
        self.run("every-scheme.yaml", "rest", "train.steps=10", "position.combine=[sum]", *self.eager,
                 *([schemes(FEW)] if self.small else []))
        return f"{len(glob.glob('rest/cells/*/result.json'))} schemes, ten steps"

    def gradients(self):
        """(b) logits and gradients of the first batch are those of C in double; fused attention has those of the composed
        one."""
        self.run("every-scheme.yaml", "g", "train.steps=2", "position.combine=[sum]")
        os.mkdir("files")
        cells = sorted(os.listdir("g/cells"))
        for cell in cells:
            peat_words("export", "g", cell, "--batch", "-o", f"files/{cell}.safetensors")
        double = max((max(differences(path, PEAT, self.device).values()), path) for path in files_of(["files"]))
        single = max((self.fused_apart(path), path) for path in files_of(["files"]))
        if double[0] > 1e-9 or single[0] > 1e-3:
            raise Failed(f"in double {double[0]:.0e} in {double[1]}; fused and composed {single[0]:.0e} in {single[1]}")
        return f"{len(cells)} schemes: gradients as by peat to {double[0]:.0e} in double; fused as composed to {single[0]:.0e}"

    def fused_apart(self, path):
        tensors, config, resolved, _ = read_cell(path)
        batch = part_of(part_of(tensors, "batch."), "train.")
        kept = {n: t.to(self.device, torch.float32) for n, t in tensors.items() if not n.startswith("batch.")}
        found, fused = [], attention.FUSED
        for attention.FUSED in (None, fused):
            model = peat.torch.Model({n: t.clone() for n, t in kept.items()}, config, resolved, PEAT).train()
            model.step = 1
            loss_of(model(batch), batch).backward()
            found.append({n: w.grad for n, w in model.named_parameters() if w.grad is not None})
        a, b = found
        return max(float((a[n] - b[n]).abs().max() / max(1e-3, float(a[n].abs().max()))) for n in a)

    def speeds(self):
        """(c) tokens a second beside the plain compiled model, in turn."""
        shape = {"d_model": 64, "n_layer": 2, "n_head": 4} if self.small else {"d_model": 512, "n_layer": 8, "n_head": 8}
        T, B, steps = (64, 8, 6) if self.small else (512, 32, 20)
        with open("speed.yaml", "w") as f:
            json.dump({"version": 2, "name": "speed", "defaults": {
                "task": {"plugin": "text", "path": os.path.join(HERE, "data/genesis.txt")}, "model": shape,
                "train": {"steps": 100, "batch": B, "seq_len": T, "precision": "bf16"},
                "eval": {"lengths": [T], "tokens": 8192}, "position": {"combine": "sum"}},
                "matrix": {"position.scheme": ["learned", "rotary", "alibi"], "include": [
                    {"position.scheme": "learned", "position.combine": "concat_split"}]}, "seeds": 1}, f)
        peat_words("plan", "speed.yaml", "--write", "-o", "c", "run.engine=torch")
        lines = []
        for cell in sorted(os.listdir("c/cells")):
            peat_words("export", "c", cell, "--start", "-o", "start.st")
            peat_words("export", "c", cell, "--feed", f"1-{steps}", "-o", "feed.st")
            found = torch_steps.measured("start.st", ["feed.st"], self.device, True, self.options.compile, 3)
            plain = found.pop("plain")
            lines += [f"{cell.split('.s0')[0]}: " + ", ".join(
                f"{name} {rate:,.0f} tokens/s ({rate / plain:.2f})" for name, rate in found.items())
                + f", plain {'compiled ' * self.options.compile}{plain:,.0f}"]
        return f"d {shape['d_model']}, {shape['n_layer']} layers, T {T}, B {B}, bf16: " + "; ".join(lines)

    def killed(self):
        """(d) kill -9 and resume."""
        words = [schemes(["none", "rotary"]), "train.steps=400", "run.checkpoint.every=20", *self.engine]
        self.run("every-scheme.yaml", "d", *words)
        with open("log", "w") as log:
            run = subprocess.Popen([PEAT, "run", os.path.join(HERE, "every-scheme.yaml"), "-o", "e", "-q", *words], stdout=log,
                                   stderr=log)
            while run.poll() is None and not glob.glob("e/cells/*/ckpt/step*"):
                time.sleep(0.05)
            time.sleep(random.random() / 2)
            run.send_signal(signal.SIGKILL)
            run.wait()
        self.run("every-scheme.yaml", "e", "--retry-failed", *words)
        logs = "".join(open(log).read() for log in glob.glob("e/cells/*/log.txt"))
        if "continues from step" not in logs:
            raise Failed("no cell went on from a checkpoint")
        for path in glob.glob("d/cells/*/ckpt/*/model.safetensors"):
            if open(path, "rb").read() != open("e" + path[1:], "rb").read():
                raise Failed(f"{path} has other bits")
        return f"killed, resumed, the same bits ({self.engine[0]})"

    def idea(self):
        """(e) a scheme that is Python alone, in one table with rotary and none."""
        self.run("quickstart.yaml", "f", "train.steps=60", "seeds=1", f"position.scheme=[none, rotary, {HERE}/idea.py]",
                 *self.eager)
        rows = [line.split()[0] for line in peat_words("results", "f").splitlines() if line[:4] in ("none", "rota", "idea")]
        if rows != ["none", "rotary", "idea"]:
            raise Failed(f"the table has the rows {rows}")
        return "idea.py stands beside none and rotary"


def main():
    p = argparse.ArgumentParser(description="See check.sh.")
    p.add_argument("--device", default="cuda", choices=("cpu", "cuda"))
    p.add_argument("--small", action="store_true", help="few cells and a small shape")
    p.add_argument("--no-compile", dest="compile", action="store_false", help="without torch.compile")
    p.add_argument("-o", "--output", default="gpu-check.txt", help="the report (default: gpu-check.txt)")
    p.add_argument("--only", nargs="+", metavar="PART", help="parts by name")
    options = p.parse_args()
    output = os.path.abspath(options.output)
    options.compile = options.compile and hasattr(torch, "compile")
    card = torch.cuda.get_device_name() if options.device == "cuda" else "CPU"
    lines, failed = [f"{card}, PyTorch {torch.__version__}, {time.strftime('%Y-%m-%d', time.gmtime())}:"], 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check = Check(options)
        for part in (check.table, check.agree, check.rest, check.gradients, check.killed, check.idea, check.speeds):
            if options.only and part.__name__ not in options.only:
                continue
            start = time.time()
            try:
                found = part()
            except Exception as e:  # noqa: BLE001 a part is not to cost the others
                found, failed = f"FAILED: {type(e).__name__}: {e}", failed + 1
            lines.append(f"* {part.__name__}: {found} ({time.time() - start:.0f} s)")
            print(lines[-1], flush=True)
        with open(output, "w") as f:
            f.write("\n".join(lines) + "\n")
        os.chdir("/")
    print(f"{lines[0]} written to {output}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
