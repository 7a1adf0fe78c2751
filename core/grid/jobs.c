/* SPDX-License-Identifier: MIT */
/* jobs.c: the loop of a grid's parent. */
#include "grid/jobs.h"

#include <time.h>

#include "cell/engine.h"
#include "cell/trunk.h"
#include "process/child.h"

#define LOOK_SECONDS 0.5

struct loop {
    struct jobs *j;
    char **env;
    int n_taken, n_active;
    double looked; /* time of the clock at the last check of progress */
    int n_stop;    /* number of stop signals except SIGHUP, which a lost terminal sends too */
    struct job **active;
    bool stopping; /* no more cells are started */
};

/* ---- starting ---- */

static char **cell_arguments(const struct loop *l, const struct job *job)
{
    const struct jobs *j = l->j;
    const char *const word[] = {
        j->program,
        "cell",
        "-t",
        arena_printf(j->arena, "%" PRId64, j->threads),
        "--checkpoint-every",
        arena_printf(j->arena, "%" PRId64, j->checkpoint_every),
        "--with-parent",
        arena_printf(j->arena, "%ld", (long)getpid()),
        "--trail",
        arena_printf(j->arena, "%d", CHILD_TRAIL),
        "--gemm",
        j->gemm ? j->gemm : "auto",
        "--engine",
        engine_words[j->engine],
        "--device",
        device_words[j->device],
        j->tensorboard ? "--tensorboard" : NULL,
        j->allow_drift ? "--allow-drift" : NULL,
        "--",
        j->dir,
        job->id,
    };
    enum { WORDS = sizeof(word) / sizeof(*word) };
    char **argv = ARENA_ARRAY(j->arena, WORDS + 1, char *);
    for (int i = 0, n = 0; i < WORDS; i++)
        if (word[i])
            argv[n++] = arena_strdup(j->arena, word[i]);
    return argv;
}

static off_t file_size(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? st.st_size : 0;
}

static void count(struct jobs *j, const struct job *job)
{
    j->done += job->end.state == CELL_DONE;
    j->diverged += job->end.state == CELL_DIVERGED;
    j->failed += cell_has_failed(job->end.state) || job->end.no_room;
    j->left += job->end.state == CELL_PARTIAL && !job->end.no_room;
    j->left += job->end.state == CELL_RUNNING;
    j->no_room = j->no_room ? j->no_room : job->end.no_room;
}

static void stop_all(struct loop *l)
{
    l->stopping = true;
    for (int i = 0; i < l->n_active; i++) {
        struct job *job = l->active[i];
        if (job->process.stop == STOP_NONE) {
            job->process.stop = STOP_ASKED;
            child_signal(&job->child, SIGTERM);
        }
    }
}

/* Prints a notice while there is still time to stop the cell. */
static void give_notice(struct loop *l, struct job *job, bool ended)
{
    const struct trail_page *page = job->child.trail;
    if (!page || job->told || !(ended || page->step > 0))
        return;
    job->told = true;
    if (page->notice[0])
        progress_say(l->j->progress, "%s: %.*s", job->label, (int)sizeof(page->notice),
                     page->notice);
}

/* If the end of a cell cannot be written, the next cells would fail too, so none is started. */
static void ended(struct loop *l, struct job *job)
{
    struct jobs *j = l->j;
    struct error err = {0};
    bool recorded = cell_end_write(&job->end, job->dir, j->arena, &err) == PEAT_OK;
    job->ended = true;
    give_notice(l, job, true);
    child_release(&job->child);
    count(j, job);
    progress_ended(j->progress, job);
    if (!recorded)
        progress_say(j->progress, "%s", err.text);
    if (!recorded || job->end.no_room)
        l->stopping = true;
    if (j->stop_on_failure && cell_has_failed(job->end.state))
        stop_all(l);
}

