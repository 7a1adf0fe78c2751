# SPDX-License-Identifier: MIT
"""Movement, energy, rank, similarity and linearity of a table of positions; range and distance of a bias."""
from __future__ import annotations

import math

import numpy as np

LIMITS = (0.5, 0.1, 0.01)
SHIFTS = (1, 7, 64)
RANK_MOST = 2048
ROWS_LEAST = 8  # with fewer rows than twice the two columns of a block, least squares fits anything


def distances(rows):
    return [1 << k for k in range(16) if 1 << k < rows]


def share(part, whole):
    return float(part / whole) if whole > 0 else math.nan


def describe(table, k: int) -> dict:
    """Of one sheet. Angles rotate pairs of dimensions, so their cosines and sines are described."""
    x = table.values[k]
    if table.what == "bias":
        return bias(x.astype(float))
    if table.what == "angle":
        x = np.concatenate([np.cos(x.astype(float)), np.sin(x.astype(float))], 1).astype(np.float32)
    return stream(x)


def stream(x) -> dict:
    span, x = x.max(0).astype(float) - x.min(0), x.astype(float)
    mean, size = x.mean(0), np.linalg.norm(x, axis=1)
    rank = None
    if min(x.shape) <= RANK_MOST:
        value = np.linalg.svd(x - mean, compute_uv=False) ** 2
        rank = int(np.searchsorted(np.cumsum(value), 0.99 * value.sum())) + 1 if value.sum() > 0 else 0
    with np.errstate(invalid="ignore"):
        cosine = {k: float(((x[:-k] * x[k:]).sum(1) / (size[:-k] * size[k:])).mean()) for k in distances(len(x))}
    halves, pairs = linearity(x, True), linearity(x, False)
    best = sum(filter(math.isfinite, halves.values())) <= sum(filter(math.isfinite, pairs.values()))
    return {"dimensions": x.shape[1], "moving": {f"{limit:g}": int((span > limit).sum()) for limit in LIMITS},
            "constant": share(len(x) * (mean @ mean), (x ** 2).sum()), "rank": rank, "cosine": cosine,
            "residual": halves if best else pairs, "pairs": "halves" if best else "interleaved"}


def linearity(x, halves) -> dict:
    """For each shift k what x(p + k) = M_k x(p) leaves, with the best 2 x 2 block for each pair of dimensions."""
    n = x.shape[1] // 2
    order = np.stack([np.arange(n), n + np.arange(n)], 1) if halves else np.arange(2 * n).reshape(n, 2)
    out = {}
    for k in SHIFTS:
        if x.shape[1] < 2 or k + ROWS_LEAST > len(x):
            out[k] = math.nan
            continue
        left = whole = 0.0
        for pair in order:
            a, b = x[:-k, pair], x[k:, pair]
            left += ((b - a @ np.linalg.lstsq(a, b, rcond=1e-7)[0]) ** 2).sum()
            whole += (b ** 2).sum()
        out[k] = math.sqrt(share(left, whole)) if whole > 0 else math.nan
    return out


def bias(b) -> dict:
    """Of the keys j <= i, less each row's mean over them."""
    T = len(b)
    seen = np.tril(np.ones((T, T), bool))
    count = np.arange(1, T + 1)[:, None]
    c = np.where(seen, b - np.where(seen, b, 0.0).sum(1, keepdims=True) / count, 0.0)
    place = np.arange(T)
    f = np.array([(b[place[k:], place[k:] - k] - b[place[k:], place[k:]]).mean() for k in range(T)])
    fit = np.where(seen, f[np.clip(place[:, None] - place, 0, T - 1)], 0.0)
    fit = np.where(seen, fit - fit.sum(1, keepdims=True) / count, 0.0)
    rest = share(((c - fit) ** 2).sum(), (c ** 2).sum())
    last = {k: float(c[T - 1, T - 1 - k]) for k in [0, *distances(T)]}
    return {"low": float(c.min()), "high": float(c.max()), "distance_only": rest if math.isnan(rest) else max(0.0, 1 - rest),
            "last_row": last}


# ---- text ----

def page(table, name: str) -> str:
    out = []
    for k, s in enumerate(table.describe()):
        of = f" of {'head ' + str(k) if table.heads or table.batch > 1 else ''}" if len(table.values) > 1 or table.heads else ""
        rows, columns = table.values.shape[1:]
        out += [""] * (k > 0)
        out.append(f"{name}: {table.what}{of}, {rows} x {columns}" + (", as cosines and sines" if table.what == "angle" else ""))
        out += list(bias_lines(s) if table.what == "bias" else stream_lines(s))
    return "\n".join(out) + "\n"


def percent(x):
    return "-" if math.isnan(x) else f"{100 * x:.1f} %"


def series(title, values):
    yield f"  {title:<10}  k " + "".join(f"{k:8}" for k in values)
    yield " " * 16 + "".join("-".rjust(8) if math.isnan(x) else f"{x + 0.0:8.3f}" for x in values.values())


def stream_lines(s):
    first, *rest = s["moving"].items()
    yield (f"  moving    {first[1]} of {s['dimensions']} dimensions move by more than {first[0]}"
           + "".join(f", {n} by {limit}" for limit, n in rest))
    yield f"  constant  {percent(s['constant'])} of the energy is in one constant vector, the mean over positions"
    yield (f"  rank      not computed beyond {RANK_MOST}" if s["rank"] is None else
           f"  rank      {s['rank']} components hold 99 % of the variance about it")
    if s["cosine"]:
        yield from series("cosine", s["cosine"])
    known = [f"{x:.1e} (k = {k})" for k, x in s["residual"].items() if not math.isnan(x)]
    if not known:
        yield "  linear    unknown: too few positions"
        return
    yield f"  linear    x(p + k) = M_k x(p) leaves {', '.join(known)}"
    yield (" " * 12 + "with the best 2 x 2 block for each pair of dimensions "
           + ("(i, d/2 + i)" if s["pairs"] == "halves" else "(2i, 2i + 1)"))


def bias_lines(s):
    yield f"  range     {s['low']:.4g} to {s['high']:.4g}, less each row's mean over its keys j <= i"
    yield f"  distance  {percent(s['distance_only'])} of that is a function of i - j alone"
    yield from series("last row", s["last_row"])
