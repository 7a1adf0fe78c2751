# SPDX-License-Identifier: MIT
"""The sentences of the page: the best row of each group and length, how surely it is better, and the claims."""
from __future__ import annotations

from markupsafe import Markup

from ..numerals import count, finite, half_of, interval, p_value, plural, shown

NAMED = 4  # so many rows are named, the others counted


def bold(row) -> Markup:
    """"learned · sum" of a row or an entry of the summary."""
    axes = row["axes"]
    return Markup("<b>{}</b>").format(shown(" · ".join(x for x in axes.values() if x != "-") or "-"))


class Verdict:
    """What is said about the rows at one length. entries: those of the summary at this length."""

    def __init__(self, of, length):
        self.of, self.length = of, length
        self.entries = [row for row in of["rows"] if row["length"] == length]
        at = of["lengths"].index(length) if length in of["lengths"] else 0
        self.comparisons = of["comparisons"][at] if of["comparisons"] else 0
        self.needed = of["pairs_needed"][at] if of["pairs_needed"] else 0

    def best(self, group=0):
        return next((e for e in self.entries if e["group"] == group and e["leads"]), None)

    def baseline(self, row):
        return next((e for e in self.entries if e["row"] == row["baseline"]), None)

    def company(self, best) -> list:
        """The rows whose difference from the best may be chance."""
        return [e for e in self.entries if e["best"] and e is not best and e["group"] == best["group"]]

    def names(self, rows) -> Markup:
        more = f" and {len(rows) - NAMED} more" if len(rows) > NAMED else ""
        return Markup(", ").join(bold(row) for row in rows[:NAMED]) + more

    def tested(self, p, n, alone=False):
        needed = self.of["pairs_needed_alone"] if alone else self.needed
        return p_value(p) if not finite(p) or n >= needed else f"needs {needed} seeds"

    # ---- how surely ----

    def how_surely(self, best) -> Markup:
        one, company = best["n"] < 2, self.company(best)
        others = [e for e in self.entries if e is not best and e["group"] == best["group"]]
        said = [self._against_baseline(best, others)]
        if one:
            said.insert(0, "One seed: there is no interval, and differences between rows may be chance.")
        elif company:
            said.append(Markup("Not separable from it: {}.").format(self.names(company)))
        elif others:
            said.append("Every other row is separable from it.")
        return Markup(" ").join(filter(None, said))

    def _against_baseline(self, best, others):
        baseline = self.baseline(best)
        if not baseline:
            return f"It adds no stream, so that the baseline ({self.of['baseline']}) does not apply to it." \
                if self.of["baseline"] else ""
        if baseline is best:
            compared = [e for e in others if e["baseline"] == best["row"]]
            return "It is the baseline: no row is better." if len(compared) == len(others) \
                else f"It is the baseline of {len(compared)} of the {len(others)} other rows."
        if best["n_pairs"] < 2:
            return "" if best["n_pairs"] else Markup("Nothing pairs it with the baseline {}.").format(bold(baseline))
        apart = best["diff_ci_low"] > 0 or best["diff_ci_high"] < 0
        verb, has = ("is better than", "leaves out 0") if apart else ("cannot be distinguished from", "has 0 in it")
        return Markup("It {} the baseline {}: the 95&nbsp;% interval of the gain {}. {}").format(
            verb, bold(baseline), has, self._significance(best))

    def _significance(self, best):
        if finite(best["p_holm"]) and best["p_holm"] < 0.05:
            return "The gain is significant."
        if not best["can_be_significant"]:
            return (f"But {plural(best['n_pairs'], 'seed')} cannot make it significant among "
                    f"{plural(self.comparisons, 'comparison')}: that takes {self.needed} or more.")
        return "The gain is not significant."

    # ---- tiles and lines ----

    def tiles(self, best) -> list:
        """(value, what it is)"""
        found = [(mean_of(best), Markup("{}, mean and 95&nbsp;% interval over {} seeds").format(self.of["metric"], best["n"])
                  if best["n"] > 1 else f"{self.of['metric']}, one seed")]
        if finite(best["diff"]):
            found += [self._difference(best), self._p(best)]
        return found + [self._cost(best)]

    def _difference(self, best):
        baseline = self.baseline(best)
        part = abs(100 * best["diff"] / baseline["mean"]) if baseline and baseline["mean"] else None
        share = Markup("; {:.2g}&nbsp;% {}").format(part, "lower" if best["diff"] < 0 else "higher") if part else ""
        return difference_of(best), Markup("against {}, paired over {}{}").format(
            bold(baseline), plural(best["n_pairs"], "seed"), share)

    def _p(self, best):
        can, n = best["can_be_significant"], best["n_pairs"]
        text = Markup(self.of["test_name"])
        if self.comparisons > 1:
            text += f", Holm over {self.comparisons} comparisons; alone {self.tested(best['p'], n, alone=True)}"
        if not can and finite(best["p_t"]):
            text += f"; paired t, if differences are normal: {p_value(best['p_t_holm'])}"
        if finite(best["effect_gz"]):
            text += Markup("; effect size g<sub>z</sub> {:+.2f}").format(best["effect_gz"])
        return ("p = " if can else "") + self.tested(best["p_holm"], n), text

    def _cost(self, best):
        baseline = self.baseline(best)
        baseline = None if baseline is best else baseline

        def times(key, form):
            x, y = best[key], baseline and baseline[key]
            return form.format(x / y) if finite(x) and finite(y) and y else ""
        text = times("params", "{:.2f}× the baseline's; ")
        text += f"{count(best['flops_per_token'])} training FLOPs a token{times('flops_per_token', ' ({:.2f}×)')}"
        if finite(best.get("step_ms_median")):
            text += f", {best['step_ms_median']:.3g} ms a step{times('step_ms_median', ' ({:.2f}×)')}"
        return f"{count(best['params'])} parameters", text

    def line(self, best) -> list:
        """Cells of a line about a best row: the row, its mean, against the baseline, p, what is not separable from it."""
        cells = [bold(best), mean_of(best)]
        if self.of["baseline"]:
            cells += ["baseline" if best["row"] == best["baseline"] else difference_of(best),
                      self.tested(best["p_holm"], best["n_pairs"])]
        return cells + [self.names(self.company(best)) if best["n"] >= 2 else ""]


