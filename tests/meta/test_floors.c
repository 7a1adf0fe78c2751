/* SPDX-License-Identifier: MIT */
/*
 * test_floors.c: the build refuses dependencies upwards. A copy of the sources gets one more file
 * in core/base, which includes or calls something of a room above.
 */
#include <stdio.h>
#include <stdlib.h>

#include "support/shell.h"
#include "support/support.h"

static void copy_sources(struct shell *s)
{
    shell_expect(s, 0,
                 "mkdir copy && for each in CMakeLists.txt cmake core include plugins; do "
                 "cp -r \"$PEAT_SOURCE/$each\" copy/; done");
    shell_expect(s, 0,
                 "cmake -S copy -B build -DCMAKE_BUILD_TYPE=Debug -DBUILD_TESTING=OFF "
                 "-DCMAKE_C_FLAGS_DEBUG=-O0");
}

/* The exit status of building and linking core/base with this file in it. */
static int build_with(struct shell *s, const char *planted)
{
    shell_write(s, "copy/core/base/planted.c", planted);
    return shell_run(s, "cmake --build build --target floor_base");
}

START_TEST(a_room_builds_with_the_rooms_below_alone)
{
    struct shell s;
    shell_open(&s);
    copy_sources(&s);
    ck_assert_msg(build_with(&s, "#include \"base/error.h\"\nint planted(void);\n") == 0, "%s",
                  s.printed.text);
    ck_assert_int_ne(build_with(&s, "#include \"plugin/registry.h\"\nint planted(void);\n"), 0);
    ck_assert_msg(shell_printed(&s, "plugin/registry.h: No such file"), "%s", s.printed.text);
    ck_assert_int_ne(build_with(&s, "const void *host_table(void);\nconst void *planted(void);\n"
                                    "const void *planted(void)\n{\n    return host_table();\n}\n"),
                     0);
    ck_assert_msg(shell_printed(&s, "undefined reference to `host_table'"), "%s", s.printed.text);
    shell_close(&s);
}
END_TEST

int main(void)
{
    return run_list((struct tests){"floors", .seconds = 240, .needs = "PEAT_SOURCE"},
                    TESTS(a_room_builds_with_the_rooms_below_alone));
}
