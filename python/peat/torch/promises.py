# SPDX-License-Identifier: MIT
"""`peat plugins check FILE.py`: asks of a plugin that is Python alone what the checks in C ask of one in C, in small models."""
from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import math
import os
import sys
import tempfile

import torch
from torch.overrides import TorchFunctionMode

from .declared import File, Mistake, near
from .files import F64, Refused
from .model import Model

V, LAYERS, WIDTH, TRAINED, LONGEST = 7, 2, 8, 6, 24
NEAR = 1e-9      # of logits that should be equal, relative to the largest where that is above 1
ROUNDED = 2e-3   # between single and double precision
STEP = 1e-5      # of a central difference
SLOPE = 1e-5     # between a gradient and a central difference, relative to the larger where that is above 1

#: Plugins that stand beside the one that is checked.
OTHERS = {
    "sum": "def merge(x):\n    return sum(x)\n",
    "sines": "def encode(pos, d, B):\n    import torch\n    i = torch.arange(1, d + 1, device=pos.device)\n"
             "    return (pos[..., None] / i).sin()\n",
    "moved": "def positions(pos):\n    return pos + 29.25\n",
    "other": "def qkv(q, k, pos, pos_k):\n    return (q * (1 + pos.to(q.dtype)[:, None, :, None].sin() / 2),\n"
             "            k * (1 + pos_k.to(k.dtype)[:, None, :, None].cos() / 2))\n",
}


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


@dataclasses.dataclass(frozen=True)
class Case:
    arch: str = "decoder"
    settings: tuple = ()   # of the plugin's parameters
    heads: int = 2
    moved: bool = False
    where: tuple = ()
    other: bool = False    # another scheme acts on one head
    seed: int = 1

    def __str__(self):
        words = [self.arch, *(f"{k}={v}" for k, v in self.settings)]
        words += [f"where.{k}" for k, _ in self.where] + ["positions moved"] * self.moved
        words += ["beside a scheme of one head"] * self.other
        return ", ".join(words)


