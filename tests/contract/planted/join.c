/* SPDX-License-Identifier: MIT */
/*
 * join.c: a combination that adds each stream times a trained gate, which the token opens. The
 * crimes are in which rows, places and streams are taken.
 */
#include <peat/plugin.h>

enum { GATE, WEIGHT };

static peat_status setup(peat_setup *s, const void *config, int32_t n, const char *const *stream,
                         int64_t *width, int64_t *D, void **self)
{
    const peat_init one = {.kind = PEAT_INIT_CONSTANT, .a = 1};
    const peat_init small = {.kind = PEAT_INIT_NORMAL, .b = 0.05};
    (void)config, (void)self;
    for (int32_t i = 0; i < n; i++) {
        if (width[i] && width[i] != *D)
            return peat_refuse(s, "'%s' is always %lld wide and the model %lld", stream[i],
                               (long long)width[i], (long long)*D);
        width[i] = *D;
    }
    peat_param_new(s, "gate", 2, (int64_t[]){n - 1, *D}, one, PEAT_ONCE, 0);
    peat_param_new(s, "weight", 2, (int64_t[]){*D, n - 1}, small, PEAT_ONCE, 0);
    return PEAT_OK;
}

/* y = x_0 + sum over i >= 1 of gate_i (1 + tanh(weight_i x_0)) x_i */
static peat_node *merge(const peat_call *c, int32_t n, peat_node *const *x)
{
    peat_node *y = x[0];
    peat_node *open =
        peat_affine(c->g, peat_tanh(c->g, peat_matmul(c->g, x[0], peat_use(c, WEIGHT), 0)), 1, 1);
#ifdef CRIME_two_streams
    n = n > 2 ? 2 : n;
#endif
    for (int32_t i = 1; i < n; i++) {
        peat_node *gate = peat_slice(c->g, peat_use(c, GATE), 0, i - 1, i), *one = x[i];
#ifdef CRIME_stream_of_row_0 /* positions are the same in all rows */
        one = peat_slice(c->g, one, 0, 0, 1);
#endif
        one = peat_mul(c->g, one, peat_mul(c->g, gate, peat_slice(c->g, open, -1, i - 1, i)));
        y = peat_add(c->g, y, one);
    }
    return y;
}

static const peat_combine combine = {.size = sizeof(combine),
                                     .min_streams = 2,
                                     .setup = setup,
                                     .merge = merge,
                                     .traits = PEAT_STORABLE};

PEAT_DEFINE_PLAIN(PEAT_COMBINE, combine, "planted", "1.0", "gates that the token opens", "MIT", "")
