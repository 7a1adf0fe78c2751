/* SPDX-License-Identifier: MIT */
/* verify_values.c: compares a result with its curve, its configuration and its checkpoint. */
#include "grid/verify.h"

#include "cell/cellmetrics.h"

/* ---- the curve ---- */

struct curve {
    struct verification *v;
    const struct cell_files *c;
    const struct value *measures; /* the result's measures */
    bool *found;                  /* by measure: found in a line */
    bool thinned;                 /* its training lines are sealed as a file only */
    bool broken;
    int64_t step;          /* step of the last line                   */
    struct arena here;     /* memory of the texts of that step        */
    const char **measured; /* "bpb (valid, length 32)"                */
    int n, room;
    int64_t evaluated; /* the step of the last evaluation */
    int n_evaluated;   /* number of its values */
};

static bool is_training(const struct value *v)
{
    return json_text_is(v, "split", "train");
}

static const char *what_of(const struct value *v, struct arena *a)
{
    return arena_printf(a, "%s (%s, length %" PRId64 ")", json_text_or(v, "metric", ""),
                        json_text_or(v, "split", ""), json_get_int(v, "length", 0));
}

/* The mistake in the line; NULL: the line follows those before it. */
static const char *line_fault(struct curve *k, const struct value *v)
{
    int64_t step = json_get_int(v, "step", 0);
    if (!v)
        return "is damaged";
    if (!value_get(v, SEAL_KEY) && !(k->thinned && is_training(v)))
        return "has no check: it was made or changed by hand";
    if (step < k->step)
        return arena_printf(k->v->arena, "is of step %" PRId64 ", after one of step %" PRId64, step,
                            k->step);
    if (step > k->step) {
        arena_reset(&k->here);
        k->n = k->room = 0;
    }
    k->step = step;
    const char *what = what_of(v, &k->here);
    if (texts_find(k->measured, k->n, what) >= 0)
        return arena_printf(k->v->arena, "repeats %s of step %" PRId64, what, step);
    *ARENA_APPEND(&k->here, k->measured, k->n, k->room) = what;
    return NULL;
}

static bool same_key(const struct value *x, const struct value *y)
{
    static const char *const key[] = {"metric", "split", "length", "step"};
    for (size_t i = 0; i < sizeof(key) / sizeof(*key); i++)
        if (!value_equal(value_get(x, key[i]), value_get(y, key[i])))
            return false;
    return true;
}

/* NaN, which is written as null, equals itself. */
static bool same_number(double x, double y)
{
    return x == y || (isnan(x) && isnan(y));
}

static const char *recorded_number(const struct value *map, struct arena *a)
{
    const struct value *v = value_get(map, "value");
    return v && v->kind != VALUE_NULL ? json_to_text(v, JSON_DENSE, a) : "no number";
}

static void compare_values(struct curve *k, const struct value *line)
{
    struct arena *a = k->v->arena;
    for (int i = 0; k->measures && i < k->measures->n; i++) {
        const struct value *m = k->measures->item[i];
        if (!same_key(m, line))
            continue;
        k->found[i] = true;
        if (!same_number(json_get_number(m, "value"), json_get_number(line, "value")))
            verify_add(&k->v->problems, k->c->label,
                       "%s is %s in result.json, and %s in metrics.jsonl", what_of(m, a),
                       recorded_number(m, a), recorded_number(line, a));
    }
}

static bool curve_add_line(void *ctx, int number, const struct value *line)
{
    struct curve *k = ctx;
    const char *fault = line_fault(k, line);
    k->broken = fault != NULL;
    if (fault) {
        verify_add(&k->v->problems, k->c->label, "line %d of metrics.jsonl %s", number, fault);
        return false;
    }
    if (!is_training(line)) {
        k->n_evaluated = k->evaluated == k->step ? k->n_evaluated + 1 : 1;
        k->evaluated = k->step;
    }
    if (is_training(line) && isnan(json_get_number(line, "value")) &&
        json_text_is(k->c->result, "state", "done"))
        verify_add(&k->v->problems, k->c->label,
                   "its curve diverges, and its result says that it is done");
    compare_values(k, line);
    return true;
}

/* The loss of the step at which patience ended training may be in no line, because only one step in
 * ten has one. */
static void check_found(const struct curve *k)
{
    struct arena *a = k->v->arena;
    int evaluated = 0;
    for (int i = 0; k->measures && i < k->measures->n; i++) {
        const struct value *m = k->measures->item[i];
        evaluated += !is_training(m);
        if (!k->found[i] && !(is_training(m) && json_get_bool(k->c->result, "stopped")))
            verify_add(&k->v->problems, k->c->label,
                       "%s of step %" PRId64 " is not in metrics.jsonl", what_of(m, a),
                       json_get_int(m, "step", 0));
    }
    /* Earlier programs forgot evaluations before an interruption when the cell then diverged. */
    bool forgot = evaluated == 0 && json_text_is(k->c->result, "state", "diverged");
    if (evaluated != k->n_evaluated && !forgot)
        verify_add(&k->v->problems, k->c->label,
                   "its last evaluation has %d values in metrics.jsonl, and %d in "
                   "result.json",
                   k->n_evaluated, evaluated);
}

