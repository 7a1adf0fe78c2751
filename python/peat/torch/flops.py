# SPDX-License-Identifier: MIT
"""flops.py FILE SIZES: the floating-point operations of the hooks of a plugin that is Python alone, for plans.

Products count, as in C: 2 for each number of a result and term of its sum. The hooks run on zeros in a few rows B and lengths
T; the answer is {hook: [a, b, c, d, e, f]}, for a + b T + c T^2 + B (d + e T + f T^2).
"""
from __future__ import annotations

import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

try:
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
except ImportError as e:
    print(f"PyTorch is not there for {sys.executable} ({e}; Debian: python3-torch; PEAT_PYTHON names another interpreter)",
          end="")
    sys.exit(1)

from peat.reading import Refused  # noqa: E402
from peat.torch.declared import File, Mistake  # noqa: E402
from peat.torch.formulas import load  # noqa: E402

LENGTHS = (4, 8, 12)  # of which a polynomial of degree 2 follows
F64 = torch.float64


class Count(TorchDispatchMode):
    """Adds up the operations of products."""
    total = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        made = function(*args, **(kwargs or {}))
        name = function.__name__.partition(".")[0]
        if name in ("mm", "bmm", "mv", "dot"):
            self.total += 2 * made.numel() * args[0].shape[-1]
        elif name in ("addmm", "baddbmm", "addmv"):
            self.total += 2 * made.numel() * args[1].shape[-1]
        elif name == "convolution":
            self.total += 2 * made.numel() * args[1][0].numel()
        return made


class Zeros:
    """What a hook may name, of B rows and T places."""

    def __init__(self, file: File, given: dict, B: int, T: int):
        n, zeros = given, lambda *shape: torch.zeros(*shape, dtype=F64)
        H, C, D = n["H"], n["C"], n["D"]
        tensors = {t["name"]: zeros(*[H if x < 0 else x for x in t["shape"]]) for t in file.tensors(given)}
        rows, pairs = zeros(B, T, D), zeros(B, H, T, T)
        pos, whole = torch.arange(T, dtype=F64)[None], torch.zeros(B, T, dtype=torch.int64)
        self.base = {
            **n, **{r["key"]: n[r["key"]] for r in file.rows()}, **{k.replace(".", "_"): w for k, w in tensors.items()},
            "params": n, "weights": tensors, "pos": pos, "pos_k": pos, "B": B, "T": T, "T_k": T, "T_total": T, "causal": True,
            "training": True, "across": False, "layer": 0, "step": 1, "trained_step": 1,
            "random": lambda name, k: zeros(B, k), **dict.fromkeys(("token", "token_k", "document", "pad", "special"), whole),
            "mask": torch.ones(1, 1, T, T, dtype=F64), "delta": torch.arange(1 - T, T, dtype=F64), "bias": zeros(1, 1, T, T),
            "S": pairs, "W": pairs, "x_q": rows, "x_k": rows, "o": zeros(B, H, T, C),
            **{x: zeros(B, H, T, C) for x in "qkv"}, **{"x" + x: rows for x in "qkv"},
            **{f"W_{x}": zeros(H * C, D) for x in "qkv"}, **{f"b_{x}": zeros(H * C) for x in "qkv"}}
        self.base["x"] = [zeros(B, T, w) for w in n["widths"]] if "widths" in n else rows


def counts(file: File, given: dict) -> dict:
    formula, found = load(file.path), {}
    for B in (1, 2):
        for T in LENGTHS:
            base = Zeros(file, given, B, T).base
            for hook in ("prepare", *file.hooks):
                if hook in file.hooks:
                    found.setdefault(hook, {})[B, T] = count(formula, hook, base)
    return {hook: fitted(of) for hook, of in found.items() if any(of.values())}


def count(formula, hook, base) -> int:
    """0 where it does not run on zeros."""
    try:
        with Count() as mode:
            made = getattr(formula.module, hook)(**{n: base[n] for n in formula.names[hook] if n in base})
    except Exception:  # noqa: BLE001
        return 0
    if hook == "prepare":
        base["state"] = list(made)
    return mode.total


def fitted(of: dict) -> list:
    """The coefficients; whole numbers stay exact up to rounding."""
    def curve(y):
        (p, q, r), (u, v, w) = LENGTHS, y
        c = (w - v) / ((r - q) * (r - p)) - (v - u) / ((q - p) * (r - p))
        b = (v - u) / (q - p) - c * (p + q)
        return [u - b * p - c * p * p, b, c]
    one, two = (curve([of[B, T] for T in LENGTHS]) for B in (1, 2))
    rows = [y - x for x, y in zip(one, two)]
    return [*(x - y for x, y in zip(one, rows)), *rows]


def main():
    try:
        print(json.dumps(counts(File(sys.argv[1]), json.loads(sys.argv[2]))), end="")
    except (Mistake, Refused) as e:
        print(e, end="")
        sys.exit(1)


if __name__ == "__main__":
    main()
