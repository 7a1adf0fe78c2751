/* SPDX-License-Identifier: MIT */
/* slice.h: the parts of tensors in one tile of all weights; tiles may begin and end inside a
 * tensor.
 */
#ifndef TRAIN_SLICE_H
#define TRAIN_SLICE_H

#include "nn/weights.h"

/* Elements [begin, end) of one weight, counted from the weight's own start. */
struct slice {
    int64_t begin, end;
};

/* The part of a trained weight inside elements [begin, end) of the block; false: nothing. */
static inline bool slice_of(const struct weight *w, int64_t begin, int64_t end, struct slice *s)
{
    if (w->frozen || !w->grad.data)
        return false;
    int64_t n = tensor_count(&w->value);
    s->begin = begin > w->offset ? begin - w->offset : 0;
    s->end = end - w->offset < n ? end - w->offset : n;
    return s->begin < s->end;
}

#endif
