/* SPDX-License-Identifier: MIT */
/* cases.h: a case, the configuration of a model in which a property is tried, and its text, from
 * which it can be made again: "causality decoder length=6 rows=1 heads=2 width=4 place=3 shift=0
 * streams=0 seed=17 training". The plugin's parameters are not part of it. */
#pragma once

#include "base/base.h"
#include <peat/plugin.h>

struct property; /* property.h */

enum { CASE_LAYERS = 8 }; /* at most */

enum case_flag {
    CASE_TRAINING = 1 << 0,
    CASE_F32 = 1 << 1,
    CASE_MOVED = 1 << 2,   /* a companion scheme shifts all positions, perhaps by 0 */
    CASE_PADDED = 1 << 3,  /* as case_padding says */
    CASE_PACKED = 1 << 4,  /* a second document begins at `place` */
    CASE_GUARDED = 1 << 5, /* each block of memory has a guard zone, which must not change */
    CASE_LLAMA = 1 << 6,   /* RMS norms, a gate by silu, no biases                              */
    CASE_HEADS = 1 << 7,   /* the scheme acts on all heads but the first                        */
    CASE_DIMS = 1 << 8,    /* the scheme acts on the second half of each head's dimensions      */
    CASE_WIDER = 1 << 9,   /* a companion before the scheme makes q and k twice as wide         */
    CASE_FRACTIONAL = 1 << 10, /* positions and shifts are multiplied by 3/4 */
    CASE_ACROSS_ONLY = 1 << 11 /* the scheme acts in cross-attention only */
};

struct check_case {
    const struct property *property;
    peat_arch arch;
    unsigned flags;
    int64_t length, rows;
    int64_t heads, width; /* width of one head: D is heads times width */
    int64_t place;        /* place of the row, < length, at which the property's change begins */
    int64_t shift;        /* number that is added to all positions */
    int64_t streams;      /* streams of a combine; 0: the fewest that it accepts */
    int64_t layers;       /* 0: 2                                   */
    int64_t step;         /* training step, or the last one before an evaluation;
                           * 0: 1 to 7, by the seed, or none */
    int64_t stride;       /* distance of neighbouring positions; 0: 1 */
    int64_t seed;         /* seed of the tokens and of the property's own draws */
};

/* Three rows of length 6 in a decoder of width 16, seed 0. */
struct check_case case_usual(const struct property *p);
/* Reads the n bytes of `text` as words of a case; numbers that they do not set stay. */
peat_status case_read(struct check_case *c, const char *text, size_t n, struct error *err);
/* A whole case, which names its property. */
peat_status case_parse(struct check_case *c, const char *text, struct error *err);
const char *case_text(const struct check_case *c, struct arena *a);
/* Sets the k-th case, from 0, that is simpler than c or equal to it; false: there are no more. */
bool case_smaller(const struct check_case *c, int k, struct check_case *smaller);
/* Places [*from, *to) of row b are not padding; *side: "before". */
void case_padding(const struct check_case *c, int64_t b, int64_t *from, int64_t *to,
                  const char **side);
