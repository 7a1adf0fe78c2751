/* SPDX-License-Identifier: MIT */
/*
 * cellmetrics.h: a cell's metrics.jsonl, one object a line, flushed as it is written. Each line
 * ends in its own checksum (base/seal.h).
 *
 * What a resumed run would write again is cut off first, so that the file of an interrupted run
 * equals that of an uninterrupted one.
 */
#ifndef CELL_CELLMETRICS_H
#define CELL_CELLMETRICS_H

#include "train/trainer.h"

struct cell_metrics {
    int fd;
    struct error err;                  /* the first failed write */
    int64_t bytes;                     /* in the file */
    int64_t measured, before_measures; /* the last evaluation's step, and where its lines begin */
};

/* Opens <dir>/metrics.jsonl, keeping the lines up to `step` (0: none). With `redo` the evaluations
 * of that step itself are cut off too. */
peat_status metrics_open(struct cell_metrics *m, const char *dir, int64_t step, bool redo,
                         struct error *err);
void metrics_step(struct cell_metrics *m, int64_t step, int64_t length, double loss, double lr,
                  double grad_norm);
void metrics_measure(struct cell_metrics *m, const struct measure *x);
/* What was written has reached the disk. */
peat_status metrics_sync(const struct cell_metrics *m, struct error *err);
/*
 * What a checkpoint at `step` remembers of the curve, {"bytes", "sha256"}, after metrics_sync. A
 * final one leaves out the evaluations of its own step, which may be made anew.
 */
peat_status metrics_seal(const struct cell_metrics *m, const char *dir, int64_t step, bool final,
                         struct arena *a, struct value **seal, struct error *err);
/* <dir>/metrics.jsonl still begins with what was sealed. */
bool metrics_are_whole(const char *dir, const struct value *seal);
/* A line without its end as a tree; NULL when it is damaged. */
const struct value *metrics_line(struct arena *a, const char *line, size_t n);
void metrics_close(struct cell_metrics *m);

#endif
