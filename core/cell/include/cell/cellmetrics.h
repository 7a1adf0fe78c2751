/* SPDX-License-Identifier: MIT */
/*
 * cellmetrics.h: a cell's metrics.jsonl, one object a line, flushed as it is written. Each line
 * ends in its own checksum (base/seal.h).
 *
 * A resumed run keeps what its checkpoint was sealed with and writes the rest again, so that the
 * file of an interrupted run equals that of an uninterrupted one, whatever was added meanwhile.
 */
#pragma once

#include "train/trainer.h"

/* A line. */
extern const struct record line_record;

struct cell_metrics {
    int fd;
    struct error err;                  /* the first failed write */
    int64_t bytes;                     /* in the file */
    int64_t measured, before_measures; /* the last evaluation's step, and where its lines begin */
    bool holds;                        /* nothing is written before metrics_publish */
    struct strbuf held;
};

/* Opens <dir>/metrics.jsonl, keeping its first `kept` bytes: the "bytes" of metrics_seal, or 0.
 * With `redo` the last evaluation is made anew, and the file stays as it is until metrics_publish:
 * an evaluation that fails changes nothing. Closed by metrics_close in any case. */
peat_status metrics_open(struct cell_metrics *m, const char *dir, int64_t kept, bool redo,
                         struct error *err);
void metrics_step(struct cell_metrics *m, int64_t step, int64_t length, double loss, double lr,
                  double grad_norm);
void metrics_measure(struct cell_metrics *m, const struct measure *x);
/* After the last line: all of it is in the file, on the disk. */
peat_status metrics_publish(struct cell_metrics *m, const char *dir, struct error *err);
/* Waits until all lines have reached the disk. */
peat_status metrics_sync(const struct cell_metrics *m, struct error *err);
/*
 * The seal of the curve that a checkpoint at `step` keeps, {"bytes", "sha256"}, after
 * metrics_sync. A final one leaves out the evaluations of its own step, which may be made anew.
 */
peat_status metrics_seal(const struct cell_metrics *m, const char *dir, int64_t step, bool final,
                         struct arena *a, struct value **seal, struct error *err);
/* <dir>/metrics.jsonl still begins with what was sealed. */
bool metrics_are_whole(const char *dir, const struct value *seal);
/* A line without its end as a tree, its fields of the right kinds; NULL when it is damaged. */
const struct value *metrics_line(struct arena *a, const char *line, size_t n);
/* Line number `line`, from 1; v lives until the call returns, and is NULL when it is damaged.
 * False: no more. */
typedef bool (*metrics_fn)(void *ctx, int line, const struct value *v);
/* Every whole line of <dir>/metrics.jsonl that has the text `with` in it (NULL: all); a last one
 * that was cut short is left out. PEAT_NOTFOUND when there is no such file. */
peat_status metrics_each(const char *dir, const char *with, metrics_fn fn, void *ctx,
                         struct error *err);
void metrics_close(struct cell_metrics *m);
