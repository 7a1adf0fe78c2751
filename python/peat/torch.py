# SPDX-License-Identifier: MIT
"""A cell of PEAT in PyTorch, written from docs/checkpoint.md; needs PyTorch alone.

  import peat.torch
  model = peat.torch.load("cell.safetensors")     what `peat export DIR CELL -o FILE` wrote, or the folder of
  logits = model(tokens)                          a cell in a run directory; tokens [B, T]

  python3 -m peat.torch check PATH...     files of `peat export --batch`, or folders of them: the loss, logits and
                                          gradients of the first batch are those that PEAT found
  python3 -m peat.torch train FOLDER      trains the cell in this folder of a run directory (see --help)
"""
import argparse
import fnmatch
import json
import math
import os
import struct
import subprocess
import sys
import tempfile
import time

import torch
import torch.nn.functional as F

from peat import safetensors
from peat.safetensors import Refused

F64 = torch.float64


# ---- files ----

DTYPES = {"F32": torch.float32, "F64": F64, "I32": torch.int32}


def read_tensors(path):
    """The tensors of a safetensors file by name, and its metadata."""
    tensors, found = {}, safetensors.read(path)
    for name, (word, shape, part) in found[0].items():
        if word not in DTYPES:
            raise Refused(f"'{path}': tensor '{name}' has dtype '{word}'; {', '.join(DTYPES)} can be read")
        flat = torch.frombuffer(bytearray(part), dtype=DTYPES[word]) if part else torch.empty(0, dtype=DTYPES[word])
        tensors[name] = flat.reshape(shape)
    return tensors, found[1]


def write_tensors(path, tensors, meta):
    """Tensors in F32."""
    header, at = {"__metadata__": dict(meta, format="pt")}, 0
    for name, t in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(t.shape), "data_offsets": [at, at + 4 * t.numel()]}
        at += 4 * t.numel()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for t in tensors.values():
            f.write(bytes(t.detach().to("cpu", torch.float32).contiguous().view(-1).numpy().tobytes()))


def read_cell(path):
    """Tensors, configuration and resolved parameters of an exported file or of a cell's folder."""
    if not os.path.isdir(path):
        tensors, meta = read_tensors(path)
        if "peat_config" not in meta:
            raise Refused(f"'{path}' has no peat_config: it is not of `peat export`")
        return tensors, json.loads(meta["peat_config"]), json.loads(meta["peat_resolved"]), meta
    kept = os.path.join(path, "ckpt")
    steps = sorted(n for n in (os.listdir(kept) if os.path.isdir(kept) else ()) if n[:5] == "step-" and n[5:].isdigit())
    if not steps or not os.path.exists(os.path.join(path, "result.json")):
        raise Refused(f"'{path}' is not the folder of a trained cell: `peat export DIR CELL -o FILE` writes what it has")
    with open(os.path.join(path, "config.json")) as f:
        config = json.load(f)
    with open(os.path.join(path, "result.json")) as f:
        resolved = json.load(f)["resolved"]
    tensors, _ = read_tensors(os.path.join(kept, steps[-1], "model.safetensors"))
    return tensors, config, resolved, {"peat_step": steps[-1][5:]}


# ---- draws ----

LOW = 0xFFFFFFFF


def signed(x):
    """An unsigned number of 64 bits as an int64 tensor holds it."""
    return x - (1 << 64) if x >= 1 << 63 else x


def philox(key, index, use):
    """Philox4x32-10: four tensors of 32-bit words for int64 tensors that broadcast."""
    key, index = torch.broadcast_tensors(key, index)
    k0, k1 = key & LOW, key >> 32 & LOW
    c0, c1 = index & LOW, index >> 32 & LOW
    c2, c3 = torch.zeros_like(c0), torch.full_like(c0, use)
    for _ in range(10):
        p, r = c0 * 0xD2511F53, c2 * 0xCD9E8D57
        c0, c1, c2, c3 = (r >> 32 & LOW) ^ c1 ^ k0, r & LOW, (p >> 32 & LOW) ^ c3 ^ k1, p & LOW
        k0, k1 = k0 + 0x9E3779B9 & LOW, k1 + 0xBB67AE85 & LOW
    return c0, c1, c2, c3


def joined(r0, r1):
    return r0 | r1 << 32


def stream(seed, purpose, name):
    key = 0xCBF29CE484222325
    for byte in purpose.encode() + b"\0" + name.encode() + b"\0":
        key = (key ^ byte) * 0x100000001B3 & (1 << 64) - 1
    return joined(*philox(torch.tensor(signed(key)), torch.tensor(signed(seed)), 2)[:2])


def substream(key, n):
    return joined(*philox(key, torch.as_tensor(n, dtype=torch.int64, device=key.device), 1)[:2])


def uniform(key, index):
    r0, r1 = philox(key, index, 0)[:2]
    return (r0 >> 11 | r1 << 21).to(F64) * 2.0 ** -53


# ---- rows ----

class Side:
    """The rows of a sequence as schemes see them. pos [n, T] and grid [axes, n, T] are positions in double; n is 1
    where all rows have the same, else B."""

    def __init__(self, batch, like, source=False, class_first=False):
        name = "source" if source else "token"
        get = lambda key: batch.get(key)
        self.token = get(name)
        shape = (self.token if self.token is not None else get("patch")).shape
        self.B, self.T, self.device = shape[0], shape[1], like.device
        flags = ("source_pad", "source_special") if source else ("pad", "special")
        self.pad, self.special = (None if get(f) is None else get(f).bool() for f in flags)
        self.document = None if source else get("document")
        self.sequence = get("sequence")
        pos = None if source else get("pos")
        lead = int(class_first)
        start = self.starts()
        if start is None:
            self.pos = torch.arange(self.T, dtype=F64, device=self.device)[None]
        else:
            place = torch.arange(self.T, device=self.device).expand(self.B, -1)
            self.pos = (place - torch.where(start, place, 0).cummax(1).values).to(F64)
        self.grid = None if pos is None else pos
        if self.grid is not None and bool((self.grid == self.grid[:, :1]).all()):
            self.grid = self.grid[:, :1]
        if class_first:
            self._lead(lead, batch)
        self.total = self.T

    def starts(self):
        """Where documents begin, and what stands behind padding in front, [B, T]; None: only in front of rows."""
        if self.document is None and (self.pad is None or not bool(self.pad[:, 0].any())):
            return None
        first = self._changes()
        if self.pad is not None:
            first[:, 1:] |= self.pad[:, :-1] & ~self.pad[:, 1:]
        return first

    def all_starts(self):
        """The same for schemes that count themselves, to which each place behind padding is a start."""
        first = self._changes()
        if self.pad is not None:
            first[:, 1:] |= self.pad[:, :-1]
        return first

    def _changes(self):
        first = torch.zeros(self.B, self.T, dtype=torch.bool, device=self.device)
        first[:, 0] = True
        if self.document is not None:
            first[:, 1:] |= self.document[:, 1:] != self.document[:, :-1]
        return first

    def _lead(self, lead, batch):
        """A class token before each row, at position 0."""
        def before(x, value):
            return None if x is None else torch.cat([torch.full_like(x[:, :1], value), x], 1)
        self.T += 1
        self.pos = F.pad(self.pos + lead, (1, 0))
        if self.grid is not None:
            self.grid = F.pad(self.grid + lead, (1, 0))
        if self.token is not None:
            self.token = before(self.token, batch["class_id"])
        self.pad = before(self.pad, False)
        if self.special is None:
            self.special = torch.zeros(self.B, self.T - 1, dtype=torch.bool, device=self.device)
        self.special = before(self.special, True)
        if self.document is not None:
            self.document = torch.cat([self.document[:, :1], self.document], 1)

    def axes(self, columns):
        """Row and column, [2, n, T]."""
        if self.grid is not None:
            return self.grid
        row = (self.pos / columns).floor()
        return torch.stack([row, self.pos - columns * row])

    def neighbour(self, x, s):
        """x [B, T, ...] at t - s, 0 where there is none in the document."""
        if s > 0:
            y = torch.cat([torch.zeros_like(x[:, :s]), x[:, :-s]], 1)[:, :self.T]
        elif s < 0:
            y = torch.cat([x[:, -s:], torch.zeros_like(x[:, :-s])], 1)[:, -self.T:]
        else:
            y = x
        keep = torch.ones(self.B, self.T, dtype=torch.bool, device=self.device)
        at = torch.arange(self.T, device=self.device) - s
        near = at.clamp(0, self.T - 1)
        if self.pad is not None:
            keep = keep & ~self.pad[:, near]
        if self.document is not None:
            keep = keep & (self.document[:, near] == self.document)
        return y * keep.reshape(self.B, self.T, *[1] * (x.dim() - 2))

    def neighbours(self, x, taps):
        """sum over i of taps[i] times x at t - i"""
        return sum(taps[i] * self.neighbour(x, i) for i in range(len(taps)))


class Call:
    """What a hook of a layer is given: the sides of queries and keys, the inputs of the projections, the layer, the
    heads [begin, end) of the group, the mask [B, 1, Tq, Tk] of what is seen."""

    def __init__(self, **fields):
        self.__dict__.update(fields)


def pairs(f, c):
    """A function of p_k - p_q, [n, 1, Tq, Tk]."""
    return f((c.k.pos[:, None, :] - c.q.pos[:, :, None])[:, None])


def heads(x):
    """[n, T, ...] of rows as [n, 1, T, ...]"""
    return x[:, None]


def turned(x, cos, sin, layout):
    """Pairs (a, b) of the last axis to (a cos - b sin, a sin + b cos)."""
    n = cos.shape[-1]
    if layout == "halves":
        a, b = x[..., :n], x[..., n:2 * n]
    else:
        a, b = x[..., 0:2 * n:2], x[..., 1:2 * n:2]
    y = (a * cos - b * sin, a * sin + b * cos)
    y = torch.cat(y, -1) if layout == "halves" else torch.stack(y, -1).flatten(-2)
    return torch.cat([y, x[..., 2 * n:]], -1)