def groups_of(of) -> list:
    """Rows of one group are ranked with each other: of one task and, where sizes are an axis, of one size."""
    return sorted({row["group"] for row in of["rows"]})


def groups_headline(of) -> str:
    tasks = len({row["task"] for row in of["rows"]})
    if not of["within"]:
        return f"{tasks} tasks, each with a best row of its own"
    names = ", ".join(axis.rpartition(".")[2] for axis in of["within"])
    return f"Each {names}{' of each task' if tasks > 1 else ''} has a best row of its own"


def lines_of_groups(of, length) -> list:
    """A line for the best row of each group, at the length or the first at which the group was evaluated."""
    found = []
    for group in groups_of(of):
        lengths = [n for n in (length, *of["lengths"]) if Verdict(of, n).best(group)]
        found += [_line(of, lengths[0], group)] if lengths else []
    return found


def lines_of_lengths(of) -> list:
    return [_line(of, length) for length in of["lengths"] if Verdict(of, length).best()]


def _line(of, length, group=0):
    there = Verdict(of, length)
    return [length, *there.line(there.best(group))]


def mean_of(e) -> str:
    return interval(e["mean"], half_of(e["mean"], e["ci_high"]))


def difference_of(e) -> str:
    return interval(e["diff"], half_of(e["diff"], e["diff_ci_high"]), signed=True)


# ---- claims ----

def claim_sentence(v, claims: int, unit: str) -> str:
    """"a - b < 0: found -0.0575 ± 0.0086 bpb at 32 tokens over 4 seeds; p = 5.5e-04, Holm over 2 claims"."""
    text = v["says"]
    if not v["n"]:
        return text
    text += f": found {interval(v['effect'], half_of(v['effect'], v['ci_high']), signed=True)} {v['metric']}"
    text += f" {v['per']}" if v["per"] else ""
    if v["length"] is not None:
        text += f" at {v['length']} {unit}"
    text += f" over {plural(v['n'], 'seed')}"
    opposite = "for the opposite " if v["verdict"] == "fails" else ""
    if v["looks"]:
        text += f"; {opposite}p = {p_value(v['p_verdict'])}, level {p_value(v['level'])} at look {v['look']} of {v['looks']}"
    elif finite(v["p_holm"]):
        text += f"; {opposite}p = {p_value(v['p_verdict'])}" + (f", Holm over {claims} claims" if claims > 1 else "")
    return text


def claims_headline(claims) -> str:
    """What was written or changed too late; empty: nothing was."""
    if claims.get("changed_after_first_result") or claims.get("written_after_first_result"):
        return f"The claims were {claims['state']}."
    if claims.get("cells_started_before"):
        return f"The claims were written after {claims['cells_started_before']} of the cells were started."
    return "The plan was changed after the first step." if claims.get("plan_changed_after_first_step") else ""
