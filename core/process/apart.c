/* SPDX-License-Identifier: MIT */
/* apart.c: runs work in a child process: the child's and the parent's side. */
#include "process/apart.h"

#include <poll.h>

#include "process/child.h"
#include "process/state.h"

/* The head of the child's answer. Its length shows whether the whole answer has come. */
struct head {
    uint64_t magic, n;
};
static const uint64_t magic = UINT64_C(0x7065617474726565);

struct job_apart {
    apart_fn work;
    void *ctx;
    enum apart_prints prints;
};

/* A line that says which plugin did `what`, where it is named, and for which cell. */
static peat_status blame(const struct trail_page *page, const char *where, const char *what,
                         struct trail_plugin *plugin, struct error *err)
{
    const char *hook = strchr(where, '.');
    char cell[sizeof(page->cell)];
    snprintf(cell, sizeof(cell), "%.*s", (int)sizeof(cell) - 1, page->cell);
    *plugin = (struct trail_plugin){.id = ""};
    if (!hook || !trail_find(page, where, plugin))
        return error_set(err, PEAT_FAILED, "the process that runs plugins %s%s%s%s%s", what,
                         where[0] ? " in " : "", where, cell[0] ? ", for cell " : "", cell);
    if (strcmp(hook, ".load") == 0)
        return error_set(err, PEAT_FAILED, "%splugin '%s' %s while it was loaded", plugin->at,
                         plugin->file, what);
    return error_set(err, PEAT_FAILED, "%s'%s' (%s) %s in its %s%s%s", plugin->at, plugin->id,
                     plugin->file, what, hook + 1, cell[0] ? ", for cell " : "", cell);
}

/* ---- the child ---- */

/* The child's guard, which checks the process after plugin functions. */
struct watchman {
    struct guard guard;
    const struct trail_page *page;
    struct error found;
};

/* Reports a change at once, while the page still names the plugins that made it. */
static void look(void *ctx, const char *hook)
{
    struct watchman *w = ctx;
    struct trail_plugin plugin;
    guard_look(&w->guard, hook);
    if (w->guard.where[0] && w->found.status == PEAT_OK)
        blame(w->page, w->guard.where, w->guard.what, &plugin, &w->found);
}

/* An ordinary exit lets a sanitizer report leaks, which libFuzzer would treat as a failure. */
#if defined(PEAT_SANITIZED) && !defined(PEAT_FUZZ)
enum { ENDS_IN_ORDINARY_WAY = 1 };
#else
enum { ENDS_IN_ORDINARY_WAY = 0 };
#endif

_Noreturn static void end_child(void)
{
    if (ENDS_IN_ORDINARY_WAY)
        exit(0);
    _exit(0);
}

static void send(int fd, const struct strbuf *out, struct trail *trail)
{
    const struct head head = {magic, out->n};
    struct error err = {0};
    if (fd_write(fd, &head, sizeof(head), &err) != PEAT_OK ||
        fd_write(fd, out->text, out->n, &err) != PEAT_OK)
        trail_say(trail, &err);
}

/* Sets where the work and its plugins print. */
static void direct_output(enum apart_prints prints)
{
    int null = prints == APART_SILENT ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
    if (null >= 0)
        dup2(null, STDERR_FILENO);
    if (prints != APART_PRINTS)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    if (null >= 0)
        close(null);
}

