/* SPDX-License-Identifier: MIT */
/* stream.c: a stream of sines. Most crimes are claims that do not hold. */
#include <math.h>

#include <peat/plugin.h>

static void row(const void *config, const double *pos, double *out, int64_t d)
{
    (void)config;
    for (int64_t i = 0; i < d; i++)
#ifdef CRIME_not_finite /* at the first position */
        out[i] = log(pos[0]);
#else
        out[i] = sin(pos[0] / (double)(i + 1));
#endif
}

static peat_node *encode(const peat_call *c)
{
    int64_t d = c->d;
#ifdef CRIME_wrong_shape
    d /= 2;
#endif
    return peat_rows(c, c->q, d, row);
}

#ifdef CRIME_claims_norm /* but queries and keys grow */
static peat_status qkv(const peat_call *c, peat_qkv *io)
{
    io->q = peat_scale(c->g, io->q, 1.25);
    io->k = peat_scale(c->g, io->k, 1.25);
    return PEAT_OK;
}
#endif

#ifdef CRIME_claims_no_trainable
static peat_status setup(peat_setup *s, const void *config, void **self)
{
    (void)config, (void)self;
    peat_param_new(s, "gain", 1, &s->dims.D, (peat_init){.kind = PEAT_INIT_ZERO}, PEAT_ONCE, 0);
    return PEAT_OK;
}

static peat_node *residual(const peat_call *c, peat_node *x)
{
    return peat_add(c->g, x, peat_use(c, 0));
}
#endif

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .encode = encode,
#if defined(CRIME_claims_shift)
    .traits = PEAT_SHIFT_INVARIANT,
#elif defined(CRIME_claims_norm)
    .traits = PEAT_NORM_PRESERVING,
    .qkv = qkv,
#elif defined(CRIME_claims_norm_without_qkv)
    .traits = PEAT_NORM_PRESERVING,
#elif defined(CRIME_claims_permutation)
    .traits = PEAT_PERMUTATION_EQUIVARIANT,
#elif defined(CRIME_claims_length)
    .traits = PEAT_FINITE_LENGTH,
#elif defined(CRIME_claims_content)
    .traits = PEAT_CONTENT_DEPENDENT,
#else
    .traits = PEAT_NO_TRAINABLE,
#ifdef CRIME_claims_no_trainable
    .setup = setup,
    .residual = residual,
#endif
#endif
};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "planted", "1.0", "a stream of sines", "MIT", "")
