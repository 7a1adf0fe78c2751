#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""printed.py PREFIX WORK: runs the commands that the documents and the help pages of an installation
print, as they are printed.

They run in WORK, a copy of the installed documents, where runs/quickstart is made first. `peat` is a
wrapper that shortens training and evaluation, and changes nothing else.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

DOCUMENTS = ["README.md", "docs/tutorial.md", "docs/guide.md", "docs/diagnostics.md",
             "docs/determinism.md", "docs/python.md"]

# Commands that are not run, and why.
EXCEPTIONS = {
    r"^\./quickstart": "installs packages and builds; integration.quickstart and debian13 run it",
    r"^cmake |build/release/": "needs the sources",
    r"--launcher slurm( |$)(?!.*-n)": "needs Slurm; integration.slurm",
    r"\bparallel\b": "needs GNU parallel",
    r"peat tokenize": "needs sentencepiece; integration.tokenize",
    r"runs/(sum-vs-concat|widths|big)|big\.yaml": "a run of thousands of cells, or with a GPU",
    r"peat\.torch|torchrun|cell\.safetensors": "needs PyTorch; integration.torch",
}

WRAPPER = """#!/bin/sh
case $1 in
run | plan)
    for word do
        shift
        case $word in train.steps=*) ;; *) set -- "$@" "$word" ;; esac
    done
    exec "{peat}" "$@" train.steps=3 eval.tokens=256 ;;
esac
exec "{peat}" "$@"
"""


def excepted(line):
    return any(re.search(pattern, line) for pattern in EXCEPTIONS)


def commands(text):
    """The commands of a text, lines that end in a backslash or a pipe with the next one."""
    joined = re.sub(r"(\\|\|)\n\s*", lambda m: m.group(1).strip("\\") + " ", text)
    return [line for line in joined.splitlines() if line.strip() and not excepted(line)]


def blocks(document):
    return re.findall(r"^```(\w+)(?: (\S+))?\n(.*?)^```", document.read_text(), re.M | re.S)


def run(name, lines):
    """One shell for all lines, as a reader has."""
    script = "".join(f"echo '+++' {i}\n{line}\n" for i, line in enumerate(lines))
    done = subprocess.run(["sh", "-e"], input=script, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    print(f"{name}: {len(lines)} commands")
    if done.returncode != 0 or len(lines) == 0:
        failed = int(re.findall(r"^\+\+\+ (\d+)$", done.stdout, re.M)[-1])
        sys.exit(f"{name}: this fails: {lines[failed]}\n{done.stdout[-3000:]}")


def run_document(path):
    for made in pathlib.Path(".").glob("*.yaml"):
        made.unlink()
    lines = []
    for language, name, text in blocks(path):
        if name:
            pathlib.Path(name).write_text(text)
        elif language == "sh":
            lines += commands(text)
    run(path, lines)


def verbs(prefix):
    """Those of the manual pages; what makes something for others to use comes first."""
    pages = (prefix / "share/man/man1").glob("peat-*.1")
    names = sorted(page.stem[len("peat-"):].replace("-", " ") for page in pages)
    return sorted(names, key=lambda name: not name.endswith("new"))


def example(verb):
    page = subprocess.run(["peat", *verb.split(), "--help"], text=True, stdout=subprocess.PIPE,
                          check=True).stdout
    return re.sub(r"^  ", "", page.split("\nexample:\n")[1], flags=re.M)


def man_example(prefix, verb):
    page = (prefix / f"share/man/man1/peat-{verb.replace(' ', '-')}.1").read_text()
    text = page.split(".SH EXAMPLE\n")[1].split("\n.fi")[0].removeprefix(".nf\n")
    return text.replace(r"\-", "-").replace(r"\(aq", "'").replace(r"\&", "").replace(r"\e", "\\")


def run_help(prefix):
    for verb in verbs(prefix):
        text = example(verb)
        if man_example(prefix, verb).strip() != text.strip():
            sys.exit(f"the manual page of {verb} has another example than its help")
        lines = commands(text)
        if lines:
            run(f"peat {verb} --help", [f"({line})" for line in lines])


def prepare(prefix, work):
    shutil.copytree(prefix / "share/doc/peat", work)
    os.chdir(work)
    pathlib.Path("include").symlink_to(prefix / "include")
    pathlib.Path("bin").mkdir()
    wrapper = pathlib.Path("bin/peat")
    wrapper.write_text(WRAPPER.format(peat=prefix / "bin/peat"))
    wrapper.chmod(0o755)
    os.environ["PATH"] = f"{work}/bin:{os.environ['PATH']}"
    config = next(prefix.rglob("peat.pc")).parent
    os.environ["PKG_CONFIG_PATH"] = str(config)
    corpus = pathlib.Path("experiments/data/genesis.txt").read_bytes()
    pathlib.Path("corpus.txt").write_bytes(corpus[:60000])
    run("runs/quickstart", ["peat run experiments/quickstart.yaml"])


def main():
    prefix, work = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    prepare(prefix, work)
    run_help(prefix)
    for document in DOCUMENTS if sys.argv[3:] == ["--long"] else []:
        run_document(pathlib.Path(document))


if __name__ == "__main__":
    main()
