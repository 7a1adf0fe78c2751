/* SPDX-License-Identifier: MIT */
/* cmd_cell.c: peat cell DIR ID|I-J. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/verbs.h"
#include "experiment/cellrun.h"
#include "experiment/jobs.h"
#include "experiment/jsonfile.h"
#include "experiment/spawn.h"

enum { CHECKPOINT_EVERY = CLI_LONG, TENSORBOARD, WITH_PARENT, THREADS_MAX = 1024 };

static const struct cli_option options[] = {
    {'t', "threads", "N", "threads (default: 1)"},
    {CHECKPOINT_EVERY, "checkpoint-every", "K", "steps (default: 500; 0: only at the end)"},
    {TENSORBOARD, "tensorboard", NULL, "write event files for TensorBoard too"},
    {WITH_PARENT, "with-parent", "PID", "end when this process, which started it, ends"},
    {0, NULL, NULL, NULL},
};

static const struct cli_command command = {
    .name = "cell",
    .usage = "DIR ID|I-J",
    .about = "Trains one cell of a run directory in this process, or cells number I to J one\n"
             "after the other in processes of their own: what 'peat run', batch systems, xargs\n"
             "and GNU parallel call. A finished cell is skipped, an interrupted one goes on.\n"
             "'peat plan --write' makes a run directory without running it.",
    .option = options,
    .example = "peat plan exp.yaml --write && peat plan exp.yaml --ids |\n"
               "    xargs -P 4 -I ID peat cell runs/exp ID",
};

struct cell_options {
    struct cellrun_options run;
    int64_t threads, parent; /* parent 0: none */
};

/* ---- one cell, here ---- */

static bool is_finished(const struct cell_files *c)
{
    if (c->state == CELL_STALE)
        return true;
    return cell_has_ended(c->state) && !cell_lacks_evaluation(c->config, c->result);
}

/* The parent of a cell records how it ended; without one the cell does what it still can. */
static int fail(const struct cell_files *c, const struct cell_options *o, const struct error *why,
                struct arena *a)
{
    struct error err = {0};
    cli_say("%s", why->text);
    if (!o->parent && !c->result && !lock_is_held(c->dir)) {
        const struct cell_end end = cell_end_failed(why->text, a);
        if (cell_end_write(&end, c->dir, a, &err) != PEAT_OK)
            cli_say("%s", err.text);
    }
    return CLI_FAILED;
}

static int run_here(const struct cell_files *c, const struct cell_options *o, struct arena *a)
{
    struct error err = {0};
    enum cellrun_end end = CELLRUN_DONE;
    if (is_finished(c)) {
        cli_say("%s is finished", c->label);
        return CLI_DONE;
    }
    if (!o->parent && !lock_is_held(c->dir))
        cell_end_forget(c->dir);
    if (cell_run(c->dir, &o->run, &end, &err) != PEAT_OK)
        return fail(c, o, &err, a);
    return end == CELLRUN_INTERRUPTED ? CLI_STOPPED : CLI_DONE;
}

/* By its id without looking at the other cells: a grid of thousands starts thousands of these. */
static int run_one(const char *dir, const char *cell, const struct cell_options *o, struct arena *a)
{
    struct error err = {0};
    struct cell_files c;
    struct rundir r;
    int index = 0;
    if (rundir_read_cell(dir, cell, &c, a, &err) == PEAT_OK)
        return run_here(&c, o, a);
    if (rundir_read(dir, &r, a, &err) != PEAT_OK || rundir_find(&r, cell, &index, &err) != PEAT_OK)
        return cli_refuse(&err);
    return run_here(&r.cell[index], o, a);
}

/* ---- a range, in processes of their own ---- */

/* "3-7" */
static bool is_range(const char *text, int64_t *first, int64_t *last)
{
    char *end;
    errno = 0;
    if (!isdigit((unsigned char)*text))
        return false;
    *first = strtoimax(text, &end, 10);
    if (*end != '-' || !isdigit((unsigned char)end[1]))
        return false;
    *last = strtoimax(end + 1, &end, 10);
    return !*end && !errno;
}

