/* SPDX-License-Identifier: MIT */
/* cmd_cell.c: peat cell DIR ID|I-J... */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "cell/cellrun.h"
#include "cli/cli.h"
#include "cli/verbs.h"
#include "grid/jobs.h"
#include "process/spawn.h"

enum {
    GEMM = CLI_LONG,
    CHECKPOINT_EVERY,
    TENSORBOARD,
    TIMEOUT,
    NO_PROGRESS,
    SKIP_FAILED,
    WITH_PARENT,
    TRAIL
};
enum { THREADS_MAX = 1024, SECONDS_MAX = 1000000000, JOBS_LEAST = 16 };

static const struct cli_option options[] = {
    {'t', "threads", "N", "threads (default: 1)"},
    {GEMM, "gemm", "NAME", "what multiplies: auto, openblas, onednn (default: auto)"},
    {CHECKPOINT_EVERY, "checkpoint-every", "K", "steps (default: 500; 0: only at the end)"},
    {TENSORBOARD, "tensorboard", NULL, "write event files for TensorBoard too"},
    {TIMEOUT, "timeout", "SECONDS", "of each cell (default: none)"},
    {NO_PROGRESS, "no-progress", "SECONDS", "of a cell that stands still (default: 600; 0: none)"},
    {SKIP_FAILED, "skip-failed", NULL, "leave cells that failed before as they are"},
    {WITH_PARENT, "with-parent", "PID", "one cell, in this process; end when its parent PID ends"},
    {TRAIL, "trail", "FD", "with --with-parent: memory in which the parent follows the cell"},
    {0, NULL, NULL, NULL},
};

static const struct cli_command command = {
    .name = "cell",
    .usage = "DIR ID|I-J...",
    .about =
        "Trains cells of a run directory, one after the other in processes of their own: what\n"
        "batch systems, xargs and GNU parallel call. A cell is named as in 'peat plan --ids',\n"
        "or by its number, or many by their numbers I-J. A finished cell is skipped, an\n"
        "interrupted one goes on, one that another process runs is left to it.\n"
        "'peat plan --write' makes a run directory without running it.",
    .option = options,
    .example = "peat plan exp.yaml --write && peat plan exp.yaml --ids |\n"
               "    xargs -P 4 -I ID peat cell runs/exp ID",
};

struct cell_options {
    struct cellrun_options run;
    int64_t threads, parent;      /* parent 0: none                */
    int64_t timeout, no_progress; /* seconds of a cell; 0: no limit */
    int64_t trail;                /* descriptor; 0: none */
    bool skip_failed;
};

/* ---- one cell, here ---- */

static bool is_finished(const struct cell_files *c)
{
    if (c->state == CELL_STALE)
        return true;
    return cell_has_ended(c->state) && !cell_lacks_evaluation(c->config, c->result);
}

/* The parent records how it ended. */
static int run_here(const struct cell_files *c, const struct cell_options *o)
{
    struct error err = {0};
    enum cellrun_end end = CELLRUN_DONE;
    if (is_finished(c)) {
        cli_say("%s is finished", c->label);
        return CLI_DONE;
    }
    if (cell_run(c->dir, &o->run, &end, &err) != PEAT_OK) {
        trail_say(o->run.trail, &err);
        cli_say("%s", err.text);
        return CLI_FAILED;
    }
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
        return run_here(&c, o);
    if (rundir_read(dir, &r, a, &err) != PEAT_OK || rundir_find(&r, cell, &index, &err) != PEAT_OK)
        return cli_refuse(&err);
    return run_here(&r.cell[index], o);
}

/* ---- cells in processes of their own ---- */

/* The cells of the operands, in their order, each once. */
struct choice {
    const char *dir;
    const struct cell_options *options;
    struct jobs jobs;
    int room;     /* of jobs.job */
    int n_failed; /* left as they are */
    bool read;    /* all is filled */
    struct rundir all;
    struct arena *arena;
};

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

static peat_status read_all(struct choice *c, struct error *err)
{
    struct error damaged = {0};
    if (c->read)
        return PEAT_OK;
    c->read = true;
    peat_status status = rundir_read(c->dir, &c->all, c->arena, &damaged);
    return status == PEAT_OK ? PEAT_OK : error_set(err, status, "%s", damaged.text);
}

static bool is_chosen(const struct jobs *j, const char *id)
{
    for (int i = 0; i < j->n; i++)
        if (strcmp(j->job[i].id, id) == 0)
            return true;
    return false;
}

static peat_status make_room(struct choice *c, struct error *err)
{
    struct jobs *j = &c->jobs;
    if (j->n < c->room)
        return PEAT_OK;
    int room = c->room ? 2 * c->room : JOBS_LEAST;
    struct job *job = ARENA_ARRAY(c->arena, room, struct job);
    if (!job)
        return error_set(err, PEAT_NOMEM, "out of memory");
    if (j->n)
        memcpy(job, j->job, (size_t)j->n * sizeof(*job));
    j->job = job;
    c->room = room;
    return PEAT_OK;
}

