/* SPDX-License-Identifier: MIT */
/* check_cases.c: random configurations, and what must hold in each. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/rng.h"
#include "check/cases.h"
#include "checkrig.h"
#include "plugin/paramrow.h"

/* Norms make all rows of narrower models equal, or bend them so much that differences say nothing
 * of gradients. */
enum { NARROW = 3, STEEP = 8 };

/* One case that is being tried. */
struct trial {
    const struct subject *subject;
    const struct check_case *c;
    struct rig *rig;
    struct strbuf *why;
};

/* ---- what is put in ---- */

static uint64_t stream_of(const struct check_case *c, const char *what)
{
    return rng_stream((uint64_t)c->seed, "check case", what);
}

static int64_t below(uint64_t stream, uint64_t i, int64_t n)
{
    return (int64_t)(rng_bits(stream, i) % (uint64_t)n);
}

/* Of four ids one is a whole number among the parameters, and one a digit. */
static int32_t draw_token(const struct trial *t, const char *what, int64_t i)
{
    uint64_t stream = stream_of(t->c, what), at = (uint64_t)i * 4;
    const void *config = t->rig->named;
    int64_t kind = below(stream, at, 4), id = below(stream, at + 1, RIG_V), n = 0;
    const peat_param *row = t->subject->plugin->desc->param;
    if (kind == 1)
        return (int32_t)('0' + id % 10);
    for (; kind == 0 && config && row && row->key; row++) {
        int64_t named = -1;
        if (row->type == PEAT_INT)
            memcpy(&named, (const char *)config + row->offset, sizeof(named));
        if (named >= 0 && named < RIG_V && below(stream, at + 2, ++n) == 0)
            id = named;
    }
    return (int32_t)id;
}

static struct rig_input case_input(const struct trial *t, int64_t rows, int64_t length)
{
    struct rig_input x = rig_input(t->rig, rows, length);
    for (int64_t i = 0; i < rows * length; i++)
        x.token[i] = draw_token(t, "tokens", i);
    x.in.phase = t->c->training ? PEAT_TRAIN : PEAT_EVAL;
    x.in.step = t->c->training ? 1 + t->c->seed % 7 : 0;
    return x;
}

static struct rig_input whole_input(const struct trial *t)
{
    return case_input(t, t->c->rows, t->c->length);
}

/* ---- comparing ---- */

/* Other tokens wherever `mark` is set; elsewhere nothing may change. */
static enum verdict others_stay(const struct trial *t, struct rig_input *x, const bool *mark,
                                const char *what)
{
    int64_t n = x->in.B * x->in.T;
    const double *before = rig_logits(t->rig, &x->in);
    for (int64_t i = 0; i < n; i++)
        if (mark[i])
            x->token[i] = draw_token(t, "others", i);
    const double *after = before ? rig_logits(t->rig, &x->in) : NULL;
    enum verdict verdict = after ? CHECK_PASSED : rig_broken(t->rig, t->why);
    for (int64_t i = 0; i < n && verdict == CHECK_PASSED; i++)
        if (!mark[i])
            verdict = rig_same(t->rig, t->why, before + i * RIG_V, after + i * RIG_V, 1,
                               i % x->in.T, what);
    return verdict;
}

static bool *marks(const struct trial *t)
{
    return ARENA_ARRAY(&t->rig->arena, t->c->rows * t->c->length, bool);
}

/* ---- properties ---- */

static enum verdict finite_in(const struct trial *t)
{
    struct rig_input x = whole_input(t);
    const double *logit = rig_logits(t->rig, &x.in);
    if (!logit)
        return rig_broken(t->rig, t->why);
    for (int64_t i = 0; i < x.in.B * x.in.T * RIG_V; i++)
        if (!isfinite(logit[i]))
            return check_failed(t->why, "a logit at place %" PRId64 " is %s", i / RIG_V % x.in.T,
                                isnan(logit[i]) ? "not a number" : "infinite");
    return CHECK_PASSED;
}

