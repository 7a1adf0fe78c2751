/* SPDX-License-Identifier: MIT */
/*
 * html_schemes.c: what each scheme of the grid looks like before training.
 *
 * Tables come from the schemes' own code, which runs in a process of its own: a plugin that is gone
 * or that crashes costs its picture, not the report.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "inspect/describe.h"
#include "page/html.h"
#include "plot/heatmap.h"
#include "report/fields.h"
#include "tensor/gemm.h"

enum { SCHEMES_MAX = 32, POSITIONS_MAX = 256, HEADS_MAX = 8, SECONDS_MAX = 20 };

/* A scheme with its parameters, as it stands in some cell. */
struct look {
    const char *title;
    struct scheme_request request;
};

/* ---- which schemes ---- */

static const char *json_text(struct html_page *p, const struct value *v)
{
    struct strbuf text;
    strbuf_init(&text);
    value_to_json(v, true, 0, &text);
    const char *kept = arena_strdup(p->a, text.text);
    BUG_UNLESS(kept);
    strbuf_release(&text);
    return kept;
}

/* key=value for each parameter; JSON is YAML. The title leaves the quotes away. */
static void read_words(struct html_page *p, const struct value *scheme, struct look *look)
{
    char **word = arena_array(p->a, (size_t)scheme->n + 1, sizeof(*word));
    struct strbuf title;
    BUG_UNLESS(word);
    strbuf_init(&title);
    strbuf_add(&title, look->request.scheme);
    for (int i = 0; i < scheme->n; i++) {
        const char *key = scheme->key[i];
        if (strcmp(key, "plugin") == 0 || strcmp(key, "where") == 0 || strcmp(key, "share") == 0)
            continue;
        char *text = arena_printf(p->a, "%s=%s", key, json_text(p, scheme->item[i]));
        BUG_UNLESS(text);
        word[look->request.n_word++] = text;
        strbuf_addf(&title, " %s=%s", key,
                    scheme->item[i]->kind == VALUE_TEXT ? scheme->item[i]->text
                                                        : strchr(text, '=') + 1);
    }
    look->request.word = word;
    look->title = arena_strdup(p->a, title.text);
    BUG_UNLESS(look->title);
    strbuf_release(&title);
}

static bool read_look(struct html_page *p, const struct value *config, const struct value *scheme,
                      struct look *look)
{
    const struct value *model = value_get(config, "model");
    int64_t T = member_integer(value_get(config, "train"), "seq_len", 0);
    int64_t heads = member_integer(model, "n_head", 1);
    *look = (struct look){.request = {.scheme = member_text(scheme, "plugin"),
                                      .d = member_integer(model, "d_model", 0),
                                      .T = T < POSITIONS_MAX ? T : POSITIONS_MAX,
                                      .heads = heads}};
    if (!look->request.scheme || look->request.d <= 0 || T <= 0 || heads <= 0 ||
        strcmp(look->request.scheme, "none") == 0)
        return false;
    read_words(p, scheme, look);
    return true;
}

/* Each once, at the sizes of the first cell that has it. */
static int list_looks(struct html_page *p, struct look *look)
{
    int n = 0;
    for (int i = 0; i < p->r->n_cell; i++) {
        const struct value *config = p->r->cell[i].config;
        const struct value *schemes = value_get(value_get(config, "position"), "scheme");
        for (int k = 0; schemes && schemes->kind == VALUE_LIST && k < schemes->n; k++) {
            bool seen = n == SCHEMES_MAX || !read_look(p, config, schemes->item[k], &look[n]);
            for (int m = 0; m < n && !seen; m++)
                seen = strcmp(look[m].title, look[n].title) == 0;
            n += !seen;
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
static bool read_table(struct html_page *p, int fd, struct scheme_table *t, const char **why)
{
    struct message m;
    *why = "the plugin did not come back";
    if (read_all(fd, &m, sizeof(m)) == PEAT_OK)
        return false;
    const char *text = arena_strdup(p->a, m.text);
    BUG_UNLESS(text);
    if (!m.made) {
        *why = text;
        return false;
    }
    *t = (struct scheme_table){text, m.heads, m.rows, m.columns, NULL};
    t->value = ARENA_ARRAY(p->a, count_of(&m), float);
    return t->value && read_all(fd, t->value, (size_t)count_of(&m) * sizeof(float));
}

static bool fetch_table(struct html_page *p, const struct look *look, struct scheme_table *t,
                        const char **why)
{
    int fd[2];
    *why = "there is no process for it";
    if (pipe2(fd, O_CLOEXEC) != 0)
        return false;
    pid_t pid = fork();
    if (pid == 0)
        make_table(look, fd[1]);
    close(fd[1]);
    bool made = pid > 0 && read_table(p, fd[0], t, why);
    close(fd[0]);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    return made;
}

/* ---- page ---- */

static void add_description(struct html_page *p, const struct look *look,
                            const struct scheme_table *t)
{
    struct strbuf text;
    strbuf_init(&text);
    if (describe_page(t, look->request.scheme, &text, p->a, NULL) == PEAT_OK) {
        strbuf_add(p->out, "<details><summary>");
        html_textf(p->out, "%s in numbers", look->title);
        strbuf_add(p->out, "</summary>\n<pre>");
        html_text(p->out, text.text);
        strbuf_add(p->out, "</pre></details>\n");
    }
    strbuf_release(&text);
}

static void add_look(struct html_page *p, const struct look *look, const struct scheme_table *t)
{
    struct scheme_table few = *t;
    struct figure f;
    char caption[256];
    few.heads = t->heads > HEADS_MAX ? HEADS_MAX : t->heads;
    const struct heatmap h = heatmap_of_scheme(&few, p->a);
    snprintf(caption, sizeof(caption),
             "%.60s at positions 0 to %" PRId64 ", initial weights of seed 0%s; a width of %" PRId64
             ", %" PRId64 " head%s.",
             t->what, t->rows - 1, few.heads < t->heads ? ", the first heads" : "", look->request.d,
             look->request.heads, look->request.heads == 1 ? "" : "s");
    heatmap_figure(&h, &f);
    html_figure(p, &f, look->title, caption);
    figure_release(&f);
    add_description(p, look, &few);
}

void html_schemes(struct html_page *p)
{
    struct look *look = ARENA_ARRAY(p->a, SCHEMES_MAX + 1, struct look);
    BUG_UNLESS(look);
    int n = list_looks(p, look), missing = 0;
    const char **why = arena_array(p->a, SCHEMES_MAX + 1, sizeof(*why));
    BUG_UNLESS(why);
    if (n == 0)
        return;
    html_section(p, "schemes", "What the schemes look like");
    for (int i = 0; i < n; i++) {
        struct arena_mark mark = arena_mark(p->a);
        struct scheme_table t;
        if (fetch_table(p, &look[i], &t, &why[i])) {
            why[i] = NULL;
            add_look(p, &look[i], &t);
            arena_rewind(p->a, mark);
        } else {
            missing++;
        }
    }
    if (missing)
        strbuf_add(p->out, "<details><summary>Not shown</summary>\n<ul class=\"notes\">\n");
    for (int i = 0; i < n; i++)
        if (why[i]) {
            strbuf_add(p->out, "<li>");
            html_textf(p->out, "%s: %s", look[i].title, why[i]);
            strbuf_add(p->out, "</li>\n");
        }
    if (missing)
        strbuf_add(p->out, "</ul></details>\n");
    html_end_section(p);
}
