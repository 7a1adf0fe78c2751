/* SPDX-License-Identifier: MIT */
/* slurm_script.c: the scripts that Slurm runs. */

#include "grid/slurm.h"

#include "cell/engine.h"

#define MINUTE 60.0

/* The texts of slurm_begin.sh and slurm_end.sh, from the build. Slurm's SIGTERM reaches every
 * process of a task, so the script only has to continue its `wait`. SIGUSR1 reaches only the
 * script. A task that runs out of time for the hundredth time is stuck and is not requeued. */
extern const char slurm_begin[], slurm_end[];

enum {
    NOTICE = 120,    /* seconds before the end of a task at which its cells save */
    NOTICE_SHARE = 4 /* at most this fraction of a task's time                   */
};

static void add_assignment(struct strbuf *out, const char *name, const char *text)
{
    strbuf_addf(out, "%s=", name);
    strbuf_add_word(out, text);
    strbuf_add(out, "\n");
}

/* A path in a #SBATCH line: Slurm removes the quotes and expands text that starts with %. */
static void add_log(struct strbuf *out, const char *dir, const char *pattern)
{
    strbuf_add(out, "#SBATCH --output=\"");
    for (; *dir; dir++) {
        if (*dir == '"')
            strbuf_add(out, "\\");
        strbuf_add(out, *dir == '%' ? "%%" : (char[]){*dir, '\0'});
    }
    strbuf_addf(out, "/slurm/%s\"\n", pattern);
}

int64_t slurm_tasks(const struct slurm_array *s)
{
    int64_t each = s->settings->cells_per_task;
    return (s->jobs->n + each - 1) / each;
}

/* ---- options ---- */

static void add_place(const struct slurm_array *s, struct strbuf *out)
{
    if (s->settings->partition[0])
        strbuf_addf(out, "#SBATCH --partition=%s\n", s->settings->partition);
    if (s->settings->account[0])
        strbuf_addf(out, "#SBATCH --account=%s\n", s->settings->account);
    if (s->settings->constraint[0])
        strbuf_addf(out, "#SBATCH --constraint=\"%s\"\n", s->settings->constraint);
    strbuf_add(out, "#SBATCH --nodes=1\n#SBATCH --ntasks=1\n");
}

static void add_array(const struct slurm_array *s, struct strbuf *out)
{
    strbuf_addf(out, "#SBATCH --array=0-%" PRId64, slurm_tasks(s) - 1);
    if (s->settings->max_parallel)
        strbuf_addf(out, "%%%" PRId64, s->settings->max_parallel);
    strbuf_add(out, "\n");
}

/* Slurm counts in minutes. */
static void add_time(const struct slurm_array *s, struct strbuf *out)
{
    double minutes = ceil(s->settings->time / MINUTE), notice = NOTICE;
    if (minutes > 0) {
        strbuf_addf(out, "#SBATCH --time=%.0f\n", minutes);
        notice = fmin(notice, floor(minutes * MINUTE / NOTICE_SHARE));
    }
    strbuf_addf(out, "#SBATCH --signal=B:USR1@%.0f\n", notice);
}

static void add_options(const struct slurm_array *s, struct strbuf *out)
{
    const struct slurm_settings *t = s->settings;
    strbuf_addf(out, "#SBATCH --job-name=%s\n", s->name);
    add_place(s, out);
    strbuf_addf(out, "#SBATCH --cpus-per-task=%" PRId64 "\n", t->cpus ? t->cpus : s->jobs->threads);
    if (t->memory[0])
        strbuf_addf(out, "#SBATCH --mem=%s\n", t->memory);
    add_array(s, out);
    add_time(s, out);
    strbuf_add(out, "#SBATCH --requeue\n#SBATCH --open-mode=append\n");
    add_log(out, s->dir, "%A_%a.log");
}

/* options: whether to write the options of sbatch, or the lines of shell. */
static void add_extra(const struct slurm_array *s, bool options, struct strbuf *out)
{
    for (int64_t i = 0; i < s->settings->extra.n; i++) {
        const char *line = s->settings->extra.item[i];
        if ((line[0] == '-') == options)
            strbuf_addf(out, "%s%s\n", options ? "#SBATCH " : "", line);
    }
}

/* ---- the command ---- */

/* Changes to the user's directory, so that relative paths in the environment mean the same. */
static void add_variables(const struct slurm_array *s, struct strbuf *out)
{
    add_assignment(out, "peat", s->jobs->program);
    add_assignment(out, "dir", s->dir);
    strbuf_add(out, "cd ");
    strbuf_add_word(out, s->work);
    strbuf_add(out, " || exit 2\n");
    if (s->plugin_path) {
        strbuf_add(out, "export ");
        add_assignment(out, "PEAT_PLUGIN_PATH", s->plugin_path);
    }
}

static void add_cells(const struct slurm_array *s, struct strbuf *out)
{
    const struct jobs *j = s->jobs;
    strbuf_addf(out,
                "mapfile -t -s $((SLURM_ARRAY_TASK_ID * %" PRId64 ")) -n %" PRId64
                " cells <\"$dir/slurm/cells\"\n",
                s->settings->cells_per_task, s->settings->cells_per_task);
    strbuf_addf(out,
                "\"$peat\" cell \"$dir\" \"${cells[@]}\" -t %" PRId64
                " --gemm %s --checkpoint-every %" PRId64,
                j->threads, j->gemm, j->checkpoint_every);
    if (j->timeout > 0)
        strbuf_addf(out, " --timeout %.0f", ceil(j->timeout));
    strbuf_addf(out, " --no-progress %.0f", ceil(j->no_progress));
    if (j->engine != ENGINE_PEAT)
        strbuf_addf(out, " --engine %s --device %s", engine_words[j->engine],
                    device_words[j->device]);
    if (j->tensorboard)
        strbuf_add(out, " --tensorboard");
    if (j->allow_drift)
        strbuf_add(out, " --allow-drift");
    strbuf_add(out, " ${SLURM_RESTART_COUNT:+--skip-failed} &\n");
}

void slurm_array_script(const struct slurm_array *s, struct strbuf *out)
{
    strbuf_add(out, "#!/bin/bash\n# Made by `peat run --launcher slurm`.\n");
    add_options(s, out);
    add_extra(s, true, out);
    strbuf_add(out, "\n");
    strbuf_add(out, slurm_begin);
    add_variables(s, out);
    add_extra(s, false, out);
    add_cells(s, out);
    strbuf_add(out, slurm_end);
}

void slurm_table_script(const struct slurm_array *s, struct strbuf *out)
{
    strbuf_add(out, "#!/bin/bash\n");
    strbuf_add(out, "# Made by `peat run --launcher slurm`, to follow array.sbatch.\n");
    strbuf_addf(out, "#SBATCH --job-name=%s-table\n", s->name);
    add_place(s, out);
    strbuf_add(out, "#SBATCH --open-mode=append\n");
    add_log(out, s->dir, "%j.log");
    add_extra(s, true, out);
    strbuf_add(out, "\n");
    add_variables(s, out);
    add_extra(s, false, out);
    strbuf_add(out, "\n\"$peat\" status \"$dir\"\n"
                    "\"$peat\" results \"$dir\" -o \"$dir/results.txt\"\n");
}
