/* SPDX-License-Identifier: MIT */
/* decode.c: greedy answers with stored rows, by fixed point, and token by token. */
#include "train/decode.h"

#include <math.h>
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

/* The positions that the data has, [n_axes, n, T]. */
static double *cut_axes(struct arena *a, const peat_batch *b, int64_t n, const int64_t *row,
                        int64_t T)
{
    double *pos = ARENA_TRY_ARRAY(a, b->n_axes * n * T, double);
    for (int64_t axis = 0; pos && axis < b->n_axes; axis++)
        for (int64_t i = 0; i < n; i++)
            memcpy(pos + (axis * n + i) * T, b->pos + (axis * b->B + row[i]) * b->T,
                   (size_t)T * sizeof(*pos));
    return pos;
}

/* Those of the task's own; false: no memory. */
static bool cut_streams(struct arena *a, const peat_batch *b, int64_t n, const int64_t *row,
                        int64_t T, peat_batch *part)
{
    bool ok = true;
    for (int64_t i = 0; i < b->n_stream; i++)
        if (b->stream_id[i])
            ok = (part->stream_id[i] =
                      cut(a, b->stream_id[i], sizeof(**b->stream_id), n, row, b->T, T)) &&
                 ok;
        else
            ok = (part->stream_number[i] =
                      cut(a, b->stream_number[i],
                          sizeof(**b->stream_number) * (size_t)b->stream_numbers[i], n, row, b->T,
                          T)) &&
                 ok;
    return ok;
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
    if (!cut_streams(a, b, n, row, T, part))
        return error_set(err, PEAT_NOMEM, "out of memory in evaluation");
    if (b->patch)
        return error_set(err, PEAT_FAILED, "patches cannot be generated: the batch has a prompt");
    if (b->n_axes > 0)
        part->pos = cut_axes(a, b, n, row, T);
    if (b->n_axes > 0 && !part->pos)
        return error_set(err, PEAT_NOMEM, "out of memory in evaluation");
    if (part->token && part->segment && part->document && part->pad && part->special &&
        part->sequence)
        return PEAT_OK;
    return error_set(err, PEAT_NOMEM, "out of memory in evaluation");
}

/* Some rows and columns of a batch. Their sequences are as long as those that the loss is taken on,
 * so that what depends on the length is the same there and here. */
static struct model_input part_input(const peat_batch *part, const peat_batch *whole)
{
    struct model_input in = forward_input(part, PEAT_EVAL);
    in.T_total = whole->T;
    return in;
}

/* The highest logit of a row, how far the second is below it, and the lowest. The lowest id wins
 * ties. */
struct choice {
    int32_t id;
    double gap, spread;
};

static double logit(const struct tensor *logits, int64_t i)
{
    return logits->dtype == PEAT_F32 ? (double)((const float *)logits->data)[i]
                                     : ((const double *)logits->data)[i];
}

static struct choice choose(const struct tensor *logits, int64_t row)
{
    int64_t V = logits->dim[logits->rank - 1], best = 0;
    double top = logit(logits, row * V), second = -INFINITY, low = top;
    for (int64_t v = 1; v < V; v++) {
        double x = logit(logits, row * V + v);
        bool higher = x > top;
        second = fmax(second, higher ? top : x);
        best = higher ? v : best;
        top = higher ? x : top;
        low = fmin(low, x);
    }
    return (struct choice){(int32_t)best, top - second, top - low};
}

/* ---- token by token ---- */

/* Token i of every answer into made [B, answer], from the tokens made before it. row: all. */
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
    struct model_input in = part_input(&prefix, b);
    in.last_only = true;
    struct graph g;
    peat_node *logits;
    status = forward_run(t, &g, &in, &logits, "evaluation", err);
    for (int64_t r = 0; status == PEAT_OK && r < b->B; r++)
        made[r * b->answer + i] = choose(&logits->value, r).id;
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
        int32_t choice = choose(logits, at + i).id;
        if (same)
            *done = i + 1;
        same = same && choice == draft[i];
        draft[i] = choice;
    }
    return *done == n;
}

/* The truth as the first draft, into made [B, answer]. */
static void draft_truth(const peat_batch *b, int32_t *made)
{
    for (int64_t row = 0; row < b->B; row++)
        memcpy(made + row * b->answer, b->target + row * b->T + b->prompt - 1,
               (size_t)b->answer * sizeof(*made));
}

static int64_t draft_T(const peat_batch *b)
{
    return b->prompt + b->answer - 1;
}

/* Logits [n * draft_T, V] of rows with their drafts. */
static peat_status run_drafts(struct trainer *t, const peat_batch *b, int64_t n, const int64_t *row,
                              const int32_t *made, peat_node **logits, struct error *err)
{
    peat_batch part;
    const int64_t T = draft_T(b);
    peat_status status = batch_cut(&t->step_arena, b, n, row, T, &part, err);
    if (status != PEAT_OK)
        return status;
    for (int64_t i = 0; i < n; i++)
        memcpy(part.token + i * T + b->prompt, made + row[i] * b->answer,
               (size_t)(b->answer - 1) * sizeof(*made));
    struct model_input in = part_input(&part, b);
    struct graph g;
    return forward_run(t, &g, &in, logits, "evaluation", err);
}

