/* SPDX-License-Identifier: MIT */
/* decode.c: greedy answers by fixed point, and token by token. */
#include "train/decode.h"

#include <string.h>

#include "train/forward.h"

/* ---- batches ---- */

/* Rows row[0 .. n-1] and the first T columns of a [B, from] array as a dense [n, T] one. */
static void *cut(struct arena *a, const void *array, size_t bytes_each, int64_t n,
                 const int64_t *row, int64_t from, int64_t T)
{
    unsigned char *dense = arena_try_array(a, (size_t)(n * T), bytes_each);
    size_t width = (size_t)T * bytes_each, step = (size_t)from * bytes_each;
    for (int64_t i = 0; dense && i < n; i++)
        memcpy(dense + (size_t)i * width, (const unsigned char *)array + (size_t)row[i] * step,
               width);
    return dense;
}

/* Rows of a batch cut to T columns; what forward_input reads and no targets. */
static peat_status batch_cut(struct arena *a, const peat_batch *b, int64_t n, const int64_t *row,
                             int64_t T, peat_batch *part, struct error *err)
{
    *part = *b;
    part->B = n;
    part->T = T;
    part->token = cut(a, b->token, sizeof(*b->token), n, row, b->T, T);
    part->segment = cut(a, b->segment, sizeof(*b->segment), n, row, b->T, T);
    part->document = cut(a, b->document, sizeof(*b->document), n, row, b->T, T);
    part->pad = cut(a, b->pad, sizeof(*b->pad), n, row, b->T, T);
    part->special = cut(a, b->special, sizeof(*b->special), n, row, b->T, T);
    part->sequence = cut(a, b->sequence, sizeof(*b->sequence), n, row, 1, 1);
    if (b->source) {
        part->source = cut(a, b->source, sizeof(*b->source), n, row, b->S, b->S);
        part->source_pad = cut(a, b->source_pad, sizeof(*b->source_pad), n, row, b->S, b->S);
        part->source_special =
            cut(a, b->source_special, sizeof(*b->source_special), n, row, b->S, b->S);
        if (!part->source || !part->source_pad || !part->source_special)
            return error_set(err, PEAT_NOMEM, "out of memory in evaluation");
    }
    if (part->token && part->segment && part->document && part->pad && part->special &&
        part->sequence)
        return PEAT_OK;
    return error_set(err, PEAT_NOMEM, "out of memory in evaluation");
}

/* The lowest id wins ties. */
static int32_t highest_logit(const struct tensor *logits, int64_t row)
{
    int64_t V = logits->dim[logits->rank - 1], best = 0;
    for (int64_t v = 1; v < V; v++)
        if (tensor_get(logits, row * V + v) > tensor_get(logits, row * V + best))
            best = v;
    return (int32_t)best;
}

/* ---- token by token ---- */

/* Token i of every row's answer into made [B, answer], from the tokens made before it. */
static peat_status make_token(struct trainer *t, const peat_batch *b, const int64_t *row, int64_t i,
                              int32_t *made, struct error *err)
{
    peat_batch prefix;
    peat_status status = batch_cut(&t->step_arena, b, b->B, row, b->prompt + i, &prefix, err);
    if (status != PEAT_OK)
        return status;
    for (int64_t r = 0; r < b->B; r++)
        memcpy(prefix.token + r * prefix.T + b->prompt, made + r * b->answer,
               (size_t)i * sizeof(*made));
    struct model_input in = forward_input(&prefix, PEAT_EVAL);
    in.T_total = b->prompt + b->answer;
    in.last_only = true;
    struct graph g;
    peat_node *logits;
    status = forward_run(t, &g, &in, &logits, "evaluation", err);
    for (int64_t r = 0; status == PEAT_OK && r < b->B; r++)
        made[r * b->answer + i] = highest_logit(&logits->value, r);
    return status;
}

