/* SPDX-License-Identifier: MIT */
/* shell.c: running commands in a temporary directory. */
#include "support/shell.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/file.h"

void shell_open(struct shell *s)
{
    *s = (struct shell){.dir = "/tmp/peat-test-XXXXXX"};
    strbuf_init(&s->printed);
    ck_assert_ptr_nonnull(mkdtemp(s->dir));
}

void shell_close(struct shell *s)
{
    dir_remove(s->dir, NULL);
    strbuf_release(&s->printed);
}

static int run(struct shell *s, const char *fmt, va_list args)
{
    struct strbuf command;
    strbuf_init(&command);
    strbuf_addf(&command, "unset PEAT_PLUGIN_PATH; HOME=/nonexistent; cd %s && { ", s->dir);
    strbuf_addv(&command, fmt, args);
    strbuf_add(&command, "\n} 2>&1");
    strbuf_clear(&s->printed);
    fflush(NULL);
    FILE *pipe = popen(command.text, "r");
    ck_assert_ptr_nonnull(pipe);
    char part[4096];
    for (size_t n; (n = fread(part, 1, sizeof(part), pipe)) > 0;)
        strbuf_add_bytes(&s->printed, part, n);
    int status = pclose(pipe);
    strbuf_release(&command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int shell_run(struct shell *s, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int status = run(s, fmt, args);
    va_end(args);
    return status;
}

void shell_expect(struct shell *s, int expected, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int status = run(s, fmt, args);
    va_end(args);
    ck_assert_msg(status == expected, "%s: exit status %d, expected %d\n%s", fmt, status, expected,
                  s->printed.text);
}

void shell_write(struct shell *s, const char *name, const char *text)
{
    char *path = path_join(s->dir, name);
    struct error err = {0};
    ck_assert_msg(file_write(path, text, strlen(text), &err) == PEAT_OK, "%s", err.text);
    free(path);
}

bool shell_printed(const struct shell *s, const char *text)
{
    return strstr(s->printed.text, text) != NULL;
}

char *shell_read(const struct shell *s, const char *name, size_t *n)
{
    char *path = path_join(s->dir, name), *text;
    struct error err = {0};
    ck_assert_msg(file_read(path, 0, &text, n, &err) == PEAT_OK, "%s", err.text);
    free(path);
    return text;
}

bool shell_has(const struct shell *s, const char *name)
{
    char *path = path_join(s->dir, name);
    bool there = file_exists(path);
    free(path);
    return there;
}
