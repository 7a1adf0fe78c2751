# SPDX-License-Identifier: MIT
"""What a formula that is a plugin by itself declares (docs/formulas.md, "Python alone"); needs no PyTorch.

  declared.py plugin FILE         its parameters and hooks, as JSON, read without running the file
  declared.py tensors FILE JSON   its tensors in a model with these sizes and parameters; runs the function `tensors` alone

A mistake is one line, and status 1.
"""
from __future__ import annotations

import ast
import json
import math
import sys

IN_ATTENTION = ("hidden", "qkv", "bias_rel", "bias", "score_add", "logits", "softmax", "weights", "context", "carry")
HOOKS = ("positions", "own_positions", "encode", "residual", *IN_ATTENTION)
SCOPES = ("model", "layer", "share")


class Mistake(Exception):
    pass


class File:
    def __init__(self, path: str):
        self.path = path
        with open(path, encoding="utf-8") as f:
            text = f.read()
        try:
            self.tree = ast.parse(text, path)
        except (SyntaxError, ValueError) as e:
            raise Mistake(f"'{path}', line {getattr(e, 'lineno', 1)}: {getattr(e, 'msg', e)}") from None
        self.functions = {n.name: n for n in self.tree.body if isinstance(n, ast.FunctionDef)}

    def mistake(self, node, text):
        return Mistake(f"'{self.path}', line {node.lineno}: {text}")

    def rows(self):
        """The rows of `parameters`, a literal."""
        found = [n for n in self.tree.body if isinstance(n, ast.Assign)
                 and any(isinstance(t, ast.Name) and t.id == "parameters" for t in n.targets)]
        if not found:
            return []
        try:
            known = ast.literal_eval(found[-1].value)
            return [self.row(found[-1], key, value) for key, value in known.items()]
        except (ValueError, TypeError, AttributeError):
            raise self.mistake(found[-1], "parameters is a literal: {'name': (default, least, most, 'meaning')}") from None

    def row(self, node, key, value):
        default, *bounds, doc = value
        row = {"key": key, "doc": doc, "preset": 0.0}
        if isinstance(default, bool) and not bounds:
            return {**row, "type": "bool", "preset": float(default)}
        if isinstance(default, str) and len(bounds) == 1 and default in bounds[0]:
            return {**row, "type": "label", "labels": list(bounds[0]), "preset": float(bounds[0].index(default))}
        if isinstance(default, (int, float)) and len(bounds) == 2 and bounds[0] <= default <= bounds[1]:
            return {**row, "type": "whole" if isinstance(default, int) else "real", "preset": float(default),
                    "least": float(bounds[0]), "most": float(bounds[1])}
        raise self.mistake(node, f"parameter '{key}' is (default, least, most, meaning) with the default between them, "
                                 "(True or False, meaning), or (label, [labels], meaning)")

    def plugin(self):
        hooks = [h for h in HOOKS if h in self.functions]
        if "merge" in self.functions:
            raise self.mistake(self.functions["merge"], "a combination is a plugin in C; Python alone makes schemes")
        if not hooks:
            raise Mistake(f"'{self.path}' has none of the hooks {', '.join(HOOKS)}")
        return {"rows": self.rows(), "encode": "encode" in hooks, "residual": "residual" in hooks,
                "positions": "positions" in hooks, "attention": any(h in hooks for h in IN_ATTENTION)}

    def tensors(self, given):
        """[{name, shape, scope, mean, std}] of what the function `tensors` returns."""
        made = self.functions.get("tensors")
        if not made:
            return []
        space = {"math": math}
        exec(compile(ast.Module([made], []), self.path, "exec"), space)
        names = [a.arg for a in made.args.args]
        missing = [n for n in names if n not in given]
        if missing:
            raise self.mistake(made, f"tensors asks for '{missing[0]}'; there are {', '.join(given)}")
        try:
            found = space["tensors"](**{n: given[n] for n in names})
            return [self.tensor(made, name, *one) for name, one in found.items()]
        except Mistake:
            raise
        except Exception as e:
            raise self.mistake(made, f"tensors: {type(e).__name__}: {e}") from None

    def tensor(self, node, name, shape, start, scope="share"):
        mean, std = (start, 0.0) if isinstance(start, (int, float)) else start
        whole = all(type(n) is int and n > 0 for n in shape) and 1 <= len(shape) <= 6
        if not whole or scope not in SCOPES or not math.isfinite(mean) or not 0 <= std < math.inf:
            raise self.mistake(node, f"tensor '{name}' is (shape, start) or (shape, start, scope): whole numbers above 0; a "
                                     f"number or (mean, standard deviation); one of {', '.join(SCOPES)}")
        return {"name": name, "shape": list(shape), "scope": SCOPES.index(scope), "mean": float(mean), "std": float(std)}


def main():
    try:
        file = File(sys.argv[2])
        print(json.dumps(file.plugin() if sys.argv[1] == "plugin" else file.tensors(json.loads(sys.argv[3]))), end="")
    except (Mistake, OSError) as e:
        print(e, end="")
        sys.exit(1)


if __name__ == "__main__":
    main()
