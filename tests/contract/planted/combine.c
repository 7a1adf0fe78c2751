/* SPDX-License-Identifier: MIT */
/* combine.c: the sum of streams as wide as the model. The first two crimes are for the loader. */
#include <peat/plugin.h>

static peat_status setup(peat_setup *s, const void *config, int32_t n, const char *const *stream,
                         int64_t *width, int64_t *D, void **self)
{
    (void)config, (void)stream, (void)self;
    for (int32_t i = 0; i < n; i++) {
#if defined(CRIME_ignores_width) /* streams that insist on a width are given another */
        (void)s;
#elif defined(CRIME_merges_two) /* right for two streams; more come out too wide */
        (void)s;
        width[i] = i == 0 ? *D / 2 : *D - *D / 2;
        continue;
#else
        if (width[i] && width[i] != *D)
            return peat_refuse(s, "only streams of the model's width are merged");
#endif
        width[i] = *D;
    }
    return PEAT_OK;
}

#ifndef CRIME_combine_without_merge
static peat_node *merge(const peat_call *c, int32_t n, peat_node *const *x)
{
    peat_node *y = x[0];
#if defined(CRIME_merges_two)
    return peat_concat(c->g, n, x, -1);
#elif defined(CRIME_stores_sums)   /* a row needs all before it */
    y = peat_add(c->g, y, peat_cumsum(c->g, y, 1, false));
#elif defined(CRIME_merges_future) /* position is merged with the tokens after it */
    y = peat_add(c->g, y, peat_cumsum(c->g, y, 1, true));
#elif defined(CRIME_merges_by_the_total)
    y = peat_scale(c->g, y, 1 + 1 / (1 + (double)c->q->T_total));
#endif
    for (int32_t i = 1; i < n; i++)
        y = peat_add(c->g, y, x[i]);
    return y;
}
#endif

static const peat_combine combine = {
    .size = sizeof(combine),
#ifdef CRIME_combine_without_streams
    .min_streams = 3,
    .max_streams = 2,
#else
    .min_streams = 2,
#endif
    .setup = setup,
#ifndef CRIME_combine_without_merge
    .merge = merge,
#endif
#ifdef CRIME_stores_sums
    .traits = PEAT_STORABLE,
#endif
};

#ifdef CRIME_combine_as_task
#define KIND PEAT_TASK
#else
#define KIND PEAT_COMBINE
#endif

PEAT_DEFINE_PLAIN(KIND, combine, "planted", "1.0", "adds its streams", "MIT", "")
