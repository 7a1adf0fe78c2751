/* SPDX-License-Identifier: MIT */
/* cellmetrics.c: writing and cutting metrics.jsonl. */
#include "cell/cellmetrics.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/number.h"
#include "base/seal.h"

const struct value *metrics_line(struct arena *a, const char *line, size_t n)
{
    bool damaged = seal_check_line(line, n) == SEAL_BROKEN;
    return damaged ? NULL : json_parse(a, line, n, "metrics.jsonl", NULL);
}

/* A line of an earlier attempt stays when a checkpoint at `step` already has it behind it. */
static bool line_stays(const char *line, size_t n, int64_t step, bool redo)
{
    struct arena a;
    arena_init(&a, "line", 4096);
    const struct value *v = metrics_line(&a, line, n);
    int64_t at = json_get_int(v, "step", INT64_MAX);
    bool stays = at < step || (at == step && (!redo || json_text_is(v, "split", "train")));
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
    seal_line(line);
    strbuf_add(line, "\n");
    if (fd_write(m->fd, line->text, line->n, &m->err) == PEAT_OK)
        m->bytes += (int64_t)line->n;
    else
        error_prefix(&m->err, "metrics.jsonl");
}

static void add_number(struct strbuf *line, const char *key, double x)
{
    char text[NUMBER_TEXT];
    number_text(x, text);
    strbuf_addf(line, ",\"%s\":%s", key, text);
}

static void begin_line(struct strbuf *line, const struct measure *x)
{
    strbuf_init(line);
    strbuf_addf(line,
                "{\"step\":%" PRId64 ",\"metric\":\"%s\",\"split\":\"%s\",\"length\":%" PRId64,
                x->step, x->metric, x->split, x->length);
    add_number(line, "value", x->value);
}

static void end_line(struct cell_metrics *m, struct strbuf *line, double value)
{
    strbuf_add(line, isfinite(value) ? "}" : ",\"diverged\":true}");
    if (m->fd >= 0 && m->err.status == PEAT_OK)
        write_line(m, line);
    strbuf_release(line);
}

void metrics_step(struct cell_metrics *m, int64_t step, int64_t length, double loss, double lr,
                  double grad_norm)
{
    const struct measure x = {"loss", "train", length, step, loss};
    struct strbuf line;
    begin_line(&line, &x);
    add_number(&line, "lr", lr);
    add_number(&line, "grad_norm", grad_norm);
    end_line(m, &line, loss);
}

void metrics_measure(struct cell_metrics *m, const struct measure *x)
{
    struct strbuf line;
    if (m->measured != x->step)
        m->before_measures = m->bytes;
    m->measured = x->step;
    begin_line(&line, x);
    end_line(m, &line, x->value);
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
    struct json v = json_map(a);
    json_put_int(v, "bytes", bytes);
    json_put_text(v, "sha256", hex);
    *seal = v.v;
    return PEAT_OK;
}

bool metrics_are_whole(const char *dir, const struct value *seal)
{
    char hex[HASH_HEX];
    return hash_prefix(dir, json_get_int(seal, "bytes", -1), hex, NULL) == PEAT_OK &&
           json_text_is(seal, "sha256", hex);
}

void metrics_close(struct cell_metrics *m)
{
    if (m->fd >= 0)
        close(m->fd);
    m->fd = -1;
}
