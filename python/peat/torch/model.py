# SPDX-License-Identifier: MIT
"""A cell's model: input, blocks and head, as docs/checkpoint.md writes them."""
from __future__ import annotations

import fnmatch
import functools
import math
import os

import torch
import torch.nn.functional as F

from . import pieces
from .attention import Group, groups
from .batches import Kept, Side, on_device
from .draws import stream, substream, uniform
from .files import Refused, read_cell
from .formulas import Part


class Stack:
    """A stack of blocks: the decoder, an encoder, or the encoder beside a decoder (at: "encoder.")."""

    def __init__(self, model, at, layers):
        self.at, self.layers = at, layers
        self.causal = model.arch != "encoder" and not at
        self.drops = "dropout.encoder" if at else "dropout"
        position = model.config["position"]
        self.schemes = [Part(model, at, "scheme", f"position.{i}", p) for i, p in enumerate(position["scheme"])]
        p = position.get("combine")
        self.combine = Part(model, at, "combine", "combine", p) if p else None
        if p:  # tensors that are called after streams come in the order of these
            n = sum(s.has("encode") for s in self.schemes)
            streams = ["token", *(f"position.{i + 1}" if i else "position" for i in range(n)), *model.more]
            known = self.combine.shared
            self.combine.shared = {**{s: known[s] for s in streams if s in known}, **known}

    def merge(self, x, side, pos):
        """The combination of streams [B or 1, T, d]; the first is that of tokens."""
        if not self.combine:
            return functools.reduce(torch.add, x)
        if len(x) < self.combine.formula.constant("min_streams", 2):
            return x[0]
        return self.combine.run("merge", side, x=[s.expand(len(x[0]), -1, -1) for s in x], pos=pos)


