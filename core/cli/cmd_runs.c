/* SPDX-License-Identifier: MIT */
/* cmd_runs.c: peat runs: a line for each run directory of `runs`, the one that changed last first.
 */
#include "cli/findrun.h"
#include "cli/verbs.h"
#include "report/numbers.h"
#include "report/results.h"

enum { NAME, CELLS, STATE, AGE, BEST, DESCRIPTION, COLUMNS };
static const char *const head[COLUMNS] = {"run",     "cells", "state",
                                          "changed", "best",  "description"};

struct request {
    bool json;
};

struct run {
    const char *column[COLUMNS];
    double changed; /* time of the wall clock; 0: unknown */
};

/* ---- a run ---- */

/* The last change of the plan or of a cell's files. */
static double last_change(const char *dir, const struct results *r)
{
    struct stat st;
    double last = 0;
    if (stat(path_in(dir, "plan.json").text, &st) == 0)
        last = (double)st.st_mtime;
    for (int i = 0; i < r->n_cell; i++)
        if (stat(r->cell[i].dir, &st) == 0)
            last = fmax(last, (double)st.st_mtime);
    return last;
}

static const char *age_text(double seconds, struct arena *a)
{
    static const struct {
        double seconds;
        const char *unit;
    } units[] = {{86400, "days"}, {3600, "hours"}, {60, "minutes"}};
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
        if (seconds >= 2 * units[i].seconds)
            return arena_printf(a, "%.0f %s ago", floor(seconds / units[i].seconds), units[i].unit);
    return "just now";
}

/* The number of cells in each state. */
struct counts {
    int n[CELL_STATES];
};

static struct counts count_states(const struct results *r)
{
    struct counts c = {{0}};
    for (int i = 0; i < r->n_cell; i++)
        c.n[r->cell[i].state]++;
    return c;
}

/* Says that cells run, and counts those that have no result: "running, 2 failed"; otherwise says
 * "whole". */
static const char *state_text(const struct counts *c, bool running, struct arena *a)
{
    const char *text = running || c->n[CELL_RUNNING] ? "running" : NULL;
    for (int i = 0; i < CELL_STATES; i++)
        if (c->n[i] && i != CELL_RUNNING && i != CELL_DONE && i != CELL_UNCHOSEN &&
            i != CELL_DECIDED)
            text = arena_item(a, text, "%d %s", c->n[i], cell_state_name((enum cell_state)i));
    return text ? text : "whole";
}

/* The best row of the first task at the first length, with its mean. */
static const char *best_text(const struct results *r, struct arena *a)
{
    const struct result_row *best = r->n_length ? results_best(r, 0, 0) : NULL;
    if (!best)
        return "-";
    const struct summary *s = &best->at[0];
    return arena_printf(a, "%s %s %s", results_row_label(r, best, a), r->metric,
                        number_interval(a, s->mean, (s->ci_high - s->ci_low) / 2, false));
}

static struct run read_run(const char *name, struct arena *a)
{
    struct results r;
    struct error err = {0};
    struct run run = {.column = {name, "-", "-", "-", "-", ""}};
    char *dir = arena_strdup(a, find_run(name, a, &err));
    if (results_read(&r, 1, &dir, &(struct results_options){0}, a, &err) != PEAT_OK) {
        run.column[DESCRIPTION] = arena_strdup(a, err.text);
        return run;
    }
    run.changed = last_change(dir, &r);
    const struct counts c = count_states(&r);
    run.column[CELLS] = arena_printf(a, "%d/%d", c.n[CELL_DONE] + c.n[CELL_DIVERGED], r.n_cell);
    run.column[STATE] = state_text(&c, lock_is_held(dir), a);
    run.column[AGE] = age_text(clock_wall() - run.changed, a);
    run.column[BEST] = best_text(&r, a);
    run.column[DESCRIPTION] = json_text_or(r.dir[0].plan, "description", "");
    return run;
}

/* ---- the command ---- */

static int later_first(const void *a, const void *b)
{
    const struct run *x = a, *y = b;
    return x->changed != y->changed ? (x->changed < y->changed ? 1 : -1)
                                    : strcmp(x->column[NAME], y->column[NAME]);
}

static void print_runs(const struct run *run, int n, bool json, struct arena *a)
{
    struct columns table;
    struct json list = json_list(a);
    columns_init(&table, a, COLUMNS);
    columns_add(&table, head);
    for (int i = 0; i < n; i++) {
        columns_add(&table, run[i].column);
        struct json m = json_add_map(list);
        for (int c = 0; c < COLUMNS; c++)
            json_put_text(m, head[c], run[i].column[c]);
    }
    if (json)
        print_json(list.v);
    else
        columns_print(&table, "", stdout);
}

static int list_runs(const struct cli *cli)
{
    const struct request *q = cli->options;
    const char *const *name;
    int n = run_names(&name, cli->arena);
    if (n == 0 && !q->json) {
        cli_say("there are no run directories in 'runs'; peat run makes one");
        return CLI_DONE;
    }
    struct run *run = ARENA_ARRAY(cli->arena, n + 1, struct run);
    for (int i = 0; i < n; i++)
        run[i] = read_run(name[i], cli->arena);
    qsort(run, (size_t)n, sizeof(*run), later_first);
    print_runs(run, n, q->json, cli->arena);
    return CLI_DONE;
}

static const struct cli_option options[] = {
    CLI_FLAG(0, "json", json, "an array of objects instead of a table"),
};

const struct cli_command cmd_runs = {
    .name = "peat runs",
    .summary = "the run directories that are here: cells, state, age, best row",
    CLI_ROWS(options),
    .run = list_runs,
};