void verify_curve(struct verification *v, const struct cell_files *c, bool thinned)
{
    struct curve k = {
        .v = v, .c = c, .measures = value_get(c->result, "measures"), .thinned = thinned};
    k.found = ARENA_ARRAY(v->arena, (k.measures ? k.measures->n : 0) + 1, bool);
    arena_init(&k.here, "lines of a step", 4096);
    /* A missing file was reported, or the result is not sealed with it. */
    peat_status status = metrics_each(c->dir, NULL, curve_add_line, &k, NULL);
    if (status == PEAT_OK && !k.broken) {
        check_found(&k);
        int64_t steps = json_get_int(c->result, "steps", k.step);
        if (k.step != steps)
            verify_add(&v->problems, c->label,
                       "metrics.jsonl ends at step %" PRId64 ", and its result is of step %" PRId64,
                       k.step, steps);
    }
    arena_release(&k.here);
}

/* ---- the configuration ---- */

void verify_end(struct verification *v, const struct cell_files *c)
{
    const struct value *train = value_get(c->config, "train");
    const struct value *diverged = value_get(c->result, "diverged");
    int64_t steps = json_get_int(c->result, "steps", -1), asked = json_get_int(train, "steps", -1);
    bool has_diverged = diverged && diverged->kind == VALUE_MAP;
    bool stopped = json_get_bool(c->result, "stopped");
    if (has_diverged != json_text_is(c->result, "state", "diverged"))
        verify_add(&v->problems, c->label,
                   "its result does not say whether it is done or diverged");
    else if (has_diverged && json_get_int(diverged, "step", steps) != steps)
        verify_add(&v->problems, c->label, "its result is not of the step at which it diverged");
    if (stopped && json_get_int(train, "patience", 0) == 0)
        verify_add(&v->problems, c->label,
                   "its result says that it stopped early, and it has no train.patience");
    if (!has_diverged && !stopped && asked >= 0 && steps >= 0 && steps != asked)
        verify_add(&v->problems, c->label,
                   "its result is of step %" PRId64 ", and it was to be trained for %" PRId64,
                   steps, asked);
}

/* ---- the checkpoint ---- */

/* Both files have these values, and the checkpoint was written first. */
static void compare_end(struct verification *v, const struct cell_files *c,
                        const struct value *state)
{
    static const struct {
        const char *state, *result, *what;
    } row[] = {{"diverged", "diverged", "whether the cell diverged"},
               {"patience.stopped", "stopped", "whether the cell stopped early"},
               {"identity.untrained", "untrained", "which rows were never trained"}};
    for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
        const struct value *said = value_get_path(state, row[i].state);
        const struct value *in = value_get(c->result, row[i].result);
        if (said && !(in && value_equal(said, in)))
            verify_add(&v->problems, c->label, "result.json and its checkpoint differ in %s",
                       row[i].what);
    }
}

static void compare_loss(struct verification *v, const struct cell_files *c,
                         const struct value *identity)
{
    const struct value *m;
    for (int i = 0; (m = json_get_item(c->result, "measures", i)); i++)
        if (is_training(m) && value_get(identity, "last_loss") &&
            !same_number(json_get_number(m, "value"), json_get_number(identity, "last_loss")))
            verify_add(&v->problems, c->label,
                       "result.json and its checkpoint differ in the last training loss");
}

/* A result may have drifted further than its checkpoint, if it was evaluated again. */
static void compare_drift(struct verification *v, const struct cell_files *c,
                          const struct value *identity)
{
    const struct value *drift;
    for (int i = 0; (drift = json_get_item(identity, "drift", i)); i++) {
        const struct value *in = json_get_item(c->result, "drift", i);
        if (!in || !value_equal(drift, in)) {
            verify_add(&v->problems, c->label,
                       "its checkpoint drifted, and result.json does not say so");
            return;
        }
    }
}

/* Both name the other program that trained the cell, if one did. */
static void compare_trained_by(struct verification *v, const struct cell_files *c,
                               const struct value *identity)
{
    const char *said = json_get_text(identity, "trained_by");
    const char *in = json_get_text(c->meta, "trained_by");
    if (!said != !in || (said && strcmp(said, in) != 0))
        verify_add(&v->problems, c->label,
                   "meta.json and its checkpoint differ in the program that trained it");
    else if (said)
        verify_add(&v->notes, c->label, "another program trained it (%s)", said);
}

void verify_state(struct verification *v, const struct cell_files *c, const struct value *state)
{
    const struct value *identity = value_get(state, "identity");
    const struct value *curve = value_get(identity, "metrics");
    compare_end(v, c, state);
    compare_loss(v, c, identity);
    compare_drift(v, c, identity);
    compare_trained_by(v, c, identity);
    if (curve && !metrics_are_whole(c->dir, curve))
        verify_add(&v->problems, c->label, "metrics.jsonl is not the curve of its checkpoint");
}