static enum verdict causality_in(const struct trial *t)
{
    struct rig_input x = whole_input(t);
    bool *mark = marks(t);
    for (int64_t i = 0; i < x.in.B * x.in.T; i++)
        mark[i] = i % x.in.T >= t->c->place;
    return others_stay(t, &x, mark, "when tokens after it change");
}

/* Row 0 among others, and in evaluation alone: draws may differ from row to row. */
static enum verdict batch_in(const struct trial *t)
{
    struct rig_input x = whole_input(t), one = whole_input(t);
    bool *mark = marks(t);
    for (int64_t i = 0; i < x.in.B * x.in.T; i++)
        mark[i] = i >= x.in.T;
    one.in.B = 1;
    const double *all = rig_logits(t->rig, &x.in), *alone = rig_logits(t->rig, &one.in);
    enum verdict verdict = rig_same(t->rig, t->why, all, alone, x.in.T, 0,
                                    "between a row in a batch and the row alone");
    return verdict == CHECK_PASSED ? others_stay(t, &x, mark, "when other rows change") : verdict;
}

/* Of row b, places [*from, *to) are no padding. */
static void choose_padding(const struct trial *t, int64_t b, int64_t *from, int64_t *to)
{
    uint64_t stream = stream_of(t->c, "padding");
    int64_t T = t->c->length, n = 1 + below(stream, 2 * (uint64_t)b, T);
    *from = below(stream, 2 * (uint64_t)b + 1, T - n + 1);
    *to = *from + n;
}

static enum verdict padding_in(const struct trial *t)
{
    struct rig_input x = whole_input(t);
    int64_t T = x.in.T, from, to;
    bool *mark = marks(t);
    for (int64_t i = 0; i < x.in.B * T; i++) {
        choose_padding(t, i / T, &from, &to);
        x.pad[i] = mark[i] = i % T < from || i % T >= to;
    }
    x.in.pad = x.pad;
    const double *all = rig_logits(t->rig, &x.in);
    enum verdict verdict = all ? CHECK_PASSED : rig_broken(t->rig, t->why);
    choose_padding(t, 0, &from, &to);
    if (verdict == CHECK_PASSED && !t->c->training) {
        struct rig_input one = whole_input(t);
        one.in.B = 1;
        one.in.T = to - from;
        one.in.T_total = T;
        one.in.token = one.token + from;
        verdict = rig_same(t->rig, t->why, all + from * RIG_V, rig_logits(t->rig, &one.in),
                           to - from, from, "between a row with padding and the row alone");
    }
    return verdict == CHECK_PASSED
               ? others_stay(t, &x, mark, "when the tokens under padding change")
               : verdict;
}

static enum verdict packing_in(const struct trial *t)
{
    struct rig_input x = whole_input(t);
    bool *mark = marks(t);
    bool side = t->c->seed & 1;
    for (int64_t i = 0; i < x.in.B * x.in.T; i++) {
        x.document[i] = i % x.in.T >= t->c->place;
        mark[i] = (x.document[i] == 1) == side;
    }
    x.in.document = x.document;
    return others_stay(t, &x, mark, "when another document changes");
}

static enum verdict prefix_in(const struct trial *t)
{
    struct rig_input x = case_input(t, 1, t->c->length), part = case_input(t, 1, t->c->length);
    if (t->c->place == 0)
        return CHECK_PASSED;
    part.in.T = t->c->place;
    part.in.T_total = t->c->length;
    const double *whole = rig_logits(t->rig, &x.in);
    return rig_same(t->rig, t->why, whole, whole ? rig_logits(t->rig, &part.in) : NULL, part.in.T,
                    0, "between a sequence and the beginning of it");
}

static enum verdict storable_in(const struct trial *t)
{
    struct rig_input x = whole_input(t);
    return rig_same_newest(t->rig, t->why, &x.in, t->c->place < 1 ? 1 : t->c->place);
}

