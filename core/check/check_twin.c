/* SPDX-License-Identifier: MIT */
/* check_twin.c: compares models that should agree: in F32 and in F64, made for sequences of other
 * lengths, with terms of attention computed once or in every layer, and with two uses in either
 * order. */

#include "plugin/params.h"
#include "process/apart.h"
#include "property.h"
#include "recorder.h"

/* A second model of the case; NULL: it could not be opened. */
static struct rig *twin_open(const struct trial *t, const struct rig_plan *plan)
{
    struct rig *twin = rig_open(t->subject, t->cell, plan, t->o);
    return trial_accepts(t, twin) ? twin : NULL;
}

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

static void compare_values(const struct trial *t, const struct model_input *in, const double *f64,
                           const double *f32, struct check_outcome *o)
{
    int64_t V = t->rig->V, places = rig_has_places(t->rig) ? in->rows.T : 1;
    for (int64_t i = 0; f64 && f32 && i < in->B * places * V; i++)
        if (!(fabs(f64[i] - f32[i]) <= value_limit * fmax(1, fabs(f64[i]))))
            check_fail(o, "a logit at place %d is %.6g in F32 and %.6g in F64",
                       (int)(i / V % places), f32[i], f64[i]);
}

/* "; first in rotary.qkv, layer 0: -1.2 in F32 and -1.3 in F64", or "" where results of hooks
 * agree: the inputs of that call still do. */
