/* SPDX-License-Identifier: MIT */
/*
 * parts.h: the residual stream as a sum of parts that come from tokens, positions, segments and
 * constants.
 *
 *   x = x_token + x_position + x_segment + x_constant        [B*T, D]
 *
 * At the input a stream's part is the merge with all other streams at zero, less the merge with
 * every stream at zero; the latter is the constant part. This is a decomposition where the merge is
 * linear in its streams, and `error` says whether it is.
 *
 * Through a block the parts go as through a linear map, with the scale 1 / sqrt(var + eps) of each
 * token, the attention weights and the slope act(u) / u of each hidden unit, or the gate in front
 * of it, held as they are for x. The constant part collects every bias and every norm's beta. After
 * the first attention this is an attribution: the numbers held fixed depend on all parts.
 */
#pragma once

#include "diagnose/trace.h"

enum part_kind {
    PART_TOKEN = STREAM_TOKEN,
    PART_POSITION = STREAM_POSITION,
    PART_SEGMENT = STREAM_SEGMENT,
    PART_CONSTANT,
    PARTS
};
extern const char *const part_name[PARTS];

struct parts {
    int64_t rows, D;  /* rows = B * T                                             */
    double *x[PARTS]; /* [rows, D]; NULL: the model has no such stream            */
    double *whole;    /* [rows, D]: the stream, which the parts should sum to     */
    double error;     /* largest |whole - sum| / largest |whole|                  */
};

#define PARTS_ROUNDING 1e-6 /* where an `error` is below this, it is rounding */
/* Whether the merge is linear in its streams. */
bool parts_are_linear(const struct parts *p);

/* For one batch: the parts of the merged input, and those of the input of block 0, which
 * differ where schemes act on the residual stream. In the work arena. False when the
 * subject has failed. */
bool parts_find(struct subject *s, const peat_batch *b, struct parts *input, struct parts *block);

enum projection { OF_QUERY, OF_KEY, OF_VALUE, OF_ALL };

/* The parts in the attention of one head group, as arrays [B, H of the group, T, C]. */
struct group_parts {
    const struct attention_seen *seen;
    int64_t H, C, Cv;
    double *x[OF_ALL][PARTS];
    double error; /* for queries and keys, as in struct parts */
};

/* Projects the parts x of block `layer`'s input to queries, keys and values of its *n head groups.
 * t is a trace of the same batch, with attention, that has not ended. NULL when the subject has
 * failed. */
struct group_parts *parts_project(struct trace *t, int64_t layer, const struct parts *x, int *n);
/* Replaces x by the parts of the input of block layer + 1. */
void parts_advance(struct trace *t, int64_t layer, struct parts *x, const struct group_parts *group,
                   int n);
/* Why parts cannot be followed through block `layer`; NULL: they can be. */
const char *parts_obstacle(const struct model *m, int64_t layer, struct arena *a);
