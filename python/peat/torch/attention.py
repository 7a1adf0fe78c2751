# SPDX-License-Identifier: MIT
"""Attention: projections, the hooks of schemes on groups of heads, and the softmax."""
from __future__ import annotations

import math

import torch
import torch.nn.functional as F

FUSED = getattr(F, "scaled_dot_product_attention", None)  # PyTorch 2


#: Arguments that differ between layers.
OF_LAYER = ("q", "k", "v", "x_q", "x_k", "layer", "state", *(f"{w}_{x}" for w in "Wb" for x in "qkv"))


def added(a, b):
    return b if a is None else a if b is None else a + b


class Group:
    """Heads [begin, end) on which the same schemes act, in one layer. `front` places before the sequence take part in
    attention, and schemes do not see them."""

    def __init__(self, model, name, layer, begin, end, parts, sides, inputs, mask):
        self.model, self.name, self.layer, self.begin, self.end = model, name, layer, begin, end
        self.parts, self.front, self.mask = parts, model.front, mask
        self.q_side, self.k_side = sides
        self.rows = {"x_q": inputs[0][:, self.front:], "x_k": inputs[1][:, self.front:]}

    def cut(self, x):
        return x[:, :, self.front:]

    def put(self, x, new):
        return new if not self.front else torch.cat([x[:, :, :self.front], new], 2)

    def cut_pairs(self, x):
        return None if x is None else x[..., self.front:, self.front:]

    def put_pairs(self, whole, new):
        f = self.front
        if not f:
            return new
        return torch.cat([whole[..., :f, :], torch.cat([whole[..., f:, :f], new], -1)], -2)

    def behind(self, x, q, k):
        """A term of pairs, 0 for what is in front."""
        if x is None or not self.front:
            return None if x is None else x.to(q.dtype)
        x = x.expand(*x.shape[:2], q.shape[2] - self.front, k.shape[2] - self.front)
        return F.pad(x.to(q.dtype), (self.front, 0, self.front, 0))

    def grown(self, seen, k, v):
        """What hooks of pairs see, keys and values: with those of the passes before, where the rows are the newest."""
        kept, at = self.q_side.kept, (self.name, self.begin)
        if kept is None or self.k_side.source:
            return seen, k, v
        self.k_side = self.q_side.so_far
        self.rows["x_k"] = kept.so_far((*at, "x_k"), self.rows["x_k"])
        k, v, before_k, before_v = (kept.so_far((*at, name), x, 2) for name, x in (
            ("k", k), ("v", v), ("projected k", seen["k"]), ("projected v", seen["v"])))
        return {"q": seen["q"], "k": before_k, "v": before_v}, k, v

    def projection(self, part, kind):
        """W_q, b_q and so on of these heads, for the formulas that name them."""
        m = self.model
        first = part * m.D + self.begin * m.C
        w, n = m.weight(f"{self.name}.qkv.{kind}"), (self.end - self.begin) * m.C
        return self.rows["x_q"].new_zeros(n) if w is None else w[first:first + n]

    def run(self, part, hook, **given):
        """The hook with what a call in attention has."""
        for i, of in enumerate("qkv"):
            given[f"W_{of}"] = lambda i=i: self.projection(i, "weight")
            given[f"b_{of}"] = lambda i=i: self.projection(i, "bias")
        if part.asks(hook, "q", "k", "v") or hook in ("logits", "softmax", "weights", "context"):
            given.setdefault("H", self.end - self.begin)
        return part.run(hook, self.q_side, self.k_side, self.layer, **self.rows, **given)

    # ---- hooks

    def turned(self, q, k, v):
        for part in self.parts:
            if part.has("qkv"):
                new = self.turned_by(part, self.cut(q), self.cut(k), self.cut(v))
                q, k, v = (self.put(x, y) for x, y in zip((q, k, v), new))
        return q, k, v

    def turned_by(self, part, q, k, v):
        a, b = part.dims or (0, q.shape[-1])
        new = tuple(self.run(part, "qkv", q=q[..., a:b], k=k[..., a:b], v=v))
        new = new if len(new) == 3 else (*new, v)
        if not part.dims:
            return new
        return *(torch.cat([x[..., :a], y, x[..., b:]], -1) for x, y in zip((q, k), new)), new[2]

    def differences(self, part):
        """bias_rel of every pair, [1|B, 1|H, Tq, Tk]; one number for each difference where positions are places."""
        pos, pos_k = part.pos(self.q_side), part.pos(self.k_side)
        Tq, Tk = pos.shape[-1], pos_k.shape[-1]
        if pos is self.q_side.places and pos_k is self.k_side.places:
            delta = torch.arange(1 - Tq, Tk, dtype=pos.dtype, device=pos.device)
            at = torch.arange(Tk, device=pos.device) - torch.arange(Tq, device=pos.device)[:, None] + Tq - 1
            return self.run(part, "bias_rel", delta=delta)[:, at][None]
        delta = pos_k[..., None, :] - pos[..., :, None]
        lead = delta.shape[:-3]
        made = self.run(part, "bias_rel", delta=delta.reshape(*lead, -1))
        return made.reshape(-1, *delta.shape[-3:]).transpose(0, 1)

    def of_heads(self, part, term):
        """The heads of the group, of a term of all heads of the scheme."""
        first = part.heads[0] if part.heads else 0
        return term if term.shape[1] in (1, self.end - self.begin) else term[:, self.begin - first:self.end - first]

    def bias(self, part, **seen):
        """The sum of bias and bias_rel; computed once for all layers where it is the same in all."""
        if not (part.has("bias") or part.has("bias_rel")):
            return None
        kept, key = self.q_side.own, (part, self.k_side)
        if key in kept:
            return self.of_heads(part, kept[key])
        term = self.differences(part) if part.has("bias_rel") else None
        term = added(term, self.run(part, "bias", **seen) if part.has("bias") else None).to(seen["q"].dtype)
        if not part.of_layer and not any(part.asks(h, *OF_LAYER) for h in ("bias_rel", "bias")):
            kept[key] = term
        return self.of_heads(part, term)

    # ---- the whole

    def forward(self, q, k, v):
        """[B, heads, Tq, C] of projected queries, keys and values."""
        seen = {"q": self.cut(q), "k": self.cut(k), "v": self.cut(v)}
        q, k, v = self.turned(q, k, v)
        seen, k, v = self.grown(seen, k, v)
        bias = score = None
        for part in self.parts:
            bias = added(bias, self.bias(part, **seen))
            if part.has("score_add"):
                score = added(score, self.of_heads(part, self.run(part, "score_add", **seen)))
        bias, score, scale = self.behind(bias, q, k), self.behind(score, q, k), self.scale(q.shape[-1])
        needed = any(part.has(h) for part in self.parts for h in ("logits", "softmax", "weights", "carry")) or any(
            part.asks("context", "W") for part in self.parts)
        W = None
        if FUSED and not needed:
            o = self.fused(q, k, v, added(bias, None if score is None else score * scale), scale)
        else:
            S = (q * scale) @ k.transpose(2, 3)
            W = self.weights(added(S, None if score is None else score * scale), bias, seen)
            o = W @ v
        for part in reversed(self.parts):
            if part.has("context"):
                o = self.put(o, self.run(part, "context", **seen, o=self.cut(o), W=self.cut_pairs(W)))
        return o

    def scale(self, width):
        s, C = self.model.options["attention"]["scale"], self.model.C
        if not isinstance(s, str):
            return float(s)
        if s != "auto":
            return 1.0 if s == "none" else 1 / math.sqrt(C)
        asked = {part.formula.constant("scale", None) for part in self.parts}
        if "one" in asked:
            return 1.0
        terms = 1 + sum(part.formula.constant("score_terms", 0) for part in self.parts)
        return 1 / math.sqrt(terms * (width if "own" in asked else C))

    def fused(self, q, k, v, bias, scale):
        """scaled_dot_product_attention divides by the root of the width; rows that see nothing become 0."""
        own = scale * math.sqrt(q.shape[-1])
        q = q if own == 1 else q * own
        if bias is None and self.q_side is self.k_side and self.q_side.only_causal:
            return FUSED(q, k, v, is_causal=True)
        any_key = None if self.k_side.pad is None else self.mask.any(-1, keepdim=True)
        mask = self.mask if any_key is None else self.mask | ~any_key
        if bias is not None:
            mask = bias.expand(*torch.broadcast_shapes(bias.shape, mask.shape)).masked_fill(~mask, -math.inf)
        o = FUSED(q, k, v, attn_mask=mask)
        return o if any_key is None else o * any_key

    def weights(self, S, bias, seen):
        own = self.cut_pairs(self.mask).to(S.dtype)
        for part in self.parts:
            if part.has("logits"):
                new = self.with_bias(part, "logits", self.cut_pairs(S), self.cut_pairs(bias), mask=own, **seen)
                S, bias = self.put_pairs(added(S, bias), new), None
        replaced = [part for part in self.parts if part.has("softmax")]
        if replaced:
            W = self.with_bias(replaced[0], "softmax", S, bias, mask=self.mask.to(S.dtype)) * self.mask
        else:
            S = added(S, bias).masked_fill(~self.mask, -math.inf)
            if self.k_side.pad is not None:  # a row may see nothing
                S = S.masked_fill(~self.mask.any(-1, keepdim=True), 0)
            W = S.softmax(-1)
            W = W if self.k_side.pad is None else W * self.mask
        for part in self.parts:
            if part.has("weights"):
                W = self.put_pairs(W, self.run(part, "weights", **seen, W=self.cut_pairs(W), mask=own)) * self.mask
            if part.has("carry"):
                part.seen = self.cut_pairs(W)
        return W

    def with_bias(self, part, hook, S, bias, **given):
        """The bias of other schemes is part of S, unless the function names it."""
        if part.asks(hook, "bias"):
            return self.run(part, hook, S=S, **({} if bias is None else {"bias": bias}), **given)
        return self.run(part, hook, S=added(S, bias), **given)


def groups(n_heads, parts):
    """Heads on which the same schemes act: (begin, end, schemes)."""
    def at(h):
        return [part for part in parts if not part.heads or part.heads[0] <= h <= part.heads[1]]
    begin = 0
    for h in range(1, n_heads + 1):
        if h == n_heads or at(h) != at(begin):
            yield begin, h, at(begin)
            begin = h
