#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Attacks on run directories: changed files, hostile archives, kills. Prints what came of each kind.

  tests/fault/attack.py build/release/bin/peat [--seed N] [--mutations 1800] [--archives 40] [--kills 60]

wrong: `verify` finds no problem, and the table is not the one that was trained. run: a verb that reads ran
code of the directory, or wrote outside of it. lost: a grid that was killed ends with another hash. failed: a
crash, a hang, or an exit code that is not 0, 1 or 2. Exit status 1 unless all of these are 0.
"""
import argparse
import io
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
KINDS = ["plan.json", "experiment.yaml", "resolved.yaml", "claims.json", "schemes.json", "cells/*/config.json",
         "cells/*/meta.json", "cells/*/result.json", "cells/*/metrics.jsonl", "cells/*/ckpt/*/state.json",
         "cells/*/ckpt/*/model.safetensors"]
READING = [["status"], ["results"], ["results", "--format", "json"], ["verify"], ["report", "-o", "/dev/null"],
           ["bundle", "-o", "/dev/null"], ["diagnose", "--kept"], ["plot", "curves", "-o", "/dev/null"]]
EVIL = ("#include <stdio.h>\n__attribute__((constructor)) static void mark(void)"
        "{FILE *f = fopen(\"%s\", \"w\"); if (f) fclose(f);}\n")


class Attack:
    def __init__(self, peat, folder, seed):
        self.peat, self.folder, self.random = peat, folder, random.Random(seed)
        self.count = {}
        (folder / "e.yaml").write_text(EXPERIMENT)
        os.environ.setdefault("PEAT_PYTHON", "/usr/bin/python3")
        self.expect(["run", "e.yaml", "-o", "whole", "-q"])
        self.expect(["inspect", "whole"])
        self.hash, self.table = self.hash_of("whole"), self.table_of("whole")

    def call(self, words, seconds=60):
        try:
            return subprocess.run([self.peat, *words], cwd=self.folder, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=seconds, errors="replace")
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(words, -1, "it did not end")

    def expect(self, words):
        done = self.call(words, 600)
        if done.returncode:
            sys.exit(f"attack.py: peat {' '.join(words)}: {done.returncode}\n{done.stdout}")
        return done.stdout

    def hash_of(self, directory):
        return re.search(r"^hash (.*)$", self.call(["verify", directory]).stdout, re.M)[1]

    def table_of(self, directory):
        columns = "cell,metric,split,length,step,value,status"
        return self.call(["results", directory, "--format", "csv", "--columns", columns]).stdout

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
        way = r.randrange(7)
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
        n = r.randrange(1, 60)
        return data[:at] + bytes(n) + data[at + n:], "zeros"

    def mutate(self, kind):
        files = sorted((self.folder / "whole").glob(kind))
        chosen = self.random.choice(files).relative_to(self.folder / "whole")
        copy = self.folder / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.folder / "whole", copy)
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
        if verified.returncode == 0 and table != self.table:
            self.tell("mutations", "wrong", f"{way} in {chosen} changes the table and no problem is found")

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
            if self.hash_of("killed") != self.hash or self.table_of("killed") != self.table:
                self.tell("kills", "lost", "the grid ends with another hash or table")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peat", type=pathlib.Path)
    for name, preset in (("seed", 1), ("mutations", 1800), ("archives", 40), ("kills", 60)):
        parser.add_argument(f"--{name}", type=int, default=preset)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        attack = Attack(options.peat.resolve(), pathlib.Path(folder), options.seed)
        for i in range(options.mutations):
            attack.mutate(KINDS[i % len(KINDS)])
        attack.evil(pathlib.Path(folder) / "mark")
        for i in range(options.archives):
            attack.archive(i)
        attack.kills(options.kills)
    for kind in ("mutations", "archives", "kills"):
        found = {what: attack.count.get((kind, what), 0) for what in ("tried", "wrong", "run", "lost", "failed")}
        print(kind + ": " + ", ".join(f"{n} {what}" for what, n in found.items()))
    sys.exit(any(what != "tried" for _, what in attack.count))


if __name__ == "__main__":
    main()
