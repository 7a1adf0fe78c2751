/* SPDX-License-Identifier: MIT */
/* cellend.c: how the exit status of a cell decides its state and the reason. */
#include "grid/cellend.h"

#include "process/child.h"

/* ---- classifying ---- */

/* " in rotary.qkv" */
static const char *in_hook(const struct cell_end *end, struct arena *a)
{
    return end->hook ? arena_printf(a, " in %s", end->hook) : "";
}

static void end_by_signal(struct cell_end *end, const struct child *child, enum cell_stop stop,
                          struct arena *a)
{
    int signal = child->signal;
    char name[SIGNAL_NAME], hint[TRAIL_HINT];
    trail_hint(child->trail, signal, hint);
    end->signal = arena_strdup(a, signal_name(signal, name));
    bool asked = signal != SIGKILL || stop == STOP_ASKED;
    if (signal_is_sent(signal) && asked) {
        end->state = CELL_PARTIAL;
        end->reason = "interrupted";
    } else if (signal == SIGKILL) {
        end->state = CELL_OOM;
        end->reason = arena_printf(a, "killed%s (out of memory?)", in_hook(end, a));
    } else {
        end->state = CELL_CRASHED;
        end->reason = arena_printf(a, "crashed with %s%s%s", end->signal, in_hook(end, a), hint);
    }
}

static void end_by_error(struct cell_end *end, const struct cell_process *p,
                         const struct child *child, struct arena *a)
{
    struct error why = {0};
    const char *said = trail_said(child->trail, &why)
                           ? arena_strdup(a, why.text)
                           : log_last_line(child->log, p->log_at, "peat: ", a);
    const char *last = said ? NULL : log_last_line(child->log, p->log_at, "", a);
    end->state = why.status == PEAT_NOMEM ? CELL_OOM : CELL_FAILED;
    end->reason =
        said ? said
             : arena_printf(a, "exit status %d%s%s", end->exit, last ? ": " : "", last ? last : "");
}

/* A sanitizer's finding, "AddressSanitizer: SEGV", without the address. */
static const char *sanitizer_words(const char *line, struct arena *a)
{
    static const char mark[] = "ERROR: ";
    const char *error = strstr(line, mark);
    const char *from = error ? error + strlen(mark) : strstr(line, "runtime error: ");
    const char *end = strstr(from, " on ");
    return end ? arena_printf(a, "%.*s", (int)(end - from), from) : from;
}

