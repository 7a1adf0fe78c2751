/* SPDX-License-Identifier: MIT */
/*
 * test_idea.c: a scheme that is Python alone, for run.engine: torch, and formulas that fail.
 * Skipped where PyTorch is not installed.
 */
#include "support/shell.h"
#include "support/support.h"

static const char experiment[] =
    "version: 2\n"
    "name: idea\n"
    "defaults:\n"
    "  task: {plugin: copy, symbols: 8}\n"
    "  model: {d_model: 16, n_layer: 2, n_head: 2, d_ff: 24}\n"
    "  train: {steps: 10, batch: 8, seq_len: 24, lr: 1e-2}\n"
    "  eval: {lengths: [8], tokens: 200}\n"
    "matrix:\n"
    "  position.scheme: [none, rotary, ./idea.py, {plugin: ./idea.py, kind: log, "
    "where: {heads: [1, 1]}}]\n"
    "seeds: 1\n"
    "report: {metric: loss}\n";

static const char idea[] =
    "parameters = {'start': (0.1, 0, 10, 'first slope of every head'),\n"
    "              'kind': ('root', ['root', 'log'], 'how logits fall with distance')}\n"
    "\n"
    "def tensors(H, start):\n"
    "    return {'slope': ((H, 1), start)}\n"
    "\n"
    "def bias_rel(delta, slope, kind):\n"
    "    far = delta.abs().to(slope.dtype)\n"
    "    return -slope * (far.sqrt() if kind == 'root' else far.log1p())\n";

static void write_idea(void)
{
    shell_write("idea.yaml", experiment);
    shell_write("idea.py", idea);
}

/* The reason of each cell that fails; the grid goes on. */
START_TEST(a_formula_that_fails_is_named_with_its_line)
{
    write_idea();
    shell_write("raises.py", "def bias_rel(delta, H):\n    return delta.sqrrt()\n");
    shell_write("narrow.py", "def qkv(q, k):\n    return q[..., 1:], k[..., 1:]\n");
    shell_write("number.py", "def bias_rel(delta):\n    return 0.5\n");
    shell_expect(1, "peat run idea.yaml -o r -j 2 run.engine=torch 'position.scheme=[none, "
                    "{plugin: alibi, formula: raises.py}, {plugin: rotary, formula: narrow.py}, "
                    "{plugin: alibi_learned, formula: number.py}]'");
    assert_printed("/raises.py:2: bias_rel, layer 0: AttributeError: 'Tensor' object has no "
                   "attribute 'sqrrt' (delta [");
    assert_printed(
        "/narrow.py: qkv, layer 0 returned a tensor [8, 2, 22, 7], and q is [8, 2, 22, 8]");
    assert_printed("/number.py: bias_rel, layer 0 returned a float");
    assert_printed("4 cells: 1 done, 3 failed");
}
END_TEST

START_TEST(an_idea_in_python_alone_stands_beside_other_schemes)
{
    write_idea();
    shell_says(2, "idea.py' is Python alone: run.engine: torch computes it, and peat's own engine "
                  "needs a twin in C, which 'peat plugins new --from /",
               "peat run idea.yaml -o r");
    shell_says(0, "\nidea(kind=log,where={heads=[1,1]})",
               "peat run idea.yaml -o r run.engine=torch -j 2");
    assert_printed("4 cells: 4 done");
    shell_says(0, "4 cells, 4 finished, 0 problems", "peat verify r");
    /* Its content is a part of the cell's identity. */
    shell_expect(0, "ls r/cells | sort > was; echo '# another' >> idea.py; "
                    "peat plan idea.yaml run.engine=torch --ids | sort > is; "
                    "test $(comm -12 was is | wc -l) = 2");
}
END_TEST

static void assert_idea_refused(const char *from, const char *to, const char *why)
{
    write_idea();
    shell_expect(0, "sed -i \"s/%s/%s/\" idea.py", from, to);
    shell_says(2, why, "peat plan idea.yaml run.engine=torch");
    assert_printed("idea.yaml:");
}

START_TEST(mistakes_in_an_idea_are_placed)
{
    assert_idea_refused("0.1, 0, 10", "0.1, 1, 10",
                        "/idea.py:1:24: parameter 'start' is (default, least, most, meaning)");
    assert_idea_refused("'kind': (", "'kind': max(", "/idea.py:2:23: parameters is a literal");
    assert_idea_refused("(H, 1)", "(H, 1.5)", "/idea.py:4:1: tensor 'slope' is (shape, start)");
    assert_idea_refused("(H, start)", "(H, begin)",
                        "/idea.py:4:16: tensors asks for 'begin', which is not there; there are ");
    assert_idea_refused("def bias_rel(", "def bias_rel((", "/idea.py:7:14: ");
}
END_TEST

int main(void)
{
    if (!is_here("PEAT PEAT_SOURCE python3-torch"))
        return SKIPPED;
    setenv("PEAT_PYTHON", "/usr/bin/python3", 1);
    return run_list((struct tests){"idea", shell_open, shell_close, .seconds = 250},
                    TESTS(an_idea_in_python_alone_stands_beside_other_schemes,
                          mistakes_in_an_idea_are_placed,
                          a_formula_that_fails_is_named_with_its_line));
}
