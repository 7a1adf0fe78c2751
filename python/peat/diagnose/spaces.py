# SPDX-License-Identifier: MIT
"""How tokens and positions lie where they meet: their sizes and the cosine between them, the subspaces that they span,
and the dimensions that carry them."""
from __future__ import annotations

import math

import numpy as np
import scipy.linalg

from .. import draws
from .words import ratio

ENERGY = 0.99
DRAWS = 50
NO_ANGLES = {"angles": [], "mean": math.nan, "smallest": math.nan, "overlap": math.nan}

# ---- sizes ----


def unit_rows(x):
    """Rows scaled to length 1, without those of length 0."""
    x = x.astype(float)
    size = np.linalg.norm(x, axis=1, keepdims=True)
    return (x / np.where(size > 0, size, 1))[size[:, 0] > 0]


def put_sizes(t):
    cosine = np.array([]) if t.missing else unit_rows(t.token) @ unit_rows(t.position).T
    return {"token": t.token_size, "position": t.position_size, "ratio": ratio(t.token_size, t.position_size),
            "cosine": cosine.mean() if cosine.size else math.nan,
            "cosine_size": np.abs(cosine).mean() if cosine.size else math.nan}


def diagnose_sizes(s):
    t = s.tables
    if t.input_missing:
        return {"skipped": t.input_missing}
    now, start = put_sizes(t), put_sizes(s.tables_start)
    chance = math.exp(math.lgamma(s.D / 2) - math.lgamma(s.D / 2 + 0.5)) / math.sqrt(math.pi)
    before = "" if math.isnan(start["ratio"]) else f" ({start['ratio']:.3g} times before training)"
    between = "" if math.isnan(now["cosine"]) else (
        f"; the cosine between the two is {now['cosine']:+.3f} in the mean, its size {now['cosine_size']:.3f} "
        f"({chance:.3f} by chance)")
    return {**now, "chance": chance, "start": start, "left_out": t.missing,
            "summary": f"tokens are {now['ratio']:.3g} times as large as positions where they meet{before}{between}"}

# ---- subspaces ----


def subspace(x):
    """The basis [k, D] of the fewest principal axes that hold 99 % of a table's variance, and how the table fills it."""
    x = x.astype(float)
    mean = x.mean(0)
    value, vector = np.linalg.eigh((x - mean).T @ (x - mean) / len(x))
    value, vector = np.maximum(value, 0)[::-1], vector.T[::-1]
    total, constant = value.sum(), mean @ mean
    rank = 0 if total <= 0 else int(np.searchsorted(np.cumsum(value), ENERGY * total)) + 1
    p = value[value > 0] / total if total > 0 else np.array([])
    return vector[:rank], {"rows": len(x), "rank": rank, "effective": float(np.exp(-(p * np.log(p)).sum())) if rank else 0.0,
                           "constant": ratio(constant, constant + total)}


def angles_of(a, b):
    """Principal angles in degrees, ascending."""
    return np.degrees(scipy.linalg.subspace_angles(a.T, b.T))[::-1]


def angles_random(s, k_a, k_b):
    """Mean, smallest and overlap of `DRAWS` random subspaces: the span of normal vectors against the first axes."""
    large, small, found = max(k_a, k_b), min(k_a, k_b), []
    for i in range(DRAWS):
        x = draws.normal(draws.substream(draws.substream(s.stream, 1), i), np.arange(small * s.D)).reshape(small, s.D)
        angle = angles_of(np.eye(large, s.D), x)
        found.append((angle.mean(), angle.min(), (np.cos(np.radians(angle)) ** 2).mean()))
    mean, smallest, overlap = np.array(found).T
    low, high = np.quantile(mean, (0.05, 0.95))
    return {"mean": mean.mean(), "low": low, "high": high, "smallest": smallest.mean(), "overlap": overlap.mean()}


