/* SPDX-License-Identifier: MIT */
/* runner.c: chooses the cells of a plan that are to be run, and reports how they ended. */
#include "grid/runner.h"

#include "grid/best.h"
#include "grid/share.h"
#include "grid/stale.h"
#include "grid/trunks.h"

enum { FAILURES_SHOWN = 20 };

static const double grace_seconds = 10;

/* State of one call. */
struct run {
    const struct plan *plan;
    const struct runner_options *options;
    struct rundir dir;
    struct jobs jobs;
    struct progress progress;
    struct runner_end *end;
    int n_fit; /* number of cells that match the glob, in this shard or not */
    int n_old; /* cells that failed before and are not tried again */
    const struct cell_files **old;
    int64_t *from; /* from plan_shared_steps, for all cells of the plan */
    bool *taken;   /* by the plan's cells: chosen to be run, or found to need nothing */
    struct arena *arena;
    struct error *err; /* never NULL; steps return whether they succeeded */
};

/* ---- choosing ---- */

static bool fits_glob(const struct runner_options *o, const struct plan_cell *c)
{
    return (!o->wanted || o->wanted[c->index]) && (!o->only || cell_fits(o->only, c->label, c->id));
}

/* Number of an earlier cell that matches the glob and shares the trunk, or of the cell itself. */
static int trunk_mate(const struct plan *p, const struct runner_options *o, int i)
{
    const char *hash = json_get_text(p->cell[i].trunk, "hash");
    for (int k = i - 1; hash && k >= 0 && p->cell[k].seed == p->cell[i].seed; k--)
        if (same_text(json_get_text(p->cell[k].trunk, "hash"), hash) && fits_glob(o, &p->cell[k]))
            return k;
    return i;
}

/* The cells of a trunk count as one. */
int runner_chosen(const struct plan *p, const struct runner_options *o, bool *chosen)
{
    int n = 0, next = 0;
    for (int i = 0; i < p->n; i++) {
        chosen[i] = fits_glob(o, &p->cell[i]);
        n += chosen[i];
        if (!chosen[i])
            continue;
        int mate = trunk_mate(p, o, i);
        chosen[i] = mate < i ? chosen[mate]
                             : !o->shard_count || next++ % o->shard_count == o->shard_index - 1;
    }
    return n;
}

peat_status runner_check(const struct plan *p, const struct runner_options *o, struct error *err)
{
    for (int i = 0; i < p->n; i++)
        if (fits_glob(o, &p->cell[i]))
            return PEAT_OK;
    return error_set(err, PEAT_INVALID, "no cell matches '%s'; one of the labels is '%s'", o->only,
                     p->n ? p->cell[0].label : "");
}

/* Sets the cell back to step 0. Removes the result first: without it nothing counts as done. */
static bool start_over(const struct run *r, const char *dir)
{
    static const char *const made[] = {"result.json", "stale.json", "end.json", "metrics.jsonl"};
    bool ok = true;
    if (r->options->dry)
        return true;
    for (size_t i = 0; i < sizeof(made) / sizeof(*made) && ok; i++)
        ok = file_remove(dir, made[i], r->err) == PEAT_OK;
    return ok && dir_remove(arena_printf(r->arena, "%s/ckpt", dir), r->err) == PEAT_OK;
}

static bool mark_stale(struct run *r, const struct plan_cell *c, const struct cell_files *f)
{
    return r->options->dry || stale_mark(f, c->plugins, r->arena, r->err) == PEAT_OK;
}

static void add_job(struct run *r, const struct plan_cell *c, const struct cell_files *f)
{
    const struct train_config *t = &c->config.train;
    double work = plan_work(c, 0);
    struct job *job = &r->jobs.job[r->jobs.n++];
    *job = (struct job){
        .id = c->id,
        .label = c->label,
        .dir = f->dir,
        .steps = t->steps,
        .seq_len = t->seq_len,
        .weight = work > 0 ? work : 1,
        .training = work > 0 ? plan_training_work(c, 0) / work : 1,
        .eval_every = c->config.eval.every,
        .trunk = c->trunk,
    };
    struct metrics_tail tail = {.step = r->from[c->index]}, own = metrics_tail(f->dir);
    if (f->state != CELL_TODO && own.step > tail.step)
        tail = own;
    job->begun = job_done(job, &tail);
}

