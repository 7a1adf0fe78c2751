/* SPDX-License-Identifier: MIT */
/* cellend.c: from an exit status to a cell's state and reason. */
#include "grid/cellend.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/jsonfile.h"

enum { EXIT_INTERRUPTED = 130, LOG_TAIL = 1 << 16 };

static const struct place nowhere = {NULL, 0, 0};

/* ---- the log ---- */

/* At most the last LOG_TAIL bytes after `from`; NULL when there are none. */
static char *read_tail(const char *path, off_t from, size_t *n, struct arena *a)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    char *text = NULL;
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > from) {
        if (st.st_size - from > LOG_TAIL)
            from = st.st_size - LOG_TAIL;
        size_t wanted = (size_t)(st.st_size - from);
        text = arena_alloc(a, wanted + 1);
        ssize_t got = text ? pread(fd, text, wanted, from) : 0;
        *n = got > 0 ? (size_t)got : 0;
        if (text)
            text[*n] = '\0';
    }
    if (fd >= 0)
        close(fd);
    return text;
}

const char *log_last_line(const char *dir, off_t from, const char *prefix, struct arena *a)
{
    char *path = path_join(dir, "log.txt");
    size_t n = 0, skip = strlen(prefix);
    char *text = read_tail(path, from, &n, a);
    free(path);
    const char *found = NULL;
    while (text && n && !found) {
        while (n && (text[n - 1] == '\n' || text[n - 1] == '\r'))
            text[--n] = '\0';
        while (n && text[n - 1] != '\n')
            n--;
        const char *line = text + n;
        if (!strncmp(line, prefix, skip) && line[skip])
            found = line + skip;
    }
    return found;
}

/* ---- classifying ---- */

static const char *signal_name(int signal, struct arena *a)
{
    const char *abbreviation = sigabbrev_np(signal);
    return abbreviation ? arena_printf(a, "SIG%s", abbreviation)
                        : arena_printf(a, "signal %d", signal);
}

bool cell_stop_is_limit(enum cell_stop stop)
{
    return stop == STOP_TIMEOUT || stop == STOP_STALLED;
}

/* " in rotary.qkv" */
static const char *in_hook(const struct cell_end *end, struct arena *a)
{
    return end->hook ? arena_printf(a, " in %s", end->hook) : "";
}

static void end_by_signal(struct cell_end *end, int signal, enum cell_stop stop, struct arena *a)
{
    end->exit = -1;
    end->signal = signal_name(signal, a);
    bool asked = signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
    if (asked || (stop == STOP_ASKED && signal == SIGKILL)) {
        end->state = CELL_PARTIAL;
        end->reason = "interrupted";
    } else if (signal == SIGKILL) {
        end->state = CELL_OOM;
        end->reason = arena_printf(a, "killed%s (out of memory?)", in_hook(end, a));
    } else {
        end->state = CELL_CRASHED;
        end->reason = arena_printf(a, "crashed with %s%s", end->signal, in_hook(end, a));
    }
}

static void end_by_error(struct cell_end *end, const struct cell_process *p, struct arena *a)
{
    struct error why = {0};
    const char *said = trail_said(p->trail, &why) ? arena_strdup(a, why.text)
                                                  : log_last_line(p->dir, p->log_at, "peat: ", a);
    const char *last = said ? NULL : log_last_line(p->dir, p->log_at, "", a);
    end->state = why.status == PEAT_NOMEM ? CELL_OOM : CELL_FAILED;
    end->reason =
        said ? said
             : arena_printf(a, "exit status %d%s%s", end->exit, last ? ": " : "", last ? last : "");
}

/* The first line in which a sanitizer says what is wrong: "AddressSanitizer: SEGV". */
static const char *sanitizer_line(const struct cell_process *p, struct arena *a)
{
    static const char *const mark[] = {"ERROR: ", "runtime error: "};
    char *path = path_join(p->dir, "log.txt");
    size_t n = 0;
    char *text = read_tail(path, p->log_at, &n, a);
    free(path);
    for (size_t i = 0; text && i < sizeof(mark) / sizeof(*mark); i++) {
        char *line = strstr(text, mark[i]);
        if (!line)
            continue;
        line += i == 0 ? strlen(mark[i]) : 0;
        char *end = line + strcspn(line, "\n");
        *end = '\0';
        end = strstr(line, " on ");
        if (end)
            *end = '\0';
        return line;
    }
    return NULL;
}

/* exit() from a plugin, or a sanitizer that found one at fault. */
static void end_by_plugin(struct cell_end *end, const struct cell_process *p, struct arena *a)
{
    const char *found = sanitizer_line(p, a);
    end->state = CELL_CRASHED;
    end->reason = found
                      ? arena_printf(a, "%s%s", found, in_hook(end, a))
                      : arena_printf(a, "the process was ended with status %d%s, without a result",
                                     end->exit, in_hook(end, a));
}

static void end_by_limit(struct cell_end *end, const struct cell_process *p, struct arena *a)
{
    end->state = CELL_TIMEOUT;
    end->hook = p->where[0] ? arena_strdup(a, p->where) : NULL;
    const char *step = p->step > 0 ? arena_printf(a, " at step %lld", (long long)p->step) : "";
    if (p->stop == STOP_TIMEOUT)
        end->reason = arena_printf(a, "took longer than %g s (run.timeout)%s%s", p->timeout, step,
                                   in_hook(end, a));
    else
        end->reason = arena_printf(a, "no progress for %g s (run.no_progress)%s%s", p->no_progress,
                                   step, in_hook(end, a));
}

