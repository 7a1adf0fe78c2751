/* SPDX-License-Identifier: MIT */
/* cmd_status.c: peat status DIR. */
#include <time.h>

#include "cli/verbs.h"
#include "grid/claimfile.h"
#include "grid/progress.h"
#include "grid/trunks.h"
#include "process/child.h"
#include "train/checkpoint.h"

enum { WATCH_SECONDS = 2 };

struct request {
    bool json, watch;
};

struct status {
    struct rundir dir;
    int n[CELL_STATES]; /* number of planned cells */
    int planned, unplanned;
    int kept;                    /* number of states in trunks */
    const struct value *skipped; /* in plan.json; NULL: none */
    struct registration registration;
    struct arena *arena;
};

static peat_status read_status(struct status *s, const char *dir, struct error *err)
{
    peat_status status = rundir_read(dir, &s->dir, s->arena, err);
    if (status != PEAT_OK)
        return status;
    struct claims_kept claims;
    status = claims_kept_read(dir, &claims, s->arena, err);
    registration_add(&s->registration, "", &claims, 1, &s->dir, s->arena);
    s->skipped = value_get(s->dir.plan, "skipped");
    s->n[CELL_SKIPPED] = s->skipped ? s->skipped->n : 0;
    s->planned += s->n[CELL_SKIPPED];
    trunks_list(dir, s->arena, &s->kept);
    for (int i = 0; i < s->dir.n; i++) {
        const struct cell_files *c = &s->dir.cell[i];
        s->planned += c->planned;
        s->unplanned += !c->planned;
        s->n[c->state] += c->planned;
    }
    return status;
}

/* ---- text ---- */

static void print_counts(const struct status *s)
{
    const char *counts = "";
    for (int i = 0; i < CELL_STATES; i++)
        if (s->n[i])
            counts =
                arena_item(s->arena, counts, "%d %s", s->n[i], cell_state_name((enum cell_state)i));
    cli_print("%s: %d cell%s: %s\n", json_text_or(s->dir.plan, "experiment", s->dir.path),
              s->planned, plural(s->planned), counts);
    for (int i = 0; i < s->registration.n; i++)
        cli_print("%s\n", s->registration.line[i]);
    if (s->unplanned)
        cli_print("cells of earlier plans: %d\n", s->unplanned);
    if (s->kept)
        cli_print("%d state%s kept for cells that share steps\n", s->kept,
                  s->kept == 1 ? " is" : "s are");
}

static int64_t total_steps(const struct cell_files *c)
{
    return json_get_int(value_get(c->config, "train"), "steps", 0);
}

static const char *running_text(const struct cell_files *c, struct arena *a)
{
    struct metrics_tail tail = metrics_tail(c->dir);
    return arena_printf(a, "step %" PRId64 "/%" PRId64 "  %s", tail.step, total_steps(c),
                        tail.text);
}

static const char *reason_of(const struct cell_files *c)
{
    return c->damage ? c->damage : json_text_or(c->end, "reason", "");
}

static const char *last_line(const struct cell_files *c, struct arena *a)
{
    return log_last_line(arena_printf(a, "%s/log.txt", c->dir), 0, "", a);
}

/* Why an unfinished cell cannot continue from its checkpoint; NULL: it can, or has none. */
static const char *restart_of(const struct cell_files *c, struct arena *a)
{
    return c->planned && !c->result ? checkpoint_kept(arena_printf(a, "%s/ckpt", c->dir), a) : NULL;
}

/* The steps at which the kernels or libraries of a finished cell changed; NULL: none. */
static const char *drift_of(const struct cell_files *c, struct arena *a)
{
    const char *drift = c->planned ? cell_drift(c->result, a) : NULL;
    return drift ? arena_printf(a, "drifted at %s", drift) : NULL;
}

/* Adds the cells for which the function has a text. */
static void add_noted(const struct status *s, struct columns *table,
                      const char *(*note)(const struct cell_files *c, struct arena *a))
{
    for (int i = 0; i < s->dir.n; i++) {
        const struct cell_files *c = &s->dir.cell[i];
        const char *text = note(c, s->arena);
        if (text)
            columns_add(table, (const char *const[]){cell_state_name(c->state), c->label, text});
    }
}

/* A line for each reason. */
static void add_skipped(const struct status *s, struct columns *table)
{
    int n = s->n[CELL_SKIPPED];
    const char **reason = ARENA_ARRAY(s->arena, n + 1, const char *);
    for (int i = 0; i < n; i++)
        reason[i] = json_text_or(s->skipped->item[i], "reason", "");
    for (int i = 0; i < n; i++) {
        int times = times_said(reason, n, i);
        const char *label = json_get_text(s->skipped->item[i], "label");
        if (times > 1)
            label = arena_printf(s->arena, "%s and %d more", label, times - 1);
        if (times > 0)
            columns_add(table,
                        (const char *const[]){cell_state_name(CELL_SKIPPED), label, reason[i]});
    }
}

