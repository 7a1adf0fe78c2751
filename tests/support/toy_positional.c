/* SPDX-License-Identifier: MIT */
/* toy_positional.c: a positional without schemes. */
#include "support/toy_positional.h"

static peat_status sum_setup(peat_setup *s, const void *config, int32_t n,
                             const char *const *stream, int64_t *width, int64_t *D, void **self)
{
    (void)s;
    (void)config;
    (void)stream;
    (void)self;
    for (int32_t i = 0; i < n; i++)
        width[i] = *D;
    return PEAT_OK;
}

static peat_status idle_setup(peat_setup *s, const void *config, int32_t n,
                              const char *const *stream, int64_t *width, int64_t *D, void **self)
{
    const int64_t dim[] = {3};
    peat_init init = {.kind = PEAT_INIT_ZERO};
    peat_param_new(s, "idle", 1, dim, init, PEAT_ONCE, 0);
    return sum_setup(s, config, n, stream, width, D, self);
}

static peat_node *sum_merge(const peat_call *c, int32_t n, peat_node *const *x)
{
    peat_node *sum = x[0];
    for (int32_t i = 1; i < n; i++)
        sum = peat_add(c->g, sum, x[i]);
    return sum;
}

static const peat_combine sum = {
    .size = sizeof(sum), .min_streams = 1, .setup = sum_setup, .merge = sum_merge};
static const peat_combine sum_and_idle = {
    .size = sizeof(sum), .min_streams = 1, .setup = idle_setup, .merge = sum_merge};

void toy_positional_init(struct positional *p, bool idle)
{
    *p = (struct positional){
        .host = host_table(),
        .combine_part = {.id = "toy", .prefix = "combine.toy"},
        .combine = idle ? &sum_and_idle : &sum,
    };
}
