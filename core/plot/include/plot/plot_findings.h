/* SPDX-License-Identifier: MIT */
/* plot_findings.h: figures of what cells learned. */
#pragma once

#include "findings/findings.h"
#include "plot/figure.h"

struct findings_figure {
    const char *measure;        /* "angle", "position_r2", "position_r2@0" */
    const char *lines, *panels; /* by layer: as of plot.h */
    const char *over; /* axis along the bottom, its labels in their order, at their place where
                         all are numbers; NULL: layers, where the measure has them */
};

/* Means over seeds with 95 % intervals: a line for each row by layer, or for each setting of the
 * other axes by the labels of `over`; else a point for each row. A grey mark or line is what chance
 * gives, where that is known. Initialises f in any case. PEAT_INVALID: no such measure or axis, or
 * nothing to draw. */
peat_status plot_findings(struct figure *f, const struct findings *found,
                          const struct findings_figure *o, struct error *err);
