# SPDX-License-Identifier: MIT
"""Formulas of plugins: where they are, and how the function of a hook gets what it names (docs/formulas.md)."""
from __future__ import annotations

import functools
import hashlib
import importlib.util
import inspect
import json
import os
import re
import subprocess
import sys
import traceback

import torch

from .draws import stream, substream, uniform
from .files import Refused

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


# ---- files ----

@functools.lru_cache(None)
def plugins_of(program) -> dict:
    """{(kind, name): file} of the plugins that the program finds, or of such pairs; {} without a program."""
    if not isinstance(program, str):
        return dict(program)
    try:
        done = subprocess.run([program, "plugins", "list", "--json"], capture_output=True, text=True)
        return {(p["kind"], p["name"]): p["path"] for p in json.loads(done.stdout)}
    except (OSError, ValueError, KeyError):
        return {}


def find(kind: str, plugin: str, program, named=None) -> str:
    """The file of a plugin's formula: the one that the experiment names, the one beside the plugin, or that of this
    package where no program is."""
    if isinstance(named, str) and named.endswith(".py"):
        return named
    if plugin.endswith(".py"):
        return plugin
    own = plugin if plugin.endswith(".so") else plugins_of(program).get((kind, plugin))
    tried = [os.path.splitext(own)[0] + ".py"] if own else []
    if not plugin.endswith(".so"):
        tried.append(os.path.join(PACKAGE, "plugins", kind, plugin, "formula.py"))
    for path in tried:
        if os.path.isfile(path):
            return path
    raise Refused(f"the {kind} '{plugin}' has no formula: write '{tried[0]}', which has a function in PyTorch for each "
                  "of its hooks (docs/formulas.md), or name another file by the key `formula` beside `plugin`")


def sha256(path: str) -> str:
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


@functools.lru_cache(None)
def load(path: str) -> Formula:
    return Formula(path)


class Formula:
    """The functions of a file by the names of hooks; constants have the names of fields of peat_scheme."""

    def __init__(self, path: str):
        self.path, folder = path, os.path.dirname(os.path.abspath(path))
        spec = importlib.util.spec_from_file_location("formula", path)
        self.module = importlib.util.module_from_spec(spec)
        known, wrote, own = set(sys.modules), sys.dont_write_bytecode, [folder, os.path.dirname(folder)]
        sys.path[:0], sys.dont_write_bytecode = own, True
        try:
            spec.loader.exec_module(self.module)
        except Exception as e:
            raise Refused(f"'{path}' cannot be read: {type(e).__name__}: {e}") from None
        finally:
            del sys.path[:2]
            sys.dont_write_bytecode = wrote
            beside = {n for n, m in list(sys.modules.items()) if n not in known
                      and os.path.dirname(getattr(m, "__file__", None) or "") in own}
            files = [path, *(sys.modules[name].__file__ for name in beside)]
            for name in beside:  # another folder may have a file of this name
                del sys.modules[name]
        self.files = {os.path.abspath(f): sha256(f) for f in files}  # with what it imports from beside it
        self.names: dict[str, dict[str, inspect.Parameter]] = {
            hook: dict(inspect.signature(f).parameters) for hook, f in vars(self.module).items() if inspect.isfunction(f)}

    def has(self, hook: str) -> bool:
        return hook in self.names

    def asks(self, hook: str, *names: str) -> bool:
        return self.has(hook) and any(n in self.names[hook] for n in names)

    def constant(self, name: str, otherwise):
        return getattr(self.module, name, otherwise)

    def run(self, hook: str, call: Call):
        given = {}
        for name, parameter in self.names[hook].items():
            found = call.find(name)
            if found is not None or name in call.given:
                given[name] = found
            elif parameter.default is parameter.empty:
                raise Refused(f"{self.path}: {hook} asks for '{name}', which is not there; docs/formulas.md has the names")
        try:
            made = getattr(self.module, hook)(**given)
        except Refused:
            raise
        except Exception as e:
            said = str(e).splitlines()[0] if str(e) else ""
            raise Refused(f"{self.place(e)}: {hook}{of_layer(call)}: {type(e).__name__}: {said} "
                          f"({', '.join(shapes(given)) or 'no tensors'})") from e
        self.check(hook, call, made)
        return made

    def place(self, e: Exception) -> str:
        """The file with the line of it that an error came from, and the column where this Python knows it (3.11)."""
        lines = [f for f in traceback.extract_tb(e.__traceback__) if f.filename == self.path]
        column = getattr(lines[-1], "colno", None) if lines else None
        return f"{self.path}:{lines[-1].lineno}{'' if column is None else f':{column + 1}'}" if lines else self.path

    def check(self, hook: str, call: Call, made):
        """Refuses results that the model cannot use: their number, shapes, dtype and device."""
        if made is None and hook == "own_positions":
            return
        parts, wanted = list(made) if isinstance(made, (tuple, list)) else [made], expected(hook, call)
        if hook == "qkv" and len(parts) == 2:
            wanted = wanted[:2]
        if wanted and len(parts) != len(wanted):
            raise self.wrong(hook, call, f"{len(parts)} results, not {len(wanted)}")
        for part, (name, like, shape) in zip(parts, wanted or [("", None, None)] * len(parts)):
            if not isinstance(part, torch.Tensor):
                raise self.wrong(hook, call, f"a {type(part).__name__}, not a tensor")
            is_like = "" if like is None else f", and {name} is {list(like.shape)}"
            if shape and not fits(part.shape, shape):
                raise self.wrong(hook, call, f"a tensor {list(part.shape)}{is_like or ', not ' + described(shape)}")
            if hook != "prepare" and not part.is_floating_point():
                raise self.wrong(hook, call, f"{word(part.dtype)}, not real numbers")
            if like is not None and part.dtype != like.dtype and not (autocast() and part.dtype in ROUNDED):
                raise self.wrong(hook, call, f"{word(part.dtype)}, not {word(like.dtype)}, as {name} has")
            if part.device.type != call.q.device.type:
                raise self.wrong(hook, call, f"a tensor on {part.device}, and its arguments are on {call.q.device}; "
                                             "make tensors with device=pos.device")
        if hook == "qkv" and parts[0].shape[-1] != parts[1].shape[-1]:
            raise self.wrong(hook, call, f"q of width {parts[0].shape[-1]} and k of width {parts[1].shape[-1]}")

    def wrong(self, hook: str, call: Call, what: str) -> Refused:
        line = getattr(self.module, hook).__code__.co_firstlineno
        return Refused(f"{self.path}:{line}: {hook}{of_layer(call)} returned {what}")


