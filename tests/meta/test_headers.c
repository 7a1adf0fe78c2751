/* SPDX-License-Identifier: MIT */
/* test_headers.c: each SDK header compiles alone in C11 and C++17, and its ABI is the build's. */
#include <peat/plugin.h>

#include "support/shell.h"
#include "support/support.h"

/* Each header by itself, as the only thing a file includes. */
static void assert_compile_alone(const char *compiler, const char *language, const char *standard)
{
    shell_expect(0,
                 "for h in \"$PEAT_SOURCE\"/include/peat/*.h; do "
                 "echo \"#include <peat/${h##*/}>\" | %s -x %s -std=%s -fsyntax-only -Wall -Wextra "
                 "-Wshadow -Wconversion -Werror -I\"$PEAT_SOURCE/include\" - || bad=1; done; "
                 "[ -z \"$bad\" ]",
                 compiler, language, standard);
}

TEST(headers_compile_alone_as_c11)
{
    assert_compile_alone("${CC:-cc}", "c", "c11");
}

TEST(headers_compile_alone_as_cpp17)
{
    assert_compile_alone("${CXX:-c++}", "c++", "c++17");
}

TEST(the_abi_is_the_same_in_numbers_in_text_and_in_the_build)
{
    char text[32];
    snprintf(text, sizeof(text), "%d.%d", PEAT_ABI_MAJOR, PEAT_ABI_MINOR);
    ck_assert_str_eq(text, PEAT_ABI);
    shell_expect(0, "grep -qF 'set(PEAT_ABI \"%s\")' \"$PEAT_SOURCE/CMakeLists.txt\"", PEAT_ABI);
}

/* The first four fields may never move: they are how any host reads any plugin. */
TEST(the_first_fields_of_a_descriptor_stay_where_they_are)
{
    ck_assert_uint_eq(offsetof(peat_plugin, magic), 0);
    ck_assert_uint_eq(offsetof(peat_plugin, size), 4);
    ck_assert_uint_eq(offsetof(peat_plugin, abi_major), 8);
    ck_assert_uint_eq(offsetof(peat_plugin, abi_minor), 12);
}

TEST(each_struct_that_crosses_begins_with_its_size)
{
    ck_assert_uint_eq(offsetof(peat_scheme, size), 0);
    ck_assert_uint_eq(offsetof(peat_combine, size), 0);
    ck_assert_uint_eq(offsetof(peat_task, size), 0);
    ck_assert_uint_eq(offsetof(peat_host, size), 0);
    ck_assert_uint_eq(offsetof(peat_ops, size), 0);
    ck_assert_uint_eq(offsetof(peat_call, size), 0);
    ck_assert_uint_eq(offsetof(peat_side, size), 0);
    ck_assert_uint_eq(offsetof(peat_dims, size), 0);
    ck_assert_uint_eq(offsetof(peat_batch, size), 0);
    ck_assert_uint_eq(offsetof(peat_op, size), 0);
}

int main(void)
{
    return run_tests((struct tests){"headers", shell_open, shell_close, .seconds = 60,
                                    .needs = "PEAT_SOURCE PEAT cc c++"});
}
