/* SPDX-License-Identifier: MIT */
/* drawn.c: tries the properties of the table in configurations that are drawn. */

#include "plugin/paramrow.h"
#include "property.h"

enum { NARROW = 3, LONGEST = 48, ROWS = 4, STREAMS = 4 };

static int64_t narrowest(const struct property *p)
{
    return p->narrowest ? p->narrowest : NARROW;
}

/* hooks: replace the scheme's; NULL: its own hooks. */
static void run_model(const struct checked *s, const struct check_case *c, const peat_scheme *hooks,
                      struct check_outcome *o)
{
    struct variant variant;
    if (c->heads * c->width < narrowest(c->property))
        check_skip(o, "a model of width %" PRId64 " is too narrow", c->heads * c->width);
    if (o->verdict != CHECK_PASSED || !checked_variant(s, &variant, o))
        return;
    struct trial t = {.subject = s, .variant = &variant, .c = c, .hooks = hooks, .o = o};
    trial_run(&t);
    trial_skip_refused(&t);
}

/* Names the hooks without which the case passes. Hooks on which others depend are not tried. */
static void name_hooks(const struct checked *s, const struct check_case *c,
                       struct check_outcome *why)
{
    const peat_scheme *scheme = checked_scheme(s);
    const char *between = "; its hook: ";
    if (!scheme)
        check_add(why, "%s%s.merge", between, s->plugin->desc->id);
    for (const struct hook *h = hook_table(); scheme && h->name; h++) {
        bool acts = h->kind == PEAT_SCHEME && h->place & ACTS_ON_MODEL && hook_is_in(h, scheme);
        if (!acts || h->offset + sizeof(void *) > sizeof(*scheme))
            continue;
        peat_scheme without = *scheme;
        struct check_outcome o = {CHECK_PASSED};
        memset((char *)&without + h->offset, 0, sizeof(void (*)(void)));
        run_model(s, c, &without, &o);
        if (o.verdict == CHECK_PASSED) {
            check_add(why, "%s%s.%s", between, s->plugin->desc->id, h->name);
            between = ", ";
        }
    }
}

static bool is_drawn(const struct property *p, const struct checked *s)
{
    return p->holds && !p->once && !property_unfit(p, s);
}

static void run_case(const struct checked *s, const struct check_case *c, struct check_outcome *o)
{
    const char *unfit = property_unfit(c->property, s);
    if (unfit)
        check_skip(o, "%s", unfit);
    else if (!is_drawn(c->property, s))
        check_skip(o, "'%s' has no drawn cases", property_name(c->property));
    else if (!(c->property->archs >> c->arch & 1))
        check_skip(o, "'%s' has no case in model '%s'", property_name(c->property),
                   arch_name(c->arch));
    else
        run_model(s, c, NULL, o);
}

/* ---- draws ---- */

struct draws {
    uint64_t stream, at;
};

static int64_t draw(struct draws *d, int64_t n)
{
    return (int64_t)(rng_bits(d->stream, d->at++) % (uint64_t)n);
}

static int64_t draw_from(struct draws *d, int n, const int64_t *choice)
{
    return choice[draw(d, n)];
}

/* A number within a factor of 4 of the default, or small if that is 0; sometimes a token id. */
static struct value *draw_number(struct draws *d, const struct checked *s, const peat_param *row)
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

static struct value *draw_value(struct draws *d, const struct checked *s, const peat_param *row)
{
    const struct param_type *type = row_type(row);
    if (row->type == PEAT_BOOL)
        return value_scalar(s->arena, NOWHERE, draw(d, 2) ? "true" : "false");
    if (row->type == PEAT_ENUM)
        return value_text(s->arena, NOWHERE, row->labels[draw(d, names_count(row->labels))]);
    return type->number && !type->item ? draw_number(d, s, row) : NULL;
}

/* Settings for about half of the parameters that the user leaves open. */
static struct value *draw_settings(struct draws *d, const struct checked *s)
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

struct value *drawn_settings(const struct checked *s, int64_t index)
{
    struct draws d = {rng_substream(rng_stream(0, "check", "settings"), (uint64_t)index), 0};
    return draw_settings(&d, s);
}

static const struct property *draw_property(struct draws *d, const struct checked *s)
{
    const struct property *fit[128];
    int n = 0;
    for (const struct property *p = properties; p->check; p++)
        if (is_drawn(p, s))
            fit[n++] = p;
    return fit[draw(d, n)];
}

static peat_arch draw_arch(struct draws *d, const struct property *p)
{
    peat_arch arch[PEAT_SEQ2SEQ + 1] = {PEAT_DECODER};
    int n = 0;
    for (int i = PEAT_DECODER; i <= PEAT_SEQ2SEQ; i++)
        if (p->archs >> i & 1)
            arch[n++] = (peat_arch)i;
    return arch[n > 1 ? draw(d, n) : 0];
}

/* Draws a width that suffices for the property, and as many streams as a combine merges. */
static void draw_width(struct draws *d, const struct checked *s, struct check_case *c)
{
    static const int64_t widths[] = {2, 3, 4, 4, 4, 6, 8, 8, 12}, heads[] = {1, 2, 2, 3, 4};
    const peat_combine *combine = checked_combine(s);
    c->width = draw_from(d, 9, widths);
    c->heads = draw_from(d, 5, heads);
    while (c->width * c->heads < narrowest(c->property))
        c->width *= 2;
    if (combine)
        c->streams = combine->min_streams + draw(d, STREAMS);
    if (combine && combine->max_streams && c->streams > combine->max_streams)
        c->streams = combine->max_streams;
}

