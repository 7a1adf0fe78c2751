/* SPDX-License-Identifier: MIT */
/* cmd_run.c: peat run EXP.yaml. */

#include "cli/planparts.h"
#include "cli/runlooks.h"
#include "cli/runslurm.h"
#include "cli/verbs.h"
#include "grid/runner.h"
#include "process/child.h"
#include "tensor/gemm.h"

static const char *const launcher_words[] = {"local", "slurm"};

struct request {
    const char *dir;
    int64_t jobs, threads; /* -1: the experiment's value; 0: auto */
    int launcher;          /* -1: the experiment's value          */
    bool dry, stop;
    struct runner_options runner;
};

/* ---- running ---- */

static int exit_code(const struct runner_end *end)
{
    if (end->interrupted)
        return CLI_STOPPED;
    bool waits = end->waiting && !end->launched;
    return end->failed || end->left || waits ? CLI_FAILED : CLI_DONE;
}

static bool run_cells(struct loaded_plan *l, const char *dir, const struct runner_options *o,
                      const char *program, struct runner_end *end, struct error *err)
{
    return l->experiment.looks.n ? run_looks(l, dir, o, program, end, err)
                                 : runner_run(dir, &l->plan, o, program, end, err) == PEAT_OK;
}

/* Checks everything before it makes the directory. */
static bool run_plan(struct loaded_plan *l, const char *dir, const struct runner_options *o,
                     struct runner_end *end, struct error *err)
{
    char program[PATH_MAX];
    int lock = -1;
    if (l->experiment.looks.n && o->shard_count) {
        return error_fail(
            err, PEAT_INVALID,
            "option '--shard': seeds until claims need all cells of a look in one directory");
    }
    if (own_program(program, sizeof(program), err) != PEAT_OK ||
        runner_check(&l->plan, o, err) != PEAT_OK ||
        rundir_check(dir, &l->plan, &l->arena, err) != PEAT_OK)
        return false;
    if (o->dry)
        return run_cells(l, dir, o, program, end, err);
    if (rundir_lock(dir, &lock, &l->arena, err) != PEAT_OK)
        return false;
    bool ran = (!o->launch || slurm_check(dir, &l->arena, err) == PEAT_OK) &&
               rundir_write(dir, &l->plan, &l->arena, err) == PEAT_OK &&
               run_cells(l, dir, o, program, end, err);
    close(lock);
    return ran;
}

static bool by_slurm(const struct request *q, const struct run_settings *settings)
{
    return (q->launcher >= 0 ? q->launcher : settings->launcher) == LAUNCHER_SLURM;
}

/* Refuses options that a batch system cannot obey. */
static bool open_slurm(struct run_slurm *s, struct loaded_plan *l, const char *dir,
                       struct request *q, struct error *err)
{
    if (q->jobs >= 0)
        error_set(err, PEAT_INVALID,
                  "option '--jobs' is for the launcher local; run.slurm.max_parallel says how many "
                  "tasks run at once");
    else if (q->runner.stop_on_failure)
        error_set(err, PEAT_INVALID,
                  "stopping at the first failure is for the launcher local; tasks of Slurm go on");
    else
        run_slurm_open(s, l, dir, q->dry, err);
    q->runner.launch = run_slurm_launch;
    q->runner.launch_ctx = s;
    q->runner.dry = q->dry;
    return err->status == PEAT_OK;
}

/* Whether a cell is still to run. Cells that wait for a choice are counted for one value. */
static bool is_left(enum cell_state state, bool counted, const struct runner_options *o)
{
    if (cell_has_ended(state) || state == CELL_UNCHOSEN || state == CELL_DECIDED)
        return false;
    if (cell_has_failed(state))
        return o->retry_failed;
    return state == CELL_STALE ? o->rerun_stale : counted || state != CELL_WAITING;
}

/* Prints what will be run, and where. With best_over the numbers are those of `peat plan`. */
static void say_start(struct loaded_plan *l, const struct request *q, const char *dir)
{
    struct plan_runs runs;
    struct error damage = {0};
    const enum cell_state *state = plan_states(dir, &l->plan, &l->arena, &damage);
    bool *chosen = ARENA_ARRAY(&l->arena, l->plan.n + 1, bool);
    int n = 0;
    plan_runs_count(&l->plan, &runs, &l->arena);
    runner_chosen(&l->plan, &q->runner, chosen);
    for (int i = 0; i < l->plan.n; i++)
        n += chosen[i] && state && is_left(state[i], runs.is_run[i], &q->runner);
    if (n)
        cli_say("%s: %d of %d cells to run", dir, n, runs.n);
}

/* Says how many finished cells of the directory's last plan have other settings, data or plugins
 * now: cells of the same labels are trained beside them. */
