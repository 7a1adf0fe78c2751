/* SPDX-License-Identifier: MIT */
/* reading.h: the parts that experiment_load is made of. */
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

/* words.c: key=value words, and the top-level ones among them into the root. */
extern const char *const experiment_keys[]; /* of the top level, ended by NULL */
bool words_read(struct reading *r, int n, char *const *text);
bool words_to_root(struct reading *r);
/* The other words become e->command_line. */
bool words_to_settings(struct reading *r);

/* plugin_names.c: texts that may name a plugin, where they stand. */
struct plugin_mention {
    struct place at;
    const char *text;
};
struct plugin_mentions {
    struct arena *a;
    int n, room;
    struct plugin_mention *item;
};
/* In all of the file and the words. */
void plugin_mentions_find(struct plugin_mentions *m, const struct reading *r);
/* e->names. */
bool plugin_names_read(struct reading *r);

/* known_plugins.c: refuses names of plugins that no directory has, in defaults, matrix and
 * overrides. Nothing is loaded. */
bool known_plugins(struct reading *r);

/* list_words.c: lists of the command line, of settings that are not lists, become axes. */
bool list_words_read(struct reading *r);

/* label.c: the key `label` of a plugin's map; NULL: it has none that is a text. */
const struct value *use_label(const struct value *v);

/* axis.c: one axis. */
bool axis_read(struct reading *r, struct axis *axis, const struct value *v);
/* One more known value of an axis that is not labelled. */
bool axis_append(struct reading *r, struct axis *axis, struct value *v);
/* Among the known values of the axis; -1: none. */
int label_find(const struct axis *axis, const char *label);
/* The value that v names, by its label or as it is written; -1: none. */
int value_find(struct reading *r, const struct axis *axis, const struct value *v);
bool unknown_label(struct reading *r, const struct axis *axis, const struct value *v);
/* A map: dotted key -> value. `what` in messages: "'set'". */
bool settings_check(struct reading *r, const struct value *set, const char *what);
/* "did you mean 'rotary'?", or "it has: rotary, alibi" with there_are "it has". */
const char *name_hint(struct arena *a, const char *wanted, const char *const *name, int n,
                      const char *there_are);

/* matrix.c: all axes, then what names their labels. */
bool matrix_read(struct reading *r);
/* "WHAT names 'KEY', which is not an axis; did you mean ...?" */
bool unknown_axis(struct reading *r, struct place at, const char *key, const char *what);
/* Replaces labels and values of axes by labels: map axis key -> label or list of labels. `one`: no
 * lists. `what` in messages: "exclude". */
bool labels_resolve(struct reading *r, const struct value *map, const char *what, bool one,
                    struct value **resolved);
bool cells_read(struct reading *r); /* exclude and include */

/* howto.c: the sections run, report and match: their rows, and their keys without one. */
extern const peat_param run_rows[], checkpoint_rows[], report_rows[], match_rows[];
extern const char *const run_keys[], *const report_keys[], *const match_keys[];
bool run_read(struct reading *r);
bool report_read(struct reading *r);
bool match_read(struct reading *r);

/* slurm_settings.c: run.slurm. */
extern const peat_param slurm_rows[];
bool slurm_read(struct reading *r, const struct value *given);

/* seconds.c: `key` of section `what`: 90, 90s, 30m, 2h, 1.5h; absent or null leave *seconds as it
 * is. */
bool seconds_read(struct reading *r, const struct value *section, const char *key, const char *what,
                  double *seconds);
