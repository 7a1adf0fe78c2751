/* SPDX-License-Identifier: MIT */
/* check_gradients.c: gradients against central differences, in whole models. */

#include <float.h>

#include "property.h"

/* Each tensor is moved along one random direction v: g.v must equal (L(w + hv) - L(w - hv)) / 2h.
 * Where they differ, the tensor is halved again and again, down to its elements, and the worst
 * element is named. A kink may lie between w - hv and w + hv, so other steps h are tried too. Where
 * w itself is at a kink, all weights are moved a little, and gradients must be right there. */

enum { ELEMENTS_MAX = 100 }; /* disagreeing elements of a tensor after which its search ends */
static const double limit = 1e-7;
enum { STEPS = 4 };
static const double steps[STEPS] = {1e-4, 1e-5, 1e-6, 1e-7};

struct difference {
    double analytic, numeric;
};

static double relative(const struct difference *d)
{
    return fabs(d->analytic - d->numeric) / fmax(1, fmax(fabs(d->analytic), fabs(d->numeric)));
}

struct search {
    const struct trial *trial;
    struct weight *w;
    uint64_t stream;    /* stream of the random directions */
    const double *kept; /* the values of w */
    struct difference worst;
    int64_t at;       /* index of `worst`; -1: none */
    int tried, kinks; /* numbers of elements that disagree, and of those at a kink, which are not
                       * named */
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
    double L = rig_step(s->trial->rig, &s->trial->x->in, false);
    for (int64_t i = r.begin; i < r.end; i++)
        tensor_set(&s->w->value, i, s->kept[i]);
    return L;
}

/* True when gradient and central difference agree at some step h, or where two steps cancel their
 * error, which falls with h^2. *d: both at the first h. */
static bool agrees(const struct search *s, struct range r, struct difference *d)
{
    double along = 0, numeric[STEPS];
    for (int64_t i = r.begin; i < r.end; i++)
        along += tensor_get(&s->w->grad, i) * component(s, r, i);
    for (int i = 0; i < STEPS; i++) {
        int k = (i + 1) % STEPS; /* most agree at 1e-5 */
        double up = loss_at(s, r, steps[k]), down = loss_at(s, r, -steps[k]);
        numeric[k] = (up - down) / (2 * steps[k]);
        const struct difference one = {along, numeric[k]};
        *d = i == 0 ? one : *d;
        /* The loss is known up to some tens of its last binary digit. */
        double rounding = 32 * DBL_EPSILON * (fabs(up) + fabs(down)) / (2 * steps[k]);
        if (relative(&one) <= limit || fabs(along - numeric[k]) <= rounding)
            return true;
    }
    for (int k = 0; k + 1 < STEPS; k++)
        if (relative(&(struct difference){along, (100 * numeric[k + 1] - numeric[k]) / 99}) <=
            limit)
            return true;
    return false;
}

/* Where the loss is smooth, the slopes on both sides of w become equal as h shrinks. */
static bool is_kink(const struct search *s, struct range r)
{
    double here = loss_at(s, r, 0), jump[2];
    for (int k = 0; k < 2; k++) {
        double h = steps[k + 1], up = loss_at(s, r, h), down = loss_at(s, r, -h);
        jump[k] = fabs(up - 2 * here + down) / h;
    }
    return jump[1] > 10 * limit && jump[1] > 0.5 * jump[0];
}

static void find_element(struct search *s, struct range r)
{
    struct difference d;
    int64_t half = r.begin + (r.end - r.begin) / 2;
    if (s->tried == ELEMENTS_MAX || agrees(s, r, &d))
        return;
    if (r.end - r.begin > 1) {
        find_element(s, (struct range){r.begin, half});
        find_element(s, (struct range){half, r.end});
        return;
    }
    s->tried++;
    if (relative(&d) <= relative(&s->worst))
        return;
    bool kink = isfinite(d.analytic) && is_kink(s, r);
    s->kinks += kink;
    s->worst = kink ? s->worst : d;
    s->at = kink ? s->at : r.begin;
}

