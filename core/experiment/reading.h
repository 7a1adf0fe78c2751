/* SPDX-License-Identifier: MIT */
/* reading.h: the parts that experiment_load is made of. */
#ifndef EXPERIMENT_READING_H
#define EXPERIMENT_READING_H

#include "experiment/experiment.h"

/* One key=value of the command line. */
struct word {
    const char *key;
    struct value *value;
    struct place at;
    bool used;
};

struct reading {
    struct experiment *e;
    struct arena *a;
    struct error *err;
    struct value *root; /* the file, with the command line's top-level keys */
    int n_word;
    struct word *word;
};

extern const char *const experiment_keys[]; /* of the top level, ended by NULL */

/* words.c: key=value words, and the top-level ones among them into the root. */
peat_status words_read(struct reading *r, int n, char *const *text);
peat_status words_to_root(struct reading *r);
/* What is left becomes e->command_line. */
peat_status words_to_settings(struct reading *r);

/* matrix.c: axes, then what names their labels. */
peat_status matrix_read(struct reading *r);
/* Replaces labels and values of axes by labels: map axis key -> label or list of labels. `one`: no
 * lists. `what` in messages: "exclude". */
peat_status labels_resolve(struct reading *r, const struct value *map, const char *what, bool one,
                           struct value **resolved);
peat_status cells_read(struct reading *r); /* exclude and include */
/* -1: no such axis. */
int axis_find(const struct experiment *e, const char *key);

/* howto.c: the sections run, report and match. */
peat_status run_read(struct reading *r);
peat_status report_read(struct reading *r);
peat_status match_read(struct reading *r);
/* `key` of section `what`: 90, 90s, 30m, 2h, 1.5h; absent or null leave *seconds as it is. */
peat_status seconds_read(struct reading *r, const struct value *v, const char *key,
                         const char *what, double *seconds);

/* slurm_settings.c: run.slurm. */
peat_status slurm_read(struct reading *r, const struct value *given);

#endif