static void add_job(struct jobs *j, const struct cell_files *c)
{
    const struct value *train = value_get(c->config, "train");
    if (is_finished(c)) {
        cli_say("%s is finished", c->label);
        return;
    }
    j->job[j->n++] = (struct job){
        .id = c->id,
        .label = c->label,
        .dir = c->dir,
        .steps = member_integer(train, "steps", 0),
        .seq_len = member_integer(train, "seq_len", 0),
        .weight = 1,
    };
}

static int run_jobs(struct jobs *j)
{
    struct error err = {0};
    if (jobs_run(j, &err) != PEAT_OK)
        return cli_refuse(&err);
    if (j->interrupted)
        return CLI_STOPPED;
    return j->failed || j->left ? CLI_FAILED : CLI_DONE;
}

static int run_range(const char *dir, int64_t first, int64_t last, const struct cell_options *o,
                     struct arena *a)
{
    struct error err = {0};
    struct rundir r;
    struct progress progress;
    char program[PATH_MAX];
    if (own_program(program, sizeof(program), &err) != PEAT_OK ||
        rundir_read(dir, &r, a, &err) != PEAT_OK)
        return cli_refuse(&err);
    int64_t planned = 0;
    while (planned < r.n && r.cell[planned].planned)
        planned++;
    if (first > last || last >= planned)
        return cli_mistake(&command,
                           "cells go from 0 to %" PRId64 ", not from %" PRId64 " to %" PRId64,
                           planned - 1, first, last);
    progress_open(&progress, stderr, false);
    struct jobs j = {
        .dir = dir,
        .program = program,
        .job = ARENA_ARRAY(a, last - first + 1, struct job),
        .at_once = 1,
        .threads = o->threads,
        .checkpoint_every = o->run.checkpoint_every,
        .grace = 10,
        .tensorboard = o->run.tensorboard,
        .progress = &progress,
        .arena = a,
    };
    for (int64_t i = first; j.job && i <= last; i++)
        add_job(&j, &r.cell[i]);
    progress.total = j.n;
    return run_jobs(&j);
}

/* ---- the command ---- */

/* False: the parent has gone before its death could be noticed. */
static bool follow_parent(int64_t pid)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    return getppid() == (pid_t)pid;
}

/* False: the command is over with cli->status. */
static bool read_option(struct cli *cli, int letter, struct cell_options *o)
{
    switch (letter) {
    case 't':
        return cli_whole_number(cli, 1, THREADS_MAX, &o->threads);
    case CHECKPOINT_EVERY:
        return cli_whole_number(cli, 0, INT64_MAX, &o->run.checkpoint_every);
    case TENSORBOARD:
        o->run.tensorboard = true;
        return true;
    case WITH_PARENT:
        return cli_whole_number(cli, 1, INT_MAX, &o->parent);
    default:
        return false;
    }
}

int cmd_cell(int argc, char **argv)
{
    struct cli cli;
    struct cell_options o = {.run = {.checkpoint_every = 500}, .threads = 1};
    int64_t first, last;
    cli_open(&cli, &command, argc, argv);
    for (int letter; (letter = cli_next(&cli)) != CLI_END;)
        if (!read_option(&cli, letter, &o))
            return cli.status;
    if (cli.n_operand != 2)
        return cli_mistake(&command, "a run directory and a cell are needed");
    if (o.parent && !follow_parent(o.parent))
        return CLI_STOPPED;
    o.run.threads = (int)o.threads;
    struct arena arena;
    arena_init(&arena, "cells", 1 << 16);
    int code = is_range(cli.operand[1], &first, &last)
                   ? run_range(cli.operand[0], first, last, &o, &arena)
                   : run_one(cli.operand[0], cli.operand[1], &o, &arena);
    arena_release(&arena);
    return code;
}