static bool choose_stale(struct run *r, const struct plan_cell *c, const struct cell_files *f)
{
    if (r->options->rerun_stale) {
        add_job(r, c, f);
        return start_over(r, f->dir);
    }
    r->end->stale++;
    progress_say(&r->progress, "%s is stale: %s; --rerun-stale runs it again", c->label,
                 stale_reason(f, c->plugins, r->arena));
    return mark_stale(r, c, f);
}

static bool runner_choose(struct run *r, int i)
{
    const struct plan_cell *c = &r->plan->cell[i];
    const struct cell_files *f = &r->dir.cell[i];
    bool failed = cell_has_failed(f->state) && !r->options->retry_failed;
    switch (f->state) {
    case CELL_RUNNING:
        r->end->left++;
        return true;
    case CELL_STALE:
        return choose_stale(r, c, f);
    case CELL_DAMAGED: /* the cell itself finds a good checkpoint */
        progress_say(&r->progress, "%s; the cell is run again", f->damage);
        add_job(r, c, f);
        return r->options->dry || file_remove(f->dir, "result.json", r->err) == PEAT_OK;
    case CELL_DONE:
    case CELL_DIVERGED:
        if (cell_lacks_evaluation(f->config, f->result))
            add_job(r, c, f);
        else
            r->end->skipped++;
        return mark_stale(r, c, f);
    default:
        if (failed)
            r->old[r->n_old++] = f;
        else
            add_job(r, c, f);
        r->end->failed += failed;
        return true;
    }
}

static bool has_role(const struct run *r, int i, enum best_role role)
{
    return r->dir.best && r->dir.best->cell[i].role == role;
}

/* The number of cells that will be run once their rows have a value: in each row the cells of one
 * value. waits: by the plan's cells. */
static int count_waiting(const struct run *r, const bool *waits)
{
    const struct best *b = r->dir.best;
    int n = 0;
    for (int row = 0; b && row < b->n_row; row++) {
        int of_row = 0;
        for (int i = 0; i < b->n_cell; i++)
            of_row += waits[i] && b->cell[i].row == row;
        n += (of_row + b->row[row].n - 1) / b->row[row].n;
    }
    return n;
}

/* Chooses every cell except those that wait for a choice, and those that were taken before. */
static bool choose_all(struct run *r)
{
    const struct plan *p = r->plan;
    bool *waits = ARENA_ARRAY(r->arena, p->n + 1, bool),
         *chosen = ARENA_ARRAY(r->arena, p->n + 1, bool);
    int n = 0;
    bool ok = true;
    r->n_fit = runner_chosen(p, r->options, chosen);
    for (int i = 0; i < p->n && ok; i++) {
        if (!chosen[i] || has_role(r, i, BEST_UNCHOSEN))
            continue;
        waits[i] = has_role(r, i, BEST_WAITS);
        if (!waits[i] && !r->taken[i])
            ok = runner_choose(r, i);
        r->taken[i] = r->taken[i] || !waits[i];
        n += r->taken[i];
    }
    r->end->waiting = count_waiting(r, waits);
    r->progress.total = n + r->end->waiting;
    return ok;
}

static bool choose_first(struct run *r)
{
    const struct plan *p = r->plan;
    r->jobs.job = ARENA_ARRAY(r->arena, p->n + 1, struct job);
    r->old = ARENA_ARRAY(r->arena, p->n + 1, const struct cell_files *);
    r->taken = ARENA_ARRAY(r->arena, p->n + 1, bool);
    r->from = ARENA_ARRAY(r->arena, p->n + 1, int64_t);
    plan_shared_steps(p, NULL, r->from, r->arena);
    bool ok = choose_all(r);
    r->progress.failed = r->n_old;
    r->progress.finished = r->end->skipped + r->end->stale + r->n_old;
    return ok;
}

