/* SPDX-License-Identifier: MIT */
/* check_parameters.c: defaults and bounds of parameters, widths of streams. */

#include "plugin/paramrow.h"
#include "property.h"

/* No pass is made with whole numbers from WIDE on, and none larger than LARGE are tried, because
 * they may be sizes of tables. What is allowed beyond 32 bits and takes no more memory and no more
 * operations than the least is no size. */
enum { LARGE = 1 << 16, WIDE = 256 };

static const struct value *setting(const struct checked *s, const peat_param *row, double x)
{
    struct json map = json_map(s->arena);
    json_put(map, row->key,
             row->type == PEAT_INT ? value_int(s->arena, NOWHERE, (int64_t)x)
                                   : value_real(s->arena, NOWHERE, x));
    return map.v;
}

/* Set-up, or a hook, may refuse the config with a reason; any other failure is a mistake. Returns
 * what the model took of memory, and of operations in a pass. */
static int64_t run_at(const struct checked *s, const struct check_cell *cell, const char *text,
                      const void *config, bool shape_only, struct check_outcome *o)
{
    const struct rig_plan plan = {.dtype = PEAT_F32, .config = config, .shape_only = shape_only};
    struct check_outcome one = {CHECK_PASSED};
    struct rig *r = rig_open(s, cell, &plan, &one);
    if (r->status != PEAT_OK && !rig_refused(r))
        check_fail(o, "with %s its set-up fails: %s", text, r->err.text);
    else if (r->status != PEAT_OK && !r->err.text[0])
        check_fail(o, "with %s its set-up refuses without a reason", text);
    if (r->status == PEAT_OK) {
        struct rig_input x = rig_input(r, PEAT_TRAIN);
        x.in.step = 1;
        if (shape_only)
            rig_logits(r, &x.in);
        else
            rig_step(r, &x.in, true);
    }
    if (one.verdict == CHECK_FAILED && !r->given_up)
        check_fail(o, "with %s %s", text, one.why);
    int64_t took = (int64_t)(r->arena.used + r->step.used) + r->s.model.weights.size + r->flops;
    rig_close(r);
    return took;
}

/* What the first cells take with the value. */
static int64_t accepts(const struct checked *s, const peat_param *row, double x, bool shape_only,
                       struct check_outcome *o)
{
    struct error err = {0};
    const void *config;
    char number[32];
    int64_t took = 0;
    number_text(x, number);
    const struct check_cells *cells = cells_of(s, o);
    const char *text = arena_printf(s->arena, "%s: %s", row->key, number);
    if (!checked_config(s, setting(s, row, x), &config, &err))
        check_fail(o, "%s is within its bounds and refused: %s", text, err.text);
    for (int i = 0; i < 3 && i < cells->n && s->plugin->desc->kind != PEAT_TASK; i++)
        took += run_at(s, &cells->item[i], text, config, shape_only, o);
    return took;
}

static void rejects(const struct checked *s, const peat_param *row, double x,
                    struct check_outcome *o)
{
    const void *config;
    if (checked_config(s, setting(s, row, x), &config, NULL))
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
    double inside = whole ? 1 : 1e-3 * fmin(1, row->max - row->min);
    double low = row->min + (open ? inside : 0);
    double high = whole ? fmin(row->max, fmax(row->min, LARGE)) : row->max;
    accepts(s, row, low, whole && fabs(low) > WIDE, o);
    int64_t took = accepts(s, row, high, whole && fabs(high) > WIDE, o);
    if (row->max > fmax(high, INT32_MAX) && took == accepts(s, row, low, true, o))
        accepts(s, row, row->max, false, o);
    rejects(s, row, open ? row->min : beyond(row, row->min, -1), o);
    rejects(s, row, beyond(row, row->max, 1), o);
}

/* Whole numbers are known up to 2^52. */
static bool has_bounds(const peat_param *row)
{
    return (row->type == PEAT_INT || row->type == PEAT_REAL) && row_has_bounds(row) &&
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

/* The defaults must be accepted in some cell. */
static void try_defaults(const struct checked *s, struct check_outcome *o)
{
    struct error err = {0};
    const void *config;
    bool ok = checked_config(s, NULL, &config, &err);
    if (ok)
        read_back(s, config, o);
    if (ok && s->plugin->desc->kind == PEAT_TASK)
        ok = task_runs(s, &err);
    else if (ok)
        cells_of(s, o);
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

/* A stream of the width *(int64_t *)config; 0: of any. */
static int64_t insisted(const void *config)
{
    return *(const int64_t *)config;
}

static peat_node *no_rows(const peat_call *c)
{
    return peat_fail(c->g, "only the set-up is tried");
}

static const peat_scheme part_stream = {
    .size = sizeof(part_stream), .width = insisted, .encode = no_rows};

/* Sets the combine up for streams of a width, as set-up does. */
static void widths_at(const struct checked *s, const void *config, int64_t D, int n, int64_t width,
                      struct check_outcome *o)
{
    struct arena arena;
    struct weights w;
    struct error err = {0};
    const peat_plugin *desc = s->plugin->desc;
    peat_dims dims = {
        .size = sizeof(dims), .D = D, .H = 1, .L = 1, .V = 8, .T_train = 8, .T_max = 8};
    struct positional p = {
        .host = host_table(),
        .trail = s->trail,
        .n_scheme = n - 1,
        .combine = checked_combine(s),
        .combine_part = {.id = desc->id, .prefix = "combine", .config = config, .files = s->files}};
    for (int i = 0; i < n - 1; i++)
        p.scheme[i] = (struct scheme_part){
            .part = {.id = "stream", .prefix = arena_printf(s->arena, "%d", i), .config = &width},
            .hooks = &part_stream};
    arena_init(&arena, "check", 1 << 16);
    weights_init(&w, &arena, PEAT_F32);
    peat_status status = positional_setup(&p, &w, &dims, 0, &err);
    if (status != PEAT_OK && status != PEAT_REFUSED && status != PEAT_INVALID)
        check_fail(o, "%s", err.text);
    for (int i = 1; status == PEAT_OK && width && i < p.n_stream; i++)
        if (p.width[i] != width)
            check_fail(o,
                       "stream %d is always %" PRId64 " wide, and the plugin gives it %" PRId64
                       " (width %" PRId64 ", %d streams)",
                       i, width, p.width[i], D, n);
    arena_release(&arena);
}

void widths_whole(const struct checked *s, struct check_outcome *o)
{
    static const int64_t D[] = {2, 8, 24}, width[] = {0, 1, 4, 40};
    const peat_combine *c = checked_combine(s);
    int most = c->max_streams ? c->max_streams : c->min_streams + 2;
    const void *config;
    for (int i = 0; i < 3 * 4 && checked_config(s, NULL, &config, NULL); i++)
        for (int n = c->min_streams; n <= most && n <= 4; n++)
            widths_at(s, config, D[i / 4], n, width[i % 4], o);
}
