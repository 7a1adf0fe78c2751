/* SPDX-License-Identifier: MIT */
/*
 * test_floors.c: the build refuses dependencies upwards. A copy of the sources gets one more file
 * in core/base, which includes or calls something of a room above.
 */
#include "support/shell.h"
#include "support/support.h"

static void copy_sources(void)
{
    shell_expect(
        0, "mkdir copy && for each in CMakeLists.txt cmake core include plugins providers; do "
           "cp -r \"$PEAT_SOURCE/$each\" copy/; done");
    shell_expect(0, "cmake -S copy -B build -DCMAKE_BUILD_TYPE=Debug -DBUILD_TESTING=OFF "
                    "-DCMAKE_C_FLAGS_DEBUG=-O0");
}

/* The exit status of building and linking core/base with this file in it. */
static int build_with(const char *planted)
{
    shell_write("copy/core/base/planted.c", planted);
    return shell_run("cmake --build build --target floor_base");
}

TEST(a_room_builds_with_the_rooms_below_alone)
{
    copy_sources();
    ck_assert_msg(build_with("#include \"base/error.h\"\nint planted(void);\n") == 0, "%s",
                  shell.printed.text);
    ck_assert_int_ne(build_with("#include \"plugin/registry.h\"\nint planted(void);\n"), 0);
    assert_printed("plugin/registry.h: No such file");
    ck_assert_int_ne(build_with("const void *host_table(void);\nconst void *planted(void);\n"
                                "const void *planted(void)\n{\n    return host_table();\n}\n"),
                     0);
    assert_printed("undefined reference to `host_table'");
}

int main(void)
{
    return run_tests(
        (struct tests){"floors", shell_open, shell_close, .seconds = 240, .needs = "PEAT_SOURCE"});
}
