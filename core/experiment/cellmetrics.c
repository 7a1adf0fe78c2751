/* SPDX-License-Identifier: MIT */
/* cellmetrics.c: writing and cutting metrics.jsonl. */
#include "experiment/cellmetrics.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

/* A line of an earlier attempt stays when a checkpoint at `step` already has it behind it. */
static bool line_stays(const char *line, size_t n, int64_t step, bool redo)
{
    struct arena a;
    arena_init(&a, "line", 4096);
    struct error err = {0};
    const struct value *v = value_from_json(&a, line, n, "metrics.jsonl", &err);
    const struct value *at = value_get(v, "step"), *split = value_get(v, "split");
    bool stays = at && at->kind == VALUE_INT && at->integer <= step;
    if (stays && redo && at->integer == step)
        stays = split && split->kind == VALUE_TEXT && strcmp(split->text, "train") == 0;
    arena_release(&a);
    return stays;
}

static void keep_lines(const char *text, size_t n, int64_t step, bool redo, struct strbuf *out)
{
    for (const char *line = text, *end; (end = memchr(line, '\n', n - (size_t)(line - text)));
         line = end + 1)
        if (line_stays(line, (size_t)(end - line), step, redo))
            strbuf_add_bytes(out, line, (size_t)(end - line) + 1);
}

static peat_status cut(const char *path, int64_t step, bool redo, struct error *err)
{
    struct strbuf kept;
    strbuf_init(&kept);
    char *text = NULL;
    size_t n = 0;
    peat_status status = PEAT_OK;
    if (step > 0 && file_exists(path))
        status = file_read(path, 0, &text, &n, err);
    if (status == PEAT_OK) {
        if (text)
            keep_lines(text, n, step, redo, &kept);
        status = file_write(path, kept.text, kept.n, err);
    }
    free(text);
    strbuf_release(&kept);
    return status;
}

peat_status metrics_open(struct cell_metrics *m, const char *dir, int64_t step, bool redo,
                         struct error *err)
{
    *m = (struct cell_metrics){.fd = -1};
    char *path = path_join(dir, "metrics.jsonl");
    peat_status status = cut(path, step, redo, err);
    if (status == PEAT_OK) {
        m->fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
        if (m->fd < 0)
            status = error_set(err, PEAT_IO, "can not open '%s': %s", path, strerror(errno));
    }
    free(path);
    return status;
}

static void write_line(struct cell_metrics *m, const struct strbuf *line)
{
    if (m->fd >= 0 && m->err.status == PEAT_OK)
        fd_write(m->fd, line->text, line->n, &m->err);
}

static void add_number(struct strbuf *line, const char *key, double x)
{
    char text[32];
    number_text(x, text);
    strbuf_addf(line, ",\"%s\":%s", key, text);
}

void metrics_step(struct cell_metrics *m, int64_t step, int64_t length, double loss, double lr,
                  double grad_norm)
{
    struct strbuf line;
    strbuf_init(&line);
    strbuf_addf(&line, "{\"step\":%lld,\"metric\":\"loss\",\"split\":\"train\",\"length\":%lld",
                (long long)step, (long long)length);
    add_number(&line, "value", loss);
    add_number(&line, "lr", lr);
    add_number(&line, "grad_norm", grad_norm);
    strbuf_add(&line, isfinite(loss) ? "}\n" : ",\"diverged\":true}\n");
    write_line(m, &line);
    strbuf_release(&line);
}

void metrics_measure(struct cell_metrics *m, const struct measure *x)
{
    struct strbuf line;
    strbuf_init(&line);
    strbuf_addf(&line, "{\"step\":%lld,\"metric\":\"%s\",\"split\":\"%s\",\"length\":%lld",
                (long long)x->step, x->metric, x->split, (long long)x->length);
    add_number(&line, "value", x->value);
    strbuf_add(&line, isfinite(x->value) ? "}\n" : ",\"diverged\":true}\n");
    write_line(m, &line);
    strbuf_release(&line);
}

void metrics_close(struct cell_metrics *m)
{
    if (m->fd >= 0)
        close(m->fd);
    m->fd = -1;
}