static enum verdict shift_in(const struct trial *t)
{
    struct rig_input x = whole_input(t);
    char what[64];
    const double *before = rig_logits(t->rig, &x.in);
    t->rig->shift = (double)t->c->shift;
    const double *after = before ? rig_logits(t->rig, &x.in) : NULL;
    snprintf(what, sizeof(what), "when all positions move by %" PRId64, t->c->shift);
    return rig_same(t->rig, t->why, before, after, x.in.B * x.in.T, 0, what);
}

static enum verdict norms_in(const struct trial *t)
{
    struct rig_input x = whole_input(t);
    return norms_hold(t->rig, &x.in, t->why);
}

/* The same model again, the other way of attention. */
static enum verdict paths_in(const struct trial *t)
{
    struct rig_input x = whole_input(t);
    const double *fused = rig_logits(t->rig, &x.in);
    t->rig->model.config.attention_path = PATH_COMPOSED;
    const double *composed = fused ? rig_logits(t->rig, &x.in) : NULL;
    return rig_same(t->rig, t->why, fused, composed, x.in.B * x.in.T, 0,
                    "between fused and composed attention");
}

static enum verdict purity_in(const struct trial *t)
{
    struct rig_input x = whole_input(t);
    int64_t n = x.in.B * x.in.T * RIG_V;
    const double *one = rig_logits(t->rig, &x.in);
    t->rig->team.threads = 3;
    const double *many = one ? rig_logits(t->rig, &x.in) : NULL;
    if (!many)
        return rig_broken(t->rig, t->why);
    return memcmp(one, many, (size_t)n * sizeof(*one)) == 0
               ? CHECK_PASSED
               : check_failed(t->why, "two equal calls, with 1 and 3 threads, give other bits");
}

static enum verdict gradients_in(const struct trial *t)
{
    enum { LENGTH = 12, ROWS = 2 };
    struct rig_input x = case_input(t, t->c->rows > ROWS ? ROWS : t->c->rows,
                                    t->c->length > LENGTH ? LENGTH : t->c->length);
    return gradients_hold(t->rig, &x.in, t->why);
}

/* ---- which of them are for a plugin ---- */

static uint32_t traits_of(const struct subject *s)
{
    const peat_scheme *scheme = subject_scheme(s);
    const peat_combine *combine = subject_combine(s);
    return scheme ? scheme->traits : combine ? combine->traits : 0;
}

static bool always(const struct subject *s)
{
    return s->plugin->desc->kind != PEAT_TASK;
}

/* A hook that draws positions for a whole row cannot know which of them will be looked at. */
static bool keeps_positions(const struct subject *s)
{
    const peat_scheme *scheme = subject_scheme(s);
    return always(s) && !(scheme && scheme->positions);
}

static bool is_storable(const struct subject *s)
{
    return traits_of(s) & PEAT_STORABLE;
}

static bool is_shift_invariant(const struct subject *s)
{
    return subject_scheme(s) && traits_of(s) & PEAT_SHIFT_INVARIANT;
}

static bool keeps_norms(const struct subject *s)
{
    return subject_scheme(s) && subject_scheme(s)->qkv && traits_of(s) & PEAT_NORM_PRESERVING;
}

static bool has_two_paths(const struct subject *s)
{
    return subject_scheme(s) && !scheme_needs_composed(subject_scheme(s));
}

static bool is_task(const struct subject *s)
{
    return s->plugin->desc->kind == PEAT_TASK;
}

