# SPDX-License-Identifier: MIT
"""What a formula that is a plugin by itself declares (docs/formulas.md, "Python alone"); needs no PyTorch.

  declared.py plugin FILE          its kind, parameters, hooks and constants, as JSON, read without running the file
  declared.py tensors FILE SIZES   its tensors in a model with these sizes and parameters; runs the function `tensors` alone
  declared.py widths FILE SIZES    of a combination: the widths of its streams and of the model; runs `widths` alone

A mistake is one line with its place, and status 1.
"""
from __future__ import annotations

import ast
import contextlib
import difflib
import json
import math
import signal
import sys
import threading
import traceback

CALL = ("params", "weights", "pos", "pos_k", "token", "token_k", "document", "pad", "special", "special_k", "T", "T_k", "T_total",
        "B", "D", "H", "C", "L", "d", "T_train", "causal", "training", "across", "layer", "step", "trained_step", "random", "state")
PROJECTED = ("q", "k", "v")
IN_ATTENTION = ("x_q", "x_k", *(f"{kind}_{of}" for kind in "Wb" for of in PROJECTED))
#: Hooks of schemes, and what their functions may name beside CALL.
SCHEME = {
    "positions": (), "own_positions": (), "prepare": (), "encode": (), "residual": ("x",), "hidden": ("xq", "xk", "xv"),
    "qkv": (*PROJECTED, *IN_ATTENTION), "bias_rel": ("delta", *IN_ATTENTION), "bias": (*PROJECTED, *IN_ATTENTION),
    "score_add": (*PROJECTED, *IN_ATTENTION), "logits": ("S", "bias", "mask", *PROJECTED, *IN_ATTENTION),
    "softmax": ("S", "bias", "mask", *IN_ATTENTION), "weights": ("W", "mask", *PROJECTED, *IN_ATTENTION),
    "context": ("o", "W", *PROJECTED, *IN_ATTENTION), "carry": ("x", "W"),
}
COMBINE = {"merge": ("x", "pos")}
HOOKS = {**SCHEME, **COMBINE}
SCOPES = ("model", "layer", "share")
RESERVED = ("plugin", "formula", "where", "at", "share", "label")
#: Constants, their defaults, and the values that they may have.
CONSTANTS = {"max_axes": (1, range(1, 5)), "own_axes": (0, range(5)), "score_terms": (0, range(9)),
             "scale": ("sqrt", ("sqrt", "one", "own")), "min_streams": (2, range(1, 10)), "max_streams": (0, range(10))}


#: What a scheme needs, as peat/scheme.h has it, where a hook (all, or these) asks for one of the names.
NEEDS = {"PEAT_NEED_QK": (1, PROJECTED, ("bias", "score_add", "logits", "weights", "context")),
         "PEAT_NEED_X": (2, ("x_q", "x_k"), HOOKS), "PEAT_NEED_W": (4, ("W",), ("context", "carry")),
         "PEAT_NEED_PROJECT": (8, IN_ATTENTION[2:], HOOKS), "PEAT_NEED_TOKENS": (16, ("token", "token_k"), HOOKS),
         "PEAT_NEED_BIAS": (32, ("bias",), ("logits", "softmax")), "PEAT_NEED_LENGTH": (64, ("T_total",), HOOKS)}


PRODUCTS = {"matmul", "mm", "bmm", "mv", "dot", "einsum", "linear", "bilinear", "addmm", "baddbmm", "tensordot", "inner",
            "chain_matmul", "matrix_power", "matrix_exp", "conv1d", "conv2d", "scaled_dot_product_attention"}


class Mistake(Exception):
    pass


LONGEST = 30  # seconds of the processor for one call of a function of the file


def too_long(*_):
    raise TimeoutError(f"did not return within {LONGEST} s")


