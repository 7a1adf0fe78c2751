/* SPDX-License-Identifier: MIT */
/* check_twin.c: compares models that should agree: in F32 and in F64, made for sequences of other
 * lengths, and with terms of attention computed once or in every layer. */

#include "property.h"

/* A second model of the case; NULL: it could not be opened. */
static struct rig *twin_open(const struct trial *t, const struct rig_plan *plan)
{
    struct rig *twin = rig_open(t->subject, t->variant, plan, t->o);
    return trial_accepts(t, twin) ? twin : NULL;
}

/* The limits are far above the rounding of sums, and below the error of a wrong kernel. */
static const double value_limit = 2e-3, gradient_limit = 2e-2;

/* Rounds the weights of a to F32 and copies them to b. */
static void round_weights(struct rig *a, struct rig *b)
{
    for (int k = 0; k < a->model.weights.n; k++) {
        struct tensor *x = &a->model.weights.item[k]->value, *y = &b->model.weights.item[k]->value;
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
    for (int k = 0; k < f64->model.weights.n; k++)
        if (!f64->model.weights.item[k]->frozen)
            all = fmax(all, distance(&f64->model.weights.item[k]->grad, NULL));
    for (int k = 0; k < f64->model.weights.n; k++) {
        const struct weight *x = f64->model.weights.item[k], *y = f32->model.weights.item[k];
        double is = x->frozen ? 0 : distance(&x->grad, NULL);
        double off = x->frozen ? 0 : distance(&x->grad, &y->grad);
        if (!(off <= gradient_limit * is + 1e-4 * all))
            check_fail(
                o, "the gradient of %s in F32 is %.3g away from that in F64, whose length is %.3g",
                x->name, off, is);
    }
}

static void compare_values(const struct trial *t, const double *f64, const double *f32,
                           struct check_outcome *o)
{
    for (int64_t i = 0; f64 && f32 && i < t->c->rows * t->c->length * RIG_V; i++)
        if (!(fabs(f64[i] - f32[i]) <= value_limit * fmax(1, fabs(f64[i]))))
            check_fail(o, "a logit at place %d is %.6g in F32 and %.6g in F64",
                       (int)(i / RIG_V % t->c->length), f32[i], f64[i]);
}

/* In F32 a comparison, a sort or a kink may come out differently, so a difference counts only if
 * three inputs show it. */
void precision_holds(const struct trial *t)
{
    enum { INPUTS = 3 };
    struct rig_plan plan = trial_plan(t);
    plan.dtype = PEAT_F32;
    struct rig *twin = twin_open(t, &plan);
    if (!twin)
        return;
    struct check_outcome one = {CHECK_FAILED};
    round_weights(t->rig, twin);
    for (int i = 0; i < INPUTS && one.verdict && t->o->verdict == CHECK_PASSED; i++) {
        one = (struct check_outcome){CHECK_PASSED};
        struct rig_input x = trial_input(t);
        compare_values(t, rig_logits(t->rig, &x.in), rig_logits(twin, &x.in), &one);
        rig_step(t->rig, &x.in, true);
        rig_step(twin, &x.in, true);
        compare_gradients(t->rig, twin, &one);
        t->rig->plan.seed += 1000;
    }
    if (one.verdict == CHECK_FAILED)
        trial_fail(t, "%s", one.why);
    rig_close(twin);
}

static bool same_shapes(const struct rig *a, const struct rig *b)
{
    bool same = a->model.weights.n == b->model.weights.n;
    for (int k = 0; same && k < a->model.weights.n; k++)
        same = tensor_count(&a->model.weights.item[k]->value) ==
               tensor_count(&b->model.weights.item[k]->value);
    return same;
}

/* Nothing is compared where shapes differ: a table with a row for each place grows with T_max. */
static void agrees_with_twin(const struct trial *t, const struct rig_plan *plan, const char *what)
{
    struct rig_input x = trial_input(t);
    struct rig *twin = twin_open(t, plan);
    if (!twin)
        return;
    if (same_shapes(t->rig, twin))
        trial_same(t, rig_logits(t->rig, &x.in), rig_logits(twin, &x.in), x.in.B * x.in.T, 0, what);
    rig_close(twin);
}

void lengths_agree(const struct trial *t)
{
    struct rig_plan longer = trial_plan(t), other = longer;
    other.undeclared_T = 1 << 20;
    agrees_with_twin(t, &other, "with T_total, which it reads without PEAT_NEED_LENGTH");
    longer.T_max = 2 * RIG_T_MAX + 5;
    agrees_with_twin(t, &longer, "when the model is made for longer sequences (T_max)");
}

/* Terms that depend on neither content nor layer are made once, at layer -1. Made in each layer,
 * they must be the same. */
void layers_agree(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    struct positional *p = &t->rig->positional;
    const double *once = rig_logits(t->rig, &x.in);
    for (int i = 0; i < p->n_scheme; i++)
        p->scheme[i].part.per_layer =
            p->scheme[i].part.per_layer || p->scheme[i].part.config == t->rig->config;
    trial_same(t, once, rig_logits(t->rig, &x.in), x.in.B * x.in.T, 0,
               "between a bias made at layer -1, for all layers, and one made in each layer");
}
