/* SPDX-License-Identifier: MIT */
/*
 * test_formulas.c: `peat plugins check --reference` finds wrong formulas, and every scheme and
 * combination agrees in values and gradients with the formula.py beside its source, which has the
 * numbers that the code of the scheme's authors computed.
 */
#include "support/shell.h"
#include "support/support.h"

/* Debian's python3, which has PyTorch where it is installed, comes first. */
#define PYTHON "PATH=/usr/bin:$PATH "
#define CHECK  PYTHON "peat plugins check "

/* planted/<source>.c; its formula is <source>.py. */
static void build_from(const char *source, const char *crime)
{
    shell_expect(0,
                 "${CC:-cc} -std=c11 -O1 -Wall -Wextra -Werror -shared -fPIC -fvisibility=hidden "
                 "-DCRIME_%s -I\"$PEAT_SOURCE/include\" "
                 "\"$PEAT_SOURCE/tests/contract/planted/%s.c\" -o planted.so -lm",
                 crime, source);
}

static void build(const char *crime)
{
    build_from("formula", crime);
}

static const char *const crimes[][3] = {
    {"formula", "wrong_base", "qkv: q at [0, 0, 1, 2] is "},
    {"formula", "forgotten_root", "qkv: q at [0, 0, 0, 0] is "},
    {"formula", "swapped_pair", "qkv: q at [0, 0, 1, 0] is "},
    {"slope", "sign_when_far", "bias at [0, 0, 2, 0] is 0.2991780822"},
    {"slope", "floor_of_the_distance", "bias at [0, 0, 0, 0] is -0, "},
};
enum { CRIMES = sizeof(crimes) / sizeof(crimes[0]) };

LOOP_TEST(a_wrong_formula_is_found_by_its_reference_alone, CRIMES)
{
    build_from(crimes[_i][0], crimes[_i][1]);
    if (_i == 0 || strcmp(crimes[_i][0], crimes[_i - 1][0]) != 0)
        shell_expect(0, "peat plugins check ./planted.so");
    shell_says(1, crimes[_i][2],
               CHECK "./planted.so --only reference --reference "
                     "\"$PEAT_SOURCE/tests/contract/planted/%s.py\"",
               crimes[_i][0]);
    assert_printed(", and the formula gives ");
}

/* A change of the formula of a scheme. */
static const struct wrong {
    const char *scheme, *change;
} wrongs[] = {
    {"fope", "s/cies(base, /cies(base ** 1.5, /; s/)\\[:, ::.*/)[:, :1].expand(-1, n_out)/"},
    {"tupe", "s/^score_terms = 1/score_terms = 0/"},
    {"deberta", "s/^score_terms = 2/score_terms = 1/"},
    {"alibi", "s/slopes(H, delta)/slopes(H, delta).flip(0 if H > 3 else [])/"},
    {"bam", "s/slopes(H, alpha)/slopes(H, alpha).flip(0 if H > 3 else [])/"},
    {"t5_bias", "s/max=n - 1)/max=n - 2)/"},
    {"rotary2d",
     "s/in grid(pos, columns)/in (pos.flip(0) if pos.dim() == 3 else grid(pos, columns))/"},
    {"tupe", "s/theta_key/theta_/; s/theta_query/theta_key/; s/theta_\"/theta_query\"/"},
    {"query_temperature", "s/floor).floor/floor).round/"},
    {"tape_equivariant", "s/\\[layer\\] for/[min(layer, 1)] for/"},
};
enum { WRONGS = sizeof(wrongs) / sizeof(wrongs[0]) };

#define AGREE                                                                                      \
    "/usr/bin/python3 -I \"$PEAT_SOURCE\"/tests/contract/formulas.py "                             \
    "\"$PEAT_SOURCE\"/core/check/reference.py "

/* By calls of hooks or in whole models; right ones agree in every_plugin_agrees_with_its_reference
 * and integration.torch. */