_Noreturn static void run_child(const struct job_apart *job, struct trail_page *page, int fd)
{
    struct watchman watchman = {.page = page};
    struct trail trail = {page, look, &watchman};
    struct error err = {0};
    struct strbuf out = STRBUF_NEW;
    direct_output(job->prints);
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

/* The state of work in a child. */
struct inquiry {
    struct child child;
    int fd;                  /* descriptor of its answer */
    double seconds, outside; /* limits without progress: in a plugin's function, and outside; 0:
                              * no limit */
    uint64_t beats;
    double cpu;          /* processor seconds that it had used at the last check */
    double idle, looked; /* seconds without progress; time of the clock             */
    bool stuck, stopped, sent;
    char doing[CHILD_DOING]; /* what it waited for outside of plugins; "": it is in one */
};

static peat_status start_work(struct inquiry *q, const struct job_apart *job, struct error *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return error_set(err, PEAT_IO, "cannot start a process for plugins: %s", strerror(errno));
    peat_status status = child_fork(&q->child, err);
    if (status == PEAT_OK && q->child.pid == 0) {
        close(ends[0]);
        run_child(job, q->child.trail, ends[1]);
    }
    close(ends[1]);
    q->fd = ends[0];
    if (status != PEAT_OK)
        close(q->fd);
    return status;
}

/* A plugin function makes progress only by ending. The engine may read data for any time, so it
 * makes no progress only when it waits without using the processor, as for a lock that is never
 * released. */
static bool gets_on(struct inquiry *q, bool in_plugin)
{
    double cpu = child_cpu(&q->child);
    bool beats = q->child.trail->beats != q->beats, works = cpu != q->cpu;
    q->beats = q->child.trail->beats;
    q->cpu = cpu;
    return beats || (works && !in_plugin);
}

/* The time in which this process itself did not run counts as one check. */
static void watch(struct inquiry *q)
{
    const double longest_look = 1;
    double now = clock_seconds(), past = now - q->looked;
    char where[TRAIL_TEXT];
    q->looked = now;
    trail_where(q->child.trail, where);
    double limit = where[0] ? q->seconds : q->outside;
    q->idle = gets_on(q, where[0]) ? 0 : q->idle + (past < longest_look ? past : longest_look);
    q->stuck = limit > 0 && q->idle > limit;
    if (q->stuck && !where[0])
        child_doing(&q->child, q->doing);
}

/* Reads once; false at the end. */
static bool read_some(struct inquiry *q, struct strbuf *got)
{
    char buf[1 << 16];
    ssize_t n = read(q->fd, buf, sizeof(buf));
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

/* Reads until the answer is complete, the child has ended, or it makes no progress. A process that
 * a plugin started may hold the pipe open for ever. */
static void receive(struct inquiry *q, struct strbuf *got)
{
    enum { LOOK_MS = 50 };
    struct pollfd in = {.fd = q->fd, .events = POLLIN};
    bool open = true;
    q->looked = clock_seconds();
    while (open && !q->stuck && !q->stopped && !is_whole(got)) {
        bool ended = child_has_ended(&q->child);
        if (poll(&in, 1, ended ? 0 : LOOK_MS) > 0)
            open = read_some(q, got);
        else if (ended)
            break;
        watch(q);
        q->stopped = stops_waiting();
    }
    q->sent = is_whole(got);
}

/* Lets the child end. It has no more work except a sanitizer's search for leaks. A stopped child
 * may still finish a file that it is writing. */
static void end_work(struct inquiry *q)
{
    const double patience = 60, last_write = 2;
    q->child.grace = q->stuck ? 0 : last_write;
    q->child.deadline = clock_seconds() + (q->stuck ? 0 : patience);
    child_wait(&q->child);
    close(q->fd);
}

static void describe_end(const struct inquiry *q, struct strbuf *out)
{
    char name[SIGNAL_NAME];
    if (q->doing[0])
        strbuf_addf(out, "made no progress outside of plugins for %g s, %s", q->outside, q->doing);
    else if (q->stuck)
        strbuf_addf(out, "did not return within %g s", q->seconds);
    else if (q->child.signal)
        strbuf_addf(out, "%s %s", signal_is_sent(q->child.signal) ? "was ended by" : "crashed with",
                    signal_name(q->child.signal, name));
    else
        strbuf_addf(out, "ended the process with status %d", q->child.code);
}

static void explain(const struct inquiry *q, struct trail_plugin *died, struct error *err)
{
    char where[TRAIL_TEXT], hint[TRAIL_HINT];
    struct strbuf how = STRBUF_NEW;
    trail_where(q->child.trail, where);
    describe_end(q, &how);
    trail_hint(q->child.trail, q->child.signal, hint);
    peat_status status = blame(q->child.trail, where, how.text, died, err);
    error_set(err, status, "%s%s", err->text, hint);
    strbuf_release(&how);
}

/* A plugin that ends the process after the answer was sent has done no harm, but a sanitizer's
 * report must not be lost. */
static bool has_answered(const struct inquiry *q)
{
    return q->sent && (!ENDS_IN_ORDINARY_WAY || q->child.code == 0);
}

static void await_answer(struct inquiry *q, struct strbuf *out, struct trail_plugin *died,
                         struct error *err)
{
    struct strbuf got = STRBUF_NEW;
    receive(q, &got);
    end_work(q);
    if (has_answered(q))
        strbuf_add_bytes(out, got.text + sizeof(struct head), got.n - sizeof(struct head));
    else if (q->sent || q->stuck || !trail_said(q->child.trail, err))
        explain(q, died, err);
    strbuf_release(&got);
    child_release(&q->child);
}

double apart_seconds(void)
{
    const char *given = getenv("PEAT_PLUGIN_SECONDS");
    double seconds = given ? strtod(given, NULL) : 0;
    return seconds > 0 ? seconds : APART_SECONDS;
}

peat_status apart_run(apart_fn work, void *ctx, double seconds, enum apart_prints prints,
                      struct strbuf *out, struct trail_plugin *died, struct error *err)
{
    const struct job_apart job = {work, ctx, prints};
    /* While work prints, it may have to wait for its reader. */
    struct inquiry q = {.seconds = seconds,
                        .outside = prints == APART_PRINTS ? 0 : seconds * APART_WAITS};
    struct trail_plugin plugin = {.id = ""};
    struct error why = {0};
    struct stops_held held;
    stops_hold(&held);
    if (start_work(&q, &job, &why) == PEAT_OK)
        await_answer(&q, out, &plugin, &why);
    stops_let(&held);
    if (died)
        *died = plugin;
    return error_copy(err, &why);
}
