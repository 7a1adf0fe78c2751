/* SPDX-License-Identifier: MIT */
/*
 * probe.h: linear readouts of activations x [n, d].
 *
 * Both probes are closed forms, and scale each column to mean 0 and variance 1 over the training
 * rows. A number (the position) is predicted by ridge regression: w = (C + l I)^-1 c, C and c the
 * training rows' covariances, l chosen among PROBE_RIDGES on groups held out of training. A class
 * (the token) is predicted by linear discriminants with W = (1 - s) S + s (tr S / d) I within
 * classes, s by Ledoit & Wolf (2004): least squares on one-hot targets may never answer with a
 * class whose mean lies between two others' (Hastie, Tibshirani & Friedman, 4.2), as those of
 * positions do.
 */
#pragma once

#include "maths/spectrum.h"

enum { PROBE_RIDGES = 9 }; /* 1e-6, 1e-5, .. 1e2 */

/* Sets held_out [n]: true where the row's group is held out. round(share * groups) groups are, at
 * least 1 and not all, drawn with the stream. Returns the number of held-out groups; 0: there are
 * fewer than two groups. */
int64_t probe_hold_out(const int64_t *group, int64_t n, double share, uint64_t stream,
                       bool *held_out, struct arena *a);

struct probe_regression {
    int64_t train, test; /* numbers of rows                                                     */
    double r2;           /* 1 - sum (y - f)^2 / sum (y - mean y)^2 over the test rows: at most 1,
                          * negative when f is worse than their mean; NaN: no test rows or
                          * constant y */
    double error;        /* mean |y - f| over the test rows, in units of y                       */
    double train_r2;
    double ridge; /* the l that was chosen, for columns of variance 1                            */
};

/* y [n] targets, group [n] as above, test [n] the rows to score (held_out of probe_hold_out). To
 * choose l, a fifth of the training groups is held out by `stream`; with fewer than two groups l is
 * the middle of the list. PEAT_FAILED: no training rows, or not finite. */
peat_status probe_regression(const struct team *team, struct probe_regression *p,
                             const struct matrix *x, const double *y, const int64_t *group,
                             const bool *test, uint64_t stream, struct arena *a, struct error *err);

struct probe_classes {
    int64_t train, test; /* numbers of rows                                                     */
    int64_t classes;     /* number of classes in the training rows                              */
    int64_t unseen;      /* test rows whose class is not in the training rows: they count as
                          * wrong */
    double accuracy;     /* share of the test rows predicted right; NaN: no test rows           */
    double chance;       /* the same for always answering the most frequent class of training   */
    double shrinkage;    /* shrinkage s of the covariance, 0 .. 1                               */
};

/* label [n] any numbers; the class shares of training are the prior. PEAT_FAILED: no training
 * rows, or not finite. */
peat_status probe_classes(const struct team *team, struct probe_classes *p, const struct matrix *x,
                          const int64_t *label, const bool *test, struct arena *a,
                          struct error *err);
