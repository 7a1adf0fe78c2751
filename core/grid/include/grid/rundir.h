/* SPDX-License-Identifier: MIT */
/*
 * rundir.h: a run directory, as docs/guide.md describes it: plain files, no database.
 *
 * Reading needs neither plugins nor data. A cell is done when result.json is there; it is written
 * last, by fsync and rename.
 */
#pragma once

#include "cell/cellfiles.h"
#include "experiment/plan.h"
#include "grid/cellstate.h"

/* end.json and stale.json. */
extern const struct record end_record, stale_record;

/* Refuses a directory that belongs to another experiment. Accepts one that does not exist. */
peat_status rundir_check(const char *dir, const struct plan *p, struct arena *a, struct error *err);
/* Gives cells that the directory has under other names those: the labels of its plan, and the id of
 * a cell of another label. */
void rundir_adopt(const char *dir, struct plan *p, struct arena *a);
/* The parent's lock on the directory (close-on-exec); makes a missing directory. *fd, or
 * PEAT_INVALID naming pid and host of the living parent that holds the lock. */
peat_status rundir_lock(const char *dir, int *fd, struct arena *a, struct error *err);
/* Whether experiment.yaml or resolved.yaml in `dir` is the file that plan.json was written with.
 * Unknown: the plan had no such file, or an earlier program wrote it. */
enum source { SOURCE_UNKNOWN, SOURCE_SAME, SOURCE_MISSING, SOURCE_OTHER };
enum source rundir_source(const char *dir, const struct value *plan, const char *name);
/* Refuses a directory whose experiment.yaml or resolved.yaml has changed since it was run. Call it
 * before `dir` is used as the experiment. */
peat_status rundir_check_sources(const char *dir, struct arena *a, struct error *err);
/* Writes experiment.yaml, plan.json and each cell's config.json where they are new or changed, in
 * a directory that rundir_check accepts. Cells of other plans stay. */
peat_status rundir_write(const char *dir, const struct plan *p, struct arena *a, struct error *err);

/* One cell, read from its files. */
struct cell_files {
    const char *id, *dir;
    const char *label; /* the id when no file has it            */
    const char *hash;  /* hash in plan.json; NULL: the plan does not have the cell */
    enum cell_state state;
    struct value *config, *result, *meta; /* NULL when absent or damaged         */
    struct value *end;                    /* end.json; NULL also beside a result */
    bool planned;                         /* in the present plan.json             */
    bool marked_stale;                    /* has a stale.json                     */
    const char *damage; /* "'runs/x/cells/.../config.json' is damaged: ..."; NULL: undamaged */
};

struct rundir {
    const char *path;
    struct value *plan;
    const struct best *best; /* the choices for the planned cells in their order (grid/best.h);
                              * NULL: the plan has no best_over */
    int n;
    struct cell_files *cell; /* in plan order, then cells that are not in the plan, by name */
};

/* Reads everything. A damaged file is reported by the cell's `damage`, and by the state damaged
 * where the cell was done, not by failing. PEAT_CORRUPT: plan.json is damaged; PEAT_MISMATCH: a
 * file is of a newer format than is known. */
peat_status rundir_read(const char *path, struct rundir *r, struct arena *a, struct error *err);
/* Fills r->best from the plan and the states of the planned cells, and distinguishes cells that
 * wait for a choice from those that were not chosen. rundir_read calls it. */
peat_status rundir_choose(struct rundir *r, const struct value *plan, struct arena *a,
                          struct error *err);
/* Reads one cell, quickly; PEAT_NOTFOUND when it has no directory. Does not set `planned`. */
peat_status rundir_read_cell(const char *path, const char *id, struct cell_files *c,
                             struct arena *a, struct error *err);
/* The cell of this id; NULL: there is none. */
const struct cell_files *rundir_cell(const struct rundir *r, const char *id);
/* CELL is an index, an id, a label or a unique prefix of the hash. */
peat_status rundir_find(const struct rundir *r, const char *cell, int *index, struct error *err);

/* The provider that multiplied for the cell; "auto": none yet, or it is not installed here. */
const char *cell_gemm(const struct cell_files *c);
/* True where a living process runs the cell of this directory. */
bool cell_is_running(const char *dir);
/* True where a living process holds the lock in this directory, of a cell or a run. */
bool lock_is_held(const char *dir);
/* "process 12 on host h", which the file in this directory names, or "another process". */
const char *process_in(const char *dir, const char *name, struct arena *a);
/* The changes during a cell that went on all the same: "step 50: blas_core was 'A' and is 'B';
 * ..."; NULL: nothing. */
const char *cell_drift(const struct value *result, struct arena *a);
