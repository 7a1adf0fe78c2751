/* SPDX-License-Identifier: MIT */
/*
 * collisions.h: can e_a + p_i be mistaken for e_b + p_j?
 *
 * A nearest-neighbour decoder sees x = e_a + p_i + noise and answers with the pair (b, j) whose sum
 * is nearest, of all pairs of the tables; where all queries (a, i) exceed the budget, a seeded
 * sample of them is decoded. Noise is normal, the same in every dimension. Distances are Euclidean.
 * Candidates are measured again by subtraction, so equal sums have distance exactly 0.
 */
#pragma once

#include "maths/spectrum.h"

enum { COLLISION_NOISES = 3, COLLISION_PAIRS = 8 };

struct collision_settings {
    const struct team *team; /* after gemm_start; the answer does not depend on its threads */
    uint64_t stream;         /* key from rng_stream() for the draws of queries and noise */
    int64_t budget;          /* number of comparisons, at least 64 queries; 0: 2^32, which takes
                              * some seconds */
    int n_noise;             /* 0 .. COLLISION_NOISES                                    */
    double noise[COLLISION_NOISES]; /* standard deviation per dimension / `spread` of the result */
};

/* (a, i) and (b, j), a != b and i != j; distance = |e_a + p_i - e_b - p_j|. */
struct collision {
    int64_t a, i, b, j;
    double distance;
};

/* Shares of the queries. A query is not decoded if a wrong answer is as near as the right one
 * (within `tolerance`). */
struct decoded {
    double noise, token, position, both;
};

struct collisions {
    int64_t queries;  /* number of queries that were decoded                                     */
    bool exhaustive;  /* true: the queries are all pairs                                         */
    double spread;    /* root mean square over dimensions of the sums' standard deviation        */
    double scale;     /* root mean square distance of two sums: spread * sqrt(2 d)               */
    double tolerance; /* 1e-6 scale: distances that differ by less count as equal                */
    int n_decoded;    /* 1 + n_noise                                                             */
    struct decoded decoded[1 + COLLISION_NOISES]; /* the first entry is without noise            */
    /* Distances without noise, in units of `scale`, over the queries; NaN when no pair has the
     * property. */
    double near_token;    /* least |e_a - e_b|, a != b: of the token table only                  */
    double near_position; /* least |p_i - p_j|, i != j: of the position table only               */
    double near_least, near_mean; /* distance of each query to its nearest pair with a != b and i
                                   * != j */
    int64_t exact;                /* queries whose nearest such pair is within `tolerance`       */
    int n_pairs;                  /* the nearest such pairs, each once, nearest first            */
    struct collision pair[COLLISION_PAIRS];
};

/* token [V, d], position [T, d], V and T at least 1: the streams of a combination that is linear in
 * them (for concatenation, padded with zeros). Besides the comparisons it costs V T d
 * multiplications for each 1024 queries. PEAT_FAILED: not finite. */
peat_status collisions_of_sums(struct collisions *c, const struct matrix *token,
                               const struct matrix *position, const struct collision_settings *s,
                               struct arena *a, struct error *err);

/* The same for any combination: row r of x [n, d] is the merge of token[r] and position[r]. Every
 * row is compared with every row: n^2 d products. */
peat_status collisions_of_rows(struct collisions *c, const struct matrix *x, const int64_t *token,
                               const int64_t *position, const struct collision_settings *s,
                               struct arena *a, struct error *err);
