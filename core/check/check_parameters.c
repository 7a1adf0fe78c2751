/* SPDX-License-Identifier: MIT */
/* check_parameters.c: defaults and bounds of parameters, widths of streams. */

#include "plugin/paramrow.h"
#include "property.h"

/* Larger whole numbers are not tried, because they may be sizes of tables. */
enum { LARGE = 1 << 16 };

static const struct value *setting(const struct checked *s, const peat_param *row, double x)
{
    struct json map = json_map(s->arena);
    json_put(map, row->key,
             row->type == PEAT_INT ? value_int(s->arena, NOWHERE, (int64_t)x)
                                   : value_real(s->arena, NOWHERE, x));
    return map.v;
}

/* Set-up may refuse the config with a reason; any other failure is a mistake. */
static void set_up(const struct checked *s, const struct variant *v, struct check_outcome *o)
{
    const struct rig_plan plan = {.dtype = PEAT_F32, .shape_only = true};
    struct rig *r = rig_open(s, v, &plan, o);
    if (r->status != PEAT_OK && !rig_refused(r))
        check_fail(o, "with %s its set-up fails: %s", v->text, r->err.text);
    else if (r->status != PEAT_OK && !r->err.text[0])
        check_fail(o, "with %s its set-up refuses without a reason", v->text);
    rig_close(r);
}

static void accepts(const struct checked *s, const peat_param *row, double x,
                    struct check_outcome *o)
{
    struct error err = {0};
    char number[32];
    number_text(x, number);
    struct variant v = {arena_printf(s->arena, "%s: %s", row->key, number), NULL};
    if (!checked_config(s, setting(s, row, x), &v.config, &err))
        check_fail(o, "%s is within its bounds and refused: %s", v.text, err.text);
    else if (s->plugin->desc->kind != PEAT_TASK)
        set_up(s, &v, o);
}

static void rejects(const struct checked *s, const peat_param *row, double x,
                    struct check_outcome *o)
{
    struct error err = {0};
    const void *config;
    if (checked_config(s, setting(s, row, x), &config, &err))
        check_fail(o, "%s: %.17g is beyond its bounds and accepted", row->key, x);
}

static double beyond(const peat_param *row, double bound, double direction)
{
    return row->type == PEAT_INT ? bound + direction
                                 : nextafter(bound, direction * (double)INFINITY);
}

static void try_bounds(const struct checked *s, const peat_param *row, struct check_outcome *o)
{
    bool open = row->flags & PEAT_OPEN_MIN, whole = row->type == PEAT_INT;
    double low = open ? beyond(row, row->min, 1) : row->min;
    double high = whole ? fmin(row->max, fmax(row->min, LARGE)) : row->max;
    if (open && !whole)
        low = row->min + 1e-3 * fmin(1, row->max - row->min);
    accepts(s, row, low, o);
    accepts(s, row, high, o);
    rejects(s, row, open ? row->min : beyond(row, row->min, -1), o);
    rejects(s, row, beyond(row, row->max, 1), o);
}

static bool has_bounds(const peat_param *row)
{
    bool number = row->type == PEAT_INT || row->type == PEAT_REAL;
    return number && row_has_bounds(row) && isfinite(row->min) && isfinite(row->max) &&
           fabs(row->min) < 0x1p52 && fabs(row->max) < 0x1p52;
}

/* Parameters are written beside the results, and must read back as the same ones. */
static void read_back(const struct checked *s, const void *config, struct check_outcome *o)
{
    const peat_param *row = s->plugin->desc->param;
    const struct value *shown = params_value(row, config, s->arena);
    const void *again;
    struct error err = {0};
    if (!checked_config(s, shown, &again, &err))
        check_fail(o, "its defaults do not read back: %s", err.text);
    else if (!value_equal(shown, params_value(row, again, s->arena)))
        check_fail(o, "its defaults are other values when they are read back");
}

static void build_model(const struct checked *s, const struct variant *v, struct check_outcome *o)
{
    const struct rig_plan plan = {.dtype = PEAT_F32};
    struct rig *r = rig_open(s, v, &plan, o);
    if (r->status != PEAT_OK)
        check_fail(o, "its defaults are refused: %s", r->err.text);
    rig_close(r);
}

/* The defaults must work in some small model. */
static void try_defaults(const struct checked *s, struct check_outcome *o)
{
    struct error err = {0};
    struct variant v = {"its defaults", NULL};
    bool ok = checked_config(s, NULL, &v.config, &err);
    if (ok)
        read_back(s, v.config, o);
    if (ok && s->plugin->desc->kind == PEAT_TASK)
        ok = task_runs(s, &err);
    else if (ok)
        build_model(s, &v, o);
    if (!ok)
        check_fail(o, "%s", err.text);
}

void parameters_whole(const struct checked *s, struct check_outcome *o)
{
    const peat_param *row = s->plugin->desc->param;
    for (try_defaults(s, o); o->verdict == CHECK_PASSED && row && row->key; row++)
        if (has_bounds(row))
            try_bounds(s, row, o);
}

/* ---- widths ---- */

static void merges(struct rig *r, struct check_outcome *o)
{
    for (int i = 1; r->plan.width && i < r->positional.n_stream; i++)
        if (r->positional.width[i] != r->plan.width)
            check_fail(o,
                       "stream '%s' is always %" PRId64 " wide, and the plugin gives it %" PRId64,
                       r->positional.stream[i], r->plan.width, r->positional.width[i]);
    struct rig_input x = rig_input(r, 3, RIG_T);
    rig_logits(r, &x.in);
}

static void widths_at(const struct checked *s, const struct variant *v, const struct rig_plan *plan,
                      int *merged, struct check_outcome *o)
{
    struct rig *r = rig_open(s, v, plan, o);
    *merged += r->status == PEAT_OK;
    if (r->status == PEAT_OK)
        merges(r, o);
    else if (!rig_refused(r))
        check_fail(o, "%s", r->err.text);
    if (o->verdict == CHECK_FAILED)
        check_add(o, " (width %" PRId64 ", %d streams, streams of %" PRId64 ")", plan->D,
                  plan->n_stream, plan->width);
    rig_close(r);
}

void widths_whole(const struct checked *s, struct check_outcome *o)
{
    static const int64_t D[] = {2, 8, 24}, insisted[] = {0, 1, 4, 40};
    const peat_combine *c = checked_combine(s);
    int most = c->max_streams ? c->max_streams : c->min_streams + 2, merged = 0;
    struct variant v;
    checked_variant(s, &v, o);
    for (int i = 0; i < 3 * 4; i++)
        for (int n = c->min_streams; n <= most && n <= 4 && o->verdict == CHECK_PASSED; n++) {
            const struct rig_plan plan = {
                .dtype = PEAT_F32, .D = D[i / 4], .n_stream = n, .width = insisted[i % 4]};
            widths_at(s, &v, &plan, &merged, o);
        }
    if (o->verdict == CHECK_PASSED && merged == 0)
        check_fail(o, "it refuses streams of every width");
}
