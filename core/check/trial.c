/* SPDX-License-Identifier: MIT */
/* trial.c: the model and the input of a case, and messages about it. */

#include "property.h"
#include "recorder.h"

/* The number of places of a source, which differs from the decoder's. */
enum { SOURCE_T = 4 };

/* T_max, beyond positions with a stride, so that tables have their rows; 0: the default. */
static int64_t longest(const struct check_case *c)
{
    int64_t usual = c->property->longest ? c->property->longest : RIG_T_MAX;
    int64_t needed = c->length * (c->stride > 1 ? c->stride : 1);
    return needed > usual ? needed : c->property->longest;
}

/* 3/4 and its multiples are exact in binary. */
static double fraction(const struct trial *t)
{
    return trial_has(t, CASE_FRACTIONAL) ? 0.75 : 1;
}

double trial_shift(const struct trial *t)
{
    return fraction(t) * (double)t->c->shift;
}

struct rig_plan trial_plan(const struct trial *t)
{
    const struct check_case *c = t->c;
    return (struct rig_plan){.arch = c->arch,
                             .dtype = trial_has(t, CASE_F32) ? PEAT_F32 : PEAT_F64,
                             .T_max = longest(c),
                             .n_stream = (int)c->streams,
                             .D = c->heads * c->width,
                             .heads = c->heads,
                             .seed = c->seed,
                             .layers = c->layers,
                             .trained_step = c->step,
                             .stride = fraction(t) * (double)(c->stride > 0 ? c->stride : 1),
                             .flags = c->flags | c->property->has,
                             .hooks = t->recorder ? &t->recorder->scheme : t->hooks,
                             .merge = t->recorder ? &t->recorder->combine : NULL,
                             .host = t->recorder ? &t->recorder->host : NULL,
                             .moved = trial_has(t, CASE_MOVED),
                             .guarded = trial_has(t, CASE_GUARDED) ? ARENA_SHOWS_WRITES : 0};
}

bool trial_accepts(const struct trial *t, struct rig *r)
{
    if (r->status == PEAT_OK)
        return true;
    if (rig_refused(r))
        check_skip(t->o, "refused: %s", r->err.text);
    else
        check_fail(t->o, "%s", r->err.text);
    rig_close(r);
    return false;
}

void trial_run(struct trial *t)
{
    const struct rig_plan plan = trial_plan(t);
    if (t->subject->plugin->desc->kind == PEAT_TASK) {
        t->c->property->holds(t);
        return;
    }
    t->rig = rig_open(t->subject, t->variant, &plan, t->o);
    if (trial_accepts(t, t->rig)) {
        t->c->property->holds(t);
        rig_close(t->rig);
    }
}

bool trial_refused(const struct trial *t)
{
    return t->rig && (t->rig->given_up || (trial_has(t, CASE_FRACTIONAL) && *t->rig->err.text));
}

void trial_skip_refused(const struct trial *t)
{
    if (t->o->verdict != CHECK_FAILED || !trial_refused(t))
        return;
    *t->o = (struct check_outcome){CHECK_PASSED};
    check_skip(t->o, "refused: %s", t->rig->err.text);
}

bool trial_has(const struct trial *t, enum case_flag flag)
{
    return (t->c->flags | t->c->property->has) & flag;
}

/* Fills padding and documents; the case's flags say which of them the input has. */
static void hide(const struct trial *t, struct rig_input *x)
{
    int64_t from, to;
    const char *side;
    for (int64_t i = 0; i < x->in.B * x->in.T; i++) {
        case_padding(t->c, i / x->in.T, &from, &to, &side);
        x->pad[i] = i % x->in.T < from || i % x->in.T >= to;
        x->document[i] = i % x->in.T >= t->c->place;
    }
    x->in.pad = trial_has(t, CASE_PADDED) ? x->pad : NULL;
    x->in.document = trial_has(t, CASE_PACKED) ? x->document : NULL;
}

/* Adds a source of S places to each row; places from SOURCE_T on are padding. */
static void add_sources(const struct trial *t, struct model_input *in, int64_t S)
{
    struct arena *a = &t->rig->arena;
    int32_t *source = ARENA_ARRAY(a, in->B * S, int32_t);
    uint8_t *pad = ARENA_ARRAY(a, in->B * S, uint8_t),
            *special = arena_zalloc(a, (size_t)(in->B * S));
    for (int64_t i = 0; i < in->B * S; i++) {
        source[i] = rig_token(t->rig, "source", 1000 * (i / S) + i % S);
        pad[i] = i % S >= SOURCE_T;
    }
    in->S = S;
    in->source = source;
    in->source_pad = pad;
    in->source_special = special;
}

struct rig_input trial_longer_sources(const struct trial *t, int64_t n)
{
    const struct check_case *c = t->c;
    struct rig_input x = rig_input(t->rig, c->rows, c->length);
    if (trial_has(t, CASE_TRAINING)) {
        x.in.phase = PEAT_TRAIN;
        x.in.step = c->step > 0 ? c->step : 1 + c->seed % 7;
    }
    hide(t, &x);
    if (c->arch == PEAT_SEQ2SEQ)
        add_sources(t, &x.in, SOURCE_T + n);
    return x;
}

struct rig_input trial_input(const struct trial *t)
{
    return trial_longer_sources(t, 0);
}

void trial_fail(const struct trial *t, const char *fmt, ...)
{
    const char *claim = t->c->property->claim;
    struct strbuf text = STRBUF_NEW;
    va_list args;
    va_start(args, fmt);
    strbuf_addv(&text, fmt, args);
    va_end(args);
    check_fail(t->o, "%s%s%s%s", claim ? "it claims " : "", claim ? claim : "",
               claim ? ", but " : "", text.text);
    strbuf_release(&text);
}

void trial_same(const struct trial *t, const double *a, const double *b, int64_t n, int64_t first,
                const char *what)
{
    static const double limit = 1e-9;
    int64_t at = 0;
    double worst = 0;
    for (int64_t i = 0; a && b && i < n * RIG_V; i++) {
        double d = fabs(a[i] - b[i]) / fmax(1, fmax(fabs(a[i]), fabs(b[i])));
        if (!(d <= worst)) {
            worst = isnan(d) ? (double)INFINITY : d;
            at = i;
        }
    }
    if (!(worst <= limit))
        trial_fail(t, "the logits at place %" PRId64 " differ by %.2g %s%s",
                   (first + at / RIG_V) % t->c->length, worst,
                   trial_has(t, CASE_TRAINING) ? "in training " : "", what);
}

const double *logits_at(const double *logits, int64_t place)
{
    return logits ? logits + place * RIG_V : NULL;
}
