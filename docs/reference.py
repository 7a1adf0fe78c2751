# SPDX-License-Identifier: MIT
"""Pages that the program's own words make.

  python3 docs/reference.py pages DIR [PEAT]   schemes.md, combinations.md, tasks.md, of every plugin that PEAT finds
  python3 docs/reference.py man DIR [PEAT]     manual pages of every verb: peat.1, peat-run.1, ...

PEAT is the program (default: the one on PATH). SOURCE_DATE_EPOCH sets the date of manual pages.
"""
import json
import os
import re
import subprocess
import sys
import textwrap
import time

PEAT = "peat"


def ask(*words):
    done = subprocess.run([PEAT, *words], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"reference: '{PEAT} {' '.join(words)}' ended with status {done.returncode}")
    return done.stdout


def write(folder, name, text):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


# ---- reference pages ----

LETTERS = ("in the letters of [checkpoint.md](../checkpoint.md); T_train and T_max are the longest sequences trained, and "
           "trained or evaluated.")
PAGES = [
    ("scheme", "schemes.md", "Schemes",
     "How position is expressed. Named under `position.scheme`; `where`, `at`, `share` and `formula` may be given to each "
     f"beside its own parameters. Tensors are those of a decoder at default parameters, {LETTERS}"),
    ("combine", "combinations.md", "Combinations",
     "How positional streams join the tokens. Named under `position.combine`. Tensors are those of a decoder with one "
     "stream of positions, at default parameters."),
    ("task", "tasks.md", "Tasks", "What is learned. Named under `task`."),
]


def shown(text):
    """Characters that a terminal would obey are written out."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def quoted(text):
    """A plugin's text in Markdown: tags of HTML, links and the end of a table's cell are escaped."""
    return re.sub(r"<(?![ =])|\||\](?=\()", lambda m: m[0] + "\\" if m[0] == "]" else "\\" + m[0], shown(text))


def row(name, *cells):
    name = re.sub(r"[`|]", "?", shown(name))
    return f"| `{name}` |" + "".join(f" {quoted(cell)} |" if cell else " |" for cell in cells) + "\n"


def default_text(parameter):
    value = parameter["default"]
    if parameter["required"]:
        return "required"
    if parameter["automatic"]:
        return "auto: " + parameter["automatic"]
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return value or '""' if isinstance(value, str) else json.dumps(value)


def parameters(plugin):
    if not plugin["parameters"]:
        return "\nNo parameters.\n"
    rows = [row(p["key"], default_text(p), p["allowed"], p["doc"]) for p in plugin["parameters"]]
    return "\n| parameter | default | allowed | meaning |\n| --- | --- | --- | --- |\n" + "".join(rows)


def tensors(plugin):
    if plugin["kind"] == "task":
        return ""
    if not plugin["tensors"]:
        return "\nNo tensors.\n"
    rows = [row(t["name"], t["shape"], t["starts"], t["each"], t["note"]) for t in plugin["tensors"]]
    return "\n| tensor | shape | starts | one for | |\n| --- | --- | --- | --- | --- |\n" + "".join(rows)


def section(plugin):
    name, paper = quoted(plugin["name"]), plugin["paper"]
    about = plugin["summary"] + (f" ({paper})" if paper else "") + ". "
    facts = [f"version {plugin['version']}", f"licence {plugin['licence']}"]
    facts += [f"{key}: {', '.join(plugin[key])}" for key in ("hooks", "traits") if plugin[key]]
    return (f"\n## {name}\n\n{quoted(about)}[More](../../plugins/{plugin['kind']}/{name}/README.md).\n\n"
            f"{quoted('; '.join(facts))}\n{parameters(plugin)}{tensors(plugin)}")


def write_pages(folder):
    found = [json.loads(ask("plugins", "info", p["path"], "--json")) for p in json.loads(ask("plugins", "list", "--json"))]
    for kind, name, title, about in PAGES:
        text = f"# {title}\n\n{about}\n\nMade by `docs/reference.py` from the plugins themselves: do not edit.\n"
        write(folder, name, text + "".join(section(p) for p in found if p["kind"] == kind))


# ---- manual pages ----

EXIT_STATUS = """.SH EXIT STATUS
.TP
0
Everything is done; a cell that has diverged is done too.
.TP
1
A cell failed, a check or a comparison failed, or the disk is full.
.TP
2
Nothing was run: usage, configuration, missing data, no such directory.
.TP
130
A signal, SIGINT, SIGTERM or SIGHUP, stopped it.
"""


def roff(text):
    """Escapes what roff would interpret: a line that begins with a dot is a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return re.sub(r"^\.", r"\\&.", text, flags=re.M)


