/* SPDX-License-Identifier: MIT */
/* test_cookbook.c: docs/cookbook.md does what it says, with an installation and nothing else. */
#include "support/blocks.h"
#include "support/shell.h"
#include "support/support.h"

enum { FILES = 17, LINES_MAX = 90 };

static void open_cookbook(void)
{
    shell_open();
    ck_assert_int_ge(write_blocks("docs/cookbook.md"), FILES);
}

TEST(its_plugins_build_pass_and_train_from_an_installation)
{
    shell_expect(0, "cmake --install \"$PEAT_BUILD\" --prefix \"$PWD/peat\"");
    shell_expect(0, "HOME=$PWD sh -e cookbook.sh");
    shell_expect(0, "peat/bin/peat run cookbook.yaml -q train.steps=20 train.batch=4");
    shell_says(0, "12 done", "peat/bin/peat status runs/cookbook");
    shell_expect(0, "peat/bin/peat run across.yaml -q train.steps=20 train.batch=4");
    shell_says(0, "2 done", "peat/bin/peat status runs/across");
    shell_expect(0, "for f in *.so; do grep -q $f *.yaml || { echo $f; exit 1; }; done");
    shell_expect(0, "peat/bin/peat inspect ./adding.so --d 8 --T 4 --heads 2 --what angle -f npy "
                    "-o angle.npy");
    if (is_here("python3-numpy"))
        shell_expect(0, "/usr/bin/python3 compare.py");
}

TEST(its_plugins_are_short)
{
    shell_expect(0,
                 "for f in *.c *.cc; do n=$(wc -l <$f); "
                 "[ $n -lt %d ] || { echo $f: $n lines; bad=1; }; done; [ -z \"$bad\" ]",
                 LINES_MAX);
}

/* As meta.layout asks of the sources. */
TEST(its_plugins_are_as_clang_format_makes_them)
{
    if (is_here("clang-format-14"))
        shell_expect(0, "cp \"$PEAT_SOURCE/.clang-format\" . && "
                        "clang-format-14 --dry-run -Werror *.c *.cc");
}

int main(void)
{
    return run_tests(
        (struct tests){"cookbook", open_cookbook, shell_close, .seconds = 200,
                       .needs = "PEAT_SOURCE PEAT_BUILD PEAT cc c++ cmake pkg-config"});
}
