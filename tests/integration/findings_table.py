#!/usr/bin/python3
# SPDX-License-Identifier: MIT
r"""findings_table.py: docs/findings.csv is what the published runs say, and every published number is one of its rows.

    findings_table.py SOURCE RUNS [PAPER.tex]    RUNS: the bundles of experiments/, unpacked; prints faults, exits with 1
    findings_table.py SOURCE RUNS --write        computes docs/findings.csv again: all claims, and the other rows it has

A row of docs/findings.csv is a number: the run, its row, the effect with half of its interval, of a claim the verdict, alone
and in one family of all claims, and what was claimed. `row` is one of

    NAME                       a claim of the run
    A - B                      a difference of two rows, paired by seed; (A - B) - (C - D) is one of two differences
    mean of A - B and C - D    of each seed the mean of these differences
    by text: A - B             over several runs; each run's mean over seeds is one value
    A                          the mean of a row over seeds, with a 95 % interval
    printed: NAME              a number that a page prints of the run between its fences, as `peat diagnose` does

Rows are named as PEAT names them, with @LENGTH where a run has several. `run` may be several runs: with `, ` between them a
difference is, of each seed, the mean over the runs; with ` and ` between them their rows are read as one table, in which
RUN:ROW is a row of that run. Intervals are 90 % (Student's t), but for `A` and for what `peat diagnose` prints.

A number "effect ± half width" of docs/findings.md, docs/questions.md, README.md or the text of a page of experiments/ must be such a row, rounded,
of a run that its line names or else its section, on a page of experiments/ of a run of its folder or of one that is named. A
verdict beside it in a table must be that of the row. In the paper each number names its row:

    \num{MEAN \pm HALF}{RUN: ROW}    \claim{VERDICT}{MEAN \pm HALF}{RUN: CLAIM; CLAIM}

with \dag behind a verdict that is undecided in the family of all, \ddag behind one whose effect depends on an axis over
which it is a mean, or has both signs there (in other texts: "holds, depends on AXIS"). All claims are in the paper. Every other number of two or
more digits of the paper stands in docs/findings.md.
"""
import collections
import csv
import functools
import io
import pathlib
import re
import statistics
import subprocess
import sys

T90 = {3: 2.353363, 4: 2.131847, 5: 2.015048, 7: 1.894579, 9: 1.833113}  # Student's t by degrees of freedom
T95 = {4: 2.776445, 5: 2.570582, 7: 2.364624, 9: 2.262157}
METRICS = ("bpb", "exact_match", "accuracy", "token_accuracy", "loss")  # of a file the first that it has
NOT_AXES = ("seed", "best_over", "train.lr", "rate", "metric", "split", "step", "value", "status", "params",
            "input_ratio_start", "input_ratio", "config_sha256")
COLUMNS = ("run", "row", "effect", "half_width", "verdict", "of_all", "depends", "claim")
NUMBER = re.compile(r"([+-]?\d+\.\d+) ± (\d+(?:\.\d+)?)")
VERDICT = re.compile(r"(holds|fails|undecided)(†?)(?:, (depends on \w+|both signs))?[^|±]*?(?:\|[^|±]*?)?([+-]\d+\.\d+) ± (\d+\.\d+)")
MARKED = re.compile(r"\\(?:num|claim\{([^}]*)\})\{([+-]?[\d.]+) \\pm ([\d.]+)\}\s*\{([^}]*)\}")
PLAIN = re.compile(r"\d[\d.,]*\d")
FENCED = re.compile(r"\n```.*?\n```", re.S)
QUESTIONS = 41
NOT_EFFECTS = ("calibration", "learned-start")  # pages of means in nats and of rows at every rate, without a claim


# ---- what a run says ----

def csv_files(source):
    """By name of a run, its csv file."""
    found = {}
    for path in (source / "experiments").glob("*/*.csv"):
        with open(path) as file:
            if "metric" not in file.readline():
                continue
        named = path.with_name("experiment.yaml" if path.stem == "results" else path.stem + ".yaml")
        name = re.search(r"^name: (\S+)", named.read_text(), re.M)[1] if named.exists() \
            else path.parent.name + "-" + path.stem
        found[name] = path
    return found


