/* SPDX-License-Identifier: MIT */
/* test_headers.c: each SDK header compiles alone in C11 and C++17, and its ABI is the build's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <peat/plugin.h>

#include "base/file.h"
#include "base/strbuf.h"
#include "support/support.h"

static int shell(const char *command)
{
    fflush(NULL);
    return system(command);
}

static const char *from_environment(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

static bool runs(const char *compiler)
{
    char command[512];
    snprintf(command, sizeof(command), "%s --version >/dev/null 2>&1", compiler);
    return shell(command) == 0;
}

/* Each header by itself, as the only thing a file includes. */
static void assert_compile_alone(const char *compiler, const char *language, const char *standard)
{
    const char *root = getenv("PEAT_SOURCE");
    char *dir = path_join(root, "include/peat"), **name;
    int n;
    ck_assert_int_eq(dir_list(dir, &name, &n, NULL), PEAT_OK);
    ck_assert_int_gt(n, 0);
    for (int i = 0; i < n; i++) {
        char command[2048];
        snprintf(
            command, sizeof(command),
            "echo '#include <peat/%s>' | %s -x %s -std=%s -fsyntax-only -Wall -Wextra -Wshadow "
            "-Wconversion -Werror -I'%s/include' -",
            name[i], compiler, language, standard, root);
        ck_assert_msg(shell(command) == 0, "%s", command);
    }
    names_free(name, n);
    free(dir);
}

START_TEST(headers_compile_alone_as_c11)
{
    const char *compiler = from_environment("CC", "cc");
    if (runs(compiler))
        assert_compile_alone(compiler, "c", "c11");
    else
        printf("skipped: no C compiler\n");
}
END_TEST

START_TEST(headers_compile_alone_as_cpp17)
{
    const char *compiler = from_environment("CXX", "c++");
    if (runs(compiler))
        assert_compile_alone(compiler, "c++", "c++17");
    else
        printf("skipped: no C++ compiler\n");
}
END_TEST

START_TEST(the_abi_is_the_same_in_numbers_in_text_and_in_the_build)
{
    char text[32], line[64], *lists;
    snprintf(text, sizeof(text), "%d.%d", PEAT_ABI_MAJOR, PEAT_ABI_MINOR);
    ck_assert_str_eq(text, PEAT_ABI);
    char *path = path_join(getenv("PEAT_SOURCE"), "CMakeLists.txt");
    size_t n;
    ck_assert_int_eq(file_read(path, 0, &lists, &n, NULL), PEAT_OK);
    snprintf(line, sizeof(line), "set(PEAT_ABI \"%s\")", PEAT_ABI);
    ck_assert_msg(strstr(lists, line) != NULL, "CMakeLists.txt has no %s", line);
    free(lists);
    free(path);
}
END_TEST

/* The first four fields may never move: they are how any host reads any plugin. */
START_TEST(the_first_fields_of_a_descriptor_stay_where_they_are)
{
    ck_assert_uint_eq(offsetof(peat_plugin, magic), 0);
    ck_assert_uint_eq(offsetof(peat_plugin, size), 4);
    ck_assert_uint_eq(offsetof(peat_plugin, abi_major), 8);
    ck_assert_uint_eq(offsetof(peat_plugin, abi_minor), 12);
}
END_TEST

START_TEST(each_struct_that_crosses_begins_with_its_size)
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
END_TEST

int main(void)
{
    return run_list((struct tests){"headers", .seconds = 60, .needs = "PEAT_SOURCE"},
                    TESTS(headers_compile_alone_as_c11, headers_compile_alone_as_cpp17,
                          the_abi_is_the_same_in_numbers_in_text_and_in_the_build,
                          the_first_fields_of_a_descriptor_stay_where_they_are,
                          each_struct_that_crosses_begins_with_its_size));
}
