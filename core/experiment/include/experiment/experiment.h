/* SPDX-License-Identifier: MIT */
/*
 * experiment.h: the experiment file as typed data, before any function of a plugin runs.
 *
 * Precedence: built-in < defaults < axis < overrides < command line. Every value keeps the place
 * where it was written, for the messages of later checks.
 */
#pragma once

#include <peat/param.h>

#include "experiment/best_over.h"
#include "experiment/fixes.h"

#define EXPERIMENT_MAX_AXES    16
#define EXPERIMENT_MAX_CELLS   10000 /* grid points times seeds */
#define EXPERIMENT_MAX_LOOKS   64    /* looks at the claims, while seeds are added */
#define EXPERIMENT_MAX_JOBS    1024  /* cells at once */
#define EXPERIMENT_MAX_THREADS 1024  /* threads of a cell */

/* In a run directory: the file as it was written, and the one that it extends. */
#define EXPERIMENT_FILE "experiment.yaml"
#define EXTENDS_FILE    "extends.yaml"

/* One value of an axis: a label for the table and its settings, dotted key -> value. */
struct axis_value {
    const char *label;
    struct value *set; /* map of dotted keys; one entry unless the axis is labelled */
};

struct axis {
    const char *key; /* "position.scheme", or the name of a labelled axis: "size" */
    struct place at;
    bool labelled;
    int n;       /* number of values in the product                                        */
    int n_known; /* number of values that are known: also those that only `include` has, or the
                  * file before the command line narrowed it */
    int n_file;  /* of these, those that are not only in `include`                         */
    int room;    /* room in `value`                                                          */
    struct axis_value *value;
    struct text_index by_label, by_setting, by_other_name; /* indices of known values; axis.c */
};

struct override {
    struct value *when; /* map: axis key -> label or list of labels; NULL: every cell */
    struct value *set;  /* map: dotted key -> value                 */
};

enum launcher { LAUNCHER_LOCAL, LAUNCHER_SLURM };

/* Options of `run --launcher slurm`. */
struct slurm_settings {
    const char *partition, *account, *memory; /* "": the cluster's default         */
    const char *constraint;                   /* features that nodes must have; "": any nodes */
    double time;                              /* time limit of a task in seconds; 0: the
                                               * cluster's default */
    int64_t cells_per_task;
    int64_t max_parallel; /* tasks at once; 0: no limit       */
    int64_t cpus;         /* processors of a task; 0: the cells' threads */
    peat_strings extra;   /* options of sbatch, and lines of shell before the cells */
};

/* How to run the cells; never part of a cell's identity. */
struct run_settings {
    int64_t jobs, threads;    /* 0: auto            */
    int64_t on_failure;       /* 0 continue, 1 stop */
    double timeout;           /* limit of a cell in seconds; 0: no limit */
    double no_progress;       /* limit of a cell in seconds without progress; 0: no limit */
    double plan_timeout;      /* limit of one plugin function in a plan, in seconds; 0: no limit */
    int64_t checkpoint_every; /* steps between checkpoints; 0: only at the end */
    int64_t launcher;         /* enum launcher      */
    const char *gemm;         /* one of providers_words() */
    int64_t engine, device;   /* enum run_engine, enum device */
    bool tensorboard;
    struct slurm_settings slurm;
};

struct report_settings {
    const char *metric; /* "": the task's main metric                                     */
    struct place metric_at;
    int64_t goal;            /* 0: as the metric defines it, 1 min, 2 max                      */
    struct value *baseline;  /* map: axis key -> label; NULL: no baseline                      */
    struct value *within;    /* list of axes whose labels are not ranked with each other; NULL:
                              * those of sizes */
    struct value *contrasts; /* list of normal forms, see contrast.h; NULL: no contrasts      */
    struct best_over best_over;
    int64_t at; /* 0 final                                                        */
};

struct match_settings {
    bool on;
    int64_t by;         /* 0 params, 1 flops */
    struct value *to;   /* map: axis key -> label */
    const char *adjust; /* "model.d_ff" */
    double tolerance;
    struct place at;
};

/* `seeds: {from: 10, at_most: 40, until: claims}`: claims are judged at each of these numbers of
 * reported seeds. */
struct looks {
    int n; /* number of looks; 0: a fixed number of seeds */
    int count[EXPERIMENT_MAX_LOOKS];
    int from, every;
    int64_t spending; /* index of a word of claim_spendings */
};

/* The name of a plugin that is given by path, for tables, the command line and the names of files:
 * the id of its descriptor. Where another plugin of the experiment, of another file, has the same
 * id, it is its path as written. */
