# SPDX-License-Identifier: MIT
"""Can e_a + p_i be mistaken for e_b + p_j? A nearest-neighbour decoder of sums in noise.

It sees x = e_a + p_i + noise and answers with the nearest of all candidates. Candidates are measured again by
subtraction, so that equal sums have distance 0."""
from __future__ import annotations

import math

import numpy as np

from .. import draws

NOISES = (0.0, 0.1, 0.5)
BUDGET = 1 << 30  # comparisons
KINDS = ("token", "position", "both")  # what is wrong in an answer


class Decoder:
    """token, position: vectors [V, D] and [P, D] whose sums are the candidates; or rows [n, D] with their labels."""

    def __init__(self, s, token, position, labels=None):
        self.stream = draws.substream(s.stream, 104)
        self.token, self.position = token.astype(float), position.astype(float)
        self.a, self.i = np.divmod(np.arange(len(token) * len(position)), len(position))
        self.labels = labels or (self.a, self.i)
        self.sums = ((self.token - self.token.mean(0))[self.a] + (self.position - self.position.mean(0))[self.i])
        self.square = (self.sums ** 2).sum(1)
        n, variance = len(self.a), self.token.var(0).sum() + self.position.var(0).sum()
        self.spread, self.scale = math.sqrt(variance / token.shape[1]), math.sqrt(2 * variance)
        self.queries = n if labels else min(n, max(64, BUDGET // len(NOISES) // n))
        self.asked = np.arange(n)
        if self.queries < n:  # one of each equal part of all sums
            at = np.arange(self.queries) + draws.uniform(draws.substream(self.stream, 0), np.arange(self.queries))
            self.asked = np.minimum((at / self.queries * n).astype(int), n - 1)

    def noise(self, level, asked):
        key = draws.substream(draws.substream(self.stream, 1 + level), asked)
        x = draws.normal(key[:, None], np.arange(self.token.shape[1])) if NOISES[level] else 0.0
        return NOISES[level] * self.spread * x + np.zeros((len(asked), self.token.shape[1]))

    def answers(self, level):
        """For each query the length of its noise, and {kind: (distance, candidate)} of the nearest wrong answers."""
        chunk, found = max(1, (1 << 22) // len(self.a)), []
        for asked in np.split(self.asked, range(chunk, self.queries, chunk)):
            noise = self.noise(level, asked)
            score = self.square - 2 * (self.sums[asked] + noise) @ self.sums.T
            wrong_token, wrong_position = (label[asked, None] != label for label in self.labels)
            own = {"own": (np.sqrt((noise ** 2).sum(1)), asked)}
            for kind, fits in zip(KINDS, (wrong_token & ~wrong_position, ~wrong_token & wrong_position,
                                          wrong_token & wrong_position)):
                best = np.where(fits, score, math.inf).argmin(1)
                off = (self.token[self.a[asked]] - self.token[self.a[best]]) + (
                    self.position[self.i[asked]] - self.position[self.i[best]]) + noise
                own[kind] = (np.where(fits.any(1), np.sqrt((off ** 2).sum(1)), math.inf), best)
            found.append(own)
        return {key: tuple(np.concatenate(x) for x in zip(*(f[key] for f in found))) for key in found[0]}

    def decoded(self, level, answers):
        """Shares of the queries whose token, position and both are right: no wrong answer is as near."""
        own, token, position, both = (answers[key][0] for key in ("own", *KINDS))
        tolerance = 1e-6 * self.scale
        wrong_token, wrong_position = np.minimum(token, both), np.minimum(position, both)
        return {"noise": NOISES[level], "token": (np.minimum(own, position) + tolerance < wrong_token).mean(),
                "position": (np.minimum(own, token) + tolerance < wrong_position).mean(),
                "both": (own + tolerance < np.minimum(wrong_token, wrong_position)).mean()}

    def pairs(self, distance, near):
        """The eight nearest pairs that differ in both, each once: (distance, a, i, b, j)."""
        token, position, found = *self.labels, {}
        for q, d, b in zip(self.asked, distance, near):
            if math.isfinite(d):
                one, other = sorted([(token[q], position[q]), (token[b], position[b])])
                found.setdefault((*one, *other), d)
        return [(d, *pair) for pair, d in sorted(found.items(), key=lambda item: item[1])[:8]]


def distinct(t, most=2048):
    """The first inputs with different tokens or positions."""
    pairs = np.stack([t.input_token, t.input_position], 1)
    return np.sort(np.unique(pairs, axis=0, return_index=True)[1])[:most]


def diagnose_collisions(s):
    t = s.tables
    if t.missing and not len(t.position):
        return {"skipped": t.missing}
    rows = bool(t.missing or t.moving_token or t.moving_position)
    if rows:
        some = distinct(t)
        d = Decoder(s, t.input[some], np.zeros((1, s.D)), (t.input_token[some], t.input_position[some]))
    else:
        d = Decoder(s, t.token, t.position)
    answers = [d.answers(level) for level in range(len(NOISES))]
    decoded = [d.decoded(level, a) for level, a in enumerate(answers)]
    (token, _), (position, _), (both, near) = (answers[0][kind] for kind in KINDS)
    finite = both[np.isfinite(both)]

    def least(x):
        return x.min() / d.scale if np.isfinite(x.min()) and d.scale > 0 else math.nan
    exact, ids = int((finite <= 1e-6 * d.scale).sum()), (lambda a: a) if rows else (lambda a: t.token_id[a])
    texts = s.about.get("peat_tokens") or {}
    pairs = [{"token_a": ids(a), "text_a": texts[ids(a)] if texts else None, "position_a": i, "token_b": ids(b),
              "text_b": texts[ids(b)] if texts else None, "position_b": j,
              "distance": distance / d.scale if d.scale > 0 else math.nan} for distance, a, i, b, j in d.pairs(both, near)]
    return {"summary": f"a nearest-neighbour decoder gets {100 * decoded[0]['token']:.1f} % of the tokens and "
                       f"{100 * decoded[0]['position']:.1f} % of the positions right; {exact} of {d.queries} pairs fall on "
                       "another pair",
            "queries": d.queries, "exhaustive": d.queries == len(d.a), "exact": exact, "decoded": decoded,
            "near_token": least(token), "near_position": least(position),
            "near_mean": finite.mean() / d.scale if finite.size and d.scale > 0 else math.nan, "near_least": least(both),
            "pairs": pairs, "of": "rows of the windows" if rows else "all sums"}
