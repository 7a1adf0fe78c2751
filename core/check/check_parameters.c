/* SPDX-License-Identifier: MIT */
/* check_parameters.c: defaults, bounds and what lies beyond them; widths of streams. */
#include <inttypes.h>
#include <math.h>

#include "base/json.h"
#include "base/number.h"
#include "plugin/paramrow.h"
#include "property.h"

/* Whole numbers are not tried beyond this: they may be sizes of tables. */
enum { LARGE = 1 << 16 };

static const struct value *setting(const struct subject *s, const peat_param *row, double x)
{
    struct json map = json_map(s->arena);
    json_put(map, row->key,
             row->type == PEAT_INT ? value_int(s->arena, NOWHERE, (int64_t)x)
                                   : value_real(s->arena, NOWHERE, x));
    return map.v;
}

/* The plugin's set-up of a config: it may refuse, in words, and must not fail otherwise. */
static enum verdict set_up(const struct subject *s, const struct variant *v, struct strbuf *why)
{
    const struct rig_plan plan = {.dtype = PEAT_F32, .shape_only = true};
    struct rig *r = ARENA_NEW(s->arena, struct rig);
    peat_status status = rig_open(r, s, v, &plan);
    enum verdict verdict = CHECK_PASSED;
    if (status != PEAT_OK && status != PEAT_REFUSED && status != PEAT_INVALID)
        verdict = check_failed(why, "with %s its set-up fails: %s", v->text, r->err.text);
    else if (status != PEAT_OK && !r->err.text[0])
        verdict = check_failed(why, "with %s its set-up refuses without a reason", v->text);
    rig_close(r);
    return verdict;
}

static enum verdict accepts(const struct subject *s, const peat_param *row, double x,
                            struct strbuf *why)
{
    struct error err = {0};
    char number[32];
    number_text(x, number);
    struct variant v = {arena_printf(s->arena, "%s: %s", row->key, number), NULL};
    if (subject_config(s, setting(s, row, x), &v.config, &err) != PEAT_OK)
        return check_failed(why, "%s is within its bounds and refused: %s", v.text, err.text);
    return s->plugin->desc->kind == PEAT_TASK ? CHECK_PASSED : set_up(s, &v, why);
}

static enum verdict rejects(const struct subject *s, const peat_param *row, double x,
                            struct strbuf *why)
{
    struct error err = {0};
    const void *config;
    if (subject_config(s, setting(s, row, x), &config, &err) != PEAT_OK)
        return CHECK_PASSED;
    return check_failed(why, "%s: %.17g is beyond its bounds and accepted", row->key, x);
}

static double beyond(const peat_param *row, double bound, double direction)
{
    return row->type == PEAT_INT ? bound + direction
                                 : nextafter(bound, direction * (double)INFINITY);
}

static enum verdict bounds_of(const struct subject *s, const peat_param *row, struct strbuf *why)
{
    bool open = row->flags & PEAT_OPEN_MIN, whole = row->type == PEAT_INT;
    double low = open ? beyond(row, row->min, 1) : row->min;
    double high = whole ? fmin(row->max, fmax(row->min, LARGE)) : row->max;
    if (open && !whole)
        low = row->min + 1e-3 * fmin(1, row->max - row->min);
    enum verdict verdict = accepts(s, row, low, why);
    if (verdict == CHECK_PASSED)
        verdict = accepts(s, row, high, why);
    if (verdict == CHECK_PASSED)
        verdict = rejects(s, row, open ? row->min : beyond(row, row->min, -1), why);
    return verdict == CHECK_PASSED ? rejects(s, row, beyond(row, row->max, 1), why) : verdict;
}

static bool has_bounds(const peat_param *row)
{
    bool number = row->type == PEAT_INT || row->type == PEAT_REAL;
    return number && row_has_bounds(row) && isfinite(row->min) && isfinite(row->max) &&
           fabs(row->min) < 0x1p52 && fabs(row->max) < 0x1p52;
}