static void say_changed(struct loaded_plan *l, const char *dir, const struct value *last)
{
    const struct value *cell;
    const char *why = NULL;
    int n = 0;
    for (int i = 0; (cell = json_get_item(last, "cells", i)); i++) {
        const char *label = json_get_text(cell, "label"), *id = json_get_text(cell, "id");
        const struct plan_cell *now = NULL;
        bool same = i < l->plan.n && same_text(l->plan.cell[i].id, id);
        for (int k = 0; k < l->plan.n && !same; k++) {
            now = same_text(l->plan.cell[k].label, label) ? &l->plan.cell[k] : now;
            same = same_text(l->plan.cell[k].id, id);
        }
        const char *folder = arena_printf(&l->arena, "%s/cells/%s", dir, id);
        if (!now || same || !dir_has(folder, "result.json"))
            continue;
        why = why ? why : plan_change(folder, now, &l->arena);
        n++;
    }
    if (n)
        cli_say("%s: settings, data or a plugin named by path differ from those of %d finished "
                "cell%s of the last plan, which stay in %s/cells; new cells with the same labels "
                "are trained: %s",
                dir, n, plural(n), dir, why);
}

/* Whether the last plan has cells of this setting, which has the content of its plugins. */
static bool was_planned(const struct value *last, const char *setting)
{
    const struct value *cell;
    for (int i = 0; (cell = json_get_item(last, "cells", i)); i++)
        if (json_text_is(cell, "setting", setting))
            return true;
    return false;
}

/* Names the plugins that are not of this installation, once for each content. */
static void say_unchecked(struct loaded_plan *l, const struct value *last)
{
    struct arena *a = &l->arena;
    const char *lib = installed_dir(a, PEAT_LIBDIR);
    struct value *said = value_list(a, NOWHERE);
    for (int i = 0; lib && i < l->plan.n; i++) {
        const struct plan_cell *c = &l->plan.cell[i];
        for (int k = 0; k < c->plugins->n; k++) {
            const char *path = json_get_text(c->plugins->item[k], "path");
            if (strncmp(path, lib, strlen(lib)) == 0 || value_holds_text(said, path) ||
                path_ends_in(path, ".py") || was_planned(last, c->config.setting))
                continue;
            value_append(a, said, value_text(a, NOWHERE, path));
            cli_say("%s: no run checks a plugin: `peat plugins check %s` does", path, path);
        }
    }
}

/* Says what was changed, which plugins were not checked, and what starts, before cells are trained.
 */
static void say_before(struct loaded_plan *l, const struct request *q, const char *dir)
{
    struct value *last = NULL;
    if (rundir_check(dir, &l->plan, &l->arena, NULL) != PEAT_OK)
        return; /* the run says why */
    if (plan_read(dir, &last, &l->arena, NULL) != PEAT_OK)
        last = NULL;
    say_changed(l, dir, last);
    say_unchecked(l, last);
    say_start(l, q, dir);
}

/* A run directory may have a slash at its end. */
static void say_next(const struct loaded_plan *l, const char *dir)
{
    const char *name = *path_name(dir) ? path_name(dir) : l->experiment.name;
    cli_say("all of it is in %s; next: `peat report %s -o %s.html` makes a page, `peat results %s "
            "--columns cost` shows what it took",
            dir, dir, name, dir);
}

/* A failure to print the table does not change the exit code of the run. */
static void print_table(const struct cli *cli, char *dir)
{
    struct cli own = *cli;
    struct error err = {0};
    own.err = &err;
    print_results(&own, dir);
    if (err.status != PEAT_OK)
        cli_say("%s", err.text);
}

/* Whether the label of a cell, "rotary.sum.s0", has `part` between its points. */
static bool label_has(const char *label, const char *part)
{
    size_t n = strlen(part);
    for (const char *at = label; (at = strstr(at, part)); at++)
        if ((at == label || at[-1] == '.') && (at[n] == '.' || !at[n]))
            return true;
    return false;
}

/* Why a label has no value: all its cells "diverged", or "were skipped"; NULL: it has one, or may
 * get one. */
static const char *no_value(const struct loaded_plan *l, const enum cell_state *state, int axis,
                            const char *label)
{
    const struct value *skipped = l->plan.skipped;
    int diverged = 0;
    for (int i = 0; i < l->plan.n; i++) {
        bool of_label = same_text(l->plan.cell[i].axis[axis], label);
        if (of_label && state[i] != CELL_DIVERGED)
            return NULL;
        diverged += of_label;
    }
    for (int i = 0; !diverged && skipped && i < skipped->n; i++)
        if (label_has(json_get_text(skipped->item[i], "label"), label))
            return "were skipped";
    return diverged ? "diverged" : NULL;
}

/* Names each label that has no value and will get none. Returns whether there is one. */
static bool say_without_value(struct loaded_plan *l, const char *dir)
{
    const struct experiment *e = &l->experiment;
    struct error damage = {0};
    const enum cell_state *state = plan_states(dir, &l->plan, &l->arena, &damage);
    bool any = false;
    for (int a = 0; state && a < e->n_axis; a++)
        for (int i = 0; i < e->axis[a].n && !e->chosen[a]; i++) {
            const char *label = e->axis[a].value[i].label;
            const char *why = no_value(l, state, a, label);
            if (why)
                cli_say("no value: all cells with %s %s %s", key_name(e->axis[a].key), label, why);
            any = any || why;
        }
    return any;
}

