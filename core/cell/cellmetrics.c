/* SPDX-License-Identifier: MIT */
/* cellmetrics.c: writing and cutting metrics.jsonl. */
#include "cell/cellmetrics.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/jsonfile.h"
#include "base/seal.h"

static const struct place nowhere = {NULL, 0, 0};

const struct value *metrics_line(struct arena *a, const char *line, size_t n)
{
    return seal_check_line(line, n) == SEAL_BROKEN
               ? NULL
               : value_from_json(a, line, n, "metrics.jsonl", NULL);
}

/* A line of an earlier attempt stays when a checkpoint at `step` already has it behind it. */
static bool line_stays(const char *line, size_t n, int64_t step, bool redo)
{
    struct arena a;
    arena_init(&a, "line", 4096);
    const struct value *v = metrics_line(&a, line, n);
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

/* *bytes: what is left. */
static peat_status cut(const char *path, int64_t step, bool redo, int64_t *bytes, struct error *err)
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
        *bytes = (int64_t)kept.n;
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
    peat_status status = cut(path, step, redo, &m->bytes, err);
    if (status == PEAT_OK) {
        m->fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
        if (m->fd < 0)
            status = error_set(err, PEAT_IO, "cannot open '%s': %s", path, strerror(errno));
    }
    free(path);
    return status;
}

static void write_line(struct cell_metrics *m, struct strbuf *line)
{
    if (m->fd < 0 || m->err.status != PEAT_OK)
        return;
    seal_line(line);
    strbuf_add(line, "\n");
    if (fd_write(m->fd, line->text, line->n, &m->err) == PEAT_OK)
        m->bytes += (int64_t)line->n;
    else
        error_prefix(&m->err, "metrics.jsonl");
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
    strbuf_add(&line, isfinite(loss) ? "}" : ",\"diverged\":true}");
    write_line(m, &line);
    strbuf_release(&line);
}

void metrics_measure(struct cell_metrics *m, const struct measure *x)
{
    struct strbuf line;
    strbuf_init(&line);
    if (m->measured != x->step)
        m->before_measures = m->bytes;
    m->measured = x->step;
    strbuf_addf(&line, "{\"step\":%lld,\"metric\":\"%s\",\"split\":\"%s\",\"length\":%lld",
                (long long)x->step, x->metric, x->split, (long long)x->length);
    add_number(&line, "value", x->value);
    strbuf_add(&line, isfinite(x->value) ? "}" : ",\"diverged\":true}");
    write_line(m, &line);
    strbuf_release(&line);
}

peat_status metrics_sync(const struct cell_metrics *m, struct error *err)
{
    if (m->err.status != PEAT_OK)
        return error_set(err, m->err.status, "%s", m->err.text);
    if (m->fd >= 0 && fsync(m->fd) < 0 && errno != EINVAL)
        return error_set(err, PEAT_IO, "cannot sync metrics.jsonl: %s", strerror(errno));
    return PEAT_OK;
}

/* Of the first n bytes of <dir>/metrics.jsonl; PEAT_CORRUPT when it has fewer. */
static peat_status hash_prefix(const char *dir, int64_t n, char hex[HASH_HEX], struct error *err)
{
    char *path = path_join(dir, "metrics.jsonl"), *text = NULL;
    size_t have = 0;
    peat_status status = file_read(path, 0, &text, &have, err);
    if (status == PEAT_OK && (n < 0 || (uint64_t)n > have))
        status = error_set(err, PEAT_CORRUPT, "'%s' has lost its end", path);
    if (status == PEAT_OK)
        hash_bytes(text, (size_t)n, hex);
    free(text);
    free(path);
    return status;
}

peat_status metrics_seal(const struct cell_metrics *m, const char *dir, int64_t step, bool final,
                         struct arena *a, struct value **seal, struct error *err)
{
    char hex[HASH_HEX];
    int64_t bytes = final && m->measured == step ? m->before_measures : m->bytes;
    peat_status status = metrics_sync(m, err);
    if (status == PEAT_OK)
        status = hash_prefix(dir, bytes, hex, err);
    if (status != PEAT_OK)
        return status;
    *seal = value_map(a, nowhere);
    member_set_integer(a, *seal, "bytes", bytes);
    member_set_text(a, *seal, "sha256", hex);
    return PEAT_OK;
}

bool metrics_are_whole(const char *dir, const struct value *seal)
{
    char hex[HASH_HEX];
    const char *said = member_text(seal, "sha256");
    return said && hash_prefix(dir, member_integer(seal, "bytes", -1), hex, NULL) == PEAT_OK &&
           !strcmp(said, hex);
}

void metrics_close(struct cell_metrics *m)
{
    if (m->fd >= 0)
        close(m->fd);
    m->fd = -1;
}