/* 0, 1, ..., n-1; NULL: no memory. */
static int64_t *all_rows(struct arena *a, int64_t n)
{
    int64_t *row = ARENA_TRY_ARRAY(a, n, int64_t);
    for (int64_t i = 0; row && i < n; i++)
        row[i] = i;
    return row;
}

peat_status decode_by_token(struct trainer *t, const peat_batch *b, int32_t *made,
                            struct error *err)
{
    struct arena *a = &t->step_arena;
    struct arena_mark outer = arena_mark(a);
    const int64_t *row = all_rows(a, b->B);
    peat_status status = row ? PEAT_OK : error_set(err, PEAT_NOMEM, "out of memory in evaluation");
    for (int64_t i = 0; status == PEAT_OK && i < b->answer; i++) {
        struct arena_mark mark = arena_mark(a);
        status = make_token(t, b, row, i, made, err);
        arena_rewind(a, mark);
    }
    arena_rewind(a, outer);
    return status;
}

/* ---- by fixed point ---- */

/* Rows whose answers are not final yet: the first `done` tokens of row[i] are. */
struct drafts {
    int64_t n;
    int64_t *row, *done;
};

/* What the model chooses after the prompt and the draft, in the place of the draft. True: final. */
static bool take_choices(const struct tensor *logits, int64_t at, int64_t n, int32_t *draft,
                         int64_t *done)
{
    bool same = true;
    for (int64_t i = *done; i < n; i++) {
        int32_t choice = highest_logit(logits, at + i);
        if (same)
            *done = i + 1;
        same = same && choice == draft[i];
        draft[i] = choice;
    }
    return *done == n;
}

/* One pass over the rows that are left; those that became final are taken out. */
static peat_status refine(struct trainer *t, const peat_batch *b, struct drafts *left,
                          int32_t *made, struct error *err)
{
    peat_batch part;
    int64_t T = b->prompt + b->answer - 1, kept = 0;
    peat_status status = batch_cut(&t->step_arena, b, left->n, left->row, T, &part, err);
    if (status != PEAT_OK)
        return status;
    for (int64_t i = 0; i < left->n; i++)
        memcpy(part.token + i * T + b->prompt, made + left->row[i] * b->answer,
               (size_t)(b->answer - 1) * sizeof(*made));
    struct model_input in = forward_input(&part, PEAT_EVAL);
    in.T_total = b->prompt + b->answer;
    struct graph g;
    peat_node *logits;
    status = forward_run(t, &g, &in, &logits, "evaluation", err);
    for (int64_t i = 0; status == PEAT_OK && i < left->n; i++) {
        int64_t row = left->row[i], done = left->done[i];
        if (take_choices(&logits->value, i * T + b->prompt - 1, b->answer, made + row * b->answer,
                         &done))
            continue;
        left->row[kept] = row;
        left->done[kept++] = done;
    }
    left->n = kept;
    return status;
}

peat_status decode_greedy(struct trainer *t, const peat_batch *b, int32_t *made, struct error *err)
{
    if (!t->model->dims.causal)
        return decode_by_token(t, b, made, err);
    struct arena *a = &t->step_arena;
    struct arena_mark outer = arena_mark(a);
    struct drafts left = {b->B, all_rows(a, b->B), ARENA_TRY_ARRAY(a, b->B, int64_t)};
    if (!left.row || !left.done) {
        arena_rewind(a, outer);
        return error_set(err, PEAT_NOMEM, "out of memory in evaluation");
    }
    memset(left.done, 0, (size_t)b->B * sizeof(*left.done));
    for (int64_t row = 0; row < b->B; row++)
        memcpy(made + row * b->answer, b->target + row * b->T + b->prompt - 1,
               (size_t)b->answer * sizeof(*made));
    peat_status status = PEAT_OK;
    while (status == PEAT_OK && left.n > 0) {
        struct arena_mark mark = arena_mark(a);
        status = refine(t, b, &left, made, err);
        arena_rewind(a, mark);
    }
    arena_rewind(a, outer);
    return status;
}
