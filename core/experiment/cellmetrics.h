/* SPDX-License-Identifier: MIT */
/*
 * cellmetrics.h: a cell's metrics.jsonl, one object a line, flushed as it is written.
 *
 * What a resumed run would write again is cut off first, so that the file of an interrupted run
 * equals that of an uninterrupted one.
 */
#ifndef EXPERIMENT_CELLMETRICS_H
#define EXPERIMENT_CELLMETRICS_H

#include "train/trainer.h"

struct cell_metrics {
    int fd;
    struct error err; /* the first failed write */
};

/* Opens <dir>/metrics.jsonl, keeping the lines up to `step` (0: none). With `redo` the evaluations
 * of that step itself are cut off too. */
peat_status metrics_open(struct cell_metrics *m, const char *dir, int64_t step, bool redo,
                         struct error *err);
void metrics_step(struct cell_metrics *m, int64_t step, int64_t length, double loss, double lr,
                  double grad_norm);
void metrics_measure(struct cell_metrics *m, const struct measure *x);
void metrics_close(struct cell_metrics *m);

#endif
