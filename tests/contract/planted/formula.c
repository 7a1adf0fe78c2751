/* SPDX-License-Identifier: MIT */
/* formula.c: queries and keys turn, and queries are divided by sqrt(C). Each crime is a wrong
 * formula that keeps every promise of a plugin: formula.py alone finds it. */
#include <math.h>

#include <peat/plugin.h>

static void turn(const void *config, const double *pos, double *out, int64_t d)
{
#ifdef CRIME_wrong_base
    double base = 1000;
#else
    double base = 10000;
#endif
    (void)config;
    for (int64_t i = 0; i < d / 2; i++) {
        double angle = pos[0] * pow(base, -2.0 * (double)i / (double)d);
        out[i] = cos(angle);
        out[d / 2 + i] = sin(angle);
    }
}

static peat_node *turned(const peat_call *c, const peat_side *side, peat_node *x)
{
    int64_t C = c->dims.C;
    peat_node *rows =
        peat_reshape(c->g, peat_rows(c, side, C, turn), 4, (int64_t[]){side->pos_B, 1, side->T, C});
    peat_node *cosine = peat_slice(c->g, rows, -1, 0, C / 2);
    peat_node *sine = peat_slice(c->g, rows, -1, C / 2, C);
#ifdef CRIME_swapped_pair
    sine = peat_scale(c->g, sine, -1);
#endif
    return peat_turned(c, x, cosine, sine, PEAT_INTERLEAVED);
}

static peat_status qkv(const peat_call *c, peat_qkv *io)
{
    double C = (double)c->dims.C;
#ifdef CRIME_forgotten_root
    double size = C;
#else
    double size = sqrt(C);
#endif
    io->q = peat_scale(c->g, turned(c, c->q, io->q), 1 / size);
    io->k = turned(c, c->k, io->k);
    return PEAT_OK;
}

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    (void)config, (void)self;
    return s->dims.C % 2 == 0 ? PEAT_OK : peat_refuse(s, "an odd head width has no pairs");
}

static const peat_scheme scheme = {.size = sizeof(scheme),
                                   .traits = PEAT_STORABLE | PEAT_SHIFT_INVARIANT |
                                             PEAT_NO_TRAINABLE | PEAT_ACROSS,
                                   .setup = setup,
                                   .qkv = qkv};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "planted", "0.1", "queries and keys turn", "MIT", "")
