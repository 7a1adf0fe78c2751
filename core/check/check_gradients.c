/* SPDX-License-Identifier: MIT */
/* check_gradients.c: gradients against central differences, in whole models. */

#include "property.h"

/*
 * Each tensor is moved along one random direction: g.v against (L(w + hv) - L(w - hv)) / 2h. Where
 * the two disagree its elements are tried one by one, to name the worst. A kink may lie between
 * w - h and w + h, so other steps are tried too. At w itself there may be a kink: then all weights
 * are moved a little, and gradients must be right there.
 */

enum { ELEMENTS_MAX = 2000 };
static const double limit = 1e-7;
static const double steps[] = {1e-5, 1e-6, 1e-4, 1e-7};

/* A model whose gradients are compared, and whether its weights have been moved off kinks. */
struct gradient_check {
    const struct trial *trial;
    const struct model_input *in;
    bool moved;
    int kinks; /* elements that are at one: counted, and not named */
};

struct difference {
    double analytic, numeric;
};

static double relative(const struct difference *d)
{
    return fabs(d->analytic - d->numeric) / fmax(1, fmax(fabs(d->analytic), fabs(d->numeric)));
}

/* A direction over a tensor, or one of its elements when at >= 0. */
struct direction {
    uint64_t stream;
    int64_t n, at;
};

static double component(const struct direction *v, int64_t i)
{
    if (v->at >= 0)
        return i == v->at;
    return (2 * rng_uniform(v->stream, (uint64_t)i) - 1) * sqrt(3.0 / (double)v->n);
}

static double loss_at(const struct gradient_check *t, struct weight *w, const struct direction *v,
                      const double *kept, double h)
{
    for (int64_t i = 0; i < v->n; i++)
        tensor_set(&w->value, i, kept[i] + h * component(v, i));
    double L = rig_step(t->trial->rig, t->in, false);
    for (int64_t i = 0; i < v->n; i++)
        tensor_set(&w->value, i, kept[i]);
    return L;
}

/* True when analytic and numeric agree at some step; *d: at the first one. */
static bool agrees(const struct gradient_check *t, struct weight *w, const struct direction *v,
                   const double *kept, double analytic, struct difference *d)
{
    for (size_t k = 0; k < sizeof(steps) / sizeof(*steps); k++) {
        double up = loss_at(t, w, v, kept, steps[k]);
        double down = loss_at(t, w, v, kept, -steps[k]);
        const struct difference one = {analytic, (up - down) / (2 * steps[k])};
        if (k == 0)
            *d = one;
        if (relative(&one) <= limit)
            return true;
    }
    return false;
}

/* In a smooth place the slopes of the two sides come together as h shrinks. */
static bool is_kink(const struct gradient_check *t, struct weight *w, const struct direction *v,
                    const double *kept)
{
    double here = loss_at(t, w, v, kept, 0), jump[2];
    for (int k = 0; k < 2; k++) {
        double up = loss_at(t, w, v, kept, steps[k]);
        double down = loss_at(t, w, v, kept, -steps[k]);
        jump[k] = fabs(up - 2 * here + down) / steps[k];
    }
    return jump[1] > 10 * limit && jump[1] > 0.5 * jump[0];
}

/* Called where a direction disagrees. In a large tensor kinks beyond ELEMENTS_MAX may be why. */
static void name_element(struct gradient_check *t, struct weight *w, const double *kept,
                         const double *grad, int64_t n)
{
    struct difference worst = {0, 0};
    int64_t at = -1;
    int kinks = 0;
    for (int64_t i = 0; i < n && i < ELEMENTS_MAX; i++) {
        const struct direction v = {0, n, i};
        struct difference d;
        if (agrees(t, w, &v, kept, grad[i], &d) || relative(&d) <= relative(&worst))
            continue;
        if (isfinite(grad[i]) && is_kink(t, w, &v, kept)) {
            kinks++;
            continue;
        }
        worst = d;
        at = i;
    }
    t->kinks += kinks;
    int digits = rig_digits(worst.analytic, worst.numeric);
    if (at >= 0)
        trial_fail(t->trial,
                   "%s[%" PRId64 "]: gradient %.*g, central difference %.*g at T = %" PRId64,
                   w->name, at, digits, worst.analytic, digits, worst.numeric, t->in->T);
    else if (n > ELEMENTS_MAX && (kinks == 0 || t->moved))
        trial_fail(t->trial, "%s: the gradient disagrees with central differences at T = %" PRId64,
                   w->name, t->in->T);
}

