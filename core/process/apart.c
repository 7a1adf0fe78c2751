/* SPDX-License-Identifier: MIT */
/* apart.c: both sides of work in a child process. */
#include "process/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "process/guard.h"
#include "process/spawn.h"

/* Leads what the child sends, so that half of it is not taken for all. */
struct head {
    uint64_t magic, n;
};
static const uint64_t magic = UINT64_C(0x7065617474726565);

struct job_apart {
    apart_fn work;
    void *ctx;
    bool prints;
};

/* One line: which plugin did `what`, where it is named, and for which cell. */
static peat_status blame(const struct trail_page *page, const char *where, const char *what,
                         struct trail_plugin *plugin, struct error *err)
{
    char cell[sizeof(page->cell)];
    const char *hook = strchr(where, '.');
    *plugin = (struct trail_plugin){.id = ""};
    memcpy(cell, page->cell, sizeof(cell));
    cell[sizeof(cell) - 1] = '\0';
    if (!hook || !trail_find(page, where, plugin))
        return error_set(err, PEAT_FAILED, "the process that runs plugins %s%s%s", what,
                         where[0] ? " in " : "", where);
    if (strcmp(hook, ".load") == 0)
        return error_set(err, PEAT_FAILED, "%splugin '%s' %s while it was loaded", plugin->at,
                         plugin->file, what);
    return error_set(err, PEAT_FAILED, "%s'%s' (%s) %s in its %s%s%s", plugin->at, plugin->id,
                     plugin->file, what, hook + 1, cell[0] ? ", for cell " : "", cell);
}

/* ---- the child ---- */

/* What looks after the plugins in the child. */
struct watchman {
    struct guard guard;
    const struct trail_page *page;
    struct error found;
};

/* At once, while the page tells which plugins these are. */
static void look(void *ctx, const char *hook)
{
    struct watchman *w = ctx;
    struct trail_plugin plugin;
    guard_look(&w->guard, hook);
    if (w->guard.where[0] && w->found.status == PEAT_OK)
        blame(w->page, w->guard.where, w->guard.what, &plugin, &w->found);
}

/* A sanitizer reports leaks when a process ends in the ordinary way. */
_Noreturn static void end_child(void)
{
#if defined(PEAT_SANITIZED)
    exit(0);
#else
    _exit(0);
#endif
}

static void send(int fd, const struct strbuf *out, struct trail *trail)
{
    const struct head head = {magic, out->n};
    struct error err = {0};
    if (fd_write(fd, &head, sizeof(head), &err) != PEAT_OK ||
        fd_write(fd, out->text, out->n, &err) != PEAT_OK)
        trail_say(trail, &err);
}

_Noreturn static void run_child(const struct job_apart *job, struct trail_page *page, int fd,
                                pid_t parent)
{
    struct watchman watchman = {.page = page};
    struct trail trail = {page, look, &watchman};
    struct error err = {0};
    struct strbuf out;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    if (!job->prints)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    strbuf_init(&out);
    guard_start(&watchman.guard);
    peat_status status = job->work(job->ctx, &trail, &out, &err);
    if (watchman.found.status != PEAT_OK)
        trail_say(&trail, &watchman.found);
    else if (status != PEAT_OK)
        trail_say(&trail, &err);
    else
        send(fd, &out, &trail);
    strbuf_release(&out);
    end_child();
}

/* ---- the parent ---- */

/* A child under way. */
struct child {
    pid_t pid;
    int fd;
    struct trail_page *page;
    double seconds;
    uint64_t beats;
    double idle, looked; /* seconds without progress in a plugin; of the clock */
    bool stuck, sent;
    int status;
};

static peat_status start(struct child *c, const struct job_apart *job, struct error *err)
{
    int ends[2], page_fd = -1;
    c->page = trail_page_new(&page_fd);
    if (page_fd >= 0)
        close(page_fd);
    if (!c->page || pipe2(ends, O_CLOEXEC) < 0) {
        trail_page_free(c->page);
        return error_set(err, PEAT_IO, "cannot start a process for plugins: %s", strerror(errno));
    }
    pid_t parent = getpid();
    fflush(NULL);
    c->pid = fork();
    if (c->pid == 0) {
        close(ends[0]);
        run_child(job, c->page, ends[1], parent);
    }
    close(ends[1]);
    c->fd = ends[0];
    if (c->pid > 0) {
        setpgid(c->pid, c->pid);
        return PEAT_OK;
    }
    close(c->fd);
    trail_page_free(c->page);
    return error_set(err, PEAT_IO, "cannot start a process for plugins: %s", strerror(errno));
}

/* Only time spent inside of one plugin function counts: the engine may read data as long as it
 * takes. Time in which this process itself stood still counts for one look. */
