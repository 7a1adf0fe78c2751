#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""published_numbers.py: docs/findings.md and README's first answers say what experiments/*/*.csv say.

    published_numbers.py SOURCE

Each "effect ± half width" of findings.md is looked for in the runs that its line names, or else its
section: a difference of two reported rows, their mean over kinds of positions or over all runs of the line, or a
difference of two differences (of two kinds of positions, or at two sizes), computed here with its 90 % interval; or
a number in what pages print of the run. A verdict beside it must be that of a claim with this effect. README's
numbers must stand in findings.md.
"""
import collections
import csv
import itertools
import pathlib
import re
import statistics
import sys

T95 = {3: 2.353363, 5: 2.015048, 7: 1.894579, 9: 1.833113}  # Student's t by degrees of freedom
METRICS = ("bpb", "exact_match", "accuracy", "token_accuracy", "loss")  # of a file the first that it has
NOT_AXES = ("seed", "best_over", "train.lr", "rate", "metric", "split", "step", "value", "status", "params",
            "input_ratio_start", "input_ratio", "config_sha256")
NUMBER = re.compile(r"([+-]?)(\d+\.\d+) ± (\d+(?:\.\d+)?)")
VERDICT = re.compile(r"(holds|fails|undecided)[^|±]*?(?:\|[^|±]*?)?([+-]\d+\.\d+) ± (\d+\.\d+)")


def reported(path):
    """Values by seed of each row at each length."""
    rows = collections.defaultdict(dict)
    with open(path) as file:
        lines = list(csv.DictReader(file))
    metric = next(m for m in METRICS if any(line["metric"] == m for line in lines))
    part = "test" if any(line.get("split") == "test" for line in lines) else "valid"
    for line in lines:
        if (line["metric"] == metric and line.get("split", part) == part
                and line.get("best_over", "reported") == "reported"):
            row = tuple(v for k, v in line.items() if k not in NOT_AXES)
            rows[row][line["seed"]] = float(line["value"])
    return rows


def minus(a, b):
    return {seed: a[seed] - b[seed] for seed in a.keys() & b.keys()}


def effects(path):
    """(mean, half width) of every difference that a page may name."""
    rows, apart, later = reported(path), collections.defaultdict(list), collections.defaultdict(list)
    for x, y in itertools.permutations(rows, 2):
        difference = minus(rows[x], rows[y])
        yield interval(difference)
        if x[0] == y[0]:
            apart[x[1:], y[1:]].append(difference)
            if x[2:] == y[2:]:
                later[x[:2], y[:2]].append(difference)
    for same in apart.values():
        yield interval({s: statistics.mean(d[s] for d in same) for s in same[0]})
    for same in (*apart.values(), *later.values()):
        for d, e in itertools.permutations(same, 2):
            yield interval(minus(d, e))


def over_runs(paths):
    """(mean, half width) of the differences that all runs have, of each seed the mean over runs."""
    runs = [reported(path) for path in paths]
    for x, y in itertools.permutations(set.intersection(*map(set, runs)), 2):
        d = [minus(rows[x], rows[y]) for rows in runs]
        yield interval({s: statistics.mean(of[s] for of in d) for s in set.intersection(*map(set, d))})


def interval(difference):
    values = list(difference.values())
    if len(values) - 1 not in T95:
        return 0.0, 0.0
    half = T95[len(values) - 1] * statistics.stdev(values) / len(values) ** 0.5
    return statistics.mean(values), half


def places(text):
    return len(text.partition(".")[2])


def rounds(value, text):
    """The text is the value, rounded once."""
    return f"{value:+.{places(text)}f}".lstrip("+") == text.lstrip("+")


def said(numbers, mean, half):
    return any(rounds(m, mean) and rounds(h, half) for m, h in numbers)


def near(text, shorter):
    """The shorter text may be what the other was before it was rounded, rounded."""
    return abs(float(text) - float(shorter)) <= 0.501 * 10 ** -places(shorter)


class Run:
    def __init__(self, path):
        self.path, self.printed, self.claims, self.computed = path, [], [], None

    def read_block(self, block):
        """What a page prints of this run, between its fences."""
        verdicts = dict(re.findall(r"^(\S.*?)  +(holds|fails|undecided)", block, re.M))
        # Intervals over seeds and text, and trends: recompute_claims.py has checked what is printed.
        if re.search("^. peat diagnose|over seeds and test text for:|\nslope: |over_texts.py", block):
            self.printed += [(float(sign + mean), float(half)) for sign, mean, half in NUMBER.findall(block)]
        for line in block.splitlines():
            name, number = re.split("  +", line)[0], NUMBER.search(line)
            if name in verdicts and number:
                self.claims.append((verdicts[name], number[1] + number[2], number[3]))

    def has(self, number, half):
        if self.computed is None:
            self.computed = set(effects(self.path))
        return said([*self.printed, *self.computed], number, half)

    def judged(self, verdict, effect, half):
        return any(v == verdict and near(e, effect) and near(h, half) for v, e, h in self.claims)


def runs_of(source):
    runs = {}
    for path in (source / "experiments").glob("*/*.csv"):
        named = path.with_name("experiment.yaml" if path.stem == "results" else path.stem + ".yaml")
        name = re.search(r"^name: (\S+)", named.read_text(), re.M)[1] if named.exists() \
            else path.parent.name + "-" + path.stem
        runs[name] = Run(path)
    for page in (source / "experiments").glob("*/README.md"):
        for block in re.findall(r"\n```text \S+\.said\n(.*?)\n```", page.read_text(), re.S):
            runs[re.search(r"runs/([\w-]+)", block)[1]].read_block(block)
    return runs


def faults_of(section, runs):
    def named(text):
        return [runs[n] for n in re.findall(r"[\w-]+", text) if n in runs and re.search("(`|runs/)" + n, text)]
    for line in section.splitlines():
        own = named(line)
        of = own if line.startswith("|") and own else named(section)
        means = list(over_runs([run.path for run in own])) if len(own) > 1 else []
        for sign, mean, half in NUMBER.findall(line):
            if not any(run.has(sign + mean, half) for run in of) and not said(means, sign + mean, half):
                yield f"{sign}{mean} ± {half} is not in the runs that are named: {line}"
        judged = VERDICT.findall(line) if line.startswith("|") else []
        for verdict, effect, half in judged:
            if not any(run.judged(verdict, effect, half) for run in of):
                yield f"no claim with the effect {effect} ± {half} {verdict}: {line}"


def main():
    source = pathlib.Path(sys.argv[1])
    findings = re.sub(r"\n```.*?\n```", "", (source / "docs/findings.md").read_text(), flags=re.S)
    runs = runs_of(source)
    faults = [fault for section in findings.split("\n## ") for fault in faults_of(section, runs)]
    numbers = {(mean, half) for _, mean, half in NUMBER.findall(findings)}
    answers = (source / "README.md").read_text().split(" answers\n")[1].split("\n## ")[0]
    for answer in answers.split("\n* ")[1:]:
        said = NUMBER.findall(answer)
        faults += [f"README: {m} ± {h} is not in findings.md" for _, m, h in said if (m, h) not in numbers]
        if not said and "Not tested:" not in answer:
            faults.append(f"README: an answer without a number: {answer}")
    print("\n".join(faults))
    return 1 if faults or not numbers else 0


if __name__ == "__main__":
    sys.exit(main())
