/* SPDX-License-Identifier: MIT */
/*
 * verify.h: checks whether a run directory is consistent, and hashes all of it.
 *
 * verify checks everything that tables, figures, exports and diagnoses read: seals, the files that
 * a result is sealed with, and the identity of each cell: plan against configuration against result
 * against checkpoint; final values against the curve; the experiment against the plan. Plugins are
 * never loaded. Files that cannot be checked, such as data that are not on this machine, are listed
 * but are not problems.
 */
#pragma once

#include "grid/claimfile.h"

struct remark {
    const char *cell; /* the cell's label; NULL: about the whole directory */
    const char *text;
};

struct remarks {
    struct arena *a;
    int n, room;
    struct remark *item;
};

struct verification {
    struct rundir dir;
    int finished, unfinished; /* numbers of planned cells */
    bool without_weights;     /* the directory was unpacked from a bundle without weights */
    bool packed;              /* checked for a bundle: see verify_packed */
    struct remarks problems, notes, unchecked;
    struct claims_kept claims;
    struct arena *arena;
};

/* Errors: not a run directory, plan.json is damaged, or a newer program wrote it. */
peat_status verify_dir(const char *path, struct verification *v, struct arena *a,
                       struct error *err);
/* Verifies the files of a bundle: only planned cells, weights only if they are packed, and no files
 * outside the directory. */
peat_status verify_packed(const char *path, bool weights, struct verification *v, struct arena *a,
                          struct error *err);
void verify_add(struct remarks *list, const char *cell, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds a problem unless the registration is that of a line of `peat plan --register`. PEAT_INVALID:
 * the line has no SHA-256. */
peat_status verify_registered(struct verification *v, const char *line, struct error *err);
/* A line for a paper: the experiment, its hash (fingerprint_of), the cells, and the versions of the
 * engine and of each plugin that made them. */
const char *verify_quote(const struct verification *v, const char *hash);

/* fingerprint.c: the SHA-256 of a list of lines "<SHA-256> <path>", sorted by path: of
 * experiment.yaml, of plan.json, of claims.json, and of config.json, meta.json, metrics.jsonl, the
 * weights and result.json of every planned cell that has a result. JSON is hashed in its canonical
 * form without times, machines and places (docs/reliability.md has the list), so that equal bits
 * have equal hashes wherever and whenever they were computed. NULL: a cell or the claims are
 * damaged, so there is no hash. */
const char *fingerprint_of(const struct rundir *r, struct arena *a);

/* ---- verify_values.c: a result, compared with the files written before it ---- */
/*
 * metrics.jsonl holds each measured value at the step at which it was measured, and the final
 * checkpoint has the end of training: a value that was changed only in result.json contradicts
 * them.
 */

/* Checks that lines of metrics.jsonl are whole and sealed, steps rise, nothing is measured twice,
 * and the final values and the last step are those of result.json. Training lines of a thinned
 * curve need no seal. */
void verify_curve(struct verification *v, const struct cell_files *c, bool thinned);
/* Checks that the cell ended at the step that its configuration or its divergence requires. */
void verify_end(struct verification *v, const struct cell_files *c);
/* Compares result.json with `state`, that of the checkpoint with which the cell ended. */
void verify_state(struct verification *v, const struct cell_files *c, const struct value *state);

/* ---- verify_plan.c: the plan, derived from the experiment's files once more ---- */

/* Compares the name, the seeds, the report, the claims, the cells and their settings in plan.json
 * and config.json with experiment.yaml and resolved.yaml. Plugins are never loaded. */
void verify_plan(struct verification *v);