static void watch(struct child *c)
{
    const double longest_look = 1;
    double now = clock_seconds(), past = now - c->looked;
    char where[TRAIL_TEXT];
    c->looked = now;
    trail_where(c->page, where);
    if (!where[0] || c->page->beats != c->beats) {
        c->beats = c->page->beats;
        c->idle = 0;
        return;
    }
    c->idle += past < longest_look ? past : longest_look;
    c->stuck = c->seconds > 0 && c->idle > c->seconds;
}

static bool has_ended(const struct child *c)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
           info.si_pid == c->pid;
}

/* One read of what has come; false at the end. */
static bool read_some(struct child *c, struct strbuf *got)
{
    char buf[1 << 16];
    ssize_t n = read(c->fd, buf, sizeof(buf));
    if (n < 0)
        return errno == EINTR || errno == EAGAIN;
    strbuf_add_bytes(got, buf, (size_t)n);
    return n > 0;
}

static bool is_whole(const struct strbuf *got)
{
    struct head head;
    if (got->n < sizeof(head))
        return false;
    memcpy(&head, got->text, sizeof(head));
    return head.magic == magic && head.n == got->n - sizeof(head);
}

/* Until all has come, the child has ended, or it stands still. A process that a plugin started may
 * hold the pipe open for ever. */
static void receive(struct child *c, struct strbuf *got)
{
    enum { LOOK_MS = 50 };
    struct pollfd in = {.fd = c->fd, .events = POLLIN};
    bool open = true;
    c->looked = clock_seconds();
    while (open && !c->stuck && !is_whole(got)) {
        int ready = poll(&in, 1, LOOK_MS);
        if (ready > 0)
            open = read_some(c, got);
        else if (has_ended(c))
            break;
        watch(c);
    }
    c->sent = is_whole(got);
}

/* It has nothing left to do; a sanitizer looks for leaks. Its group ends with it. */
static void end(struct child *c)
{
    const double patience = 20;
    double until = clock_seconds() + patience;
    while (!c->stuck && !has_ended(c) && clock_seconds() < until)
        poll(NULL, 0, 1);
    process_signal(c->pid, SIGKILL);
    while (waitpid(c->pid, &c->status, 0) < 0 && errno == EINTR)
        continue;
    close(c->fd);
}

static void describe_end(const struct child *c, struct strbuf *out)
{
    if (c->stuck) {
        strbuf_addf(out, "did not return within %g s", c->seconds);
    } else if (WIFSIGNALED(c->status)) {
        const char *name = sigabbrev_np(WTERMSIG(c->status));
        strbuf_addf(out, "crashed with SIG%s", name ? name : "?");
    } else {
        strbuf_addf(out, "ended the process with status %d", WEXITSTATUS(c->status));
    }
}

static peat_status explain(const struct child *c, struct trail_plugin *died, struct error *err)
{
    char where[TRAIL_TEXT];
    struct strbuf how;
    strbuf_init(&how);
    trail_where(c->page, where);
    describe_end(c, &how);
    peat_status status = blame(c->page, where, how.text, died, err);
    strbuf_release(&how);
    return status;
}

/* A plugin that takes the process down after all was sent has done no harm, but a sanitizer's
 * report is not to be lost. */
static bool believable(const struct child *c)
{
#if defined(PEAT_SANITIZED)
    return c->sent && WIFEXITED(c->status) && WEXITSTATUS(c->status) == 0;
#else
    return c->sent;
#endif
}

static peat_status run_parent(struct child *c, struct strbuf *out, struct trail_plugin *died,
                              struct error *err)
{
    struct strbuf got;
    strbuf_init(&got);
    receive(c, &got);
    end(c);
    peat_status status = PEAT_OK;
    if (believable(c))
        strbuf_add_bytes(out, got.text + sizeof(struct head), got.n - sizeof(struct head));
    else if (!c->sent && !c->stuck && trail_said(c->page, err))
        status = err->status;
    else
        status = explain(c, died, err);
    strbuf_release(&got);
    trail_page_free(c->page);
    return status;
}

peat_status apart_run(apart_fn work, void *ctx, double seconds, bool prints, struct strbuf *out,
                      struct trail_plugin *died, struct error *err)
{
    const struct job_apart job = {work, ctx, prints};
    struct child c = {.seconds = seconds};
    struct sigaction standard = {.sa_handler = SIG_DFL}, before;
    struct trail_plugin plugin = {.id = ""};
    /* Where SIGCHLD is ignored by inheritance, children vanish without a status. */
    sigaction(SIGCHLD, &standard, &before);
    struct error own = {0};
    peat_status status = start(&c, &job, &own);
    if (status == PEAT_OK)
        status = run_parent(&c, out, &plugin, &own);
    sigaction(SIGCHLD, &before, NULL);
    if (died)
        *died = plugin;
    return status == PEAT_OK ? PEAT_OK : error_set(err, status, "%s", own.text);
}