def put_spaces(s, t, now):
    spaces = {key: subspace(x) for key, x in (("token", t.token), ("position", t.position), ("sum", t.input))[:3 if now else 2]}
    (a, token), (b, position) = spaces["token"], spaces["position"]
    out = {key: numbers for key, (_, numbers) in spaces.items()} | NO_ANGLES
    if not len(a) or not len(b):
        return out | {"summary": "one of the two does not vary, so there are no angles"}
    angle, random = angles_of(a, b), angles_random(s, len(a), len(b))
    word = ("more apart than" if angle.mean() > random["high"] + 1e-5 else
            "nearer to each other than" if angle.mean() < random["low"] - 1e-5 else "as far apart as")
    return out | {"angles": angle, "mean": angle.mean(), "smallest": angle.min(),
                  "overlap": (np.cos(np.radians(angle)) ** 2).mean(), "random": random,
                  "summary": f"tokens span {token['rank']} and positions {position['rank']} of {s.D} dimensions, at "
                             f"{angle.mean():.1f} degrees in the mean: {word} random subspaces ({random['mean']:.1f})"}


def diagnose_subspaces(s):
    t = s.tables
    if t.missing:
        return {"skipped": t.missing}
    out = {"energy": ENERGY, **put_spaces(s, t, True)}
    if not s.tables_start.missing:
        out["start"] = put_spaces(s, s.tables_start, False)
        out["start"].pop("summary")
    return out

# ---- support ----


def ranks(x):
    """Equal numbers have the mean of their ranks."""
    _, index, count = np.unique(x, return_inverse=True, return_counts=True)
    return (np.cumsum(count) - (count - 1) / 2)[index]


def put_support(t):
    token, position = (x.astype(float).var(0) for x in (t.token, t.position))
    u, v = (x / x.sum() if x.sum() > 0 else x * math.nan for x in (token, position))
    varies = len(set(token)) > 1 and len(set(position)) > 1

    def count(x):
        held = np.cumsum(np.sort(x)[::-1])
        return int(np.searchsorted(held, 0.99 * held[-1])) + 1 if held[-1] > 0 else 0
    return {"disjoint": max(0.0, 1 - np.minimum(u, v).sum()),
            "disjoint_by_chance": 1 - np.minimum(u[:, None], v[None]).sum() / len(u),
            "correlation": np.corrcoef(ranks(token), ranks(position))[0, 1] if varies else math.nan,
            "token_dimensions": count(token), "position_dimensions": count(position)}, token, position


def losses(s):
    """The mean loss of the first two passes, and its change without dimensions of a part: {(part, begin, end): nats}."""
    windows, parts = slice(0, 2 * s.each), s.parts()[0]
    n = min(8, s.D)
    spans = [(0, s.D)] + [(s.D * i // n, s.D * (i + 1) // n) for i in range(n)]
    keys = [(part, *span) for part in ("token", "position") for span in spans]
    changed = []
    for part, begin, end in keys:
        x = parts["whole"][windows].copy()
        x[..., begin:end] -= parts[part][windows][..., begin:end]
        changed.append({"input": x})
    found = [np.nanmean(x["loss"]) for x in s.vary([{"input": parts["whole"][windows]}, *changed], "loss", windows)]
    return found[0], dict(zip(keys, np.array(found[1:]) - found[0])), spans


def diagnose_support(s):
    t = s.tables
    if t.missing:
        return {"skipped": t.missing}
    now, token, position = put_support(t)
    loss, change, spans = losses(s)
    changes = [{part: change[part, *span] for part in ("token", "position")} for span in spans]
    out = {**now, "token_variance": token, "position_variance": position, "loss": loss, "whole": changes[0],
           "blocks": [{"begin": begin, "end": end, **x} for (begin, end), x in zip(spans[1:], changes[1:])]}
    if not s.tables_start.missing:
        out["start"] = put_support(s.tables_start)[0]
    if math.isnan(now["disjoint"]):
        return out | {"summary": "one of the two does not vary, so there is no index"}
    alone = ": no dimension carries both" if now["disjoint"] > 0.999 else ""
    return out | {"summary": f"disjoint-support index {now['disjoint']:.2f} ({now['disjoint_by_chance']:.2f} by chance)"
                             f"{alone}; without positions at the input the loss changes by {changes[0]['position']:+.3g} "
                             f"nats, without tokens by {changes[0]['token']:+.3g}"}
