/* SPDX-License-Identifier: MIT */
/* checkparts.c: the companions of a plugin under check. */
#include "checkrig.h"

static peat_status shift_positions(const peat_call *c, double *pos)
{
    const struct moves *moves = c->config;
    for (int64_t i = 0; i < c->q->n_axes * c->q->pos_B * c->q->T; i++)
        pos[i] = pos[i] * moves->stride + moves->by;
    return PEAT_OK;
}

const peat_scheme part_shift = {
    .size = sizeof(part_shift), .traits = PEAT_STORABLE, .positions = shift_positions};

static peat_status repeat_qk(const peat_call *c, peat_qkv *io)
{
    io->q = peat_concat(c->g, 2, (peat_node *[]){io->q, io->q}, -1);
    io->k = peat_concat(c->g, 2, (peat_node *[]){io->k, io->k}, -1);
    return PEAT_OK;
}

const peat_scheme part_twice = {
    .size = sizeof(part_twice), .traits = PEAT_STORABLE, .qkv = repeat_qk};

static peat_node *bias_rel(const peat_call *c, const peat_rel *r)
{
    double *value = peat_scratch(c, r->n);
    for (int64_t i = 0; value && i < r->n; i++)
        value[i] = -0.5 * fabs(r->delta[i]);
    return peat_fill(c, 2, (int64_t[]){1, r->n}, value);
}

const peat_scheme part_bias = {
    .size = sizeof(part_bias), .traits = PEAT_STORABLE, .bias_rel = bias_rel};

static peat_status record_qkv(const peat_call *c, peat_qkv *io)
{
    struct passed *record = (struct passed *)(uintptr_t)c->config;
    record->q[c->layer] = io->q;
    record->k[c->layer] = io->k;
    return PEAT_OK;
}

const peat_scheme part_record = {
    .size = sizeof(part_record), .traits = PEAT_STORABLE, .qkv = record_qkv};

static int64_t stream_width(const void *config)
{
    return *(const int64_t *)config;
}

static peat_status stream_setup(peat_setup *s, const void *config, void **self)
{
    const int64_t dim[] = {s->dims.T_max, s->dims.d};
    (void)config;
    (void)self;
    peat_param_new(s, "table", 2, dim, (peat_init){.kind = PEAT_INIT_NORMAL, .b = 0.5}, PEAT_ONCE,
                   0);
    return PEAT_OK;
}

static peat_node *stream_encode(const peat_call *c)
{
    peat_node *index = peat_fill_index(c, 2, (int64_t[]){c->q->pos_B, c->q->T}, c->q->pos);
    return peat_gather_rows(c->g, peat_use(c, 0), index);
}

const peat_scheme part_stream = {.size = sizeof(part_stream),
                                 .traits = PEAT_STORABLE,
                                 .width = stream_width,
                                 .setup = stream_setup,
                                 .encode = stream_encode};

static peat_status sum_setup(peat_setup *s, const void *config, int32_t n,
                             const char *const *stream, int64_t *width, int64_t *D, void **self)
{
    (void)s;
    (void)config;
    (void)stream;
    (void)self;
    for (int32_t i = 0; i < n; i++)
        width[i] = width[i] ? width[i] : *D;
    return PEAT_OK;
}

static peat_node *fitted(const peat_call *c, peat_node *x)
{
    int64_t d = peat_shape_of(c->g, x).dim[2], D = c->dims.D;
    if (d == D)
        return x;
    return d < D ? peat_pad(c->g, x, -1, 0, D - d) : peat_slice(c->g, x, -1, 0, D);
}

static peat_node *sum_merge(const peat_call *c, int32_t n, peat_node *const *x)
{
    peat_node *y = x[0];
    for (int32_t i = 1; i < n; i++)
        y = peat_add(c->g, y, fitted(c, x[i]));
    return y;
}

const peat_combine part_sum = {.size = sizeof(part_sum),
                               .min_streams = 1,
                               .setup = sum_setup,
                               .merge = sum_merge,
                               .traits = PEAT_STORABLE};
