/* SPDX-License-Identifier: MIT */
/*
 * slurm.h: cells run by Slurm: one array job over them, and a job after it for the table.
 *
 * A task of the array is `peat cell DIR ID...` over the next cells of slurm/cells, so it does the
 * same as that command; machines share only the run directory. Slurm is used only through its
 * programs sbatch, squeue and scontrol.
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
    const char *name;        /* name of the experiment                               */
    const char *plugin_path; /* PEAT_PLUGIN_PATH; NULL: not set                      */
    const char *work;        /* the directory from which relative names in it start */
    const struct slurm_settings *settings;
    const struct jobs *jobs; /* the cells to be run, and how */
};

/* Makes paths absolute. PEAT_INVALID where Slurm could not write a log below dir. */
peat_status slurm_array_open(struct slurm_array *s, struct arena *a, struct error *err);

/* slurm_script.c: the number of tasks, and the scripts as text. */
int64_t slurm_tasks(const struct slurm_array *s);
void slurm_array_script(const struct slurm_array *s, struct strbuf *out);
void slurm_table_script(const struct slurm_array *s, struct strbuf *out);

/* The kinds of nodes among which Slurm may choose, "zen2; zen4", where they are several and no
 * constraint is given; NULL: one kind, or not known. On different processors the same cell may have
 * different bits. */
const char *slurm_kinds(const struct slurm_array *s, struct arena *a);

struct slurm_jobs {
    const char *array, *table; /* numbers of the jobs; table is NULL when Slurm refused it, see
                                * table_error */
    struct error table_error;
};

/* PEAT_INVALID naming the job when the array that was last submitted from this directory is waiting
 * or running; also when Slurm cannot answer. PEAT_NOTFOUND: there is no sbatch. */
peat_status slurm_check(const char *dir, struct arena *a, struct error *err);
/* Submits the jobs. Removes end.json of each of their cells, because a requeued task does not run
 * cells again that have failed. */
peat_status slurm_submit(const struct slurm_array *s, struct slurm_jobs *jobs, struct arena *a,
                         struct error *err);
