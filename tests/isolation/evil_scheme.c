/* SPDX-License-Identifier: MIT */
/*
 * evil_scheme.c: adds nothing, and commits a crime at one place.
 *
 * In graph and kernel functions it waits for a training step: planning has none.
 */
#include <peat/plugin.h>

#include "crimes.h"

enum { AT_SETUP, AT_PREPARE, AT_ENCODE, AT_RESIDUAL, AT_QKV, AT_BIAS, AT_FORWARD, AT_BACKWARD };
static const char *const places[] = {"setup", "prepare", "encode",   "residual", "qkv",
                                     "bias",  "forward", "backward", NULL};

struct config {
    int64_t does, place, step;
};

static const peat_param rows[] = {
    {"does", PEAT_ENUM, offsetof(struct config, does), .labels = crimes, .doc = "which crime"},
    {"place", PEAT_ENUM, offsetof(struct config, place), .labels = places,
     .doc = "in which function"},
    {"step", PEAT_INT, offsetof(struct config, step), .preset = 2, .min = 1, .max = 1000,
     .doc = "from which training step on"},
    PEAT_PARAM_END,
};

#ifndef WHEN
#define WHEN (c->step >= k->step)
#endif

static bool is_time(const peat_call *c, int64_t place)
{
    const struct config *k = c->config;
    return k->place == place && WHEN;
}

static int64_t crime_at(const peat_call *c, int64_t place)
{
    const struct config *k = c->config;
    return is_time(c, place) ? k->does : NOTHING;
}

/* ---- a kernel that copies ---- */

struct op_arg {
    int64_t forward, backward;
};

static bool infer(const peat_op_call *c, peat_shape *out)
{
    *out = c->src[0].shape;
    return true;
}

static int64_t count(const peat_op_call *c)
{
    int64_t n = 1;
    for (int32_t i = 0; i < c->src[0].shape.rank; i++)
        n *= c->src[0].shape.dim[i];
    return n;
}

static void misuse(const peat_op_call *c, int64_t crime)
{
    commit(crime);
    if (crime == WRITE_CONST)
        ((float *)(uintptr_t)c->src[0].data)[0] = 0;
    if (crime == NOT_A_NUMBER)
        ((float *)c->out->data)[0] = (float)(0.0 / (double)zero);
}

static void forward(const peat_op_call *c, int64_t begin, int64_t end)
{
    size_t bytes = c->out->dtype == PEAT_F32 ? 4 : 8;
    (void)begin;
    (void)end;
    memcpy(c->out->data, c->src[0].data, (size_t)count(c) * bytes);
    misuse(c, ((const struct op_arg *)c->arg)->forward);
}

static void backward(const peat_op_call *c, int64_t begin, int64_t end)
{
    (void)begin;
    (void)end;
    for (int64_t i = 0; c->src_grad[0].data && i < count(c); i++)
        ((float *)c->src_grad[0].data)[i] += ((const float *)c->out_grad->data)[i];
    misuse(c, ((const struct op_arg *)c->arg)->backward);
}

static const peat_op op = {
    .size = sizeof(op), .name = "evil", .infer = infer, .forward = forward, .backward = backward};

/* ---- hooks ---- */

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const struct config *k = config;
    (void)self;
    if (k->place == AT_SETUP && k->does == SHAPE)
        return peat_refuse(s, "this cannot be");
    if (k->place == AT_SETUP)
        commit(k->does);
    return PEAT_OK;
}

static peat_status prepare(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])
{
    int64_t crime = crime_at(c, AT_PREPARE);
    (void)shared;
    commit(crime);
    return crime == SHAPE ? PEAT_FAILED : PEAT_OK;
}

static peat_node *misshape(const peat_call *c, int64_t crime, peat_node *x)
{
    if (crime == NOTHING_AT_ALL)
        return NULL;
    if (crime == MEMORY)
        return peat_fill(c, 1, (int64_t[]){1}, peat_scratch(c, INT64_C(1) << 58));
    if (crime == NOT_A_NUMBER)
        return peat_scale(c->g, x, 0.0 / (double)zero);
    return crime == SHAPE ? peat_slice(c->g, x, -1, 0, 1) : x;
}

static peat_node *encode(const peat_call *c)
{
    int64_t crime = crime_at(c, AT_ENCODE);
    const int64_t dim[] = {1, c->q->T, c->d};
    double *value = peat_scratch(c, c->q->T * c->d);
    for (int64_t i = 0; value && i < c->q->T * c->d; i++)
        value[i] = 0;
    commit(crime);
    return misshape(c, crime, peat_fill(c, 3, dim, value));
}

static peat_node *residual(const peat_call *c, peat_node *x)
{
    int64_t crime = crime_at(c, AT_RESIDUAL);
    struct op_arg arg = {crime_at(c, AT_FORWARD), crime_at(c, AT_BACKWARD)};
    commit(crime);
    x = peat_custom(c->g, &op, 1, &x, &arg, sizeof(arg));
    return misshape(c, crime, x);
}

static peat_status qkv(const peat_call *c, peat_qkv *io)
{
    int64_t crime = crime_at(c, AT_QKV);
    commit(crime);
    io->v = misshape(c, crime, io->v);
    return PEAT_OK;
}

static peat_node *bias(const peat_call *c, const peat_qkv *p)
{
    int64_t crime = crime_at(c, AT_BIAS);
    (void)p;
    commit(crime);
    return misshape(c, crime, peat_scale(c->g, peat_delta(c, 0), 0));
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .setup = setup,
    .prepare = prepare,
    .encode = encode,
    .residual = residual,
    .qkv = qkv,
    .bias = bias,
};

#ifdef ON_LOAD
__attribute__((constructor)) static void on_load(void)
{
    commit(ON_LOAD);
}
#endif

static const peat_plugin descriptor = {
    .magic = PEAT_MAGIC,
    .size = sizeof(descriptor),
    .abi_major = PEAT_ABI_MAJOR,
    .abi_minor = PEAT_ABI_MINOR,
    .id = "evil_scheme",
    .version = "1.0",
    .summary = "does harm",
    .licence = "MIT",
    .citation = "",
    .kind = PEAT_SCHEME,
    .config_size = sizeof(struct config),
    .param = rows,
    .interface = &scheme,
};

PEAT_EXPORT const peat_plugin *peat_entry(void);
PEAT_EXPORT const peat_plugin *peat_entry(void)
{
#ifdef ON_ENTRY
    commit(ON_ENTRY);
#endif
    return &descriptor;
}