/* Draws depth, step and where a scheme acts. One of eight cases is long or far, which is slow. */
static void draw_more(struct draws *d, const struct checked *s, struct check_case *c)
{
    static const int64_t layers[] = {0, 0, 0, 1, 3, 4}, strides[] = {2, 17, 100, 819};
    static const unsigned flags[] = {0, 0, CASE_HEADS, CASE_DIMS, CASE_WIDER};
    const peat_scheme *scheme = checked_scheme(s);
    c->layers = draw_from(d, 6, layers);
    double late = (double)draw(d, 12001) / 1000;
    c->step = late < 6 ? 0 : (int64_t)pow(10, late - 6);
    c->flags |= draw(d, 3) ? 0 : CASE_LLAMA;
    c->flags |= scheme && scheme_acts_on(scheme, ACTS_ON_HEADS) ? flags[draw(d, 5)] : 0;
    int64_t kind = draw(d, 16);
    if (kind == 0 && !c->property->longest)
        c->length = RIG_T_MAX + draw(d, 100);
    if (kind == 1 && !(c->property->has & CASE_MOVED))
        c->stride = draw_from(d, 4, strides);
}

/* Most lengths are short, which is quick, and shifts are small enough for xpos to stay finite. */
static void draw_case(const struct checked *s, uint64_t seed, int64_t index, struct check_case *c,
                      struct value **settings)
{
    static const int64_t lengths[] = {1, 2, 3, 5, 6, 8, 11, 16, 23, 32, 40, LONGEST};
    static const int64_t shifts[] = {1, 2, 3, 5, 7, 8, 13, 31, 64, 100, 1023, 4097, 12345};
    struct draws d = {rng_substream(rng_stream(seed, "check", "cases"), (uint64_t)index), 0};
    const struct property *p = draw_property(&d, s);
    *c = (struct check_case){.property = p, .arch = draw_arch(&d, p)};
    for (unsigned flag = 1; flag <= p->may; flag *= 2)
        c->flags |= p->may & flag && draw(&d, 2) ? flag : 0;
    draw_width(&d, s, c);
    c->rows = 1 + draw(&d, p->most_rows ? p->most_rows : ROWS);
    c->length = draw_from(&d, 12, lengths);
    if (p->longest && c->length > p->longest)
        c->length = p->longest;
    c->place = draw(&d, c->length);
    c->shift = p->has & CASE_MOVED ? draw_from(&d, 13, shifts) + draw(&d, 3) : 0;
    c->seed = draw(&d, 1 << 20);
    draw_more(&d, s, c);
    *settings = draw_settings(&d, s);
}

/* ---- requests of a parent ---- */

static void keep_case(struct cases_end *end, const struct checked *s, const struct check_case *c,
                      const struct value *settings)
{
    end->text = case_text(c, s->arena);
    end->n_setting = settings->n;
    for (int i = 0; i < settings->n; i++)
        end->setting[i] =
            arena_printf(s->arena, "%s=%s", settings->key[i], settings->item[i]->text);
}

static void run_drawn(const struct checked *s, uint64_t seed, int64_t index,
                      struct check_outcome *o)
{
    struct check_case c;
    struct value *settings;
    draw_case(s, seed, index, &c, &settings);
    struct checked one = *s;
    one.given = value_merge(s->arena, (struct value *)(uintptr_t)s->given, settings);
    run_case(&one, &c, o);
    if (o->verdict == CHECK_FAILED)
        keep_case(s->end, s, &c, settings);
}

struct sweep {
    uint64_t seed;
    int64_t first, step, end;
    double seconds;
};

static void run_sweep(const struct checked *s, const struct sweep *w, struct check_outcome *o)
{
    double until = clock_seconds() + w->seconds;
    struct cases_end *end = s->end;
    for (end->index = w->first;
         end->index < w->end && (end->index == w->first || clock_seconds() < until);
         end->index += w->step) {
        struct arena_mark mark = arena_mark(s->arena);
        char name[32];
        snprintf(name, sizeof(name), "%" PRId64, end->index);
        trail_cell(s->trail, name);
        run_drawn(s, w->seed, end->index, o);
        end->tried++;
        if (o->verdict == CHECK_FAILED)
            return;
        end->refused += o->verdict == CHECK_SKIPPED;
        *o = (struct check_outcome){CHECK_PASSED};
        arena_rewind(s->arena, mark);
    }
}

static void run_text(const struct checked *s, struct check_outcome *o)
{
    struct check_case c;
    struct error err = {0};
    if (case_parse(&c, s->cases, &err) != PEAT_OK) {
        check_skip(o, "%s", err.text);
        return;
    }
    run_case(s, &c, o);
    if (o->verdict == CHECK_FAILED && s->plugin->desc->kind != PEAT_TASK)
        name_hooks(s, &c, o);
}

void run_drawn_cases(const struct checked *s, struct check_outcome *o)
{
    uint64_t seed;
    int64_t index;
    struct sweep w;
    if (sscanf(s->cases, "from %" SCNu64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %lf", &w.seed,
               &w.first, &w.step, &w.end, &w.seconds) == 5) {
        run_sweep(s, &w, o);
    } else if (sscanf(s->cases, "at %" SCNu64 " %" SCNd64, &seed, &index) == 2) {
        struct check_case c;
        struct value *settings;
        draw_case(s, seed, index, &c, &settings);
        keep_case(s->end, s, &c, settings);
    } else {
        run_text(s, o);
    }
}
