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
#include "cli/verbs.h"
#include "experiment/runner.h"
#include "experiment/spawn.h"

enum { ONLY = CLI_LONG, SHARD, RETRY_FAILED, RERUN_STALE, JOBS_MAX = 4096, THREADS_MAX = 1024 };

static const struct cli_option options[] = {
    {'o', "output", "DIR", "the run directory (default: runs/<name>)"},
    {'j', "jobs", "N", "cells at a time (default: run.jobs)"},
    {'t', "threads", "N", "threads of each cell (default: run.threads)"},
    {'n', "dry-run", NULL, "only print the plan"},
    {'x', "stop", NULL, "stop at the first failure; other cells save and end"},
    {ONLY, "only", "GLOB", "cells whose label fits, 'rotary.*'"},
    {SHARD, "shard", "I/N", "every N-th cell, starting with the I-th"},
    {RETRY_FAILED, "retry-failed", NULL, "try failed cells again"},
    {RERUN_STALE, "rerun-stale", NULL, "run cells again whose plugins or engine have changed"},
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
    if (status == PEAT_OK)
        status = rundir_lock(dir, &lock, err);
    if (status != PEAT_OK)
        return status;
    status = rundir_write(dir, &l->plan, &l->arena, err);
    if (status == PEAT_OK)
        status = runner_run(dir, &l->plan, o, program, end, err);
    close(lock);
    return status;
}

static int run(struct loaded_plan *l, struct run_options *o)
{
    const struct run_settings *settings = &l->experiment.run;
    struct error err = {0};
    struct runner_end end;
    const char *dir = o->dir ? o->dir : arena_printf(&l->arena, "runs/%s", l->experiment.name);
    o->runner.jobs = o->jobs ? o->jobs : settings->jobs;
    o->runner.threads = o->threads ? o->threads : settings->threads;
    o->runner.timeout = settings->timeout;
    o->runner.stop_on_failure = o->stop || settings->on_failure == 1;
    if (run_plan(l, dir, &o->runner, &end, &err) != PEAT_OK)
        return cli_refuse(&err);
    if (!end.interrupted && end.done + end.diverged + end.skipped > 0)
        print_results(dir);
    return exit_code(&end);
}

int cmd_run(int argc, char **argv)
{
    struct cli cli;
    struct run_options o = {0};
    struct loaded_plan l;
    struct error err = {0};
    cli_open(&cli, &command, argc, argv);
    for (int letter; (letter = cli_next(&cli)) != CLI_END;)
        if (!read_option(&cli, letter, &o))
            return cli.status;
    if (cli.n_operand == 0)
        return cli_mistake(&command, "no experiment file is given");
    if (o.dry)
        return print_plan(&cli, o.dir);
    if (loaded_plan_open(&l, cli.operand[0], cli.n_operand - 1, cli.operand + 1, &err))
        return cli_refuse(&err);
    int code = run(&l, &o);
    loaded_plan_close(&l);
    return code;
}
