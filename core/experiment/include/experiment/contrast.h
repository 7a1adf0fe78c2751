/* SPDX-License-Identifier: MIT */
/*
 * contrast.h: finds the rows that a contrast compares, only by the labels of their axes.
 *
 * A contrast is the difference A - B of two labels of one axis (the factor), in every stratum: a
 * setting of the other axes. Its normal form, as the run directory keeps it, is a map with name,
 * factor, of: [A, B], over, pool and, where given, where, metric and length. A comparison of two
 * rows has rows: [{axis: label}, {axis: label}] instead of factor, of, over and pool.
 */
#pragma once

#include "experiment/experiment.h"

struct contrast {
    const char *name;
    struct place at;
    int factor;               /* index of the factor's axis; -1: a comparison of two rows */
    const char *label[2];     /* labels A and B of the factor */
    const struct value *side; /* without a factor: list of two maps axis -> label */
    bool over[EXPERIMENT_MAX_AXES];
    const struct value *where; /* map axis -> label or list of labels; NULL: all */
    const char *metric;        /* NULL: the report's metric */
    int64_t length;            /* -1: the table's length */
};

/* Rows as their labels: label[row][axis]. */
struct labelled {
    int n_axis, n_row;
    const char *const *axis; /* keys of the axes */
    const char *const *const *label;
};

/* Reads the normal form. PEAT_CORRUPT: it does not fit these axes. */
peat_status contrast_from_value(struct contrast *c, const struct value *v,
                                const struct labelled *rows, struct error *err);

/* True for equal labels of an axis; "-" on position.combine and on the keys below it, where a
 * scheme has nothing to combine, agrees with any label. */
bool axis_labels_agree(const char *axis, const char *x, const char *y);
/* True where the label agrees with the wanted one, or with one of a list. */
bool axis_label_is(const char *axis, const char *label, const struct value *wanted);
/* Two rows, one with each label, whose labels agree on all other axes. */
struct contrast_pair {
    int a, b;                               /* numbers of the rows */
    const char *label[EXPERIMENT_MAX_AXES]; /* labels of the stratum; the factor's is NULL */
};

struct contrast_pairs {
    int n;
    struct contrast_pair *pair;
    int n_alone; /* rows without a pair */
    struct contrast_alone {
        int row;
        bool same_model; /* true: its label of the factor is "-", so it is the same model for
                          * every label; false: it has no counterpart */
    } * alone;
};

void contrast_pairs_find(const struct contrast *c, const struct labelled *rows, struct arena *a,
                         struct contrast_pairs *out);

/* True when the row has, for every axis of the map, the label or one of the labels. */
bool labels_match(const struct labelled *rows, int row, const struct value *map);
/* The axis with this key; -1: no such axis. */
int labelled_axis(const struct labelled *rows, const char *key);
