/* SPDX-License-Identifier: MIT */
/* progress.c: prints lines about a running grid. */
#include "grid/progress.h"

#include "cell/cellmetrics.h"
#include "grid/jobs.h"

enum { TAIL_BYTES = 2048, WIDTH_UNKNOWN = 80 };

#define RED   "\x1b[31m"
#define PLAIN "\x1b[0m"
#define ERASE "\r\x1b[K"

void progress_open(struct progress *p, FILE *out, bool quiet)
{
    const char *term = getenv("TERM"), *no_colour = getenv("NO_COLOR");
    bool terminal = isatty(fileno(out)) && term && strcmp(term, "dumb") != 0;
    *p = (struct progress){
        .out = out,
        .metric = "",
        .quiet = quiet,
        .live = terminal,
        .colour = terminal && !(no_colour && *no_colour),
        .start = clock_seconds(),
    };
}

void duration_text(double seconds, char *buf)
{
    enum { ROOM = 32 };
    int64_t whole = (int64_t)(seconds + 0.5);
    if (seconds < 60)
        snprintf(buf, ROOM, "%.1f s", seconds);
    else if (whole < 3600)
        snprintf(buf, ROOM, "%" PRId64 "m%02" PRId64 "s", whole / 60, whole % 60);
    else
        snprintf(buf, ROOM, "%" PRId64 "h%02" PRId64 "m", whole / 3600, whole / 60 % 60);
}

/* ---- lines ---- */

void progress_say(struct progress *p, const char *fmt, ...)
{
    va_list args;
    progress_clear(p);
    va_start(args, fmt);
    line_print(p->out, "peat: ", fmt, args);
    va_end(args);
}

void progress_clear(struct progress *p)
{
    if (!p->shown)
        return;
    fputs(ERASE, p->out);
    fflush(p->out);
    p->shown = false;
}

/* The requested metric or the main one, at the length that was trained or the shortest. */
static const struct value *shown_measure(const struct value *result, const char *metric,
                                         int64_t length)
{
    if (!*metric)
        metric = json_get_text(json_get_item(result, "metrics", 0), "name");
    const struct value *m = result_measure(result, metric, "valid", length);
    return m ? m : result_measure(result, metric, "valid", -1);
}

static void add_result(struct strbuf *line, const struct progress *p, const struct job *job)
{
    const struct cell_end *end = &job->end;
    const struct value *diverged = value_get(end->result, "diverged");
    if (end->state == CELL_DIVERGED) {
        strbuf_addf(line, "  at step %" PRId64 ": %s", json_get_int(diverged, "step", 0),
                    json_text_or(diverged, "what", "not finite"));
        return;
    }
    const struct value *m = shown_measure(end->result, p->metric, job->seq_len);
    double x = json_get_number(m, "value");
    if (!isnan(x))
        strbuf_addf(line, "  validation %s %.4f", json_get_text(m, "metric"), x);
}

void progress_ended(struct progress *p, const struct job *job)
{
    const struct cell_end *end = &job->end;
    bool bad = cell_has_failed(end->state) || end->no_room;
    char time[32];
    const char *word = end->no_room                 ? "failed"
                       : end->state == CELL_PARTIAL ? "stopped"
                                                    : cell_state_name(end->state);
    struct strbuf line = STRBUF_NEW, rest = STRBUF_NEW;
    bool left = end->state == CELL_PARTIAL || end->state == CELL_RUNNING;
    p->finished += !left || end->no_room;
    p->failed += bad;
    if (p->quiet && !bad)
        return;
    duration_text(job->seconds, time);
    strbuf_addf(&rest, "  %s", job->label);
    if (end->result)
        add_result(&rest, p, job);
    else
        strbuf_addf(&rest, "  %s", end->reason);
    strbuf_addf(&rest, "  %s  (%d/%d)", time, p->finished, p->total);
    if (bad)
        strbuf_addf(&rest, "\n  log: %s/log.txt", job->dir);
    strbuf_add(&rest, "\n");
    strbuf_addf(&line, "%s%s%s", bad && p->colour ? RED : "", word, bad && p->colour ? PLAIN : "");
    shown_add(&line, rest.text, "\n");
    progress_clear(p);
    fwrite(line.text, 1, line.n, p->out);
    fflush(p->out);
    strbuf_release(&rest);
    strbuf_release(&line);
}

/* ---- the live line ---- */

/* The bytes after the second-last newline, so a line that is still being written is left out. */
static char *last_line(char *text, size_t n)
{
    char *end = n ? memrchr(text, '\n', n) : NULL;
    if (!end)
        return NULL;
    *end = '\0';
    char *before = strrchr(text, '\n');
    return before ? before + 1 : text;
}

/* The loss of training, in nats, is shown in bits, so that it can be compared with bits per byte.
 */
