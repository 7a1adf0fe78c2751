/* SPDX-License-Identifier: MIT */
/*
 * plan.h: all cells of an experiment with their costs, from the real set-up and one shape-only
 * forward of each; nothing is trained.
 */
#pragma once

#include "cell/cell.h"
#include "experiment/experiment.h"

struct model_cost; /* model/transformer.h */

struct plan_cell {
    int index;
    const char *id;                        /* name-hash8: the directory's name */
    const char *label;                     /* "rotary.sum.s0": scheme and combination, unless
                                            * labelled axes set them; the other axes, unless they
                                            * are parameters that these are written with */
    const char *name;                      /* the label with all axes. Label and name are the id
                                            * where two cells would have the same */
    const char *axis[EXPERIMENT_MAX_AXES]; /* labels; combine may be "-"         */
    const char *scheme, *combine, *task;   /* labels, whether they are axes or not */
    int64_t seed;
    struct cell_config config;
    const struct value *plugins; /* as cell_plugins gives them */
    double q[QUANTITIES];        /* those of plan.json. Q_INPUT_RATIO_START: with the first seed of
                                    the experiment, in 4 digits; NaN: no position there */
    const char *attention_path;  /* "fused", "composed" */
    const char *injection;       /* what acts where, one line per scheme */
    const char *started;         /* what its weights start from, "A; B"; NULL: drawn */
    const char *first_tokens;  /* the first tokens of the training data; NULL: the task gives none.
                                * Not in plan.json */
    const char *matched;       /* "model.d_ff = 498 (params 0.3 % off)"; NULL: not adjusted       */
    const struct value *trunk; /* describes the steps that it shares with other cells
                                * (cell/trunk.h); NULL: it shares none */
    int baseline; /* index of the cell it is compared with: same seed, equal on every axis that
                   * the baseline does not name; -1: the experiment names no baseline. plan_make
                   * checks it for all cells */
};

struct plan {
    const struct experiment *experiment;
    int n;
    struct plan_cell *cell;
    /* Grid points that are the same model as one kept, as texts: "none x concat_split, gate_scalar:
     * nothing to merge". */
    const struct value *dropped;
    /* [{label, reason}], seed-major, as cells: points that a plugin or the engine refuses, such as
     * a width that a scheme cannot halve. */
    const struct value *skipped;
    const bool *claim_has_rows; /* [claims of the experiment] whether the grid has the rows that the
                                 * claim compares, which the command line may have left out */
};

/* How much a plan computes: only shapes and costs, or also the sizes of tokens and positions at the
 * input (Q_INPUT_RATIO_START, otherwise NaN), for which it loads a library of matrix products. */
enum plan_depth { PLAN_SHAPES, PLAN_SIZES };

/* Runs plugins: see plan_make_apart. A point that is refused is left out of the cells and listed in
 * `skipped` when another point of the grid is accepted; otherwise it is an error. */
peat_status plan_make(struct plan *p, const struct experiment *e, struct registry *r,
                      enum plan_depth depth, struct arena *a, struct error *err);
/* FLOPs of the cell's training after step `from`; 0: of the whole training. */
double plan_training(const struct plan_cell *c, int64_t from);
/* FLOPs of the cell's evaluations after step `from`: of given tokens, and of tokens that it
 * generates. */
double plan_scoring(const struct plan_cell *c, int64_t from);
double plan_generation(const struct plan_cell *c, int64_t from);
/* The work of the cell's training after step `from`, in FLOPs. It counts activations too, because
 * reading and writing them takes time, above all on the composed path of attention. */
double plan_training_work(const struct plan_cell *c, int64_t from);
/* The work of training and evaluations; FLOPs of a generated token count for more, because they
 * take longer. */
double plan_work(const struct plan_cell *c, int64_t from);
/* The number of evaluations after step `from`. */
int64_t plan_evaluations(const struct plan_cell *c, int64_t from);
/* plantrunks.c: lists the cells that share each trunk by their present ids; a cell that shares its
 * trunk with no other gets none. */
void plan_name_trunks(struct plan *p, struct arena *a);
/* Sets `from`, for each cell with is_run (NULL: all), to the step up to which a shorter one of
 * these cells trains the same steps. */
void plan_shared_steps(const struct plan *p, const bool *is_run, int64_t *from, struct arena *a);
/* Bytes that the cell's process will hold, without its data: libraries; weights, gradients and
 * moments; activations, whose gradients mostly reuse memory. */
int64_t plan_memory(const struct plan_cell *c);
/* The cell with the most plan_memory, the first of equals. A plan has at least one cell. */
const struct plan_cell *plan_largest(const struct plan *p);
/* plan.json: name, axes with labels, report settings, cells (index, id, label, axes, seed, hash,
 * cost, injection, baseline index). */
struct value *plan_value(const struct plan *p, struct arena *a);
extern const struct record plan_record;
/*
 * registered.c: everything that decides a number of the table, by content: {claims, plan, plugins}.
 *
 * plan: the settings of rows as they are hashed, seeds, report and library; files stand by their
 * SHA-256, and names and places of the run are left out. plugins: the SHA-256 of their files. Equal
 * registrations have one hash (json_hash) wherever they were made.
 */
struct value *plan_registration(const struct plan *p, struct arena *a);
/* The number of cells of a plan_value, and one hash of their labels and settings, which covers
 * starts that differ between seeds. */
void plan_cells_put(struct json map, const struct value *plan);
/* [{kind, id, sha256}] of the plugins of all cells, each once. */
struct value *plan_plugins(const struct plan *p, struct arena *a);
/* <dir>/plan.json, checked: its name and the ids of its cells name folders. */
peat_status plan_read(const char *dir, struct value **plan, struct arena *a, struct error *err);
/* The content of a cell's config.json. */
struct value *plan_cell_value(const struct plan *p, const struct plan_cell *c, struct arena *a);

/*
 * plan_make in a process of its own, for a process that runs no plugin code.
 *
 * The plan comes back as data. A cell's configuration has only the parts that readers of the plan
 * need: resolved settings, hash, seed and train sizes; no plugin is loaded here, and no function of
 * one can be called.
 */
peat_status plan_make_apart(struct plan *p, const struct experiment *e, enum plan_depth depth,
                            struct arena *a, struct error *err);