static const char *first_apart(const struct trial *t)
{
    struct recorder recorder[2];
    struct trial trial[] = {*t, *t};
    struct arena *a = t->subject->arena;
    for (int i = 0; i < 2; i++) {
        struct graph g;
        recorder_init(&recorder[i], t->subject, 0, a);
        trial[i].recorder = &recorder[i];
        struct rig_plan plan = trial_plan(&trial[i]);
        plan.dtype = i ? PEAT_F32 : PEAT_F64;
        trial[i].rig = rig_open(t->subject, t->cell, &plan, t->o);
        if (trial[i].rig->status != PEAT_OK)
            return "";
        if (i)
            round_weights(trial[0].rig, trial[1].rig);
        struct rig_input x = trial_input(&trial[i]);
        rig_loss(trial[i].rig, &g, &x.in);
    }
    for (int i = 0; i < recorder[0].n_made && i < recorder[1].n_made; i++)
        for (int k = 0; k < recorder[0].made[i].n_out; k++) {
            const struct tensor *x = &recorder[0].made[i].out[k]->value,
                                *y = &recorder[1].made[i].out[k]->value;
            const struct value *call = recorder[0].made[i].map.v;
            for (int64_t n = 0; n < tensor_count(x); n++)
                if (!(fabs(tensor_get(x, n) - tensor_get(y, n)) <=
                      value_limit * fmax(1, fabs(tensor_get(x, n)))))
                    return arena_printf(a,
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
    struct rig *twin = twin_open(t, &plan);
    if (!twin)
        return;
    struct check_outcome one = {CHECK_FAILED};
    round_weights(t->rig, twin);
    for (int i = 0; i < INPUTS && one.verdict && t->o->verdict == CHECK_PASSED; i++) {
        one = (struct check_outcome){CHECK_PASSED};
        struct rig_input x = trial_input(t);
        compare_values(t, &x.in, rig_logits(t->rig, &x.in), rig_logits(twin, &x.in), &one);
        rig_step(t->rig, &x.in, true);
        rig_step(twin, &x.in, true);
        compare_gradients(t->rig, twin, &one);
        t->rig->seed += 1000;
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

/* Nothing is compared where shapes differ, as of a table with a row for each place, or parameters
 * that were chosen by the length. */
static void agrees_with_twin(const struct trial *t, const struct check_cell *cell,
                             const struct rig_plan *plan, const char *what)
{
    struct trial there = *t;
    there.cell = cell;
    struct rig_input x = trial_input(t);
    struct rig *twin = twin_open(&there, plan);
    if (!twin)
        return;
    if (same_shapes(t->rig, twin))
        trial_same_batch(t, &x.in, rig_logits(t->rig, &x.in), rig_logits(twin, &x.in), what);
    rig_close(twin);
}

/* Whether a plugin of the cell says that it depends on lengths. */
static bool needs_length(const struct cell_config *c)
{
    const struct plugin_use *use;
    bool needs = false;
    for (int i = 1; (use = cell_plugin(c, i)); i++) {
        const peat_scheme *scheme = use->plugin->desc->interface;
        const peat_combine *combine = use->plugin->desc->interface;
        bool is_scheme = use->plugin->desc->kind == PEAT_SCHEME;
        needs = needs || (is_scheme ? scheme->needs : combine->needs) & PEAT_NEED_LENGTH;
    }
    return needs;
}

void lengths_agree(const struct trial *t)
{
    struct rig_plan plan = trial_plan(t), other = plan;
    struct check_cell longer = *t->cell;
    const double length = 16 + 2 * (double)t->rig->s.model.dims.T_max;
    other.undeclared_T = 1 << 20;
    agrees_with_twin(t, t->cell, &other, "with T_total, which it reads without PEAT_NEED_LENGTH");
    if (needs_length(&t->cell->config))
        return;
    longer.config.eval.lengths = (peat_reals){1, &length};
    agrees_with_twin(t, &longer, &plan, "when the model is made for longer sequences (T_max)");
}

/* Terms that depend on neither content nor layer are made once, at layer -1. Made in each layer,
 * they must be the same. */
void layers_agree(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    struct rig_plan plan = trial_plan(t);
    plan.per_layer = true;
    struct rig *twin = twin_open(t, &plan);
    if (!twin)
        return;
    trial_same_batch(t, &x.in, rig_logits(t->rig, &x.in), rig_logits(twin, &x.in),
                     "between a bias made at layer -1, for all layers, and one made in each layer");
    rig_close(twin);
}

/* ---- two uses ---- */

static void copy_weights(const struct rig *from, const struct rig *to, const char *prefix,
                         const char *other)
{
    size_t n = strlen(prefix);
    for (int i = 0; i < from->s.model.weights.n; i++) {
        const struct weight *x = from->s.model.weights.item[i];
        const char *name = arena_printf(from->subject->arena, "%s%s", other, x->name + n);
        struct weight *y =
            strncmp(x->name, prefix, n) ? NULL : weights_find(&to->s.model.weights, name);
        if (y)
            tensor_copy(&y->value, &x->value);
    }
}

struct uses {
    struct trial trial;
    struct rig_plan plan;
};

/* The logits of two uses in the other order, with the weights of the usual one. Nothing where the
 * plugin refuses them. */
static peat_status run_turned(void *ctx, struct trail *trail, struct strbuf *out, struct error *err)
{
    struct uses *u = ctx;
    const struct trial *t = &u->trial;
    const char *id = t->subject->plugin->desc->id;
    const char *first = arena_printf(t->subject->arena, "position.0.%s", id);
    const char *second = arena_printf(t->subject->arena, "position.1.%s", id);
    (void)trail;
    u->plan.turned = true;
    struct rig *turned = twin_open(t, &u->plan);
    u->plan.turned = false;
    struct rig *one = turned ? twin_open(t, &u->plan) : NULL;
    if (!one)
        return PEAT_OK;
    copy_weights(one, turned, first, second);
    copy_weights(one, turned, second, first);
    struct rig_input x = trial_input_of(t, one);
    const double *logits = rig_logits(turned, &x.in);
    if (logits)
        strbuf_add_bytes(out, (const char *)logits, rig_logits_bytes(turned, &x.in));
    return t->o->verdict != CHECK_FAILED ? PEAT_OK : error_set(err, PEAT_FAILED, "%s", t->o->why);
}

/* Two uses of a scheme in one model, with other parameters on other heads, share nothing: neither
 * the order of their set-up, in a process of its own, nor a use before them changes the logits. */
void uses_apart(const struct trial *t)
{
    struct uses u = {*t, trial_plan(t)};
    struct strbuf out = STRBUF_NEW;
    struct error err = {0};
    const void *config = NULL;
    const peat_param *row = t->subject->plugin->desc->param;
    struct arena *a = t->subject->arena;
    const struct value *own = params_value(row, t->rig->config.scheme[0].config, a);
    for (int i = 0; i < 8; i++)
        if (checked_config(t->subject, settings_drawn(t->subject, i), &config, NULL) &&
            !value_equal(own, params_value(row, config, a)))
            u.plan.second = config;
    u.plan.second = u.plan.second ? u.plan.second : t->rig->config.scheme[0].config;
    if (apart_run(run_turned, &u, 0, APART_SILENT, &out, NULL, &err) != PEAT_OK)
        check_fail(t->o, "%s", err.text);
    struct rig_input alone = trial_input(t);
    rig_logits(t->rig, &alone.in);
    struct rig *one = out.n ? twin_open(t, &u.plan) : NULL;
    if (one) {
        struct rig_input x = trial_input_of(t, one);
        trial_same_batch(t, &x.in, rig_logits(one, &x.in), (const double *)(const void *)out.text,
                         "when two uses of it in one model change places: they share state");
        rig_close(one);
    }
    strbuf_release(&out);
}
