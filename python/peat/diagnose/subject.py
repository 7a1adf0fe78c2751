# SPDX-License-Identifier: MIT
"""A trained cell, the windows that its diagnostics read, and its residual stream as a sum of parts.

  x = x_token + x_position + x_segment + x_constant        [N, T, D]

At the input a stream's part is the merge with all other streams at zero, less the merge with every stream at zero; the
latter is the constant part. Through a block the parts go as through a linear map, with norms' scales, attention weights
and the slope of every hidden unit held as they are for x (docs/diagnostics.md)."""
from __future__ import annotations

import functools
import os

import numpy as np

from .. import draws, files
from ..activations import passes
from ..packages import need
from ..reading import Refused

ROUNDING = 1e-6  # where an `error` is below this, it is rounding
PARTS = ("token", "position", "segment", "constant")
NO_POSITION = "no position at the input"
NOT_LINEAR = "not linear, not decomposed: the input is not a sum of what each stream brings"


def kind_of(stream):
    """The part that a stream's name counts as."""
    word = stream.split(".")[1]
    return "segment" if word == "task" else word


def sum_error(whole, parts, rows):
    """The largest |whole - sum| / largest |whole|, over passes of `rows` windows."""
    rest, worst = np.abs(whole - sum(parts)), 0.0
    for i in range(0, len(whole), rows):
        most = np.abs(whole[i:i + rows]).max()
        worst = max(worst, rest[i:i + rows].max() / (most or 1.0))
    return worst