/* Whether `active` is still training the steps that both share. */
static bool trains_for(const struct loop *l, const struct job *active, const struct job *job)
{
    const struct trail_page *page = active->child.trail;
    const char *hash = json_get_text(job->trunk, "hash");
    int64_t one = json_get_int(active->trunk, "end", 0), other = json_get_int(job->trunk, "end", 0);
    int64_t shared = at_most(one, other);
    if (!same_text(json_get_text(active->trunk, "hash"), hash) || (page && page->step > shared))
        return false;
    struct arena_mark mark = arena_mark(l->j->arena);
    bool left = file_exists(trunk_state(l->j->dir, hash, shared, l->j->arena));
    arena_rewind(l->j->arena, mark);
    return !left;
}

static bool must_wait(const struct loop *l, const struct job *job)
{
    for (int i = 0; job->trunk && i < l->n_active; i++)
        if (trains_for(l, l->active[i], job))
            return true;
    return false;
}

/* The next job to start; NULL: all are taken, or wait. */
static struct job *find_next(const struct loop *l)
{
    for (int i = l->j->first; i < l->j->n; i++)
        if (!l->j->job[i].taken && !must_wait(l, &l->j->job[i]))
            return &l->j->job[i];
    return NULL;
}

static void job_start(struct loop *l, struct job *job)
{
    struct jobs *j = l->j;
    struct error err = {0};
    job->taken = true;
    l->n_taken++;
    if (cell_is_running(job->dir)) {
        job->end = cell_end_elsewhere(job->dir, j->arena);
        ended(l, job);
        return;
    }
    cell_end_forget(job->dir);
    job->child = (struct child){
        .argv = cell_arguments(l, job),
        .env = l->env,
        .log = arena_printf(j->arena, "%s/log.txt", job->dir),
        .own_group = true,
        .has_trail = true,
    };
    job->process = (struct cell_process){
        .dir = job->dir,
        .had_result = file_exists(arena_printf(j->arena, "%s/result.json", job->dir)),
        .log_at = file_size(job->child.log),
        .timeout = j->timeout,
        .no_progress = j->no_progress,
    };
    job->idle = 0;
    job->beats = 0;
    if (child_start(&job->child, &err) == PEAT_OK) {
        job->child.deadline = j->timeout > 0 ? job->child.started + j->timeout : 0;
        l->active[l->n_active++] = job;
        return;
    }
    job->end = cell_end_failed(&err, j->arena);
    ended(l, job);
}

/* ---- watching ---- */

static void reap(struct loop *l)
{
    struct jobs *j = l->j;
    for (int i = 0; i < l->n_active;) {
        struct job *job = l->active[i];
        if (!child_has_ended(&job->child)) {
            i++;
            continue;
        }
        l->n_active--;
        memmove(l->active + i, l->active + i + 1, (size_t)(l->n_active - i) * sizeof(*l->active));
        job->seconds = clock_seconds() - job->child.started;
        job->end = cell_end_read(&job->process, &job->child, j->arena);
        if (job->end.state == CELL_FAILED &&
            cell_runs_elsewhere(job->dir, job->child.pid, j->arena))
            job->end = cell_end_elsewhere(job->dir, j->arena);
        ended(l, job);
    }
}

/* Records the running hook before the cell is stopped, since it may go on to save its state. */
static void end_for(struct loop *l, struct job *job, enum cell_stop why)
{
    struct cell_process *p = &job->process;
    const struct trail_page *page = job->child.trail;
    p->stop = why;
    p->step = page ? page->step : 0;
    trail_where(page, p->where);
    bool stalled = why == STOP_STALLED && l->j->no_progress < l->j->grace;
    job->child.grace = stalled ? l->j->no_progress : l->j->grace;
    child_end(&job->child);
}

static void enforce_deadlines(struct loop *l)
{
    for (int i = 0; i < l->n_active; i++) {
        struct job *job = l->active[i];
        if (!child_is_due(&job->child))
            continue;
        if (job->child.late)
            child_kill(&job->child);
        else
            end_for(l, job, STOP_TIMEOUT);
    }
}