TEST(a_wrong_formula_of_a_shipped_scheme_is_found)
{
    for (int i = 0; i < WRONGS; i++)
        shell_expect(0,
                     "mkdir -p %d/scheme/%s && cp \"$PEAT_SOURCE\"/plugins/scheme/formulas.py "
                     "%d/scheme && sed '%s' \"$PEAT_SOURCE\"/plugins/scheme/%s/formula.py "
                     ">%d/scheme/%s/formula.py",
                     i, wrongs[i].scheme, i, wrongs[i].change, wrongs[i].scheme, i,
                     wrongs[i].scheme);
    shell_says(1, "0 of 10 agree", AGREE "--models */scheme/*/ >out; s=$?; cat out; exit $s");
    shell_says(0, "10", "grep -c 'the formula' out");
}

static const char *const formulas[] = {"formula", "slope"};

LOOP_TEST(the_right_formula_passes, 2)
{
    build_from(formulas[_i], "sound");
    shell_says(0, "passed   reference",
               CHECK "./planted.so --only reference --reference "
                     "\"$PEAT_SOURCE/tests/contract/planted/%s.py\"",
               formulas[_i]);
}

/* Each is of NumPy, so that PyTorch is not loaded. */
static const struct mistake {
    const char *file, *says;
} mistakes[] = {
    {"def encode(pos):\n    return pos\n",
     "wrong.py has no function 'qkv'; 'qkv = None' leaves the hook out"},
    {"def qkv(q, k:\n", "wrong.py:1: SyntaxError: "},
    {"def qkv(q, k):\n    return q / nothing\n",
     "wrong.py:2: NameError: name 'nothing' is not defined"},
    {"def qkv(q, velocity):\n    return q\n", "qkv asks for 'velocity', which is not there; there "
                                              "are "},
    {"def qkv(q):\n    return q\n", "qkv returns 1 arrays, not 3"},
    {"def qkv(q, k):\n    return q[:, :, :1], k\n",
     "qkv: q has shape [8, 1, 7, 4], and the formula's has [8, 1, 1, 4]"},
    {"import sys\nsys.exit(0)\n", "wrong.py:2: SystemExit"},
};
enum { MISTAKES = sizeof(mistakes) / sizeof(mistakes[0]) };

LOOP_TEST(a_mistake_in_a_reference_is_one_line, MISTAKES)
{
    build("sound");
    shell_write("wrong.py", mistakes[_i].file);
    shell_says(1, mistakes[_i].says,
               "echo 'import numpy as np' >>wrong.py && " CHECK
               "./planted.so --only reference --reference wrong.py");
}

TEST(what_is_missing_is_said)
{
    build("sound");
    shell_write("right.py", "def qkv(q, k):\n    return q, k\n");
    shell_says(2, "cannot read the reference 'nowhere.py'",
               CHECK "./planted.so --reference nowhere.py");
    shell_says(2, "check 'reference' needs a --reference FILE",
               CHECK "./planted.so --only reference");
    shell_expect(0, "mkdir bin && ln -s \"$PEAT\" bin/peat");
    shell_says(
        1, "a reference needs python3, which is not installed",
        "PEAT_PYTHON= PATH=bin bin/peat plugins check ./planted.so --only reference --reference "
        "right.py");
    shell_write("bin/python3", "#!/bin/sh\nexec /usr/bin/python3 -S \"$@\"\n");
    shell_says(1,
               "a formula needs NumPy, which /usr/bin/python3 does not have (Debian: "
               "python3-numpy; PEAT_PYTHON names another interpreter)",
               "chmod +x bin/python3 && PEAT_PYTHON=bin/python3 peat plugins check ./planted.so "
               "--only reference --reference right.py");
    shell_says(1, "a reference needs 'nowhere/python3', which PEAT_PYTHON names and is not there",
               "PEAT_PYTHON=nowhere/python3 peat plugins check ./planted.so --only reference "
               "--reference right.py");
}

/* Each ends with the exit code 0, or is killed. */
TEST(a_reference_that_compares_nothing_fails)
{
    static const char *const reference[][2] = {
        {"qkv = None\n", "nothing.py compares nothing: it leaves out every hook"},
        {"import os\nos._exit(0)\n", "nothing.py ended before it had compared all calls"},
        {"import os\ndef qkv(q, k):\n    os._exit(0)\n", "nothing.py ended before"},
        {"import os\nif os.fork():\n    os._exit(0)\n", "nothing.py ended before"},
        {"import os\nos.kill(os.getpid(), 9)\n", "python3 was ended by SIGKILL"},
    };
    build("sound");
    for (size_t i = 0; i < sizeof(reference) / sizeof(*reference); i++) {
        shell_write("nothing.py", reference[i][0]);
        shell_says(1, reference[i][1],
                   CHECK "./planted.so --only reference --reference nothing.py");
    }
}

