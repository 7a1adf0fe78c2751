#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Wrong lines, drawn by a seed and planted one at a time in a copy of the tree: does some test fail?

  tests/fault/mutants.py --seed 1 --count 40 [--only core/maths] [--until grad] [--skip REGEX] [--folder FOLDER]

A wrong line has another comparison, another sign, a constant one too large or too small, two arguments exchanged,
or one statement less. It is built (one that the compiler warns of is drawn again) and tested: by the unit tests of
its room or its plugin's own test first, then by the gradient checks, then by all other tests that are not long, up
to the first failure. --until ends after 'unit' or 'grad', --skip leaves out the tests that it matches. FOLDER
(build/mutants) keeps the copy, its build and the results, from which the next call goes on. Exit status 1 when a
wrong line survives; those of equivalent.txt, which cannot change a result, are not planted.
"""
import argparse
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import typing

TREE = pathlib.Path(__file__).resolve().parents[2]
EQUIVALENT = pathlib.Path(__file__).with_name("equivalent.txt")
COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
SIGNS = {"+": "-", "-": "+", "+=": "-=", "-=": "+="}
STAGES = ("unit", "grad", "all")
# Lines that cannot change a result: messages, assertions, memory that is given back, room for more.
NO_RESULT = re.compile(r"^\s*#|assert|error_|\brule\(|fprintf|snprintf|\bfree\(|_free\(|_close\(|_release\(|__attribute__|arena_init|"
                       r"\(void\)|^ +(const )?(\w+ )+\**\w+(\[\w+\])+(, \**\w+(\[\w+\])*)*;")
DECLARATION = re.compile(r"^(const|static|struct|enum|return|break|continue|\w+ \**\w+( =|;|,|\[))")


class Mutant(typing.NamedTuple):
    kind: str
    file: str
    number: int  # of the line, from 1
    old: str
    new: str

    def place(self):
        return f"{self.file}:{self.number}"


def masked(text):
    """The text with comments and literals blanked, so that places in both are the same."""
    pattern = r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", "\x01" if m[0][0] in "\"'" else " ", m[0]), text, flags=re.DOTALL)


def exchanged(line, start):
    """(begin, end, new) for each pair of neighbouring arguments of the call whose '(' ends at `start`."""
    depth, cuts = 0, [start]
    for i in range(start, len(line)):
        depth += (line[i] in "([{") - (line[i] in ")]}")
        if depth < 0 or (depth == 0 and line[i] == ","):
            cuts.append(i)
        if depth < 0:
            words = [line[a:b].lstrip(", ") for a, b in zip(cuts, cuts[1:])]
            return [(cuts[k + 2] - len(words[k] + words[k + 1]) - 2, cuts[k + 2], (k, k + 1))
                    for k in range(len(words) - 1) if words[k] != words[k + 1]]
    return []  # the call goes on in the next line


def changes(line, before):
    """(kind, begin, end, new) for each way to make a masked line wrong."""
    for found in re.finditer(r"(?<= )(<=?|>=?|==|!=)(?= )", line):
        yield "comparison", *found.span(), COMPARISONS[found[0]]
    for found in re.finditer(r"(?<= )[+-]=?(?= )", line):
        yield "sign", *found.span(), SIGNS[found[0]]
    for found in re.finditer(r"(?<![\w.])\d+(?![\w.])", line):
        yield "constant", *found.span(), (str(int(found[0]) + 1), str(max(int(found[0]) - 1, 0)))
    for found in re.finditer(r"(?<!\w)(?!if|for|while|switch|return|sizeof)\w+\(", line):
        for begin, end, _ in exchanged(line, found.end()):
            yield "arguments", begin, end, None
    statement = line.strip()
    whole = re.search(r"([;{}]|\belse|^\s*(if|for|while|else if) \(.*\))\s*$", before)
    if whole and statement.endswith(";") and not DECLARATION.match(statement) and statement.count("(") == statement.count(")"):
        yield "statement", len(line) - len(line.lstrip()), len(line), "(void)0;"


def swapped(text, begin, end):
    """The two arguments at begin..end, exchanged; places come from the masked line."""
    depth = 0
    for i in range(begin, end):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if depth == 0 and text[i] == ",":
            return text[i + 2:end] + ", " + text[begin:i]
    return text[begin:end]


def sites(only):
    """All mutants of the tree by kind, in the order of files and lines."""
    out = {kind: [] for kind in ("comparison", "sign", "constant", "arguments", "statement")}
    for path in sorted([*TREE.glob("core/**/*.c"), *TREE.glob("plugins/**/*.c")]):
        file = str(path.relative_to(TREE))
        if path.name.startswith("test_") or only not in file:
            continue
        before, text = "", path.read_text()
        for number, (line, seen) in enumerate(zip(text.split("\n"), masked(text).split("\n")), 1):
            if seen[:1] == " " and not NO_RESULT.search(seen):  # the inside of functions
                for kind, begin, end, new in changes(seen, before):
                    for new in new if isinstance(new, tuple) else [new or swapped(line, begin, end)]:
                        wrong = line[:begin] + new + line[end:]
                        if wrong != line:
                            out[kind].append(Mutant(kind, file, number, line, wrong))
            before = seen if seen.strip() else before
    return {kind: found for kind, found in out.items() if found}


def draw(seed, only):
    """Mutants without end: the kind is drawn first, so that each is as frequent."""
    source, found = random.Random(seed), sites(only)
    while True:
        yield source.choice(found[source.choice(list(found))])


class Copy:
    """A copy of the tree's files as they are now, with a release build of its own."""

    def __init__(self, folder, jobs, skip):
        self.tree, self.jobs, self.skip = folder / "tree", str(jobs), skip
        self.log = open(folder / "log", "a", encoding="utf-8")
        listed = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=TREE, check=True,
                                stdout=subprocess.PIPE, text=True)
        own = {name for name in listed.stdout.split("\0") if (TREE / name).is_file()}
        for name in own:
            self.put(name, (TREE / name).read_bytes())
        for path in self.tree.rglob("*"):  # what an earlier tree had
            name = path.relative_to(self.tree)
            if path.is_file() and name.parts[0] != "build" and str(name) not in own:
                path.unlink()
        if self.call("cmake", "--preset", "release", "-DPEAT_WERROR=ON").returncode or not self.build(["all"]):
            sys.exit(f"mutants.py: the tree does not build without a wrong line: see {self.log.name}")
        listed = self.call("ctest", "--test-dir", "build/release", "-N", "-LE", "long|meta").stdout
        self.tests = [name for name in re.findall(r"#\d+: (\S+)", listed) if not (skip and re.search(skip, name))]

    def put(self, name, content):
        """Files that are as they were keep their times, so that they are not built again."""
        path = self.tree / name
        if path.exists() and path.read_bytes() == content:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        shutil.copymode(TREE / name, path)

    def call(self, *words):
        environment = dict(os.environ, CMAKE_BUILD_PARALLEL_LEVEL=self.jobs, CK_TIMEOUT_MULTIPLIER="10")
        done = subprocess.run(words, cwd=self.tree, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        print(" ".join(words), done.stdout, sep="\n", file=self.log, flush=True)
        return done

    def build(self, targets):
        return self.call("cmake", "--build", "--preset", "release", "--target", *targets).returncode == 0

    def nearest(self, file):
        """The unit tests of a file's room, or its plugin's own test."""
        kind, room, name = file.split("/")[:3]
        if kind == "core":
            names = [path.stem[5:] for path in self.tree.glob(f"tests/unit/{room}/test_*.c")]
            return [f"unit.{name}" for name in names]
        return [f"plugin.{name}", f"plugin.{room}_{name}"]

    def stages(self, file):
        """Tests of each stage, the nearest first; a target that builds them."""
        first = [name for name in self.tests if name in self.nearest(file)]
        grad = [name for name in self.tests if name.startswith("grad.")]
        rest = [name for name in self.tests if name not in first + grad]
        return [("unit", first, [name.replace(".", "_") for name in first]),
                ("grad", grad, [name.replace(".", "_") for name in grad]), ("all", rest, ["all"])]

    def failing(self, names):
        either = "|".join(f"^{re.escape(name)}$" for name in names)
        out = self.call("ctest", "--test-dir", "build/release", "--stop-on-failure", "-j", self.jobs, "-R", either).stdout
        return re.findall(r"^\s+\d+ - (\S+) \((?!Skipped)", out, re.MULTILINE)

    def verdict(self, mutant, until):
        """'seen by NAME', 'not compiled', or 'survived' and the last stage."""
        right = (self.tree / mutant.file).read_text()
        lines = right.split("\n")
        lines[mutant.number - 1] = mutant.new
        self.put(mutant.file, "\n".join(lines).encode())
        try:
            for stage, names, targets in self.stages(mutant.file):
                if names and not self.build(targets):
                    return "not compiled"
                failing = self.failing(names) if names else []
                if failing:
                    return f"seen by {failing[0]}"
                if stage == until:
                    break
            return f"survived {until}"
        finally:
            self.put(mutant.file, right.encode())


def equivalent(mutant):
    lines = EQUIVALENT.read_text().splitlines() if EQUIVALENT.exists() else []
    return f"{mutant.file}: {mutant.new.strip()}" in lines


def known(results):
    """The last verdict on each mutant that the file of results has."""
    rows = [row.split("\t") for row in results.read_text().splitlines()] if results.exists() else []
    return {tuple(row[:-1]): row[-1] for row in rows}


def plant(options, results):
    """[words and verdict] of the mutants that are drawn; new verdicts are appended to the file of results.
    One that survived an earlier stage than --until is planted again."""
    verdicts, copy, out = known(results), None, []
    for mutant in draw(options.seed, options.only):
        if sum(row[-1].startswith(("seen", "survived")) for row in out) >= options.count:
            return out
        words = (mutant.kind, mutant.place(), mutant.old.strip(), mutant.new.strip())
        verdict = "equivalent" if equivalent(mutant) else verdicts.get(words)
        if not verdict or STAGES.index(verdict.split()[-1] if verdict.startswith("survived") else "all") < \
                STAGES.index(options.until):
            copy = copy or Copy(options.folder, options.jobs, options.skip)
            verdict = copy.verdict(mutant, options.until)
            print(*words, verdict, sep="\t", flush=True)
            with results.open("a", encoding="utf-8") as file:
                print(*words, verdict, sep="\t", file=file)
        out.append((*words, verdict))
    return out


def table(rows):
    for kind, place, _, new, verdict in rows:
        print(f"{kind:10} {place:44} {verdict:28} {new}")
    counts = {word: sum(row[-1].startswith(word) for row in rows) for word in ("seen", "survived", "not", "equivalent")}
    print(f"{counts['seen']} seen, {counts['survived']} survived, {counts['equivalent']} equivalent; "
          f"{counts['not']} not compiled and drawn again")
    return counts["survived"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--only", default="", help="files whose path has this part")
    parser.add_argument("--until", choices=STAGES, default="all")
    parser.add_argument("--skip", default="", help="tests that this regular expression matches are not run")
    parser.add_argument("--folder", type=pathlib.Path, default=TREE / "build" / "mutants")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    sys.exit(1 if table(plant(options, options.folder / f"seed-{options.seed}.tsv")) else 0)


if __name__ == "__main__":
    main()