def waves(x, w):
    """Angles [..., n] of x [...] for frequencies w [n], in double."""
    return x[..., None] * w.to(x.device)


def powers(base, exponents):
    return torch.as_tensor(float(base), dtype=F64) ** exponents


def count(n, device=None):
    return torch.arange(n, dtype=F64, device=device)


def alibi_slopes(n):
    even = 1 << (n.bit_length() - 1)
    slopes = [2.0 ** (-8 * (h + 1) / even) for h in range(even)]
    return slopes if even == n else slopes + alibi_slopes(2 * even)[0::2][:n - even]


def softplus(x):
    return F.softplus(x, threshold=50)


# ---- schemes: each class has the name of its plugin ----

class Scheme:
    """The base: a scheme that does nothing. Subclasses have the hooks that their plugin has; `at` is the prefix of
    their tensors, H and C the heads that they act on and how wide these are, d the width of a stream."""
    terms = 0  # like q.k, which the scale of attention counts

    def __init__(self, model, stack, i, p):
        self.model, self.i, self.p, self.stack = model, i, p, stack
        self.at = f"{stack}position.{i}.{p['plugin']}"
        where = p.get("where") or {}
        self.layers, self.across = where.get("layers"), where.get("across", False)
        self.heads = tuple(where["heads"]) if where.get("heads") else None
        self.dims = tuple(where["dims"]) if where.get("dims") else None
        self.site = p.get("at", "input")
        self.H = self.heads[1] - self.heads[0] + 1 if self.heads else model.H
        self.C = self.dims[1] - self.dims[0] if self.dims else model.C
        self.d = model.stream_width

    def has(self, hook):
        return hasattr(type(self), hook)

    def acts(self, layer):
        return self.layers is None or layer in self.layers

    def get(self, key):
        """A parameter, as it was resolved."""
        if self.p[key] != "auto":
            return self.p[key]
        known, id = self.model.resolved, self.p["plugin"]
        return known.get(f"position.{self.i}.{id}.{key}", known.get(f"{id}.{key}"))

    def w(self, name, layer=None):
        shared = self.model.weight(f"{self.at}.{name}")
        return self.model.weight(f"{self.at}.layer.{layer}.{name}") if shared is None else shared

    def draws(self, side, name, n):
        """Random numbers in [0, 1), [B, n]."""
        m = self.model
        key = substream(stream(m.seed, self.at, name).to(side.device), 0)
        if m.training:
            key = substream(key, m.step + 1)
        key = substream(key, side.sequence.to(torch.int64))
        return uniform(key[:, None], torch.arange(n, device=side.device))


class none(Scheme):
    pass


def table_rows(table, pos):
    return table[pos.long()]


class sinusoidal(Scheme):
    def encode(self, side):
        p, n = self.p, self.d // 2
        span = max(n - 1, 1) if p["frequencies"] == "tensor2tensor" else self.d / 2
        a = waves(side.pos, powers(p["base"], -count(n) / span))
        return p["scale"] * spread(a.sin(), a.cos(), self.d, p["layout"] == "halves")


def spread(sin, cos, d, halves):
    x = torch.cat([sin, cos], -1) if halves else torch.stack([sin, cos], -1).flatten(-2)
    return F.pad(x, (0, d - x.shape[-1]))


class tape(Scheme):
    def encode(self, side):
        n = self.d // 2
        w = powers(self.p["base"], -2 * count(n) / self.d) * self.d / self.get("length")
        a = waves(side.pos, w)
        return self.p["scale"] * spread(a.sin(), a.cos(), self.d, False)


class learned(Scheme):
    def encode(self, side):
        table, beyond = self.w("table"), self.p["beyond"]
        n, place = len(table), side.pos
        if beyond == "interpolate":
            if side.total > n:
                place = place * (n - 1) / (side.total - 1)
            part = (place - place.floor())[..., None].to(table.dtype)
            low = table_rows(table, place.floor())
            high = table_rows(table, (place.floor() + 1).clamp(max=n - 1))
            rows = (1 - part) * low + part * high
        else:
            rows = table_rows(table, place.clamp(max=n - 1) if beyond != "refuse" else place)
            if beyond == "zero":
                rows = rows * (place < n)[..., None]
        return self.get("scale") * rows


class random_fixed(Scheme):
    def encode(self, side):
        return table_rows(self.w("table"), side.pos)


class fourier(Scheme):
    def encode(self, side):
        w = self.w("frequency")
        a = side.pos[..., None].to(w.dtype) * w
        r = torch.cat([a.cos(), a.sin()], -1)
        if self.p["hidden"] == 0:
            return F.pad(r, (0, self.d - r.shape[-1]))
        r = r / math.sqrt(self.get("features"))
        return F.gelu(r @ self.w("w1") + self.w("b1")) @ self.w("w2") + self.w("b2")


class sincos2d(Scheme):
    def encode(self, side):
        n = self.d // 4
        a = waves(side.axes(self.get("columns")), powers(self.p["base"], -count(n) / n))
        return torch.cat([a[0].sin(), a[0].cos(), a[1].sin(), a[1].cos()], -1)


def ids_of(x):
    return [int(i) for i in (x if isinstance(x, list) else [x])]


class abacus(Scheme):
    def encode(self, side):
        digit = torch.isin(side.token, torch.tensor(ids_of(self.get("digits")), device=side.device))
        if side.pad is not None:
            digit = digit & ~side.pad
        place = torch.arange(side.T, device=side.device).expand(side.B, -1)
        # A number begins at a digit behind another token, or where a document begins.
        first = side.all_starts() | ~F.pad(digit[:, :-1], (1, 0))
        run = (place - torch.where(first, place, 0).cummax(1).values + 1) * digit
        if self.model.training and self.p["max_offset"] > 0:
            shift = (self.draws(side, "offset", 1) * (self.p["max_offset"] + 1)).floor().long()
            run = run + shift * digit
        return self.get("scale") * table_rows(self.w("table"), run)


class bipe(Scheme):
    def _segments(self, side):
        """The number of each token's segment and its place there."""
        ends = torch.isin(side.token, torch.tensor(ids_of(self.get("separators")), device=side.device))
        place = torch.arange(side.T, device=side.device).expand(side.B, -1)
        start = side.all_starts()
        follows = F.pad(ends[:, :-1], (1, 0)) & ~start
        n = follows.long().cumsum(1)
        segment = n - torch.where(start, n, 0).cummax(1).values
        return segment, place - torch.where(start | follows, place, 0).cummax(1).values

    def positions(self, side, pos):
        return self._segments(side)[0].to(F64)

    def encode(self, side):
        table = self.w("table")
        return self.get("scale") * table_rows(table, self._segments(side)[1].clamp(max=len(table) - 1))


class complex_word(Scheme):
    def encode(self, side):
        r, f = self.w("amplitude"), self.w("frequency")
        phase = self.w("phase")
        word = side.token < len(r)
        id = torch.where(word, side.token, 0).long()
        a = f[id] * side.pos[..., None].to(f.dtype)
        a = a if phase is None else a + phase[id]
        x = torch.cat([r[id] * a.cos(), r[id] * a.sin()], -1)
        return self.get("scale") * x * word[..., None]


class randomized(Scheme):
    def positions(self, side, pos):
        most, n = self.p["max"], side.total
        if not self.model.training and self.p["eval"] == "plain":
            return pos
        if not self.model.training and self.p["eval"] == "even":
            return ((pos + 0.5) * most / n).floor()
        rows = []
        for u in self.draws(side, "positions", n).tolist():
            taken = set()
            for k in range(n):
                j = most - n + k
                x = math.floor(u[k] * (j + 1))
                taken.add(j if x in taken else x)
            rows.append(sorted(taken))
        place = pos.long().expand(side.B, -1)
        return torch.tensor(rows, dtype=F64, device=side.device).gather(1, place)


class shape(Scheme):
    def positions(self, side, pos):
        if self.model.training or self.p["eval"] == "random":
            return pos + (self.draws(side, "shift", 1) * (self.p["max"] + 1)).floor()
        return pos + (self.p["max"] if self.p["eval"] == "max" else 0)


class cape(Scheme):
    def positions(self, side, pos):
        if not self.model.training:
            return pos
        u = 2 * self.draws(side, "positions", 2 + side.T) - 1
        stretch = (u[:, 1:2] * math.log(self.p["stretch"])).exp()
        return (pos + self.p["shift"] * u[:, :1] + self.p["jitter"] * u[:, 2:]) * stretch


class Rotation(Scheme):
    """Queries and keys turn by angles of their positions, [n, T, pairs]. What another scheme has widened q and k by
    stays as it is, unless all_dims."""
    all_dims = False

    def qkv(self, q, k, v, c):
        return self.turn(q, c.q, c), self.turn(k, c.k, c), v

    def turn(self, x, side, c, sign=1):
        a = heads(self.angles(side, x.shape[-1] if self.all_dims else self.C, c))
        by = self.magnitude(c)
        return turned(x, (by * a.cos()).to(x.dtype), (sign * by * a.sin()).to(x.dtype),
                      self.p.get("layout", "interleaved"))

    def magnitude(self, c):
        return 1.0


class rotary(Rotation):
    def angles(self, side, C, c):
        n = int(self.p.get("fraction", 1) * C / 2)
        return waves(side.pos, powers(self.p["base"], -count(n) / n))


class drope(rotary):
    def qkv(self, q, k, v, c):
        return super().qkv(q, k, v, c) if self.model.step <= self.p["after"] else (q, k, v)