/* Returns the number of elements at a kink. */
static int check_weight(const struct trial *t, struct weight *w)
{
    int64_t n = tensor_count(&w->value);
    double *kept = ARENA_ARRAY(&t->rig->arena, n, double);
    struct search s = {t, w, rng_stream(1, "direction", w->name), kept, .at = -1};
    for (int64_t i = 0; i < n; i++)
        kept[i] = tensor_get(&w->value, i);
    find_element(&s, (struct range){0, n});
    if (s.at >= 0)
        trial_fail(t, "%s[%" PRId64 "]: gradient %.9g, central difference %.9g at T = %" PRId64,
                   w->name, s.at, s.worst.analytic, s.worst.numeric, t->x->in.rows.T);
    return s.kinks;
}

/* The plugin's tensors, and of the others one in six: gradients of inputs of hooks reach all. Only
 * a step with `backward` writes gradients, so those of a tensor stay while losses are taken. */
static int check_weights(const struct trial *t)
{
    const struct weights *w = &t->rig->s.model.weights;
    int64_t few = trial_is_short(t) ? 6 : 12;
    int kinks = 0;
    rig_step(t->rig, &t->x->in, true);
    for (int k = 0; k < w->n && t->o->verdict == CHECK_PASSED; k++)
        if (!w->item[k]->frozen &&
            (rig_registered(t->rig, w->item[k]) || k % few == trial_draw(t, "tensors", few)))
            kinks += check_weight(t, w->item[k]);
    return kinks;
}

static void move_weights(struct rig *r)
{
    for (int k = 0; k < r->s.model.weights.n; k++) {
        struct weight *w = r->s.model.weights.item[k];
        uint64_t stream = rng_stream(1, "moved", w->name);
        for (int64_t i = 0; !w->frozen && i < tensor_count(&w->value); i++)
            tensor_set(&w->value, i,
                       tensor_get(&w->value, i) + 2e-3 * (rng_uniform(stream, (uint64_t)i) - 0.5));
    }
}

void gradients_hold(const struct trial *t)
{
    t->rig->shim.row = 3;
    if (!trial_is_short(t) && t->phase == PEAT_TRAIN)
        return; /* evaluation is long */
    int kinks = check_weights(t);
    if (t->o->verdict == CHECK_PASSED && kinks > 0) {
        move_weights(t->rig);
        check_weights(t);
    }
}

/* ---- gradients that are always 0 ---- */

/* What the cells showed of a tensor that the plugin registers. */
struct axis_reached {
    int64_t cells, dead; /* cells in which its length is that of heads or layers; those with a slice
                          * that has no gradient */
    int64_t least, most; /* of its lengths, which show that it is no axis of the same length by
                          * chance; cells and dead are of those that have the most */
    bool other;          /* some cell has another length */
};

/* Axes of heads, of layers, of all layers but one, and of heads on which the scheme does not act;
 * with weights that were moved, and as they start. */
enum { KINDS = 8 };
static const char *const kind_names[] = {"head", "layer", "layer", "head"};

struct tensor_reached {
    const char *name;
    int64_t cells, dead;
    struct axis_reached axis[KINDS][4];
};

struct tensors_reached {
    int n;
    struct tensor_reached item[64];
};

static struct tensor_reached *find(struct tensors_reached *all, const char *name)
{
    int i = 0;
    while (i < all->n && strcmp(all->item[i].name, name) != 0)
        i++;
    if (i == all->n && i < 63)
        all->item[all->n++].name = name;
    return &all->item[i];
}

/* Whether a gradient along slice `at` of the axis is not 0; axis -1: any gradient. */
static bool is_alive(const bool *alive, const struct tensor *t, int axis, int64_t at)
{
    int64_t inner = 1;
    for (int i = axis + 1; i < t->rank; i++)
        inner *= t->dim[i];
    for (int64_t i = 0; i < tensor_count(t); i++)
        if (alive[i] && (axis < 0 || i / inner % t->dim[axis] == at))
            return true;
    return false;
}

static void note_axis(struct axis_reached *x, const bool *alive, const struct tensor *t, int axis)
{
    int64_t n = t->dim[axis];
    bool dead = false;
    for (int64_t at = 0; at < n; at++)
        dead = dead || !is_alive(alive, t, axis, at);
    int64_t least = x->most && x->least < n ? x->least : n;
    if (n > x->most)
        *x = (struct axis_reached){.most = n, .other = x->other};
    x->least = least;
    x->cells += n == x->most;
    x->dead += dead && n == x->most;
}

