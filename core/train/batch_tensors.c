/* SPDX-License-Identifier: MIT */
/* batch_tensors.c: the arrays of a batch under their names. */
#include "train/batch_tensors.h"

enum item { ID, FLAG, NUMBER, REAL, COUNT };

/* An array of a batch, [B], [B,T], [B,T,n] or [planes,B,T]; data NULL: the batch has none. */
struct array {
    const char *name;
    enum item item;
    const void *data;
    int rank;
    int64_t dim[3];
};

static struct tensor as_flags(const struct array *x, struct arena *a)
{
    const uint8_t *from = x->data;
    struct tensor t = tensor_new(a, PEAT_I32, x->rank, x->dim);
    for (int64_t i = 0; t.data && i < tensor_count(&t); i++)
        ((int32_t *)t.data)[i] = from[i];
    return t;
}

/* Sequences are numbers below 2^53. */
static struct tensor as_reals(const struct array *x, struct arena *a)
{
    const int64_t *from = x->data;
    struct tensor t = tensor_new(a, PEAT_F64, x->rank, x->dim);
    for (int64_t i = 0; t.data && i < tensor_count(&t); i++)
        ((double *)t.data)[i] = (double)from[i];
    return t;
}

static struct tensor tensor_of(const struct array *x, struct arena *a)
{
    static const peat_dtype dtype[] = {[ID] = PEAT_I32, [NUMBER] = PEAT_F32, [REAL] = PEAT_F64};
    if (x->item == FLAG)
        return as_flags(x, a);
    if (x->item == COUNT)
        return as_reals(x, a);
    struct tensor t = tensor_shape(dtype[x->item], x->rank, x->dim);
    t.data = (void *)(uintptr_t)x->data;
    return t;
}

static bool add(const struct array *x, const char *prefix, struct arena *a,
                struct named_tensor *out, int *n)
{
    if (!x->data)
        return true;
    out[*n] = (struct named_tensor){arena_printf(a, "%s%s", prefix, x->name), tensor_of(x, a)};
    return out[(*n)++].tensor.data;
}

/* A stream of the task, "stream.NAME". */
static struct array stream_of(const struct task *t, const peat_batch *b, int64_t i, struct arena *a)
{
    const char *name = arena_printf(a, "stream.%s", t->plan.stream[i].name);
    if (b->stream_id[i])
        return (struct array){name, ID, b->stream_id[i], 2, {b->B, b->T}};
    return (struct array){name, NUMBER, b->stream_number[i], 3, {b->B, b->T, b->stream_numbers[i]}};
}

int batch_tensors(const struct task *t, const peat_batch *b, const char *prefix, struct arena *a,
                  struct named_tensor out[BATCH_TENSORS])
{
    const int64_t B = b->B, T = b->T, S = b->S;
    const bool classes = t->plan.head != PEAT_HEAD_TOKENS;
    const struct array row[] = {
        {"token", ID, b->patch ? NULL : b->token, 2, {B, T}},
        {"target", ID, t->plan.head == PEAT_HEAD_CLASS ? NULL : b->target, 2, {B, T}},
        {"label", ID, classes ? b->label : NULL, 1, {B}},
        {"patch", NUMBER, b->patch, 3, {B, T, b->patch_width}},
        {"pos", REAL, b->pos, 3, {b->n_axes, B, T}},
        {"segment", ID, b->has_segment ? b->segment : NULL, 2, {B, T}},
        {"document", ID, b->has_document ? b->document : NULL, 2, {B, T}},
        {"pad", FLAG, b->has_pad ? b->pad : NULL, 2, {B, T}},
        {"special", FLAG, b->has_special ? b->special : NULL, 2, {B, T}},
        {"sequence", COUNT, b->sequence, 1, {B}},
        {"source", ID, b->source, 2, {B, S}},
        {"source_pad", FLAG, b->source_pad, 2, {B, S}},
        {"source_special", FLAG, b->source_special, 2, {B, S}},
    };
    int n = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof(row) / sizeof(*row); i++)
        ok = add(&row[i], prefix, a, out, &n);
    for (int64_t i = 0; ok && i < b->n_stream; i++) {
        struct array x = stream_of(t, b, i, a);
        ok = add(&x, prefix, a, out, &n);
    }
    return ok ? n : -1;
}
