/* SPDX-License-Identifier: MIT */
/* cmd_plan.c: peat plan EXP.yaml. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/columns.h"
#include "base/json.h"
#include "base/repeat.h"
#include "base/shown.h"
#include "cli/planparts.h"
#include "cli/runslurm.h"
#include "cli/verbs.h"
#include "grid/progress.h"
#include "report/numbers.h"

struct request {
    bool json, write, ids, injection;
    const char *dir;
    const char *pilot; /* a run directory; NULL: none */
};

/* ---- numbers for people ---- */

/* 1234567 -> "1.23 M" */
static const char *short_number(struct arena *a, double x)
{
    static const char unit[] = " kMGTP";
    int i = 0;
    for (; x >= 999.5 && unit[i + 1]; i++)
        x /= 1000;
    return i == 0 ? arena_printf(a, "%.3g", x) : arena_printf(a, "%.3g %c", x, unit[i]);
}

/* 1234567 -> "1,234,567" */
static const char *grouped_number(struct arena *a, double x)
{
    char digits[32], text[48];
    int n = snprintf(digits, sizeof(digits), "%.0f", x), out = 0;
    for (int i = 0; i < n; i++) {
        if (i > (digits[0] == '-') && (n - i) % 3 == 0)
            text[out++] = ',';
        text[out++] = digits[i];
    }
    text[out] = '\0';
    return arena_strdup(a, text);
}

static const char *mebibytes(struct arena *a, double bytes)
{
    return arena_printf(a, "%.1f MiB", bytes / (1024.0 * 1024.0));
}

/* ---- the table ---- */

