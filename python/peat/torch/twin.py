# SPDX-License-Identifier: MIT
"""twin.py FILE NAME FOLDER: puts the twin in C of FILE, a plugin that is Python alone, and a copy of FILE into a folder that
`peat plugins new --from FILE` made of a template, as NAME.c and NAME.py; `make check` there compares them.

The same parameters and tensors are there; each hook changes nothing and says what is to be written. Needs no PyTorch.
"""
from __future__ import annotations

import json
import math
import os
import sys
import textwrap

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # the package imports PyTorch

from declared import CONSTANTS, HOOKS, File, Mistake  # noqa: E402

WIDTH = 98  # of a line
SCOPE = ("PEAT_ONCE", "PEAT_PER_LAYER", "PEAT_PER_USER")
SCALE = {"one": "PEAT_SCALE_ONE", "own": "PEAT_SCALE_OWN"}
SIZES = ("D", "H", "C", "L", "d", "V", "T_train", "T_max")

#: The declaration of a hook in C, what it returns, and how it leaves everything as it is.
HOOK = {
    "positions": ("peat_status positions(const peat_call *c, double *pos)", "changes pos [A, pos_B, T]",
                  ("(void)c;", "(void)pos;", "return PEAT_OK;")),
    "own_positions": ("peat_status own_positions(const peat_call *c, double *pos)", "fills pos [own_axes, B, T]",
                      ("(void)c;", "(void)pos;", "return PEAT_OK;")),
    "prepare": ("peat_status prepare(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])", "fills shared",
                ("shared[0] = zeros(c, 1, (int64_t[]){1});", "return PEAT_OK;")),
    "encode": ("peat_node *encode(const peat_call *c)", "-> [1|B, T, d]",
               ("return zeros(c, 3, (int64_t[]){1, c->q->T, c->d});",)),
    "residual": ("peat_node *residual(const peat_call *c, peat_node *x)", "x -> [B, T, D]", ("(void)c;", "return x;")),
    "hidden": ("peat_status hidden(const peat_call *c, peat_node **xq, peat_node **xk, peat_node **xv)",
               "changes xq, xk, xv [B, T, D]", ("(void)c;", "(void)xq;", "(void)xk;", "(void)xv;", "return PEAT_OK;")),
    "qkv": ("peat_status qkv(const peat_call *c, peat_qkv *io)", "changes io->q, io->k, io->v [B, H, T, C]",
            ("(void)c;", "(void)io;", "return PEAT_OK;")),
    "bias_rel": ("peat_node *bias_rel(const peat_call *c, const peat_rel *r)", "-> [1|H, n]",
                 ("return zeros(c, 2, (int64_t[]){1, r->n});",)),
    "bias": ("peat_node *bias(const peat_call *c, const peat_qkv *p)", "-> [1|B, 1|H, 1|Tq, 1|Tk]",
             ("(void)p;", "return zeros(c, 4, (int64_t[]){1, 1, 1, 1});")),
    "score_add": ("peat_node *score_add(const peat_call *c, const peat_qkv *p)", "-> [1|B, 1|H, 1|Tq, 1|Tk]",
                  ("(void)p;", "return zeros(c, 4, (int64_t[]){1, 1, 1, 1});")),
    "logits": ("peat_node *logits(const peat_call *c, const peat_qkv *p, peat_node *S, peat_node *bias)", "-> [B, H, Tq, Tk]",
               ("(void)p;", "return bias ? peat_add(c->g, S, bias) : S;")),
    "softmax": ("peat_node *softmax(const peat_call *c, const peat_qkv *p, peat_node *S, peat_node *bias)", "-> [B, H, Tq, Tk]",
                ("(void)p;", "return peat_softmax(c->g, bias ? peat_add(c->g, S, bias) : S, c->mask);")),
    "weights": ("peat_node *weights(const peat_call *c, peat_node *W)", "W -> [B, H, Tq, Tk]", ("(void)c;", "return W;")),
    "context": ("peat_node *context(const peat_call *c, const peat_qkv *p, peat_node *o, peat_node *W)", "o -> [B, H, Tq, C]",
                ("(void)c;", "(void)p;", "(void)W;", "return o;")),
    "carry": ("peat_status carry(const peat_call *c, peat_node *x, peat_node *W, peat_node *state[PEAT_MAX_SHARED])",
              "changes state", ("(void)c;", "(void)x;", "(void)W;", "(void)state;", "return PEAT_OK;")),
    "merge": ("peat_node *merge(const peat_call *c, int32_t n, peat_node *const *x)", "-> [B, T, D]",
              ("(void)c;", "(void)n;", "return x[0];")),
}
ZEROS = """static inline peat_node *zeros(const peat_call *c, int rank, const int64_t *dim)
{
    int64_t n = 1;
    for (int i = 0; i < rank; i++)
        n *= dim[i];
    double *zero = peat_scratch(c, n);
    for (int64_t i = 0; zero && i < n; i++)
        zero[i] = 0;
    return peat_fill(c, rank, dim, zero);
}
"""