/* decoder, eval: it is for these alone. */
static const struct property {
    bool (*is_for)(const struct subject *s);
    enum verdict (*holds)(const struct trial *t);
    bool decoder, eval;
} properties[CASE_PROPERTIES] = {
    [CASE_FINITE] = {always, finite_in, false, false},
    [CASE_CAUSALITY] = {always, causality_in, true, false},
    [CASE_BATCH] = {always, batch_in, false, false},
    [CASE_PADDING] = {keeps_positions, padding_in, false, false},
    [CASE_PACKING] = {keeps_positions, packing_in, false, false},
    [CASE_PREFIX] = {always, prefix_in, true, true},
    [CASE_STORABLE] = {is_storable, storable_in, true, true},
    [CASE_SHIFT] = {is_shift_invariant, shift_in, false, false},
    [CASE_NORMS] = {keeps_norms, norms_in, false, false},
    [CASE_PATHS] = {has_two_paths, paths_in, false, false},
    [CASE_PURITY] = {always, purity_in, false, false},
    [CASE_GRADIENTS] = {always, gradients_in, false, false},
    [CASE_BATCHES] = {is_task, NULL, false, false},
};

/* ---- one case ---- */

static enum verdict task_holds(const struct subject *s, struct strbuf *why)
{
    struct error err = {0};
    peat_status status = check_task_runs(s, &err);
    if (status == PEAT_REFUSED || status == PEAT_INVALID)
        return check_skipped(why, "refused: %s", err.text);
    enum verdict verdict = check_batches(s, why);
    return verdict == CHECK_PASSED ? check_metrics(s, why) : verdict;
}

/* With a copy of the scheme that lacks one hook; `hooks` NULL: with the plugin as it is. */
static enum verdict run_model(const struct subject *s, const struct check_case *c,
                              const peat_scheme *hooks, struct strbuf *why)
{
    struct variant variant = {""};
    struct error err = {0};
    int64_t D = c->heads * c->width, least = c->property == CASE_GRADIENTS ? STEEP : NARROW;
    if (D < least)
        return check_skipped(why, "a model of width %" PRId64 " tells nothing", D);
    if (subject_config(s, NULL, &variant.config, &err) != PEAT_OK)
        return check_skipped(why, "%s", err.text);
    const struct rig_plan plan = {.arch = c->encoder ? PEAT_ENCODER : PEAT_DECODER,
                                  .dtype = PEAT_F64,
                                  .D = D,
                                  .heads = c->heads,
                                  .hooks = hooks,
                                  .moved = c->property == CASE_SHIFT};
    struct rig *r = ARENA_NEW(s->arena, struct rig);
    const struct trial t = {s, c, r, why};
    peat_status status = rig_open(r, s, &variant, &plan);
    r->named = variant.config;
    enum verdict verdict = status == PEAT_REFUSED || status == PEAT_INVALID
                               ? check_skipped(why, "refused: %s", r->err.text)
                           : status != PEAT_OK ? rig_broken(r, why)
                                               : properties[c->property].holds(&t);
    rig_close(r);
    if (verdict == CHECK_FAILED && r->given_up) {
        strbuf_clear(why);
        verdict = check_skipped(why, "refused: %s", r->err.text);
    }
    return verdict;
}

/* Hooks without which the case passes; those that others rely on stay. */
static void name_hooks(const struct subject *s, const struct check_case *c, struct strbuf *why)
{
    const peat_scheme *scheme = subject_scheme(s);
    const char *between = "; its hook: ";
    if (!scheme)
        strbuf_addf(why, "%s%s.merge", between, s->plugin->desc->id);
    for (const struct hook *h = hook_table(); scheme && h->name; h++) {
        bool acts = h->kind == PEAT_SCHEME && h->place & ACTS_ON_MODEL && hook_is_in(h, scheme);
        if (!acts || h->offset + sizeof(void *) > sizeof(*scheme))
            continue;
        peat_scheme without = *scheme;
        struct strbuf unused;
        memset((char *)&without + h->offset, 0, sizeof(void (*)(void)));
        strbuf_init(&unused);
        if (run_model(s, c, &without, &unused) == CHECK_PASSED) {
            strbuf_addf(why, "%s%s.%s", between, s->plugin->desc->id, h->name);
            between = ", ";
        }
        strbuf_release(&unused);
    }
}

