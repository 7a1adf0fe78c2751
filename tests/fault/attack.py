#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Attacks on run directories: changed files, hostile archives, kills. Prints what came of each kind.

  tests/fault/attack.py build/release/bin/peat [--seed N] [--mutations 2000] [--registrations 60] [--trainings 200]
                        [--mapped 20] [--archives 40] [--kills 60]

wrong: `verify` finds no problem, and the table is not the one that was trained, or changed without a word after the
first step; or Python gives a cell another state; or a training is accepted in which `verify` finds a problem. run: a verb that reads ran
code of the directory, or wrote outside of it. lost: a grid that was killed ends with another hash. failed: a
crash, a hang, or an exit code that is not 0, 1 or 2. Exit status 1 unless all of these are 0.
"""
import argparse
import csv
import io
import json
import math
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests/integration")]
import peat
import forged
import trainings

EXPERIMENT = """version: 1
name: attacked
defaults:
  task: {plugin: copy, symbols: 4, min_len: 3, max_len: 3}
  model: {d_model: 8, n_layer: 1, n_head: 1}
  train: {steps: 40, batch: 4, seq_len: 9}
  eval: {every: 10, tokens: 64}
matrix:
  position.scheme: [none, rotary]
seeds: 3
run: {checkpoint: {every: 7}}
claims:
  - name: better
    rows: [{position.scheme: rotary}, {position.scheme: none}]
    direction: greater
"""
THIN = """version: 1
name: thin
defaults:
  task: {plugin: copy, symbols: 4, min_len: 3, max_len: 3}
  model: {d_model: 8, n_layer: 1, n_head: 1}
  train: {steps: 1500, batch: 2, seq_len: 9}
  eval: {every: 500, tokens: 64}
matrix:
  position.scheme: [none, rotary]
seeds: 2
"""
PIECES = """version: 1
name: pieced
defaults:
  task: {plugin: tokens, path: pieces}
  model: {d_model: 8, n_layer: 1, n_head: 1}
  train: {steps: 20, batch: 2, seq_len: 8}
  eval: {tokens: 64}
  position: {scheme: none}
seeds: 2
report: {metric: bpb}
"""
LARGE = """version: 1
name: large
defaults:
  task: {plugin: text, path: large.txt, valid: 1e-4}
  model: {d_model: 8, n_layer: 1, n_head: 1}
  train: {steps: 4000, batch: 2, seq_len: 8}
  eval: {tokens: 64}
  position: {scheme: none}