static void describe(const struct value *v, struct metrics_tail *tail)
{
    const char *metric = json_get_text(v, "metric");
    double x = json_get_number(v, "value");
    tail->step = json_get_int(v, "step", 0);
    tail->evaluated = json_text_is(v, "split", "valid");
    if (metric && !isnan(x) && !tail->evaluated && !strcmp(metric, "loss"))
        snprintf(tail->text, sizeof(tail->text), "loss %.4f bits/token", x / log(2));
    else if (metric && !isnan(x))
        snprintf(tail->text, sizeof(tail->text), "%s %.4f", metric, x);
}

struct metrics_tail metrics_tail(const char *dir)
{
    char text[TAIL_BYTES + 1];
    int fd;
    struct metrics_tail tail = {.step = 0};
    struct stat st;
    peat_status status =
        file_open(path_in(dir, "metrics.jsonl").text, O_RDONLY, FILE_ANYONES, &fd, NULL);
    if (status != PEAT_OK)
        return tail;
    off_t from = fstat(fd, &st) == 0 && st.st_size > TAIL_BYTES ? st.st_size - TAIL_BYTES : 0;
    ssize_t got = pread(fd, text, TAIL_BYTES, from);
    close(fd);
    text[got > 0 ? got : 0] = '\0';
    char *line = last_line(text, got > 0 ? (size_t)got : 0);
    if (!line)
        return tail;
    struct arena a;
    arena_init(&a, "tail", 1 << 12);
    const struct value *v = metrics_line(&a, line, strlen(line));
    if (v)
        describe(v, &tail);
    arena_release(&a);
    return tail;
}

static int64_t due(const struct job *job, int64_t step)
{
    return evaluations_until(step, job->steps, job->eval_every);
}

/* The share of evaluations in the work; the one that is due at this step counts half. */
static double evaluated(const struct job *job, const struct metrics_tail *tail)
{
    double half = tail->evaluated ? 0.5 : 0;
    return ((double)due(job, tail->step - 1) + half) / (double)due(job, job->steps);
}

double job_done(const struct job *job, const struct metrics_tail *tail)
{
    if (job->steps <= 0 || tail->step <= 0)
        return job->begun;
    double steps = (double)tail->step / (double)job->steps;
    return fmin(1, job->training * steps + (1 - job->training) * evaluated(job, tail));
}

/* Seconds left at the present speed, from shares of work; -1: not known yet. A cell that ends early
 * counts its whole share. */
static double time_left(const struct progress *p, int n, const struct job *job, int n_active,
                        struct job *const *active)
{
    double done = 0, total = 0;
    for (int i = 0; i < n; i++) {
        double share = job[i].weight * (1 - job[i].begun);
        total += share;
        done += job[i].ended ? share : 0;
    }
    for (int i = 0; i < n_active; i++) {
        struct metrics_tail tail = metrics_tail(active[i]->dir);
        double here = job_done(active[i], &tail);
        if (here > active[i]->begun)
            done += active[i]->weight * (here - active[i]->begun);
    }
    if (done <= 0 || done > total)
        return -1;
    return (total - done) * (clock_seconds() - p->start) / done;
}

void progress_estimate(struct progress *p, int n, const struct job *job, int n_active,
                       struct job *const *active)
{
    enum { SOON = 60 };
    if (p->live || p->quiet || p->estimated || p->finished == 0)
        return;
    char text[32];
    double left = time_left(p, n, job, n_active, active);
    p->estimated = true;
    if (left < SOON)
        return;
    duration_text(left, text);
    progress_say(p, "about %s left, by the pace so far", text);
}

void progress_live(struct progress *p, int n, const struct job *job, int n_active,
                   struct job *const *active)
{
    if (!p->live || p->quiet || !n_active)
        return;
    struct strbuf line = STRBUF_NEW, shown = STRBUF_NEW;
    char eta[32];
    strbuf_addf(&line, "[%*d/%d] %d running",
                p->total > 99  ? 3
                : p->total > 9 ? 2
                               : 1,
                p->finished, p->total, n_active);
    if (p->failed)
        strbuf_addf(&line, "  %d failed", p->failed);
    double left = time_left(p, n, job, n_active, active);
    if (left >= 0) {
        duration_text(left, eta);
        strbuf_addf(&line, "  eta %s", eta);
    }
    struct metrics_tail tail = metrics_tail(active[0]->dir);
    strbuf_addf(&line, "  %s", active[0]->label);
    if (tail.step > 0)
        strbuf_addf(&line, " step %" PRId64 "/%" PRId64 "%s%s", tail.step, active[0]->steps,
                    tail.text[0] ? " " : "", tail.text);
    if (tail.step > 0 && due(active[0], tail.step) > due(active[0], tail.step - 1))
        strbuf_add(&line, " evaluating");
    size_t width = terminal_columns(p->out);
    shown_add(&shown, line.text, "");
    fprintf(p->out, ERASE "%.*s", (int)text_fit(shown.text, (width ? width : WIDTH_UNKNOWN) - 1),
            shown.text);
    fflush(p->out);
    p->shown = true;
    strbuf_release(&shown);
    strbuf_release(&line);
}