/* What is written beside the results must read back as the same parameters. */
static enum verdict reads_back(const struct subject *s, const void *config, struct strbuf *why)
{
    const peat_param *row = s->plugin->desc->param;
    if (!row)
        return CHECK_PASSED;
    const struct value *shown = params_value(row, config, s->arena);
    const void *again;
    struct error err = {0};
    if (subject_config(s, shown, &again, &err) != PEAT_OK)
        return check_failed(why, "its defaults do not read back: %s", err.text);
    return value_equal(shown, params_value(row, again, s->arena))
               ? CHECK_PASSED
               : check_failed(why, "its defaults read back as others");
}

/* The defaults must be of use in some small model. */
static enum verdict defaults_of(const struct subject *s, struct strbuf *why)
{
    struct error err = {0};
    struct variant v = {"its defaults", NULL};
    if (subject_config(s, NULL, &v.config, &err) != PEAT_OK)
        return check_failed(why, "%s", err.text);
    enum verdict verdict = reads_back(s, v.config, why);
    if (verdict != CHECK_PASSED)
        return verdict;
    if (s->plugin->desc->kind == PEAT_TASK)
        return task_runs(s, &err) == PEAT_OK ? CHECK_PASSED : check_failed(why, "%s", err.text);
    const struct rig_plan plan = {.dtype = PEAT_F32};
    struct rig *r = ARENA_NEW(s->arena, struct rig);
    if (rig_open(r, s, &v, &plan) != PEAT_OK)
        verdict = check_failed(why, "its defaults are refused: %s", r->err.text);
    rig_close(r);
    return verdict;
}

enum verdict parameters_whole(const struct subject *s, struct strbuf *why)
{
    enum verdict verdict = defaults_of(s, why);
    const peat_param *row = s->plugin->desc->param;
    for (; verdict == CHECK_PASSED && row && row->key; row++)
        if (has_bounds(row))
            verdict = bounds_of(s, row, why);
    return verdict;
}

/* ---- widths ---- */

/* Model width, number of streams, and the width that positional streams insist on. */
struct widths {
    int64_t D;
    int n_stream;
    int64_t insisted;
};

static enum verdict merges(struct rig *r, struct strbuf *why)
{
    for (int i = 1; r->plan.width && i < r->positional.n_stream; i++)
        if (r->positional.width[i] != r->plan.width)
            return check_failed(why,
                                "stream '%s' is always %" PRId64 " wide, and it gives it %" PRId64,
                                r->positional.stream[i], r->plan.width, r->positional.width[i]);
    struct rig_input x = rig_input(r, 3, RIG_T);
    return rig_logits(r, &x.in) ? CHECK_PASSED : rig_broken(r, why);
}

static enum verdict widths_at(const struct subject *s, const struct variant *v,
                              const struct widths *w, int *merged, struct strbuf *why)
{
    const struct rig_plan plan = {
        .dtype = PEAT_F32, .D = w->D, .n_stream = w->n_stream, .width = w->insisted};
    struct rig *r = ARENA_NEW(s->arena, struct rig);
    peat_status status = rig_open(r, s, v, &plan);
    enum verdict verdict = CHECK_PASSED;
    if (status == PEAT_OK) {
        verdict = merges(r, why);
        (*merged)++;
    } else if (status != PEAT_REFUSED && status != PEAT_INVALID) {
        verdict = rig_broken(r, why);
    }
    if (verdict == CHECK_FAILED)
        strbuf_addf(why, " (width %" PRId64 ", %d streams, streams of %" PRId64 ")", w->D,
                    w->n_stream, w->insisted);
    rig_close(r);
    return verdict;
}

enum verdict widths_whole(const struct subject *s, struct strbuf *why)
{
    static const int64_t D[] = {2, 8, 24}, insisted[] = {0, 1, 4, 40};
    const peat_combine *c = subject_combine(s);
    int most = c->max_streams ? c->max_streams : c->min_streams + 2, merged = 0;
    struct error err = {0};
    const struct variants *v = variants_make(s, &err);
    if (!v)
        return check_skipped(why, "%s", err.text);
    enum verdict verdict = CHECK_PASSED;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 4; k++)
            for (int n = c->min_streams; n <= most && n <= 4; n++) {
                const struct widths w = {D[i], n, insisted[k]};
                if (verdict == CHECK_PASSED)
                    verdict = widths_at(s, &v->item[0], &w, &merged, why);
            }
    if (verdict == CHECK_PASSED && merged == 0)
        return check_failed(why, "it refuses streams of every width");
    return verdict;
}
