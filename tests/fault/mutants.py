#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Wrong lines, planted one at a time in a copy of the tree: some test must fail for each.

  tests/fault/mutants.py [--check] [--only WORD] [--folder FOLDER] [--jobs 2]

--check only says whether the lines still stand in the tree, once each. --only plants those whose file has WORD
in its name, --folder keeps the copy and its build for the next time. Exit status 1 when a wrong line is
noticed by no test, when it does not compile, or when the tests fail without it.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import typing

TREE = pathlib.Path(__file__).resolve().parents[2]
TESTS = ["--test-dir", "build/release", "--label-exclude", "long"]  # also those that the release preset leaves out


class Mutant(typing.NamedTuple):
    file: str
    old: str  # occurs once in the file
    new: str
    tests: str  # those that ought to notice: a regular expression


MUTANTS = [
    # maths
    Mutant("core/maths/strata.c", "out->df2 = (k - 1.0) * (n - 1);", "out->df2 = k * (n - 1.0);",
           "unit.(strata|statistics)$"),
    Mutant("core/maths/paired_tests.c", "0.5 * (double)(i + 1 + end)", "(double)(j + 1)", "unit.statistics$"),
    # tensor, autograd
    Mutant("core/tensor/reduce.c", "for (int64_t i = 0; i < r.tiles; i++) {", "for (int64_t i = r.tiles; i-- > 0;) {",
           "unit.(tensor|ops|parallel)$|grad.ops$"),
    Mutant("core/autograd/op_loss.c", ".target = target + first,", ".target = target,",
           "grad.nn_ops$"),
    Mutant("core/autograd/op_recurrence.c",
           "last >= 0 && (!m->doc_k || m->doc_k[t] == m->doc_k[last]);", "last >= 0;",
           "unit.(ops|mixers)$|grad.(ops|mixers)$"),
    # nn
    Mutant("core/nn/stored.c", "return op_pad(g, term, 3, pass->span.front, 0);",
           "return op_pad(g, term, 3, 0, pass->span.front);", "unit.attention$|grad.(class|hooks|freeze)$"),
    Mutant("core/nn/pass.c", "from + (i + 1) * T - side->T", "from + i * T",
           "unit.attention$|grad.(hooks|seq2seq)$|plugin.(path|token_shift|cope)$|integration.decode$"),
    # train
    Mutant("core/train/decode.c", "bool higher = x > top;", "bool higher = x >= top;", "unit.trainer$|integration.decode$"),
    Mutant("core/train/evaluate.c", 'i ? "report" : "choose"', 'i ? "choose" : "report"',
           "unit.(trainer|best_over)$|integration.best_over$"),
    Mutant("core/train/rows/optimiser_rows.c", "(sqrt(v_scale * v[i]) + eps)", "sqrt(v_scale * v[i] + eps)", "unit.adamw$"),
    # cell, experiment, grid, base
    Mutant("core/cell/cellresult.c", "q[Q_WALL_S] = t->train_seconds;\n    q[Q_EVAL_S] = t->eval_seconds;",
           "q[Q_WALL_S] = t->eval_seconds;\n    q[Q_EVAL_S] = t->train_seconds;",
           "unit.quantities$|integration.csv$"),
    Mutant("core/cell/cellresult.c", "step[] = {1, t->train->steps}", "step[] = {1, 1}",
           "integration.csv$"),
    Mutant("core/experiment/points.c", "return ok && apply(p, &point->tree, e->command_line);",
           "for (int i = 0; ok && i < e->n_axis; i++)\n"
           "        ok = apply(p, &point->tree, axis_setting(&e->axis[i], point->label[i]));\n"
           "    return ok && apply(p, &point->tree, e->command_line);",
           "unit.(experiment|params)$|integration.(plan|labels)$"),
    Mutant("core/grid/best.c", "row->goal_max ? x > best : x < best", "row->goal_max ? x >= best : x <= best",
           "unit.best_over$|integration.best_over$"),
    Mutant("core/base/file_write.c", "bad = fsync(fd);", "(void)!fsync(fd);", "unit.file$|fault.(calls|disk)$"),
    # report, page, plot
    Mutant("core/report/table_columns.c", "OF_SUMMARY(diff.p_t_holm)", "OF_SUMMARY(diff.p_t)", "unit.(quantities|results)$"),
    Mutant("core/report/claim_verdict.c", "-effect - c->margin : effect - c->margin",
           "-effect + c->margin : effect - c->margin", "unit.claims$|integration.claims$"),
    Mutant("core/page/html_verdict.c", "s->diff.ci_low > 0.0 || s->diff.ci_high < 0.0",
           "s->diff.ci_low > 0.0 || s->diff.ci_low < 0.0", "unit.html$"),
    Mutant("core/page/html_verdict.c", "d->p_holm, d->n, p->r", "d->p, d->n, p->r", "unit.(html|quantities)$"),
    Mutant("core/plot/plot_cost.c", "return row->q[Q_PARAMS];", "return row->q[Q_FLOPS_PER_TOKEN];", "unit.plot$"),
    # check, diagnose
    Mutant("core/check/check_sequence.c", "in->pad[b * in->T + j]", "in->pad[b * in->T + i]",
           "contract.(check|thorough)$"),
    Mutant("core/diagnose/attention_profile.c", "? value - bias - x->plain[", "? value + bias - x->plain[",
           "unit.diagnose$"),
    Mutant("core/diagnose/logit_terms.c", "sum[i] = sum[i] * seen->scale +", "sum[i] = sum[i] +",
           "unit.diagnose$"),
    # plugins
    Mutant("plugins/scheme/huang/huang.c", "relative_index_back(c, c->k, c->q, lo, hi)",
           "relative_index(c, c->k, c->q, lo, hi)", "plugin.huang$"),
    Mutant("plugins/task/text/text.c", "*code < 0xe000", "*code < 0xdfff", "plugin.text$"),
]