class tape_equivariant(rotary):
    """`state` [B, H, T, C] has the cosines and sines of a layer, `seen` its weights of attention."""

    def qkv(self, q, k, v, c):
        if c.layer == min(self.layers or [0]):
            a = heads(self.angles(c.q, self.C, c))
            self.state = torch.cat([a.cos(), a.sin()], -1).to(q.dtype)
        cos, sin = self.state.split(self.C // 2, -1)
        return turned(q, cos, sin, "halves"), turned(k, cos, sin, "halves"), v

    def carry(self, x, layer):
        gain, up, gate, down = (self.w(n)[layer] for n in ("gain", "up", "gate", "down"))
        e = self.state + gain * (self.seen @ self.state)
        u = torch.einsum("sh,bhtc->bstc", up, e) * F.silu(x @ gate.T).transpose(1, 2)[..., None]
        self.state = e + torch.einsum("hs,bstc->bhtc", down, u)


class p_rope(Rotation):
    def angles(self, side, C, c):
        n = C // 2
        w = powers(self.p["base"], -count(n) / n)
        w[int(self.p["fraction"] * n):] = 0
        return waves(side.pos, w)


class rotary_scaled(Rotation):
    all_dims = True

    def _factor(self, c):
        s = self.p["factor"]
        return max(1.0, c.q.total / self.get("original_length")) if s == "auto" else s

    def magnitude(self, c):
        return 0.1 * math.log(self._factor(c)) + 1 if self.p["kind"] == "yarn" else 1.0

    def angles(self, side, C, c):
        p, n, s = self.p, C // 2, self._factor(c)
        w = powers(p["base"], -count(n) / n)
        if p["kind"] == "linear":
            w = w / s
        elif p["kind"] == "ntk":
            w = w * s ** (-count(n) / max(n - 1, 1))
        else:
            turns = self.get("original_length") * w / (2 * math.pi)
            keep = ((turns - p["beta_slow"]) / (p["beta_fast"] - p["beta_slow"])).clamp(0, 1)
            if p["kind"] == "yarn" and p.get("ramp") == "index":
                at = [n * math.log(self.get("original_length") / (p[b] * 2 * math.pi)) / math.log(p["base"])
                      for b in ("beta_fast", "beta_slow")]
                low, high = max(math.floor(at[0]), 0), min(math.ceil(at[1]), 2 * n - 1)
                keep = 1 - ((count(n) - low) / (high - low or 0.001)).clamp(0, 1)
            w = w * (keep + (1 - keep) / s)
        return waves(side.pos, w)


class xpos(Rotation):
    def angles(self, side, C, c):
        n = C // 2
        return waves(side.pos, powers(self.p["base"], -count(n) / n))

    def qkv(self, q, k, v, c):
        return self._grown(q, c.q, c, 1), self._grown(k, c.k, c, -1), v

    def _grown(self, x, side, c, sign):
        p, n = self.p, x.shape[-1] // 2
        zeta = ((count(n, side.device) / n + p["gamma"]) / (1 + p["gamma"]))
        by = heads(zeta ** (sign * (side.pos[..., None] - self.get("centre")) / p["scale_base"]))
        a = heads(self.angles(side, x.shape[-1], c))
        return turned(x, (by * a.cos()).to(x.dtype), (by * a.sin()).to(x.dtype), p["layout"])


class rotary2d(Rotation):
    def turn(self, x, side, c, sign=1):
        row, column = side.axes(self.get("columns"))
        if self.p["learned"]:
            a, b = (self.w(name, c.layer)[:, None, :] for name in ("by_column", "by_row"))
            angle = heads(column)[..., None].to(a.dtype) * a + heads(row)[..., None].to(b.dtype) * b
        else:
            n = self.C // 4
            w = powers(self.get("base"), -count(n) / n)
            angle = heads(torch.cat([waves(column, w), waves(row, w)], -1))
        return turned(x, angle.cos().to(x.dtype), angle.sin().to(x.dtype), "interleaved")


class roper(Rotation):
    def angles(self, side, C, c):
        n = C // 2
        return waves(side.pos, powers(self.p["base"], -count(n) / n))

    def qkv(self, q, k, v, c):
        if self.p["scores"]:
            q, k = self.turn(q, c.q, c), self.turn(k, c.k, c)
        return q, k, self.turn(v, c.k, c)

    def context(self, o, W, c):
        return self.turn(o, c.q, c, -1)


class query_temperature(Scheme):
    def qkv(self, q, k, v, c):
        steps = ((c.q.pos + 1) / self.get("floor")).floor().clamp(min=0)
        return q * heads(1 + self.p["scale"] * steps.log1p())[..., None].to(q.dtype), k, v


class polar(Scheme):
    def qkv(self, q, k, v, c):
        C = q.shape[-1]
        phase = self.w("phase", c.layer)[:, None, :]
        w = powers(self.p["base"], -count(C) / C)
        aq, ak = heads(waves(c.q.pos, w)), heads(waves(c.k.pos, w))
        q, k = softplus(q), softplus(k)
        q = torch.cat([q * aq.cos().to(q.dtype), q * aq.sin().to(q.dtype)], -1)
        k = torch.cat([k * phase.cos(), k * phase.sin()], -1)
        return q, turned(k, ak.cos().to(k.dtype), ak.sin().to(k.dtype), "halves"), v


class fope(Scheme):
    def qkv(self, q, k, v, c):
        a, b = self.w("cosine", c.layer), self.w("sine", c.layer)
        n_in, n_out = a.shape[1:]
        start = torch.zeros(n_in, n_out, dtype=a.dtype, device=a.device)
        for m in range(n_out):
            j = m * math.ceil(n_in / n_out)
            if j < n_in:
                start[j, m] = 1
        return self._mixed(q, c.q, a + start, b + start), self._mixed(k, c.k, a + start, b + start), v

    def _mixed(self, x, side, a, b):
        n, n_out = self.C // 2, a.shape[-1]
        angle = heads(waves(side.pos, powers(self.p["base"], -count(a.shape[1]) / n)))
        cos = F.pad(angle.cos().to(x.dtype) @ a, (0, n - n_out), value=1.0)
        sin = F.pad(angle.sin().to(x.dtype) @ b, (0, n - n_out))
        return turned(x, cos, sin, "halves")


class liere(Scheme):
    def qkv(self, q, k, v, c):
        g = self.w("generator", c.layer)
        b = int((1 + math.isqrt(1 + 8 * g.shape[1])) / 2)
        U = g.new_zeros(len(g), b, b)
        i, j = torch.triu_indices(b, b, 1, device=g.device)
        U = U.index_put((slice_all(len(g), len(i), g), i.expand(len(g), -1), j.expand(len(g), -1)), g)
        A = U - U.transpose(1, 2)
        return self._rotated(q, c.q, A), self._rotated(k, c.k, A), v

    def _rotated(self, x, side, A):
        R = torch.matrix_exp(side.pos[..., None, None, None].to(A.dtype) * A)  # [n, T, blocks, b, b]
        own = x[..., :self.C]
        y = heads(R) @ own.reshape(*own.shape[:-1], len(A), A.shape[-1], 1)
        return torch.cat([y.reshape(own.shape), x[..., self.C:]], -1)


def slice_all(n, width, like):
    return torch.arange(n, device=like.device)[:, None].expand(-1, width)


class carope(Scheme):
    def qkv(self, q, k, v, c):
        n, base = self.C // 2, self.p["base"]
        shift = math.log(math.expm1(base ** (1 / n) - 1))
        f = 1 / (softplus(c.x_q @ self.w("weight", c.layer).T + shift) + 1)  # [B, T, H]
        a = (f[..., None] ** torch.arange(n, device=f.device)).cumsum(1).transpose(1, 2)
        cos, sin, layout = a.cos(), a.sin(), self.p["layout"]
        return turned(q, cos, sin, layout), turned(k, cos, sin, layout), v


class selective_rope(Scheme):
    def qkv(self, q, k, v, c):
        l, n = c.layer, self.C // 2
        u = c.x_q.reshape(*c.x_q.shape[:2], self.model.H, -1)
        u = (u / ((u * u).sum(-1, keepdim=True) + 1e-6).sqrt()).flatten(2)
        phi = torch.einsum("btr,hnr->bthn", u @ self.w("down", l).T, self.w("up", l))
        phi = c.q.neighbours(phi, self.w("taps", l))
        if self.p["gate"]:
            phi = phi * (u @ self.w("gate", l).T + self.w("gate_shift", l)).sigmoid()[..., None]
        w = powers(self.p["base"], -count(n) / n).to(phi)
        a = (w * phi.cumsum(1)).transpose(1, 2)
        return turned(q, a.cos(), a.sin(), "halves"), turned(k, a.cos(), a.sin(), "halves"), v


class alibi(Scheme):
    def slopes(self, like):
        return torch.tensor(alibi_slopes(self.H), dtype=F64, device=like.device)[:, None, None]

    def bias(self, c):
        return -self.slopes(c.q) * pairs(torch.abs, c)


class alibi_learned(alibi):
    def bias(self, c):
        return -self.w("factor", c.layer)[..., None] * (self.slopes(c.q) * pairs(torch.abs, c)).to(c.dtype)


class alibi2d(alibi):
    def bias(self, c):
        q, k = c.q.axes(self.get("columns")), c.k.axes(self.get("columns"))
        apart = (q[:, :, :, None] - k[:, :, None, :]).abs().sum(0)
        return -self.slopes(c.q) * heads(apart)


class t5_bias(Scheme):
    def bias(self, c):
        n, causal = self.p["buckets"], self.model.causal(self.stack)

        def bucket(d):
            per_side = n if causal else n // 2
            far, e = d.clamp(max=0).neg() if causal else d.abs(), per_side // 2
            late = (per_side - e) * (far.clamp(min=1) / e).log() / math.log(self.p["max_distance"] / e)
            late = (e + (late + 1e-12).floor()).clamp(max=per_side - 1)
            return torch.where(far < e, far, late) + (0 if causal else per_side * (d > 0))
        return self.w("table", c.layer)[pairs(bucket, c)[:, 0].long()].permute(0, 3, 1, 2)


class kerple(Scheme):
    def bias(self, c):
        r1, r2 = self.w("r1", c.layer)[..., None], self.w("r2", c.layer)[..., None]
        d = pairs(torch.abs, c).to(c.dtype)
        if self.p["kind"] == "log":
            return -r1 * (r2 * d).log1p()
        # 0 to a power has a gradient of 0 here
        return -r1 * torch.where(d > 0, d.clamp(min=1e-300 if d.dtype == F64 else 1e-30) ** r2, 0 * r2)


class bam(Scheme):
    def bias(self, c):
        w = lambda name: self.w(name, c.layer)[..., None]
        d = pairs(lambda d: d, c).to(c.dtype)
        if self.p["location"]:
            d = d - (w("theta_mu").exp() - (-w("theta_mu")).exp())
        slopes = torch.tensor(alibi_slopes(self.H), dtype=d.dtype, device=d.device)[:, None, None]
        return -slopes * (w("theta_alpha") + w("theta_beta") * (d.abs() + 1e-5).log()).exp()


class fire(Scheme):
    def bias(self, c):
        w = {n: self.w(n, c.layer) for n in ("c", "threshold", "w1", "b1", "w2")}
        psi = lambda x: (w["c"] * x).log1p()
        i, least = heads(c.q.pos)[..., None].to(c.dtype), w["threshold"] * self.get("init_threshold")
        x = psi(pairs(torch.abs, c).to(c.dtype)) / psi(torch.where(i >= least, i, least))
        hidden = (x[:, 0, ..., None] * w["w1"] + w["b1"]).relu()
        return (hidden @ w["w2"].T).permute(0, 3, 1, 2)


class sandwich(Scheme):
    def bias(self, c):
        n = self.p["width"] // 2
        w = powers(self.p["base"], -count(n) / n)
        total = 0
        for i in range(n):  # one wave after the other, since all of them are [Tq, Tk, n]
            total = total + pairs(lambda d: (d * w[i]).cos(), c)
        h = count(self.H, c.q.device)[:, None, None]
        return self.H / (8 * (h + 1)) * total


class dynamic_bias(Scheme):
    def bias(self, c):
        x = pairs(lambda d: d, c)[:, 0, ..., None].to(c.dtype)
        if self.p["log"]:
            x = x.sign() * x.abs().log1p()
        for n in range(self.p["depth"]):
            w = {k: self.w(f"{n}.{k}", c.layer) for k in ("weight", "shift", "norm_weight", "norm_shift")}
            x = x @ w["weight"] + w["shift"]
            if self.p["norm"]:
                x = F.layer_norm(x, x.shape[-1:], w["norm_weight"][0], w["norm_shift"][0], 1e-5)
            x = x.relu()
        return (x @ self.w("out", c.layer)).permute(0, 3, 1, 2)


class diet_abs(Scheme):
    def bias(self, c):
        q = table_rows(self.w("p_q", c.layer), c.q.pos)
        k = table_rows(self.w("p_k", c.layer), c.k.pos)
        return torch.einsum("nihc,njhc->nhij", q, k)


class Distances(Scheme):
    """Tables with a row for each distance i - j: of the past alone in a decoder, of both sides in an encoder."""

    def rows(self, c, most, middle):
        """clip(i - j) plus the row of distance 0, [n, Tq, Tk]"""
        past = self.model.causal(self.stack)
        low, first = (0, 0) if past else (-most, middle)
        return pairs(lambda d: (-d).clamp(low, most) + first, c)[:, 0].long()

    def by_distance(self, x, a, c, most):
        """x_i . a[row(i - j)], [B, H, Tq, Tk]"""
        scores = x @ a.T
        row = heads(self.rows(c, most, most)).expand(*x.shape[:2], -1, -1)
        return scores.gather(-1, row)

    def clip(self):
        return int(self.get("clip"))


class diet_rel(Distances):
    def bias(self, c):
        r = self.w("r", c.layer)
        most = len(r) - 1 if self.model.causal(self.stack) else len(r) // 2
        return r[self.rows(c, most, most)].permute(0, 3, 1, 2)


class erpe(Distances):
    def weights(self, W, c):
        w = self.w("w", c.layer)
        most = w.shape[1] - 1 if self.model.causal(self.stack) else w.shape[1] // 2
        return W + w[:, self.rows(c, most, most)].transpose(0, 1)


class shaw_keys(Distances):
    def score(self, q, k, c):
        return self.by_distance(q, self.w("a_k", c.layer), c, self.clip())


class wavelet(Scheme):
    def score(self, q, k, c):
        n = int(self.get("scales"))
        d = pairs(lambda x: -x, c)[:, 0]
        low = int(d.min())
        far = low + count(int(d.max()) - low + 1, d.device)
        shifts, scales = count(self.C // n, d.device), self.p["smallest"] * powers(2, count(n)).to(d.device)
        t = ((far[:, None, None] - shifts) / scales[:, None]).flatten(1)
        p = (1 - t * t) * (-t * t / 2).exp() if self.p["wavelet"] == "ricker" else (-t * t).exp()
        row = heads((d - low).long()).expand(*q.shape[:2], -1, -1)
        return (q @ p.to(q.dtype).T).gather(-1, row)


class shaw(Distances):
    def score(self, q, k, c):
        return self.by_distance(q, self.w("a_k", c.layer), c, self.clip()) if self.p["keys"] else None

    def context(self, o, W, c):
        a, most = self.w("a_v", c.layer), self.clip()
        row = heads(self.rows(c, most, most)).expand(*W.shape)
        summed = W.new_zeros(*W.shape[:3], len(a)).scatter_add(-1, row, W)
        return o + summed @ a


class huang(Distances):
    def score(self, q, k, c):
        a, most = self.w("a", c.layer), self.clip()
        row = heads(self.rows(c, most, most)).expand(*q.shape[:2], -1, -1)
        of_keys = (k @ a.T).transpose(2, 3)  # [B, H, rows, Tk]
        return (q @ a.T).gather(-1, row) + of_keys.gather(2, row)


class deberta(Scheme):
    terms = 2

    def row(self, d):
        clip = int(self.get("clip"))
        if self.p.get("buckets") == "log":
            middle, last = clip // 2, self.get("max_distance") - 1
            far = d.abs().clamp(middle, last)
            late = ((far / middle).log() / math.log(last / middle) * (middle - 1)).ceil()
            d = torch.where(d.abs() <= middle, d, d.sign() * (middle + late))
        return d.clamp(-clip, clip - 1) + clip

    def score(self, q, k, c):
        p, l, b = self.w("p"), c.layer, self.w("b_q", c.layer)
        if self.p["norm"]:
            p = F.layer_norm(p, p.shape[-1:], self.w("norm_weight"), self.w("norm_shift"), 1e-7)
        if self.p["projection"] == "own":
            Q = torch.einsum("rd,hcd->hrc", p, self.w("w_q", l)) + (0 if b is None else b[:, None])
            K = torch.einsum("rd,hcd->hrc", p, self.w("w_k", l))
        else:
            Q, K = (self.model.projected(c.name, p[None], part)[0, c.begin:c.end] for part in (0, 1))
        ahead = pairs(lambda d: self.row(-d), c).long().expand(*q.shape[:2], -1, -1)
        # Cells of deberta 1.0, which has no p2c, are of the paper's form.
        back = ahead if self.p.get("p2c") == "released" else pairs(self.row, c).long().expand(*q.shape[:2], -1, -1)
        return (q @ K.transpose(1, 2)).gather(-1, ahead) + (k @ Q.transpose(1, 2)).transpose(2, 3).gather(2, back)


class transformer_xl(Scheme):
    def score(self, q, k, c):
        l = c.layer
        u, v, w = self.w("u", l)[:, None], self.w("v", l)[:, None], self.w("w_r", l)
        d = pairs(lambda x: -x, c)[:, 0]
        low = int(d.min())
        D = w.shape[-1]
        a = waves(low + count(int(d.max()) - low + 1, d.device), powers(self.p["base"], -count(D // 2) / (D / 2)))
        r = F.pad(torch.cat([a.sin(), a.cos()], -1), (0, D % 2)).to(w.dtype)
        R = torch.einsum("rd,hcd->hrc", r, w)
        row = heads((d - low).long()).expand(*q.shape[:2], -1, -1)
        return ((q + v) @ R.transpose(1, 2)).gather(-1, row) + u @ k.transpose(2, 3)


class tupe(Scheme):
    terms = 1

    def score(self, q, k, c):
        w = lambda name: self.w(name, c.layer)
        p = F.layer_norm(w("p"), w("p").shape[-1:], w("norm_weight"), w("norm_shift"), 1e-5)
        Q = torch.einsum("ntd,hcd->nhtc", table_rows(p, c.q.pos), w("u_q"))
        K = torch.einsum("ntd,hcd->nhtc", table_rows(p, c.k.pos), w("u_k"))
        s = Q @ K.transpose(2, 3)
        if self.p["reset"]:
            none = torch.zeros(c.q.B, c.q.T, dtype=torch.bool, device=c.q.device)
            i = (none if c.q.special is None else c.q.special)[:, None, :, None]
            j = (none if c.k.special is None else c.k.special)[:, None, None, :]
            s = torch.where(i, w("theta_query"), torch.where(j, w("theta_key"), s))
        return s


class cope(Scheme):
    def logits(self, S, bias, c):
        S = S if bias is None else S + bias
        e = self.w("e", c.layer)
        gate = S.sigmoid() * c.mask
        p = gate.flip(-1).cumsum(-1).flip(-1).clamp(max=len(e) - 1)
        n = p.detach().floor()
        f, z = p - n, c.own_q @ e.T
        low, high = n.long(), (n.long() + 1).clamp(max=len(e) - 1)
        return S + (1 - f) * z.gather(-1, low) + f * z.gather(-1, high)


class tapa(Scheme):
    def amplitude(self):
        return int(self.p["theta"] * self.C)

    def qkv(self, q, k, v, c):
        A = self.amplitude()
        at = torch.arange(q.shape[-1], device=q.device)
        return q * ((at < A) | (at >= self.C)) * math.sqrt(self.C / A), k, v

    def logits(self, S, bias, c):
        A = self.amplitude()
        far = pairs(lambda d: d.abs() ** self.p["alpha"], c) * 2 * math.pi / math.sqrt(self.C - A)
        phase = c.own_q[..., A:] @ c.own_k[..., A:].transpose(2, 3) * far.to(S.dtype)
        return added(S * phase.cos(), bias)


class dape(Scheme):
    def logits(self, S, bias, c):
        l, bias = c.layer, bias.expand_as(S)
        mixed = torch.einsum("wh,bhij->bwij", self.w("w_score", l), S)
        mixed = mixed + torch.einsum("wh,bhij->bwij", self.w("w_bias", l), bias) + self.w("b1", l)[..., None]
        mixed = F.leaky_relu(mixed, self.p["slope"])
        return S + bias + torch.einsum("hw,bwij->bhij", self.w("w2", l), mixed)


class forgetting(Scheme):
    def bias(self, c):
        z = c.x_k @ self.w("weight", c.layer).T + self.w("shift", c.layer)
        return -F.logsigmoid(z).cumsum(1).transpose(1, 2)[:, :, None]


class cable(Scheme):
    def bias(self, c):
        z = c.x_k @ self.w("weight", c.layer).T + self.w("shift", c.layer)
        return softplus(z).cumsum(1).transpose(1, 2)[:, :, None]


class path(Scheme):
    def score(self, q, k, c):
        l, x = c.layer, c.x_k
        u = torch.einsum("btr,hcr->bthc", x @ self.w("down", l).T, self.w("up", l))
        u = F.silu(c.k.neighbours(u, self.w("taps", l)))
        w = (u / ((u * u).sum(-1, keepdim=True) + 1e-6).sqrt()).transpose(1, 2)
        beta = 2 * (x @ self.w("beta", l).T + self.w("beta_shift", l)).sigmoid().transpose(1, 2)
        change, rows = torch.zeros_like(k), []
        before = torch.arange(k.shape[2], device=k.device)[:, None]
        for t in range(q.shape[2]):
            w_t = w[:, :, t, :, None]
            along = (k + change) @ w_t * (before < t)
            change = change - beta[:, :, t, None, None] * along * w_t.transpose(2, 3)
            rows.append((change @ q[:, :, t, :, None]).squeeze(-1))
        return torch.stack(rows, 2)


class stick_breaking(Scheme):
    def softmax(self, S, bias, c):
        S = S if bias is None else S + bias
        T = S.shape[-1]
        before = c.mask & torch.ones(T, T, dtype=torch.bool, device=S.device).tril(-1)
        left = F.logsigmoid(-S) * before
        rest = left.flip(-1).cumsum(-1).flip(-1)
        A = (F.logsigmoid(S) + rest - left).exp() * before
        if self.p["rest"] == "own":
            A = A + torch.diag_embed(rest[..., 0].exp())
        return A


class sigmoid(Scheme):
    def softmax(self, S, bias, c):
        S = S if bias is None else S + bias
        return (S - math.log(self.get("keys"))).sigmoid()


class conv(Scheme):
    def residual(self, x, side, layer):
        w = self.w("w", layer)
        first = 0 if self.model.causal(self.stack) else -(len(w) - 1) // 2
        return x + sum(w[i] * side.neighbour(x, first + i) for i in range(len(w)))


class token_shift(Scheme):
    def hidden(self, x, side, layer):
        n = int(self.p["fraction"] * x.shape[-1])
        if self.model.causal(self.stack):
            return torch.cat([side.neighbour(x[..., :n], 1), x[..., n:]], -1)
        m = n // 2
        return torch.cat([side.neighbour(x[..., :m], 1), side.neighbour(x[..., m:2 * m], -1), x[..., 2 * m:]], -1)


# ---- combinations: functions of the streams, each [B or 1, T, d]; the first is that of tokens ----

class Merge:
    """The combination of a stack. `names` are those of the streams at the input."""

    def __init__(self, model, stack, p, names):
        self.model, self.p, self.names = model, p, names
        self.at = f"{stack}combine.{p['plugin']}"
        if not hasattr(self, "_" + p["plugin"]):
            raise Refused(f"the combination '{p['plugin']}' is not one of PEAT's own")

    def w(self, name):
        return self.model.weight(f"{self.at}.{name}")

    def linear(self, x):
        return F.linear(x, self.w("weight"), self.w("bias"))

    def __call__(self, x, pos):
        id = self.p["plugin"]
        if len(x) == 1 and id not in ("matrix_per_position", "sum_norm"):
            return x[0]
        B = x[0].shape[0]
        self.pos = pos
        return getattr(self, "_" + id)(x[0], [p.expand(B, -1, -1) for p in x[1:]])

    def _sum(self, x, rest):
        p = self.p
        if p["learned"]:
            return sum(self.w(name) * s for name, s in zip(self.names, [x, *rest]))
        return p["token_scale"] * x + p["position_scale"] * sum(rest)

    def _multiply(self, x, rest):
        for p in rest:
            x = x * (p if self.p["form"] == "product" else 1 + p)
        return x

    def _concat_split(self, x, rest):
        return torch.cat([x, *rest], -1)

    _concat_wide = _concat_split

    def _concat_project(self, x, rest):
        return self.linear(torch.cat([x, *rest], -1))

    def _concat_overlap(self, x, rest):
        D, p = self.model.D, sum(rest)
        return F.pad(x, (0, D - x.shape[-1])) + F.pad(p, (D - p.shape[-1], 0))

    def _sum_project(self, x, rest):
        return self.linear(x + self.p["position_scale"] * sum(rest))

    def _gate_scalar(self, x, rest):
        p = sum(rest)
        g = (x @ self.w("w_token") + p @ self.w("w_position") + self.w("bias")).sigmoid()
        return g * x + (1 - g) * p

    def _gate_vector(self, x, rest):
        p = sum(rest)
        g = (x @ self.w("w_token").T + p @ self.w("w_position").T + self.w("bias")).sigmoid()
        return g * x + (1 - g) * p

    def _film(self, x, rest):
        p = torch.cat(rest, -1)
        return x * (1 + p @ self.w("scale").T) + p @ self.w("shift").T

    def _replace(self, x, rest):
        return 0 * x + sum(rest)

    def _sum_norm(self, x, rest):
        return F.layer_norm(x + sum(rest), x.shape[-1:], self.w("weight"), self.w("bias"), self.p["eps"])

    def _matrix_per_position(self, x, rest):
        row = lambda name: table_rows(self.w(name), self.pos)
        D, kind = x.shape[-1], self.p["kind"]
        if kind == "full":
            y = x + self._times(x, row("matrix"), D)
        elif kind == "low_rank":
            y = x + self._times(self._times(x, row("in"), -1), row("out"), D)
        elif kind == "diagonal":
            y = x * (1 + row("scale"))
        else:
            y = turned(x, row("angle").cos(), row("angle").sin(), "interleaved")
        return y + sum(rest)

    @staticmethod
    def _times(x, matrix, columns):
        """Row vectors x [B, T, n] times [n or 1, T, n columns]"""
        matrix = matrix.reshape(*matrix.shape[:2], x.shape[-1], columns)
        return (x[..., None, :] @ matrix)[..., 0, :]


# ---- the model ----

class Stack:
    """A stack of blocks: the decoder, an encoder, or the encoder beside a decoder (at: "encoder.")."""

    def __init__(self, model, at, layers):
        self.at, self.layers = at, layers
        self.causal = model.arch != "encoder" and not at
        self.drops = "dropout.encoder" if at else "dropout"
        schemes = model.config["position"]["scheme"]
        for p in schemes:
            if not (isinstance(globals().get(p["plugin"]), type) and issubclass(globals()[p["plugin"]], Scheme)):
                raise Refused(f"the scheme '{p['plugin']}' is not one of PEAT's own")
        self.schemes = [globals()[p["plugin"]](model, at, i, p) for i, p in enumerate(schemes)]
        names, n = ["token"], 0
        for s in self.schemes:
            if s.has("encode"):
                n += 1
                names.append("position" if n == 1 else f"position.{n}")
        combine = model.config["position"].get("combine")
        self.merge = Merge(model, at, combine, names + model.more) if combine else None


class Model(torch.nn.Module):
    """A cell's model. Parameters have the names of the exported file. forward takes tokens [B, T], or a batch as
    `peat export` writes it, and returns logits: [B, T, V]; [B, classes] with head: class; both with head: both.
    In training mode (.train()) dropout and schemes draw as PEAT does in step `step`, from 1. In evaluation `step` is the
    last that was trained."""

    def __init__(self, tensors, config, resolved):
        super().__init__()
        for name, t in tensors.items():
            *path, leaf = name.split(".")
            module = self
            for part in path:
                module = module._modules.setdefault(part, torch.nn.Module())
            module._parameters[leaf] = torch.nn.Parameter(t)
        self.config, self.resolved = config, resolved
        m = self.options = dict(DEFAULTS, **config["model"])
        self.arch, self.seed, self.step, self.first_row = m["arch"], int(config["seed"]), 0, 0
        self.H, d_model = m["n_head"], m["d_model"]
        self.D = tensors["block.0.norm1.weight"].shape[0]
        self.C = self.D // self.H
        self.stream_width = self._width_of_streams(d_model)
        self.more = [n for n, t in (("segment", tensors.get("segment.weight")),) if t is not None]
        self.own_streams = sorted_streams(tensors)
        self.more += self.own_streams
        self.front = int(m["head"] != "tokens" and m["pool"] == "cls" and m["cls_position"] != "first")
        self.class_first = m["head"] != "tokens" and m["pool"] == "cls" and not self.front
        two = self.arch == "seq2seq"
        encoder_layers = m["encoder_layers"] if m["encoder_layers"] not in (0, "auto") else m["n_layer"]
        self.stacks = {"": Stack(self, "", m["n_layer"])}
        if two:
            self.stacks["encoder."] = Stack(self, "encoder.", encoder_layers)
        for name, w in self.named_parameters():
            w.requires_grad_(not any(fnmatch.fnmatchcase(name, f) for f in listed(m["freeze"])))
        self.eval()

    def _width_of_streams(self, d_model):
        p = self.config["position"].get("combine")
        if not p or "d_pos" not in p:
            return d_model
        return p["d_pos"] if p["d_pos"] != "auto" else int(self.resolved[p["plugin"] + ".d_pos"])

    def causal(self, stack):
        return self.stacks[stack].causal if stack in self.stacks else self.arch != "encoder" and not stack

    def weight(self, name):
        return self._named.get(name)

    # ---- parts

    def norm(self, x, name, kind=None):
        w, eps = self.weight(name + ".weight"), self.options["norm_eps"]
        if (kind or self.options["norm"]) == "rms":
            return x / ((x * x).mean(-1, keepdim=True) + eps).sqrt() * w
        return F.layer_norm(x, x.shape[-1:], w, self.weight(name + ".bias"), eps)

    def linear(self, x, name):
        return F.linear(x, self.weight(name + ".weight"), self.weight(name + ".bias"))

    def dropout(self, x, stack, place, layer):
        p = self.options["dropout"]
        if p == 0 or not self.training:
            return x
        key = substream(substream(stream(self.seed, stack.drops, place), layer), self.step).to(x.device)
        first = self.first_row * x[0].numel()
        keep = uniform(key, first + torch.arange(x.numel(), device=x.device)) >= p
        return x * keep.reshape(x.shape) / (1 - p)

    def projected(self, name, x, part):
        """Queries (part 0), keys or values of x [B, T, D]: [B, H, T, C]"""
        rows = slice(part * self.D, (part + 1) * self.D)
        b = self.weight(name + ".qkv.bias")
        y = F.linear(x, self.weight(name + ".qkv.weight")[rows], None if b is None else b[rows])
        return y.reshape(*y.shape[:2], self.H, self.C).transpose(1, 2)

    def scale(self, schemes):
        s = self.options["attention"]["scale"]
        if not isinstance(s, str):
            return float(s)
        if s == "auto":
            return 1 / math.sqrt((1 + sum(x.terms for x in schemes)) * self.C)
        return 1.0 if s == "none" else 1 / math.sqrt(self.C)

    def groups(self, schemes):
        """Heads on which the same schemes act: (begin, end, schemes)."""
        def at(h):
            return [s for s in schemes if not s.heads or s.heads[0] <= h <= s.heads[1]]
        begin = 0
        for h in range(1, self.H + 1):
            if h == self.H or at(h) != at(begin):
                yield begin, h, at(begin)
                begin = h

    def attention(self, stack, name, layer, inputs, q_side, k_side, mask, schemes):
        """inputs of queries, keys, values; mask [B, Tq, Tk] of what is seen, with the front."""
        front = self.front
        q, k, v = (self.projected(name, x, part) for part, x in enumerate(inputs))
        kind = self.options["qk_norm"]
        if kind != "none":
            q, k = self.norm(q, name + ".q_norm", kind), self.norm(k, name + ".k_norm", kind)
        out = []
        for begin, end, acting in self.groups(schemes):
            c = Call(q=q_side, k=k_side, x_q=inputs[0][:, front:], x_k=inputs[1][:, front:], layer=layer, name=name,
                     begin=begin, end=end, mask=mask[:, None], dtype=q.dtype)
            out.append(self.attend(c, q[:, begin:end], k[:, begin:end], v[:, begin:end], acting))
        o = torch.cat(out, 1).transpose(1, 2)
        return self.linear(o.reshape(*o.shape[:2], self.D), name + ".out")

    def attend(self, c, q, k, v, schemes):
        front, whole = self.front, c.mask
        cut = lambda x: x[:, :, front:]
        cut_pairs = lambda x: None if x is None else x[..., front:, front:]
        put = lambda x, new: new if not front else torch.cat([x[:, :, :front], new], 2)
        own_q, own_k = cut(q), cut(k)
        c.own_q, c.own_k = own_q, own_k
        for s in schemes:
            if s.has("qkv"):
                new = self.turn(s, c, cut(q), cut(k), cut(v))
                q, k, v = put(q, new[0]), put(k, new[1]), put(v, new[2])
        bias = score = None
        for s in schemes:
            if s.has("bias"):
                bias = added(bias, self.of_group(s, c, s.bias(c)))
            if s.has("score"):
                score = added(score, s.score(*self.narrowed(s, own_q, own_k), c))
        behind = lambda x: None if x is None else F.pad(x.to(q.dtype), (front, 0, front, 0))
        bias, score = behind(bias), behind(score)
        S = added(q @ k.transpose(2, 3), score) * self.scale(schemes)
        c.mask = cut_pairs(whole)
        for s in schemes:
            if s.has("logits"):
                new = s.logits(cut_pairs(S), cut_pairs(bias), c)
                S, bias = self.put_pairs(added(S, bias), new), None
        c.mask = whole
        replaced = [s for s in schemes if s.has("softmax")]
        if replaced:
            W = replaced[0].softmax(S, bias, c) * whole
        else:
            S = added(S, bias).masked_fill(~whole, -math.inf)
            W = torch.where(whole.any(-1, keepdim=True), S, 0 * whole).softmax(-1) * whole
        for s in schemes:
            if s.has("weights"):
                W = self.put_pairs(W, s.weights(cut_pairs(W), c)) * whole
            if s.has("carry"):
                s.seen = cut_pairs(W)
        o = W @ v
        for s in reversed(schemes):
            if s.has("context"):
                o = put(o, s.context(cut(o), cut_pairs(W), c))
        return o

    @staticmethod
    def turn(s, c, q, k, v):
        if not s.dims:
            return s.qkv(q, k, v, c)
        a, b = s.dims
        new_q, new_k, v = s.qkv(q[..., a:b], k[..., a:b], v, c)
        return (torch.cat([q[..., :a], new_q, q[..., b:]], -1), torch.cat([k[..., :a], new_k, k[..., b:]], -1), v)

    @staticmethod
    def narrowed(s, q, k):
        return (q, k)

    @staticmethod
    def of_group(s, c, term):
        """The heads of the group, of a term of all heads of the scheme."""
        first = s.heads[0] if s.heads else 0
        return term if term.shape[1] == 1 else term[:, c.begin - first:c.end - first]

    def put_pairs(self, whole, new):
        f = self.front
        if not f:
            return new
        below = torch.cat([whole[..., f:, :f], new], -1)
        return torch.cat([whole[..., :f, :], below], -2)

    def mixer(self, name, kind, x, side, causal):
        if kind == "conv":
            q, k, v = self.linear(x, name + ".in").chunk(3, -1)
            taps = self.weight(name + ".taps")
            a = 0 if causal else (len(taps) - 1) // 2
            u = sum(taps[i] * side.neighbour(k * v, i - a) for i in range(len(taps)))
            return self.linear(q * u, name + ".out")
        z, o = self.linear(x, name + ".in").chunk(2, -1)
        f = self.linear(x, name + ".forget").sigmoid()
        half = self.D if causal else (self.D + 1) // 2
        h = torch.cat([self.recurrence(z, f, side, slice(0, half), False),
                       self.recurrence(z, f, side, slice(half, self.D), True)], -1)
        return self.linear(o.sigmoid() * h, name + ".out")

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
        return x * (math.sqrt(self.options["d_model"]) if s == "auto" else s)

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
            x = self.scaled(self.weight("token.weight")[batch["source" if source else "token"].long()])
        add(x, None if token_of_class is None else first(token_of_class))
        later = {}
        for i, s in enumerate(stack.schemes):
            if not s.has("encode"):
                continue
            P = s.encode(side).to(x.dtype)
            front = self.weight(f"class.position.{i}.{s.p['plugin']}")
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
            return stack.merge(x, pos) if stack.merge else sum(x)
        x = join(0, side.pos)
        if not self.front:
            return x
        return torch.cat([join(1, torch.zeros_like(side.pos[:, :1])).expand(side.B, -1, -1), x], 1)

    # ---- blocks

    def mask(self, stack, side):
        T = side.T
        place = torch.arange(T, device=side.device)
        apart = place[:, None] - place[None, :]
        seen = torch.ones(T, T, dtype=torch.bool, device=side.device)
        if stack.causal:
            seen = apart >= 0
        if self.options["window"] > 0:
            seen = seen & (apart.abs() < self.options["window"])
        seen = seen.expand(side.B, T, T)
        if side.pad is not None:
            seen = seen & ~side.pad[:, None, :]
        if side.document is not None:
            seen = seen & (side.document[:, :, None] == side.document[:, None, :])
        if self.class_first:  # a class token sees all and is seen by all
            seen = seen.clone()
            seen[:, 0] = True if side.pad is None else ~side.pad
            seen[:, :, 0] = True
        if self.front:
            seen = F.pad(seen, (1, 0, 1, 0), value=True)
            if side.pad is not None:
                seen[:, 0, 1:] = ~side.pad
        return seen

    def stack_forward(self, stack, batch, side, crossing=None):
        """[B, T, D], normed at the end; crossing: the encoder's output and its side."""
        m, layers_schemes = self.options, stack.schemes
        for s in stack.schemes:
            if s.has("positions"):
                side.pos = s.positions(side, side.pos)
        streams, later = self.streams(batch, stack, side)
        x = self.dropout(self.merged(stack, streams, side), stack, "input", 0)
        mask, after = self.mask(stack, side), m["norm_place"] == "after"
        late = lambda s, y: self.merged(stack, [(y[:, self.front:], y[:, :self.front]), later[s]], side)

        def part(x, norm, place, layer, f):
            y = f(x if after else self.norm(x, norm))
            x = x + self.dropout(y, stack, place, layer)
            return self.norm(x, norm) if after else x
        for l in range(stack.layers):
            b = f"{stack.at}block.{l}."
            acting = [s for s in layers_schemes if s.acts(l)]
            for s in acting:
                if s in later and s.site == "residual":
                    x = late(s, x)
                if s.has("residual"):
                    x = self.behind_front(x, s.residual(x[:, self.front:], side, l))

            def mix(y):
                if m["mixer"] != "attention":
                    return self.mixer(b + m["mixer"], m["mixer"], y, side, stack.causal)
                inputs = [y, y, y]
                for s in acting:
                    if s in later:
                        sees = {"attn_q": (0,), "attn_k": (1,), "attn_qk": (0, 1), "attn_qkv": (0, 1, 2)}
                        for w in sees.get(s.site, ()):
                            inputs[w] = late(s, inputs[w])
                    if s.has("hidden"):
                        inputs = [self.behind_front(x, s.hidden(x[:, self.front:], side, l)) for x in inputs]
                own = [s for s in acting if s.across != "only"]
                return self.attention(stack, b + "attention", l, inputs, side, side, mask, own)
            x = part(x, b + "norm1", "attention", l, mix)
            if crossing:
                memory, source = crossing
                unseen = source.pad if source.pad is not None else torch.zeros_like(source.token, dtype=torch.bool)
                seen = (~unseen)[:, None, :].expand(-1, side.T, -1)
                over = [s for s in acting if s.across]
                x = part(x, b + "norm_cross", "cross", l, lambda y: self.attention(
                    stack, b + "cross", l, [y, memory, memory], side, source, seen, over))

            def mlp(y):
                for s in acting:
                    if s.has("carry") and any(s.acts(k) for k in range(l + 1, stack.layers)):
                        s.carry(y[:, self.front:], l)
                return self.linear(act(self.linear(y, b + "mlp.up")), b + "mlp.down")
            act = ACTIVATIONS[m["activation"]]
            x = part(x, b + "norm2", "mlp", l, mlp)
        return x if after else self.norm(x, stack.at + "norm")

    def behind_front(self, x, new):
        return new if not self.front else torch.cat([x[:, :self.front], new], 1)

    def forward(self, batch):
        if isinstance(batch, torch.Tensor):
            batch = {"token": batch}
        self.__dict__["_named"] = dict(self.named_parameters())
        m, like = self.options, next(self.parameters())
        batch = {k: v.to(like.device) for k, v in batch.items()}
        batch["class_id"] = len(self.weight("token.weight")) if self.weight("token.weight") is not None else 0
        side = Side(batch, like, class_first=self.class_first)
        crossing = None
        if "encoder." in self.stacks:
            source = Side(batch, like, source=True)
            crossing = self.stack_forward(self.stacks["encoder."], batch, source), source
        x = self.stack_forward(self.stacks[""], batch, side, crossing)
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


def gated(f):
    def act(y):
        g, v = y.chunk(2, -1)
        return f(g) * v
    return act


ACTIVATIONS = {"gelu": F.gelu, "relu": F.relu, "gelu_tanh": lambda y: F.gelu(y, approximate="tanh"),
               "swiglu": gated(F.silu), "geglu": gated(F.gelu)}


def added(a, b):
    return b if a is None else a if b is None else a + b


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


def loss_of(out, batch, targets=None, rows=None):
    """The mean loss over the targets that are not -1, and over rows with classes. With the numbers of targets and of
    rows of a whole batch, the part of its loss that these rows have."""
    logits, classes = out if isinstance(out, tuple) else (out, None)
    total = 0
    if logits.dim() == 3:
        truth = batch["target"].to(logits.device).long().flatten()
        n = int((truth >= 0).sum()) if targets is None else targets
        total = F.cross_entropy(logits.flatten(0, 1), truth, ignore_index=-1, reduction="sum") / n
    else:
        classes = logits
    if classes is not None:
        label = batch["label"].to(classes.device).long()
        total = total + F.cross_entropy(classes, label, reduction="sum") / (len(label) if rows is None else rows)
    return total


def part_of(tensors, prefix):
    return {n[len(prefix):]: t for n, t in tensors.items() if n.startswith(prefix)}


def load(path, dtype=torch.float32):
    """The trained model of an exported file or of a cell's folder, in evaluation mode."""
    tensors, config, resolved, meta = read_cell(path)
    model = Model({n: t.to(dtype) for n, t in tensors.items() if not n.startswith("batch.")}, config, resolved)
    model.step = int(meta["peat_step"])
    return model


# ---- check ----

def apart(ours, theirs):
    """The largest difference, relative to the largest number where that is above 1."""
    if ours.shape != theirs.shape:
        return math.inf
    if not ours.numel():
        return 0.0
    return float((ours - theirs).abs().max() / max(1.0, float(theirs.abs().max())))


def differences(path):
    """What this module makes of the first batch of an exported file, against what PEAT did: {what: difference}."""
    tensors, config, resolved, meta = read_cell(path)
    kept = part_of(tensors, "batch.")
    if not kept:
        raise Refused(f"'{path}' has no batch: `peat export DIR CELL --batch -o FILE` writes one")
    model = Model({n: t.double() for n, t in tensors.items() if not n.startswith("batch.")}, config, resolved)
    found = {}

    def compare(name, batch):
        out = model(batch)
        logits = out if isinstance(out, tuple) else (out,)
        for word, ours in zip(("logits", "classes"), logits):
            found[f"{name} {word}"] = apart(ours.detach().reshape(batch[word].shape), batch[word])
        return out
    model.train()
    model.step = 1
    batch = part_of(kept, "train.")
    loss = loss_of(compare("training", batch), batch)
    found["loss"] = apart(loss.detach().reshape(1), batch["loss"])
    loss.backward()
    of = part_of(kept, "grad.")
    for name, w in model.named_parameters():
        if name in of:
            ours = torch.zeros_like(of[name]) if w.grad is None else w.grad
            found["gradient of " + name] = apart(ours, of[name])
    model.eval()
    model.step = int(meta["peat_step"])
    with torch.no_grad():
        compare("evaluation", part_of(kept, "valid."))
    return found


class Peat:
    """The program, for a cell in its folder of a run directory."""

    def __init__(self, program, folder):
        self.program, folder = program, os.path.abspath(folder)
        self.run, self.id = os.path.dirname(os.path.dirname(folder)), os.path.basename(folder)
        if not os.path.exists(os.path.join(folder, "config.json")):
            raise Refused(f"'{folder}' is not the folder of a cell, runs/NAME/cells/ID; `peat plan EXP --write` makes it")

    def __call__(self, verb, *words):
        try:
            done = subprocess.run([self.program, verb, self.run, self.id, *words], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True)
        except OSError as e:
            raise Refused(f"cannot run '{self.program}': {e.strerror}; --peat names the program") from None
        if done.returncode:
            raise Refused(f"peat {verb}: {done.stderr.strip().removeprefix('peat: ')}")

    def export(self, *words):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.safetensors")
            self("export", *words, "-o", path)
            return read_tensors(path)


# ---- training ----

def rate(train, t):
    """The learning rate of step t."""
    warmup, steps, kind = train["warmup"], train["steps"], train["schedule"]
    if t <= warmup:
        return train["lr"] * t / warmup
    if kind == "constant":
        return train["lr"]
    flat = warmup
    if kind == "wsd":
        flat = max(warmup, steps - max(1, math.floor(train["decay"] * steps + 0.5)))
        if t <= flat:
            return train["lr"]
    x = (t - flat) / (steps - flat)
    h = (1 + math.cos(math.pi * x)) / 2 if kind == "cosine" else 1 - x
    return train["lr"] * (train["lr_min"] + (1 - train["lr_min"]) * h)


class Training:
    """A cell's training from its start. `rank` of `world` processes has its share of the rows of each batch."""

    def __init__(self, tensors, meta, device="cpu", dtype=torch.float32, rank=0, world=1):
        self.config, how = json.loads(meta["peat_config"]), json.loads(meta.get("peat_training", "null"))
        if how is None or meta["peat_step"] != "0":
            raise Refused("the weights are not those of a start: `peat export --start` writes them")
        self.train, self.rank, self.world, self.device = self.config["train"], rank, world, torch.device(device)
        if self.train.get("patience"):
            raise Refused("train.patience stops by evaluations, which PEAT does alone")
        self.model = Model({n: t.to(device, dtype, copy=True) for n, t in tensors.items()}, self.config,
                           json.loads(meta["peat_resolved"])).train()
        self.named, self.bounds = {}, []
        groups = {True: [], False: []}
        for name, w in self.model.named_parameters():
            w.requires_grad_(not how[name]["frozen"])
            if w.requires_grad:
                self.named[name] = w
                groups[how[name]["decay"]].append(w)
                if "bounds" in how[name]:
                    self.bounds.append((w, *how[name]["bounds"]))
        t = self.train
        self.adamw = torch.optim.AdamW(
            [{"params": p, "weight_decay": t["weight_decay"] if decay else 0.0} for decay, p in groups.items() if p],
            lr=t["lr"], betas=(t["beta1"], t["beta2"]), eps=t["eps"])
        self.rounds = t.get("precision") == "bf16" and dtype == torch.float32
        self.first_loss = self.last_loss = None
        self.done = self.above = 0
        self.diverged, self.curve, self.times = None, [], []

    def share(self, batch):
        """This process's rows, and the number of the first."""
        B = len(batch["sequence"])
        if B < self.world:
            raise Refused(f"a batch has {B} rows, and there are {self.world} processes")
        a, b = B * self.rank // self.world, B * (self.rank + 1) // self.world
        return {n: x[:, a:b] if n == "pos" else x[a:b] for n, x in batch.items()}, a

    def step(self, batch):
        """One step; the loss of the whole batch and the norm of its gradient."""
        t, m = self.done + 1, self.model
        targets = int((batch["target"] >= 0).sum()) if "target" in batch else None
        rows, m.step = len(batch["sequence"]), t
        mine, m.first_row = self.share(batch)
        self.adamw.zero_grad(set_to_none=True)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.rounds):
            loss = loss_of(m({n: x.to(self.device) for n, x in mine.items()}), mine, targets, rows)
        loss.backward()
        loss = loss.detach()
        for w in self.named.values():
            w.grad = torch.zeros_like(w) if w.grad is None else w.grad
        if self.world > 1:
            for x in (loss, *(w.grad for w in self.named.values())):
                torch.distributed.all_reduce(x)
        clip = self.train["clip"] or math.inf
        norm = float(torch.nn.utils.clip_grad_norm_(list(self.named.values()), clip))
        loss, self.done = float(loss), t
        if self.diverges(t, loss, norm):
            return loss, norm
        for group in self.adamw.param_groups:
            group["lr"] = rate(self.train, t)
        self.adamw.step()
        with torch.no_grad():
            for w, low, high in self.bounds:
                w.clamp_(low, high)
        return loss, norm

    def diverges(self, t, loss, norm):
        """Whether the run ends here, as docs/checkpoint.md says; then without an update."""
        if not math.isfinite(loss) or not math.isfinite(norm):
            self.diverged = f"{'gradient' if math.isfinite(loss) else 'loss'} is not finite at step {t}"
        else:
            self.first_loss = loss if t == 1 else self.first_loss
            self.above = self.above + 1 if loss > self.first_loss + 2 else 0
            if self.above >= 50:
                self.diverged = f"loss stayed more than 2 nats above the first for 50 steps, until step {t}"
        return self.diverged is not None and self.above < 50

    def note(self, loss, norm, seconds):
        t = self.done
        self.last_loss = loss
        self.times.append(1e3 * seconds)
        if t == 1 or t % 10 == 0 or t == self.train["steps"] or self.diverged:
            self.curve.append([t, *(x if math.isfinite(x) else None for x in (loss, rate(self.train, t), norm))])

    KEPT = ("first_loss", "last_loss", "done", "above", "curve", "times")

    def save(self, path):
        """Numbers are JSON: PyTorch 1.13 loads no float but in a tensor, unless it runs a pickle."""
        facts = {"hash": self.config["hash"], **{k: getattr(self, k) for k in self.KEPT}}
        state = {"model": self.model.state_dict(), "moments": self.adamw.state_dict()["state"], "facts": json.dumps(facts)}
        torch.save(state, path + ".tmp")
        os.replace(path + ".tmp", path)

    def restore(self, path):
        try:
            state = torch.load(path, map_location=self.device, weights_only=True)
            facts = json.loads(state["facts"])
            theirs = facts["hash"]
        except Exception as e:
            raise Refused(f"'{path}' is not a whole checkpoint of peat.torch ({type(e).__name__})") from None
        if theirs != self.config["hash"]:
            raise Refused(f"'{path}' is the checkpoint of another cell")
        self.model.load_state_dict(state["model"])
        self.adamw.load_state_dict(dict(self.adamw.state_dict(), state=state["moments"]))
        for k in self.KEPT:
            setattr(self, k, facts[k])

    def write(self, path):
        """The file that `peat cell --trained` reads."""
        kept = {n: w for n, w in self.model.named_parameters()}
        for name, w in self.named.items():
            state = self.adamw.state.get(w)
            kept["opt.v." + name] = state["exp_avg_sq"] if state else torch.zeros_like(w)
        where = torch.cuda.get_device_name(self.device) if self.device.type == "cuda" else self.device.type
        words = [f"PyTorch {torch.__version__}", where]
        words += ["float64"] if next(self.model.parameters()).dtype == F64 else ["bf16"] if self.rounds else []
        words += [f"{self.world} processes"] if self.world > 1 else []
        times = sorted(self.times[3:] or self.times)
        facts = {"by": ", ".join(words), "steps": self.done, "seconds": sum(self.times) / 1e3,
                 "median_step_ms": times[len(times) // 2], "first_loss": self.first_loss,
                 "last_loss": self.last_loss, "curve": self.curve}
        if self.diverged:
            facts.update(diverged=self.done, what=self.diverged)
        write_tensors(path, kept, {"peat_hash": self.config["hash"], "peat_trained": json.dumps(facts)})


class Feed:
    """Batches of training steps, from files of `peat export --feed` or from the program, a few steps at a time."""

    def __init__(self, config, files=(), peat=None):
        self.files, self.peat, self.last, self.kept = list(files), peat, config["train"]["steps"], {}
        rows = config["train"]["batch"] * config["train"]["seq_len"]
        self.at_once = max(1, min(500, 4_000_000 // rows))

    def batch(self, t):
        prefix = f"{t}."
        if not any(n.startswith(prefix) for n in self.kept):
            self.kept = self._read(t)
        found = part_of(self.kept, prefix)
        if not found:
            raise Refused(f"no file of --feed has the batch of step {t}")
        return found

    def _read(self, t):
        if self.peat:
            return self.peat.export("--feed", f"{t}-{min(self.last, t + self.at_once - 1)}")[0]
        for path in self.files:
            tensors, _ = read_tensors(path)
            if any(n.startswith(f"{t}.") for n in tensors):
                return tensors
        return {}


def processes():
    """(rank, world, device index) under torchrun."""
    return tuple(int(os.environ.get(k, d)) for k, d in (("RANK", 0), ("WORLD_SIZE", 1), ("LOCAL_RANK", 0)))


def run_train(options):
    rank, world, local = processes()
    device = f"cuda:{local}" if options.device == "cuda" else options.device
    peat = Peat(options.peat, options.path) if os.path.isdir(options.path) else None
    if not peat and not (options.feed and options.output):
        raise Refused("a file of `peat export --start` needs --feed FILE... and -o FILE")
    if world > 1:
        torch.distributed.init_process_group("nccl" if options.device == "cuda" else "gloo")
    tensors, meta = peat.export("--start") if peat else read_tensors(options.path)
    x = Training(tensors, meta, device, getattr(torch, options.dtype), rank, world)
    if options.checkpoint and os.path.exists(options.checkpoint):
        x.restore(options.checkpoint)
    feed = Feed(x.config, options.feed or (), peat)
    while x.done < x.train["steps"] and not x.diverged:
        batch = feed.batch(x.done + 1)
        start = time.perf_counter()
        loss, norm = x.step(batch)
        x.note(loss, norm, time.perf_counter() - start)
        if rank == 0 and x.done % options.every == 0:
            print(f"step {x.done} of {x.train['steps']}: loss {loss:.4f}", file=sys.stderr)
            if options.checkpoint:
                x.save(options.checkpoint)
    if rank == 0:
        finish(x, peat, options.output)
    if world > 1:
        torch.distributed.destroy_process_group()


def finish(x, peat, output):
    with tempfile.TemporaryDirectory() as folder:
        path = output or os.path.join(folder, "trained.safetensors")
        x.write(path)
        if peat:
            peat("cell", "--trained", path)


def run_steps(options):
    """The first steps in double precision, beside PEAT's: the largest differences of losses, norms and weights."""
    peat = Peat(options.peat, options.path[0])
    tensors, meta = peat.export("--start")
    theirs, _ = peat.export("--steps", str(options.steps))
    x = Training(tensors, meta, dtype=F64)
    feed = Feed(x.config, peat=peat)
    seen = [x.step(feed.batch(t + 1)) for t in range(options.steps)]
    found = {"loss": apart(torch.tensor([a for a, _ in seen], dtype=F64), theirs["steps.loss"]),
             "norm of the gradient": apart(torch.tensor([b for _, b in seen], dtype=F64), theirs["steps.grad_norm"])}
    for name, w in x.model.named_parameters():
        found[name] = apart(w.detach(), theirs[name])
    return found


def files_of(paths):
    for path in paths:
        if os.path.isdir(path) and not os.path.exists(os.path.join(path, "config.json")):
            yield from sorted(os.path.join(path, n) for n in os.listdir(path) if n.endswith(".safetensors"))
        else:
            yield path


def run_check(options):
    failed = n = 0
    tolerance = options.tolerance or (1e-6 if options.steps else 1e-9)
    if options.steps and len(options.path) != 1:
        raise Refused("--steps is for the folder of one cell")
    for path in options.path if options.steps else files_of(options.path):
        found = run_steps(options) if options.steps else differences(path)
        what, worst = max(found.items(), key=lambda x: x[1] if x[1] == x[1] else math.inf)
        bad = not worst <= tolerance
        failed, n = failed + bad, n + 1
        print(f"{path}: {'differs' if bad else 'agrees'}: {len(found)} comparisons, at most {worst:.1e} ({what})")
    if not n:
        raise Refused("no file was found")
    if failed:
        sys.exit(f"peat.torch: {failed} of {n} cells differ by more than {tolerance:g}")


def parser():
    p = argparse.ArgumentParser(prog="python3 -m peat.torch", description="Cells of PEAT in PyTorch.")
    verbs = p.add_subparsers(dest="verb", required=True)
    check = verbs.add_parser("check", help="compare files of `peat export --batch` with what PyTorch computes")
    check.add_argument("path", nargs="+", help="a file, or a folder of files")
    check.add_argument("--steps", type=int, default=0, metavar="N",
                       help="of a cell's folder: train its first N steps in double precision beside PEAT")
    check.add_argument("--tolerance", type=float, help="largest difference (default: 1e-9; with --steps 1e-6)")
    check.set_defaults(run=run_check)
    train = verbs.add_parser("train", help="train a cell, whose result PEAT then evaluates and writes", description="""
        Trains the cell in the folder PATH of a run directory (`peat plan EXP --write` makes it, planned) from the
        weights and with the batches that PEAT gives, then has PEAT evaluate it and write its result. Under torchrun
        processes share the rows of a batch. Where there is no peat, PATH is a file of `peat export --start`, with
        files of `peat export --feed I-J`; `peat cell DIR ID --trained FILE` then reads what -o wrote.""")
    train.add_argument("path", help="the folder of a cell, or a file of `peat export --start`")
    train.add_argument("--device", default="cpu", help="cpu or cuda (default: cpu)")
    train.add_argument("--dtype", choices=("float32", "float64"), default="float32", help="(default: float32)")
    train.add_argument("--feed", nargs="+", metavar="FILE", help="batches, with a file as PATH")
    train.add_argument("-o", "--output", metavar="FILE", help="keep what was trained")
    train.add_argument("--checkpoint", metavar="FILE", help="save here, and go on from here")
    train.add_argument("--every", type=int, default=500, metavar="K", help="steps between these (default: 500)")
    train.set_defaults(run=run_train)
    for one in (check, train):
        one.add_argument("--peat", default=os.environ.get("PEAT", "peat"), metavar="PROGRAM",
                         help="the program (default: $PEAT, or peat)")
    return p


def main(argument=None):
    options = parser().parse_args(argument)
    try:
        options.run(options)
    except (Refused, OSError) as e:
        sys.exit(f"peat.torch: {e}")


if __name__ == "__main__":
    main()
