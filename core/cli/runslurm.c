/* SPDX-License-Identifier: MIT */
/* runslurm.c: hands cells to Slurm, and reports it to the user. */
#include "cli/runslurm.h"

peat_status run_slurm_open(struct run_slurm *s, struct loaded_plan *l, const char *dir, bool dry,
                           struct error *err)
{
    *s = (struct run_slurm){
        .array = {.dir = dir,
                  .name = l->experiment.name,
                  .plugin_path = getenv("PEAT_PLUGIN_PATH"),
                  .settings = &l->experiment.run.slurm},
        .arena = &l->arena,
        .dry = dry,
    };
    return slurm_array_open(&s->array, s->arena, err);
}

static void print_script(const struct run_slurm *s, const char *name,
                         void (*script)(const struct slurm_array *, struct strbuf *))
{
    struct strbuf text = STRBUF_NEW;
    script(&s->array, &text);
    cli_print("==> %s/slurm/%s <==\n", s->array.dir, name);
    shown_print_lines(stdout, text.text);
    strbuf_release(&text);
}

static void print_scripts(const struct run_slurm *s)
{
    int64_t tasks = slurm_tasks(&s->array);
    print_script(s, "array.sbatch", slurm_array_script);
    cli_print("\n");
    print_script(s, "table.sbatch", slurm_table_script);
    cli_say("%d cell%s in %" PRId64 " task%s would be submitted", s->array.jobs->n,
            plural(s->array.jobs->n), tasks, plural(tasks));
}

void run_slurm_say_kinds(const struct slurm_settings *settings, struct arena *a)
{
    const struct slurm_array any = {.settings = settings};
    const char *kinds = slurm_kinds(&any, a);
    if (kinds)
        cli_say("nodes differ here (%s), and results depend a little on the processor: "
                "run.slurm.constraint keeps the cells on one kind",
                kinds);
}

peat_status run_slurm_launch(void *ctx, const struct jobs *jobs, struct error *err)
{
    struct run_slurm *s = ctx;
    s->array.jobs = jobs;
    s->launched = true;
    run_slurm_say_kinds(s->array.settings, s->arena);
    if (!s->dry)
        return slurm_submit(&s->array, &s->jobs, s->arena, err);
    print_scripts(s);
    return PEAT_OK;
}

bool run_slurm_say(const struct run_slurm *s)
{
    const char *dir = s->array.dir;
    if (!s->jobs.array) {
        if (!s->launched)
            cli_say("there is nothing to submit");
        return true;
    }
    cli_say("Slurm's job %s runs them; its script and logs are in %s/slurm", s->jobs.array, dir);
    if (!s->jobs.table) {
        cli_say("no job will print the table: %s", s->jobs.table_error.text);
        return false;
    }
    cli_say("job %s prints the table into %s/results.txt after it", s->jobs.table, dir);
    return true;
}
