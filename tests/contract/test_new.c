/* SPDX-License-Identifier: MIT */
/* test_new.c: `peat plugins new` makes folders that build and pass their own check. */
#include "support/shell.h"
#include "support/support.h"

static const char *const kinds[] = {"scheme", "combine", "task"};

LOOP_TEST(a_new_folder_builds_from_the_build_tree_and_loads, 3)
{
    shell_says(0, "wrote wavelet/wavelet.c; edit it", "peat plugins new wavelet --kind %s",
               kinds[_i]);
    shell_expect(1, "grep -rn my_ wavelet");
    shell_expect(0, "cd wavelet && ls CMakeLists.txt Makefile README.md && "
                    "${CC:-cc} -std=c11 -Wall -Wextra -Werror -shared -fPIC -fvisibility=hidden "
                    "-I\"$PEAT_SOURCE/include\" wavelet.c -o wavelet.so -lm && "
                    "peat plugins check ./wavelet.so --only abi");
}

/* %s stands for the new plugin, as a path and as a name. */
static const char *const cell_of[] = {
    "position.scheme={plugin: %s}",
    "position.combine={plugin: %s}",
    "'task={plugin: %s}' train.seq_len=33",
};

static const char grid[] = "version: 1\n"
                           "name: new\n"
                           "defaults:\n"
                           "  task: {plugin: copy, symbols: 4}\n"
                           "  model: {d_model: 16, n_layer: 1, n_head: 2}\n"
                           "  position: {scheme: learned}\n"
                           "  train: {steps: 3, batch: 2, seq_len: 11}\n"
                           "  eval: {tokens: 64}\n";

/* Runs a cell with the plugin of kind `kind` called so. */
static void run_with(int kind, const char *called)
{
    char words[256];
    snprintf(words, sizeof(words), cell_of[kind], called);
    shell_expect(0, "rm -rf runs && prefix/bin/peat run grid.yaml -q %s%s%s", kind < 2 ? "'" : "",
                 words, kind < 2 ? "'" : "");
    shell_expect(0, "grep -q '\"state\": \"done\"' runs/new/cells/*/result.json");
}

LOOP_TEST(a_new_folder_builds_and_checks_itself_with_an_installation, 3)
{
    shell_expect(0, "cmake --install \"$PEAT_BUILD\" --prefix \"$PWD/prefix\"");
    shell_expect(0,
                 "prefix/bin/peat plugins new wavelet -k %s -o . | sed -n 's/^  //p' >next && "
                 "sh ./next",
                 kinds[_i]);
    assert_printed(" passed");
    shell_expect(0, "cd wavelet && cmake -S . -B b -DCMAKE_PREFIX_PATH=\"$PWD/../prefix\" && "
                    "cmake --build b && ctest --test-dir b --no-tests=error && cmake --install b");
    shell_write("grid.yaml", grid);
    run_with(_i, "./wavelet/wavelet.so");
    run_with(_i, "wavelet");
    shell_expect(0, "cd wavelet && printf '%%s\\n' '#include <math.h>' 'extern const double pi;' "
                    "'const double pi = M_PI;' >>wavelet.c && "
                    "make PEAT=\"$PWD/../prefix/bin/peat\"");
}

TEST(names_and_folders_that_cannot_be_are_refused)
{
    shell_says(2, "the name 'Wave' must start with a lower-case letter",
               "peat plugins new Wave -k task");
    shell_says(2, "the name 'a-b' may have lower-case letters, digits and underscores only",
               "peat plugins new a-b -k task");
    shell_expect(2, "peat plugins new ../x -k task");
    shell_says(2, "choose its kind: --kind scheme, combine or task", "peat plugins new wave");
    shell_expect(2, "peat plugins new wave -k model");
    shell_expect(2, "peat plugins new -k task");
    shell_says(2, "cannot make 'missing/wave': No such file or directory",
               "peat plugins new wave -k task -o missing");
    shell_says(2, "'wave' exists already", "mkdir wave && peat plugins new wave -k task");
    shell_expect(0, "[ -z \"$(ls wave)\" ]");
}

int main(void)
{
    return run_tests(
        (struct tests){"new", shell_open, shell_close, .seconds = 120,
                       .needs = "PEAT_SOURCE PEAT_BUILD PEAT cc cmake make pkg-config"});
}
