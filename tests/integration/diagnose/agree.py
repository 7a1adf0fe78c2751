# SPDX-License-Identifier: MIT
"""agree.py [ID...]: diagnoses the cells of cells.tar.xz and compares every number with the one that is kept there.

The cells are small and trained: decoders, encoders and a recurrent network, with streams that are summed, concatenated and
modulated, rotations, biases, groups of heads, windows and segments; a model of two sequences and one of classes are refused.
Their weights are rounded to 1/256, so that they pack well. The numbers are those of the C that computed diagnoses before
peat.diagnose, with the same draws. They agree to 1e-6; docs/diagnostics.md names the exceptions."""
import json
import math
import os
import sys
import tarfile
import tempfile

from peat import diagnose
from peat.reading import Refused


def plain(x):
    if isinstance(x, dict):
        return {key: plain(v) for key, v in x.items()}
    if isinstance(x, (list, tuple)):
        return [plain(v) for v in x]
    if hasattr(x, "tolist"):
        return plain(x.tolist())
    return None if isinstance(x, float) and not math.isfinite(x) else x


def differences(path, kept, now):
    if isinstance(kept, dict) and isinstance(now, dict) and kept.keys() == now.keys():
        for key in kept:
            yield from differences(f"{path}/{key}", kept[key], now[key])
    elif isinstance(kept, list) and isinstance(now, list) and len(kept) == len(now):
        for i, (a, b) in enumerate(zip(kept, now)):
            yield from differences(f"{path}[{i}]", a, b)
    elif type(kept) in (int, float) and type(now) in (int, float):
        # Cosines near 1 lost half of their digits on the way to an angle.
        rounding = 1e-6 if "/random/" in path else 1e-12
        if abs(kept - now) > max(1e-6 * abs(kept), rounding):
            yield f"{path}: {now}, and {kept} is kept"
    elif kept != now or type(kept) is not type(now):
        yield f"{path}: {str(now)[:80]}, and {str(kept)[:80]} is kept"


def check(folder):
    """What differs in a cell; one that has no numbers must be refused."""
    kept = None
    if os.path.exists(os.path.join(folder, "diagnose.json")):
        with open(os.path.join(folder, "diagnose.json"), encoding="utf-8") as file:
            kept = json.load(file)
    try:
        now = plain(diagnose.diagnosis(folder))
    except Refused as e:
        return [] if kept is None and "diagnose reads decoders and encoders" in str(e) else [str(e)]
    if kept is None:
        return ["it is not refused"]
    return list(differences("", kept, {key: x for key, x in now.items() if key not in ("engine", "notes")}))


def main():
    wrong = cells = 0
    with tempfile.TemporaryDirectory() as made:
        with tarfile.open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "cells.tar.xz")) as packed:
            packed.extractall(made)
        for run in sorted(os.listdir(made)):
            own = os.path.join(made, run, "cells")
            for cell in sorted(os.listdir(own)) if os.path.isdir(own) else []:
                if len(sys.argv) > 1 and not any(word in cell for word in sys.argv[1:]):
                    continue
                found, cells = check(os.path.join(own, cell)), cells + 1
                wrong += bool(found)
                print("\n".join([f"{run}/{cell}: {len(found)} differences", *found[:8]]))
    print(f"{cells - wrong} of {cells} cells agree")
    return 1 if wrong or not cells else 0


sys.exit(main())