#: What autocast makes of single precision.
ROUNDED = (torch.float32, torch.bfloat16)


def autocast() -> bool:
    """Whether PyTorch chooses the dtype of products."""
    return torch.is_autocast_enabled() or torch.is_autocast_cpu_enabled()


def word(dtype) -> str:
    return str(dtype).replace("torch.", "")


#: Of hooks that change tensors: the names of these.
CHANGED = {"qkv": "qkv", "hidden": ("xq", "xk", "xv"), "residual": "x", "logits": "S", "softmax": "S", "weights": "W",
           "context": "o"}


def expected(hook: str, call: Call) -> list:
    """(name, tensor or None, lengths) of each result: a length is a number, None for any, or a tuple of numbers."""
    B, T, H = call.q.B, call.q.T, call.given.get("H", call.part.H)
    if hook in CHANGED:
        like = [(n, call.given[n]) for n in CHANGED[hook]]
        return [(n, x, (*x.shape[:-1], None) if hook == "qkv" and n != "v" else tuple(x.shape)) for n, x in like]
    if hook == "encode":
        return [("", None, ((1, B), T, call.part.model.stream_width))]
    if hook == "bias_rel":
        return [("", None, ((1, H), call.given["delta"].shape[-1]))]
    if hook in ("bias", "score_add"):
        return [("", None, ((1, B), (1, H), (1, T), (1, call.k.T)))]
    if hook == "merge":
        x = call.given["x"][0]
        return [("", None, (*x.shape[:2], call.part.model.D))]
    return []


def fits(shape, wanted) -> bool:
    return len(shape) == len(wanted) and all(w is None or n in (w if isinstance(w, tuple) else (w,))
                                             for n, w in zip(shape, wanted))


def described(wanted) -> str:
    words = ["|".join(str(n) for n in dict.fromkeys(w)) if isinstance(w, tuple) else str(w) for w in wanted]
    return f"[{', '.join(words)}]"


def of_layer(call: Call) -> str:
    return f", layer {call.layer}" if call.layer >= 0 else ""


def shapes(given: dict) -> list[str]:
    return [f"{n} {list(x.shape)}" for n, x in given.items() if isinstance(x, torch.Tensor)]


# ---- a plugin in a model ----

