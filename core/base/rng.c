/* SPDX-License-Identifier: MIT */
/*
 * rng.c: Philox4x32-10 with three uses of its counter that never overlap.
 *
 * A stream is the Philox key: low word key[0], high word key[1]. The counter is (index low, index
 * high, 0, use); `use` distinguishes draws, substreams and the making of streams. A block's four
 * words are r0..r3; 64 bits are r0 + r1 * 2^32.
 *   stream    = block(key = FNV-1a of purpose, a 0 byte and name; index = seed; use = 2)
 *   substream = block(key = stream; index; use = 1)
 *   draw      = block(key = stream; index; use = 0)
 * Changing any of this changes every experiment.
 */

#include "base/base.h"
#include <Random123/philox.h>

enum use { USE_DRAW = 0, USE_SUBSTREAM = 1, USE_STREAM = 2 };

static philox4x32_ctr_t block(uint64_t key, uint64_t index, enum use use)
{
    philox4x32_ctr_t counter = {{(uint32_t)index, (uint32_t)(index >> 32), 0, (uint32_t)use}};
    philox4x32_key_t words = {{(uint32_t)key, (uint32_t)(key >> 32)}};
    return philox4x32(counter, words);
}

static uint64_t low_bits(philox4x32_ctr_t r)
{
    return (uint64_t)r.v[1] << 32 | r.v[0];
}

static uint64_t high_bits(philox4x32_ctr_t r)
{
    return (uint64_t)r.v[3] << 32 | r.v[2];
}

/* FNV-1a over the text and its terminator, so pairs of texts with the same concatenation differ. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (;; text++) {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
        if (!*text)
            return hash;
    }
}

uint64_t rng_stream(uint64_t seed, const char *purpose, const char *name)
{
    uint64_t key = hash_text(hash_text(UINT64_C(0xcbf29ce484222325), purpose), name);
    return low_bits(block(key, seed, USE_STREAM));
}

uint64_t rng_substream(uint64_t stream, uint64_t index)
{
    return low_bits(block(stream, index, USE_SUBSTREAM));
}

uint64_t rng_bits(uint64_t stream, uint64_t index)
{
    return low_bits(block(stream, index, USE_DRAW));
}

double rng_uniform(uint64_t stream, uint64_t index)
{
    return (double)(rng_bits(stream, index) >> 11) * 0x1p-53;
}

/* sqrt(-2 ln u) cos(2 pi v), u in (0, 1] so that the logarithm is finite, v in [0, 1). */
double rng_normal(uint64_t stream, uint64_t index)
{
    philox4x32_ctr_t r = block(stream, index, USE_DRAW);
    double u = (double)((low_bits(r) >> 11) + 1) * 0x1p-53;
    double v = (double)(high_bits(r) >> 11) * 0x1p-53;
    return sqrt(-2.0 * log(u)) * cos(2.0 * M_PI * v);
}