/* ---- the directory ---- */

static bool read_dir(struct run *r)
{
    const char *dir = r->jobs.dir;
    if (rundir_read(dir, &r->dir, r->arena, r->err) != PEAT_OK)
        return false;
    for (int i = 0; i < r->plan->n; i++)
        if (i >= r->dir.n || strcmp(r->dir.cell[i].id, r->plan->cell[i].id) != 0)
            return error_fail(r->err, PEAT_CORRUPT, "'%s/plan.json' belongs to another plan", dir);
    return true;
}

/* `auto` in a directory with cells means their provider, so that the run goes on with it. */
static const char *gemm_of(const struct run *r)
{
    const char *gemm = r->options->gemm;
    for (int i = 0; i < r->dir.n && same_text(gemm, "auto"); i++)
        gemm = cell_gemm(&r->dir.cell[i]);
    return gemm;
}

/* *again: a cell has ended, so its files have changed. */
static bool end_orphans(struct run *r, bool *again)
{
    *again = false;
    for (int i = 0; i < r->dir.n; i++) {
        const struct cell_files *c = &r->dir.cell[i];
        const char *who;
        if (c->state != CELL_RUNNING)
            continue;
        if (orphan_end(c, grace_seconds, &who, r->arena, r->err) != PEAT_OK)
            return false;
        *again = *again || !who;
        if (who)
            progress_say(&r->progress, "%s is being run by %s", c->label, who);
        else
            progress_say(&r->progress,
                         "%s was still running although its parent has gone; "
                         "it was stopped",
                         c->label);
    }
    return true;
}

/* Reads the cells of the plan from a directory, which may belong to another plan or be missing. */
static bool peek_dir(struct run *r)
{
    const char *dir = r->jobs.dir;
    const struct plan *p = r->plan;
    r->dir = (struct rundir){.path = dir, .n = p->n};
    r->dir.cell = ARENA_ARRAY(r->arena, p->n + 1, struct cell_files);
    for (int i = 0; i < p->n; i++) {
        rundir_read_cell(dir, p->cell[i].id, &r->dir.cell[i], r->arena, NULL);
        r->dir.cell[i].config = plan_cell_value(p, &p->cell[i], r->arena);
    }
    stale_find(&r->dir, p, r->arena);
    rundir_choose(&r->dir, plan_value(p, r->arena), r->arena, NULL);
    return true;
}

/* A cell that is stale with the present plugins does not count for a choice. */
static bool choose_again(struct run *r)
{
    stale_find(&r->dir, r->plan, r->arena);
    return rundir_choose(&r->dir, r->dir.plan, r->arena, r->err) == PEAT_OK;
}

static bool open_dir(struct run *r)
{
    bool again;
    if (r->options->dry)
        return peek_dir(r);
    bool ok = read_dir(r) && end_orphans(r, &again) && (!again || read_dir(r)) && choose_again(r);
    if (ok)
        trunks_tidy(&r->dir, r->arena);
    return ok;
}

/* Prints each skipped point once, not for every seed. */
static void show_skipped(struct run *r)
{
    const struct plan *p = r->plan;
    for (int i = 0; i < p->skipped->n / p->experiment->n_seed; i++)
        progress_say(&r->progress, "%s is skipped: %s", json_get_text(p->skipped->item[i], "label"),
                     json_get_text(p->skipped->item[i], "reason"));
}

/* ---- messages ---- */

static void show_failure(struct run *r, int *shown, enum cell_state state, const char *label,
                         const char *reason, const char *dir)
{
    if ((*shown)++ < FAILURES_SHOWN)
        shown_print(r->progress.out, "  %s  %s  %s\n    log: %s/log.txt\n", cell_state_name(state),
                    label, reason ? reason : "", dir);
}