class Model(torch.nn.Module):
    """A cell's model. Parameters have the names of the exported file. forward takes tokens [B, T], or a batch as
    `peat export` writes it, and returns logits: [B, T, V]; [B, classes] with head: class; both with head: both.
    The formulas of its plugins are those beside the plugins that `program` finds. In training mode (.train()) dropout and
    schemes draw as PEAT does in step `step`, from 1. In evaluation `step` is the last that was trained."""

    def __init__(self, tensors: dict, config: dict, resolved: dict, program: str = "peat"):
        super().__init__()
        for name, t in tensors.items():
            *path, leaf = name.split(".")
            module = self
            for part in path:
                module = module._modules.setdefault(part, torch.nn.Module())
            module._parameters[leaf] = torch.nn.Parameter(t)
        self.config, self.resolved, self.program, self.names = config, resolved, program, list(tensors)
        m = self.options = dict(DEFAULTS, **config["model"])
        self.arch, self.seed, self.step, self.first_row = m["arch"], int(config["seed"]), 0, 0
        self.total = None  # length of the whole row, where a batch has the beginnings of rows
        self.compiled = False  # whether training goes through torch.compile
        self.H, d_model = m["n_head"], m["d_model"]
        self.D = tensors["block.0.norm1.weight"].shape[0]
        self.C = self.D // self.H
        self.stream_width = self._width_of_streams(d_model)
        self.T_train = config["train"]["seq_len"]
        self.more = [n for n, t in (("segment", tensors.get("segment.weight")),) if t is not None]
        self.own_streams = sorted_streams(tensors)
        self.more += self.own_streams
        self.front = int(m["head"] != "tokens" and m["pool"] == "cls" and m["cls_position"] != "first")
        self.class_first = m["head"] != "tokens" and m["pool"] == "cls" and not self.front
        self.T_train += self.class_first
        two = self.arch == "seq2seq"
        encoder_layers = m["encoder_layers"] if m["encoder_layers"] not in (0, "auto") else m["n_layer"]
        self.stacks = {"": Stack(self, "", m["n_layer"])}
        if two:
            self.stacks["encoder."] = Stack(self, "encoder.", encoder_layers)
        for name, w in self.named_parameters():
            w.requires_grad_(not any(fnmatch.fnmatchcase(name, f) for f in listed(m["freeze"])))
        self._name_weights()
        self.eval()

    def _name_weights(self):
        self.__dict__["_named"] = dict(self.named_parameters())

    def _apply(self, *given, **named):
        """.to() and the like may make other parameters."""
        done = super()._apply(*given, **named)
        self._name_weights()
        return done

    def _width_of_streams(self, d_model):
        p = self.config["position"].get("combine")
        id = os.path.splitext(os.path.basename(p["plugin"]))[0] if p else ""
        if id + ".widths" in self.resolved:  # of tokens, positions, ...
            return int(self.resolved[id + ".widths"][1])
        if not p or "d_pos" not in p:
            return d_model
        name = os.path.splitext(os.path.basename(p["plugin"]))[0]
        return p["d_pos"] if p["d_pos"] != "auto" else int(self.resolved[name + ".d_pos"])

    def formula_files(self) -> dict:
        """{path: SHA-256} of the files that the model computes with beside this package."""
        parts = [p for stack in self.stacks.values() for p in (*stack.schemes, stack.combine) if p]
        return {path: hash for p in parts for path, hash in p.formula.files.items()}

    def causal(self, stack):
        return self.stacks[stack].causal if stack in self.stacks else self.arch != "encoder" and not stack

    def weight(self, name):
        return self._named.get(name)

    # ---- parts

    def piece(self, f):
        """A function of pieces.py, compiled where training is."""
        return pieces.compiled(f) if self.compiled and self.training else f

    def norms(self, name, kind=None):
        return kind or self.options["norm"], self.options["norm_eps"], *self.product(name)

    def norm(self, x, name, kind=None):
        return pieces.norm(x, *self.norms(name, kind))

    def product(self, name):
        return self.weight(name + ".weight"), self.weight(name + ".bias")

    def linear(self, x, name):
        return F.linear(x, *self.product(name))

    def dropped(self, x, stack, place, layer):
        """What dropout keeps of a tensor of x's shape, and its p; None: there is no dropout."""
        p = self.options["dropout"]
        if p == 0 or not self.training:
            return None
        key = substream(substream(stream(self.seed, stack.drops, place), layer), self.step).to(x.device)
        first = self.first_row * x[0].numel()
        return (uniform(key, first + torch.arange(x.numel(), device=x.device)) >= p).reshape(x.shape), p

    def projected(self, name, inputs, made, kept):
        """Queries, keys and values, [B, H, T, C], of their inputs [B, T, D]; one product where these are the same, which
        may be made already. kept: of a source, whose keys and values are made once."""
        w, b = self.product(name + ".qkv")
        if inputs[0] is inputs[1] is inputs[2]:
            made = (F.linear(inputs[0], w, b) if made is None else made).chunk(3, -1)
        else:
            q, *of_keys = zip(inputs, w.chunk(3), [None] * 3 if b is None else b.chunk(3))
            make = lambda: [F.linear(*x) for x in of_keys]
            made = F.linear(*q), *(kept.once(name, make) if kept else make())
        return [y.reshape(*y.shape[:2], self.H, self.C).transpose(1, 2) for y in made]

    def attention(self, name, layer, inputs, q_side, k_side, mask, schemes, made=None):
        """inputs of queries, keys, values; mask [1|B, Tq, Tk] of what is seen, with the front. [B, Tq, D], before the
        last product."""
        q, k, v = self.projected(name, inputs, made, q_side.kept if k_side.source else None)
        kind = self.options["qk_norm"]
        if kind != "none":
            q, k = self.norm(q, name + ".q_norm", kind), self.norm(k, name + ".k_norm", kind)
        out = []
        for begin, end, acting in groups(self.H, schemes):
            group = Group(self, name, layer, begin, end, acting, (q_side, k_side), inputs, mask[:, None])
            heads = (q, k, v) if end - begin == self.H else (x[:, begin:end] for x in (q, k, v))
            out.append(group.forward(*heads))
        o = (out[0] if len(out) == 1 else torch.cat(out, 1)).transpose(1, 2)
        return o.reshape(*o.shape[:2], self.D)

    def mixer(self, name, kind, x, side, causal):
        if kind == "conv":
            q, k, v = self.linear(x, name + ".in").chunk(3, -1)
            taps = self.weight(name + ".taps")
            a = 0 if causal else (len(taps) - 1) // 2
            u = sum(taps[i] * side.neighbour(k * v, i - a) for i in range(len(taps)))
            return q * u
        z, o = self.linear(x, name + ".in").chunk(2, -1)
        f = self.linear(x, name + ".forget").sigmoid()
        half = self.D if causal else (self.D + 1) // 2
        h = torch.cat([self.recurrence(z, f, side, slice(0, half), False),
                       self.recurrence(z, f, side, slice(half, self.D), True)], -1)
        return o.sigmoid() * h

    @staticmethod
    def recurrence(z, f, side, part, backwards):
        z, f, T = z[..., part].tanh(), f[..., part], z.shape[1]
        rows, h = [None] * T, torch.zeros_like(z[:, 0])
        document, last = side.document, None
        for t in reversed(range(T)) if backwards else range(T):
            if document is not None:
                # The document before padding goes on behind it.
                real = torch.ones_like(document[:, t], dtype=torch.bool) if side.pad is None else ~side.pad[:, t]
                fresh = torch.zeros_like(real) if last is None else real & (document[:, t] != last)
                h = torch.where(fresh[:, None], 0 * h, h)
                last = document[:, t] if last is None else torch.where(real, document[:, t], last)
            new = f[:, t] * h + (1 - f[:, t]) * z[:, t]
            h = new if side.pad is None else torch.where(side.pad[:, t, None], h, new)
            rows[t] = h if side.pad is None else h
        return torch.stack(rows, 1) if side.pad is None else torch.stack(rows, 1)

    # ---- input

    def scaled(self, x):
        s = self.options["embed_scale"]
        s = math.sqrt(self.options["d_model"]) if s == "auto" else s
        return x if s == 1 else x * s

    def streams(self, batch, stack, side):
        """Streams at the input as (rows, front); the sites of later ones get theirs."""
        B, source, out = side.B, bool(stack.at), []
        first = lambda w: self.scaled(w.reshape(1, 1, -1) if w.dim() == 1 else w[None, :1]).expand(B, -1, -1)
        token_of_class = self.weight("class.token")

        def add(x, of_class):
            if of_class is not None and not self.front:
                x = torch.cat([of_class, x], 1)
            out.append((x, of_class))
        if batch.get("patch") is not None:
            patch = batch["patch"].to(self.weight("patch.weight").dtype)
            x = self.scaled(self.linear(patch, "patch"))
        else:
            x = self.scaled(F.embedding(batch["source" if source else "token"].long(), self.weight("token.weight")))
        add(x, None if token_of_class is None else first(token_of_class))
        later = {}
        for i, s in enumerate(stack.schemes):
            if not s.has("encode"):
                continue
            P = s.run("encode", side).to(x.dtype)
            front = self.weight(f"class.position.{i}.{s.id}")
            front = P.new_zeros(1, 1, P.shape[-1]) if front is None else self.scaled(front[None])
            if s.site == "input":
                out.append((P, front))
            else:
                later[s] = P, front
        if not source:
            for name in self.more:
                w, b = (self.weight(f"{'segment' if name == 'segment' else 'stream.' + name}.{k}")
                        for k in ("weight", "bias"))
                data = batch["segment" if name == "segment" else "stream." + name]
                y = w[data.long()] if b is None else F.linear(data.to(w.dtype), w, b)
                add(self.scaled(y), None if token_of_class is None else first(w if b is None else b))
        return out, later

    def merged(self, stack, streams, side):
        def join(part, pos):
            x = [s[part] for s in streams]
            return stack.merge(x, side, pos)
        x = join(0, side.pos)
        if not self.front:
            return x
        return torch.cat([join(1, torch.zeros_like(side.pos[:, :1])).expand(side.B, -1, -1), x], 1)

    # ---- blocks

    def mask(self, stack, side):
        T = side.T
        side.only_causal = (stack.causal and self.options["window"] == 0 and side.pad is None and side.document is None
                            and not self.front and not self.class_first)
        place = torch.arange(T, device=side.device)
        apart = place[:, None] - place[None, :]
        seen = torch.ones(T, T, dtype=torch.bool, device=side.device)
        if stack.causal:
            seen = apart >= 0
        if self.options["window"] > 0:
            seen = seen & (apart.abs() < self.options["window"])
        seen = seen[None]
        if side.pad is not None:
            seen = seen & ~side.pad[:, None, :]
        if side.document is not None:
            seen = seen & (side.document[:, :, None] == side.document[:, None, :])
        window = self.options["window"] or T + 1
        if self.class_first:  # a class token sees all that the window has, and is seen by all
            seen = seen.clone()
            seen[:, 0] = (place < window) if side.pad is None else (place < window) & ~side.pad
            seen[:, :, 0] = place < window
        if self.front:
            seen = F.pad(seen, (1, 0, 1, 0), value=True)
            seen[:, 0, 1:] = (place + 1 < window) if side.pad is None else (place + 1 < window) & ~side.pad
            seen[:, 1:, 0] = place + 1 < window
        return seen

    def stack_forward(self, stack, batch, side, crossing=None, kept=None):
        """[B, T, D], normed at the end; crossing: the encoder's output and its side. kept: of passes over the rows before, so
        that this one is over the newest."""
        m, layers_schemes = self.options, stack.schemes
        for s in stack.schemes:
            s.state = None
            if s.has("positions"):
                side.pos = s.run("positions", side)
        streams, later = self.streams(batch, stack, side)
        mask, after, whole, begin = self.mask(stack, side), m["norm_place"] == "after", side, 0
        if kept:
            side, begin = side.newest(kept), kept.done
            streams, mask = [(x[:, begin:], front) for x, front in streams], mask[:, begin:]
            later = {s: (x[:, begin:], front) for s, (x, front) in later.items()}
        so_far = kept.so_far if kept else lambda name, rows: rows
        x = self.merged(stack, streams, side)
        x = pieces.without(x, self.dropped(x, stack, "input", 0))
        late = lambda s, y: self.merged(stack, [(y[:, self.front:], y[:, :self.front]), later[s]], side)

        def closed(x, y, name, norm, place, layer):
            last = self.norms(norm) if after else None
            return self.piece(pieces.closed)(x, y, self.product(name + ".out"), self.dropped(x, stack, place, layer), last)
        for l in range(stack.layers):
            b = f"{stack.at}block.{l}."
            acting = [s for s in layers_schemes if s.acts(l)]
            for s in acting:
                if s in later and s.site == "residual":
                    x = late(s, x)
                if s.has("residual"):
                    rows = so_far((s, l), x[:, self.front:])
                    x = self.behind_front(x, s.run("residual", whole, whole, l, x=rows)[:, begin:])

            name, norm, made = b + m["mixer"], b + "norm1", None
            if after:
                y = x
            elif m["mixer"] == "attention":
                y, made = self.piece(pieces.opened)(x, self.norms(norm), self.product(name + ".qkv"))
            else:
                y = self.norm(x, norm)
            if m["mixer"] == "attention":
                inputs = [y, y, y]
                for s in acting:
                    if s in later:
                        sees = {"attn_q": (0,), "attn_k": (1,), "attn_qk": (0, 1), "attn_qkv": (0, 1, 2)}
                        for w in sees.get(s.site, ()):
                            inputs[w] = late(s, inputs[w])
                    if s.has("hidden"):
                        rows = {n: so_far((s, l, n), x[:, self.front:]) for n, x in zip(("xq", "xk", "xv"), inputs)}
                        new = s.run("hidden", whole, whole, l, **rows)
                        inputs = [self.behind_front(x, y[:, begin:]) for x, y in zip(inputs, new)]
                own = [s for s in acting if s.across != "only"]
                y = self.attention(name, l, inputs, side, side, mask, own, made)
            else:
                y = self.mixer(name, m["mixer"], so_far(name, y), whole, stack.causal)[:, begin:]
            x = closed(x, y, name, norm, "attention", l)
            if crossing:
                memory, source = crossing
                unseen = source.pad if source.pad is not None else torch.zeros_like(source.token, dtype=torch.bool)
                seen = (~unseen)[:, None, :].expand(-1, side.T, -1)
                over = [s for s in acting if s.across]
                y = x if after else self.norm(x, b + "norm_cross")
                y = self.attention(b + "cross", l, [y, memory, memory], side, source, seen, over)
                x = closed(x, y, b + "cross", b + "norm_cross", "cross", l)
            norms = self.norms(b + "norm2")
            for s in acting:
                if s.has("carry") and any(s.acts(k) for k in range(l + 1, stack.layers)):
                    y = x if after else pieces.norm(x, *norms)
                    new = s.run("carry", side, side, l, x=y[:, self.front:], W=s.seen)
                    s.state = list(new) if isinstance(new, (list, tuple)) else [new]
            x = self.piece(pieces.fed_forward)(
                x, None if after else norms, self.product(b + "mlp.up"), pieces.ACTIVATIONS[m["activation"]],
                self.product(b + "mlp.down"), self.dropped(x, stack, "mlp", l), norms if after else None)
        return x if after else self.norm(x, stack.at + "norm")

    def refuse(self, batch):
        """Says what is wrong with the shape of tokens, before a product does."""
        for name in ("token", "source"):
            x = batch.get(name)
            if x is not None and (x.dim() != 2 or x.is_floating_point()):
                kind = "reals" if x.is_floating_point() else "whole numbers"
                raise Refused(f"{name}: {kind} of shape {list(x.shape)}; tokens are whole numbers [B, T]")
        needed = "patch" if self.options["input"] == "patches" else "token"
        if needed not in batch:
            raise Refused(f"the batch has no '{needed}', which this model reads; it has {', '.join(batch) or 'nothing'}")

    def behind_front(self, x, new):
        return new if not self.front else torch.cat([x[:, :self.front], new], 1)

    def newest(self, batch: dict, kept: Kept):
        """Logits of the rows of a batch behind those that `kept` has of the passes before, which were given the same rows
        up to there. Of a causal model in evaluation whose schemes and combination are storable (docs/plugin-guide.md)."""
        logits = self.forward(batch, kept)
        kept.done = batch["token"].shape[1]
        return logits

    def forward(self, batch: torch.Tensor | dict, kept: Kept = None):
        batch = {"token": batch} if isinstance(batch, torch.Tensor) else batch
        self.refuse(batch)
        m, like = self.options, next(self.parameters())
        batch = on_device(batch, like.device)
        batch["class_id"] = len(self.weight("token.weight")) if self.weight("token.weight") is not None else 0
        side = Side(batch, like, class_first=self.class_first, total=self.total)
        crossing = None
        if "encoder." in self.stacks:
            source = Side(batch, like, source=True)
            encode = lambda: (self.stack_forward(self.stacks["encoder."], batch, source), source)
            crossing = kept.once("source", encode) if kept else encode()
        x = self.stack_forward(self.stacks[""], batch, side, crossing, kept)
        head = self.weight("head.weight")
        head = self.weight("token.weight") if head is None else head
        tie = self.weight("tie.weight")
        head = head if tie is None else head @ tie
        if m["head"] == "tokens":
            return x @ head.T
        if m["pool"] == "cls":
            pooled, x = x[:, 0], x[:, 1:]
        else:
            keep = torch.ones_like(x[..., 0]) if side.pad is None else (~side.pad).to(x.dtype)
            pooled = (x * keep[..., None]).sum(1) / keep.sum(1, keepdim=True)
        if m["head"] == "class":
            return pooled @ head.T
        return x @ head.T, pooled @ self.weight("head.class.weight").T


def listed(x):
    return x if isinstance(x, list) else [x] if x else []


def sorted_streams(tensors):
    """Names of the task's streams, in the order of the file."""
    return [n[len("stream."):-len(".weight")] for n in tensors if n.startswith("stream.") and n.endswith(".weight")]


DEFAULTS = {"arch": "decoder", "input": "tokens", "head": "tokens", "pool": "cls", "cls_position": "first",
            "mixer": "attention", "encoder_layers": "auto", "norm": "layer", "norm_place": "before",
            "norm_eps": 1e-5, "qk_norm": "none", "activation": "gelu", "dropout": 0.0, "tie_embeddings": False,
            "window": 0, "freeze": [],
            "attention": {"path": "auto", "scale": "auto"}}


def load(path: str, dtype: torch.dtype = torch.float32, program: str = os.environ.get("PEAT", "peat")) -> Model:
    """The trained model of an exported file or of a cell's folder, in evaluation mode."""
    tensors, config, resolved, meta = read_cell(path)
    model = Model({n: t.to(dtype) for n, t in tensors.items() if not n.startswith("batch.")}, config, resolved, program)
    model.step = int(meta["peat_step"])
    return model
