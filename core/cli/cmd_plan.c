/* SPDX-License-Identifier: MIT */
/* cmd_plan.c: peat plan EXP.yaml. */

#include "cli/planparts.h"
#include "cli/runslurm.h"
#include "cli/verbs.h"
#include "report/numbers.h"

struct request {
    bool json, write, ids, injection, measure, registers;
    const char *dir;
    const char *pilot;  /* a run directory; NULL: not given */
    const bool *chosen; /* by cells: whether to print it; NULL: all */
};

static bool plan_is_shown(const struct request *q, int cell)
{
    return !q->chosen || q->chosen[cell];
}

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

static void print_injections(const struct plan *p, struct arena *a)
{
    for (int i = 0; i < p->n / p->experiment->n_seed; i++) {
        const struct plan_cell *c = &p->cell[i];
        const char *text = c->injection;
        cli_print("\n%s\n", c->label);
        for (const char *line; (line = list_next(a, &text, '\n'));)
            cli_print("      %s\n", line);
        if (c->matched)
            cli_print("      matched: %s\n", c->matched);
    }
}

/* "lr" of "train.lr", unless another axis has that name too. */
static const char *axis_head(const struct experiment *e, int axis)
{
    const char *name = key_name(e->axis[axis].key);
    for (int i = 0; i < e->n_axis; i++)
        if (i != axis && strcmp(key_name(e->axis[i].key), name) == 0)
            return e->axis[axis].key;
    return name;
}

enum { COSTS = 9 };

static void plan_add_heads(struct columns *table, const struct experiment *e)
{
    static const char *const head[COSTS] = {"cells",       "params",   "positional",
                                            "FLOPs/token", "training", "evaluation",
                                            "activations", "tok:pos",  "path"};
    const char *text[EXPERIMENT_MAX_AXES + COSTS + 1];
    for (int k = 0; k < e->n_axis; k++)
        text[k] = axis_head(e, k);
    memcpy(text + e->n_axis, head, sizeof(head));
    text[e->n_axis + COSTS] = "state";
    columns_add(table, text);
}

/* The row whose first cell this is: costs are those of one cell. */
static void plan_add_row(struct columns *table, const struct experiment *e,
                         const struct plan_cell *c, int cells, const char *states)
{
    struct arena *a = table->arena;
    const char *const cost[COSTS] = {arena_printf(a, "%d", cells),
                                     grouped_number(a, c->q[Q_PARAMS]),
                                     grouped_number(a, c->q[Q_PARAMS_POSITIONAL]),
                                     short_number(a, c->q[Q_FLOPS_PER_TOKEN]),
                                     short_number(a, plan_training(c, 0)),
                                     short_number(a, c->q[Q_EVAL_FLOPS] + c->q[Q_GENERATE_FLOPS]),
                                     mebibytes(a, c->q[Q_HELD_BYTES]),
                                     number_ratio(a, c->q[Q_INPUT_RATIO_START]),
                                     c->attention_path};
    const char *text[EXPERIMENT_MAX_AXES + COSTS + 1];
    memcpy(text, c->axis, sizeof(*text) * (size_t)e->n_axis);
    memcpy(text + e->n_axis, cost, sizeof(cost));
    text[e->n_axis + COSTS] = states;
    columns_add(table, text);
}

/* A line for each row of the grid, with the states of those of its cells that are shown. */
static void print_table(struct loaded_plan *l, const struct request *q,
                        const enum cell_state *state)
{
    const struct plan *p = &l->plan;
    int rows = p->n / p->experiment->n_seed;
    struct columns table;
    struct strbuf states = STRBUF_NEW;
    const char **name = ARENA_ARRAY(&l->arena, p->experiment->n_seed, const char *);
    columns_init(&table, &l->arena, p->experiment->n_axis + COSTS + 1);
    plan_add_heads(&table, p->experiment);
    for (int row = 0; row < rows; row++) {
        int n = 0;
        for (int i = row; i < p->n; i += rows)
            if (plan_is_shown(q, i))
                name[n++] = cell_state_name(state[i]);
        strbuf_clear(&states);
        plan_states_count(name, n, &states);
        if (n)
            plan_add_row(&table, p->experiment, &p->cell[row], n, states.text);
    }
    columns_print_blocks(&table, p->experiment->n_axis, stdout);
    strbuf_release(&states);
}

/* "3 TFLOP of training, 1 TFLOP of evaluation, at most 9 TFLOP of generation", and with --measure
 * the time */