static void note_tensor(struct tensor_reached *x, const struct rig *r, const struct weight *w,
                        const bool *alive, const struct where *where)
{
    int64_t H = r->config.model.n_head, L = where->n_layer ? 0 : r->config.model.n_layer;
    const int64_t sizes[] = {where->head_end ? 0 : H, L, L - 1, where->head_end ? H : 0};
    bool any = is_alive(alive, &w->value, -1, 0);
    x->cells += !r->plan.start;
    x->dead += !r->plan.start && !any;
    for (int k = 0; any && k < 4 * w->value.rank; k++) {
        int64_t size = sizes[k % 4], is = w->value.dim[k / 4];
        struct axis_reached *axis = &x->axis[k % 4 + 4 * r->plan.start][k / 4];
        if (is == size && size > 1)
            note_axis(axis, alive, &w->value, k / 4);
        else
            axis->other |= size > 0 && is != size;
    }
}

/* Elements of all weights whose gradient is not 0 in a step of training or of evaluation. */
static bool *find_alive(struct rig *r)
{
    const struct weights *w = &r->s.model.weights;
    bool *alive = ARENA_ARRAY(&r->arena, w->size, bool);
    for (int phase = PEAT_TRAIN; phase <= PEAT_EVAL; phase++) {
        struct rig_input x = rig_input(r, (peat_phase)phase);
        x.in.step = phase == PEAT_TRAIN;
        rig_step(r, &x.in, true);
        for (int k = 0; k < w->n; k++)
            for (int64_t i = 0; !w->item[k]->frozen && i < tensor_count(&w->item[k]->grad); i++)
                alive[w->item[k]->offset + i] |= tensor_get(&w->item[k]->grad, i) != 0;
    }
    return alive;
}

static void note_part(struct tensors_reached *all, struct rig *r, const struct scheme_part *s,
                      const bool *alive)
{
    for (int i = 0; i < s->part.n_weight && rig_owns(r, &s->part); i++) {
        const struct weight *w = s->part.weight[i].layer[0];
        if (w && !w->frozen)
            note_tensor(find(all, arena_strdup(r->subject->arena, s->part.weight[i].name)), r, w,
                        alive + w->offset, &s->where);
    }
}

static void judge(const struct tensor_reached *x, struct check_outcome *o)
{
    if (x->cells > 0 && x->dead == x->cells)
        check_fail(o,
                   "%s: the gradient of every element is 0, in training and in evaluation: it is "
                   "trained and never changes",
                   x->name);
    for (int k = 0; k < 4 * KINDS; k++) {
        const struct axis_reached *a = &x->axis[k % KINDS][k / KINDS];
        if (!a->other && a->least < a->most && a->dead > 0 && a->dead == a->cells)
            check_fail(o,
                       "%s: the gradient of some %s of %" PRId64
                       " is 0: those numbers are trained and never change",
                       x->name, kind_names[k % 4], a->most);
    }
}

/* A tensor whose gradient is always 0 agrees with central differences, but is never trained. A
 * setting may leave a tensor unused, so all cells must agree. */
void gradients_reach(const struct checked *s, struct check_outcome *o)
{
    const struct check_cells *cells = cells_of(s, o);
    struct tensors_reached *all = ARENA_NEW(s->arena, struct tensors_reached);
    struct check_outcome ignored = {CHECK_PASSED};
    for (int i = 0; i < 2 * cells->n; i++) {
        const struct rig_plan plan = {.dtype = PEAT_F64, .start = i % 2};
        struct rig *r = rig_open(s, &cells->item[i / 2], &plan, &ignored);
        struct positional *p = &r->s.positional;
        struct scheme_part combine = {.part = p->combine_part};
        const bool *alive = r->status == PEAT_OK ? find_alive(r) : NULL;
        for (int k = 0; alive && k < p->n_scheme; k++)
            note_part(all, r, &p->scheme[k], alive);
        if (alive && p->combine)
            note_part(all, r, &combine, alive);
        rig_close(r);
    }
    for (int i = 0; i < all->n; i++)
        judge(&all->item[i], o);
}
