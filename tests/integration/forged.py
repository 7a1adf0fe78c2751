#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""forged.py [--long]: no text of a file makes a line of its own, or a control character, in what a verb prints.

Run in an empty folder, with `peat` on PATH. Every text of every file of a run directory, of an experiment and of a
training by another program is changed once; with --long every key, number and kind of value too, and more verbs read
each. Files and fields are walked, not listed, and sealed anew, so that they are read as far as they can be. Prints how
many changes were tried.
"""
import glob
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
from peat import reading, safetensors
from trainings import FACTS, pack, training

FORGED = "\nFORGED: 8 cells, 8 finished, 0 problems\r\x1b[2J\x07\x7f\u009b\u2028\u202eFORGED\n"
EXPERIMENT = {
    "version": 2, "name": "forged", "description": "of all kinds",
    "defaults": {"task": {"plugin": "text", "path": "text.txt"}, "model": {"d_model": 8, "n_layer": 1, "n_head": 1, "d_ff": 8},
                 "train": {"steps": 6, "batch": 2, "seq_len": 8}, "eval": {"lengths": [6, 8], "tokens": 60, "every": 3}},
    "matrix": {"position.scheme": ["none", "learned"], "arm": {"low": {"train.lr": 1e-3}, "high": {"train.lr": 1e-2}}},
    "seeds": 3,
    "report": {"best_over": {"axes": "arm", "choose": [0], "length": 6}, "baseline": {"position.scheme": "none"},
               "contrasts": [{"name": "c", "factor": "position.scheme", "of": ["learned", "none"], "length": 6}]},
    "claims": [{"name": "it", "rows": [{"position.scheme": "learned"}, {"position.scheme": "none"}], "direction": "less",
                "length": 6}]}
LOOKS = dict(EXPERIMENT, name="looks", seeds={"from": 2, "at_most": 4, "until": "claims"},
             report={"baseline": {"position.scheme": "none"}}, matrix={"position.scheme": ["none", "learned"]})
LONG = "--long" in sys.argv
READING = ["status r", "results r", "verify r"] + LONG * [
    "status r --json", "results r -f csv", "results r -f tex", "results r -f json", "results r looks", "compare r none learned",
    "runs .", "export r 0 -o x.st", "diagnose r 'learned*' --kept"]
tried = []  # what was changed


def call(words, allowed=(0, 1, 2)):
    done = subprocess.run("peat " + words, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    assert done.returncode in allowed, (words, done.returncode, done.stdout)
    return done.stdout.decode()  # UTF-8, always


def judge(words, what):
    text = call(words)
    odd = re.search(r"^FORGED|[^\n\t\x20-\x7e\xa0-\u2027\u202f-\U0010ffff]", text, re.M)
    assert not odd, f"peat {words}, {what}: {text[max(0, odd.start() - 200):odd.end() + 60]!r}"


def judge_all(verbs, what):
    tried.append(what)
    for words in verbs:
        judge(words, what)


# ---- files and their seals ----

def write(path, record):
    record = {k: v for k, v in record.items() if k != "check"}
    if path.name == "claims.json" and isinstance(record.get("versions"), list):
        for version in filter(lambda v: isinstance(v, dict), record["versions"]):
            version["sha256"] = hash_of(version.get("claims"))
            if "registered" in version:
                version["registered"] = hash_of({k: version[k] for k in ("claims", "plan", "plugins") if k in version})
    path.write_text(json.dumps(dict(record, check=reading.seal(record))))


def hash_of(tree):
    return hashlib.sha256(reading.canonical(tree).encode()).hexdigest()


def seal_of(path):
    data = path.read_bytes()
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def reseal(path):
    """The files that hold a hash of this one."""
    for cell in [p for p in path.parents if p.parent.name == "cells"]:
        for state in cell.glob("ckpt/*/state.json"):
            if path.suffix == ".safetensors":
                now = json.loads(state.read_text())
                write(state, dict(now, files=dict(now["files"], **{path.name: seal_of(path)["sha256"]})))
        result, thinned = cell / "result.json", cell / "thinned.json"
        if thinned.exists():  # the result is sealed with the whole curve
            if path != thinned:
                write(thinned, json.loads(thinned.read_text()) | seal_of(cell / "metrics.jsonl"))
        elif result.exists() and path != result:
            now = json.loads(result.read_text())
            now["files"] = {name: seal_of(cell / name) for name in now["files"]}
            write(result, dict(now, meta_hash=reading.seal(json.loads((cell / "meta.json").read_text()))))


# ---- one change at a time ----

def places(v, at=""):
    """(where, container, key) of everything in a tree; of a list's items the first that has it."""
    for key in v if isinstance(v, dict) else range(len(v)) if isinstance(v, list) else ():
        here = at + ("[]" if isinstance(v, list) else "." + key)
        yield here, v, key
        yield from places(v[key], here)