static enum verdict run_case(const struct subject *s, const struct check_case *c,
                             struct strbuf *why)
{
    if (!properties[c->property].is_for(s))
        return check_skipped(why, "this is not for it");
    return c->property == CASE_BATCHES ? task_holds(s, why) : run_model(s, c, NULL, why);
}

/* ---- draws ---- */

/* Numbered, so that each has a stream of its own. */
struct draws {
    uint64_t stream, at;
};

static int64_t draw(struct draws *d, int64_t n)
{
    return below(d->stream, d->at++, n);
}

static int64_t draw_from(struct draws *d, int n, const int64_t *choice)
{
    return choice[draw(d, n)];
}

/* About the default, by a factor of 4 at most, or up to a few where it is 0. */
static struct value *draw_number(struct draws *d, const struct subject *s, const peat_param *row)
{
    bool whole = row->type == PEAT_INT;
    double preset = row->flags & (PEAT_AUTO | PEAT_REQUIRED) ? 0 : row->preset;
    double x = pow(4, (double)draw(d, 2001) / 1000.0 - 1) * preset;
    if (preset == 0)
        x = whole ? (double)draw(d, 12) : (double)draw(d, 2001) / 1000.0 - 1;
    if (whole && draw(d, 4) == 0)
        x = (double)draw(d, RIG_V);
    if (row_has_bounds(row))
        x = fmin(fmax(x, row->min), row->max);
    const char *text = arena_printf(s->arena, whole ? "%.0f" : "%.3g", x);
    struct value *v = value_scalar(s->arena, NOWHERE, text);
    return row_in_bounds(row, v->real) ? v : NULL;
}

static struct value *draw_value(struct draws *d, const struct subject *s, const peat_param *row)
{
    const struct param_type *type = row_type(row);
    if (row->type == PEAT_BOOL)
        return value_scalar(s->arena, NOWHERE, draw(d, 2) ? "true" : "false");
    if (row->type == PEAT_ENUM)
        return value_text(s->arena, NOWHERE, row->labels[draw(d, names_count(row->labels))]);
    return type->number && !type->item ? draw_number(d, s, row) : NULL;
}

/* Half of the parameters that the user leaves open. */
static struct value *draw_settings(struct draws *d, const struct subject *s)
{
    struct value *map = value_map(s->arena, NOWHERE);
    const peat_param *row = s->plugin->desc->param;
    for (; row && row->key && map->n < CASE_SETTINGS; row++) {
        struct value *v = draw(d, 2) ? draw_value(d, s, row) : NULL;
        if (v && !value_get(s->given, row->key))
            value_set(s->arena, map, row->key, NOWHERE, v);
    }
    return map;
}

static int draw_property(struct draws *d, const struct subject *s)
{
    int fit[CASE_PROPERTIES], n = 0;
    for (int i = 0; i < CASE_PROPERTIES; i++)
        if (properties[i].is_for(s))
            fit[n++] = i;
    return fit[draw(d, n)];
}

/* Lengths are mostly short: what is wrong at all is wrong there, and a case is then quick. Shifts
 * stay where what grows with the position, as in xpos, is finite. */