class Subject:
    """The plugin, and models with it."""

    def __init__(self, path: str, settings, folder: str):
        self.path, self.folder = os.path.abspath(path), folder
        self.id = os.path.splitext(os.path.basename(path))[0]
        self.file = File(path)
        self.made, self.combines = self.file.plugin(), self.file.kind == "combine"
        self.rows = {r["key"]: r for r in self.made["rows"]}
        self.given = dict(self.setting(s) for s in settings)
        for name, text in OTHERS.items():
            with open(self.other(name), "w", encoding="utf-8") as f:
                f.write(text)

    def other(self, name):
        return os.path.join(self.folder, name + ".py")

    def setting(self, text):
        key, _, word = text.partition("=")
        row = self.rows.get(key)
        if row is None:
            raise Refused(f"{self.id} has no parameter '{key}'{near(key, self.rows)}")
        kind, labels = row["type"], row.get("labels", [])
        allowed = {"bool": "true or false", "label": "one of " + ", ".join(labels)}.get(
            kind, f"a number from {row.get('least')} to {row.get('most')}")
        try:
            value = {"bool": {"true": True, "false": False}.__getitem__, "whole": int, "real": float,
                     "label": labels.__getitem__}[kind](labels.index(word) if kind == "label" else word)
            good = kind in ("bool", "label") or row["least"] <= value <= row["most"]
        except (ValueError, KeyError):
            good = False
        if not good:
            raise Refused(f"'{key}' of {self.id} is {allowed}, not '{word}'")
        return key, value

    def preset(self, row):
        if row["type"] == "label":
            return row["labels"][int(row["preset"])]
        return {"bool": bool, "whole": int, "real": float}[row["type"]](row["preset"])

    def variants(self):
        """The settings as given, and each other label and switch beside them."""
        yield ()
        for key, row in self.rows.items():
            values = row.get("labels", [True, False] if row["type"] == "bool" else [])
            for value in values if key not in self.given else ():
                if value != self.preset(row):
                    yield ((key, value),)

    def parameters(self, case) -> dict:
        return {**{k: self.preset(r) for k, r in self.rows.items()}, **self.given, **dict(case.settings)}

    def model(self, case: Case, dtype=F64) -> Model:
        params, hooks, H = self.parameters(case), self.made["hooks"], case.heads
        width, D = [WIDTH, WIDTH], WIDTH
        sizes = {"H": H, "C": WIDTH // H, "L": LAYERS, "d": WIDTH, "V": V, "T_train": TRAINED, "T_max": LONGEST}
        if self.combines:
            sizes["streams"] = ["token", "position"]
            found = self.file.widths({**params, **sizes, "D": WIDTH})
            width, D = found["width"], found["D"]
            sizes["widths"] = width
        where = dict(case.where)
        own = {"plugin": self.path, **params, **({"where": where} if where else {})}
        scheme = [{"plugin": self.other("sines")} if self.combines else own]
        scheme += [{"plugin": self.other("other"), "where": {"heads": [0, 0]}}] * case.other
        scheme = [{"plugin": self.other("moved")}] * case.moved + scheme
        position = {"scheme": scheme}
        if self.combines or "encode" in hooks:
            position["combine"] = own if self.combines else {"plugin": self.other("sum")}
        config = {"seed": 1, "train": {"seq_len": TRAINED}, "position": position,
                  "model": {"arch": case.arch, "d_model": WIDTH, "n_head": H, "n_layer": LAYERS, "embed_scale": "auto"}}
        at = f"combine.{self.id}" if self.combines else f"position.{int(case.moved)}.{self.id}"
        heads = where["heads"][1] - where["heads"][0] + 1 if "heads" in where else H
        declared = self.file.tensors({**params, **sizes, "D": D, "H": heads, "C": D // H})
        draw = torch.Generator().manual_seed(case.seed)
        tensors = self.rest(case.arch, width[0], D, draw)
        for prefix in ("", "encoder.") if case.arch == "seq2seq" else ("",):
            for t in declared:
                shape, share = [heads if n < 0 else n for n in t["shape"]], t["scope"]
                layers = [f"layer.{i}." for i in where.get("layers", range(LAYERS))] if share == 1 else [""]
                for layer in layers:
                    noise = torch.randn(shape, generator=draw, dtype=F64)
                    tensors[f"{prefix}{at}.{layer}{t['name']}"] = t["mean"] + (t["std"] + 0.1) * noise
        model = Model({n: t.to(dtype) for n, t in tensors.items()}, config, {f"{self.id}.widths": width})
        return model

    @staticmethod
    def rest(arch, width, D, draw) -> dict:
        """The tensors of a model without positions."""
        made = {}

        def add(name, *shape):
            made[name] = torch.randn(*shape, generator=draw, dtype=F64) / math.sqrt(shape[-1])

        def norm(name):
            made[name + ".weight"], made[name + ".bias"] = torch.ones(D, dtype=F64), torch.zeros(D, dtype=F64)
        add("token.weight", V, width)
        for prefix in ("", "encoder.") if arch == "seq2seq" else ("",):
            for i in range(LAYERS):
                b = f"{prefix}block.{i}."
                norm(b + "norm1")
                for kind in ("attention", "cross") if arch == "seq2seq" and not prefix else ("attention",):
                    add(f"{b}{kind}.qkv.weight", 3 * D, D)
                    made[f"{b}{kind}.qkv.bias"] = torch.randn(3 * D, generator=draw, dtype=F64) / 4
                    add(f"{b}{kind}.out.weight", D, D)
                if arch == "seq2seq" and not prefix:
                    norm(b + "norm_cross")
                norm(b + "norm2")
                add(b + "mlp.up.weight", 2 * D, D)
                add(b + "mlp.down.weight", D, 2 * D)
            norm(prefix + "norm")
        add("head.weight", V, D)
        return made

    def cases(self, archs=("decoder", "encoder")):
        """Every setting in every kind of model, where positions begin at 0 and elsewhere."""
        for settings in self.variants():
            for arch in archs:
                yield Case(arch, settings)
            yield Case(archs[0], settings, moved=True)


def batch(T, rows=2, seed=5, source=False) -> dict:
    draw = torch.Generator().manual_seed(seed)
    made = {"token": torch.randint(0, V, (rows, T), generator=draw), "sequence": torch.arange(rows)}
    if source:
        made["source"] = torch.randint(0, V, (rows, T + 1), generator=draw)
    return made


def logits(model, of, total=None):
    model.total = total
    with torch.no_grad():
        return model(of)


def same(ours, theirs, what, case, limit=NEAR):
    """Fails where two arrays [B, T, V] differ."""
    apart = (ours - theirs).abs() / max(1.0, float(theirs.abs().max()))
    if not bool((apart <= limit).all()):
        at = int((apart > limit).any(-1).any(0).nonzero()[0]) if bool(torch.isfinite(apart).all()) else 0
        raise Failed(f"the logits at place {at} differ by {float(apart.max()):.2g} {what} ({case})")


# ---- the checks

def parameters(s: Subject):
    for case in s.cases(("decoder",)):
        logits(s.model(case), batch(TRAINED))


def finite(s: Subject):
    for case in s.cases():
        model = s.model(case)
        for T in (1, 2, TRAINED, LONGEST):
            out = logits(model, batch(T))
            if not bool(torch.isfinite(out).all()):
                at = int((~torch.isfinite(out)).any(-1).any(0).nonzero()[0])
                raise Failed(f"a logit at place {at} of {T} is not finite ({case})")


def purity(s: Subject):
    for case in s.cases():
        model, of = s.model(case), batch(TRAINED)
        first = logits(model, of)
        for what in ("in two equal calls", "after a call with another batch"):
            if not torch.equal(first, logits(model, of)):
                raise Failed(f"the logits differ {what} ({case}): only `random` may draw")
            logits(model, batch(TRAINED + 1, seed=6))
        if not torch.equal(first, logits(s.model(case), of)):
            raise Failed(f"the logits differ in a second model of the same kind ({case})")


def gradients(s: Subject):
    for case in s.cases():
        model, of = s.model(case), batch(TRAINED)
        weight = torch.randn(2, TRAINED, V, generator=torch.Generator().manual_seed(3), dtype=F64)
        own = [(n, w) for n, w in model.named_parameters() if s.id in n.split(".")]
        (model(of) * weight).sum().backward()
        for name, w in own:
            short = name[name.index(s.id):]
            if w.grad is None or float(w.grad.abs().max()) <= NEAR:
                why = "no gradient reaches it" if w.grad is None else "the gradient of every element is 0"
                raise Failed(f"{short}: {why}: it is trained and never changes ({case})")
        for name, w in [*own, ("token.weight", model.weight("token.weight"))]:
            short = name[name.index(s.id):] if (name, w) in own else name
            compare_slopes(short, w, lambda: float((logits(model, of) * weight).sum()), case)


def compare_slopes(name, w, loss, case):
    """Some elements of a gradient with central differences; a kink may be in the way of one step, and not of two."""
    flat, grad = w.detach().view(-1), w.grad.reshape(-1)
    for at in range(0, len(flat), max(1, len(flat) // 8)):
        was, found = float(flat[at]), []
        for step in (STEP, STEP / 16):
            flat[at] = was + step
            up = loss()
            flat[at] = was - step
            found.append((up - loss()) / (2 * step))
            flat[at] = was
        ours = float(grad[at])
        if all(not abs(x - ours) <= SLOPE * max(1.0, abs(x), abs(ours)) for x in found):
            raise Failed(f"{name}[{at}]: gradient {ours:.6g}, central difference {found[0]:.6g} at T = {TRAINED} ({case})")


def where(s: Subject):
    if s.combines:
        raise Skipped("it is a combination")
    heads = (("heads", (1, 1)),)
    cases = [Case(where=heads), Case(where=(("layers", (1,)),)), Case(heads=1), Case(heads=4)]
    if "qkv" in s.made["hooks"] and set(s.made["hooks"]) <= {"qkv"}:
        cases.append(Case(where=(("dims", (0, 2)),)))
    content = any(set(names) & {"q", "k", "v", "x_q", "x_k", "W", "S", "o", "state"} for names in s.made["hooks"].values())
    cases += [] if content else [Case(other=True)]
    for case in cases:
        logits(s.model(case), batch(TRAINED))
    attends = any(h not in ("encode", "residual", "positions", "own_positions", "prepare") for h in s.made["hooks"])
    for case in (Case("seq2seq"), *[Case("seq2seq", where=(("across", True),))] * attends):
        logits(s.model(case), batch(TRAINED, source=True))


def precision(s: Subject):
    for case in s.cases():
        same(logits(s.model(case, torch.float32), batch(TRAINED)).double(), logits(s.model(case), batch(TRAINED)),
             "between single and double precision", case, ROUNDED)


def causality(s: Subject):
    for case in s.cases(("decoder",)):
        model, of = s.model(case), batch(TRAINED)
        before = logits(model, of)
        for t in range(1, TRAINED):
            other = dict(of, token=of["token"].clone())
            other["token"][:, t] = (of["token"][:, t] + 1) % V
            same(logits(model, other)[:, :t], before[:, :t], f"when the token at place {t} changes", case)


def prefix(s: Subject):
    for case in s.cases(("decoder",)):
        model, of = s.model(case), batch(TRAINED)
        whole = logits(model, of, TRAINED)
        for n in range(1, TRAINED):
            short = {"token": of["token"][:, :n], "sequence": of["sequence"]}
            same(logits(model, short, TRAINED), whole[:, :n], f"between {TRAINED} tokens and their first {n}", case)


def rows_alone(s: Subject):
    for case in s.cases():
        model, of = s.model(case), batch(TRAINED, rows=3)
        whole = logits(model, of)
        for b in range(3):
            alone = logits(model, {n: x[b:b + 1] for n, x in of.items()})
            same(alone, whole[b:b + 1], "between a row in a batch and the row alone", case)


def padding(s: Subject):
    for case in s.cases():
        model, of = s.model(case), batch(TRAINED)
        alone = logits(model, of, TRAINED + 2)
        for side, begin in (("after", 0), ("before", 2)):
            token = torch.zeros(2, TRAINED + 2, dtype=torch.int64)
            pad = torch.ones(2, TRAINED + 2, dtype=torch.bool)
            token[:, begin:begin + TRAINED], pad[:, begin:begin + TRAINED] = of["token"], False
            padded = {"token": token, "pad": pad, "sequence": of["sequence"]}
            found = logits(model, padded)[:, begin:begin + TRAINED]
            same(found, alone, f"between a row with padding {side} it and the row alone", case)
            padded["token"] = torch.where(pad, 3, token)
            same(logits(model, padded)[:, begin:begin + TRAINED], found, "when the tokens under padding change", case)


def packing(s: Subject):
    for case in s.cases():
        model, first, second = s.model(case), batch(TRAINED), batch(4, seed=6)
        n = TRAINED + 4
        packed = {"token": torch.cat([first["token"], second["token"]], 1), "sequence": first["sequence"],
                  "document": (torch.arange(n) >= TRAINED).long().expand(2, -1)}
        whole = logits(model, packed)
        for of, begin in ((first, 0), (second, TRAINED)):
            same(whole[:, begin:begin + of["token"].shape[1]], logits(model, of, n),
                 "between a document packed with another and the document alone", case)


class Watched(TorchFunctionMode):
    """Notes where the file makes a tensor without saying on which device."""

    def __init__(self, path):
        super().__init__()
        self.path, self.found = path, None

    def __torch_function__(self, function, types, args=(), kwargs=None):
        made = function(*args, **(kwargs or {}))
        frame, name = sys._getframe(1), getattr(function, "__name__", "")
        while frame and frame.f_code.co_filename in (__file__, torch.overrides.__file__):
            frame = frame.f_back
        if name in MAKERS and "device" not in (kwargs or {}) and made.dim() and frame and frame.f_code.co_filename == self.path:
            self.found = self.found or (frame.f_lineno, name)
        return made


MAKERS = {"arange", "linspace", "logspace", "zeros", "ones", "full", "empty", "eye", "tensor", "rand", "randn", "randint",
          "as_tensor", "from_numpy"}


def buffers(s: Subject):
    """Arguments stay as they are, and tensors are made where the arguments are."""
    for case in s.cases():
        model = s.model(case)
        kept = {}
        for stack in model.stacks.values():
            for part in (*stack.schemes, stack.combine):
                if part and part.formula.path == s.path:
                    kept[part] = part.run
                    part.run = functools.partial(unchanged, part.run, case)
        with Watched(s.path) as watched:
            logits(model, batch(TRAINED))
        if watched.found:
            line, name = watched.found
            raise Failed(f"{s.path}:{line}: torch.{name} makes a tensor on the CPU: say device=pos.device, or that of another "
                         f"argument ({case})")


def unchanged(run, case, hook, q, k=None, layer=-1, /, **given):
    before = {n: (x, x._version) for n, x in given.items() if isinstance(x, torch.Tensor)}
    made = run(hook, q, k, layer, **given)
    for name, (x, version) in before.items():
        if x._version != version:
            raise Failed(f"{hook} writes to its argument {name} ({case})")
    return made


def shift(s: Subject):
    """Not a promise: whether moving all positions changes something."""
    if s.combines:
        raise Skipped("it is a combination")
    for case in s.cases(("decoder",)):
        if not case.moved:
            of = batch(TRAINED)
            moved = logits(s.model(dataclasses.replace(case, moved=True)), of)
            if not bool((moved - logits(s.model(case), of)).abs().max() <= 1e-6):
                raise Skipped("moving all positions changes the logits")


CHECKS = {"parameters": parameters, "finite": finite, "purity": purity, "gradients": gradients, "where": where,
          "precision": precision, "shift-invariant": shift, "causality": causality, "prefix": prefix, "batch": rows_alone,
          "padding": padding, "packing": packing, "buffers": buffers}


# ---- the verb

def run(check, subject) -> tuple:
    """How a check ended, and its text."""
    try:
        check(subject)
        return "passed", ""
    except Skipped as e:
        return "skipped", str(e)
    except (Failed, Refused, Mistake) as e:
        return "failed", str(e)
    except Exception as e:  # noqa: BLE001
        return "failed", f"PyTorch: {type(e).__name__}: {e}".split("\n")[0]


def wanted(only):
    if only and only != "abi" and only not in CHECKS:
        raise Refused(f"check '{only}' is not for a plugin that is Python alone; there are abi, {', '.join(CHECKS)}")
    return [name for name in CHECKS if only in (None, name)]


def verb(request: dict) -> int:
    path, *settings = request["operands"]
    only, as_json = request.get("only"), request.get("json", False)
    names, found = wanted(only), []
    with tempfile.TemporaryDirectory() as folder:
        try:
            with open(path, "rb") as f:
                sha256 = hashlib.sha256(f.read()).hexdigest()
            subject = Subject(path, settings, folder)
        except OSError as e:
            raise Refused(f"cannot open '{path}': {e.strerror}") from None
        except Mistake as e:
            subject, names = None, []
            found = [("abi", "failed", str(e))]
        if subject:
            found = [("abi", "passed", "")] if only in (None, "abi") else []
            found += [(name, *run(CHECKS[name], subject)) for name in names]
    kind = subject.file.kind if subject else None
    (print_object if as_json else print_lines)(path, kind, sha256, found)
    return int(any(end == "failed" for _, end, _ in found))


def print_object(path, kind, sha256, found):
    ends = [end for _, end, _ in found]
    print(json.dumps({"kind": kind, "name": os.path.splitext(os.path.basename(path))[0], "version": "0" if kind else None,
                      "path": os.path.abspath(path), "sha256": sha256,
                      "checks": [{"check": c, "end": e, "text": t} for c, e, t in found],
                      **{e: ends.count(e) for e in ("passed", "failed", "skipped")}}, indent=2))


def print_lines(path, kind, sha256, found):
    if kind:
        print(f"{kind} {os.path.splitext(os.path.basename(path))[0]} 0  {os.path.abspath(path)}")
    said = {}
    for check, end, text in found:
        if end == "skipped" or text and text in said:
            said.setdefault(text, []).append(check)
            continue
        said.setdefault(text, [check])
        print(f"  {end:<8} {check:<24}{text}".rstrip())
        if end == "failed" and kind:
            print(f"           again: peat plugins check {path} --only {check}")
    ends = {check: end for check, end, _ in found}
    for text, checks in said.items():
        if ends[checks[0]] == "skipped":
            print(f"  skipped  {text}: {', '.join(checks)}")
        elif text and checks[1:]:
            print(f"  failed   the same as {checks[0]}: {', '.join(checks[1:])}")
    ends = list(ends.values())
    print(", ".join(f"{ends.count(e)} {e}" for e in ("passed", "failed", "skipped") if e in ends))
