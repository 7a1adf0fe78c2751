/* SPDX-License-Identifier: MIT */
/* cellmetrics.c: writing, cutting and reading metrics.jsonl. */
#include "cell/cellmetrics.h"

#include "cell/cellfiles.h"

/* ---- reading ---- */

/* A value that is not finite is null. */
static const struct field line_fields[] = {
    {"step", FIELD_INT, MEMBER(struct measure, step)},
    {"metric", FIELD_TEXT, MEMBER(struct measure, metric)},
    {"split", FIELD_TEXT, MEMBER(struct measure, split)},
    {"length", FIELD_INT | FIELD_NULL, MEMBER(struct measure, length)},
    {"value", FIELD_NUMBER | FIELD_SIGNED | FIELD_NULL, MEMBER(struct measure, value)},
    {"again", FIELD_TEXT, MEMBER(struct measure, again)},
    {"lr", FIELD_NUMBER | FIELD_NULL}, /* these two only of training steps */
    {"grad_norm", FIELD_NUMBER | FIELD_NULL},
    {"diverged", FIELD_BOOL},
    {NULL},
};
const struct record line_record = {"metrics.jsonl", NULL, 1, true, line_fields};

const struct value *metrics_line(struct arena *a, const char *line, size_t n)
{
    if (seal_check_line(line, n) == SEAL_BROKEN)
        return NULL;
    const struct value *v = json_parse(a, line, n, line_record.name, NULL);
    return v && record_check(&line_record, v, line_record.name, NULL) == PEAT_OK ? v : NULL;
}

static peat_status metrics_read_text(const char *dir, char **text, size_t *n, struct error *err)
{
    return file_read(path_in(dir, line_record.name).text, 0, text, n, err);
}

peat_status metrics_each(const char *dir, const char *with, metrics_fn fn, void *ctx,
                         struct error *err)
{
    struct arena a;
    char *text = NULL;
    size_t n = 0;
    int number = 1;
    bool more = true;
    peat_status status = metrics_read_text(dir, &text, &n, err);
    arena_init(&a, "lines", 4096);
    for (char *line = text, *end;
         text && more && (end = memchr(line, '\n', n - (size_t)(line - text)));
         line = end + 1, number++) {
        size_t length = (size_t)(end - line);
        if (!with || memmem(line, length, with, strlen(with)))
            more = fn(ctx, number, metrics_line(&a, line, length));
        arena_reset(&a);
    }
    arena_release(&a);
    free(text);
    return status;
}

/* ---- cutting ---- */

/* The first n bytes of <dir>/metrics.jsonl, freed by the caller; PEAT_CORRUPT when it has fewer. */
static peat_status read_start(const char *dir, int64_t n, char **text, struct error *err)
{
    size_t have = 0;
    *text = NULL;
    peat_status status = metrics_read_text(dir, text, &have, err);
    if (status == PEAT_OK && (n < 0 || (uint64_t)n > have))
        status = error_set(err, PEAT_CORRUPT, "'%s/%s' has lost its end", dir, line_record.name);
    return status;
}

static peat_status open_cut(struct cell_metrics *m, const char *path, struct error *err)
{
    peat_status status = file_write_own(path, m->held.text, m->held.n, err);
    m->bytes = (int64_t)m->held.n;
    return status != PEAT_OK ? status : file_open(path, O_WRONLY | O_APPEND, FILE_OWN, &m->fd, err);
}

peat_status metrics_open(struct cell_metrics *m, const char *dir, int64_t kept, bool redo,
                         struct error *err)
{
    *m = (struct cell_metrics){.fd = -1, .holds = redo};
    strbuf_init(&m->held);
    char *text = NULL;
    peat_status status = kept > 0 ? read_start(dir, kept, &text, err) : PEAT_OK;
    if (status == PEAT_OK && text)
        strbuf_add_bytes(&m->held, text, (size_t)kept);
    free(text);
    if (status == PEAT_OK && !redo)
        status = file_remove(dir, thinned_record.name, err); /* the curve will be whole */
    if (redo || status != PEAT_OK)
        return status;
    return open_cut(m, path_in(dir, line_record.name).text, err);
}

peat_status metrics_publish(struct cell_metrics *m, const char *dir, struct error *err)
{
    if (!m->holds)
        return metrics_sync(m, err);
    return file_write_own(path_in(dir, line_record.name).text, m->held.text, m->held.n, err);
}

/* ---- writing ---- */

/* rates: the learning rate and the norm of the gradient of a training step, or NULL. */
static void write_line(struct cell_metrics *m, const struct measure *x, const double rates[2])
{
    struct arena a;
    struct strbuf line = STRBUF_NEW;
    arena_init(&a, "a line of metrics", 1024);
    struct json map = json_map(&a);
    fields_put(map, line_fields, MEASURE_FIELDS, x);
    for (int i = 0; rates && i < 2; i++)
        json_put_number(map, line_fields[MEASURE_FIELDS + i].key, rates[i]);
    if (!isfinite(x->value))
        json_put_bool(map, "diverged", true);
    json_print(map.v, JSON_DENSE, &line);
    seal_line(&line);
    strbuf_add(&line, "\n");
    if (m->holds)
        strbuf_add_bytes(&m->held, line.text, line.n);
    if (m->fd >= 0 && m->err.status == PEAT_OK) {
        if (fd_write(m->fd, line.text, line.n, &m->err) == PEAT_OK)
            m->bytes += (int64_t)line.n;
        else
            error_prefix(&m->err, "metrics.jsonl");
    }
    strbuf_release(&line);
    arena_release(&a);
}

void metrics_step(struct cell_metrics *m, int64_t step, int64_t length, double loss, double lr,
                  double grad_norm)
{
    write_line(m, &(struct measure){"loss", "train", length, step, loss, NULL},
               (double[]){lr, grad_norm});
}

void metrics_measure(struct cell_metrics *m, const struct measure *x)
{
    if (m->measured != x->step)
        m->before_measures = m->bytes;
    m->measured = x->step;
    write_line(m, x, NULL);
}

peat_status metrics_sync(const struct cell_metrics *m, struct error *err)
{
    if (m->err.status != PEAT_OK)
        return error_set(err, m->err.status, "%s", m->err.text);
    if (m->fd >= 0 && fsync(m->fd) < 0 && errno != EINVAL)
        return error_set(err, PEAT_IO, "cannot sync metrics.jsonl: %s", strerror(errno));
    return PEAT_OK;
}

static peat_status hash_start(const char *dir, int64_t n, char hex[HASH_HEX], struct error *err)
{
    char *text;
    peat_status status = read_start(dir, n, &text, err);
    if (status == PEAT_OK)
        hash_bytes(text, (size_t)n, hex);
    free(text);
    return status;
}

peat_status metrics_seal(const struct cell_metrics *m, const char *dir, int64_t step, bool final,
                         struct arena *a, struct value **seal, struct error *err)
{
    char hex[HASH_HEX];
    int64_t bytes = final && m->measured == step ? m->before_measures : m->bytes;
    peat_status status = metrics_sync(m, err);
    if (status == PEAT_OK)
        status = hash_start(dir, bytes, hex, err);
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
    return hash_start(dir, json_get_int(seal, "bytes", -1), hex, NULL) == PEAT_OK &&
           json_text_is(seal, "sha256", hex);
}

void metrics_close(struct cell_metrics *m)
{
    if (m->fd >= 0)
        close(m->fd);
    m->fd = -1;
    strbuf_release(&m->held);
}
