/* SPDX-License-Identifier: MIT */
/* trial.c: a property in the model of a cell, and messages about it. */

#include "cell/setting.h"
#include "property.h"
#include "recorder.h"

static bool all_storable(const struct cell_config *c)
{
    const peat_combine *combine = c->has_combine ? c->combine.plugin->desc->interface : NULL;
    bool all = !combine || combine->traits & PEAT_STORABLE;
    for (int i = 0; i < c->n_scheme; i++) {
        const peat_scheme *scheme = c->scheme[i].plugin->desc->interface;
        all = all && scheme->traits & PEAT_STORABLE;
    }
    return all;
}

static int64_t longest(const struct cell_config *c)
{
    int64_t T = c->train.seq_len;
    for (int64_t i = 0; i < c->eval.lengths.n; i++)
        T = (int64_t)fmax((double)T, c->eval.lengths.item[i]);
    return T;
}

static bool moves_rows(const struct cell_config *c)
{
    for (int i = 0; i < c->n_scheme; i++)
        if (scheme_has(c->scheme[i].plugin->desc->interface, HOOK_POSITIONS))
            return true;
    return false;
}

/* One scheme, the combination that adds, and no class token that has no position. */
static bool is_alone(const struct cell_config *c)
{
    return c->n_scheme == 1 && c->scheme[0].where.across != ACROSS_ONLY &&
           (!c->has_combine || same_text(c->combine.plugin->desc->id, setting_combine)) &&
           model_is_movable(&c->model);
}

bool trial_is_short(const struct trial *t)
{
    enum { SHORT = 70 };
    return longest(&t->cell->config) < SHORT;
}

bool trial_fits(const struct trial *t)
{
    const struct cell_config *c = &t->cell->config;
    const struct model_config *m = &c->model;
    const bool holds[] = {[3] = m->input == PEAT_INPUT_TOKENS,
                          [4] = m->head != PEAT_HEAD_CLASS && !model_has_class_token(m),
                          [5] = trial_is_short(t),
                          [7] = is_alone(c),
                          [8] = t->phase == PEAT_TRAIN,
                          [9] = t->phase == PEAT_EVAL,
                          [13] = trial_draw(t, "some", 3) == 0,
                          [14] = c->n_scheme < 2 && !moves_rows(c)};
    const unsigned on = t->property->on;
    bool fits = on >> m->arch & 1 && (!(t->property->traits & PEAT_STORABLE) || all_storable(c));
    for (int i = 3; i < 15; i++)
        fits = fits && (!(on >> i & 1) || holds[i] || (i > 9 && i < 13));
    return fits;
}

int64_t trial_draw(const struct trial *t, const char *what, int64_t n)
{
    const char *name = arena_printf(t->subject->arena, "%s %d %s", t->property->check,
                                    (int)(t->property - properties) * 2 + (int)t->phase, what);
    uint64_t stream = rng_stream((uint64_t)t->cell->config.seed, "check", name);
    return (int64_t)(rng_bits(stream, 0) % (uint64_t)n);
}

/* The step of training, or the last one before an evaluation. */
static int64_t step_of(const struct trial *t)
{
    static const int64_t steps[] = {1, 2, 7, 60, 1000, 50000, 1000000};
    return steps[trial_draw(t, "step", 7)];
}

struct rig_plan trial_plan(const struct trial *t)
{
    const unsigned on = t->property->on;
    bool f32 = on & IN_F32 || (on & IN_EITHER && trial_draw(t, "real", 2));
    return (struct rig_plan){.dtype = f32 ? PEAT_F32 : PEAT_F64,
                             .trained_step = t->phase == PEAT_EVAL ? step_of(t) : 0,
                             .hooks = t->recorder ? &t->recorder->scheme : NULL,
                             .merge = t->recorder ? &t->recorder->combine : NULL,
                             .host = t->recorder ? &t->recorder->host : NULL,
                             .moved = on & MOVED,
                             .guarded = on & GUARDED ? ARENA_SHOWS_WRITES : 0};
}

struct rig *trial_open(const struct trial *t, const struct rig_plan *plan)
{
    struct rig *r = rig_open(t->subject, t->cell, plan, t->o);
    if (r->status == PEAT_OK)
        return r;
    check_say(t->o, rig_refused(r) ? CHECK_SKIPPED : CHECK_FAILED, "%s%s",
              rig_refused(r) ? "refused: " : "", r->err.text);
    rig_close(r);
    return NULL;
}

struct rig_input trial_input(const struct trial *t, struct rig *r)
{
    struct rig_input x = rig_input(r, t->phase);
    x.in.step = t->phase == PEAT_TRAIN ? step_of(t) : 0;
    return x;
}

void trial_run(struct trial *t)
{
    const struct rig_plan plan = trial_plan(t);
    struct rig_input x;
    if (t->subject->plugin->desc->kind == PEAT_TASK) {
        t->property->holds(t);
        return;
    }
    t->rig = trial_open(t, &plan);
    if (!t->rig)
        return;
    x = trial_input(t, t->rig);
    t->x = &x;
    t->property->holds(t);
    rig_close(t->rig);
}

void trial_fail(const struct trial *t, const char *fmt, ...)
{
    const char *claim = t->property->claim;
    va_list args;
    va_start(args, fmt);
    const char *text = arena_vprintf(t->subject->arena, fmt, args);
    va_end(args);
    check_fail(t->o, "%s%s%s%s", claim ? "it claims " : "", claim ? claim : "",
               claim ? ", but " : "", text);
}

void trial_same(const struct trial *t, const double *a, const double *b, int64_t n, int64_t first,
                int64_t T, const char *what)
{
    static const double limit = 1e-9;
    int64_t at = 0, V = t->rig->V;
    double worst = 0;
    for (int64_t i = 0; a && b && i < n * V; i++) {
        double d = fabs(a[i] - b[i]) / fmax(1, fmax(fabs(a[i]), fabs(b[i])));
        if (!(d <= worst)) {
            worst = isnan(d) ? (double)INFINITY : d;
            at = i;
        }
    }
    if (!(worst <= limit))
        trial_fail(t, "the logits at place %" PRId64 " differ by %.2g %s%s", (first + at / V) % T,
                   worst, t->phase == PEAT_TRAIN ? "in training " : "", what);
}

void trial_same_batch(const struct trial *t, const double *a, const double *b, const char *what)
{
    int64_t places = rig_has_places(t->rig) ? t->x->in.rows.T : 1;
    trial_same(t, a, b, t->x->in.B * places, 0, places, what);
}

double *trial_logits(const struct trial *t)
{
    return rig_logits(t->rig, &t->x->in);
}

void trial_stays(const struct trial *t, const double *before, const char *what)
{
    trial_same_batch(t, before, trial_logits(t), what);
}

const double *logits_at(const struct trial *t, const double *logits, int64_t row)
{
    return logits ? logits + row * t->rig->V : NULL;
}