@functools.lru_cache(maxsize=None)
def reported(path):
    """Values by seed of each row, as PEAT names it: labels with dots, and @length where there are several."""
    with open(path) as file:
        lines = list(csv.DictReader(file))
    metric = next(m for m in METRICS if any(line["metric"] == m for line in lines))
    part = "test" if any(line.get("split") == "test" for line in lines) else "valid"
    lines = [line for line in lines if line["metric"] == metric and line.get("split", part) == part
             and line.get("best_over", "reported") == "reported"]
    several = len({line["length"] for line in lines}) > 1
    rows = collections.defaultdict(dict)
    for line in lines:
        row = ".".join(v for k, v in line.items() if k not in (*NOT_AXES, "length"))
        rows[row + (f"@{line['length']}" if several else "")][line["seed"]] = float(line["value"])
    return rows


def interval(values, t=T90):
    half = t[len(values) - 1] * statistics.stdev(values) / len(values) ** 0.5
    return statistics.mean(values), half


def mean_of(sides):
    return {seed: statistics.mean(of[seed] for of in sides) for seed in set.intersection(*map(set, sides))}


def difference(rows, text):
    """By seed; of a single row, its values."""
    if text.startswith("mean of "):
        return mean_of([difference(rows, part) for part in text[len("mean of "):].split(" and ")])
    of_two = re.fullmatch(r"\((.*)\) - \((.*)\)", text)
    if not of_two and " - " not in text:
        return rows[text]
    a, b = (difference(rows, side) for side in (of_two.groups() if of_two else text.split(" - ")))
    return {seed: a[seed] - b[seed] for seed in a.keys() & b.keys()}


def one_table(files, runs):
    rows = {}
    for run in runs:
        of_run = reported(files[run])
        rows.update(of_run)
        rows.update({f"{run}:{row}": values for row, values in of_run.items()})
    return rows


def compute(files, run, row):
    """Effect and half width of a row that is no claim."""
    if " and " in run:
        return interval(list(difference(one_table(files, run.split(" and ")), row).values()))
    runs = [reported(files[name]) for name in run.split(", ")]
    if row.startswith("by text: "):
        return interval([statistics.mean(difference(rows, row[len("by text: "):]).values()) for rows in runs])
    values = list(mean_of([difference(rows, row) for rows in runs]).values())
    return interval(values, T90 if " - " in row else T95)


def claims_of(*options):
    said = subprocess.run(["peat", "results", *options, "--part", "claims", "--format", "csv"],
                          check=True, capture_output=True, text=True).stdout
    return csv.DictReader(io.StringIO(said))


# Runs whose claims are about rows of another run, too.
READ_WITH = {"scale-control": "scale"}


def all_claims(folder):
    """Rows of the table for all claims of the runs in a folder."""
    runs = sorted(path.parent.name for path in folder.glob("*/claims.json"))
    rows = {}
    for run in runs:
        beside = [str(folder / READ_WITH[run])] if run in READ_WITH else []
        for claim in claims_of(str(folder / run), *beside):
            half = (float(claim["ci_high"]) - float(claim["ci_low"])) / 2
            rows[run, claim["name"]] = {
                "run": run, "row": claim["name"], "effect": claim["effect"], "half_width": f"{half:.6g}",
                "verdict": claim["verdict"], "depends": claim["depends"], "claim": claim["text"] or claim["says"],
                "p": (float(claim["p"]), float(claim["p_against"]))}
    mark_family(rows)
    return rows


def mark_family(rows):
    """of_all: the verdict with Holm's correction over all claims."""
    adjusted = [holm([row["p"][side] for row in rows.values()]) for side in (0, 1)]
    for row, p, opposite in zip(rows.values(), *adjusted):
        row["of_all"] = "holds" if p < 0.05 else "fails" if opposite < 0.05 else "undecided"