static int print_chosen(const struct cli *cli, struct loaded_plan *l, const struct request *q,
                        const char *dir)
{
    bool *chosen = ARENA_ARRAY(&l->arena, l->plan.n + 1, bool);
    if (runner_check(&l->plan, &q->runner, cli->err) != PEAT_OK)
        return CLI_USAGE;
    runner_chosen(&l->plan, &q->runner, chosen);
    print_plan(cli, l, dir, chosen);
    return CLI_DONE;
}

static int run_loaded(const struct cli *cli, struct loaded_plan *l, struct request *q)
{
    const struct run_settings *settings = &l->experiment.run;
    struct runner_end end;
    struct run_slurm slurm;
    char *dir = arena_strdup(&l->arena, loaded_plan_dir(l, q->dir));
    if (q->dry && !by_slurm(q, settings))
        return print_chosen(cli, l, q, dir);
    q->runner.jobs = q->jobs >= 0 ? q->jobs : settings->jobs;
    q->runner.threads = q->threads >= 0 ? q->threads : settings->threads;
    q->runner.gemm = settings->gemm;
    q->runner.timeout = settings->timeout;
    q->runner.no_progress = settings->no_progress;
    q->runner.stop_on_failure = q->stop || settings->on_failure == 1;
    if (gemm_check(settings->gemm, cli->err) != PEAT_OK ||
        (!by_slurm(q, settings) && !loaded_plan_has_engine(l, cli->err)) ||
        (by_slurm(q, settings) && !open_slurm(&slurm, l, dir, q, cli->err)))
        return CLI_USAGE;
    if (!q->runner.quiet && !by_slurm(q, settings))
        say_before(l, q, dir);
    if (!run_plan(l, dir, &q->runner, &end, cli->err))
        return CLI_USAGE;
    if (end.launched || q->dry) {
        bool whole = run_slurm_say(&slurm);
        return q->dry ? CLI_DONE : whole ? exit_code(&end) : CLI_FAILED;
    }
    if (end.interrupted || end.done + end.diverged + end.skipped == 0)
        return exit_code(&end);
    print_table(cli, dir);
    if (!q->runner.quiet)
        say_next(l, dir);
    bool may_lack = end.diverged || end.skipped || l->plan.skipped->n;
    return may_lack && say_without_value(l, dir) ? CLI_FAILED : exit_code(&end);
}

/* "2/8" */
static int read_shard(struct cli *cli, const char *argument)
{
    struct runner_options *o = &((struct request *)cli->options)->runner;
    int used = 0;
    bool plain = strspn(argument, "0123456789/") == strlen(argument);
    if (plain &&
        sscanf(argument, "%5" SCNd64 "/%5" SCNd64 "%n", &o->shard_index, &o->shard_count, &used) ==
            2 &&
        !argument[used] && o->shard_index >= 1 && o->shard_index <= o->shard_count)
        return CLI_GO_ON;
    return cli_mistake(cmd_run.name, "option '--shard' must be I/N with I from 1 to N, not '%s'",
                       argument);
}

static int run_experiment(const struct cli *cli)
{
    struct loaded_plan l;
    if (!loaded_plan_open(&l, cli, PLAN_SIZES, NULL, cli->err))
        return CLI_USAGE;
    int code = run_loaded(cli, &l, cli->options);
    loaded_plan_close(&l);
    return code;
}

static const struct cli_option options[] = {
    CLI_TEXT('o', "output", "DIR", dir, "the run directory (default: runs/<name>)"),
    CLI_AUTO('j', "jobs", "N", 1, EXPERIMENT_MAX_JOBS, jobs,
             "cells at a time, or auto: as cores and memory allow (default: run.jobs)"),
    CLI_AUTO('t', "threads", "N", 1, EXPERIMENT_MAX_THREADS, threads,
             "threads of each cell, or auto: the cores that jobs leave (default: run.threads)"),
    CLI_FLAG('n', "dry-run", dry, "only print the plan; with Slurm, what would be submitted"),
    CLI_FLAG('x', "stop", stop, "stop at the first failure; other cells save and end"),
    CLI_TEXT(0, "only", "GLOB", runner.only, "cells whose label or id fits, 'rotary.*'"),
    CLI_OTHER(0, "shard", "I/N", read_shard, "every N-th cell, starting with the I-th"),
    CLI_FLAG(0, "retry-failed", runner.retry_failed, "try failed cells again"),
    CLI_FLAG(0, "rerun-stale", runner.rerun_stale,
             "run cells again whose plugins or engine have changed"),
    CLI_FLAG(0, "allow-drift", runner.allow_drift,
             "go on with checkpoints of other kernels or libraries; results are marked"),
    CLI_WORD(0, "launcher", "NAME", launcher_words, launcher,
             "local, or slurm: submit an array job (default: run.launcher)"),
    CLI_FLAG('q', "quiet", runner.quiet, "report failures only"),
};

const struct cli_command cmd_run = {
    .name = "peat run",
    .summary = "train every cell of an experiment, or go on with it",
    EXPERIMENT_OPERANDS,
    CLI_ROWS(options),
    CLI_DEFAULTS(.launcher = -1, .jobs = -1, .threads = -1),
    .run = run_experiment,
};