class Subject:
    """batches: passes of evaluation windows, up to 1024 tokens each. start: the cell as it is before training."""

    def __init__(self, folder, batches=4, threads=1, program=None, start=False):
        self.folder, self.program, self.threads, self.start = os.path.abspath(folder), program, threads, start
        self.config = files.read_map(os.path.join(folder, "config.json"))
        self.model = self.config["model"]
        self._refuse()
        if not start:
            self._find_weights()
        self.stream = draws.stream(0, "diagnose")
        rows = None if batches == 4 else batches * self.run(rows=1, only="loss")[1]["pass_rows"]
        self.x, self.about = self.run(rows=rows, only="batch.*,loss,input,mask,stream,stream.*,norm,block.*.stream")
        self.batch = {name: x for name, x in self.x.items() if name.startswith("batch.")}
        self.token = self.batch["batch.token"].astype(int)
        self.N, self.T = self.token.shape
        self.pad = self.batch.get("batch.pad", np.zeros(self.token.shape)) != 0
        self.D, self.L, self.H = (self.model[key] for key in ("d_model", "n_layer", "n_head"))
        self.each = self.about["pass_rows"]
        self.streams = [name for name in self.x if name.startswith("stream.")]
        self.schemes = [dict(of, **{"at": "input"} | given) for of, given in
                        zip(self.about["schemes"], (self.config.get("position") or {}).get("scheme") or [])]
        self.sites = [name for name in self.streams if kind_of(name) == "position" and self._site(name) != "input"]
        self.has_position = any("encode" in s["hooks"].split(", ") and s["at"] == "input" for s in self.schemes)

    def _refuse(self):
        m = self.model
        has = ("has two sequences" if m.get("arch") == "seq2seq" else
               "has model.norm_place: after" if m.get("norm_place", "before") != "before" else
               "predicts classes" if m.get("head", "tokens") != "tokens" else
               "reads patches" if m.get("input", "tokens") != "tokens" else None)
        if has:
            raise Refused(f"cell '{os.path.basename(self.folder)}' {has}; diagnose reads decoders and encoders with "
                          "model.norm_place: before, model.input: tokens and model.head: tokens")

    def _find_weights(self):
        try:
            files.newest_weights(self.folder)
        except Refused:
            trained = os.path.exists(os.path.join(self.folder, "result.json"))
            raise Refused(f"cell '{self.config['label']}' has no weights in '{os.path.join(self.folder, 'ckpt')}': "
                          + ("they are gone or damaged" if trained else "it was not trained yet")) from None

    def _site(self, stream):
        return self.schemes[int(stream.split(".")[2])]["at"]

    def run(self, **options):
        """Arrays and metadata of passes; its peat_activations are at the top."""
        options = {"program": self.program, "threads": self.threads, "start": self.start} | options
        x, meta = passes(self.folder, **options)
        return x, {**meta, **meta["peat_activations"]}

    def vary(self, variants, only, windows=slice(None), **options):
        """A list with the arrays of each variant of the windows; a variant is {name: array} of what differs in it."""
        own = {name: x[windows] for name, x in self.batch.items()}
        n = len(own["batch.token"])
        names = set(own).union(*variants)
        given = {name: np.concatenate([v.get(name, own.get(name)) for v in variants]) for name in names}
        x = self.run(given=given, only=only, **options)[0]
        return [{name: values[i * n:i * n + n] for name, values in x.items()} for i in range(len(variants))]

    @functools.cached_property
    def weights(self):
        return {k: w.astype(float) for k, w in files.read_arrays(files.newest_weights(self.folder)).items()}

    @functools.lru_cache(maxsize=2)
    def attention(self, layer):
        """What the head groups of a layer compute: [(group, {name: array})], a group with heads, scale, changed_by."""
        name = f"block.{layer}.attention"
        rows = {"rows": self.N}
        x, about = self.run(only=f"{name}*", **rows)
        return [(group, {key.removeprefix(own + "."): a for key, a in x.items() if key.startswith(own + ".")})
                for own, group in sorted(about["groups"].items(), key=lambda item: item[1]["heads"])
                if own == name or own.startswith(name + ".")]

    @functools.cached_property
    def seen(self):
        """[N, 1, T, T]: whether the query sees the key."""
        return self.x["mask"] != 0

    # ---- parts ----

    @functools.lru_cache(maxsize=2)
    def parts(self, start=False):
        """{part: array} of the merged input and of block 0's input, with the whole and the error as "whole" and "error"."""
        x = self.run(only="input,block.0.stream,stream.*", rows=self.N, start=True)[0] if start else self.x
        kinds = [p for p in PARTS if p in ("token", "constant") or p in map(kind_of, self.streams)]
        ran = self.vary([{s: x[s] * (kind_of(s) == kind) for s in self.streams} for kind in kinds],
                        "input,block.0.stream", start=start or self.start)
        found = []
        for place in ("input", "block.0.stream"):
            p = {kind: of[place] for kind, of in zip(kinds, ran)}
            p = {kind: a if kind == "constant" else a - p["constant"] for kind, a in p.items()}
            found.append(p | {"whole": x[place], "error": sum_error(x[place], list(p.values()), self.each)})
        return found

    def _normed(self, parts, norm):
        """The norm of each part, with the scale of the whole; the constant part has the norm's shift."""
        w, b = self.weights[norm + ".weight"], self.weights.get(norm + ".bias", 0.0)
        centred = self.model["norm"] == "layer"
        centre = (lambda x: x - x.mean(-1, keepdims=True)) if centred else lambda x: x
        rate = 1 / np.sqrt((centre(parts["whole"]) ** 2).mean(-1, keepdims=True) + self.model.get("norm_eps", 1e-5))
        return {p: centre(x) * rate * w + (b if p == "constant" else 0.0) for p, x in of(parts)}

    def projected(self, layer, parts):
        """For each head group {"q", "k", "v": {part: array [N, H, T, C]}}, as the qkv hooks leave them; and the error."""
        y = self._normed(parts, f"block.{layer}.norm1")
        own, zero = f"block.{layer}.norm1", np.zeros_like(parts["whole"])
        off = {s: np.zeros_like(self.x[s]) for s in self.sites}
        variants = [{own: zero, **off}] + [{own: x, **off} for x in y.values()]
        if "position" in y and self.sites:  # positions that enter inside attention belong to the part of positions
            variants.append({own: zero, **{s: self.x[s] for s in self.sites}})
        ran, groups = self.vary(variants, f"block.{layer}.attention*.chain.*"), []
        for group, real in self.attention(layer):
            name = own.replace("norm1", "attention")
            name += "" if group["heads"] == [0, self.H] else ".heads.%d-%d" % tuple(group["heads"])
            of_group = {}
            for w in "qkv":
                silent, *some = (x[f"{name}.chain.{w}"] for x in ran)
                of_group[w] = {p: x if p == "constant" else x - silent for p, x in zip(y, some)}
                if len(some) > len(y):
                    of_group[w]["position"] = of_group[w]["position"] + some[-1] - silent
            error = max(sum_error(real["chain." + w], list(of_group[w].values()), self.each) for w in "qk")
            groups.append((group, real, of_group, error))
        return groups

    def advanced(self, layer, parts, groups):
        """The parts of the input of block layer + 1."""
        w, block = self.weights, f"block.{layer}"
        parts, hidden = dict(parts), {}
        for p, x in of(parts):
            context = np.concatenate([real["weights"] @ v["v"][p] for _, real, v, _ in groups], axis=1)
            y = context.transpose(0, 2, 1, 3).reshape(self.N, self.T, -1) @ w[f"{block}.attention.out.weight"].T
            y += w.get(f"{block}.attention.out.bias", 0.0) if p == "constant" else 0.0
            parts[p], parts["whole"] = x + y, parts["whole"] + y
        for p, x in self._normed(parts, f"{block}.norm2").items():
            hidden[p] = x @ w[f"{block}.mlp.up.weight"].T + (w.get(f"{block}.mlp.up.bias", 0.0) if p == "constant" else 0.0)
        u, F = sum(hidden.values()), w[f"{block}.mlp.down.weight"].shape[1]
        gated = u.shape[-1] > F
        by = slope(self.model["activation"], u[..., :F]) * (u[..., :F] if gated else 1.0)
        for p, x in of(parts):
            parts[p] = x + (hidden[p][..., -F:] * by) @ w[f"{block}.mlp.down.weight"].T
        if f"{block}.mlp.down.bias" in w:
            parts["constant"] = parts["constant"] + w[f"{block}.mlp.down.bias"]
        return parts | {"whole": self.x[f"block.{layer + 1}.stream"]}

    def obstacle(self, layer):
        """Why parts cannot be followed through a block; None: they can be."""
        for s in self.schemes:
            layers, hooks = (s.get("where") or {}).get("layers") or range(self.L), s["hooks"].split(", ")
            if layer in layers and "context" in hooks:
                return f"after layer {layer}: scheme '{s['id']}' changes what attention hands on"
            if layer + 1 in layers and ("residual" in hooks or "encode" in hooks and s["at"] == "residual"):
                return f"after layer {layer}: scheme '{s['id']}' acts on the residual stream of every block"
        return None

    # ---- tables ----

    @functools.cached_property
    def tables(self):
        return Tables(self, self.parts()[0])

    @functools.cached_property
    def tables_start(self):
        return Tables(self, self.parts(start=True)[0])


