/* SPDX-License-Identifier: MIT */
/* cmd_cell.c: peat cell DIR ID|I-J... */

#include "cell/cellrun.h"
#include "cli/verbs.h"
#include "grid/jobs.h"
#include "process/child.h"
#include "process/parent.h"
#include "tensor/gemm.h"

enum { SECONDS_MAX = 1000000000 };

static const char *const engines[] = {ENGINE_WORDS}, *const devices[] = {DEVICE_WORDS};

struct request {
    struct cellrun_options run;
    int64_t threads, parent;      /* PID of the parent; 0: none    */
    int64_t timeout, no_progress; /* seconds of a cell; 0: no limit */
    int64_t trail;                /* a descriptor; 0: not given */
    bool skip_failed;
};

/* ---- one cell, here ---- */

static bool is_finished(const struct cell_files *c)
{
    if (c->state == CELL_STALE)
        return true;
    return cell_has_ended(c->state) && !cell_lacks_evaluation(c->config, c->result);
}

/* The parent, if there is one, records how the cell ended. */
static int run_here(const struct cell_files *c, const struct request *q)
{
    struct error err = {0};
    enum cellrun_end end = CELLRUN_DONE;
    if (is_finished(c)) {
        cli_say("%s is finished", c->label);
        return CLI_DONE;
    }
    if (cell_run(c->dir, &q->run, &end, &err) != PEAT_OK) {
        trail_say(q->run.trail, &err);
        cli_say("%s", err.text);
        return CLI_FAILED;
    }
    return end == CELLRUN_INTERRUPTED ? CLI_STOPPED : CLI_DONE;
}

/* A grid of thousands of cells starts thousands of such processes, so other cells are read only if
 * the id is not found. */
static int run_one(const struct cli *cli)
{
    struct cell_files c;
    const struct cell_files *found = &c;
    if (rundir_read_cell(cli->operand[0], cli->operand[1], &c, cli->arena, NULL) != PEAT_OK)
        found = cli_find_cell(cli);
    return found ? run_here(found, cli->options) : CLI_USAGE;
}

/* ---- cells in processes of their own ---- */

