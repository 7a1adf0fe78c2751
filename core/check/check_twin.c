/* SPDX-License-Identifier: MIT */
/* check_twin.c: compares models that should agree: in F32 and in F64, made for sequences of other
 * lengths, and with terms of attention computed once or in every layer. */

#include "plugin/params.h"
#include "property.h"
#include "recorder.h"

/* The limits are far above the rounding of sums, and below the error of a wrong kernel. */
static const double value_limit = 2e-3, gradient_limit = 2e-2;

/* Rounds the weights of a to F32 and copies them to b. */
static void round_weights(struct rig *a, struct rig *b)
{
    for (int k = 0; k < a->s.model.weights.n; k++) {
        struct tensor *x = &a->s.model.weights.item[k]->value,
                      *y = &b->s.model.weights.item[k]->value;
        for (int64_t i = 0; i < tensor_count(x); i++) {
            tensor_set(x, i, (double)(float)tensor_get(x, i));
            tensor_set(y, i, tensor_get(x, i));
        }
    }
}

/* The length of x - y; y NULL: of x. */
static double distance(const struct tensor *x, const struct tensor *y)
{
    double sum = 0;
    for (int64_t i = 0; i < tensor_count(x); i++)
        sum += pow(tensor_get(x, i) - (y ? tensor_get(y, i) : 0), 2);
    return sqrt(sum);
}

static void compare_gradients(const struct rig *f64, const struct rig *f32, struct check_outcome *o)
{
    double all = 0;
    for (int k = 0; k < f64->s.model.weights.n; k++)
        if (!f64->s.model.weights.item[k]->frozen)
            all = fmax(all, distance(&f64->s.model.weights.item[k]->grad, NULL));
    for (int k = 0; k < f64->s.model.weights.n; k++) {
        const struct weight *x = f64->s.model.weights.item[k], *y = f32->s.model.weights.item[k];
        double is = x->frozen ? 0 : distance(&x->grad, NULL);
        double off = x->frozen ? 0 : distance(&x->grad, &y->grad);
        if (!(off <= gradient_limit * is + 1e-4 * all))
            check_fail(
                o, "the gradient of %s in F32 is %.3g away from that in F64, whose length is %.3g",
                x->name, off, is);
    }
}

static bool is_apart(double f64, double f32)
{
    return !(fabs(f64 - f32) <= value_limit * fmax(1, fabs(f64)));
}

static void compare_values(const struct trial *t, const double *f64, const double *f32,
                           struct check_outcome *o)
{
    int64_t V = t->rig->V, places = rig_has_places(t->rig) ? t->x->in.rows.T : 1;
    for (int64_t i = 0; f64 && f32 && i < t->x->in.B * places * V; i++)
        if (is_apart(f64[i], f32[i]))
            check_fail(o, "a logit at place %d is %.6g in F32 and %.6g in F64",
                       (int)(i / V % places), f32[i], f64[i]);
}

/* A pass in F64 or F32 whose calls of hooks are recorded, with rounded weights. */
static void record_in(const struct trial *t, peat_dtype dtype, struct recorder *r)
{
    struct trial recorded = *t;
    struct graph g;
    recorder_init(r, t->subject, 0, t->subject->arena);
    recorded.recorder = r;
    struct rig_plan plan = trial_plan(&recorded);
    plan.dtype = dtype;
    struct rig *rig = trial_open(t, &plan);
    if (!rig)
        return;
    round_weights(rig, rig);
    struct rig_input x = trial_input(t, rig);
    rig_loss(rig, &g, &x.in);
}

/* "; first in rotary.qkv, layer 0: -1.2 in F32 and -1.3 in F64", or "" where results of hooks
 * agree: the inputs of that call still do. */
