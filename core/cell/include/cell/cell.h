/* SPDX-License-Identifier: MIT */
/*
 * cell.h: one resolved configuration with one seed: typed, with every default filled in, hashed.
 *
 * The same code reads a point of the grid (places: the experiment file) and a cell's config.json
 * (places: that file), so a cell process has exactly the configuration of the plan.
 */
#pragma once

#include "model/model_config.h"
#include "nn/positional.h"
#include "plugin/registry.h"
#include "train/train_config.h"

/* A plugin with its filled config. */
struct plugin_use {
    const struct plugin *plugin;
    void *config;
    struct value *given; /* map with `plugin` and all parameters resolved */
    const char *formula; /* the file that `formula` names, which is no part of the identity, as an
                          * absolute path; NULL: the key is not there */
    struct where where;  /* schemes only */
    struct place at;
};

/* Version of the order in which the engine adds and rounds: raised when cells get other bits. 1: a
 * library computes products of any size. */
enum { CELL_ARITHMETIC = 2 };

struct weight_start;

struct cell_config {
    struct plugin_use task;
    struct model_config model; /* without sizes that the task sets */
    const char *filled_in;     /* what model.block and d_ff: auto came to, as text; NULL: nothing */
    const struct value *freeze; /* model.freeze as written; NULL: not given */
    int n_start;
    struct weight_start *start; /* cell/start.h: in order; later ones override earlier ones */
    int n_scheme;
    struct plugin_use scheme[POSITIONAL_MAX];
    bool has_combine; /* false: no stream to merge; the table shows `-` */
    struct plugin_use combine;
    struct train_config train;
    struct eval_config eval;
    int64_t arithmetic; /* CELL_ARITHMETIC of the plan; 1 is not written and not hashed */
    int64_t seed;
    struct value *resolved; /* map: task, model, position, train, eval, seed: all values explicit */
    struct value *identity; /* the part of `resolved` that is hashed, with the seed */
    char hash[HASH_HEX];    /* hash of task, model, position, train, seed. Files count by content,
                             * plugins by id (those named by path also by content) */
    char trunk[HASH_HEX];   /* hash of the steps that it may share with longer cells
                             * (cell/trunk.h); "": it shares none */
    struct data_files *files; /* hashes of the files that its plugins read */
    char setting[HASH_HEX];   /* `hash` without the seed: equal for the cells of one row */
    unsigned acting, idle; /* bit i: condition i of cell_conditions was written, and has an effect
                            * or has none */
};

/* Settings that have an effect only beside another setting. */
struct cell_condition {
    const char *key, *needs;
};
enum { CELL_CONDITIONS = 5 };
extern const struct cell_condition cell_conditions[CELL_CONDITIONS];

/* As place_error, with the status of `inner`, which it returns. */
peat_status place_failure(struct error *err, struct place at, const struct error *inner);
/* The plugins of a cell in the order in which meta.json lists them: its task, schemes, combine.
 * NULL after the last. */
const struct plugin_use *cell_plugin(const struct cell_config *c, int i);

/* Types and checks everything that needs no set-up: keys, values, plugins, parameters, where. The
 * section rows are exported for the reference pages. combine_dropped (may be NULL) is set when the
 * schemes give no stream and the combine named in the tree makes no position itself. The cells of a
 * grid share `files`, whose arena outlives them. */
peat_status cell_config_read(struct cell_config *c, const struct value *tree, int64_t seed,
                             struct registry *r, struct data_files *files, struct arena *a,
                             bool *combine_dropped, struct error *err);

/* A flag of these rows, beside those of enum peat_param_flag: the key was added after cells had
 * been trained. While it has its default it is left out of a cell's configuration, so that old
 * cells keep their hash. */
enum { CELL_LATER = 1 << 16 };
extern const peat_param model_rows[], attention_rows[], train_rows[], eval_rows[];

/* Reads a configuration from a cell's config.json. The hash is computed again from the plugins and
 * data that are there now; the caller compares it with the hash in the file. */
peat_status cell_config_restore(struct cell_config *c, const struct value *config_json,
                                struct registry *r, struct arena *a, struct error *err);
/* The same cell with another seed. Fails when it starts from a cell that does not exist. */
peat_status cell_config_reseed(struct cell_config *c, const struct cell_config *from, int64_t seed,
                               struct arena *a, struct error *err);

/* "rotary.sum.S.s3": scheme.combine.<other axes>.sN with characters that are safe in file names;
 * a long label is cut. */
const char *cell_label(struct arena *a, int n, const char *const *axis_label, int64_t seed);