class Part:
    """A scheme of a stack, or its combination. `at` is the prefix of its tensors, H and C are the heads that it acts on
    and how wide these are, d the width of a stream."""

    def __init__(self, model, stack: str, kind: str, at: str, p: dict):
        self.model, self.stack = model, stack
        self.formula = load(find(kind, p["plugin"], model.program, p.get("formula")))
        self.id = os.path.splitext(os.path.basename(p["plugin"]))[0]
        self.at = f"{stack}{at}.{self.id}"
        where = p.get("where") or {}
        layers, heads, self.across = where.get("layers"), where.get("heads"), where.get("across", False)
        self.layers = [layers] if isinstance(layers, int) else layers
        self.heads = None if heads is None else (heads, heads) if isinstance(heads, int) else tuple(heads)
        self.dims = tuple(where["dims"]) if where.get("dims") else None
        self.site = p.get("at", "input")
        self.H = self.heads[1] - self.heads[0] + 1 if self.heads else model.H
        self.C = self.dims[1] - self.dims[0] if self.dims else model.C
        known = model.resolved
        self.params = {k: known.get(f"{at}.{self.id}.{k}", known.get(f"{self.id}.{k}", v)) if v == "auto" else v
                       for k, v in p.items()}
        own = [(n[len(self.at) + 1:], n) for n in model.names if n.startswith(self.at + ".")]
        self.shared = {n: full for n, full in own if not n.startswith("layer.")}
        self.of_layer = [(re.fullmatch(r"layer\.(\d+)\.(.*)", n), full) for n, full in own if n.startswith("layer.")]
        self.state = None
        self.has, self.asks = self.formula.has, self.formula.asks

    def acts(self, layer: int) -> bool:
        return self.layers is None or layer in self.layers

    def weights(self, layer: int) -> dict:
        names = {**self.shared, **{m[2]: full for m, full in self.of_layer if int(m[1]) == layer}}
        return {n: self.model.weight(full) for n, full in names.items()}

    def draws(self, side, name: str, n: int) -> torch.Tensor:
        """Random numbers in [0, 1), [B, n]."""
        m = self.model
        key = substream(stream(m.seed, self.at, name).to(side.device), 0)
        if m.training:
            key = substream(key, m.step + 1)
        key = substream(key, side.sequence.to(torch.int64))
        return uniform(key[:, None], torch.arange(n, device=side.device))

    def pos(self, side) -> torch.Tensor:
        """Positions as the scheme sees them: [1|B, T], or [A, 1|B, T]."""
        if side.so_far:
            return self.pos(side.so_far)[..., side.kept.done:]
        if self.has("own_positions"):
            if self not in side.own:
                side.own[self] = None
                side.own[self] = self.run("own_positions", side)
            if side.own[self] is not None:
                return side.own[self]
        return side.grid if side.grid is not None and self.formula.constant("max_axes", 1) > 1 else side.pos

    def run(self, hook: str, q, k=None, layer: int = -1, /, **given):
        return self.formula.run(hook, Call(self, q, k or q, layer, given))


def places(side, x) -> torch.Tensor:
    return torch.zeros(side.B, side.T, dtype=torch.int64, device=side.device) if x is None else x.long()


#: What a call is made of, by the names of docs/formulas.md.
MADE = {
    "params": lambda c: c.part.params,
    "weights": lambda c: c.weights,
    "pos": lambda c: c.part.pos(c.q),
    "pos_k": lambda c: c.part.pos(c.k),
    "token": lambda c: places(c.q, c.q.token),
    "token_k": lambda c: places(c.k, c.k.token),
    "document": lambda c: places(c.q, c.q.document),
    "pad": lambda c: places(c.q, c.q.pad),
    "special": lambda c: places(c.q, c.q.special),
    "special_k": lambda c: places(c.k, c.k.special),
    "T": lambda c: c.q.T,
    "T_k": lambda c: c.k.T,
    "T_total": lambda c: c.q.total,
    "B": lambda c: c.q.B,
    "D": lambda c: c.part.model.D,
    "H": lambda c: c.part.H,
    "C": lambda c: c.part.C,
    "L": lambda c: c.part.model.options["n_layer"],
    "d": lambda c: c.part.model.stream_width,
    "T_train": lambda c: c.part.model.T_train,
    "causal": lambda c: c.part.model.causal(c.part.stack),
    "training": lambda c: c.part.model.training,
    "across": lambda c: c.k.source is not c.q.source,
    "layer": lambda c: c.layer,
    "step": lambda c: c.part.model.step if c.part.model.training else 0,
    "trained_step": lambda c: c.part.model.step,
    "random": lambda c: lambda name, n: c.part.draws(c.q, name, n),
    "state": lambda c: c.state(),
}


class Call:
    """What the function of a hook may name. q and k are the sides of queries and keys."""

    def __init__(self, part: Part, q, k, layer: int, given: dict):
        self.part, self.q, self.k, self.layer, self.given = part, q, k, layer, given

    @functools.cached_property
    def weights(self) -> dict:
        return self.part.weights(self.layer)

    def state(self) -> list:
        if self.q.kept:  # it is of these rows, and of the keys of this hook
            return self.part.run("prepare", self.q, self.k)
        if self.part.state is None:
            self.part.state = self.part.run("prepare", self.q, self.k)
        return self.part.state

    def find(self, name: str):
        """The argument; None where there is none."""
        if name in self.given:
            made = self.given[name]
            return made() if inspect.isfunction(made) else made
        if name in MADE:
            return MADE[name](self)
        for known, tensor in self.weights.items():
            if known.replace(".", "_") == name:
                return tensor
        return self.part.params.get(name)
