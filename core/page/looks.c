/* SPDX-License-Identifier: MIT */
/*
 * looks.c: the schemes of a grid, and their tables.
 *
 * Tables come from the schemes' own code, which runs in a process of its own: a plugin that is gone
 * or that crashes costs its picture, not the report.
 */
#include "looks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "tensor/gemm.h"

enum { POSITIONS_MAX = 256, SECONDS_MAX = 20 };

/* ---- which schemes ---- */

/* Parameters by themselves, and in the title as a person would write them. */
static void read_parameters(const struct value *scheme, struct arena *a, struct look *look)
{
    struct json given = json_map(a);
    struct strbuf title;
    strbuf_init(&title);
    strbuf_add(&title, look->request.scheme);
    for (int i = 0; i < scheme->n; i++) {
        const char *key = scheme->key[i];
        struct value *item = scheme->item[i];
        if (strcmp(key, "plugin") == 0 || strcmp(key, "where") == 0 || strcmp(key, "share") == 0)
            continue;
        json_put(given, key, item);
        strbuf_addf(&title, " %s=", key);
        if (item->kind == VALUE_TEXT)
            strbuf_add(&title, item->text);
        else
            json_print(item, JSON_CANONICAL, &title);
    }
    look->request.given = given.v;
    look->title = arena_strdup(a, title.text);
    strbuf_release(&title);
}

static bool read_look(const struct value *config, const struct value *scheme, struct arena *a,
                      struct look *look)
{
    const struct value *model = value_get(config, "model");
    int64_t T = json_get_int(value_get(config, "train"), "seq_len", 0);
    int64_t heads = json_get_int(model, "n_head", 1);
    *look = (struct look){.request = {.scheme = json_get_text(scheme, "plugin"),
                                      .d = json_get_int(model, "d_model", 0),
                                      .T = T < POSITIONS_MAX ? T : POSITIONS_MAX,
                                      .heads = heads}};
    if (!look->request.scheme || look->request.d <= 0 || T <= 0 || heads <= 0 ||
        strcmp(look->request.scheme, "none") == 0)
        return false;
    read_parameters(scheme, a, look);
    return true;
}

int looks_list(const struct results *r, struct arena *a, struct look look[LOOKS_MAX])
{
    int n = 0;
    for (int i = 0; i < r->n_cell; i++) {
        const struct value *config = r->cell[i].config;
        const struct value *schemes = value_get(value_get(config, "position"), "scheme");
        for (int k = 0; k < json_get_count(value_get(config, "position"), "scheme"); k++) {
            struct look one;
            bool seen = n == LOOKS_MAX || !read_look(config, schemes->item[k], a, &one);
            for (int m = 0; m < n && !seen; m++)
                seen = strcmp(look[m].title, one.title) == 0;
            if (!seen)
                look[n++] = one;
        }
    }
    return n;
}

/* ---- a table from another process ---- */

struct message {
    bool made;
    char text[1024]; /* what the table is, or why there is none */
    int64_t heads, rows, columns;
};

static int64_t count_of(const struct message *m)
{
    return (m->heads ? m->heads : 1) * m->rows * m->columns;
}

/* What plugins print is not for the reader of a report. */
static _Noreturn void make_table(const struct look *look, int fd)
{
    struct arena a;
    struct scheme_table t = {.what = ""};
    struct error err = {0};
    int null = open("/dev/null", O_WRONLY);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    alarm(SECONDS_MAX);
    arena_init(&a, "scheme", 1 << 20);
    struct team team = {1, NULL};
    parallel_start();
    peat_status status = gemm_start(&team, "auto", &err);
    if (status == PEAT_OK)
        status = scheme_table_make(&t, &look->request, &a, &err);
    struct message m = {status == PEAT_OK, "", t.heads, t.rows, t.columns};
    snprintf(m.text, sizeof(m.text), "%s", status == PEAT_OK ? t.what : err.text);
    if (fd_write(fd, &m, sizeof(m), NULL) == PEAT_OK && status == PEAT_OK)
        fd_write(fd, t.value, (size_t)count_of(&m) * sizeof(*t.value), NULL);
    _exit(0);
}

static bool read_all(int fd, void *bytes, size_t n)
{
    for (char *at = bytes; n;) {
        ssize_t got = read(fd, at, n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        n -= (size_t)got;
    }
    return true;
}

/* False: there is none, and why is in `why`. */
static bool read_table(struct arena *a, int fd, struct scheme_table *t, const char **why)
{
    struct message m;
    *why = "the plugin did not come back";
    if (!read_all(fd, &m, sizeof(m)))
        return false;
    const char *text = arena_strdup(a, m.text);
    if (!m.made) {
        *why = text;
        return false;
    }
    *t = (struct scheme_table){text, m.heads, m.rows, m.columns, NULL};
    t->value = ARENA_ARRAY(a, count_of(&m), float);
    return read_all(fd, t->value, (size_t)count_of(&m) * sizeof(float));
}

bool look_table(const struct look *look, struct arena *a, struct scheme_table *t, const char **why)
{
    int fd[2];
    *why = "there is no process for it";
    if (pipe2(fd, O_CLOEXEC) != 0)
        return false;
    pid_t pid = fork();
    if (pid == 0)
        make_table(look, fd[1]);
    close(fd[1]);
    bool made = pid > 0 && read_table(a, fd[0], t, why);
    close(fd[0]);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    return made;
}
