/* SPDX-License-Identifier: MIT */
/*
 * Every file in bad/ is refused before anything is made: exit code 2, nothing on stdout, and on
 * stderr the one line that its own second line gives, with a place in the file. There DIR stands
 * for the folder, "..." at the end for the rest of a line.
 */
#include <sys/wait.h>

#include "support/support.h"

#define FILES_LEAST 30

static char work[64];

static void set_up(void)
{
    new_folder(work, sizeof(work));
}

static void tear_down(void)
{
    ck_assert_int_eq(dir_remove(work, NULL), PEAT_OK);
}

static const char *need(const char *name)
{
    const char *value = getenv(name);
    ck_assert_msg(value, "%s is not set", name);
    return value;
}

static char *read_output(const char *name)
{
    char *path = path_join(work, name), *text;
    size_t n;
    struct error err = {0};
    ck_assert_msg(file_read(path, 0, &text, &n, &err) == PEAT_OK, "%s", err.text);
    free(path);
    return text;
}

/* Runs the program in `work`; its exit code. Output goes to the files `out` and `err`. */
static int run(const char *verb, const char *file)
{
    struct strbuf command;
    strbuf_init(&command);
    strbuf_addf(&command, "cd '%s' && '%s' %s '%s' > out 2> err", work, need("PEAT"), verb, file);
    int status = system(command.text);
    strbuf_release(&command);
    ck_assert_msg(WIFEXITED(status), "%s: no exit", file);
    return WEXITSTATUS(status);
}

/* "peat: FILE:LINE:COLUMN: ..." from the file's second line. */
static void expected_line(const char *dir, const char *file, struct strbuf *out)
{
    char *text;
    size_t n;
    struct error err = {0};
    ck_assert_msg(file_read(file, 0, &text, &n, &err) == PEAT_OK, "%s", err.text);
    const char *line = strchr(text, '\n');
    ck_assert_msg(line && strncmp(line, "\n# ", 3) == 0, "%s tells no line", file);
    line += 3;
    const char *end = strchr(line, '\n');
    strbuf_addf(out, "peat: %s:", file);
    while (line < end) {
        bool dir_here = strncmp(line, "DIR", 3) == 0;
        if (dir_here)
            strbuf_add(out, dir);
        else
            strbuf_add_bytes(out, line, 1);
        line += dir_here ? 3 : 1;
    }
    strbuf_add(out, "\n");
    free(text);
}

static void assert_line(const char *file, const char *got, const char *expected)
{
    const char *dots = strstr(expected, "...\n");
    size_t n = dots ? (size_t)(dots - expected) : strlen(expected);
    bool one_line = strchr(got, '\n') == got + strlen(got) - 1;
    ck_assert_msg(strncmp(got, expected, n) == 0 && (dots || !got[n]) && one_line,
                  "%s\nexpected: %sgot:      %s", file, expected, got);
}

static void assert_nothing_made(const char *file)
{
    char **name;
    int n;
    ck_assert_int_eq(dir_list(work, &name, &n, NULL), PEAT_OK);
    ck_assert_msg(n == 2, "%s: %d entries beside out and err", file, n - 2);
    names_free(name, n);
}

static void assert_refused(const char *verb, const char *dir, const char *file)
{
    struct strbuf expected;
    strbuf_init(&expected);
    expected_line(dir, file, &expected);
    int code = run(verb, file);
    char *out = read_output("out"), *err = read_output("err");
    assert_line(file, err, expected.text);
    ck_assert_msg(code == 2, "%s: exit code %d", file, code);
    ck_assert_msg(!out[0], "%s: prints %s", file, out);
    assert_nothing_made(file);
    free(out);
    free(err);
    strbuf_release(&expected);
}

static bool is_yaml(const char *name)
{
    size_t n = strlen(name);
    return n > 5 && strcmp(name + n - 5, ".yaml") == 0;
}

static void assert_all_refused(const char *verb)
{
    char *dir = path_join(need("PEAT_SOURCE"), "tests/integration/bad"), **name;
    int n, files = 0;
    ck_assert_int_eq(dir_list(dir, &name, &n, NULL), PEAT_OK);
    for (int i = 0; i < n; i++) {
        if (!is_yaml(name[i]))
            continue;
        char *file = path_join(dir, name[i]);
        assert_refused(verb, dir, file);
        free(file);
        files++;
    }
    ck_assert_int_ge(files, FILES_LEAST);
    names_free(name, n);
    free(dir);
}

START_TEST(validate_refuses_each_with_one_placed_line)
{
    assert_all_refused("validate");
}
END_TEST

START_TEST(run_refuses_each_with_the_same_line_and_makes_nothing)
{
    if (run("run", "--help") == 0)
        assert_all_refused("run");
}
END_TEST

int main(void)
{
    return run_list((struct tests){"bad experiments", set_up, tear_down, 120},
                    TESTS(validate_refuses_each_with_one_placed_line,
                          run_refuses_each_with_the_same_line_and_makes_nothing));
}