def holm(p):
    adjusted, largest = [0.0] * len(p), 0.0
    for rank, i in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        largest = max(largest, min(1.0, (len(p) - rank) * p[i]))
        adjusted[i] = largest
    return adjusted


# ---- the table ----

class Page:
    """A page of experiments/: what it prints between fences of each run; "" is the run of a block that names none."""

    def __init__(self, path):
        self.path, self.printed = path, collections.defaultdict(set)
        for block in re.findall(r"\n```text \S+\.said\n(.*?)\n```", path.read_text(), re.S):
            run = re.search(r"runs/([\w-]+)", block)
            self.printed[run[1] if run else ""] |= set(NUMBER.findall(block))


def pages_of(source):
    return [Page(path) for path in sorted((source / "experiments").glob("*/README.md"))]


def read_table(path):
    with open(path) as file:
        return {(line["run"], line["row"]): line for line in csv.DictReader(file)}


def computed_table(table, source, runs):
    """All claims, and the other rows of the table, computed again. A printed number stays as it is."""
    files, found = csv_files(source), all_claims(runs)
    for (run, row), line in table.items():
        if line["verdict"]:
            continue
        effect, half = (line["effect"], line["half_width"]) if row.startswith("printed: ") \
            else (f"{value:.6g}" for value in compute(files, run, row))
        found[run, row] = {**line, "effect": effect, "half_width": half}
    return found


def write_table(path, rows):
    with open(path, "w") as file:
        out = csv.DictWriter(file, COLUMNS, extrasaction="ignore", lineterminator="\n")
        out.writeheader()
        out.writerows(rows[key] for key in sorted(rows))


def places(text):
    return len(text.partition(".")[2])


def rounds(value, text):
    """The text is the value, rounded once."""
    return f"{value:+.{places(text)}f}".lstrip("+") == text.lstrip("+")


def table_faults(table, computed, pages):
    for key in sorted(table.keys() | computed.keys()):
        line = table.get(key)
        if not line:
            yield f"findings.csv lacks the claim '{key[1]}' of {key[0]}"
        elif key not in computed:
            yield f"findings.csv has a claim that {key[0]} has not: {key[1]}"
        elif key[1].startswith("printed: "):
            number = line["effect"], line["half_width"]
            if not any(number in page.printed[key[0]] | page.printed[""] for page in pages):
                yield f"no page prints {' ± '.join(number)} of {key[0]}: {key[1]}"
        else:
            yield from (f"findings.csv: {column} of '{key[1]}' of {key[0]} is {computed[key][column]}, not {line[column]}"
                        for column in COLUMNS if not same(computed[key][column], line[column]))


def same(a, b):
    """Numbers are the same to five digits: other processors round sums in another order."""
    try:
        return abs(float(a) - float(b)) <= 1e-5 * max(abs(float(a)), 1e-3)
    except ValueError:
        return a == b


# ---- texts ----

class Row:
    def __init__(self, line):
        self.runs = set(re.split(", | and ", line["run"]))
        self.line = line

    def has(self, number, half):
        """A number without a sign is the size of the difference."""
        effect = float(self.line["effect"])
        return (rounds(effect if number[0] in "+-" else abs(effect), number)
                and rounds(float(self.line["half_width"]), half))

    def judged(self, verdict, mark, depends, number, half):
        """The mean of several texts has no family; its verdict is printed by over_texts.py."""
        if not self.line["verdict"]:
            return ", " in self.line["run"] and not mark and self.has(number, half)
        marked = "†" if self.line["verdict"] != self.line["of_all"] else ""
        return (verdict, mark, depends) == (self.line["verdict"], marked, self.line["depends"]) and self.has(number, half)


def named(text, runs):
    return {name for name in re.findall(r"[\w-]+", text) if name in runs and re.search("(`|runs/)" + name, text)}


