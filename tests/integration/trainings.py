#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""trainings.py START: files of a training by another program (docs/checkpoint.md, "Trained elsewhere"), of which some are
wrong, given to `peat cell r 0 --trained`. START is of `peat export r 0 --start`; the cell has six steps.

Each wrong one is refused with its line and leaves no result; what is accepted, `peat verify` accepts.
"""
import glob
import json
import math
import os
import pathlib
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
from peat import safetensors

FACTS = {"by": "a program", "steps": 6, "first_loss": 5.0, "last_loss": 4.0, "seconds": 1.0, "median_step_ms": 10.0,
         "curve": [[1, 5.0, 1e-3, 1.0], [6, 4.0, 1e-3, 1.0]]}
ENTRY, FALLS = "of the curve is not [step, loss, rate, norm of the gradient]", "the steps of the curve do not rise"
KIND = "is of another kind"


def curve(*entries):
    return {"curve": [[step, loss, 1e-3, 1.0] for step, loss in entries]}


WRONG = [  # entries of peat_trained, and what is said
    ({"last_loss": 3.0}, "has another last_loss than its curve"), ({"curve": []}, "the curve ends at step 0"),
    (curve((6, 4.0), (1, 5.0)), FALLS), (curve((1, 5.0), (1, 5.0), (6, 4.0)), FALLS), (curve((0, 5.0), (6, 4.0)), FALLS),
    (curve(("1", 5.0), (6, 4.0)), ENTRY), (curve((1, "5"), (6, 4.0)), ENTRY), (curve((1.0, 5.0), (6, 4.0)), ENTRY),
    (curve((1, None), (6, 4.0)), ENTRY), (curve((1, 5.0), (9, 4.0)), "the curve ends at step 9"),
    (curve((1, 5.0), (10**18, 4.0)), "the curve ends at step 1e+18"), (curve((1, 5.0)), "the curve ends at step 1, "),
    ({"curve": [[1, 5.0, 1e-3], [6, 4.0, 1e-3]]}, ENTRY), ({"curve": [1, 6]}, "its curve[0] " + KIND),
    ({"curve": [[1, 5.0, -1e-3, 1.0], [6, 4.0, 1e-3, 1.0]]}, ENTRY), ({"curve": [[1, 5.0, 1e-3, -1], [6, 4.0, 1e-3, 1.0]]}, ENTRY),
    ({"curve": {}}, "its curve " + KIND), ({"curve": None}, "its curve is null"),
    ({"diverged": 3}, "does not end at the step at which it diverged"), ({"diverged": "6"}, "its diverged " + KIND),
    ({"diverged": 1000000, "steps": 1000000}, "has 1000000 steps, and the cell has 6"),
    ({"steps": 5}, "has 5 steps, and the cell has 6"), ({"steps": 7}, "has 7 steps, and the cell has 6"),
    ({"steps": 0}, "does not end at"), ({"steps": 0, "diverged": 0, "curve": []}, "does not end at"),
    ({"steps": -1}, "its steps is below 0"), ({"steps": 6.0}, "its steps " + KIND), ({"steps": "6"}, "its steps " + KIND),
    ({"seconds": 1e308}, "has taken longer than three centuries"), ({"seconds": -1}, "its seconds is below 0"),
    ({"median_step_ms": 1e308}, "has taken longer than three centuries"), ({"median_step_ms": None}, "is null"),
    ({"by": ""}, "'by' must have 1 to 1000 bytes"), ({"by": "x" * 200000}, "'by' must have 1 to 1000 bytes"),
    ({"by": 5}, "its by " + KIND), ({"first_loss": None}, "has a loss that is no number"), ({"last_loss": None}, "has a loss that is"),
    ({"formulas": 5}, "its formulas " + KIND), ({"formulas": [1]}, "its formulas[0] " + KIND), ({"what": 5}, "its what " + KIND),
    ({"formulas": [{"path": 3, "sha256": ""}]}, "its formulas[0].path " + KIND),
]
RIGHT = [{}, {"by": "x\nhash 1111\n\x1b[31m"}, {"median_step_ms": 0}, {"formulas": []}, {"seconds": 10**9, "more": {"a": [1]}},
         {"diverged": 3, "steps": 3, "last_loss": None, **curve((1, 5.0), (3, None))},
         {"diverged": 1, "steps": 1, "first_loss": None, "last_loss": None, "what": "y\nx", **curve((1, None))}]


def pack(tensors, meta):
    """A safetensors file of {name: (dtype, shape, bytes)}."""
    header, data = {"__metadata__": meta}, b""
    for name, (dtype, shape, part) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def training(start, facts, moment=0.0, weight=None):
    """The file of a training that ends where it began. moment, weight: the first of the second moments, of the weights."""
    tensors, meta = safetensors.read(start)
    tensors = {n: t for n, t in tensors.items() if t[0] == "F32"}
    for name, (dtype, shape, part) in list(tensors.items()):
        tensors["opt.v." + name] = dtype, shape, struct.pack("<f", moment) + bytes(len(part) - 4)
        if weight is not None:
            tensors[name] = dtype, shape, struct.pack("<f", weight) + part[4:]
    words = facts if isinstance(facts, str) else json.dumps(dict(FACTS, **facts))
    return tensors, {"peat_hash": json.loads(meta["peat_config"])["hash"], "peat_trained": words}


def files(start):
    """Each file and what is said of it; None: it is right."""
    for facts, says in WRONG + [(facts, None) for facts in RIGHT]:
        yield pack(*training(start, facts)), says
    for facts, says in (("[]", "it is not a map"), ("{", "x.st:1:"), ("5", "it is not a map"), ("", "x.st:1:"), ("{}", "its by is missing")):
        yield pack(*training(start, facts)), says
    for moment in (math.nan, -1e-9):
        yield pack(*training(start, {}, moment)), "has a number below 0, or none"
    for weight in (math.nan, math.inf):
        yield pack(*training(start, {}, 0.0, weight)), "has a number that is not finite"
    tensors, meta = training(start, {})
    yield pack(tensors, dict(meta, peat_hash="0" * 64)), "is the training of another cell"
    yield pack(tensors, {}), "is not a training by another program"
    name = next(n for n in tensors if n.startswith("opt.v."))
    for other in (None, ("F32", [1], bytes(4))):
        rest = {n: other if n == name else t for n, t in tensors.items() if other or n != name}
        yield pack(rest, meta), f"tensor '{name}' is missing or of another shape"
    yield pack(tensors, meta)[:-1], "ends beyond the file"


def said(*words):
    done = subprocess.run(["peat", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    return done.returncode, done.stdout


def refuse(path, says):
    code, text = said("cell", "r", "0", "--trained", path)
    assert code == 1 and says in text and len(text.splitlines()) <= 2, (path, says, code, text)
    assert not glob.glob("r/cells/*/result.json"), (path, says)


def main():
    n = 0
    for data, says in files(sys.argv[1]):
        pathlib.Path("x.st").write_bytes(data)
        if says:
            refuse("x.st", says)
        else:
            shutil.copytree("r", "kept")
            code, text = said("cell", "r", "0", "--trained", "x.st")
            assert code == 0, text
            code, text = said("verify", "r")
            assert code == 0 and " 0 problems\n" in text and "\nhash 1111" not in text, text
            shutil.rmtree("r")
            os.rename("kept", "r")
        n += 1
    os.mkfifo("pipe")
    os.mkdir("folder")
    for path, says in (("pipe", "is a named pipe"), ("/dev/zero", "is a device"), ("folder", "is a directory"), ("none", "No such file")):
        refuse(path, says)
    assert n >= 60, n


if __name__ == "__main__":
    main()