def of(parts):
    """The parts without the whole and the error."""
    return [(p, parts[p]) for p in PARTS if p in parts]


def slope(activation, u):
    """act(u) / u, act that of a gate's first product."""
    if activation == "relu":
        return (u > 0).astype(float)
    special = need("scipy.special", "a diagnosis")
    if activation == "swiglu":
        return special.expit(u)
    if activation in ("gelu", "geglu"):
        return special.ndtr(u)
    return 0.5 * (1 + np.tanh(np.sqrt(2 / np.pi) * (u + 0.044715 * u ** 3)))


class Tables:
    """The vectors that tokens and positions bring to the input, in single precision: rows of `token` in the order of the
    windows, whose ids are token_id; rows of `position` for places 0, 1, ..; all inputs. `missing`: why there are none."""

    def __init__(self, s, parts):
        keep = ~s.pad.reshape(-1)
        flat = {p: x.reshape(-1, s.D)[keep] for p, x in of(parts)}
        token, place = s.token.reshape(-1)[keep], np.tile(np.arange(s.T), s.N)[keep]
        self.input_token, self.input_position = token, place
        self.input = parts["whole"].reshape(-1, s.D)[keep].astype(np.float32)
        self.token_size = np.sqrt((flat["token"] ** 2).mean())
        first = np.sort(np.unique(token, return_index=True)[1])
        self.token_id, self.token = token[first], flat["token"][first].astype(np.float32)
        row = np.zeros(token.max() + 1, int)
        row[self.token_id] = np.arange(len(first))
        self.moving_token = moves(flat["token"], self.token[row[token]])
        self.position, self.position_size, self.moving_position = self.token[:0], 0.0, False
        if s.has_position:
            x, rows = flat["position"], []
            for i, p in enumerate(place):
                if p == len(rows):
                    rows.append(i)
            self.position, self.position_size = x[rows].astype(np.float32), np.sqrt((x ** 2).mean())
            known = place < len(rows)
            self.moving_position = moves(x[known], self.position[place[known]])
        self.input_missing = None if s.has_position else NO_POSITION
        self.missing = (NO_POSITION if not s.has_position else NOT_LINEAR if parts["error"] >= ROUNDING else None
                        if len(self.position) else "the windows begin with padding: positions cannot be listed")


def moves(x, row):
    """Whether some x differs from its row in the table by more than the table's rounding."""
    return bool((np.abs(x - row) > 1e-5 * (1 + np.abs(x))).any())
