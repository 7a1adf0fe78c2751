# SPDX-License-Identifier: MIT
"""A grid of results and scipy's figures for it: writes results.json, which
tests/integration/test_result_numbers.c turns into a run directory and compares with every format.

Rows are there for a reason: ties, identical differences, no spread, two seeds, one, none, failures,
divergence, refused pairs, a bigger model."""
import json
import pathlib

import numpy
from scipy import stats

from statistics_formulas import holm, paired_t, sign_flip, t_quantile, wilcoxon

LENGTHS = (128, 256)
SEEDS = range(7)
random = numpy.random.Generator(numpy.random.PCG64(20240131))
COMMON = 0.2 * random.standard_normal(len(SEEDS))


def plain(mean, spread):
    return [[float(mean + at * 0.5 + COMMON[s] + spread * random.standard_normal()) for at in (0, 1)]
            for s in SEEDS]


BASE = plain(3.0, 0.02)
# scheme: for each seed a pair of values, a state in which there are none, or None: not in the plan.
ROWS = {
    "none": BASE,
    "alibi": plain(2.8, 0.02),
    "rotary": plain(2.95, 0.05),
    "ties": [[round(a * 4) / 4 + 0.25 * (-1) ** s for a in BASE[s]] for s in SEEDS],
    "same": BASE,
    "shift": [[a + 0.25 for a in BASE[s]] for s in SEEDS],
    "two": [*plain(2.9, 0.1)[:2], *[None] * 5],
    "one": [plain(2.7, 0.1)[0], *[None] * 6],
    "broken": ["crashed", "oom", "timeout", "failed", "crashed", "todo", "diverged"],
    "some": ["diverged", *plain(3.1, 0.1)[:4], "crashed", "stale"],
    "other": plain(2.9, 0.1),
    "wide": plain(2.85, 0.1),
}
HASHES = {"other": {"batch": "b2"}, "wide": {"init": "i2", "shapes": "s2"}}


def values(scheme, at):
    return {s: v[at] for s, v in enumerate(ROWS[scheme]) if isinstance(v, list)}


def summary(scheme, at):
    """Of one row at one length; p values by test, not yet adjusted."""
    own = values(scheme, at)
    x = numpy.array(list(own.values()))
    half = t_quantile(0.975, len(x) - 1) * stats.sem(x) if len(x) > 1 else numpy.nan
    out = {"scheme": scheme, "length": LENGTHS[at], "n": len(x),
           "mean": numpy.mean(x) if len(x) else numpy.nan,
           "sd": numpy.std(x, ddof=1) if len(x) > 1 else numpy.nan}
    out["ci_low"], out["ci_high"] = out["mean"] - half, out["mean"] + half
    base = values("none", at)
    refused = sum(s in base for s in own) if "batch" in HASHES.get(scheme, {}) else 0
    d = numpy.array([own[s] - base[s] for s in own if s in base and not refused])
    if scheme == "none":
        d, refused = d[:0], 0
    if len(d) > 1 and numpy.ptp(d) < 1e-12:
        d = numpy.full(len(d), numpy.mean(d))
    half = t_quantile(0.975, len(d) - 1) * numpy.std(d, ddof=1) / numpy.sqrt(len(d)) if len(d) > 1 else numpy.nan
    p_t, dz, gz = paired_t(d)
    out |= {"n_pairs": len(d), "pairs_refused": refused,
            "pairs_by_data": len(d) if "shapes" in HASHES.get(scheme, {}) else 0,
            "diff": numpy.mean(d) if len(d) else numpy.nan,
            "diff_sd": numpy.std(d, ddof=1) if len(d) > 1 else numpy.nan}
    out["diff_ci_low"], out["diff_ci_high"] = out["diff"] - half, out["diff"] + half
    out |= {"effect_dz": dz, "effect_gz": gz}
    none = len(d) == 0
    out["p"] = {"sign-flip": numpy.nan if none else sign_flip(d),
                "wilcoxon": numpy.nan if none else wilcoxon(d), "t": p_t}
    states = [v for v in ROWS[scheme] if isinstance(v, str)]
    out["failed"] = sum(s in ("crashed", "oom", "timeout", "failed") for s in states)
    for state, name in (("diverged", "diverged"), ("todo", "missing"), ("stale", "stale")):
        out[name] = states.count(state)
    return out


def json_ready(x):
    if isinstance(x, dict):
        return {k: json_ready(v) for k, v in x.items()}
    if isinstance(x, list):
        return [json_ready(v) for v in x]
    if isinstance(x, (float, numpy.floating)):
        return None if numpy.isnan(x) else float(x)
    return int(x) if isinstance(x, numpy.integer) else x


expected = [summary(scheme, at) for scheme in ROWS for at in (0, 1)]
for at in LENGTHS:
    rows = [r for r in expected if r["length"] == at]
    for r in rows:
        r["p_holm"] = {}
    for test in ("sign-flip", "wilcoxon", "t"):
        family = [r for r in rows if not numpy.isnan(r["p"][test])]
        adjusted = holm([r["p"][test] for r in family])
        for r in rows:
            r["p_holm"][test] = numpy.nan
        for r, p in zip(family, adjusted):
            r["p_holm"][test] = p
cells = []
for s in SEEDS:
    for scheme, by_seed in ROWS.items():
        v = by_seed[s]
        if v is None:
            continue
        cell = {"scheme": scheme, "seed": s, "state": v if isinstance(v, str) else "done",
                "values": v if isinstance(v, list) else None,
                "hashes": {"batch": "b1", "init": "i1", "shapes": "s1"} | HASHES.get(scheme, {})}
        cells.append(cell)
text = json.dumps(json_ready({"cells": cells, "expected": expected}), indent=None)
text = text.replace('{"scheme"', '\n{"scheme"').replace('"expected"', '\n"expected"')
pathlib.Path(__file__).with_name("results.json").write_text(text + "\n")
