/* SPDX-License-Identifier: MIT */
/*
 * parts.h: the residual stream as a sum of what tokens, positions, segments and constants brought.
 *
 *   x = x_token + x_position + x_segment + x_constant        [B*T, D]
 *
 * At the input a stream's part is the merge with all other streams at zero, less the merge with
 * every stream at zero; the latter is the constant part. This is a decomposition where the merge is
 * linear in its streams, and `error` says whether it is.
 *
 * Through a block the parts go as through a linear map, with the scale 1 / sqrt(var + eps) of each
 * token, the attention weights and the slope act(u) / u of each hidden unit held as they are for x.
 * The constant part collects every bias and every norm's beta. After the first attention this is an
 * attribution: the numbers held fixed depend on all parts.
 */
#pragma once

#include "diagnose/trace.h"
#include "model/block.h"

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
    double *whole;    /* [rows, D]: what they should sum to                       */
    double error;     /* largest |whole - sum| / largest |whole|                  */
};

#define PARTS_ROUNDING 1e-6 /* an `error` below is rounding */
/* Some scheme's stream is merged at the input, and not later alone. */
bool parts_are_linear(const struct parts *p);
double parts_error(const struct parts *p);

/* Of one batch: the merged input, and what block 0 works on, which is more where schemes act on
 * the residual stream. In the work arena. False when the subject has failed. */
bool parts_find(struct subject *s, const peat_batch *b, struct parts *input, struct parts *block);

/* y_p = (x_p - mean x_p) / sqrt(var x + eps) * w, the constant part + b; an RMS norm without mean
 * and b. `whole` is shared. */
void parts_norm(const struct norm_weights *n, const struct parts *from, struct parts *to,
                struct arena *a);

enum projection { OF_QUERY, OF_KEY, OF_VALUE, OF_ALL };

/* The parts in the attention of one head group. Arrays [B, H of the group, T, C]. */
struct group_parts {
    const struct attention_seen *seen;
    int64_t H, C, Cv;
    double *x[OF_ALL][PARTS];
    double error; /* of queries and keys, as in struct parts */
};

/* The parts x of what block `layer` works on, as queries, keys and values of its *n head groups; t
 * is of the same batch, with attention, and not ended. NULL when the subject has failed. */
struct group_parts *parts_project(struct trace *t, int64_t layer, const struct parts *x, int *n);
/* x becomes the parts of what block layer + 1 works on. */
void parts_advance(struct trace *t, int64_t layer, struct parts *x, const struct group_parts *group,
                   int n);
/* Why parts cannot be followed through block `layer`; NULL: they can. */
const char *parts_obstacle(const struct model *m, int64_t layer, struct arena *a);