seeds: 1
"""
# A run directory, and files in it. `marked` has a stale cell and a failed one.
KINDS = [("whole", name) for name in (
    "plan.json", "experiment.yaml", "resolved.yaml", "claims.json", "schemes.json", "cells/*/config.json", "cells/*/meta.json",
    "cells/*/result.json", "cells/*/metrics.jsonl", "cells/*/ckpt/*/state.json", "cells/*/ckpt/*/model.safetensors")]
KINDS += [("marked", "cells/*/stale.json"), ("marked", "cells/*/end.json"), ("marked", "claims.json"), ("thin", "bundle.json"),
          ("thin", "cells/*/thinned.json"), ("thin", "cells/*/metrics.jsonl"), ("pieced", "../pieces/pieces.tsv"),
          ("pieced", "../pieces/ids.npy")]
# What is done with a finished run before `peat run` is called once more: the experiment's text, files that are removed.
EDITS = [("greater", "less"), ("seeds: 3", "seeds: 2"), ("seeds: 3", "seeds: [0, 2]"), ("seeds: 3", "seeds: 4"),
         ("steps: 40", "steps: 41"), ("tokens: 64", "tokens: 32"), ("symbols: 4", "symbols: 5"), ("max_len: 3", "max_len: 4"),
         ("[none, rotary]", "[none, rotary, learned]"), ("name: better", "name: best"), ("batch: 4", "batch: 5"), ("", "")]
REMOVED = ["claims.json", "cells/*/result.json", "cells/*/metrics.jsonl", "cells/*/ckpt", "cells/*/meta.json", "cells/*/log.txt",
           "schemes.json", "resolved.yaml"]
VERDICT = ("name", "verdict", "effect", "ci_low", "ci_high", "n", "p_verdict")
READING = [["status"], ["results"], ["results", "--format", "json"], ["verify"], ["report", "-o", "/dev/null"],
           ["bundle", "-o", "/dev/null"], ["diagnose", "--kept"], ["plot", "curves", "-o", "/dev/null"]]
EVIL = ("#include <stdio.h>\n__attribute__((constructor)) static void mark(void)"
        "{FILE *f = fopen(\"%s\", \"w\"); if (f) fclose(f);}\n")


class Attack:
    def __init__(self, peat, folder, seed):
        self.peat, self.folder, self.random = peat, folder, random.Random(seed)
        self.count = {}
        self.make()
        self.hash = self.hash_of("whole")
        self.table = {name: self.table_of(name) for name in ("whole", "marked", "thin", "pieced")}

    def call(self, words, seconds=60):
        try:
            return subprocess.run([self.peat, *words], cwd=self.folder, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=seconds, errors="replace")
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(words, -1, "it did not end")

    def make(self):
        for name, text in (("e", EXPERIMENT), ("thin", THIN), ("pieced", PIECES), ("large", LARGE)):
            (self.folder / f"{name}.yaml").write_text(text)
        (self.folder / "pieces").mkdir()
        table = "".join(f"{i}\t{i % 5}\t{'piece'[:i % 5]}\n" for i in range(50))
        (self.folder / "pieces/pieces.tsv").write_text(f"# 50 pieces: x\n# of a text of 9990 bytes, x\n{table}")
        head = b"{'descr': '<u2', 'fortran_order': False, 'shape': (4995,), }".ljust(117) + b"\n"
        ids = b"".join((i * 7 % 50).to_bytes(2, "little") for i in range(4995))
        (self.folder / "pieces/ids.npy").write_bytes(b"\x93NUMPY\1\0v\0" + head + ids)
        os.environ.setdefault("PEAT_PYTHON", "/usr/bin/python3")
        self.expect(["run", "e.yaml", "-o", "whole", "-q"])
        self.expect(["inspect", "whole"])
        self.expect(["run", "pieced.yaml", "-o", "pieced", "-q"])
        self.expect(["run", "thin.yaml", "-o", "long", "-q"])
        self.expect(["bundle", "long", "-o", "thin.tar.gz"])
        subprocess.run(["tar", "xf", "thin.tar.gz"], cwd=self.folder, check=True)
        shutil.copytree(self.folder / "whole", self.folder / "marked")
        stale, failed = sorted((self.folder / "marked/cells").iterdir())[:2]
        forged.write(stale / "stale.json", {"format": 1, "reason": "a reason"})
        os.remove(failed / "result.json")
        forged.write(failed / "end.json", {"format": 1, "state": "failed", "reason": "a reason", "signal": None, "exit": 1})

    def expect(self, words):
        done = self.call(words, 600)
        if done.returncode:
            sys.exit(f"attack.py: peat {' '.join(words)}: {done.returncode}\n{done.stdout}")
        return done.stdout

    def hash_of(self, directory):
        return re.search(r"^hash (.*)$", self.call(["verify", directory]).stdout, re.M)[1]

    def table_of(self, directory):
        """Every value with the state of its cell, and every verdict."""
        columns = "cell,metric,split,length,step,status,value"
        claims = self.call(["results", directory, "--format", "csv", "--part", "claims"]).stdout
        verdicts = [[row.get(k) for k in VERDICT] for row in csv.DictReader(claims.splitlines())]
        values = self.call(["results", directory, "--format", "csv", "--columns", columns]).stdout
        return re.findall(r".*[0-9]$", values, re.M), verdicts

    def tell(self, kind, what, text):
        self.count[kind, what] = self.count.get((kind, what), 0) + 1
        print(f"{kind}: {what}: {text}", flush=True)

    def tried(self, kind, n=1):
        self.count[kind, "tried"] = self.count.get((kind, "tried"), 0) + n

    def ended(self, kind, done, text):
        if done.returncode not in (0, 1, 2):
            self.tell(kind, "failed", f"{text}: exit {done.returncode}: {done.stdout[-200:]}")

    # ---- changed files ----

    def change(self, data):
        """Another content and a word for it."""
        r, at = self.random, self.random.randrange(len(data))
        digits = [i for i, byte in enumerate(data) if chr(byte).isdigit()]
        lines = data.split(b"\n")
        unsealed = re.sub(rb',\s*"check": ?"[0-9a-f]*"', b"", data)
        way = r.randrange(8)
        if way == 0 and digits:
            i = r.choice(digits)
            return data[:i] + b"%d" % ((data[i] - 48 + r.randrange(1, 10)) % 10) + data[i + 1:], "digit"
        if way == 1:
            return data[:at] + bytes([data[at] ^ 1 << r.randrange(8)]) + data[at + 1:], "bit"
        if way == 2:
            return data[:at], "cut"
        if way == 3:
            end = min(len(data), at + r.randrange(1, 200))
            return data[:end] + data[at:end] + data[end:], "doubled"
        if way == 4 and len(lines) > 2:
            i, k = r.sample(range(len(lines) - 1), 2)
            lines[i], lines[k] = lines[k], lines[i]
            return b"\n".join(lines), "lines"
        if way == 5 and unsealed != data:
            digits = [i for i, byte in enumerate(unsealed) if chr(byte).isdigit()]
            i = r.choice(digits)
            return unsealed[:i] + b"%d" % ((unsealed[i] - 48 + 1) % 10) + unsealed[i + 1:], "unsealed"
        if way == 6 and data[:1] == b"{":
            found = self.sealed(data)
            if found:
                return found, "sealed anew"
        n = r.randrange(1, 60)
        return data[:at] + bytes(n) + data[at + n:], "zeros"

    def sealed(self, data):
        """Another number or text in a map, which has its own seal again; None: it is no map of JSON."""
        try:
            tree = json.loads(data)
        except ValueError:
            return None
        _, container, key = self.random.choice([p for p in forged.places(tree) if not isinstance(p[1][p[2]], (dict, list))])
        value = container[key]
        container[key] = (not value if isinstance(value, bool) else value * 2 + 1 if isinstance(value, (int, float)) else
                          "less" if value == "greater" else f"{value}0")
        (self.folder / "sealed.json").write_bytes(b"")
        forged.write(self.folder / "sealed.json", tree)
        return (self.folder / "sealed.json").read_bytes()

    def states(self, directory):
        """How many cells are done, diverged, stale and damaged, for the program and for Python."""
        said = self.call(["status", directory, "--json"])
        if said.returncode or not said.stdout.startswith("{"):
            return None, None
        names = ("done", "diverged", "stale", "damaged")
        try:
            found = [c.state for c in peat.files.cells_of([str(self.folder / directory)])]
        except peat.Refused as e:
            return [json.loads(said.stdout)["counts"][n] for n in names], str(e)
        return [json.loads(said.stdout)["counts"][n] for n in names], [found.count(n) for n in names]

    def mutate(self, run, kind):
        files = sorted((self.folder / run).glob(kind))
        chosen = self.random.choice(files).relative_to(self.folder / run)
        copy = self.folder / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.folder / run, copy)
        before = (copy / chosen).read_bytes()
        after, way = self.change(before)
        if after == before:
            return
        (copy / chosen).write_bytes(after)
        self.tried("mutations")
        verified = self.call(["verify", "copy"])
        self.ended("mutations", verified, f"verify, {way} in {chosen}")
        table = self.table_of("copy")
        for words in self.random.sample(READING, 2):
            self.ended("mutations", self.call([words[0], "copy", *words[1:]]), f"{words}, {way} in {chosen}")
        if verified.returncode == 0 and table != self.table[run]:
            self.tell("mutations", "wrong", f"{way} in {chosen} changes the table and no problem is found")
        ours, python = self.states("copy")
        if ours and isinstance(python, list) and ours != python:
            self.tell("mutations", "wrong", f"{way} in {chosen}: done, diverged, stale, damaged {ours}, in Python {python}")
        if ".." in kind:
            self.ended("mutations", self.call(["plan", "pieced.yaml"]), f"plan, {way} in {chosen}")
            (copy / chosen).write_bytes(before)
            if verified.returncode == 0:
                self.tell("mutations", "wrong", f"{way} in {chosen}, and no problem is found")
        if chosen.suffix == ".safetensors":
            self.read_tensors(copy / chosen, f"{way} in {chosen}")

    def read_tensors(self, path, what):
        """Both readers have one verdict."""
        try:
            peat.safetensors.read(str(path))
            python = True
        except peat.Refused:
            python = False
        done = self.call(["cell", "copy", "0", "--trained", str(path)])
        program = "is not a training by another program" in done.stdout or "finished" in done.stdout
        if "finished" not in done.stdout and program != python:
            self.tell("mutations", "wrong", f"{what}: Python {'reads' if python else 'refuses'} it; {done.stdout[-200:]}")

    # ---- what changes after the first step ----

    def register(self):
        """A finished run, of which files are removed, is run again from a changed experiment."""
        copy, text = self.folder / "again", EXPERIMENT
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.folder / "whole", copy)
        removed = self.random.sample(REMOVED, self.random.randrange(4))
        edits = self.random.sample(EDITS, self.random.randrange(1, 3))
        for kind in removed:
            for path in copy.glob(kind):
                (shutil.rmtree if path.is_dir() else os.remove)(path)
        for was, now in edits:
            text = text.replace(was, now)
        (self.folder / "again.yaml").write_text(text)
        self.tried("registrations")
        what = f"without {removed}, {[now for _, now in edits]}"
        run = self.call(["run", "again.yaml", "-o", "again", "-q"], 600)
        self.ended("registrations", run, what)
        if run.returncode == 2:
            return  # it is refused, and nothing was run
        said = self.call(["results", "again"]).stdout
        told = re.search(r"^changed |THE FIRST STEP|WRITTEN AFTER", said, re.M)
        verified = self.call(["verify", "again"])
        if verified.returncode == 0 and self.table_of("again") != self.table["whole"] and not told:
            self.tell("registrations", "wrong", f"{what}: another table without a word")

    # ---- trainings by other programs ----

    def train(self):
        """Facts of a training with a change or two; where they are accepted, verify accepts the cell."""
        r, facts = self.random, dict(trainings.FACTS, steps=40, curve=[[1, 5.0, 1e-3, 1.0], [40, 4.0, 1e-3, 1.0]])
        for _ in range(r.randrange(1, 3)):
            _, container, key = r.choice(list(forged.places(facts)))
            container[key] = r.choice([0, -1, 1, 40, 41, 1e308, -1e308, math.nan, None, "x", "x\ny", [], {}, True, 10**18, 4.0, 5.0])
        if r.random() < 0.2:
            facts["diverged"] = r.choice([1, 40, 41, "x"])
        copy = self.folder / "taken"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.folder / "planned", copy)
        words = trainings.training(self.folder / "start.st", {})
        words[1]["peat_trained"] = json.dumps(facts)
        data = trainings.pack(*words)
        (self.folder / "x.st").write_bytes(self.change(data)[0] if r.random() < 0.3 else data)
        self.tried("trainings")
        done = self.call(["cell", "taken", "0", "--trained", "x.st"])
        self.ended("trainings", done, str(facts))
        verified = self.call(["verify", "taken"])
        self.ended("trainings", verified, f"verify, {facts}")
        if done.returncode == 0 and verified.returncode:
            self.tell("trainings", "wrong", f"{facts} is accepted: {verified.stdout[:300]}")

    def trainings(self, n):
        self.expect(["plan", "e.yaml", "--write", "-o", "planned"])
        self.expect(["export", "planned", "0", "--start", "-o", "start.st"])
        for _ in range(n):
            self.train()

    # ---- data that are mapped ----

    def large(self, n):
        """A file of 65 MiB is written while a cell reads it: the cell fails by name, or has the bits that it would have."""
        path, line = self.folder / "large.txt", b"".join(b"%d " % (i * i) for i in range(4000))
        whole = line * ((65 << 20) // len(line))
        path.write_bytes(whole)
        self.expect(["run", "large.yaml", "-o", "quiet", "-q"])
        table = self.table_of("quiet")
        for _ in range(n):
            path.write_bytes(whole)
            shutil.rmtree(self.folder / "read", ignore_errors=True)
            run = subprocess.Popen([self.peat, "run", "large.yaml", "-o", "read", "-q"], cwd=self.folder,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while run.poll() is None and not list((self.folder / "read").glob("cells/*/metrics.jsonl")):
                time.sleep(0.01)
            time.sleep(self.random.uniform(0, 0.3))
            way = self.write_into(path)
            run.wait(timeout=120)
            self.tried("mapped")
            now = self.table_of("read")
            if now[0] and now != table:
                self.tell("mapped", "wrong", f"{way} gives another table")

    def write_into(self, path):
        r, st, away = self.random, path.stat(), path.with_suffix(".away")
        way = r.choice(["write", "write and times", "moved", "truncate", "remove", "replace"])
        if way in ("moved", "remove", "replace"):
            os.rename(path, away)
        if way in ("write", "write and times", "moved"):
            with open(away if way == "moved" else path, "r+b") as f:
                for _ in range(200):
                    f.seek(r.randrange(st.st_size - 8000))
                    f.write(b"z" * 8000)
        if way == "truncate":
            os.truncate(path, r.randrange(st.st_size))
        if way == "write and times":
            os.utime(path, ns=(st.st_atime_ns, st.st_mtime_ns))
        if way == "replace":
            path.write_bytes(b"z" * st.st_size)
        return way

    # ---- hostile archives ----

    def evil(self, mark):
        source = self.folder / "evil.c"
        source.write_text(EVIL % mark)
        subprocess.run(["cc", "-shared", "-fPIC", source, "-o", self.folder / "evil.so"], check=True)

    def archive(self, i):
        """Of the whole run: its plugin is ours, its names climb, its files are links."""
        mark, away = self.folder / "mark", self.folder / "away"
        name = ["./evil.so", str(self.folder / "evil.so"), "evil", "../evil.so", "cells/evil.so"][i % 5]
        climbs = ["../away/x", str(away / "x"), "attacked/../../away/x", None][i // 5 % 4]
        copy = self.folder / "hostile"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.folder / "whole", copy)
        shutil.copy(self.folder / "evil.so", copy)
        shutil.copy(self.folder / "evil.so", copy / "cells")
        for config in copy.glob("cells/*/config.json"):
            text = config.read_text().replace('"plugin": "rotary"', f'"plugin": "{name}"')
            config.write_text(re.sub(r',\s*"check": "[0-9a-f]*"', "", text) if i % 2 else text)
        if i >= 20:
            victim = copy / ["experiment.yaml", "resolved.yaml", "claims.json", "schemes.json"][i % 4]
            victim.unlink()
            victim.symlink_to("/etc/passwd")
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as tar:
            tar.add(copy, "attacked")
            if climbs:
                member = tarfile.TarInfo(climbs)
                member.size = 4
                tar.addfile(member, io.BytesIO(b"evil"))
        target = self.folder / "unpacked"
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        away.mkdir(exist_ok=True)
        subprocess.run(["tar", "xf", "-"], input=packed.getvalue(), cwd=target, stderr=subprocess.DEVNULL)
        self.tried("archives")
        for words in READING:
            done = self.call([words[0], "unpacked/attacked", *words[1:]])
            self.ended("archives", done, f"{words} of archive {i}")
            if "root:" in done.stdout:
                self.tell("archives", "run", f"{words} of archive {i} shows another file")
        self.call(["bundle", "unpacked/attacked", "-o", "again.tar.gz"])
        again = self.folder / "again.tar.gz"
        if again.exists():
            with tarfile.open(again) as tar:
                if any(m.name.startswith("/") or ".." in m.name or not m.isfile() for m in tar):
                    self.tell("archives", "run", f"the bundle of archive {i} has another name or a link")
            again.unlink()
        if mark.exists() or list(away.iterdir()):
            self.tell("archives", "run", f"archive {i} has run or was written elsewhere")
            shutil.rmtree(away)
            mark.unlink(missing_ok=True)

    # ---- kills ----

    def kills(self, n):
        left = n
        while left > 0:
            shutil.rmtree(self.folder / "killed", ignore_errors=True)
            for _ in range(min(left, 6)):
                run = subprocess.Popen([self.peat, "run", "e.yaml", "-o", "killed", "-q", "-j", "2"],
                                       cwd=self.folder, start_new_session=True, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
                time.sleep(self.random.uniform(0.02, 0.6))
                chosen = self.random.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
                (os.killpg if self.random.random() < 0.5 else os.kill)(run.pid, chosen)
                run.wait(timeout=120)
                self.tried("kills")
            left -= 6
            self.ended("kills", self.call(["run", "e.yaml", "-o", "killed", "-q", "--retry-failed"], 600), "run")
            if self.hash_of("killed") != self.hash or self.table_of("killed") != self.table["whole"]:
                self.tell("kills", "lost", "the grid ends with another hash or table")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peat", type=pathlib.Path)
    for name, preset in (("seed", 1), ("mutations", 2000), ("registrations", 60), ("trainings", 200), ("mapped", 20),
                         ("archives", 40), ("kills", 60)):
        parser.add_argument(f"--{name}", type=int, default=preset)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        attack = Attack(options.peat.resolve(), pathlib.Path(folder), options.seed)
        for i in range(options.mutations):
            attack.mutate(*KINDS[i % len(KINDS)])
        for _ in range(options.registrations):
            attack.register()
        attack.trainings(options.trainings)
        attack.large(options.mapped)
        attack.evil(pathlib.Path(folder) / "mark")
        for i in range(options.archives):
            attack.archive(i)
        attack.kills(options.kills)
    for kind in ("mutations", "registrations", "trainings", "mapped", "archives", "kills"):
        found = {what: attack.count.get((kind, what), 0) for what in ("tried", "wrong", "run", "lost", "failed")}
        print(kind + ": " + ", ".join(f"{n} {what}" for what, n in found.items()))
    sys.exit(any(what != "tried" for _, what in attack.count))


if __name__ == "__main__":
    main()
