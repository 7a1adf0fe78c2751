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
        status = file_write_own(path, kept.text, kept.n, err);
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
    if (status == PEAT_OK)
        status = file_open(path, O_WRONLY | O_APPEND, FILE_OWN, &m->fd, err);
    free(path);
    return status;
}

/* {"step", "metric", "split", "length", "value"}, in this order. */
static struct json measure_json(struct arena *a, const struct measure *x)
{
    struct json line = json_map(a);
    json_put_int(line, "step", x->step);
    json_put_text(line, "metric", x->metric);
    json_put_text(line, "split", x->split);
    json_put_int(line, "length", x->length);
    json_put_number(line, "value", x->value);
    return line;
}

static void write_line(struct cell_metrics *m, struct json map, double value)
{
    struct strbuf line;
    strbuf_init(&line);
    if (!isfinite(value))
        json_put_bool(map, "diverged", true);
    json_print(map.v, JSON_DENSE, &line);
    seal_line(&line);
    strbuf_add(&line, "\n");
    if (m->fd >= 0 && m->err.status == PEAT_OK) {
        if (fd_write(m->fd, line.text, line.n, &m->err) == PEAT_OK)
            m->bytes += (int64_t)line.n;
        else
            error_prefix(&m->err, "metrics.jsonl");
    }
    strbuf_release(&line);
}

void metrics_step(struct cell_metrics *m, int64_t step, int64_t length, double loss, double lr,
                  double grad_norm)
{
    struct arena a;
    arena_init(&a, "a line of metrics", 1024);
    struct json line = measure_json(&a, &(struct measure){"loss", "train", length, step, loss});
    json_put_number(line, "lr", lr);
    json_put_number(line, "grad_norm", grad_norm);
    write_line(m, line, loss);
    arena_release(&a);
}

void metrics_measure(struct cell_metrics *m, const struct measure *x)
{
    struct arena a;
    if (m->measured != x->step)
        m->before_measures = m->bytes;
    m->measured = x->step;
    arena_init(&a, "a line of metrics", 1024);
    write_line(m, measure_json(&a, x), x->value);
    arena_release(&a);
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
