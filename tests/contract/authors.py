# SPDX-License-Identifier: MIT
"""authors.py PLUGINS FILE: the formulas of PEAT's plugins against numbers that the code of their authors, or code that
is widely used, computed. authors.json says of what each number is, and how it was made."""
import importlib.util
import inspect
import json
import pathlib
import sys

import numpy as np
import torch

LIMIT = 1e-10  # of a difference, relative to the larger of 1 and the two numbers


def formula(plugins, scheme):
    """The module with the scheme's formula, and what makes an array of numbers an input of its functions."""
    file = pathlib.Path(plugins, "scheme", scheme, "formula.py")
    sys.path[:0] = [str(file.parent), str(file.parent.parent)]
    spec = importlib.util.spec_from_file_location(f"formula_{scheme}", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module, torch.as_tensor


def array(x):
    """A list as it is written, or a wave, whose element i is plus + scale sin((1 + i + phase)^2)."""
    if isinstance(x, list):
        return np.array(x)
    n = np.arange(np.prod(x["wave"]), dtype=float)
    return (x.get("plus", 0) + x.get("scale", 1) * np.sin((1 + n + x.get("phase", 0)) ** 2)).reshape(x["wave"])


def computed(entry, module, to_input):
    tensors, inputs = ({k: to_input(array(x)) if isinstance(x, (list, dict)) else x for k, x in entry.get(part, {}).items()}
                       for part in ("tensors", "inputs"))
    names = {k.replace(".", "_"): x for k, x in tensors.items()}
    given = {**entry["params"], **names, **inputs, "params": entry["params"], "weights": tensors}
    if "q" in given:
        _, heads, _, width = given["q"].shape
        given = {"C": width, "H": heads, "D": heads * width, **given}
    hook = getattr(module, entry["hook"])
    made = hook(**{k: given[k] for k in inspect.signature(hook).parameters if k in given})
    if entry.get("of") == "products":
        made = made[0] @ made[1].swapaxes(-1, -2)
    made = np.asarray(made[0] if isinstance(made, tuple) else made, float)
    return made - made[..., :1] if entry.get("of") == "differences" else made


def wrong(entry, made):
    """The places where a number differs, as text."""
    for *at, expected in entry["numbers"]:
        is_here = made[tuple(at)]
        if not abs(is_here - expected) <= LIMIT * max(1, abs(is_here), abs(expected)):
            yield f"{entry['scheme']}: {entry['hook']} at {at} is {is_here!r}, and {entry['from']} gives {expected!r}"


def main(plugins, file):
    entries = json.loads(pathlib.Path(file).read_text(encoding="utf-8"))["numbers"]
    bad = [line for e in entries for line in wrong(e, computed(e, *formula(plugins, e["scheme"])))]
    print("\n".join(bad) or f"{sum(len(e['numbers']) for e in entries)} numbers of "
          f"{len({e['scheme'] for e in entries})} schemes agree")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main(*sys.argv[1:]))
