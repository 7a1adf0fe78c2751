/* SPDX-License-Identifier: MIT */
/*
 * cellmetrics.h: a cell's metrics.jsonl, one object a line, flushed as it is written. Each line
 * ends in its own checksum (base/json.h).
 *
 * A resumed run keeps the part that its checkpoint was sealed with and writes the rest again, so
 * the file of an interrupted run equals that of an uninterrupted one.
 */
#pragma once

#include "train/trainer.h"

/* The fields of a line; the first ones are those of struct measure. */
extern const struct record line_record;
enum { MEASURE_FIELDS = 6 };

struct cell_metrics {
    int fd;
    struct error err;                  /* the first failed write */
    int64_t bytes;                     /* bytes in the file */
    int64_t measured, before_measures; /* the last evaluation's step, and the offset where its
                                        * lines begin */
    bool holds;                        /* lines are written only by metrics_publish */
    struct strbuf held;
};

/* Opens <dir>/metrics.jsonl, keeping its first `kept` bytes: the "bytes" of metrics_seal, or 0.
 * With `redo` the last evaluation is done anew, and the file stays unchanged until metrics_publish,
 * so that an evaluation that fails changes nothing. Close it with metrics_close in any case. */
peat_status metrics_open(struct cell_metrics *m, const char *dir, int64_t kept, bool redo,
                         struct error *err);
void metrics_step(struct cell_metrics *m, int64_t step, int64_t length, double loss, double lr,
                  double grad_norm);
void metrics_measure(struct cell_metrics *m, const struct measure *x);
/* Call after the last line: writes all lines to the file and to the disk. */
peat_status metrics_publish(struct cell_metrics *m, const char *dir, struct error *err);
/* Waits until all lines have reached the disk. */
peat_status metrics_sync(const struct cell_metrics *m, struct error *err);
/* The seal of the curve that a checkpoint at `step` keeps, {"bytes", "sha256"}, after metrics_sync.
 * A final checkpoint's seal leaves out the evaluations of its own step, which may be done anew. */
peat_status metrics_seal(const struct cell_metrics *m, const char *dir, int64_t step, bool final,
                         struct arena *a, struct value **seal, struct error *err);
/* True while <dir>/metrics.jsonl begins with the sealed bytes. */
bool metrics_are_whole(const char *dir, const struct value *seal);
/* A line, without its end, as a tree with fields of the right kinds; NULL when it is damaged. */
const struct value *metrics_line(struct arena *a, const char *line, size_t n);
/* Line number `line`, from 1; v lives until the call returns, and is NULL when the line is damaged.
 * False: read no more lines. */
typedef bool (*metrics_fn)(void *ctx, int line, const struct value *v);
/* Calls f for every whole line of <dir>/metrics.jsonl that contains the text `with` (NULL: all
 * lines); a last line that was cut short is left out. PEAT_NOTFOUND: no such file. */
peat_status metrics_each(const char *dir, const char *with, metrics_fn fn, void *ctx,
                         struct error *err);
void metrics_close(struct cell_metrics *m);