/* The cells to train, in the order of the operands, each once. */
struct choice {
    const char *dir;
    const struct request *options;
    struct jobs jobs;
    int room;     /* room in jobs.job */
    int n_failed; /* number of cells that are left as they are */
    bool read;    /* `all` is set */
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

static bool read_all(struct choice *c, struct error *err)
{
    c->read = c->read || rundir_read(c->dir, &c->all, c->arena, err) == PEAT_OK;
    return c->read;
}

static bool is_chosen(const struct jobs *j, const char *id)
{
    for (int i = 0; i < j->n; i++)
        if (strcmp(j->job[i].id, id) == 0)
            return true;
    return false;
}

static void add_cell(struct choice *c, const struct cell_files *f)
{
    const struct value *train = value_get(f->config, "train");
    if (is_chosen(&c->jobs, f->id))
        return;
    if (is_finished(f)) {
        cli_say("%s is finished", f->label);
        return;
    }
    if (c->options->skip_failed && cell_has_failed(f->state)) {
        cli_say("%s is left as it is: %s", f->label, cell_state_name(f->state));
        c->n_failed++;
        return;
    }
    *ARENA_APPEND(c->arena, c->jobs.job, c->jobs.n, c->room) = (struct job){
        .id = f->id,
        .label = f->label,
        .dir = f->dir,
        .steps = json_get_int(train, "steps", 0),
        .seq_len = json_get_int(train, "seq_len", 0),
        .weight = 1,
        .training = 1,
    };
}

static bool add_range(struct choice *c, int64_t first, int64_t last, struct error *err)
{
    int64_t planned = 0;
    if (!read_all(c, err))
        return false;
    while (planned < c->all.n && c->all.cell[planned].planned)
        planned++;
    if (first > last || last >= planned)
        return error_fail(err, PEAT_INVALID,
                          "cells go from 0 to %" PRId64 ", not from %" PRId64 " to %" PRId64,
                          planned - 1, first, last);
    for (int64_t i = first; i <= last; i++)
        add_cell(c, &c->all.cell[i]);
    return true;
}

static bool add_operand(struct choice *c, const char *word, struct error *err)
{
    int64_t first, last;
    struct cell_files f;
    int index = 0;
    if (is_range(word, &first, &last))
        return add_range(c, first, last, err);
    if (rundir_read_cell(c->dir, word, &f, c->arena, NULL) == PEAT_OK) {
        add_cell(c, &f);
        return true;
    }
    if (!read_all(c, err) || rundir_find(&c->all, word, &index, err) != PEAT_OK)
        return false;
    add_cell(c, &c->all.cell[index]);
    return true;
}

static int run_jobs(const struct choice *c, struct jobs *j)
{
    jobs_run(j);
    if (j->interrupted)
        return CLI_STOPPED;
    return j->failed || j->left || c->n_failed ? CLI_FAILED : CLI_DONE;
}

static int run_cells(const struct cli *cli)
{
    const struct request *q = cli->options;
    const char *dir = cli->operand[0];
    struct arena *a = cli->arena;
    struct progress progress;
    char program[PATH_MAX];
    progress_open(&progress, stderr, false);
    struct choice c = {
        .dir = dir,
        .options = q,
        .arena = a,
        .jobs = {.dir = dir,
                 .program = program,
                 .at_once = 1,
                 .threads = q->threads,
                 .gemm = q->run.gemm,
                 .checkpoint_every = q->run.checkpoint_every,
                 .timeout = (double)q->timeout,
                 .no_progress = (double)q->no_progress,
                 .grace = 10,
                 .engine = q->run.engine,
                 .device = q->run.device,
                 .tensorboard = q->run.tensorboard,
                 .allow_drift = q->run.allow_drift,
                 .progress = &progress,
                 .arena = a},
    };
    if (own_program(program, sizeof(program), cli->err) != PEAT_OK ||
        gemm_check(q->run.gemm, cli->err) != PEAT_OK)
        return CLI_USAGE;
    for (int i = 1; i < cli->n_operand; i++)
        if (!add_operand(&c, cli->operand[i], cli->err))
            return CLI_USAGE;
    progress.total = c.jobs.n;
    return run_jobs(&c, &c.jobs);
}

/* ---- the command ---- */

/* When the parent dies, the cell saves and ends, as at any stop; if a plugin does not return, the
 * cell is killed after a while. False: the parent has already died. */
static bool follow_parent(const struct request *q, const struct trail *trail)
{
    const double patience = 10;
    if (!parent_follow((pid_t)q->parent, SIGTERM))
        return false;
    parent_watch((struct parent_watch){(pid_t)q->parent, patience, trail->page});
    return true;
}

static int train_cells(const struct cli *cli)
{
    struct request *q = cli->options;
    struct trail trail = {.page = NULL};
    if ((q->parent || q->run.trained || q->run.measure) && cli->n_operand > 2)
        return cli_mistake(cmd_cell.name, "with %s one cell can be given",
                           q->parent        ? "--with-parent"
                           : q->run.trained ? "--trained"
                                            : "--measure");
    q->run.threads = (int)q->threads;
    q->run.has_parent = q->parent != 0;
    q->run.trail = &trail;
    if (q->trail)
        trail.page = trail_page_open((int)q->trail);
    if (q->parent && !follow_parent(q, &trail))
        return CLI_STOPPED;
    return q->parent || q->run.trained || q->run.measure ? run_one(cli) : run_cells(cli);
}

static const struct cli_option options[] = {
    CLI_WHOLE('t', "threads", "N", 1, EXPERIMENT_MAX_THREADS, threads, "threads (default: 1)"),
    CLI_TEXT(0, "gemm", "PROVIDER", run.gemm,
             "provider of matrix products, as run.gemm (default: auto)"),
    CLI_WHOLE(0, "checkpoint-every", "K", 0, INT64_MAX, run.checkpoint_every,
              "steps (default: 500; 0: only at the end)"),
    CLI_WORD(0, "engine", "PROGRAM", engines, run.engine,
             "program that computes steps and evaluations: peat or torch (default: peat)"),
    CLI_WORD(0, "device", "DEVICE", devices, run.device,
             "where PyTorch computes: cpu or cuda (default: cpu)"),
    CLI_FLAG(0, "tensorboard", run.tensorboard, "write event files for TensorBoard too"),
    CLI_WHOLE(0, "timeout", "SECONDS", 1, SECONDS_MAX, timeout,
              "limit of each cell (default: none)"),
    CLI_WHOLE(0, "no-progress", "SECONDS", 0, SECONDS_MAX, no_progress,
              "limit of a cell that makes no progress (default: 600; 0: none)"),
    CLI_FLAG(0, "allow-drift", run.allow_drift,
             "go on with checkpoints of other kernels or libraries; results are marked"),
    CLI_TEXT(0, "trained", "FILE", run.trained,
             "for one cell: evaluate the weights that another program trained"),
    CLI_WHOLE(0, "measure", "N", 1, INT_MAX, run.measure,
              "for one cell that was not started: time N steps and an evaluation, and keep only "
              "measured.json"),
    CLI_FLAG(0, "skip-failed", skip_failed, "leave cells that failed before as they are"),
    CLI_WHOLE(0, "with-parent", "PID", 1, INT_MAX, parent,
              "one cell, in this process; end when its parent PID ends"),
    CLI_WHOLE(0, "trail", "FD", CHILD_TRAIL, CHILD_TRAIL, trail,
              "with --with-parent: memory in which the parent follows the cell"),
};

const struct cli_command cmd_cell = {
    .name = "peat cell",
    .summary = "train one cell of a run directory, or a range of them",
    CLI_OPERANDS("DIR ID|I-J...", 2, CLI_MANY, "a run directory and a cell are needed"),
    CLI_ROWS(options),
    CLI_DEFAULTS(.run = {.gemm = "auto", .checkpoint_every = 500}, .threads = 1,
                 .no_progress = 600),
    .run = train_cells,
};
