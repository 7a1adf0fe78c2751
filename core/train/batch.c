/* SPDX-License-Identifier: MIT */
/* batch.c: the table of all arrays of a batch, and loops over it. */
#include "train/task.h"

/* One array of a batch: [planes, B, columns] items. */
struct array {
    size_t at, bytes; /* offset of its pointer in peat_batch; bytes of one item */
    int64_t planes, columns;
    int empty; /* value of each byte in an empty batch */
};

enum { ARRAYS = 13 + PEAT_MAX_STREAMS };

#define ARRAY(field) offsetof(peat_batch, field), sizeof(*((peat_batch *)0)->field)

static struct array stream_array(const peat_batch *b, int64_t i)
{
    size_t pointer = (size_t)i * sizeof(void *), numbers = (size_t)b->stream_numbers[i];
    struct array a = {ARRAY(stream_id[0]), 1, b->T, 0};
    if (numbers > 0)
        a = (struct array){ARRAY(stream_number[0]) * numbers, 1, b->T, 0};
    a.at += pointer;
    return a;
}

/* The arrays that a batch of these sizes has; returns their number. */
static int arrays_of(const peat_batch *b, struct array out[ARRAYS])
{
    const int64_t T = b->T, S = b->S, if_source = S > 0, if_patch = b->patch_width > 0;
    const struct array all[] = {
        {ARRAY(token), 1, T, 0},
        {ARRAY(target), 1, T, -1},
        {ARRAY(segment), 1, T, 0},
        {ARRAY(document), 1, T, 0},
        {ARRAY(pad), 1, T, 0},
        {ARRAY(special), 1, T, 0},
        {ARRAY(sequence), 1, 1, 0},
        {ARRAY(label), 1, 1, -1},
        {ARRAY(patch) * (size_t)b->patch_width, if_patch, T, 0},
        {ARRAY(pos), b->n_axes, T, 0},
        {ARRAY(source), if_source, S, 0},
        {ARRAY(source_pad), if_source, S, 0},
        {ARRAY(source_special), if_source, S, 0},
    };
    int n = 0;
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        if (all[i].planes > 0)
            out[n++] = all[i];
    for (int64_t i = 0; i < b->n_stream; i++)
        out[n++] = stream_array(b, i);
    return n;
}

static unsigned char *data_of(const peat_batch *b, const struct array *array)
{
    unsigned char *data;
    memcpy(&data, (const char *)b + array->at, sizeof(data));
    return data;
}

/* Memory for an array of a batch; NULL: out of memory. */
static unsigned char *make(struct arena *arena, peat_batch *b, const struct array *array)
{
    unsigned char *data =
        arena_try_array(arena, (size_t)(array->planes * b->B * array->columns), array->bytes);
    memcpy((char *)b + array->at, &data, sizeof(data));
    return data;
}

static void resize(struct batch *batch)
{
    batch->b.B = batch->capacity_B;
    batch->b.T = batch->capacity_T;
    batch->b.S = batch->capacity_S;
}

void batch_offer(struct batch *batch)
{
    struct array array[ARRAYS];
    peat_batch *b = &batch->b;
    resize(batch);
    for (int i = arrays_of(b, array) - 1; i >= 0; i--)
        memset(data_of(b, &array[i]), array[i].empty,
               (size_t)(array[i].planes * b->B * array[i].columns) * array[i].bytes);
    b->has_segment = b->has_document = b->has_pad = b->has_special = false;
    b->units = b->prompt = b->answer = 0;
}

static peat_status init(struct batch *batch, const peat_task_plan *p, struct arena *arena,
                        int64_t B, int64_t T)
{
    BUG_UNLESS(B > 0 && T > 0 && B <= INT64_MAX / T);
    struct array array[ARRAYS];
    peat_batch *b = &batch->b;
    bool ok = true;
    *batch = (struct batch){.b = {.size = sizeof(*b), .n_axes = p->n_axes, .n_stream = p->n_stream},
                            .capacity_B = B,
                            .capacity_T = T,
                            .capacity_S = p->arch == PEAT_SEQ2SEQ ? p->source_T : 0};
    b->patch_width = p->input == PEAT_INPUT_PATCHES ? p->patch_width : 0;
    for (int64_t i = 0; i < p->n_stream; i++)
        b->stream_numbers[i] = p->stream[i].ids > 0 ? 0 : p->stream[i].numbers;
    resize(batch);
    for (int i = arrays_of(b, array) - 1; i >= 0; i--)
        ok = make(arena, b, &array[i]) && ok;
    if (ok)
        batch_offer(batch);
    return ok ? PEAT_OK : PEAT_NOMEM;
}

peat_status batch_init(struct batch *batch, struct arena *arena, int64_t B, int64_t T)
{
    return init(batch, &(peat_task_plan){.size = sizeof(peat_task_plan)}, arena, B, T);
}

peat_status task_batch_init(const struct task *t, struct batch *batch, struct arena *arena,
                            int64_t B, int64_t T)
{
    return init(batch, &t->plan, arena, B, T);
}

bool batch_cut(struct arena *a, const peat_batch *b, int64_t n, const int64_t *row, int64_t T,
               peat_batch *part)
{
    struct array from[ARRAYS], to[ARRAYS];
    *part = *b;
    part->B = n;
    part->T = T;
    arrays_of(part, to);
    for (int i = arrays_of(b, from) - 1; i >= 0; i--) {
        const unsigned char *whole = data_of(b, &from[i]);
        if (!whole)
            continue;
        unsigned char *cut = make(a, part, &to[i]);
        if (!cut)
            return false;
        size_t step = (size_t)from[i].columns * from[i].bytes;
        size_t width = (size_t)to[i].columns * to[i].bytes;
        for (int64_t plane = 0; plane < to[i].planes; plane++)
            for (int64_t r = 0; r < n; r++, cut += width)
                memcpy(cut, whole + (size_t)(plane * b->B + (row ? row[r] : r)) * step, width);
    }
    return true;
}

bool batch_has_rows(const peat_batch *x, int64_t first, const peat_batch *y)
{
    struct array array[ARRAYS];
    bool same = x->T == y->T && x->S == y->S && x->B - first >= y->B;
    for (int i = arrays_of(y, array) - 1; same && i >= 0; i--) {
        size_t row = (size_t)array[i].columns * array[i].bytes, n = (size_t)y->B * row;
        for (int64_t plane = 0; plane < array[i].planes; plane++)
            same = same && memcmp(data_of(x, &array[i]) + (size_t)(plane * x->B + first) * row,
                                  data_of(y, &array[i]) + (size_t)plane * n, n) == 0;
    }
    return same;
}
