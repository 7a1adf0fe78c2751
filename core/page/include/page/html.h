/* SPDX-License-Identifier: MIT */
/*
 * html.h: the results as one HTML page with its own style and script. It needs no network and no
 * other file, and shows everything without scripts too.
 */
#pragma once

#include "findings/findings.h"
#include "report/claim_verdict.h"

struct html_options {
    int64_t length;             /* differences, figures and verdict are about it; -1: the first */
    const char *head;           /* title; NULL: the experiment's name */
    const char *lines, *panels; /* axes, as of plot/plot.h */
    const struct claim_history *claims; /* needed where the results have claims */
    const struct findings *found;
};

/* PEAT_INVALID: an option does not fit. A sentence replaces a figure that cannot be drawn;
 * *no_gnuplot: that is true of all figures, because gnuplot is not installed. err begins without
 * an error. */
peat_status html_report(const struct results *r, const struct html_options *o, struct arena *a,
                        struct strbuf *out, bool *no_gnuplot, struct error *err);