struct plugin_name {
    const char *file, *text; /* the file that names it, and the path as written there */
    const char *name;
};

struct plugin_names {
    int n;
    struct plugin_name *item;
};

struct experiment {
    struct arena *arena;
    const char *path;    /* path of the file, as given */
    const char *extends; /* path of the file that it extends; NULL: it extends none */
    int n_word;
    const char **word;             /* key=value words of the command line                  */
    struct value *root;            /* the file, with top-level keys of the command line    */
    const struct value *made_with; /* section of a file that resolved.h wrote; NULL: written by
                                    * hand */
    int64_t version;               /* 1 or 2 */
    const char *name, *description;
    struct value *defaults; /* the section as written; a map                              */
    int n_axis;
    struct axis axis[EXPERIMENT_MAX_AXES];
    bool chosen[EXPERIMENT_MAX_AXES]; /* by axis: best_over chooses its value for each row */
    struct value *exclude; /* list of maps axis key -> label or list of labels, or NULL      */
    struct value *include; /* list of maps, axis key -> label, dotted key -> value, or NULL  */
    int n_override;
    struct override *override;
    struct value *command_line; /* map: dotted key -> value, applied after overrides          */
    int n_seed;
    int64_t *seed;
    struct looks looks;
    struct match_settings match;
    struct run_settings run;
    struct report_settings report;
    struct value *claims; /* list of normal forms, see claim.h; NULL: no claims */
    struct place matrix_at, defaults_at;
    struct plugin_names names; /* names of plugins that are given by path */
};

/* Reads and checks the file and the command line's key=value words (argument i has the place
 * "command line:i+1"). Knows every key that is not a plugin's parameter. Plugins given by path are
 * loaded in a process of their own for their names. fixes: are applied to the file before it is
 * read; NULL: none. */
peat_status experiment_load(struct experiment *e, struct arena *arena, const char *path, int n_word,
                            char *const *word, struct fixes *fixes, struct error *err);

/* Reads them without looking for plugins, which need not be here: plugins that are given by path
 * are called by their paths. */
peat_status experiment_load_alone(struct experiment *e, struct arena *arena, const char *path,
                                  int n_word, char *const *word, struct error *err);

/* The index of an axis; -1: no such axis. */
int axis_find(const struct experiment *e, const char *key);

/* One point of the grid: axis labels and merged settings. */
struct point {
    const char *label[EXPERIMENT_MAX_AXES]; /* labels by axis */
    struct value *tree;                     /* sections task, model, position, train, eval */
};

/* A cell of `include` that sets further keys names them in the label of its last axis:
 * "S(n_layer=8)". */
/* The product without `exclude`, plus `include`. Their number, times the seeds, is computed with
 * overflow checks before anything is expanded. */
peat_status experiment_points(const struct experiment *e, struct point **point, int *n,
                              struct error *err);
/* True when `point` has, for every axis key of the map, the label (or one of the labels). A label
 * "-" in the point matches anything on position.combine and the keys below it. Unknown axes or
 * labels were refused by experiment_load. */
bool point_matches(const struct experiment *e, const struct point *point, const struct value *when);
/* True where x and y, the labels of n axes, are equal on the axes with on[axis] == in (on NULL: on
 * all axes). */
bool labels_alike(int n, const char *const *x, const char *const *y, const bool *on, bool in);

/* The name of the plugin whose path this text is; NULL: the text is not such a path. names may be
 * NULL. */
const char *plugin_name_at(const struct plugin_names *names, const struct value *v);
/* A value as labels and tables show it: "rotary", "rotary(base=500)", "learned+alibi", "1e-3".
 * names: for plugins given by path; NULL: shows their paths as written. */
const char *value_label(struct arena *a, const struct plugin_names *names, const struct value *v);
/* "rotary-base=500": a label in the names of cells and their files. */
const char *label_file_name(struct arena *a, const char *label);
/* Whether the word is the cell's label, "rotary-base=500.sum.s0", also as
 * "rotary(base=500).sum.s0", or its id without the hash; and whether the shell pattern matches one
 * of these or its id. label: may be NULL in the second. */
bool cell_is_called(const char *label, const char *id, const char *word);
bool cell_fits(const char *glob, const char *label, const char *id);

/* Whether a text can be the name of an experiment or the id of a cell. Both name folders of run
 * directories and archives, and must not lead out of them. */
bool experiment_is_name(const char *text);
bool cell_is_id(const char *text);
