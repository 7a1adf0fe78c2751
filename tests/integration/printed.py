#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""printed.py SOURCE INSTALLED WORK [--long]: runs the commands that the documents and the help pages print, as they are
printed.

./quickstart leaves the installation in WORK/clone and what it makes findable in WORK/home, with programs in the place of
those that build and install packages. Each page then has a folder of its own with what a clone has, runs/quickstart, and
the files that it defines itself; of the environment it has HOME, PATH and what ./quickstart tells to set. `peat` is a
wrapper that shortens training and evaluation, and changes nothing else.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

DOCUMENTS = ["README.md", "docs/tutorial.md", "docs/guide.md", "docs/diagnostics.md", "docs/determinism.md",
             "docs/python.md", "docs/from-pytorch.md", "docs/howto/*.md"]

# Commands that are not run, and why.
EXCEPTIONS = {
    r"^\./quickstart": "was run before the page; integration.quickstart and debian13 run it whole",
    r"^cmake |build/release/": "builds",
    r"--launcher slurm( |$)(?!.*-n)": "needs Slurm; integration.slurm",
    r"^rsync |^ssh ": "needs another machine",
    r"cuda": "needs a GPU",
    r"glove\.txt": "needs word vectors of others; integration.start",
}
# Those that need what a machine may lack.
NEEDS = {
    r"\bparallel\b": "command -v parallel",
    r"peat tokenize|words\b": "command -v spm_train",
    r"wandb": "/usr/bin/python3 -c 'import wandb'",
    r"grid\.py": "/usr/bin/python3 -c 'import torch, pandas'",
    r"peat\.torch|run\.engine=torch": "/usr/bin/python3 -c 'import torch'",
    r"venv": "/usr/bin/python3 -c 'import venv, ensurepip, setuptools, wheel'",
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


def lacks(probe):
    return subprocess.run(["sh", "-c", probe], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0


def excepted(line):
    return any(re.search(pattern, line) for pattern in EXCEPTIONS) or any(
        re.search(pattern, line) and lacks(probe) for pattern, probe in NEEDS.items())


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


def open_page(clone, name):
    """A folder with what a clone has, and with runs/quickstart."""
    page = clone.parent / "pages" / name
    page.mkdir(parents=True)
    for entry in clone.iterdir():
        if entry.name not in ("runs", "build"):
            (page / entry.name).symlink_to(entry)
    shutil.copytree(clone / "runs", page / "runs")
    os.chdir(page)


def run_document(clone, path):
    open_page(clone, path.name)
    lines = []
    for language, name, text in blocks(path):
        if name:
            pathlib.Path(name).write_text(text)
        elif language == "sh":
            lines += commands(text)
    run(path.name, lines)


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


def run_help(clone, prefix):
    open_page(clone, "help")
    for _, name, text in blocks(clone / "docs/formulas.md"):
        if name:
            pathlib.Path(name).write_text(text)
    for verb in verbs(prefix):
        text = example(verb)
        if man_example(prefix, verb).strip() != text.strip():
            sys.exit(f"the manual page of {verb} has another example than its help")
        lines = commands(text)
        if lines:
            run(f"peat {verb} --help", [f"({line})" for line in lines])


STANDINS = {"id": "echo 1000", "cmake": "exit 0", "dpkg-query": "echo 'ii '"}


def write_program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def make_clone(source, installed, clone):
    clone.mkdir(parents=True)
    for entry in ("README.md", "docs", "experiments", "include", "plugins"):
        (clone / entry).symlink_to(source / entry)
    shutil.copytree(source / "python", clone / "python")  # pip writes there
    shutil.copy(source / "quickstart", clone)
    prefix = clone / "build" / "installed"
    shutil.copytree(installed, prefix, symlinks=True)
    (prefix / "bin/peat").rename(prefix / "bin/peat-program")
    write_program(prefix / "bin/peat", WRAPPER.format(peat=prefix / "bin/peat-program"))
    return prefix


def start(clone):
    """Runs ./quickstart, then what it says to set."""
    home, standins = clone.parent / "home", clone.parent / "standins"
    for name, text in STANDINS.items():
        write_program(standins / name, f"#!/bin/sh\n{text}\n")
    os.environ.clear()
    os.environ.update(HOME=str(home), PATH=f"{standins}:/usr/bin:/bin", LANG="C.UTF-8")
    done = subprocess.run(["./quickstart"], cwd=clone, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"./quickstart fails:\n{done.stdout[-3000:]}")
    os.environ["PATH"] = "/usr/bin:/bin"
    for name, value in re.findall(r'^quickstart: .*: export (\w+)="(.*)"$', done.stdout, re.M):
        os.environ[name] = value.replace("$PATH", os.environ["PATH"])


def main():
    source, installed, work = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    clone = work / "clone"
    prefix = make_clone(source, installed, clone)
    start(clone)
    run_help(clone, prefix)
    for pattern in DOCUMENTS if sys.argv[4:] == ["--long"] else []:
        for document in sorted(source.glob(pattern)):
            run_document(clone, document)


if __name__ == "__main__":
    main()
