#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""recompute_claims.py: every verdict again from the csv files, by NumPy and SciPy alone.

    recompute_claims.py SOURCE              all claims that pages of experiments/ print
    recompute_claims.py RUN TABLE.csv SAID  those of a run directory; SAID is what peat results printed
    recompute_claims.py FAMILY.csv          Holm over the claims of several runs, as --family printed them

It reads what was claimed (claims.json) and what was chosen how (plan.json), chooses the values of best_over, pairs
the values of the csv file by seed, tests, adjusts by Holm, and compares verdict, effect, interval, p and n with what
was printed. Claims over seeds and text also need the cells' losses in stretches of the test text (result.json). It
shares no code with the program.
"""
import collections
import csv
import io
import json
import pathlib
import re
import sys
import tarfile

import numpy
from scipy import stats


# ---- what there is ----

class Run:
    def __init__(self, plan, claims, table, results):
        """plan.json and claims.json as they are, the lines of the csv file, and result.json of the cells."""
        self.claims = claims["versions"][-1]["claims"]
        self.stretches = {(result["hash"], at["length"]): (numpy.array(at["nll"]), numpy.array(at["targets"]))
                          for result in results for at in result.get("test_stretches", [])}
        chosen = plan["report"].get("best_over") or {"axes": [], "choose": []}
        names = [axis["key"] for axis in plan["axes"]]
        self.over, self.choose = chosen["axes"], {str(seed) for seed in chosen["choose"]}
        self.at = chosen.get("at") or {}
        self.axes = [name for name in names if name not in self.over]
        self.lines = [{"split": "valid", **{name: line[self.column(name)] for name in names}, **line}
                      for line in table if line["status"] == "done" and line["value"]]
        self.reported = "test" if any(line["split"] == "test" for line in self.lines) else "valid"
        if any(line["status"] == "diverged" and line["seed"] not in self.choose for line in table):
            sys.exit("a reported cell diverged: such claims are not recomputed here")
        self.best = self.choice(chosen.get("length"), chosen.get("metric") or plan["report"]["metric"])

    @staticmethod
    def column(axis):
        """Of an axis in the csv file."""
        return {"position.scheme": "scheme", "position.combine": "combine"}.get(axis, axis)

    def row(self, line):
        return tuple(line[axis] for axis in self.axes)

    def chooser(self, line):
        """The row whose choice this line has; with best_over.at, rows that differ on its axes share one."""
        return tuple(line[axis] for axis in self.axes if axis not in self.at)

    def choice(self, length, metric):
        """For each row the values whose mean validation over the seeds for choosing is least."""
        tried = collections.defaultdict(lambda: collections.defaultdict(list))
        for line in self.lines:
            if (line["split"] == "valid" and line["seed"] in self.choose and length in (None, int(line["length"]))
                    and metric == line["metric"] and all(line[axis] == of for axis, of in self.at.items())):
                value = tuple(line[axis] for axis in self.over)
                tried[self.chooser(line)][value].append(float(line["value"]))
        return {row: min(of, key=lambda v: numpy.mean(of[v])) for row, of in tried.items()}

    def values(self, metric, length, of=lambda line: float(line["value"])):
        """By row and seed, at one length; without one, at the first. Of each line, its value or another number."""
        lines = [line for line in self.lines if line["split"] == self.reported and line["metric"] == metric
                 and line["seed"] not in self.choose]
        length = length or min(int(line["length"]) for line in lines)
        by_row = collections.defaultdict(dict)
        for line in lines:
            if int(line["length"]) == length and (not self.over or self.best[self.chooser(line)] == tuple(
                    line[axis] for axis in self.over)):
                by_row[self.row(line)][line["seed"]] = of(line)
        return by_row

    def by_stretch(self, line):
        """[J]: the value in each stretch; the metric is a multiple of the loss."""
        nll, targets = self.stretches[line["config_sha256"], int(line["length"])]
        return float(line["value"]) * targets.sum() / nll.sum() * nll / targets

    def shares(self):
        """[J]: the share of each stretch of the targets, which are the same in all cells."""
        (_, targets), *others = self.stretches.values()
        assert all((other == targets).all() for _, other in others)
        return targets / targets.sum()


# ---- differences ----

def fits(axis, label, wanted):
    nothing = axis == "position.combine" and "-" in (label, wanted)
    return nothing or label == wanted


def matches(run, row, labels):
    return all(any(fits(axis, row[run.axes.index(axis)], one) for one in (want if isinstance(want, list) else [want]))
               for axis, want in labels.items())


def pairs(run, claim, rows):
    """(stratum's labels, row of A, row of B)"""
    if "rows" in claim:
        side = [[row for row in rows if matches(run, row, labels)] for labels in claim["rows"]]
        assert all(len(of) == 1 for of in side), claim["name"]
        return [((), side[0][0], side[1][0])]
    at = run.axes.index(claim["factor"])
    rows = [row for row in rows if matches(run, row, claim.get("where", {}))]
    return [(x, x, y) for x in rows for y in rows if (x[at], y[at]) == tuple(claim["of"])
            and all(k == at or fits(run.axes[k], x[k], y[k]) for k in range(len(x)))]


def minus(values, x, y):
    return {seed: values[x][seed] - values[y][seed] for seed in values[x].keys() & values[y].keys()}


def mean_over(differences):
    """Of each seed that all have."""
    seeds = set.intersection(*(set(d) for d in differences))
    return {seed: numpy.mean([d[seed] for d in differences], axis=0) for seed in seeds}


def by_level(run, values, found, axis):
    levels = collections.defaultdict(list)
    for stratum, x, y in found:
        levels[stratum[run.axes.index(axis)]].append(minus(values, x, y))
    try:
        order = sorted(levels, key=float)
    except ValueError:
        order = list(levels)
    return {label: mean_over(levels[label]) for label in order}


def effects(run, claim, values):
    """The differences that the claim is about, each one number, or one row of stretches, for a seed; several of a
    monotone trend."""
    found = pairs(run, claim, list(values))
    change = claim.get("interaction") or claim.get("trend")
    if not change:
        return [list(mean_over([minus(values, x, y) for _, x, y in found]).values())]
    (axis, how), = change.items()
    levels = by_level(run, values, found, axis)
    if "interaction" in claim:
        a, b = (levels[label] for label in how)
        return [[a[seed] - b[seed] for seed in a.keys() & b.keys()]]
    steps, of = list(levels), list(levels.values())
    if how == "monotone":
        return [[y[seed] - x[seed] for seed in x.keys() & y.keys()] for x, y in zip(of, of[1:])]
    x = {"order": lambda: numpy.arange(len(steps)), "value": lambda: numpy.array(steps, float),
         "log2": lambda: numpy.log2(numpy.array(steps, float))}[how]()
    seeds = set.intersection(*(set(d) for d in of))
    return [[numpy.polyfit(x, [d[seed] for d in of], 1)[0] for seed in seeds]]


# ---- tests ----

def sign_flip(d):
    """One-sided: the share of sign patterns whose sum is at least that of d."""
    d = numpy.asarray(d)
    signs = 1 - 2 * (numpy.arange(2 ** len(d))[:, None] >> numpy.arange(len(d)) & 1)
    return numpy.mean(signs @ d >= d.sum() - 1e-12 * abs(d).sum())


def above(test, d, limit):
    x = numpy.asarray(d) - limit
    if test == "t":
        return stats.ttest_1samp(x, 0, alternative="greater").pvalue
    return sign_flip(x) if test == "sign-flip" else stats.wilcoxon(x, alternative="greater", mode="exact").pvalue


def below(test, d, limit):
    return above(test, -numpy.asarray(d), -limit)


def crossed(d, share):
    """Standard error and degrees of freedom of the mean of d [S, J], seeds and stretches both random: the guide's V."""
    (S, J), seeds, mean = d.shape, d @ share, (d @ share).mean()
    stretches = d.mean(0) - mean
    rest = d - seeds[:, None] - stretches
    a = seeds.var(ddof=1) / S
    b = J / (J - 1) * (share ** 2 * stretches ** 2).sum()
    e = J / (J - 1) * (share ** 2 * rest ** 2).sum() / (S * (S - 1))
    if a + b - e < max(a, b):
        return max(a, b) ** 0.5, S - 1 if a >= b else J - 1
    return (a + b - e) ** 0.5, (a + b - e) ** 2 / (a ** 2 / (S - 1) + b ** 2 / (J - 1) + e ** 2 / ((S - 1) * (J - 1)))


def tested(claim, d, text):
    """p of the claim and of its opposite; text: (se, df) over seeds and text, whose p counts where it is larger."""
    def p(side, limit):
        alone = side(claim["test"], d, limit)
        if not text:
            return alone
        t = (numpy.mean(d) - limit) / text[0]
        return max(alone, stats.t.sf(t if side is above else -t, text[1]))
    margin = claim["margin"]
    if claim["direction"] == "less":
        return p(below, -margin), p(above, -margin)
    if claim["direction"] == "greater":
        return p(above, margin), p(below, margin)
    return max(p(above, -margin), p(below, margin)), min(1, 2 * min(p(above, margin), p(below, -margin)))


def holm(p):
    order, adjusted, least = numpy.argsort(p), numpy.empty(len(p)), 0.0
    for rank, i in enumerate(order):
        least = adjusted[i] = max(least, min(1.0, (len(p) - rank) * p[i]))
    return adjusted


def judged(run):
    """(name, verdict, mean, half width, p of the test that decided, n) of each claim."""
    shown, p, against = [], [], []
    for claim in run.claims:
        at = claim["metric"], claim.get("length")
        about = effects(run, claim, run.values(*at))
        texts = [None] * len(about)
        if claim.get("sampled") == "seeds_and_text":
            texts = [crossed(numpy.array(d), run.shares()) for d in effects(run, claim, run.values(*at, run.by_stretch))]
        each = [tested(claim, d, text) for d, text in zip(about, texts)]
        worst = max(range(len(about)), key=lambda i: each[i][0])
        p.append(each[worst][0])
        against.append(min(1, len(about) * min(q for _, q in each)) if len(about) > 1 else each[0][1])
        shown.append((about[worst], texts[worst]))
    for claim, (d, text), holds, fails in zip(run.claims, shown, holm(p), holm(against)):
        verdict = "holds" if holds < claim["alpha"] else "fails" if fails < claim["alpha"] else "undecided"
        half = stats.t.ppf(1 - claim["alpha"], len(d) - 1) * numpy.std(d, ddof=1) / len(d) ** 0.5
        if text:
            half = max(half, stats.t.ppf(1 - claim["alpha"], text[1]) * text[0])
        yield claim["name"], verdict, numpy.mean(d), half, fails if verdict == "fails" else holds, len(d)


# ---- what was printed ----

def printed(block):
    """The columns of a table of claims, by claim; a wide one is printed in parts."""
    of, head = collections.defaultdict(dict), None
    for line in block.splitlines():
        cells = re.split("  +", re.sub(r" +\*(?=  |$)", "", line).strip())
        if cells[0] == "claim":
            head = cells
        elif head and len(cells) == len(head):
            of[cells[0]].update(zip(head[1:], cells[1:]))
        else:
            head = None
    return of


def rounds(value, text):
    """The text is the value, rounded once, at its own last digit."""
    if "e" in text:
        return f"{value:.{len(text.partition('e')[0].partition('.')[2])}e}" == text.lstrip("+")
    return f"{value:+.{len(text.partition('.')[2])}f}" == ("" if text[0] in "+-" else "+") + text


def faults(name, run, block):
    """Sentences about what differs from the block."""
    said = printed(block)
    for claim, verdict, mean, half, p, n in judged(run):
        got = said[claim]
        if not {"verdict", "effect", "p_holm", "n"} <= got.keys():
            yield f"{name}: '{claim}' is not printed whole: {dict(got)}"
            continue
        effect, _, width = got["effect"].partition(" ± ")
        if re.split("[, ]", got["verdict"])[0] != verdict:
            yield f"{name}: '{claim}' is {verdict}, and the page says {got['verdict']}"
        if not (rounds(mean, effect) and rounds(half, width) and rounds(p, got["p_holm"]) and int(got["n"]) == n):
            yield f"{name}: '{claim}' is {mean} ± {half}, p {p}, n {n}, and the page says {got}"


# ---- all of them ----

def lines_of(path):
    with open(path) as file:
        return list(csv.DictReader(file))


def bundles(source):
    """By name of a run: its bundle and the lines of its csv file."""
    found = {}
    for bundle in sorted(source.glob("experiments/*/*.tar.xz")):
        with tarfile.open(bundle) as tar:
            name = pathlib.PurePath(tar.next().name).parts[0]
        found[name] = bundle, lines_of(str(bundle)[:-len(".tar.xz")] + ".csv")
    return found


def published(source):
    """(name, run, block) of every bundle with claims whose page prints them; claims may be about rows of further runs."""
    found = bundles(source)
    for name, (bundle, table) in found.items():
        with tarfile.open(bundle) as tar:
            files = {pathlib.PurePath(m.name).name: m.name for m in tar if m.name.count("/") == 1}
            if "claims.json" not in files:
                continue
            def read(name):
                return json.load(io.TextIOWrapper(tar.extractfile(name)))
            plan, claims = read(files["plan.json"]), read(files["claims.json"])
            texts = any(claim.get("sampled") == "seeds_and_text" for claim in claims["versions"][-1]["claims"])
            results = [read(m.name) for m in tar if texts and m.name.endswith("/result.json")]
        blocks = re.findall(r"\n```text \S+\.said\n\$ peat results runs/(\S+)([^\n]*) --part claims(?: --notes)?\n(.*?)\n```",
                            bundle.with_name("README.md").read_text(), re.S)
        beside, block = {of: (others, said) for of, others, said in blocks}.get(name, ("", ""))
        for other in re.findall(r"runs/(\S+)", beside):
            table = table + found[other][1]
        yield name, Run(plan, claims, table, results), block


def one_run(folder, table, said):
    plan, claims = (json.loads(pathlib.Path(folder, f).read_text()) for f in ("plan.json", "claims.json"))
    results = [json.loads(path.read_text()) for path in pathlib.Path(folder).glob("cells/*/result.json")]
    return [(folder, Run(plan, claims, lines_of(table), results), pathlib.Path(said).read_text())]


def check_family(lines):
    """Adjusted p and verdicts follow from the p of all lines."""
    for p, adjusted in (("p", "p_holm"), ("p_against", "p_against_holm")):
        numpy.testing.assert_allclose(holm([float(line[p]) for line in lines]),
                                      [float(line[adjusted]) for line in lines], rtol=1e-9)
    for line in lines:
        holds, fails = (float(line[p]) < float(line["alpha"]) for p in ("p_holm", "p_against_holm"))
        assert line["verdict"] == ("holds" if holds else "fails" if fails else "undecided"), line
    print(f"{len(lines)} claims of {len({line['run'] for line in lines})} runs")


def main():
    if sys.argv[1].endswith(".csv"):
        return check_family(lines_of(sys.argv[1]))
    runs = one_run(*sys.argv[1:4]) if len(sys.argv) == 4 else list(published(pathlib.Path(sys.argv[1])))
    wrong = [fault for name, run, block in runs for fault in faults(name, run, block)]
    count = sum(len(run.claims) for _, run, _ in runs)
    print("\n".join([*wrong, f"{count} claims of {len(runs)} runs"]))
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