@contextlib.contextmanager
def limited():
    """Ends what does not return. Only the main thread is given signals, so elsewhere there is no limit."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGPROF, too_long)
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def near(word, known):
    found = difflib.get_close_matches(word, known, 1)
    return f"; did you mean '{found[0]}'?" if found else ""


def arguments(function: ast.FunctionDef) -> list:
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def required(function: ast.FunctionDef) -> list:
    """The arguments without a default."""
    a, named = function.args, [*function.args.posonlyargs, *function.args.args]
    return [*named[:len(named) - len(a.defaults)], *(x for x, d in zip(a.kwonlyargs, a.kw_defaults) if d is None)]


class File:
    """A file that was read and not run."""

    def __init__(self, path: str):
        self.path = path
        try:
            with open(path, encoding="utf-8") as f:
                self.tree = ast.parse(f.read(), path)
        except SyntaxError as e:
            raise Mistake(f"{path}:{e.lineno or 1}:{e.offset or 1}: {e.msg}") from None
        except ValueError as e:
            raise Mistake(f"{path}:1:1: {e}") from None
        self.functions = {n.name: n for n in self.tree.body if isinstance(n, ast.FunctionDef)}
        self.hooks = [h for h in HOOKS if h in self.functions]
        self.kind = "combine" if "merge" in self.hooks else "scheme"
        if not [h for h in self.hooks if h != "prepare"]:
            raise Mistake(f"{path}:1:1: there is no function with the name of a hook: {', '.join(SCHEME)}; of a combination, "
                          "merge")
        for node in self.tree.body:
            self.refuse_elsewhere(node)
        for hook in self.hooks if self.kind == "combine" else ():
            if hook != "merge":
                raise self.mistake(self.functions[hook], f"a file with merge is a combination, which has no {hook}")

    def refuse_elsewhere(self, node):
        """Refuses a hook that is not written here, and so cannot be read without running the file."""
        made = [a.asname or a.name for a in node.names] if isinstance(node, ast.ImportFrom) else []
        if isinstance(node, ast.Assign):
            names = [getattr(t, "id", None) for t in node.targets]
            made = [n for n in names if isinstance(node.value, ast.Lambda) or n in self.functions]
        for hook in set(made) & set(HOOKS):
            raise self.mistake(node, f"{hook} is written in this file as a function: def {hook}(...)")

    def mistake(self, node, text):
        return Mistake(f"{self.path}:{node.lineno}:{node.col_offset + 1}: {text}")

    def assigned(self, name):
        """What the name is last given at the top of the file."""
        found = [n.value for n in self.tree.body if isinstance(n, (ast.Assign, ast.AnnAssign)) and n.value
                 for t in (n.targets if isinstance(n, ast.Assign) else [n.target]) if getattr(t, "id", None) == name]
        return found[-1] if found else None

    def literal(self, node, text):
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError):
            raise self.mistake(node, text) from None

    # ---- parameters and constants

    def rows(self) -> list:
        """The rows of `parameters`."""
        node, text = self.assigned("parameters"), "parameters is a literal, {'name': (default, least, most, 'meaning')}"
        if node is None:
            return []
        if not isinstance(node, ast.Dict) or None in node.keys:
            raise self.mistake(node, text)
        rows = [self.row(k, self.literal(k, text), v, self.literal(v, text)) for k, v in zip(node.keys, node.values)]
        for i, row in enumerate(rows):
            if row["key"] in [r["key"] for r in rows[:i]]:
                raise self.mistake(node.keys[i], f"parameter '{row['key']}' is declared twice")
        return rows

    def row(self, name_node, key, node, value) -> dict:
        if not isinstance(key, str) or not key.isidentifier() or key in RESERVED:
            raise self.mistake(name_node, f"a parameter's name is a word, and none of {', '.join(RESERVED)}; not {key!r}")
        wrong = self.mistake(node, f"parameter '{key}' is (default, least, most, meaning) with the default between them, "
                                   "(True or False, meaning), or (label, [labels], meaning)")
        if not isinstance(value, (tuple, list)) or len(value) < 2 or not isinstance(value[-1], str) or not value[-1]:
            raise wrong
        default, *bounds, doc = value
        row = {"key": key, "doc": doc, "preset": 0.0}
        if isinstance(default, bool) and not bounds:
            return {**row, "type": "bool", "preset": float(default)}
        if isinstance(default, str) and len(bounds) == 1 and isinstance(bounds[0], (list, tuple)) and default in bounds[0]:
            if not all(isinstance(x, str) and x for x in bounds[0]):
                raise wrong
            return {**row, "type": "label", "labels": list(bounds[0]), "preset": float(bounds[0].index(default))}
        numbers = all(type(x) in (int, float) and math.isfinite(x) for x in (default, *bounds))
        if numbers and len(bounds) == 2 and bounds[0] <= default <= bounds[1]:
            return {**row, "type": "whole" if isinstance(default, int) else "real", "preset": float(default),
                    "least": float(bounds[0]), "most": float(bounds[1])}
        raise wrong

    def constants(self) -> dict:
        made = {name: default for name, (default, _) in CONSTANTS.items()}
        for name, (_, allowed) in CONSTANTS.items():
            node = self.assigned(name)
            text = f"{name} is a literal, one of {', '.join(map(str, allowed))}"
            if node is not None:
                made[name] = self.literal(node, text)
                if made[name] not in allowed:
                    raise self.mistake(node, text)
        return made

    def plugin(self) -> dict:
        declares = self.assigned("parameters") is not None or "tensors" in self.functions
        return {"kind": self.kind, "rows": self.rows(), **self.constants(), "summary": self.summary(), "declares": declares,
                "multiplies": self.multiplies(), "across": self.attends(),
                "widths": "widths" in self.functions, "needs": sum(NEEDS[n][0] for n in self.needs()),
                "hooks": {h: self.asks(h) for h in self.hooks}}

    def asks(self, name) -> list:
        return [a.arg for a in arguments(self.functions[name])]

    def needs(self) -> list:
        return [need for need, (_, names, hooks) in NEEDS.items()
                if any(set(names) & set(self.asks(h)) for h in self.hooks if h in hooks)]

    def attends(self) -> bool:
        """Whether a hook acts in attention, and so may act across two sequences."""
        return any("W_q" in SCHEME.get(h, ()) for h in self.hooks)

    def multiplies(self) -> bool:
        """Whether there may be products, here or in what is imported from other files."""
        for node in ast.walk(self.tree):
            if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.MatMult):
                return True
            if getattr(node, "attr", getattr(node, "id", None)) in PRODUCTS:
                return True
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] not in ("torch", "math", "__future__"):
                return True
        return False

    def summary(self) -> str:
        """The first sentence of the file."""
        text = " ".join((ast.get_docstring(self.tree) or "").split("\n\n")[0].split())
        return text.rstrip(".") or "Python alone"

    # ---- functions that run alone

    def run(self, name: str, given: dict, space=None):
        """What the function returns, which runs without the rest of the file."""
        made, space = self.functions[name], space or {"math": math}
        for a in required(made):
            if a.arg not in given:
                raise self.mistake(a, f"{name} asks for '{a.arg}', which is not there{near(a.arg, given)}; there are "
                                      f"{', '.join(given)}")
        try:
            with limited():
                exec(compile(ast.Module([made], []), self.path, "exec"), space)
                return space[name](**{n: given[n] for n in self.asks(name) if n in given})
        except Exception as e:
            lines = [f.lineno for f in traceback.extract_tb(e.__traceback__) if f.filename == self.path]
            raise Mistake(f"{self.path}:{lines[-1] if lines else made.lineno}:1: {name}: {type(e).__name__}: {e}") from None

    def tensors(self, given: dict) -> list:
        """[{name, shape, scope, mean, std}]; -1 in a shape is the number of heads."""
        if "tensors" not in self.functions:
            found = {}
        else:
            found, made = self.run("tensors", given), self.functions["tensors"]
            if not isinstance(found, dict):
                raise self.mistake(made, "tensors returns {'name': (shape, start)} or {'name': (shape, start, scope)}")
            found = [self.tensor(made, name, one) for name, one in found.items()]
            self.mark_heads(found, given)
        self.check_arguments([t["argument"] for t in found])
        return list(found)

    def tensor(self, node, name, one) -> dict:
        wrong = self.mistake(node, f"tensor '{name}' is (shape, start) or (shape, start, scope): a tuple of whole numbers above "
                                   f"0; a number or (mean, standard deviation); one of {', '.join(SCOPES)}")
        try:
            shape, start, *scope = one
            mean, std = (start, 0.0) if isinstance(start, (int, float)) else start
            whole = 1 <= len(shape) <= 6 and all(type(n) is int and n > 0 for n in shape)
            scope = SCOPES.index(scope[0] if scope else "share" if self.kind == "scheme" else "model")
            good = whole and isinstance(name, str) and len(one) < 4 and math.isfinite(mean) and 0 <= std < math.inf
        except (TypeError, ValueError):
            raise wrong from None
        if not good:
            raise wrong
        return {"name": name, "argument": name.replace(".", "_"), "shape": list(shape), "scope": scope, "mean": float(mean),
                "std": float(std)}

    def mark_heads(self, found, given):
        """A length that is H, and goes with H, is that of heads."""
        more = {**given, "H": given["H"] + 1}
        try:
            other = [list(one[0]) for one in self.run("tensors", more).values()]
        except Mistake:
            return
        for t, shape in zip(found, other):
            if self.kind == "scheme" and len(shape) == len(t["shape"]):
                t["shape"] = [-1 if (a, b) == (given["H"], given["H"] + 1) else a for a, b in zip(t["shape"], shape)]

    def check_arguments(self, tensors):
        """Refuses a function that asks for what it is not given."""
        params = [r["key"] for r in self.rows()]
        for hook in self.hooks:
            known = [*CALL, *HOOKS[hook], *params, *tensors]
            for a in required(self.functions[hook]):
                if a.arg not in known or a.arg == "state" and "prepare" not in self.hooks:
                    raise self.mistake(a, f"{hook} asks for '{a.arg}', which is not there{near(a.arg, known)}; there are "
                                          f"{', '.join(known)}")
            if self.functions[hook].args.vararg or self.functions[hook].args.kwarg:
                raise self.mistake(self.functions[hook], f"{hook} names each argument that it takes: no * and no **")

    def widths(self, given: dict) -> dict:
        """{width: one for each stream, D: the model's}; as they are where the file has no function `widths`."""
        n, D = len(given["streams"]), given["D"]
        if "widths" not in self.functions:
            return {"width": [D] * n, "D": D}
        made = self.run("widths", given)
        width, D = made if isinstance(made, tuple) else (made, D)
        if not isinstance(width, list) or len(width) != n or not all(type(w) is int and w > 0 for w in (*width, D)):
            raise self.mistake(self.functions["widths"], f"widths returns a list of {n} whole numbers above 0, one for each of "
                                                         f"{', '.join(given['streams'])}, or (list, width of the model)")
        if len({w for s, w in zip(given["streams"], width) if s.partition(".")[0] == "position"}) > 1:
            raise self.mistake(self.functions["widths"], "widths gives all streams of positions one width")
        return {"width": width, "D": D}


def main():
    try:
        verb, file = sys.argv[1], File(sys.argv[2])
        given = [json.loads(text) for text in sys.argv[3:]]
        print(json.dumps(getattr(file, verb)(*given)), end="")
    except Mistake as e:
        print(e, end="")
        sys.exit(1)
    except OSError as e:
        print(f"cannot read '{e.filename}': {e.strerror}", end="")
        sys.exit(1)


if __name__ == "__main__":
    main()