/* The process was ended by exit() in a plugin, or by a sanitizer that found a mistake in one. */
static void end_by_plugin(struct cell_end *end, const struct cell_process *p,
                          const struct child *child, struct arena *a)
{
    const char *line = log_sanitizer_line(child->log, p->log_at, a);
    end->state = CELL_CRASHED;
    end->reason = line ? arena_printf(a, "%s%s", sanitizer_words(line, a), in_hook(end, a))
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

/* PEAT_OK: the cell has a result. */
static peat_status end_by_result(struct cell_end *end, const char *dir, struct arena *a)
{
    peat_status status = record_read(dir, &result_record, a, &end->result, NULL);
    if (status == PEAT_OK && json_text_is(end->result, "state", "done")) {
        end->state = CELL_DONE;
    } else if (status == PEAT_OK && json_text_is(end->result, "state", "diverged")) {
        end->state = CELL_DIVERGED;
    } else {
        end->result = NULL;
        status = status == PEAT_OK ? PEAT_CORRUPT : status;
    }
    return status;
}

/* A cell that ran out of disk space has not failed: it continues once there is space. */
static void check_room(struct cell_end *end)
{
    static const struct {
        int reason;
        const char *advice;
    } known[] = {{ENOSPC, "the disk is full: make room"},
                 {EDQUOT, "the quota of the disk is used up: make room"},
                 {EFBIG, "files must not grow that large (ulimit -f): raise the limit"}};
    if (end->state != CELL_FAILED || !end->reason)
        return;
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (strstr(end->reason, strerror(known[i].reason)))
            end->no_room = known[i].advice;
    if (end->no_room)
        end->state = CELL_PARTIAL;
}

struct cell_end cell_end_read(const struct cell_process *p, const struct child *child,
                              struct arena *a)
{
    struct cell_end end = {.exit = child->code};
    struct error why = {0};
    char where[TRAIL_TEXT];
    trail_where(child->trail, where);
    bool ended_by_plugin = end.exit >= 0 && where[0] && !trail_said(child->trail, &why);
    end.hook = where[0] ? arena_strdup(a, where) : NULL;
    if (end.exit == 0 || !p->had_result) {
        peat_status status = end_by_result(&end, p->dir, a);
        if (status == PEAT_OK)
            return end;
        if (end.exit == 0 && !ended_by_plugin) {
            end.state = CELL_FAILED;
            end.reason =
                status == PEAT_NOTFOUND ? "ended without a result" : "ended with a damaged result";
            return end;
        }
    }
    if (child->signal) {
        end_by_signal(&end, child, p->stop, a);
    } else if (ended_by_plugin) {
        end_by_plugin(&end, p, child, a);
    } else if (end.exit == STOPS_CODE) {
        end.state = CELL_PARTIAL;
        end.reason = "interrupted";
    } else {
        end_by_error(&end, p, child, a);
        check_room(&end);
    }
    if (p->stop == STOP_TIMEOUT || p->stop == STOP_STALLED)
        end_by_limit(&end, p, a);
    return end;
}

struct cell_end cell_end_failed(const struct error *why, struct arena *a)
{
    struct cell_end end = {.state = why->status == PEAT_NOMEM ? CELL_OOM : CELL_FAILED,
                           .reason = arena_strdup(a, why->text),
                           .exit = -1};
    check_room(&end);
    return end;
}

/* ---- run by another process ---- */

struct cell_end cell_end_elsewhere(const char *dir, struct arena *a)
{
    const char *who = process_in(dir, "running.json", a);
    return (struct cell_end){
        .state = CELL_RUNNING, .reason = arena_printf(a, "left to %s", who), .exit = -1};
}

bool cell_runs_elsewhere(const char *dir, pid_t pid, struct arena *a)
{
    const char *host;
    int64_t owner;
    return process_read(dir, "running.json", a, &owner, &host) &&
           !(owner == pid && host_is_this(host)) && cell_is_running(dir);
}

/* ---- end.json ---- */

static const struct field end_fields[] = {
    {"state", FIELD_TEXT | FIELD_NEEDED},
    {"reason", FIELD_TEXT | FIELD_NULL, MEMBER(struct cell_end, reason)},
    {"signal", FIELD_TEXT | FIELD_NULL, MEMBER(struct cell_end, signal)},
    {"hook", FIELD_TEXT | FIELD_NULL, MEMBER(struct cell_end, hook)},
    {"exit", FIELD_INT | FIELD_SIGNED},
    {"utc", FIELD_TEXT},
    {NULL},
};
const struct record end_record = {"end.json", "format", 1, true, end_fields};

peat_status cell_end_write(const struct cell_end *end, const char *dir, struct arena *a,
                           struct error *err)
{
    if (end->result || end->state == CELL_RUNNING)
        return PEAT_OK;
    char utc[32];
    clock_utc(utc, sizeof(utc));
    struct json v = json_map(a);
    json_put_int(v, "format", end_record.format);
    json_put_text(v, "state",
                  end->state == CELL_PARTIAL ? "interrupted" : cell_state_name(end->state));
    fields_put(v, end_fields, sizeof(end_fields) / sizeof(*end_fields), end);
    json_put_int(v, "exit", end->exit);
    json_put_text(v, "utc", utc);
    return json_write_file(dir, "end.json", v.v, err);
}

void cell_end_forget(const char *dir)
{
    file_remove(dir, "end.json", NULL);
    file_remove(dir, "running.json", NULL);
}