static void print_work(const struct cli *cli, struct loaded_plan *l, const struct request *q,
                       const struct plan_runs *runs)
{
    const struct plan *p = &l->plan;
    double training = 0, evaluation = 0, generation = 0, shared = 0;
    int n_shared = 0;
    int64_t *from = ARENA_ARRAY(&l->arena, p->n, int64_t);
    bool *shown = ARENA_ARRAY(&l->arena, p->n, bool);
    plan_shared_steps(p, runs->is_run, from, &l->arena);
    for (int i = 0; i < p->n; i++) {
        shown[i] = runs->is_run[i] && plan_is_shown(q, i);
        if (!shown[i])
            continue;
        training += plan_training(&p->cell[i], from[i]);
        evaluation += plan_scoring(&p->cell[i], from[i]);
        generation += plan_generation(&p->cell[i], from[i]);
        shared += (double)from[i];
        n_shared += from[i] > 0;
    }
    const char *line =
        arena_printf(&l->arena, "%sFLOP of training, %sFLOP of evaluation",
                     short_number(&l->arena, training), short_number(&l->arena, evaluation));
    if (generation > 0)
        line = arena_printf(&l->arena, "%s, at most %sFLOP of generation", line,
                            short_number(&l->arena, generation));
    if (n_shared)
        line = arena_printf(
            &l->arena, "%s (%d cell%s continue%s from shorter ones, for %s steps together)", line,
            n_shared, plural(n_shared), n_shared == 1 ? "s" : "", short_number(&l->arena, shared));
    const char *time = q->measure ? plan_measure(p, shown, from, &l->arena, cli->err) : NULL;
    cli_print("%s%s%s\n", line, time ? "; " : "", time ? time : "");
}

/* "start: learned.sum.s0 and 3 rows more: token.weight from vectors.npy; ..." */
static void print_notes(const struct plan *p, struct arena *a)
{
    enum { FILLED, MATCHED, FROZEN, STARTED, FIRST, PART, NOTES };
    static const char *const what[] = {
        "model", "matched", "parameters", "start", "training data begin with", "reported"};
    int rows = p->n / p->experiment->n_seed;
    const char **said[NOTES];
    for (int k = 0; k < NOTES; k++)
        said[k] = ARENA_ARRAY(a, rows, const char *);
    for (int i = 0; i < rows; i++) {
        const struct plan_cell *c = &p->cell[i];
        said[FILLED][i] = c->config.filled_in;
        said[MATCHED][i] = c->matched;
        said[STARTED][i] = c->started;
        said[FIRST][i] = c->first_tokens ? shown_text(a, c->first_tokens) : NULL;
        said[PART][i] =
            c->config.eval.test > 0
                ? arena_printf(a, "on the test part, %g of the held-out data; the rest validates",
                               c->config.eval.test)
                : "on the validation data: eval.test is 0, so there is no test part";
        if (c->q[Q_PARAMS_FROZEN] > 0)
            said[FROZEN][i] =
                arena_printf(a, "%s trained, %s frozen", grouped_number(a, c->q[Q_PARAMS]),
                             grouped_number(a, c->q[Q_PARAMS_FROZEN]));
    }
    for (int k = 0; k < NOTES; k++)
        plan_say_rows(p, what[k], said[k], "", a);
}

/* Counts the states of the cells shown: of a part of the plan all, of the whole those that do not
 * depend on a choice of best_over. Returns the number of cells counted. */
static int count_states(struct loaded_plan *l, const struct request *q, bool part,
                        const enum cell_state *state, struct strbuf *out)
{
    int n = 0;
    const char **shown = ARENA_ARRAY(&l->arena, l->plan.n + 1, const char *);
    for (int i = 0; i < l->plan.n; i++)
        if (plan_is_shown(q, i) &&
            (part || (state[i] != CELL_WAITING && state[i] != CELL_UNCHOSEN)))
            shown[n++] = cell_state_name(state[i]);
    plan_states_count(shown, n, out);
    return n;
}

/* "3 of 8 cells; 3 todo", or "8 cells: 4 rows x 2 seeds; 8 todo". In the second, rows for which
 * best_over has chosen no value yet count with the cells of one value. */
static void print_count(struct loaded_plan *l, const struct request *q,
                        const struct plan_runs *runs, const enum cell_state *state)
{
    struct strbuf counts = STRBUF_NEW;
    bool part = false;
    for (int i = 0; i < l->plan.n; i++)
        part = part || !plan_is_shown(q, i);
    int n = count_states(l, q, part, state, &counts);
    if (part) {
        cli_print("\n%d of %d cells; %s\n", n, l->plan.n, counts.text);
    } else {
        if (runs->n > n)
            strbuf_item(&counts, "%d waiting", runs->n - n);
        cli_print("\n%d cell%s: %d row%s x %d seed%s%s; %s\n", runs->n, plural(runs->n), runs->rows,
                  plural(runs->rows), runs->seeds, plural(runs->seeds),
                  runs->choosing ? arena_printf(&l->arena, " + %d for choosing", runs->choosing)
                                 : "",
                  counts.text);
    }
    strbuf_release(&counts);
}

static void print_totals(const struct cli *cli, struct loaded_plan *l, const struct request *q,
                         const enum cell_state *state)
{
    const struct plan *p = &l->plan;
    struct plan_runs runs;
    plan_runs_count(p, &runs, &l->arena);
    print_count(l, q, &runs, state);
    print_work(cli, l, q, &runs);
    plan_runs_say(p, &runs, &l->arena);
    plan_say_comparisons(p, &runs);
    plan_say_looks(p, &runs, &l->arena);
    print_notes(p, &l->arena);
    for (int i = 0; i < p->dropped->n; i++)
        cli_print("left out: %s\n", p->dropped->item[i]->text);
    plan_say_skipped(p, &l->arena);
    plan_warn(p, &l->arena);
    if (l->experiment.run.launcher == LAUNCHER_SLURM)
        run_slurm_say_kinds(&l->experiment.run.slurm, &l->arena);
}