def text_faults(where, text, rows, runs, folder=()):
    """Numbers of a text that are no row of a run that is named."""
    for section in FENCED.sub("", text).split("\n## "):
        of_section = named(section, runs) | set(folder)
        for line in section.splitlines():
            own = named(line, runs)
            of = own if line.startswith("|") and own else of_section
            found = [row for row in rows if row.runs & of] if of else rows
            for number, half in NUMBER.findall(line):
                if not any(row.has(number, half) for row in found):
                    yield f"{where}: {number} ± {half} is no row of findings.csv: {line}"
            for said in VERDICT.findall(line) if line.startswith("|") else []:
                if not any(row.judged(*said) for row in found):
                    verdict, mark, depends, number, half = said
                    yield f"{where}: no row {number} ± {half} that {', '.join(filter(None, (verdict + mark, depends)))}: {line}"


def question_faults(text, runs):
    """docs/questions.md has a row for each question, with a number and its run or "not tested"."""
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if re.match(r"\| \d", line)]
    if sorted(int(row[0]) for row in rows) != list(range(1, QUESTIONS + 1)):
        yield f"questions: the rows are not 1 to {QUESTIONS}, each once"
    for row in rows:
        if row[4] != "not tested" and not (NUMBER.search(row[4]) and named(row[5], runs)):
            yield f"questions: row {row[0]} has no number of a run, and does not say 'not tested'"


def paper_faults(text, table, findings):
    said = set()
    for verdict, number, half, source in MARKED.findall(text):
        run, _, names = " ".join(source.split()).partition(": ")
        for name in names.split("; ") if verdict else [names]:
            line = table.get((run, name))
            said.add((run, name))
            word = verdict.split(": ")[-1].replace(r"\dag", "†").replace(r"\ddag", "‡")
            if not line or not (Row(line).judged(word.rstrip("†‡"), "†" if "†" in word else "",
                                                 line["depends"] if "‡" in word else "", number, half) if verdict
                                else Row(line).has(number, half)):
                yield f"paper: {word} {number} ± {half} is not what {run}: {name} says"
    for run, name in sorted(key for key, line in table.items() if line["verdict"]):
        if (run, name) not in said:
            yield f"paper: the claim '{name}' of {run} is not there"
    plain = set(PLAIN.findall(findings))
    for number in PLAIN.findall(re.sub(r"\\(cite|ref|label)\{[^}]*\}", "", MARKED.sub("", text))):
        if number not in plain:
            yield f"paper: {number} is neither marked with its row nor in docs/findings.md"


def body_of(paper):
    body, _, rest = paper.read_text().partition(r"\begin{abstract}")[2].partition(r"\begin{thebibliography}")
    return body + rest.partition(r"\end{thebibliography}")[2]


def faults_of(source, runs, paper):
    table, pages, files = read_table(source / "docs/findings.csv"), pages_of(source), csv_files(source)
    rows = [Row(line) for line in table.values()]
    known = {name for row in rows for name in row.runs}
    findings, questions = ((source / "docs" / name).read_text() for name in ("findings.md", "questions.md"))
    yield from table_faults(table, computed_table(table, source, runs), pages)
    yield from text_faults("findings", findings, rows, known)
    yield from text_faults("questions", questions, rows, known)
    yield from question_faults(questions, known)
    yield from text_faults("README", (source / "README.md").read_text(), rows, known)
    for page in pages:
        folder = {name for name, path in files.items() if path.parent == page.path.parent}
        if page.path.parent.name not in NOT_EFFECTS:
            yield from text_faults(page.path.parent.name, page.path.read_text(), rows, known, folder)
    yield from paper_faults(body_of(paper), table, findings)


def main():
    source, runs, *rest = map(pathlib.Path, sys.argv[1:])
    if rest and str(rest[0]) == "--write":
        path = source / "docs/findings.csv"
        write_table(path, computed_table(read_table(path) if path.exists() else {}, source, runs))
        return 0
    faults = list(faults_of(source, runs, rest[0] if rest else source / "docs/paper/paper.tex"))
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