static double look_seconds(const struct jobs *j)
{
    return fmin(fmax(j->no_progress / 10, 0.02), 10);
}

/* A check counts at most little more than the usual time between two checks: in a suspended machine
 * or job no cell makes progress, and neither does this process. */
static void watch_progress(struct loop *l)
{
    double now = clock_seconds();
    double past = fmin(now - l->looked, 2 * look_seconds(l->j));
    l->looked = now;
    for (int i = 0; i < l->n_active && l->j->no_progress > 0; i++) {
        struct job *job = l->active[i];
        const struct trail_page *page = job->child.trail;
        if (!page || job->process.stop != STOP_NONE)
            continue;
        job->idle = page->beats == job->beats ? job->idle + past : 0;
        job->beats = page->beats;
        if (job->idle > l->j->no_progress)
            end_for(l, job, STOP_STALLED);
    }
}

static void interrupt(struct loop *l, int signal)
{
    struct jobs *j = l->j;
    l->n_stop += signal != SIGHUP;
    if (!j->interrupted) {
        j->interrupted = true;
        if (l->n_active)
            progress_say(j->progress,
                         "stopping: %d running cell%s will save and end; stop again to kill",
                         l->n_active, plural(l->n_active));
        stop_all(l);
        return;
    }
    for (int i = 0; i < l->n_active && l->n_stop > 1; i++) {
        l->active[i]->process.stop = STOP_ASKED;
        child_kill(&l->active[i]->child);
    }
}

static double next_wake(const struct loop *l)
{
    double wait = LOOK_SECONDS, now = clock_seconds();
    if (l->j->no_progress > 0)
        wait = fmin(wait, look_seconds(l->j));
    for (int i = 0; i < l->n_active; i++)
        if (l->active[i]->child.deadline > 0)
            wait = fmin(wait, fmax(l->active[i]->child.deadline - now, 0.001));
    return wait;
}

/* The signal; 0 when the time is over. */
static int wait_signal(const sigset_t *set, double seconds)
{
    struct timespec time = {(time_t)seconds, (long)(1e9 * (seconds - floor(seconds)))};
    int signal = sigtimedwait(set, NULL, &time);
    return signal > 0 ? signal : 0;
}

static bool is_stop(int signal)
{
    return signal > 0 && signal != SIGCHLD;
}

static void run_loop(struct loop *l, const sigset_t *set)
{
    struct jobs *j = l->j;
    for (;;) {
        struct job *next;
        while (!l->stopping && l->n_active < j->at_once && (next = find_next(l)))
            job_start(l, next);
        if (!l->n_active)
            break;
        progress_live(j->progress, j->n, j->job, l->n_active, l->active);
        int signal = wait_signal(set, next_wake(l));
        if (is_stop(signal))
            interrupt(l, signal);
        for (int i = 0; i < l->n_active; i++)
            give_notice(l, l->active[i], false);
        reap(l);
        progress_estimate(j->progress, j->n, j->job, l->n_active, l->active);
        watch_progress(l);
        enforce_deadlines(l);
    }
    progress_clear(j->progress);
    /* A signal that came as the last cell ended must not end this process. */
    for (int signal; (signal = wait_signal(set, 0)) != 0;)
        j->interrupted = j->interrupted || is_stop(signal);
    j->left += j->n - j->first - l->n_taken;
}

void jobs_run(struct jobs *j)
{
    struct loop l = {
        .j = j,
        .env = cell_environment(j->arena, j->threads),
        .active = ARENA_ARRAY(j->arena, j->n + 1, struct job *),
        .looked = clock_seconds(),
    };
    sigset_t set, before;
    stops_set(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, &before);
    run_loop(&l, &set);
    sigprocmask(SIG_SETMASK, &before, NULL);
}
