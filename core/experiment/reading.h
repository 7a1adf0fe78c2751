/* SPDX-License-Identifier: MIT */
/* reading.h: the parts of experiment_load. */
#pragma once

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

/* words.c: reads key=value words, and puts top-level ones into the root. */
extern const char *const experiment_keys[]; /* keys of the top level, ended by NULL */
bool words_read(struct reading *r, int n, char *const *text);
bool words_to_root(struct reading *r);
/* Puts the other words into e->command_line. */
bool words_to_settings(struct reading *r);
/* The word of the command line with this key; NULL: none. */
struct word *word_find(const struct reading *r, const char *key);

/* list_words.c: turns lists of the command line into axes, for settings that are not lists. */
bool list_words_read(struct reading *r);

/* extends.c: puts the file that `extends` names below the root, whose values replace its own. */
bool extends_read(struct reading *r);

/* plugin_names.c: lists the texts of the whole file and of the words that may name a plugin. */
struct value *plugin_mentions(const struct reading *r, struct arena *a);
/* Sets e->names. */
bool plugin_names_read(struct reading *r);

/* Refuses names of plugins that no directory has, in defaults, matrix and overrides. Loads
 * nothing. */
bool known_plugins(struct reading *r);

/* label.c: the key `label` of a plugin's map; NULL: it has no such text. */
const struct value *use_label(const struct value *v);

/* axis.c: one axis. */
bool axis_read(struct reading *r, struct axis *axis, const struct value *v);
/* Adds a known value to an axis that is not labelled. */
bool axis_append(struct reading *r, struct axis *axis, struct value *v);
/* The index among the known values of the axis; -1: not known. */
int label_find(const struct axis *axis, const char *label);
/* The index of the value that v names, by its label or as written; -1: no such value. */
int value_find(struct reading *r, const struct axis *axis, const struct value *v);
bool unknown_label(struct reading *r, const struct axis *axis, const struct value *v);
/* Checks a map: dotted key -> value. `what` in messages: "'set'". */
bool settings_check(struct reading *r, const struct value *set, const char *what);
/* "did you mean 'rotary'?", or with there_are "it has": "it has: rotary, alibi". */
const char *name_hint(struct arena *a, const char *wanted, const char *const *name, int n,
                      const char *there_are);

/* matrix.c: all axes, then the sections that name their labels. */
bool matrix_read(struct reading *r);
/* "WHAT names 'KEY', which is not an axis; did you mean ...?" */
bool unknown_axis(struct reading *r, struct place at, const char *key, const char *what);
/* Replaces labels and values of axes by labels: map axis key -> label or list of labels. `one`:
 * lists are not allowed. `what` in messages: "exclude". */
bool labels_resolve(struct reading *r, const struct value *map, const char *what, bool one,
                    struct value **resolved);
bool cells_read(struct reading *r); /* exclude and include */

/* run_settings.c: the sections run, report and match: their rows, and their keys without a row. */
extern const peat_param run_rows[], checkpoint_rows[], slurm_rows[], report_rows[], match_rows[];
extern const char *const run_keys[], *const report_keys[], *const match_keys[];
bool run_read(struct reading *r);
bool report_read(struct reading *r);
bool match_read(struct reading *r);

/* seconds.c: reads `key` of section `what`: 90, 90s, 30m, 2h, 1.5h; if absent or null, *seconds is
 * not changed. */
bool seconds_read(struct reading *r, const struct value *section, const char *key, const char *what,
                  double *seconds);

/* contrast.c: puts a contrast of the file into the map in its normal form
 * (experiment/contrast.h). */
bool contrast_normalise(struct reading *r, const struct value *v, struct value *out);
/* The axis that the text v names; refuses one whose value best_over chooses. `what`: the key. */
bool comparison_axis(struct reading *r, const struct value *v, const char *what, int *axis);
/* Appends the two labels of the axis that v, [A, B], names to the list. `what`: the key. */
bool two_labels_read(struct reading *r, const struct axis *axis, const struct value *v,
                     const char *what, struct value *list);
/* Metric and length of v, if it has them. */
bool comparison_measure(struct reading *r, struct value *out, const struct value *v);
bool contrasts_read(struct reading *r, const struct value *v, struct value **contrasts);
/* NULL: no contrast has this name. */
const struct value *contrast_named(const struct value *contrasts, const char *name);

/* best_over.c: `report.best_over`; NULL: nothing is chosen. */
bool best_over_read(struct reading *r, const struct value *v, struct best_over *b);
/* Refuses a map axis -> label that names an axis whose value is chosen. `what` in messages:
 * "baseline". */
bool best_over_refuse(struct reading *r, const struct value *map, const char *what);

/* claims.c: the section `claims`, to be read after best_over. */
bool claims_read(struct reading *r);
/* change.c: puts `interaction` or `trend` of the claim v into its normal form, which already has
 * the contrast. */
bool change_read(struct reading *r, const struct value *v, struct value *out);

/* The map `seeds`: seeds are added until the claims are decided. */
bool looks_read(struct reading *r, const struct value *v);
