/* SPDX-License-Identifier: MIT */
/*
 * combine.h: a combination merges the positional streams with the token stream.
 *
 * Stream 0 is the token embedding; then the schemes' streams in YAML order ("position",
 * "position.2", ...), then "segment", then the streams that the task adds, by their own names.
 */
#ifndef PEAT_COMBINE_H
#define PEAT_COMBINE_H

#include <peat/scheme.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 *   setup  [setup] Runs before the schemes' setup, since they need the widths of their streams. On
 *                  entry stream [n] has the names, width[i] is 0 (free) or the fixed width of
 *                  stream i, and *D is d_model. The combine fills every width[i] and may change *D;
 *                  it registers its parameters, refuses with peat_refuse (PEAT_REFUSED), and may
 *                  keep memory of peat_alloc in *self. With n == 1 the tokens are the only stream.
 *   merge  [graph] x[i] is [1|B, T, width[i]] (stream 0 always B) -> [B, T, D]. c->q carries the
 *                  positions, for combinations that encode position themselves.
 */
typedef struct peat_combine {
    uint32_t size;
    uint32_t needs;      /* peat_need bits                                                 */
    int32_t min_streams; /* 1: encodes position itself; 2: needs a positional stream        */
    int32_t max_streams; /* 0: any number                                                  */
    peat_status (*setup)(peat_setup *s, const void *config, int32_t n, const char *const *stream,
                         int64_t *width, int64_t *D, void **self);
    peat_node *(*merge)(const peat_call *c, int32_t n, peat_node *const *x);
    uint32_t traits; /* PEAT_STORABLE: merge computes a row from the row's own streams and
                      * position */
} peat_combine;

#ifdef __cplusplus
}
#endif
#endif