static void print_cells(const struct status *s)
{
    struct columns table;
    columns_init(&table, s->arena, 3);
    for (int i = 0; i < s->dir.n; i++) {
        const struct cell_files *c = &s->dir.cell[i];
        bool failed = cell_has_failed(c->state);
        if (!c->planned || (!failed && !c->damage && c->state != CELL_RUNNING))
            continue;
        const char *text = c->state == CELL_RUNNING ? running_text(c, s->arena) : reason_of(c);
        columns_add(&table, (const char *const[]){cell_state_name(c->state), c->label, text});
        const char *last = failed ? last_line(c, s->arena) : NULL;
        if (last)
            columns_add(&table, (const char *const[]){"", "", last});
    }
    add_noted(s, &table, restart_of);
    add_noted(s, &table, drift_of);
    add_skipped(s, &table);
    columns_print(&table, "  ", stdout);
    const struct value *dropped = value_get(s->dir.plan, "dropped");
    for (int i = 0; dropped && i < dropped->n; i++)
        cli_print("  the same model as another cell: %s\n", dropped->item[i]->text);
}

/* ---- JSON ---- */

static struct json add_named(struct json list, const struct cell_files *c)
{
    struct json v = json_add_map(list);
    json_put_text(v, "id", c->id);
    json_put_text(v, "label", c->label);
    return v;
}

static void status_add_cell(struct json list, const struct cell_files *c)
{
    struct json v = add_named(list, c);
    json_put_text(v, "state", cell_state_name(c->state));
    if (cell_has_failed(c->state)) {
        json_put_text(v, "reason", reason_of(c));
        json_put_text(v, "signal", json_get_text(c->end, "signal"));
        json_put_text(v, "hook", json_get_text(c->end, "hook"));
        json_put_text(v, "log", arena_printf(v.a, "%s/log.txt", c->dir));
        json_put_text(v, "last_line", last_line(c, v.a));
    }
    if (c->damage)
        json_put_text(v, "damage", c->damage);
    if (c->state == CELL_RUNNING) {
        json_put_int(v, "step", metrics_tail(c->dir).step);
        json_put_int(v, "steps", total_steps(c));
    }
}

static void status_print_object(const struct status *s)
{
    struct json v = json_map(s->arena);
    json_put_text(v, "experiment", json_get_text(s->dir.plan, "experiment"));
    json_put_text(v, "path", s->dir.path);
    json_put_int(v, "cells", s->planned);
    json_put_int(v, "unplanned", s->unplanned);
    json_put_int(v, "trunk_states", s->kept);
    registration_put(v, &s->registration);
    struct json counts = json_put_map(v, "counts");
    for (int i = 0; i < CELL_STATES; i++)
        json_put_int(counts, cell_state_name((enum cell_state)i), s->n[i]);
    struct json running = json_put_list(v, "running"), failures = json_put_list(v, "failures"),
                damaged = json_put_list(v, "damaged"), drifted = json_put_list(v, "drifted"),
                restarted = json_put_list(v, "restarted");
    for (int i = 0; i < s->dir.n; i++) {
        const struct cell_files *c = &s->dir.cell[i];
        if (c->planned && c->state == CELL_RUNNING)
            status_add_cell(running, c);
        if (c->planned && cell_has_failed(c->state))
            status_add_cell(failures, c);
        if (c->planned && c->damage)
            status_add_cell(damaged, c);
        if (c->planned && json_get_count(c->result, "drift"))
            json_put(add_named(drifted, c), "drift", value_get(c->result, "drift"));
        const char *why = restart_of(c, s->arena);
        if (why)
            json_put_text(add_named(restarted, c), "reason", why);
    }
    struct json skipped = json_put_list(v, "skipped");
    for (int i = 0; i < s->n[CELL_SKIPPED]; i++)
        json_add(skipped, s->skipped->item[i]);
    print_json(v.v);
}

/* ---- the command ---- */

/* *running: a cell runs, or a parent runs that will start the next one. */
static int show(const char *dir, bool json, bool redraw, bool *running)
{
    struct arena arena;
    struct error err = {0};
    arena_init(&arena, "status", 1 << 16);
    struct status s = {.arena = &arena};
    int code = CLI_DONE;
    if (read_status(&s, dir, &err) != PEAT_OK) {
        code = cli_refuse(&err);
    } else {
        if (redraw)
            fputs("\x1b[H\x1b[J", stdout); /* clears the screen, so it is not escaped */
        if (json) {
            status_print_object(&s);
        } else {
            print_counts(&s);
            print_cells(&s);
        }
        fflush(stdout);
    }
    *running = s.n[CELL_RUNNING] > 0 || lock_is_held(dir);
    arena_release(&arena);
    return code;
}

static int watch(const char *dir, bool json)
{
    const struct timespec pause = {WATCH_SECONDS, 0};
    bool redraw = isatty(STDOUT_FILENO) && !json;
    for (;;) {
        bool running;
        int code = show(dir, json, redraw, &running);
        if (code != CLI_DONE || !running || ferror(stdout))
            return code;
        nanosleep(&pause, NULL);
    }
}

static int print_status(const struct cli *cli)
{
    const struct request *q = cli->options;
    bool running;
    return q->watch ? watch(cli->operand[0], q->json)
                    : show(cli->operand[0], q->json, false, &running);
}

static const struct cli_option options[] = {
    CLI_FLAG('w', "watch", watch, "redraw every 2 seconds until nothing runs"),
    CLI_FLAG(0, "json", json, "one object instead of text"),
};

const struct cli_command cmd_status = {
    .name = "peat status",
    .summary = "how far a run directory is, and what failed",
    CLI_OPERANDS("DIR", 1, 1, "one run directory is needed"),
    CLI_ROWS(options),
    .run = print_status,
};