def missing(mutant):
    """Why it cannot be planted; "" when it can."""
    path = TREE / mutant.file
    count = path.read_text().count(mutant.old) if path.exists() else 0
    return "" if count == 1 else f"{mutant.file}: {count} times, not once: {mutant.old}"


def check():
    wrong = list(filter(None, map(missing, MUTANTS)))
    print("\n".join(wrong) or f"{len(MUTANTS)} lines stand where they are to be made wrong")
    return not wrong


class Copy:
    """A copy of the tree's files as they are now, with a build of its own."""

    def __init__(self, folder, jobs):
        self.tree, self.jobs = folder / "tree", str(jobs)
        self.log = open(folder / "log", "w", encoding="utf-8")
        names = subprocess.run(["git", "ls-files", "-z"], cwd=TREE, check=True, stdout=subprocess.PIPE, text=True)
        own = {name for name in names.stdout.split("\0") if (TREE / name).is_file()}
        for name in own:
            self.put(name, (TREE / name).read_bytes())
        for path in self.tree.rglob("*"):  # what an earlier tree had
            name = path.relative_to(self.tree)
            if path.is_file() and name.parts[0] != "build" and str(name) not in own:
                path.unlink()
        self.environment = dict(os.environ, CCACHE_BASEDIR=str(self.tree), CCACHE_NOHASHDIR="1",
                                CMAKE_BUILD_PARALLEL_LEVEL=self.jobs,
                                CK_TIMEOUT_MULTIPLIER="10")  # a busy machine notices nothing
        if shutil.which("ccache"):
            self.environment.setdefault("CMAKE_C_COMPILER_LAUNCHER", "ccache")
        if self.call("cmake", "--preset", "release").returncode:
            sys.exit(f"cmake fails: see {self.log.name}")

    def put(self, name, content):
        """Files that are as they were keep their times, so that they are not built again."""
        path = self.tree / name
        if path.exists() and path.read_bytes() == content:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        shutil.copymode(TREE / name, path)

    def call(self, *words):
        done = subprocess.run(words, cwd=self.tree, env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        print(" ".join(words), done.stdout, sep="\n", file=self.log, flush=True)
        return done

    def names(self, tests):
        listed = self.call("ctest", *TESTS, "-N").stdout
        return [name for name in re.findall(r"#\d+: (\S+)", listed) if re.search(tests, name)]

    def build(self, names):
        targets = [name.replace(".", "_") for name in names]
        return names and self.call("cmake", "--build", "--preset", "release", "--target", *targets).returncode == 0

    def failing(self, names):
        either = "|".join(f"^{name}$" for name in names)
        out = self.call("ctest", *TESTS, "--output-on-failure", "-j", self.jobs, "-R", either).stdout
        return re.findall(r"^\s+\d+ - (\S+) \((?!Skipped)", out, re.MULTILINE)

    def noticed(self, mutant):
        """Whether some test fails, and in words which."""
        names, right = self.names(mutant.tests), (self.tree / mutant.file).read_text()
        self.put(mutant.file, right.replace(mutant.old, mutant.new).encode())
        built = self.build(names)
        failing = self.failing(names) if built else []
        self.put(mutant.file, right.encode())
        return bool(failing), ", ".join(failing) or ("NOBODY" if built else "it does not compile")


def plant(copy, mutants):
    every = copy.names("|".join(mutant.tests for mutant in mutants))
    if not copy.build(every) or copy.failing(every):
        sys.exit(f"tests fail without any wrong line: see {copy.log.name}")
    good = True
    for mutant in mutants:
        noticed, words = copy.noticed(mutant)
        good = good and noticed
        print(f"{mutant.file:36} {mutant.new.splitlines()[0][:60]:60} {words}", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    planted = check()
    if options.check or not planted:
        sys.exit(not planted)
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.folder or pathlib.Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        sys.exit(not plant(Copy(folder, options.jobs), [m for m in MUTANTS if options.only in m.file]))


if __name__ == "__main__":
    main()