static peat_status add_cell(struct choice *c, const struct cell_files *f, struct error *err)
{
    const struct value *train = value_get(f->config, "train");
    if (is_chosen(&c->jobs, f->id))
        return PEAT_OK;
    if (is_finished(f)) {
        cli_say("%s is finished", f->label);
        return PEAT_OK;
    }
    if (c->options->skip_failed && cell_has_failed(f->state)) {
        cli_say("%s is left as it is: %s", f->label, cell_state_name(f->state));
        c->n_failed++;
        return PEAT_OK;
    }
    peat_status status = make_room(c, err);
    if (status != PEAT_OK)
        return status;
    c->jobs.job[c->jobs.n++] = (struct job){
        .id = f->id,
        .label = f->label,
        .dir = f->dir,
        .steps = member_integer(train, "steps", 0),
        .seq_len = member_integer(train, "seq_len", 0),
        .weight = 1,
    };
    return PEAT_OK;
}

static peat_status add_range(struct choice *c, int64_t first, int64_t last, struct error *err)
{
    int64_t planned = 0;
    peat_status status = read_all(c, err);
    while (status == PEAT_OK && planned < c->all.n && c->all.cell[planned].planned)
        planned++;
    if (status == PEAT_OK && (first > last || last >= planned))
        return error_set(err, PEAT_INVALID,
                         "cells go from 0 to %" PRId64 ", not from %" PRId64 " to %" PRId64,
                         planned - 1, first, last);
    for (int64_t i = first; status == PEAT_OK && i <= last; i++)
        status = add_cell(c, &c->all.cell[i], err);
    return status;
}

/* By its id without looking at the other cells. */
static peat_status add_operand(struct choice *c, const char *word, struct error *err)
{
    int64_t first, last;
    struct cell_files f;
    int index = 0;
    if (is_range(word, &first, &last))
        return add_range(c, first, last, err);
    if (rundir_read_cell(c->dir, word, &f, c->arena, NULL) == PEAT_OK)
        return add_cell(c, &f, err);
    peat_status status = read_all(c, err);
    if (status == PEAT_OK)
        status = rundir_find(&c->all, word, &index, err);
    return status == PEAT_OK ? add_cell(c, &c->all.cell[index], err) : status;
}

static int run_jobs(const struct choice *c, struct jobs *j)
{
    struct error err = {0};
    if (jobs_run(j, &err) != PEAT_OK)
        return cli_refuse(&err);
    if (j->interrupted)
        return CLI_STOPPED;
    return j->failed || j->left || c->n_failed ? CLI_FAILED : CLI_DONE;
}

static int run_cells(const char *dir, int n, char *const *word, const struct cell_options *o,
                     struct arena *a)
{
    struct error err = {0};
    struct progress progress;
    char program[PATH_MAX];
    progress_open(&progress, stderr, false);
    struct choice c = {
        .dir = dir,
        .options = o,
        .arena = a,
        .jobs = {.dir = dir,
                 .program = program,
                 .at_once = 1,
                 .threads = o->threads,
                 .gemm = o->run.gemm,
                 .checkpoint_every = o->run.checkpoint_every,
                 .timeout = (double)o->timeout,
                 .no_progress = (double)o->no_progress,
                 .grace = 10,
                 .tensorboard = o->run.tensorboard,
                 .progress = &progress,
                 .arena = a},
    };
    peat_status status = own_program(program, sizeof(program), &err);
    for (int i = 0; status == PEAT_OK && i < n; i++)
        status = add_operand(&c, word[i], &err);
    if (status != PEAT_OK)
        return cli_refuse(&err);
    progress.total = c.jobs.n;
    return run_jobs(&c, &c.jobs);
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
    case GEMM:
        o->run.gemm = cli->argument;
        return true;
    case CHECKPOINT_EVERY:
        return cli_whole_number(cli, 0, INT64_MAX, &o->run.checkpoint_every);
    case TENSORBOARD:
        o->run.tensorboard = true;
        return true;
    case TIMEOUT:
        return cli_whole_number(cli, 1, SECONDS_MAX, &o->timeout);
    case NO_PROGRESS:
        return cli_whole_number(cli, 0, SECONDS_MAX, &o->no_progress);
    case SKIP_FAILED:
        o->skip_failed = true;
        return true;
    case WITH_PARENT:
        return cli_whole_number(cli, 1, INT_MAX, &o->parent);
    case TRAIL:
        return cli_whole_number(cli, SPAWN_SHARED, SPAWN_SHARED, &o->trail);
    default:
        return false;
    }
}

int cmd_cell(int argc, char **argv)
{
    struct cli cli;
    struct cell_options o = {
        .run = {.gemm = "auto", .checkpoint_every = 500}, .threads = 1, .no_progress = 600};
    struct trail trail = {.page = NULL};
    cli_open(&cli, &command, argc, argv);
    for (int letter; (letter = cli_next(&cli)) != CLI_END;)
        if (!read_option(&cli, letter, &o))
            return cli.status;
    if (cli.n_operand < 2)
        return cli_mistake(&command, "a run directory and a cell are needed");
    if (o.parent && cli.n_operand > 2)
        return cli_mistake(&command, "with --with-parent one cell can be given");
    if (o.parent && !follow_parent(o.parent))
        return CLI_STOPPED;
    o.run.threads = (int)o.threads;
    o.run.has_parent = o.parent != 0;
    o.run.trail = &trail;
    if (o.trail)
        trail.page = trail_page_open((int)o.trail);
    struct arena arena;
    arena_init(&arena, "cells", 1 << 16);
    int code = o.parent ? run_one(cli.operand[0], cli.operand[1], &o, &arena)
                        : run_cells(cli.operand[0], cli.n_operand - 1, cli.operand + 1, &o, &arena);
    arena_release(&arena);
    return code;
}