static void check_weight(struct gradient_check *t, struct weight *w, const double *grad)
{
    int64_t n = tensor_count(&w->value);
    double *kept = ARENA_ARRAY(&t->trial->rig->arena, n, double), along = 0;
    const struct direction v = {rng_stream(1, "direction", w->name), n, -1};
    for (int64_t i = 0; i < n; i++) {
        kept[i] = tensor_get(&w->value, i);
        along += grad[i] * component(&v, i);
    }
    struct difference d;
    if (!agrees(t, w, &v, kept, along, &d))
        name_element(t, w, kept, grad, n);
}

/* Gradients of all weights, copied: later passes overwrite them. */
static double **copy_gradients(struct rig *r)
{
    const struct weights *w = &r->model.weights;
    double **copy = ARENA_ARRAY(&r->arena, w->n + 1, double *);
    for (int k = 0; k < w->n; k++) {
        int64_t n = tensor_count(&w->item[k]->value);
        copy[k] = ARENA_ARRAY(&r->arena, n, double);
        for (int64_t i = 0; !w->item[k]->frozen && i < n; i++)
            copy[k][i] = tensor_get(&w->item[k]->grad, i);
    }
    return copy;
}

static void hold_here(struct gradient_check *t)
{
    rig_step(t->trial->rig, t->in, true);
    double **grad = copy_gradients(t->trial->rig);
    const struct weights *w = &t->trial->rig->model.weights;
    for (int k = 0; k < w->n && t->trial->o->verdict == CHECK_PASSED; k++)
        if (!w->item[k]->frozen)
            check_weight(t, w->item[k], grad[k]);
}

static void move_weights(struct rig *r)
{
    for (int k = 0; k < r->model.weights.n; k++) {
        struct weight *w = r->model.weights.item[k];
        uint64_t stream = rng_stream(1, "moved", w->name);
        for (int64_t i = 0; !w->frozen && i < tensor_count(&w->value); i++)
            tensor_set(&w->value, i,
                       tensor_get(&w->value, i) + 2e-3 * (rng_uniform(stream, (uint64_t)i) - 0.5));
    }
}

void gradients_hold(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    struct gradient_check here = {.trial = t, .in = &x.in};
    hold_here(&here);
    if (t->o->verdict == CHECK_PASSED && here.kinks > 0) {
        move_weights(t->rig);
        here.moved = true;
        hold_here(&here);
    }
}

/* Whether every element of the gradient is 0 after this step. */
static bool is_still(const struct trial *t, const struct weight *w, struct rig_input *x,
                     peat_phase phase)
{
    x->in.phase = phase;
    x->in.step = phase == PEAT_TRAIN;
    rig_step(t->rig, &x->in, true);
    for (int64_t i = 0; i < tensor_count(&w->grad); i++)
        if (tensor_get(&w->grad, i) != 0)
            return false;
    return true;
}

/* A tensor whose gradient is 0 agrees with central differences, and is never trained. With labels
 * and switches other than given a tensor may rest. */
void gradients_reach(const struct trial *t)
{
    static const int64_t lengths[] = {RIG_T, 1, 33};
    for (int k = 0; k < t->rig->model.weights.n && !*t->variant->text; k++) {
        const struct weight *w = t->rig->model.weights.item[k];
        bool own = strncmp(w->name, t->subject->plugin->desc->id,
                           strlen(t->subject->plugin->desc->id)) == 0;
        bool still = own && !w->frozen;
        for (int i = 0; still && i < 6; i++) {
            struct rig_input x = rig_input(t->rig, 2, lengths[i / 2]);
            still = is_still(t, w, &x, i % 2 ? PEAT_EVAL : PEAT_TRAIN);
        }
        if (still && t->o->verdict == CHECK_PASSED)
            trial_fail(t,
                       "%s: the gradient of every element is 0, in training and in evaluation: it "
                       "is trained and never changes",
                       w->name);
    }
}