class Undecided(Exception):
    """The course of a function depends on a number that is not known yet."""


class Term:
    """A number that set-up knows, as text of C."""

    def __init__(self, text, whole=True, plain=True):
        self.text, self.whole, self.plain = text, whole, plain

    def __bool__(self):
        raise Undecided

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = lambda self, other: bool(self)
    __index__ = __int__ = __float__ = __hash__ = __bool__

    def inner(self):
        return self.text if self.plain else f"({self.text})"


def term(x) -> Term:
    """Of a number, or of a text, which stands for one."""
    if isinstance(x, Term):
        return x
    if isinstance(x, str):
        raise Undecided
    return Term(number(x), isinstance(x, int))


def number(x) -> str:
    return repr(int(x)) if isinstance(x, (bool, int)) or float(x).is_integer() and abs(x) < 1e9 else repr(float(x))


def joined(sign):
    def act(a, b):
        a, b = term(a), term(b)
        if sign == "/" and a.whole and b.whole:
            return Term(f"(double){a.inner()} / {b.inner()}".replace("(double)1 /", "1.0 /"), False, False)
        return Term(f"{a.inner()} {sign[0]} {b.inner()}", a.whole and b.whole, False)
    return act


def raised(a, b):
    return Term(f"pow({term(a).text}, {term(b).text})", False)


for name, act in {"add": joined("+"), "sub": joined("-"), "mul": joined("*"), "truediv": joined("/"), "floordiv": joined("//"),
                  "mod": joined("%"), "pow": raised}.items():
    setattr(Term, f"__{name}__", act)
    setattr(Term, f"__r{name}__", lambda self, other, act=act: self if act is ADD and other == 0 else act(other, self))
ADD = Term.__add__
Term.__neg__ = lambda self: Term("-" + self.inner(), self.whole)


class Widths:
    """The widths of a combination's streams, of which there may be any number; or all but the first."""

    def __init__(self, first=0):
        self.first = first

    def __getitem__(self, i):
        if isinstance(i, int) and i >= 0 and not self.first:
            return Term(f"width[{i}]")
        if isinstance(i, slice) and (i.start, i.stop, i.step) == (1, None, None) and not self.first:
            return Widths(1)
        raise Undecided

    def sum(self):
        return Term("total - width[0]", plain=False) if self.first else Term("total")

    def __len__(self):
        raise Undecided


SPACE = {"sum": lambda x: x.sum() if isinstance(x, Widths) else sum(x)}


class Maths:
    """The module math, of terms."""

    def __getattr__(self, name):
        f = getattr(math, name)
        if not callable(f):
            return f
        return lambda *x: f(*x) if not any(isinstance(y, Term) for y in x) else Term(
            f"{name}({', '.join(term(y).text for y in x)})", False)


