/* SPDX-License-Identifier: MIT */
/*
 * slurm.h: cells run by Slurm: one array job over them, and a job after it for the table.
 *
 * A task of the array is `peat cell DIR ID...` over the next cells of slurm/cells, so everything
 * that holds for that command holds there; the run directory is all that machines share. Slurm is
 * reached by its programs sbatch, squeue and scontrol alone.
 *
 *   slurm/cells          the ids, one a line
 *   slurm/array.sbatch   what was submitted, and slurm/table.sbatch after it
 *   slurm/job.json       the numbers of the jobs
 *   slurm/A_T.log        what task T of job A has said
 */
#pragma once

#include "grid/jobs.h"

struct slurm_array {
    const char *dir;         /* the run directory                                    */
    const char *name;        /* of the experiment                                    */
    const char *plugin_path; /* PEAT_PLUGIN_PATH; NULL: not set                      */
    const char *work;        /* the directory that relative names in it are seen from */
    const struct slurm_settings *settings;
    const struct jobs *jobs; /* the cells to be done, and how */
};

/* Makes paths absolute. PEAT_INVALID where Slurm could not write a log below dir. */
peat_status slurm_array_open(struct slurm_array *s, struct arena *a, struct error *err);

/* slurm_script.c: the scripts as text. */
int64_t slurm_tasks(const struct slurm_array *s);
void slurm_array_script(const struct slurm_array *s, struct strbuf *out);
void slurm_table_script(const struct slurm_array *s, struct strbuf *out);

/* The kinds of nodes among which Slurm may choose, "zen2; zen4", where there are several and
 * nothing is said about them; NULL: one kind, or not known. On different processors the same cell
 * may have different bits. */
const char *slurm_kinds(const struct slurm_array *s, struct arena *a);

struct slurm_jobs {
    const char *array, *table; /* numbers; table NULL: refused, see table_error */
    struct error table_error;
};

/* PEAT_INVALID naming the job when the array that was last submitted from this directory waits or
 * runs; also when Slurm cannot be asked about it. */
peat_status slurm_check(const char *dir, struct arena *a, struct error *err);
/* Submits. None of the cells counts as having failed before. */
peat_status slurm_submit(const struct slurm_array *s, struct slurm_jobs *jobs, struct arena *a,
                         struct error *err);