def changes(tree):
    """Every tree with one change, and what that is; the tree itself is left as it was."""
    raw, seen = json.dumps(tree), set()
    for i, (where, _, _) in enumerate(places(tree)):
        for kind in ("text", "key", "number", "kind") if LONG else ("text",):
            copy = json.loads(raw)
            _, container, key = next(p for k, p in enumerate(places(copy)) if k == i)
            value = container[key]
            if (kind, where) in seen:
                continue
            if kind == "text" and isinstance(value, str):
                container[key] = value + FORGED
            elif kind == "number" and isinstance(value, (int, float)) and not isinstance(value, bool):
                container[key] = 1e308 if isinstance(value, float) else 2**62
            elif kind == "key" and isinstance(container, dict):
                container[key + FORGED] = container.pop(key)
            elif kind == "kind" and isinstance(value, (dict, list, str)):
                container[key] = [5] if isinstance(value, dict) else {"x": "x"} if isinstance(value, list) else 5
            else:
                continue
            seen.add((kind, where))
            yield copy, f"{kind} {where}"


def forge_json(path, verbs):
    was, tree = path.read_bytes(), json.loads(path.read_text())
    for changed, what in changes(tree):
        write(path, changed)
        reseal(path)
        judge_all(verbs, f"{what} of {path}")
    path.write_bytes(was)
    reseal(path)


def forge_tensors(path, verbs):
    """The header of a file of tensors, and JSON in its metadata."""
    was = path.read_bytes()
    tensors, meta = safetensors.parsed(was)
    header = {"names": {n: [t[0], t[1]] for n, t in tensors.items()}, "meta": meta}
    for changed, what in changes(header):
        if "meta" in changed and "names" in changed and what.startswith(("text meta", "text .meta", "key .meta", "key .names")):
            parts = [t[2] for t in tensors.values()]
            path.write_bytes(pack({n: (*t, part) for (n, t), part in zip(changed["names"].items(), parts)}, changed["meta"]))
            reseal(path)
            judge_all(verbs, f"{what} of {path}")
    path.write_bytes(was)
    reseal(path)


def forge_curve(path, verbs):
    was = path.read_bytes()
    first = {json.dumps(sorted(json.loads(line))): line for line in reversed(was.splitlines())}
    for line in first.values():
        for changed, what in changes({k: v for k, v in json.loads(line).items() if k != "check"}):
            text = json.dumps(changed, separators=(",", ":"), ensure_ascii=False)
            if b'"check"' in line:  # the lines of a thinned curve have none
                text = f'{text[:-1]},"check":"{hashlib.sha256(text[:-1].encode()).hexdigest()[:8]}"}}'
            path.write_bytes(was.replace(line, text.encode()))
            reseal(path)
            judge_all(verbs, f"{what} of {path}")
    path.write_bytes(was)
    reseal(path)


def forge_yaml(path):
    """Each word, or each fourth, in double quotes; plan.json has the hash of the file."""
    was, plan = path.read_bytes(), pathlib.Path("r/plan.json")
    planned = plan.read_text()
    for word in sorted(set(re.findall(rb"[a-z_.]*[a-z]", was)))[::1 if LONG else 4]:
        path.write_bytes(re.sub(rb'"?\b%s\b"?' % re.escape(word), rb'"%s\\nFORGED\\e[2J"' % word, was, count=1))
        write(plan, json.loads(planned.replace(hashlib.sha256(was).hexdigest(), seal_of(path)["sha256"])))
        judge_all(["verify r"], f"{word} of {path}")
    path.write_bytes(was)
    plan.write_text(planned)


# ---- what is changed ----

