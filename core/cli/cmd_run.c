/* SPDX-License-Identifier: MIT */
/* cmd_run.c: peat run EXP.yaml. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/loadplan.h"
#include "cli/runslurm.h"
#include "cli/verbs.h"
#include "grid/runner.h"
#include "process/spawn.h"
#include "tensor/gemm.h"

enum { ONLY = CLI_LONG, SHARD, RETRY_FAILED, RERUN_STALE, LAUNCHER };
enum { JOBS_MAX = 4096, THREADS_MAX = 1024 };

static const char *const launcher_words[] = {"local", "slurm"};

static const struct cli_option options[] = {
    {'o', "output", "DIR", "the run directory (default: runs/<name>)"},
    {'j', "jobs", "N", "cells at a time (default: run.jobs)"},
    {'t', "threads", "N", "threads of each cell (default: run.threads)"},
    {'n', "dry-run", NULL, "only print the plan; with Slurm, what would be submitted"},
    {'x', "stop", NULL, "stop at the first failure; other cells save and end"},
    {ONLY, "only", "GLOB", "cells whose label fits, 'rotary.*'"},
    {SHARD, "shard", "I/N", "every N-th cell, starting with the I-th"},
    {RETRY_FAILED, "retry-failed", NULL, "try failed cells again"},
    {RERUN_STALE, "rerun-stale", NULL, "run cells again whose plugins or engine have changed"},
    {LAUNCHER, "launcher", "NAME", "local, or slurm: submit an array job (default: run.launcher)"},
    {'q', "quiet", NULL, "tell failures alone"},
    {0, NULL, NULL, NULL},
};

static const struct cli_command command = {
    .name = "run",
    .usage = "EXP.yaml [key=value ...]",
    .about = "Trains every cell of an experiment, each in a process of its own, and prints the\n"
             "results. The same command goes on where an earlier one stopped: finished cells\n"
             "are left alone, interrupted ones continue from their checkpoint.",
    .option = options,
    .example = "peat run experiments/quickstart.yaml -j 2 train.steps=100",
};

struct run_options {
    const char *dir;
    int64_t jobs, threads; /* 0: as the experiment says */
    int launcher;          /* -1: likewise */
    bool dry, stop;
    struct runner_options runner;
};

/* "2/8" */
static bool read_shard(struct cli *cli, struct runner_options *o)
{
    int used = 0;
    if (sscanf(cli->argument, "%5" SCNd64 "/%5" SCNd64 "%n", &o->shard_index, &o->shard_count,
               &used) == 2 &&
        !cli->argument[used] && o->shard_index >= 1 && o->shard_index <= o->shard_count)
        return true;
    cli->status = cli_mistake(&command, "option '--shard' must be I/N with I from 1 to N, not '%s'",
                              cli->argument);
    return false;
}

/* False: the command is over with cli->status. */
static bool read_option(struct cli *cli, int letter, struct run_options *o)
{
    switch (letter) {
    case 'o':
        o->dir = cli->argument;
        return true;
    case 'j':
        return cli_whole_number(cli, 1, JOBS_MAX, &o->jobs);
    case 't':
        return cli_whole_number(cli, 1, THREADS_MAX, &o->threads);
    case 'n':
        o->dry = true;
        return true;
    case 'x':
        o->stop = true;
        return true;
    case ONLY:
        o->runner.only = cli->argument;
        return true;
    case SHARD:
        return read_shard(cli, &o->runner);
    case RETRY_FAILED:
        o->runner.retry_failed = true;
        return true;
    case RERUN_STALE:
        o->runner.rerun_stale = true;
        return true;
    case LAUNCHER:
        return cli_word(cli, launcher_words, 2, &o->launcher);
    case 'q':
        o->runner.quiet = true;
        return true;
    default:
        return false;
    }
}

/* ---- -n ---- */

static int print_plan(const struct cli *cli, const char *dir)
{
    char verb[] = "plan", output[] = "-o";
    char **argv = calloc((size_t)cli->n_operand + 4, sizeof(*argv));
    char *own_dir = dir ? strdup(dir) : NULL;
    int argc = 0, code = CLI_FAILED;
    if (argv && (own_dir || !dir)) {
        argv[argc++] = verb;
        for (int i = 0; i < cli->n_operand; i++)
            argv[argc++] = cli->operand[i];
        if (own_dir) {
            argv[argc++] = output;
            argv[argc++] = own_dir;
        }
        code = cmd_plan(argc, argv);
    }
    free(own_dir);
    free(argv);
    return code;
}

/* Without plugins. What is wrong with the file is told by whoever plans it. */
static bool dry_is_slurm(const struct cli *cli, const struct run_options *o)
{
    struct arena arena;
    struct experiment e;
    struct error err = {0};
    if (o->launcher >= 0)
        return o->launcher == LAUNCHER_SLURM;
    arena_init(&arena, "experiment", 1 << 16);
    bool slurm = experiment_load(&e, &arena, cli->operand[0], cli->n_operand - 1, cli->operand + 1,
                                 &err) == PEAT_OK &&
                 e.run.launcher == LAUNCHER_SLURM;
    arena_release(&arena);
    return slurm;
}