static const char *first_apart(const struct trial *t)
{
    struct recorder f64, f32;
    record_in(t, PEAT_F64, &f64);
    record_in(t, PEAT_F32, &f32);
    for (int i = 0; i < f64.n_made && i < f32.n_made; i++)
        for (int k = 0; k < f64.made[i].n_out; k++) {
            const struct tensor *x = &f64.made[i].out[k]->value, *y = &f32.made[i].out[k]->value;
            const struct value *call = f64.made[i].map.v;
            for (int64_t n = 0; n < tensor_count(x); n++)
                if (is_apart(tensor_get(x, n), tensor_get(y, n)))
                    return arena_printf(t->subject->arena,
                                        "; first in %s.%s, layer %" PRId64 ", whose result %" PRId64
                                        " is %.6g in F32 and %.6g in F64",
                                        t->subject->plugin->desc->id, json_get_text(call, "hook"),
                                        json_get_int(value_get(call, "in"), "layer", 0), n,
                                        tensor_get(y, n), tensor_get(x, n));
        }
    return "";
}

/* In F32 a comparison, a sort or a kink may come out differently, so a difference counts only if
 * three inputs show it. */
void precision_holds(const struct trial *t)
{
    enum { INPUTS = 3 };
    struct rig_plan plan = trial_plan(t);
    plan.dtype = PEAT_F32;
    struct rig *twin = trial_open(t, &plan);
    struct check_outcome one = {CHECK_FAILED};
    if (!twin)
        return;
    round_weights(t->rig, twin);
    for (int i = 0; i < INPUTS && one.verdict && t->o->verdict == CHECK_PASSED; i++) {
        one = (struct check_outcome){CHECK_PASSED};
        compare_values(t, trial_logits(t), rig_logits(twin, &t->x->in), &one);
        rig_step(t->rig, &t->x->in, true);
        rig_step(twin, &t->x->in, true);
        compare_gradients(t->rig, twin, &one);
        t->rig->seed += 1000;
        *t->x = trial_input(t, t->rig);
    }
    if (one.verdict == CHECK_FAILED)
        trial_fail(t, "%s%s", one.why, first_apart(t));
    rig_close(twin);
}

static bool same_shapes(const struct rig *a, const struct rig *b)
{
    bool same = a->s.model.weights.n == b->s.model.weights.n &&
                value_equal(assembly_resolved(&a->s, a->subject->arena),
                            assembly_resolved(&b->s, a->subject->arena));
    for (int k = 0; same && k < a->s.model.weights.n; k++)
        same = tensor_count(&a->s.model.weights.item[k]->value) ==
               tensor_count(&b->s.model.weights.item[k]->value);
    return same;
}

/* Compares with a model of the cell, or of another one. Nothing is compared where shapes differ, as
 * of a table with a row for each place, or parameters that were chosen by the length. */
static void agrees_with_twin(const struct trial *t, const struct check_cell *cell,
                             const struct rig_plan *plan, const char *what)
{
    struct trial there = *t;
    there.cell = cell;
    struct rig *twin = trial_open(&there, plan);
    if (!twin)
        return;
    if (same_shapes(t->rig, twin))
        trial_same_batch(t, trial_logits(t), rig_logits(twin, &t->x->in), what);
    rig_close(twin);
}

/* Whether a plugin of the cell says that it depends on lengths. */
static bool needs_length(const struct cell_config *c)
{
    uint32_t needs =
        c->has_combine ? ((const peat_combine *)c->combine.plugin->desc->interface)->needs : 0;
    for (int i = 0; i < c->n_scheme; i++)
        needs |= ((const peat_scheme *)c->scheme[i].plugin->desc->interface)->needs;
    return needs & PEAT_NEED_LENGTH;
}

void lengths_agree(const struct trial *t)
{
    struct rig_plan plan = trial_plan(t), other = plan;
    struct check_cell longer = *t->cell;
    const double length = 16 + 2 * (double)t->rig->s.model.dims.T_max;
    other.undeclared_T = 1 << 20;
    agrees_with_twin(t, t->cell, &other, "with T_total, which it reads without PEAT_NEED_LENGTH");
    longer.config.eval.lengths = (peat_reals){1, &length};
    if (!needs_length(&t->cell->config))
        agrees_with_twin(t, &longer, &plan, "when the model is made for longer sequences (T_max)");
}

/* Terms that depend on neither content nor layer are made once, at layer -1. Made in each layer,
 * they must be the same. */
void layers_agree(const struct trial *t)
{
    struct rig_plan plan = trial_plan(t);
    plan.per_layer = true;
    agrees_with_twin(t, t->cell, &plan,
                     "between a bias made at layer -1, for all layers, and one made in each layer");
}
