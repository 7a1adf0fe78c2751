/* SPDX-License-Identifier: MIT */
/*
 * rng.h: counter-based random numbers (Philox4x32-10; Salmon et al. 2011), from Random123.
 *
 * A stream is a 64-bit key made of the seed, a purpose and a name; the index-th number of a stream
 * is a function of both alone. There is no state, so any thread may draw any number, a resumed run
 * draws the same ones, and a new tensor does not change another's.
 */
#pragma once

#include <stdint.h>

/* purpose: "init", "batch", "dropout", "plugin"; name: the tensor's, or "". */
uint64_t rng_stream(uint64_t seed, const char *purpose, const char *name);
/* The stream's substream for one step, row or sequence. */
uint64_t rng_substream(uint64_t stream, uint64_t index);
/* 64 random bits. */
uint64_t rng_bits(uint64_t stream, uint64_t index);
/* Uniform in [0, 1), 53 bits. */
double rng_uniform(uint64_t stream, uint64_t index);
/* Standard normal (Box-Muller over one Philox block). */
double rng_normal(uint64_t stream, uint64_t index);