TEST(no_module_of_the_current_folder_is_imported)
{
    build("sound");
    shell_expect(0,
                 "mkdir formula && cp \"$PEAT_SOURCE\"/tests/contract/planted/formula.py formula; "
                 "for m in json numpy inspect traceback re types; do "
                 "echo \"raise SystemExit('taken')\" >$m.py; done");
    shell_says(0, "passed   reference",
               CHECK "./planted.so --only reference --reference formula/formula.py");
    shell_says(0, "passed   reference",
               "PYTHONPATH=$PWD " CHECK "./planted.so --only reference --reference "
               "formula/formula.py");
}

TEST(a_reference_that_does_not_end_is_ended)
{
    build("sound");
    shell_write("endless.py", "while True:\n    pass\n");
    shell_says(1, "timeout  reference               still running after 3 seconds",
               CHECK "./planted.so --only reference --timeout 3 --reference endless.py");
}

TEST(pytorch_compares_gradients_too)
{
    static const char right[] = "import torch\n\n\n"
                                "def bias_rel(delta, r1, r2, kind):\n"
                                "    m = torch.abs(delta)\n"
                                "    return -r1 * (torch.log(1 + r2 * m) if kind == 'log' else "
                                "m ** r2)\n";
    shell_write("right.py", right);
    shell_expect(0, CHECK "kerple --only reference --reference right.py");
    shell_says(1, "the gradient of position.1.kerple.r1 at [0, 0] is ",
               "sed 's/-r1/-r1.detach()/' right.py >wrong.py && " CHECK
               "kerple --only reference --reference wrong.py");
}

static const char *const kinds[] = {"scheme", "combine"};

LOOP_TEST(a_new_folder_agrees_with_its_reference, 2)
{
    shell_expect(0,
                 "peat plugins new wavelet --kind %s && cd wavelet && ${CC:-cc} -std=c11 -shared "
                 "-fPIC -I\"$PEAT_SOURCE/include\" wavelet.c -o wavelet.so -lm && " CHECK
                 "./wavelet.so --only reference --reference wavelet.py",
                 kinds[_i]);
}

TEST(every_plugin_agrees_with_its_reference)
{
    shell_expect(0, AGREE "\"$PEAT_SOURCE\"/plugins/scheme/*/ \"$PEAT_SOURCE\"/plugins/combine/*/");
}

TEST(a_plugin_that_does_not_agree_is_named)
{
    shell_expect(0, "mkdir combine; cp -r \"$PEAT_SOURCE\"/plugins/combine/sum "
                    "\"$PEAT_SOURCE\"/plugins/combine/multiply combine; "
                    "sed -i 's/return token_scale/return 2 * token_scale/' combine/sum/formula.py");
    shell_says(1, "1 of 2 agree; not sum", AGREE "combine/*");
    assert_printed(", and the formula gives ");
}

#define AUTHORS "/usr/bin/python3 \"$PEAT_SOURCE\"/tests/contract/authors.py "

TEST(formulas_have_the_numbers_of_their_authors_code)
{
    shell_says(0, "numbers of 26 schemes agree",
               AUTHORS "\"$PEAT_SOURCE\"/plugins \"$PEAT_SOURCE\"/tests/contract/authors.json");
    shell_says(1, "deberta: score_add at [0, 0, 2, 8] is ",
               "sed 's/\"p2c\": \"released\"/\"p2c\": \"paper\"/' "
               "\"$PEAT_SOURCE\"/tests/contract/authors.json >wrong.json && " AUTHORS
               "\"$PEAT_SOURCE\"/plugins wrong.json");
}

int main(void)
{
    return run_tests((struct tests){"formulas", shell_open, shell_close, .seconds = 600,
                                    .needs = "PEAT_SOURCE PEAT cc python3-torch"});
}
