/* SPDX-License-Identifier: MIT */
/* shell.c: running commands in a temporary directory. */
#include "support/shell.h"

#include <ctype.h>
#include <sys/wait.h>

#include "support/support.h"

struct shell shell;

void shell_open(void)
{
    shell = (struct shell){.dir = ""};
    strbuf_init(&shell.printed);
    new_folder(shell.dir, sizeof(shell.dir));
    setenv("PEAT_PYTHON", "/usr/bin/python3", 1); /* whose packages is_installed() asks about */
}

void shell_close(void)
{
    dir_remove(shell.dir, NULL);
    strbuf_release(&shell.printed);
}

static void add_option(const char *variable, const char *option)
{
    char options[512];
    const char *now = getenv(variable);
    snprintf(options, sizeof(options), "%s:%s", now ? now : "", option);
    setenv(variable, options, 1);
}

void shell_keep_signals(void)
{
    add_option("ASAN_OPTIONS", "handle_segv=0");
    add_option("TSAN_OPTIONS", "handle_segv=0");
}

static int run(const char *fmt, va_list args)
{
    struct strbuf command = STRBUF_NEW;
    strbuf_addf(
        &command,
        "unset PEAT_PLUGIN_PATH; HOME=/nonexistent; PATH=\"${PEAT%%/*}:$PATH\"; cd %s && { ",
        shell.dir);
    strbuf_addv(&command, fmt, args);
    strbuf_add(&command, "\n} 2>&1");
    strbuf_clear(&shell.printed);
    fflush(NULL);
    FILE *pipe = popen(command.text, "r");
    ck_assert_ptr_nonnull(pipe);
    char part[4096];
    for (size_t n; (n = fread(part, 1, sizeof(part), pipe)) > 0;)
        strbuf_add_bytes(&shell.printed, part, n);
    int status = pclose(pipe);
    strbuf_release(&command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int shell_run(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int status = run(fmt, args);
    va_end(args);
    return status;
}

/* The end of what was printed, where a failure is: Check refuses messages beyond 4 KB. */
static const char *end_of_printed(void)
{
    enum { SHOWN = 3000 };
    return shell.printed.text + (shell.printed.n > SHOWN ? shell.printed.n - SHOWN : 0);
}

static void expect(int expected, const char *fmt, va_list args)
{
    int status = run(fmt, args);
    ck_assert_msg(status == expected, "%.900s: exit status %d, expected %d\n%s", fmt, status,
                  expected, end_of_printed());
}

void shell_expect(int status, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    expect(status, fmt, args);
    va_end(args);
}

/* From the beginning of a line to its end. */
static bool has_line(const char *line)
{
    size_t n = strlen(line);
    for (const char *at = shell.printed.text; (at = strstr(at, line)); at++)
        if ((at == shell.printed.text || at[-1] == '\n') && (at[n] == '\n' || !at[n]))
            return true;
    return false;
}

void shell_prints(int status, const char *line, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    expect(status, fmt, args);
    va_end(args);
    ck_assert_msg(has_line(line), "%.900s: no line '%.200s' in:\n%s", fmt, line, end_of_printed());
}

static bool parts_word(char a, char b)
{
    return (isalnum((unsigned char)a) || a == '_') && (isalnum((unsigned char)b) || b == '_');
}

/* "2 done" is not in "12 done", nor "0.5" in "0.52". */
static bool has_words(const char *text)
{
    size_t n = strlen(text);
    for (const char *at = shell.printed.text; (at = strstr(at, text)); at++)
        if ((at == shell.printed.text || !parts_word(at[-1], text[0])) &&
            !parts_word(text[n - 1], at[n]))
            return true;
    return false;
}

void shell_says(int status, const char *text, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    expect(status, fmt, args);
    va_end(args);
    ck_assert_msg(has_words(text), "%.900s: no '%.100s' in:\n%s", fmt, text, end_of_printed());
}

void assert_printed(const char *text)
{
    ck_assert_msg(has_words(text), "no '%s' in:\n%s", text, end_of_printed());
}

void shell_write(const char *name, const char *text)
{
    char *path = path_join(shell.dir, name);
    struct error err = {0};
    ck_assert_msg(file_write(path, text, strlen(text), &err) == PEAT_OK, "%s", err.text);
    free(path);
}

bool shell_printed(const char *text)
{
    return strstr(shell.printed.text, text) != NULL;
}

char *shell_read(const char *name, size_t *n)
{
    char *path = path_join(shell.dir, name), *text;
    struct error err = {0};
    ck_assert_msg(file_read(path, 0, &text, n, &err) == PEAT_OK, "%s", err.text);
    free(path);
    return text;
}

bool shell_has(const char *name)
{
    char *path = path_join(shell.dir, name);
    bool there = file_exists(path);
    free(path);
    return there;
}