static void draw_case(const struct subject *s, uint64_t seed, int64_t index, struct check_case *c,
                      struct value **settings)
{
    static const int64_t widths[] = {2, 3, 4, 4, 4, 6, 8, 8, 12}, heads[] = {1, 2, 2, 3, 4};
    static const int64_t lengths[] = {1, 2, 3, 5, 6, 8, 11, 16, 23, 32, 40, 48};
    static const int64_t shifts[] = {1, 2, 3, 5, 7, 8, 13, 31, 64, 100, 1023, 4097, 12345};
    struct draws d = {rng_substream(rng_stream(seed, "check", "cases"), (uint64_t)index), 0};
    c->property = draw_property(&d, s);
    const struct property *p = &properties[c->property];
    c->encoder = draw(&d, 2) && !p->decoder;
    c->training = draw(&d, 2) && !p->eval;
    c->width = draw_from(&d, 9, widths);
    c->heads = draw_from(&d, 5, heads);
    while (c->property == CASE_GRADIENTS && c->width * c->heads < STEEP)
        c->width *= 2;
    c->rows = 1 + draw(&d, 4);
    c->length = draw_from(&d, 12, lengths);
    c->place = draw(&d, c->length);
    c->shift = c->property == CASE_SHIFT ? draw_from(&d, 13, shifts) + draw(&d, 3) : 0;
    c->seed = draw(&d, 1 << 20);
    *settings = draw_settings(&d, s);
}

/* ---- what a parent asks for ---- */

static void keep_case(struct cases_end *end, const struct subject *s, const struct check_case *c,
                      const struct value *settings)
{
    end->text = case_text(c, s->arena);
    end->n_setting = settings->n;
    for (int i = 0; i < settings->n; i++)
        end->setting[i] =
            arena_printf(s->arena, "%s=%s", settings->key[i], settings->item[i]->text);
}

static enum verdict run_drawn(const struct subject *s, uint64_t seed, int64_t index,
                              struct cases_end *end, struct strbuf *why)
{
    struct check_case c;
    struct value *settings;
    draw_case(s, seed, index, &c, &settings);
    struct subject one = *s;
    one.given = value_merge(s->arena, (struct value *)(uintptr_t)s->given, settings);
    enum verdict verdict = run_case(&one, &c, why);
    if (verdict == CHECK_FAILED)
        keep_case(end, s, &c, settings);
    return verdict;
}

/* Each case takes its memory from an arena of its own. */
static enum verdict sweep(const struct subject *s, uint64_t seed, int64_t first, double seconds,
                          struct cases_end *end, struct strbuf *why)
{
    double until = clock_seconds() + seconds;
    for (int64_t i = first;; i++) {
        struct arena_mark mark = arena_mark(s->arena);
        char name[32];
        snprintf(name, sizeof(name), "%" PRId64, i);
        trail_cell(s->trail, name);
        end->index = i;
        enum verdict verdict = run_drawn(s, seed, i, end, why);
        end->tried++;
        if (verdict == CHECK_FAILED)
            return verdict;
        end->refused += verdict == CHECK_SKIPPED;
        strbuf_clear(why);
        arena_rewind(s->arena, mark);
        if (clock_seconds() >= until) {
            end->index = i + 1;
            return CHECK_PASSED;
        }
    }
}

static enum verdict run_text(const struct subject *s, struct strbuf *why)
{
    struct check_case c;
    struct error err = {0};
    if (case_parse(&c, s->cases, &err) != PEAT_OK)
        return check_skipped(why, "%s", err.text);
    enum verdict verdict = run_case(s, &c, why);
    if (verdict == CHECK_FAILED && c.property != CASE_BATCHES)
        name_hooks(s, &c, why);
    return verdict;
}

static enum verdict run_cases(const struct subject *s, struct strbuf *why)
{
    uint64_t seed;
    int64_t index;
    double seconds;
    if (sscanf(s->cases, "from %" SCNu64 " %" SCNd64 " %lf", &seed, &index, &seconds) == 3)
        return sweep(s, seed, index, seconds, s->end, why);
    if (sscanf(s->cases, "at %" SCNu64 " %" SCNd64, &seed, &index) == 2) {
        struct check_case c;
        struct value *settings;
        draw_case(s, seed, index, &c, &settings);
        keep_case(s->end, s, &c, settings);
        return CHECK_PASSED;
    }
    return run_text(s, why);
}

const struct check check_cases = {
    "cases", "every property holds in random configurations", true, true, true, run_cases};
