/* SPDX-License-Identifier: MIT */
/*
 * change.h: a claim about how the effect of its contrast changes along one more axis.
 *
 * An interaction is the effect at one label of the axis less the effect at another. A trend is the
 * slope of the effect over the axis, or its change from each label to the next. Its normal form, a
 * part of the claim's (claim.h), is interaction: {AXIS: [A, B]} or trend: {AXIS: SCALE}.
 */
#pragma once

#include "experiment/contrast.h"

enum change_kind {
    CHANGE_NONE,        /* the claim is about the pooled effect itself */
    CHANGE_INTERACTION, /* effect at label[0] - effect at label[1] */
    CHANGE_SLOPE,       /* slope of the effect over x, by least squares */
    CHANGE_MONOTONE,    /* the effect at each label less that at the one before */
    CHANGE_KINDS
};
extern const char *const change_kinds[CHANGE_KINDS]; /* words; NULL for CHANGE_NONE */

enum change_scale {
    SCALE_VALUE,   /* x is the label, a number */
    SCALE_LOG2,    /* x is its logarithm, so that the slope is per doubling */
    SCALE_ORDER,   /* x is 0, 1, 2, ... along the axis */
    SCALE_MONOTONE /* no x; only for CHANGE_MONOTONE */
};
extern const char *const change_scales[]; /* words, ended by NULL */

struct change {
    enum change_kind kind;
    int axis;
    const char *label[2];    /* the two labels of an interaction */
    enum change_scale scale; /* the scale of a trend */
};

/* Reads the normal form of a claim. PEAT_CORRUPT: it does not fit these axes. */
peat_status change_from_value(struct change *c, const struct value *claim,
                              const struct labelled *rows, struct error *err);
/* The number that the label is; NaN: it is not a finite number. */
double label_number(const char *label);
/* Reduces the labels [n] of a trend to each label once: numbers ascending where all are numbers,
 * otherwise in their order. Returns their number. */
int change_order(const char **label, int n);
/* The x of the i-th label in that order; NaN: the scale needs a number (SCALE_LOG2: above 0), and
 * the label is not one. */
double change_x(enum change_scale scale, const char *label, int i);