static void print_injection(const struct plan_cell *c)
{
    for (const char *line = c->injection; *line;) {
        size_t n = strcspn(line, "\n");
        cli_print("      %.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
    if (c->matched)
        cli_print("      matched: %s\n", c->matched);
}

static void print_injections(const struct plan *p)
{
    for (int i = 0; i < p->n / p->experiment->n_seed; i++) {
        cli_print("\n%s\n", p->cell[i].label);
        print_injection(&p->cell[i]);
    }
}

/* Prints a note that several rows share once: "matched: learned.sum.s0 and 3 rows more: d_ff =
 * 498". */
static void print_said(const char *what, const struct plan *p, int rows, const char **said,
                       struct arena *a)
{
    for (int i = 0; i < rows; i++) {
        int times = times_said(said, rows, i);
        if (times)
            cli_print("%s: %s: %s\n", what, name_and_more(a, p->cell[i].label, "row", times),
                      said[i]);
    }
}

static void print_table(struct loaded_plan *l, const char *const *state)
{
    static const char *const head[] = {"cell",        "label",    "params",     "positional",
                                       "FLOPs/token", "training", "evaluation", "activations",
                                       "tok:pos",     "path",     "state"};
    struct columns table;
    columns_init(&table, &l->arena, 11);
    columns_add(&table, head);
    for (int i = 0; i < l->plan.n; i++) {
        const struct plan_cell *c = &l->plan.cell[i];
        const char *const row[] = {
            arena_printf(&l->arena, "%d", c->index),
            c->label,
            grouped_number(&l->arena, c->q[Q_PARAMS]),
            grouped_number(&l->arena, c->q[Q_PARAMS_POSITIONAL]),
            short_number(&l->arena, c->q[Q_FLOPS_PER_TOKEN]),
            short_number(&l->arena, plan_training(c)),
            short_number(&l->arena, c->q[Q_EVAL_FLOPS] + c->q[Q_GENERATE_FLOPS]),
            mebibytes(&l->arena, c->q[Q_ACTIVATION_BYTES]),
            number_ratio(&l->arena, c->q[Q_INPUT_RATIO_START]),
            c->attention_path,
            state[i]};
        columns_add(&table, row);
    }
    columns_print(&table, "", stdout);
}

/* "3 TFLOP of training, 1 TFLOP of evaluation and at most 9 TFLOP of generation: about 5m10s" */
static void print_work(struct loaded_plan *l, const struct plan_runs *runs)
{
    const struct plan *p = &l->plan;
    double training = 0, evaluation = 0, generation = 0, work = 0;
    char time[32];
    for (int i = 0; i < p->n; i++) {
        if (!runs->is_run[i])
            continue;
        training += plan_training(&p->cell[i]);
        evaluation += p->cell[i].q[Q_EVAL_FLOPS];
        generation += p->cell[i].q[Q_GENERATE_FLOPS];
        work += plan_work(&p->cell[i]);
    }
    cli_print("%sFLOP of training, %sFLOP of evaluation", short_number(&l->arena, training),
              short_number(&l->arena, evaluation));
    if (generation > 0)
        cli_print(", at most %sFLOP of generation", short_number(&l->arena, generation));
    double seconds = plan_seconds(&l->experiment.run, work);
    if (!isfinite(seconds))
        return;
    duration_text(seconds, time);
    cli_print("; about %s here", time);
}

/* "start: learned.sum.s0 and 3 rows more: token.weight from vectors.npy; ..." */
static void print_notes(const struct plan *p, int rows, struct arena *a)
{
    const char **matched = ARENA_ARRAY(a, rows, const char *);
    const char **started = ARENA_ARRAY(a, rows, const char *);
    const char **frozen = ARENA_ARRAY(a, rows, const char *);
    const char **first = ARENA_ARRAY(a, rows, const char *);
    for (int i = 0; i < rows; i++) {
        const struct plan_cell *c = &p->cell[i];
        matched[i] = c->matched;
        started[i] = c->started;
        first[i] = c->first_tokens ? shown_text(a, c->first_tokens) : NULL;
        if (c->q[Q_PARAMS_FROZEN] > 0)
            frozen[i] = arena_printf(a, "%s trained, %s frozen", grouped_number(a, c->q[Q_PARAMS]),
                                     grouped_number(a, c->q[Q_PARAMS_FROZEN]));
    }
    print_said("matched", p, rows, matched, a);
    print_said("parameters", p, rows, frozen, a);
    print_said("start", p, rows, started, a);
    print_said("training data begin with", p, rows, first, a);
}

/* Skipped rows of the first seed, a line for each reason. */
static void print_skipped(const struct plan *p, int n, struct arena *a)
{
    const char **said = ARENA_ARRAY(a, n + 1, const char *);
    for (int i = 0; i < n; i++)
        said[i] = p->skipped[i].reason;
    for (int i = 0; i < n; i++) {
        if (!times_said(said, n, i))
            continue;
        cli_print("skipped: %s", p->skipped[i].label);
        for (int k = i + 1; k < n; k++)
            if (strcmp(said[k], said[i]) == 0)
                cli_print(", %s", p->skipped[k].label);
        cli_print(": %s\n", said[i]);
    }
}

static void print_totals(struct loaded_plan *l, const char *const *state)
{
    const struct plan *p = &l->plan;
    int rows = p->n / l->experiment.n_seed;
    struct plan_runs runs;
    struct strbuf counts = STRBUF_NEW;
    plan_runs_count(p, &runs, &l->arena);
    plan_states_count(state, p->n, &counts);
    cli_print("\n%d cell%s: %d row%s x %d seed%s%s; %s\n", runs.n, plural(runs.n), runs.rows,
              plural(runs.rows), runs.seeds, plural(runs.seeds),
              runs.choosing ? arena_printf(&l->arena, " + %d for choosing", runs.choosing) : "",
              counts.text);
    print_work(l, &runs);
    cli_print("\n");
    strbuf_release(&counts);
    plan_runs_say(p, &runs, &l->arena);
    print_notes(p, rows, &l->arena);
    for (int i = 0; i < p->n_dropped; i++)
        cli_print("left out: %s\n", p->dropped[i]);
    print_skipped(p, p->n_skipped / l->experiment.n_seed, &l->arena);
    plan_warn(p, &l->arena);
    if (l->experiment.run.launcher == LAUNCHER_SLURM)
        run_slurm_say_kinds(&l->experiment.run.slurm, &l->arena);
}

static void print_all_json(const struct cli *cli, struct loaded_plan *l, const struct request *q,
                           const char *const *state)
{
    struct value *all = plan_value(&l->plan, &l->arena);
    struct value *cells = value_get(all, "cells");
    for (int i = 0; i < cells->n; i++)
        json_put_text((struct json){&l->arena, cells->item[i]}, "state", state[i]);
    struct json claims = json_put_list((struct json){&l->arena, all}, "claims");
    plan_claims(l, q->pilot, &claims, cli->err);
    if (cli->err->status == PEAT_OK)
        print_json(all);
}

static void print_parts(const struct cli *cli, struct loaded_plan *l, const struct request *q,
                        const char *const *state)
{
    for (int i = 0; q->ids && i < l->plan.n; i++)
        cli_print("%s\n", l->plan.cell[i].id);
    if (q->ids)
        return;
    if (q->json) {
        print_all_json(cli, l, q, state);
        return;
    }
    print_table(l, state);
    print_totals(l, state);
    if (q->injection)
        print_injections(&l->plan);
    plan_claims(l, q->pilot, NULL, cli->err);
}

static void plan_and_print(const struct cli *cli, struct loaded_plan *l, const struct request *q)
{
    struct error damage = {0};
    const char *dir = loaded_plan_dir(l, q->dir);
    if (q->write && plan_write(dir, &l->plan, &l->arena, cli->err) != PEAT_OK)
        return;
    const char **state = plan_states(dir, &l->plan, &l->arena, &damage);
    if (!state) {
        *cli->err = damage;
        return;
    }
    if (damage.text[0])
        cli_say("%s", damage.text);
    print_parts(cli, l, q, state);
}

void print_plan(const struct cli *cli, struct loaded_plan *l, const char *dir)
{
    plan_and_print(cli, l, &(struct request){.dir = dir});
}

static int plan_experiment(const struct cli *cli)
{
    struct loaded_plan l;
    if (loaded_plan_open(&l, cli, PLAN_SIZES, cli->err) != PEAT_OK)
        return CLI_USAGE;
    plan_and_print(cli, &l, cli->options);
    loaded_plan_close(&l);
    return CLI_DONE;
}

static const struct cli_option options[] = {
    CLI_FLAG(0, "json", json, "the whole plan as JSON"),
    CLI_TEXT('o', "output", "DIR", dir, "the run directory (default: runs/<name>)"),
    CLI_FLAG(0, "write", write, "make the run directory, ready for 'peat cell'"),
    CLI_FLAG(0, "ids", ids, "only the cells' names, one a line"),
    CLI_FLAG(0, "injection", injection, "what acts where in each cell"),
    CLI_TEXT(0, "pilot", "DIR", pilot,
             "a run whose spread over seeds says how many the claims need"),
};

const struct cli_command cmd_plan = {
    .name = "peat plan",
    .summary = "every cell of an experiment with its cost and state",
    .about = "Prints every cell of an experiment with its cost and state. Each is set up as for\n"
             "training, but without memory for weights; nothing is trained. Of each claim it says\n"
             "whether the seeds can decide it.",
    .example = "peat plan experiments/quickstart.yaml seeds=2",
    EXPERIMENT_OPERANDS,
    CLI_ROWS(options),
    .run = plan_experiment,
};