def lines(text):
    return f".nf\n{roff(text)}\n.fi\n"


def paragraph(text):
    """roff fills it; its source lines are short."""
    return roff(textwrap.fill(" ".join(text.split()), 66, break_long_words=False, break_on_hyphens=False)) + "\n"


def item(head, text):
    return f".TP\n{head}\n{paragraph(text)}"


def option(line):
    """"  -o, --output DIR         the run directory" """
    letter, name, argument, doc = re.fullmatch(r"  (?:-(.), |    )--(\S+)(?: (\S+))?\s+(.*)", line).groups()
    head = (f"\\fB\\-{letter}\\fR, " if letter else "") + f"\\fB\\-\\-{roff(name)}\\fR"
    return item(head + (f" \\fI{roff(argument)}\\fR" if argument else ""), doc)


def parts(name):
    """A help page: its usage, its paragraph, and the lines of each block by the block's heading."""
    head, *blocks = re.split(r"\n\n(?=(?:verbs|options|example):\n)", ask(*name.split()[1:], "--help").rstrip("\n"))
    usage, about = head.split("\n\n", 1)
    block = dict(text.split(":\n", 1) for text in blocks)
    verbs = re.findall(r"^  (\S+) +(.*)$", block.get("verbs", ""), re.M)
    return usage.removeprefix(f"usage: {name} ").removesuffix("[options]").strip(), about, verbs, block


def write_manual(folder, name, summary):
    operands, about, verbs, block = parts(name)
    title, today = name.replace(" ", "-"), time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())))
    version = ask("--version").split()[1]
    words = name.split()
    others = ["-".join(words[:i]) for i in range(1, len(words))] + [f"{title}-{verb}" for verb, _ in verbs]
    text = (f'.TH {title.upper()} 1 {time.strftime("%Y-%m-%d", today)} "PEAT {version}"\n'
            f".SH NAME\n{title} \\- {paragraph(summary)}"
            f".SH SYNOPSIS\n\\fB{name}\\fR \\fI{roff(operands)}\\fR [\\fIoptions\\fR]\n"
            f".SH DESCRIPTION\n{lines(about) if chr(10) + ' ' in about else paragraph(about)}")
    if verbs:
        text += ".SH VERBS\n" + "".join(item(f"\\fB{verb}\\fR", what) for verb, what in verbs)
    text += ".SH OPTIONS\n" + "".join(option(line) for line in block["options"].splitlines()) + EXIT_STATUS
    text += ".SH EXAMPLE\n" + lines(textwrap.dedent(block["example"]))
    write(folder, title + ".1", text + ".SH SEE ALSO\n" + " ,\n".join(f".BR {other} (1)" for other in others) + "\n")
    for verb, what in verbs:
        write_manual(folder, f"{name} {verb}", what)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in ("pages", "man"):
        sys.exit(__doc__)
    PEAT = sys.argv[3] if len(sys.argv) == 4 else PEAT
    if sys.argv[1] == "pages":
        write_pages(sys.argv[2])
    else:
        write_manual(sys.argv[2], "peat", "train and compare positional encodings")