/* PEAT_OK: there is a result. */
static peat_status end_by_result(struct cell_end *end, const char *dir, struct arena *a)
{
    peat_status status = jsonfile_read(dir, "result.json", a, &end->result, NULL);
    const char *state = status == PEAT_OK ? member_text(end->result, "state") : NULL;
    if (state && !strcmp(state, "done")) {
        end->state = CELL_DONE;
    } else if (state && !strcmp(state, "diverged")) {
        end->state = CELL_DIVERGED;
    } else {
        end->result = NULL;
        status = status == PEAT_OK ? PEAT_CORRUPT : status;
    }
    return status;
}

static void end_without_result(struct cell_end *end, peat_status why)
{
    end->state = CELL_FAILED;
    end->reason = why == PEAT_NOTFOUND ? "ended without a result" : "ended with a damaged result";
}

static void check_disk(struct cell_end *end)
{
    if (end->state != CELL_FAILED || !end->reason || !strstr(end->reason, strerror(ENOSPC)))
        return;
    end->disk_full = true;
    end->state = CELL_PARTIAL;
}

struct cell_end cell_end_read(const struct cell_process *p, int wait_status, struct arena *a)
{
    struct cell_end end = {.exit = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1};
    struct error why = {0};
    char where[TRAIL_TEXT];
    trail_where(p->trail, where);
    bool ended_by_plugin = end.exit >= 0 && where[0] && !trail_said(p->trail, &why);
    end.hook = where[0] ? arena_strdup(a, where) : NULL;
    if (end.exit == 0 || !p->had_result) {
        peat_status status = end_by_result(&end, p->dir, a);
        if (status == PEAT_OK)
            return end;
        if (end.exit == 0 && !ended_by_plugin) {
            end_without_result(&end, status);
            return end;
        }
    }
    if (WIFSIGNALED(wait_status)) {
        end_by_signal(&end, WTERMSIG(wait_status), p->stop, a);
    } else if (ended_by_plugin) {
        end_by_plugin(&end, p, a);
    } else if (end.exit == EXIT_INTERRUPTED) {
        end.state = CELL_PARTIAL;
        end.reason = "interrupted";
    } else {
        end_by_error(&end, p, a);
        check_disk(&end);
    }
    if (cell_stop_is_limit(p->stop))
        end_by_limit(&end, p, a);
    return end;
}

struct cell_end cell_end_failed(const struct error *why, struct arena *a)
{
    struct cell_end end = {.state = why->status == PEAT_NOMEM ? CELL_OOM : CELL_FAILED,
                           .reason = arena_strdup(a, why->text),
                           .exit = -1};
    check_disk(&end);
    return end;
}

/* ---- run by another process ---- */

/* The process number of who runs the cell and its host; false: not known. */
static bool read_owner(const char *dir, struct arena *a, int64_t *pid, const char **host)
{
    struct value *running = NULL;
    if (jsonfile_read(dir, "running.json", a, &running, NULL) != PEAT_OK)
        return false;
    *pid = member_integer(running, "pid", 0);
    *host = member_text(running, "host");
    return *host != NULL;
}

struct cell_end cell_end_elsewhere(const char *dir, struct arena *a)
{
    struct cell_end end = {.state = CELL_RUNNING, .exit = -1};
    const char *host;
    int64_t pid;
    end.reason = read_owner(dir, a, &pid, &host)
                     ? arena_printf(a, "left to process %" PRId64 " on host %s", pid, host)
                     : "left to another process";
    return end;
}

bool cell_runs_elsewhere(const char *dir, pid_t pid)
{
    char mine[256] = "unknown";
    struct arena a;
    const char *host;
    int64_t owner;
    gethostname(mine, sizeof(mine) - 1);
    arena_init(&a, "owner", 1 << 12);
    bool other = read_owner(dir, &a, &owner, &host) && (owner != pid || strcmp(host, mine) != 0);
    arena_release(&a);
    return other && cell_is_running(dir);
}

/* ---- end.json ---- */

peat_status cell_end_write(const struct cell_end *end, const char *dir, struct arena *a,
                           struct error *err)
{
    if (end->result || end->state == CELL_RUNNING)
        return PEAT_OK;
    char utc[32];
    clock_utc(utc, sizeof(utc));
    struct value *v = value_map(a, nowhere);
    member_set_text(a, v, "state",
                    end->state == CELL_PARTIAL ? "interrupted" : cell_state_name(end->state));
    member_set_text(a, v, "reason", end->reason);
    member_set_text(a, v, "signal", end->signal);
    member_set_text(a, v, "hook", end->hook);
    member_set_integer(a, v, "exit", end->exit);
    member_set_text(a, v, "utc", utc);
    return jsonfile_write(dir, "end.json", v, err);
}

void cell_end_forget(const char *dir)
{
    static const char *const left[] = {"end.json", "end.json.tmp", "running.json",
                                       "running.json.tmp"};
    for (size_t i = 0; i < sizeof(left) / sizeof(*left); i++) {
        char *path = path_join(dir, left[i]);
        unlink(path);
        free(path);
    }
}
