/* SPDX-License-Identifier: MIT */
/* check_gradients.c: gradients against central differences, in whole models. */

#include "property.h"

/* Each tensor is moved along one random direction v: g.v must equal (L(w + hv) - L(w - hv)) / 2h.
 * Where they differ, the tensor is halved again and again, down to its elements, and the worst
 * element is named. A kink may lie between w - hv and w + hv, so other steps h are tried too. Where
 * w itself is at a kink, all weights are moved a little, and gradients must be right there. */

enum { ELEMENTS_MAX = 100 }; /* disagreeing elements of a tensor after which its search ends */
static const double limit = 1e-7;
static const double steps[] = {1e-5, 1e-6, 1e-4, 1e-7};

struct gradient_check {
    const struct trial *trial;
    const struct model_input *in;
    int kinks; /* number of elements at a kink, which are not named */
};

struct difference {
    double analytic, numeric;
};

static double relative(const struct difference *d)
{
    return fabs(d->analytic - d->numeric) / fmax(1, fmax(fabs(d->analytic), fabs(d->numeric)));
}

struct search {
    struct gradient_check *check;
    struct weight *w;
    uint64_t stream;    /* stream of the random directions */
    const double *kept; /* the values of w */
    struct difference worst;
    int64_t at; /* index of `worst`; -1: none */
    int tried;  /* number of elements that disagree */
};

/* Elements [begin, end) of a tensor. */
struct range {
    int64_t begin, end;
};

/* Element i of a random direction, whose length is about 1. */
static double component(const struct search *s, struct range r, int64_t i)
{
    double n = (double)(r.end - r.begin);
    return n == 1 ? 1 : (2 * rng_uniform(s->stream, (uint64_t)i) - 1) * sqrt(3.0 / n);
}

static double loss_at(const struct search *s, struct range r, double h)
{
    for (int64_t i = r.begin; i < r.end; i++)
        tensor_set(&s->w->value, i, s->kept[i] + h * component(s, r, i));
    double L = rig_step(s->check->trial->rig, s->check->in, false);
    for (int64_t i = r.begin; i < r.end; i++)
        tensor_set(&s->w->value, i, s->kept[i]);
    return L;
}

/* True when gradient and central difference agree at some step h; *d: both at the first h. */
static bool agrees(const struct search *s, struct range r, struct difference *d)
{
    double along = 0;
    for (int64_t i = r.begin; i < r.end; i++)
        along += tensor_get(&s->w->grad, i) * component(s, r, i);
    for (size_t k = 0; k < sizeof(steps) / sizeof(*steps); k++) {
        double up = loss_at(s, r, steps[k]), down = loss_at(s, r, -steps[k]);
        const struct difference one = {along, (up - down) / (2 * steps[k])};
        if (k == 0)
            *d = one;
        if (relative(&one) <= limit)
            return true;
    }
    return false;
}

/* Where the loss is smooth, the slopes on both sides of w become equal as h shrinks. */
static bool is_kink(const struct search *s, struct range r)
{
    double here = loss_at(s, r, 0), jump[2];
    for (int k = 0; k < 2; k++) {
        double up = loss_at(s, r, steps[k]), down = loss_at(s, r, -steps[k]);
        jump[k] = fabs(up - 2 * here + down) / steps[k];
    }
    return jump[1] > 10 * limit && jump[1] > 0.5 * jump[0];
}

static void note_element(struct search *s, struct range r, const struct difference *d)
{
    s->tried++;
    if (relative(d) <= relative(&s->worst))
        return;
    if (isfinite(d->analytic) && is_kink(s, r)) {
        s->check->kinks++;
    } else {
        s->worst = *d;
        s->at = r.begin;
    }
}

static void find_element(struct search *s, struct range r)
{
    struct difference d;
    int64_t half = r.begin + (r.end - r.begin) / 2;
    if (s->tried == ELEMENTS_MAX || agrees(s, r, &d))
        return;
    if (r.end - r.begin == 1) {
        note_element(s, r, &d);
    } else {
        find_element(s, (struct range){r.begin, half});
        find_element(s, (struct range){half, r.end});
    }
}

static void check_weight(struct gradient_check *t, struct weight *w)
{
    int64_t n = tensor_count(&w->value);
    double *kept = ARENA_ARRAY(&t->trial->rig->arena, n, double);
    struct search s = {t, w, rng_stream(1, "direction", w->name), kept, .at = -1};
    for (int64_t i = 0; i < n; i++)
        kept[i] = tensor_get(&w->value, i);
    find_element(&s, (struct range){0, n});
    int digits = rig_digits(s.worst.analytic, s.worst.numeric);
    if (s.at >= 0)
        trial_fail(t->trial,
                   "%s[%" PRId64 "]: gradient %.*g, central difference %.*g at T = %" PRId64,
                   w->name, s.at, digits, s.worst.analytic, digits, s.worst.numeric, t->in->T);
}

/* Only a step with `backward` writes gradients, so those of w stay while losses are taken. */
static void hold_here(struct gradient_check *t)
{
    rig_step(t->trial->rig, t->in, true);
    const struct weights *w = &t->trial->rig->model.weights;
    for (int k = 0; k < w->n && t->trial->o->verdict == CHECK_PASSED; k++)
        if (!w->item[k]->frozen)
            check_weight(t, w->item[k]);
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

/* A tensor whose gradient is always 0 agrees with central differences, but is never trained. Only
 * the parameters as given are tried: another label or switch may leave a tensor unused. */
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