static void show_failures(struct run *r)
{
    int shown = 0, failed = r->n_old;
    for (int i = 0; i < r->n_old; i++)
        show_failure(r, &shown, r->old[i]->state, r->old[i]->label,
                     json_get_text(r->old[i]->end, "reason"), r->old[i]->dir);
    for (int i = 0; i < r->jobs.n; i++) {
        const struct job *job = &r->jobs.job[i];
        failed += job->ended && cell_has_failed(job->end.state);
        if (job->ended && (cell_has_failed(job->end.state) || job->end.no_room))
            show_failure(r, &shown, job->end.no_room ? CELL_FAILED : job->end.state, job->label,
                         job->end.reason, job->dir);
    }
    if (shown > FAILURES_SHOWN)
        shown_print(r->progress.out, "  and %d more: peat status %s\n", shown - FAILURES_SHOWN,
                    r->dir.path);
    if (failed)
        progress_say(&r->progress, "%d failed; --retry-failed tries %s again", failed,
                     failed == 1 ? "it" : "them");
}

static void show_counts(struct run *r)
{
    const struct runner_end *e = r->end;
    const struct {
        int n;
        const char *what;
    } part[] = {{e->done, "done"},
                {e->diverged, "diverged"},
                {e->failed, "failed"},
                {e->left, "left"},
                {e->skipped, "finished before"},
                {e->stale, "stale"},
                {e->launched, "submitted"},
                {e->waiting, "waiting"},
                {r->plan->skipped->n, "skipped"}};
    struct strbuf line = STRBUF_NEW;
    int total = r->progress.total + r->plan->skipped->n;
    for (size_t i = 0; i < sizeof(part) / sizeof(*part); i++)
        if (part[i].n)
            strbuf_item(&line, "%d %s", part[i].n, part[i].what);
    progress_say(&r->progress, "%d cell%s%s%s", total, plural(total), line.n ? ": " : "",
                 line.text);
    strbuf_release(&line);
}

static void show_waiting(struct run *r)
{
    const struct best_over *over = &r->plan->experiment->report.best_over;
    int n = r->end->waiting;
    if (n)
        progress_say(&r->progress,
                     "%d cell%s for best_over to choose %s: run again when the cells of %s have "
                     "ended",
                     n, n == 1 ? " waits" : "s wait", best_over_axes(over, r->arena),
                     best_over_seeds(over, r->arena));
}

static void show_end(struct run *r)
{
    const struct runner_options *o = r->options;
    if (o->quiet && !r->end->failed)
        return;
    /* A shard beyond the number of cells is not a mistake: every machine starts its own. */
    if (r->progress.total == 0 && o->shard_count) {
        progress_say(&r->progress, "shard %" PRId64 " of %" PRId64 " has none of the %d cell%s",
                     o->shard_index, o->shard_count, r->n_fit, plural(r->n_fit));
        return;
    }
    show_counts(r);
    show_failures(r);
    if (r->jobs.no_room)
        progress_say(&r->progress, "%s, then run again to go on", r->jobs.no_room);
    else if (r->end->left)
        progress_say(&r->progress, "run again to go on");
    else
        show_waiting(r);
}

/* Prints the values of `auto` for the cells that are to be run. */
static void share_and_run(struct run *r)
{
    struct share s = {r->options->jobs, r->options->threads};
    struct jobs *j = &r->jobs;
    struct machine m;
    if (!s.jobs || !s.threads) {
        machine_look(&m, "");
        s = share_machine(s, j->n - j->first, plan_memory(plan_largest(r->plan)), &m);
        if (j->n > j->first && !r->options->quiet)
            progress_say(&r->progress,
                         "%" PRId64 " at a time, %" PRId64 " thread%s each, on %d core%s", s.jobs,
                         s.threads, plural(s.threads), m.cores, plural(m.cores));
    }
    j->at_once = s.jobs;
    j->threads = s.threads;
    jobs_run(j);
}

/* ---- running ---- */

/* "learned.sum": the labels by which this row differs from the others. */
static const char *row_name(const struct run *r, const struct best *b, int row)
{
    const char *name = NULL;
    int first = b->row[row].value[0].first;
    for (int i = 0; i < b->n_axis; i++)
        if (b->own[i])
            name = list_add(r->arena, name, ".", b->cell[first].label[i]);
    return name ? name : "the row";
}