def make_runs():
    pathlib.Path("text.txt").write_text("\n".join(map(str, range(500))))
    for name, experiment in (("e", EXPERIMENT), ("looks", LOOKS)):
        pathlib.Path(name + ".yaml").write_text(json.dumps(experiment))
    call("run e.yaml -o whole -q", [0])
    call("run e.yaml -o whole -q seeds=2", [0])  # changed after the first step
    call("diagnose whole 'learned*'", [0])
    call("bundle whole -o x.tar.gz", [0])
    call("run looks.yaml -o looks -q", [0, 1])


def add_ends(run):
    """A failed cell and a stale one, and one that runs or did."""
    cells = sorted(p for p in (run / "cells").iterdir() if (p / "result.json").exists())
    os.remove(cells[0] / "result.json")
    write(cells[0] / "end.json", {"format": 1, "state": "failed", "reason": "why", "last_activity": "x", "exit": 1, "signal": None})
    write(cells[1] / "stale.json", {"format": 1, "reason": "why"})
    os.remove(cells[2] / "result.json")
    (cells[2] / "running.json").write_text(json.dumps({"pid": 1, "host": "there", "started_utc": "2026-01-01T00:00:00Z"}))


def files_of(run):
    """A file of each kind: of several cells the first that has it."""
    kinds = {}
    for path in sorted(p for p in run.rglob("*") if p.is_file()):
        kinds.setdefault(re.sub(r"cells/[^/]*|step-\d+", "*", str(path.relative_to(run))), path)
    return list(kinds.values())


def forge_run(verbs, only=lambda path: True):
    for path in filter(only, files_of(pathlib.Path("r"))):
        if path.suffix == ".json":
            forge_json(path, verbs)
        elif path.name == "metrics.jsonl":
            forge_curve(path, verbs)
        elif path.suffix == ".safetensors":
            forge_tensors(path, verbs)
        elif path.name == "log.txt":
            path.write_text(path.read_text() + FORGED)
            judge("status r", path)
        elif path.suffix == ".yaml":
            forge_yaml(path)


def forge_pieces():
    """A table of pieces is no JSON: each text is forged, as its bytes and as \\xHH."""
    os.mkdir("pieces")
    head = b"{'descr': '<u2', 'fortran_order': False, 'shape': (4000,), }".ljust(117) + b"\n"
    pathlib.Path("pieces/ids.npy").write_bytes(b"\x93NUMPY\1\0v\0" + head + bytes([1, 0, 2, 0] * 2000))
    text = FORGED.replace("\n", "\r").encode()
    for piece in (text, b"".join(b"\\x%02X" % byte for byte in FORGED.encode())):
        n = len(text) if piece == text else len(FORGED.encode())
        lines = [b"0\t0\t", *(b"%d\t%d\t%s" % (i, n, piece) for i in (1, 2))]
        pathlib.Path("pieces/pieces.tsv").write_bytes(b"\n".join(lines) + b"\n")
        pathlib.Path("p.yaml").write_text(json.dumps(dict(LOOKS, name="p", defaults=dict(
            EXPERIMENT["defaults"], task={"plugin": "tokens", "path": "pieces"}))))
        judge_all(["plan p.yaml"], "a piece")


def main():
    make_runs()
    forge_pieces()
    shutil.copytree("whole", "r")
    forge_run(READING)
    add_ends(pathlib.Path("r"))
    forge_run(["status r", "results r", "verify r", "logs r 0"], lambda path: path.name in ("end.json", "stale.json", "running.json"))
    shutil.rmtree("r")
    subprocess.run("tar xf x.tar.gz && mv forged r", shell=True, check=True)
    forge_run(["verify r", "results r"], lambda path: path.name in ("bundle.json", "thinned.json", "metrics.jsonl"))
    shutil.rmtree("r")
    shutil.copytree("looks", "r")
    forge_run(["status r", "results r", "verify r"], lambda path: path.name in ("looks.json", "claims.json"))
    shutil.rmtree("r")
    for changed, what in changes(EXPERIMENT):
        pathlib.Path("f.yaml").write_text(json.dumps(changed))
        judge_all(["validate f.yaml", "plan f.yaml"], what)
    call("plan e.yaml --write -o r seeds=2", [0])
    call("export r 0 --start -o start.st", [0])
    for changed, what in changes(dict(FACTS, steps=7, what="x", formulas=[{"path": "x", "sha256": "y"}])):
        pathlib.Path("x.st").write_bytes(pack(*training("start.st", changed)))
        judge_all(["cell r 0 --trained x.st"], what)
    print(f"{len(tried)} changes")


if __name__ == "__main__":
    main()