class Twin:
    def __init__(self, path: str, name: str):
        self.file, self.name, self.rows = File(path), name, File(path).rows()
        self.made = self.file.plugin()
        self.source = path.rpartition("/")[2]
        self.combine = self.file.kind == "combine"

    # ---- set-up

    def given(self, chosen: bool) -> dict:
        """What `tensors` and `widths` may name; chosen: parameters have their defaults."""
        own = {r["key"]: self.preset(r) if chosen else Term("k->" + r["key"], r["type"] != "real") for r in self.rows}
        sizes = {n: Term("s->dims." + n) for n in SIZES}
        more = {"streams": ["token", "position"], "widths": Widths(), "D": Term("*D", plain=False)}
        return {**own, **sizes, **(more if self.combine else {})}

    @staticmethod
    def preset(row):
        if row["type"] == "label":
            return row["labels"][int(row["preset"])]
        return {"bool": bool, "whole": int, "real": float}[row["type"]](row["preset"])

    def run(self, name):
        """What the function returns, of terms; None: it depends on sizes."""
        for chosen in (False, True):
            try:
                return self.file.run(name, self.given(chosen), {"math": Maths(), **SPACE})
            except (Undecided, Mistake):
                continue
        return None

    def tensor(self, name, shape, start, scope="share") -> str:
        mean, std = start if isinstance(start, (tuple, list)) else (start, 0)
        normal = isinstance(std, Term) or std > 0
        shape = ["PEAT_HEADS" if not self.combine and term(n).text == "s->dims.H" else term(n).text for n in shape]
        init = f"{{{'PEAT_INIT_NORMAL' if normal else 'PEAT_INIT_CONSTANT'}, {term(mean).text}, {term(std).text}, NULL}}"
        scope = SCOPE[("model", "layer", "share").index(scope)] if not self.combine else SCOPE[0]
        return (f"    peat_param_new(s, \"{name}\", {len(shape)}, (int64_t[]){{{', '.join(shape)}}},\n"
                f"                   (peat_init){init}, {scope}, 0);\n")

    def tensors(self) -> str:
        if "tensors" not in self.file.functions:
            return ""
        found = self.run("tensors")
        try:
            return "".join(self.tensor(n, *one) for n, one in found.items())
        except (Undecided, AttributeError, TypeError, ValueError):
            return self.remains("tensors", "    ")

    def widths(self) -> str:
        first = more = D = "*D"
        found = self.run("widths") if "widths" in self.file.functions else ([Term("*D")] * 2, Term("*D"))
        text = "" if found else self.remains("widths", "    ")
        if found:
            width, D = found if isinstance(found, tuple) else (found, Term("*D"))
            first, more, D = (term(x).text for x in (*width, D))
        each = first if first == more else f"i == 0 ? {first} : {more}"
        own = "widths" in self.file.functions
        noted = "    double *wide = peat_alloc(s, (size_t)n * sizeof(*wide));\n" if own else ""
        note = "        if (wide)\n            wide[i] = (double)width[i];\n" if own else ""
        said = "    peat_resolved_list(s, \"widths\", (peat_reals){wide ? n : 0, wide}); /* for PyTorch */\n" if own else ""
        return (text + noted + "    for (int32_t i = 0; i < n; i++) {\n        const int64_t is = width[i];\n"
                f"        width[i] = {each};\n"
                "        if (is && is != width[i])\n"
                "            return peat_refuse(s, \"'%s' is always %lld wide\", stream[i], (long long)is);\n"
                + note + "    }\n" + (f"    *D = {D};\n" if D != "*D" else "") + said)

    def setup(self) -> str:
        of = "int32_t n, const char *const *stream,\n" + " " * 25 + "int64_t *width, int64_t *D, " if self.combine else ""
        tensors = self.tensors()
        if "total" in tensors:
            tensors = ("    int64_t total = 0;\n    for (int32_t i = 0; i < n; i++)\n        total += width[i];\n" + tensors)
        body = (self.widths() if self.combine else "") + tensors
        unused = [] if "(s" in body or "s->" in body else ["s"]
        unused += ["self", *([] if "k->" in body else ["config"])]
        return (f"static peat_status setup(peat_setup *s, const void *config, {of}void **self)\n{{\n"
                + ("    const struct config *k = config;\n" if "k->" in body else "")
                + "".join(f"    (void){x};\n" for x in unused) + body + "    return PEAT_OK;\n}\n")

    # ---- the rest

    def remains(self, name, indent="") -> str:
        """A comment with the function as Python has it."""
        with open(self.file.path, encoding="utf-8") as f:
            lines = f.read().split("\n")
        function = self.file.functions[name]
        body = textwrap.dedent("\n".join(lines[function.lineno - 1:function.end_lineno]))
        body = body.replace("*/", "* /").replace("/*", "/ *")
        said = f"{indent}/* To be written, from {self.source}:\n{indent} *\n"
        return said + "".join(f"{indent} *   {line}".rstrip() + "\n" for line in body.split("\n")) + f"{indent} */\n"

    def hook(self, name) -> str:
        head, result, body = HOOK[name]
        return (self.remains(name).replace(":\n", f" ({result}):\n", 1) + "static " + folded(head) + "\n{\n"
                + "".join(f"    {line}\n" for line in body) + "}\n")

    def config(self) -> str:
        if not self.rows:
            return ""
        types = {"bool": "bool", "whole": "int64_t", "label": "int64_t", "real": "double"}
        labels = [r for r in self.rows if r["type"] == "label"]
        enums = "".join(f"enum {{ {', '.join(word(r['key'] + '_' + x) for x in r['labels'])} }};\n\n" for r in labels)
        lists = "".join(f"static const char *const {r['key']}_labels[] = {{{', '.join(map(json.dumps, r['labels']))}, NULL}};\n"
                        for r in labels)
        fields = "".join(f"    {types[r['type']]} {r['key']};\n" for r in self.rows)
        return (enums + "struct config {\n" + fields + "};\n\n" + lists + "static const peat_param rows[] = {\n"
                + "".join(map(self.row, self.rows)) + "    PEAT_PARAM_END,\n};\n")

    def row(self, r) -> str:
        kind = {"bool": "BOOL", "whole": "INT", "label": "ENUM", "real": "REAL"}[r["type"]]
        facts = [f".preset = {number(r['preset'])}"]
        if "least" in r:
            facts.append(f".min = {number(r['least'])}, .max = {number(r['most'])}")
        if kind == "ENUM":
            facts.append(f".labels = {r['key']}_labels")
        return (f"    {{\"{r['key']}\", PEAT_{kind}, offsetof(struct config, {r['key']}), {', '.join(facts)},\n"
                f"     .doc = {quoted(r['doc'])}}},\n")

    def interface(self) -> str:
        kind = self.file.kind
        facts = [f".size = sizeof({kind})"]
        if self.file.needs():
            facts.append(".needs = " + " | ".join(self.file.needs()))
        if self.file.attends():
            facts.append(".traits = PEAT_ACROSS")
        for name, (default, _) in CONSTANTS.items():
            if self.made[name] != default or self.combine and name == "min_streams":
                facts.append(f".{name} = {SCALE.get(self.made[name], self.made[name])}")
        hooks = [h for h in HOOKS if h in self.file.hooks]
        facts += [f".{h} = {h}" for h in (["setup"] if self.combine or "tensors" in self.file.functions else []) + hooks]
        return f"static const peat_{kind} {kind} = {{\n" + "".join(f"    {x},\n" for x in facts) + "};\n"

    def text(self) -> str:
        made = [self.hook(h) for h in self.file.hooks]
        zeros = [ZEROS] if any("zeros(" in m for m in made) else []
        names = self.run("tensors") if "tensors" in self.file.functions else {}
        enum = f"enum {{ {', '.join(map(word, names))} }}; /* handles, in the order of peat_param_new */\n" if names else ""
        setup = [self.setup()] if self.combine or "tensors" in self.file.functions else []
        macro = "PEAT_DEFINE" if self.rows else "PEAT_DEFINE_PLAIN"
        of = "struct config, rows, " if self.rows else ""
        define = (f"{macro}(PEAT_{self.file.kind.upper()}, {self.file.kind}, {of}\"{self.name}\", \"0.1\",\n"
                  f"            {quoted(self.made['summary'])}, \"MIT\", \"\")\n")
        head = (f"/* SPDX-License-Identifier: MIT */\n/* {self.name}.c: the twin in C of {self.source}: its "
                "parameters, its tensors, and hooks\n * that change nothing yet. */\n")
        head += "#include <math.h>\n\n#include <peat/plugin.h>\n"
        return "\n".join(x for x in [head, enum, self.config(), *setup, *zeros, *made, self.interface(), define] if x)


def word(name: str) -> str:
    return "".join(x if x.isalnum() and x.isascii() else "_" for x in name).upper()


def quoted(text: str) -> str:
    return json.dumps(" ".join(text.split()), ensure_ascii=False)


def folded(head: str) -> str:
    if len(head) < WIDTH:
        return head
    at = head.rindex(", ") + 1
    return head[:at] + "\n" + " " * (len("static ") + head.index("(") + 1) + head[at + 1:]


def write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
        f.write(text)


def main():
    path, name, folder = sys.argv[1:4]
    try:
        with open(path, encoding="utf-8") as f, open(os.path.join(folder, "Makefile"), encoding="utf-8") as make:
            formula, rules = f.read(), make.read()
        write(folder, name + ".c", Twin(path, name).text())
        write(folder, name + ".py", formula)
        write(folder, "Makefile", rules.replace("plugins check ./$<", "plugins check ./$< --reference $(NAME).py"))
    except (Mistake, OSError) as e:
        print(e, end="")
        sys.exit(1)


if __name__ == "__main__":
    main()