/* One pass over the rows that are left; those that became final are taken out. */
static peat_status refine(struct trainer *t, const peat_batch *b, struct drafts *left,
                          int32_t *made, struct error *err)
{
    peat_node *logits;
    int64_t kept = 0;
    peat_status status = run_drafts(t, b, left->n, left->row, made, &logits, err);
    for (int64_t i = 0; status == PEAT_OK && i < left->n; i++) {
        int64_t row = left->row[i], done = left->done[i];
        if (take_choices(&logits->value, i * draft_T(b) + b->prompt - 1, b->answer,
                         made + row * b->answer, &done))
            continue;
        left->row[kept] = row;
        left->done[kept++] = done;
    }
    left->n = kept;
    return status;
}

peat_status decode_by_fixed_point(struct trainer *t, const peat_batch *b, int32_t *made,
                                  struct error *err)
{
    struct arena *a = &t->step_arena;
    struct arena_mark outer = arena_mark(a);
    struct drafts left = {b->B, all_rows(a, b->B), ARENA_TRY_ARRAY(a, b->B, int64_t)};
    if (!left.row || !left.done) {
        arena_rewind(a, outer);
        return error_set(err, PEAT_NOMEM, "out of memory in evaluation");
    }
    memset(left.done, 0, (size_t)b->B * sizeof(*left.done));
    draft_truth(b, made);
    peat_status status = PEAT_OK;
    while (status == PEAT_OK && left.n > 0) {
        struct arena_mark mark = arena_mark(a);
        status = refine(t, b, &left, made, err);
        arena_rewind(a, mark);
    }
    arena_rewind(a, outer);
    return status;
}

/* ---- with stored rows ---- */

/* Logits nearer than this share of the distance from the lowest to the highest could change places
 * by rounding: products are summed in another order, of operands rounded to 24 bits or, in bf16,
 * to 8. */
static double nearness(const struct trainer *t)
{
    return t->team->bf16 ? 0.05 : 2e-5;
}

/* A batch that is being answered. */
struct answering {
    struct trainer *t;
    const peat_batch *b;
    struct stored stored;
    int32_t *token; /* [B, room] prompts, and the answers as far as they are made */
    int64_t *near;  /* [B] rows that a whole pass decides                         */
    int32_t *made;  /* [B, answer] drafts, and what is made of them               */
};

/* Token i of the n rows in `near`. All columns go through the pass, and not those before the token
 * alone, so that its products have one shape for every i: a library that generates kernels takes
 * longer for a new shape than for the columns. */
static peat_status answer_near(struct answering *s, int64_t i, int64_t n, struct error *err)
{
    const peat_batch *b = s->b;
    peat_node *logits;
    peat_status status = run_drafts(s->t, b, n, s->near, s->made, &logits, err);
    for (int64_t r = 0; status == PEAT_OK && r < n; r++)
        s->made[s->near[r] * b->answer + i] =
            choose(&logits->value, r * draft_T(b) + b->prompt - 1 + i).id;
    return status;
}

/* Token i of every answer. */
static peat_status answer_one(struct answering *s, int64_t i, struct error *err)
{
    const peat_batch *b = s->b;
    int64_t room = s->stored.room, n = 0;
    struct graph g;
    graph_init(&g, &s->t->step_arena, s->t->team, s->t->model->weights.dtype);
    g.no_grad = true;
    peat_node *logits = model_newest(s->t->model, &g, &s->stored, b->prompt + i);
    peat_status status = forward_status(&g, "evaluation", err);
    if (status != PEAT_OK)
        return status;
    for (int64_t r = 0; r < b->B; r++) {
        struct choice choice = choose(&logits->value, r);
        s->made[r * b->answer + i] = choice.id;
        if (!(choice.gap > nearness(s->t) * choice.spread))
            s->near[n++] = r;
    }
    if (n > 0)
        status = answer_near(s, i, n, err);
    for (int64_t r = 0; r < b->B && b->prompt + i < room; r++)
        s->token[r * room + b->prompt + i] = s->made[r * b->answer + i];
    return status;
}

/* `a` holds what outlives a token. */
static peat_status start_answers(struct answering *s, struct arena *a, struct error *err)
{
    const int64_t *row = all_rows(a, s->b->B);
    peat_batch whole;
    s->near = ARENA_TRY_ARRAY(a, s->b->B, int64_t);
    if (!row || !s->near)
        return error_set(err, PEAT_NOMEM, "out of memory in evaluation");
    peat_status status = batch_cut(a, s->b, s->b->B, row, draft_T(s->b), &whole, err);
    if (status != PEAT_OK)
        return status;
    s->token = whole.token;
    draft_truth(s->b, s->made);
    struct model_input in = part_input(&whole, s->b);
    return model_store(s->t->model, &in, s->t->team, a, &s->stored, err);
}

peat_status decode_stored(struct trainer *t, const peat_batch *b, int32_t *made, struct error *err)
{
    struct answering s = {.t = t, .b = b, .made = made};
    const struct arena_mark outer = arena_mark(&t->answer_arena);
    peat_status status = start_answers(&s, &t->answer_arena, err);
    for (int64_t i = 0; status == PEAT_OK && i < b->answer; i++) {
        struct arena_mark mark = arena_mark(&t->step_arena);
        status = answer_one(&s, i, err);
        arena_rewind(&t->step_arena, mark);
    }
    arena_rewind(&t->answer_arena, outer);
    return status;
}

/* ---- the fastest ---- */

peat_status decode_greedy(struct trainer *t, const peat_batch *b, int32_t *made, struct error *err)
{
    const char *id;
    if (b->answer > 1 && !model_not_storable(t->model, &id))
        return decode_stored(t, b, made, err);
    return t->model->dims.causal ? decode_by_fixed_point(t, b, made, err)
                                 : decode_by_token(t, b, made, err);
}