static void print_all_json(const struct cli *cli, struct loaded_plan *l, const struct request *q,
                           const enum cell_state *state)
{
    struct value *all = plan_value(&l->plan, &l->arena);
    struct value *cells = value_get(all, "cells");
    for (int i = 0; i < cells->n; i++)
        json_put_text((struct json){&l->arena, cells->item[i]}, "state", cell_state_name(state[i]));
    struct json claims = json_put_list((struct json){&l->arena, all}, "claims");
    plan_claims(l, q->pilot, &claims, cli->err);
    if (cli->err->status == PEAT_OK)
        print_json(all);
}

static void print_parts(const struct cli *cli, struct loaded_plan *l, const struct request *q,
                        const enum cell_state *state)
{
    for (int i = 0; q->ids && i < l->plan.n; i++)
        cli_print("%s\n", l->plan.cell[i].id);
    if (q->ids)
        return;
    if (q->json) {
        print_all_json(cli, l, q, state);
        return;
    }
    print_table(l, q, state);
    print_totals(cli, l, q, state);
    if (q->injection)
        print_injections(&l->plan, &l->arena);
    plan_claims(l, q->pilot, NULL, cli->err);
}

/* Everything in the hash decides a number; the name and the time are not in it. */
static void print_registration(const struct plan *p, struct arena *a)
{
    const struct experiment *e = p->experiment;
    int claims = e->claims ? e->claims->n : 0;
    char hex[HASH_HEX], utc[32];
    json_hash(plan_registration(p, a), hex);
    clock_utc(utc, sizeof(utc));
    cli_print("%s: %d claim%s, %d cell%s, %d seed%s, SHA-256 %s, %s\n", e->name, claims,
              plural(claims), p->n, plural(p->n), e->n_seed, plural(e->n_seed), hex, utc);
}

static void plan_and_print(const struct cli *cli, struct loaded_plan *l, const struct request *q)
{
    struct error damage = {0};
    const char *dir = loaded_plan_dir(l, q->dir);
    if (q->write && !plan_write(dir, &l->plan, &l->arena, cli->err))
        return;
    const enum cell_state *state = plan_states(dir, &l->plan, &l->arena, &damage);
    if (!state)
        *cli->err = damage;
    else if (damage.text[0])
        cli_say("%s", damage.text);
    if (state)
        print_parts(cli, l, q, state);
}

void print_plan(const struct cli *cli, struct loaded_plan *l, const char *dir, const bool *chosen)
{
    plan_and_print(cli, l, &(struct request){.dir = dir, .chosen = chosen});
}

static int plan_experiment(const struct cli *cli)
{
    const struct request *q = cli->options;
    const struct cli_clash one[] = {
        {"json write ids injection measure pilot", q->registers,
         "option '--register' prints one line alone"},
        {"json injection measure pilot", q->ids, "option '--ids' prints names alone"},
        {"injection", q->json, "option '--injection' is for the table: --json has it"},
    };
    if (CLI_CLASHES(cli, one))
        return CLI_USAGE;
    struct loaded_plan l;
    if (!loaded_plan_open(&l, cli, PLAN_SIZES, NULL, cli->err))
        return CLI_USAGE;
    if (!loaded_plan_has_engine(&l, cli->err)) {
        loaded_plan_close(&l);
        return CLI_USAGE;
    }
    if (q->registers)
        print_registration(&l.plan, &l.arena);
    else
        plan_and_print(cli, &l, q);
    loaded_plan_close(&l);
    return CLI_DONE;
}

static const struct cli_option options[] = {
    CLI_FLAG(0, "json", json, "the whole plan as JSON"),
    CLI_TEXT('o', "output", "DIR", dir, "the run directory (default: runs/<name>)"),
    CLI_FLAG(0, "write", write, "make the run directory, ready for 'peat cell'"),
    CLI_FLAG(0, "register", registers, "one line that registers the plan, to be published"),
    CLI_FLAG(0, "ids", ids, "only the cells' names, one a line"),
    CLI_FLAG(0, "injection", injection, "what acts where in each cell"),
    CLI_FLAG(
        0, "measure", measure,
        "run some steps and an evaluation of each kind of cell, and estimate the time by them"),
    CLI_TEXT(0, "pilot", "DIR", pilot,
             "a run with a spread over seeds, to estimate how many seeds the claims need"),
};

const struct cli_command cmd_plan = {
    .name = "peat plan",
    .summary = "every row of an experiment with its cost, its cells and their states",
    EXPERIMENT_OPERANDS,
    CLI_ROWS(options),
    .run = plan_experiment,
};