/* ---- running ---- */

static void print_results(const char *dir)
{
    char verb[] = "results", *own_dir = strdup(dir);
    char *argv[] = {verb, own_dir, NULL};
    if (own_dir)
        cmd_results(2, argv);
    free(own_dir);
}

static int exit_code(const struct runner_end *end)
{
    if (end->interrupted)
        return CLI_STOPPED;
    return end->failed || end->left ? CLI_FAILED : CLI_DONE;
}

/* Everything that can be refused is, before the directory is made. */
static peat_status run_plan(struct loaded_plan *l, const char *dir, const struct runner_options *o,
                            struct runner_end *end, struct error *err)
{
    char program[PATH_MAX];
    int lock = -1;
    peat_status status = own_program(program, sizeof(program), err);
    if (status == PEAT_OK)
        status = runner_check(&l->plan, o, err);
    if (status == PEAT_OK)
        status = rundir_check(dir, &l->plan, err);
    if (status == PEAT_OK && o->dry)
        return runner_run(dir, &l->plan, o, program, end, err);
    if (status == PEAT_OK)
        status = rundir_lock(dir, &lock, err);
    if (status != PEAT_OK)
        return status;
    if (o->launch)
        status = slurm_check(dir, &l->arena, err);
    if (status == PEAT_OK)
        status = rundir_write(dir, &l->plan, &l->arena, err);
    if (status == PEAT_OK)
        status = runner_run(dir, &l->plan, o, program, end, err);
    close(lock);
    return status;
}

static bool by_slurm(const struct run_options *o, const struct run_settings *settings)
{
    return (o->launcher >= 0 ? o->launcher : settings->launcher) == LAUNCHER_SLURM;
}

/* Refuses what a batch system cannot do. */
static bool open_slurm(struct run_slurm *s, struct loaded_plan *l, const char *dir,
                       struct run_options *o, struct error *err)
{
    if (o->jobs)
        error_set(err, PEAT_INVALID,
                  "option '--jobs' is for the launcher local; run.slurm.max_parallel says how many "
                  "tasks run at once");
    else if (o->runner.stop_on_failure)
        error_set(err, PEAT_INVALID,
                  "stopping at the first failure is for the launcher local; tasks of Slurm go on");
    else
        run_slurm_open(s, l, dir, o->dry, err);
    o->runner.launch = run_slurm_launch;
    o->runner.launch_ctx = s;
    o->runner.dry = o->dry;
    return err->status == PEAT_OK;
}

static int run(struct loaded_plan *l, struct run_options *o)
{
    const struct run_settings *settings = &l->experiment.run;
    struct error err = {0};
    struct runner_end end;
    struct run_slurm slurm;
    const char *dir = o->dir ? o->dir : arena_printf(&l->arena, "runs/%s", l->experiment.name);
    o->runner.jobs = o->jobs ? o->jobs : settings->jobs;
    o->runner.threads = o->threads ? o->threads : settings->threads;
    o->runner.gemm = gemm_words[settings->gemm];
    o->runner.timeout = settings->timeout;
    o->runner.no_progress = settings->no_progress;
    o->runner.stop_on_failure = o->stop || settings->on_failure == 1;
    if (by_slurm(o, settings) && !open_slurm(&slurm, l, dir, o, &err))
        return cli_refuse(&err);
    if (run_plan(l, dir, &o->runner, &end, &err) != PEAT_OK)
        return cli_refuse(&err);
    if (end.launched || o->dry) {
        bool whole = run_slurm_say(&slurm);
        return o->dry ? CLI_DONE : whole ? exit_code(&end) : CLI_FAILED;
    }
    if (!end.interrupted && end.done + end.diverged + end.skipped > 0)
        print_results(dir);
    return exit_code(&end);
}

int cmd_run(int argc, char **argv)
{
    struct cli cli;
    struct run_options o = {.launcher = -1};
    struct loaded_plan l;
    struct error err = {0};
    cli_open(&cli, &command, argc, argv);
    for (int letter; (letter = cli_next(&cli)) != CLI_END;)
        if (!read_option(&cli, letter, &o))
            return cli.status;
    if (cli.n_operand == 0)
        return cli_mistake(&command, "no experiment file is given");
    if (o.dry && !dry_is_slurm(&cli, &o))
        return print_plan(&cli, o.dir);
    if (loaded_plan_open(&l, cli.operand[0], cli.n_operand - 1, cli.operand + 1, &err) != PEAT_OK)
        return cli_refuse(&err);
    int code = run(&l, &o);
    loaded_plan_close(&l);
    return code;
}