static void say_choice(struct run *r, const struct best *b, int i)
{
    const struct best_row *row = &b->row[i];
    const char *name = row_name(r, b, i), *axes = best_over_axes(&b->over, r->arena), *chosen = "";
    if (row->chosen < 0) {
        progress_say(&r->progress, "%s: every value of %s diverged", name, axes);
        return;
    }
    for (int k = 0; k < b->over.n_axis; k++)
        chosen = arena_item(r->arena, chosen, "%s", row->value[row->chosen].label[k]);
    progress_say(&r->progress, "%s: %s = %s is the best of %d (%s %.4g over %s)", name, axes,
                 chosen, row->n, row->metric, row->value[row->chosen].score,
                 best_over_seeds(&b->over, r->arena));
}

/* Runs the cells that waited for those that have just ended, and prints the choices of rows that
 * had none before: both lists are in the order of the plan. */
static bool run_chosen(struct run *r)
{
    const struct best *before = r->dir.best;
    r->jobs.first = r->jobs.n;
    bool ok = read_dir(r) && choose_again(r);
    const struct best *now = r->dir.best;
    for (int i = 0; ok && !r->options->quiet && i < now->n_row; i++)
        if (before->row[i].open && !now->row[i].open)
            say_choice(r, now, i);
    ok = ok && choose_all(r);
    share_and_run(r);
    return ok;
}

/* `auto` means: each task of a batch system uses the processors that it asked for. */
static bool launch(struct run *r)
{
    const struct slurm_settings *slurm = &r->plan->experiment->run.slurm;
    struct jobs *j = &r->jobs;
    j->threads = r->options->threads ? r->options->threads : slurm->cpus ? slurm->cpus : 1;
    r->end->launched = j->n;
    return !j->n || r->options->launch(r->options->launch_ctx, j, r->err) == PEAT_OK;
}

static bool run_jobs(struct run *r)
{
    struct jobs *j = &r->jobs;
    if (r->options->launch)
        return launch(r);
    share_and_run(r);
    bool stopped = j->interrupted || j->no_room || (j->stop_on_failure && j->failed);
    if (r->end->waiting && !stopped && !run_chosen(r))
        progress_say(&r->progress, "%s", r->err->text);
    r->end->done += j->done;
    r->end->diverged += j->diverged;
    r->end->failed += j->failed;
    r->end->left += j->left;
    r->end->interrupted = j->interrupted;
    if (dir_has(j->dir, "trunks") && read_dir(r))
        trunks_tidy(&r->dir, r->arena);
    return true;
}

peat_status runner_run(const char *dir, const struct plan *p, const struct runner_options *o,
                       const char *program, struct runner_end *end, struct error *err)
{
    struct arena arena;
    const struct run_settings *settings = &p->experiment->run;
    struct error why = {0};
    struct run r = {.plan = p, .options = o, .end = end, .arena = &arena, .err = &why};
    arena_init(&arena, "runner", 1 << 18);
    *end = (struct runner_end){0};
    progress_open(&r.progress, stderr, o->quiet);
    r.progress.metric = p->experiment->report.metric ? p->experiment->report.metric : "";
    r.jobs = (struct jobs){
        .dir = dir,
        .program = program,
        .checkpoint_every = settings->checkpoint_every,
        .timeout = o->timeout,
        .no_progress = o->no_progress,
        .grace = grace_seconds,
        .tensorboard = settings->tensorboard,
        .engine = (int)settings->engine,
        .device = (int)settings->device,
        .allow_drift = o->allow_drift,
        .stop_on_failure = o->stop_on_failure,
        .progress = &r.progress,
        .arena = &arena,
    };
    bool ok = runner_check(p, o, r.err) == PEAT_OK && open_dir(&r);
    if (ok) {
        r.jobs.gemm = gemm_of(&r);
        show_skipped(&r);
    }
    ok = ok && choose_first(&r) && run_jobs(&r);
    if (ok && o->dry)
        show_waiting(&r);
    else if (ok)
        show_end(&r);
    arena_release(&arena);
    return ok ? PEAT_OK : error_set(err, why.status, "%s", why.text);
}
