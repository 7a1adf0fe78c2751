/* SPDX-License-Identifier: MIT */
/* concat_wide.c: position stands beside the tokens, and the whole model becomes wider. */
#include <stdio.h>

#include <peat/plugin.h>

#include "../widths.h"

struct config {
    int64_t d_pos;
};

static const peat_param rows[] = {
    {"d_pos", PEAT_INT, offsetof(struct config, d_pos), .min = 1, .max = 1 << 20,
     .automatic = "d_model/4, or the next width that the heads divide", .unit = "dimensions",
     .doc = "width of each positional stream", .flags = PEAT_AUTO},
    PEAT_PARAM_END,
};

/* The model's width at this d_pos: `fixed` does not depend on it, `free` streams do. */
struct sizes {
    int64_t fixed, free, H;
};

static bool fits(const struct sizes *z, int64_t d_pos)
{
    return (z->fixed + z->free * d_pos) % z->H == 0;
}

/* The nearest d_pos that fits, going by `step`; 0 when there is none. Widths repeat modulo H. */
static int64_t nearest(const struct sizes *z, int64_t d_pos, int64_t step)
{
    for (int64_t i = 0; i <= z->H && d_pos >= 1; i++, d_pos += step)
        if (fits(z, d_pos))
            return d_pos;
    return 0;
}

static peat_status refuse(peat_setup *s, const struct sizes *z, int64_t D, int64_t d_pos)
{
    int64_t beside = z->fixed - D + z->free * d_pos;
    int64_t below = z->free ? nearest(z, d_pos, -1) : 0;
    int64_t above = z->free ? nearest(z, d_pos, 1) : 0;
    char hint[80] = "";
    if (below && above)
        snprintf(hint, sizeof(hint), "; the nearest d_pos are %lld and %lld", (long long)below,
                 (long long)above);
    else if (below || above)
        snprintf(hint, sizeof(hint), "; the nearest d_pos is %lld",
                 (long long)(below ? below : above));
    return peat_refuse(s, "model width %lld + %lld = %lld is not divisible by %lld heads%s",
                       (long long)D, (long long)beside, (long long)(D + beside), (long long)z->H,
                       hint);
}

static peat_status setup(peat_setup *s, const void *config, int32_t n, const char *const *stream,
                         int64_t *width, int64_t *D, void **self)
{
    const struct config *k = config;
    struct sizes z = {.fixed = *D, .H = s->dims.H};
    (void)stream;
    (void)self;
    for (int32_t i = 1; i < n; i++) {
        z.fixed += width[i];
        z.free += width[i] == 0;
    }
    int64_t d_pos = widths_quarter(k->d_pos, *D);
    if (!k->d_pos && nearest(&z, d_pos, 1))
        d_pos = nearest(&z, d_pos, 1);
    if (!fits(&z, d_pos))
        return refuse(s, &z, *D, d_pos);
    width[0] = *D;
    *D += widths_beside(n, width, d_pos);
    peat_resolved(s, "d_pos", (double)d_pos);
    return PEAT_OK;
}

/* y = [x_0; p_1; p_2; ...] */
static peat_node *merge(const peat_call *c, int32_t n, peat_node *const *x)
{
    return peat_concat(c->g, n, x, -1);
}

static const peat_combine combine = {
    .size = sizeof(combine),
    .min_streams = 2,
    .setup = setup,
    .merge = merge,
    .traits = PEAT_STORABLE,
};

PEAT_DEFINE(PEAT_COMBINE, combine, struct config, rows, "concat_wide", "1.0",
            "position beside full-width tokens; the model grows", "MIT", "")
PEAT_ALSO_CALLED("concat, concatenate")
