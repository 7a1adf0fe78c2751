#!/usr/bin/python3
# SPDX-License-Identifier: MIT
r"""paper_numbers.py: docs/paper/paper.tex says what the published runs say.

    paper_numbers.py SOURCE RUNS [PAPER.tex]    RUNS: the bundles of experiments/, unpacked

Each number with an interval names its source, which the PDF does not show:

    \num{MEAN \pm HALF}{RUN: CLAIM}      effect of a claim, as `peat results --part claims` has it
    \num{MEAN \pm HALF}{RUN: ROW - ROW}  difference of two rows of the csv, or of two such differences in parentheses
    \num{MEAN \pm HALF}{RUN}             printed on a page of experiments/
    \claim{VERDICT}{MEAN \pm HALF}{RUN: CLAIM; CLAIM}    effect and verdict of each of these claims; \dag behind
                                         the verdict: undecided in one family of all claims of RUNS

All claims of RUNS are in the paper. Every other number of two or more digits stands in docs/findings.md, which
published_numbers.py checks.
"""
import csv
import pathlib
import re
import subprocess
import sys

from published_numbers import interval, minus, reported, rounds, runs_of

MARKED = re.compile(r"\\(num|claim\{([^}]*)\})\{([+-]?[\d.]+) \\pm ([\d.]+)\}\s*\{([^}]*)\}")
PLAIN = re.compile(r"\d[\d.,]*\d")


def claims_of(*options):
    said = subprocess.run(["peat", "results", *options, "--part", "claims", "--format", "csv"],
                          check=True, capture_output=True, text=True).stdout
    return csv.DictReader(said.splitlines())


def all_claims(runs):
    """By run and name: the claim with the verdicts of its file and of the family of all."""
    folders = sorted(str(path.parent) for path in runs.glob("*/claims.json"))
    found = {}
    for folder in folders:
        for claim in claims_of(folder):
            found[pathlib.Path(folder).name, claim["name"]] = claim
    for claim in claims_of(*folders, "--family"):
        found[pathlib.Path(claim["run"]).name, claim["name"]]["of_all"] = claim["verdict"]
    return found


def named_rows(path):
    """Values by seed of rows as PEAT writes them: labels with dots, and @length where there are several."""
    rows = reported(path)
    several = len({row[-1] for row in rows}) > 1
    return {".".join(row[:-1]) + (f"@{row[-1]}" if several else ""): seeds for row, seeds in rows.items()}


def difference(rows, text):
    of_two = re.fullmatch(r"\((.*)\) - \((.*)\)", text)
    if of_two:
        return minus(difference(rows, of_two[1]), difference(rows, of_two[2]))
    a, b = text.split(" - ")
    return minus(rows[a], rows[b])


def says(mean, half, number, its_half):
    """A number without a sign is the size of the difference."""
    return rounds(mean if number[0] in "+-" else abs(mean), number) and rounds(half, its_half)


def agrees(claim, verdict, number, half):
    marked = r"\dag" if claim["verdict"] != claim["of_all"] else ""
    return (says(float(claim["effect"]), (float(claim["ci_high"]) - float(claim["ci_low"])) / 2, number, half)
            and verdict in (None, claim["verdict"] + marked))


def is_so(verdict, number, half, source, claims, runs):
    run, _, of = source.partition(": ")
    try:
        if not of:
            return runs[run].has(number, half)
        if " - " in of:
            return says(*interval(difference(named_rows(runs[run].path), of)), number, half)
        return all(agrees(claims[run, name], verdict, number, half) for name in of.split("; "))
    except KeyError:
        return False


def faults_of(text, claims, runs, findings):
    told = set()
    for _, verdict, number, half, source in MARKED.findall(text):
        source, verdict = " ".join(source.split()), verdict.split(": ")[-1] or None
        if verdict:
            told |= {(source.partition(": ")[0], name) for name in source.partition(": ")[2].split("; ")}
        if not is_so(verdict, number, half, source, claims, runs):
            yield f"{verdict or ''} {number} ± {half} is not what {source} says"
    for run, name in claims.keys() - told:
        yield f"the claim '{name}' of {run} is not in the paper"
    for number in PLAIN.findall(re.sub(r"\\(cite|ref|label)\{[^}]*\}", "", MARKED.sub("", text))):
        if number not in findings:
            yield f"{number} is neither marked with its source nor in docs/findings.md"


def main():
    source, bundles = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    paper = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else source / "docs/paper/paper.tex"
    body, _, rest = paper.read_text().partition(r"\begin{abstract}")[2].partition(r"\begin{thebibliography}")
    body += rest.partition(r"\end{thebibliography}")[2]
    findings = set(PLAIN.findall((source / "docs/findings.md").read_text()))
    faults = list(faults_of(body, all_claims(bundles), runs_of(source), findings))
    print("\n".join(faults))
    return 1 if faults or not MARKED.search(body) else 0


if __name__ == "__main__":
    sys.exit(main())
