/* SPDX-License-Identifier: MIT */
/* plot_findings.h: figures of what cells learned. */
#pragma once

#include "findings/findings.h"
#include "plot/figure.h"

struct findings_figure {
    const char *measure;        /* "angle", "position_r2", "position_r2@0" */
    const char *lines, *panels; /* by layer: as in plot.h */
    const char *over; /* axis along the bottom: its labels in their order, or at their values
                       * where all are numbers; NULL: layers, where the measure has them */
};

/* Means over seeds with 95 % intervals: a line over layers for each row, or a line over the labels
 * of `over` for each setting of the other axes, or else a point for each row. A grey mark or line
 * shows the value by chance, where that is known. Initialises f in any case. PEAT_INVALID: no such
 * measure or axis, or nothing to draw. */
peat_status plot_findings(struct figure *f, const struct findings *found,
                          const struct findings_figure *o, struct error *err);
