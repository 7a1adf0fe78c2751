/* SPDX-License-Identifier: MIT */
/* decode.c: greedy answers with stored rows, by fixed point, and token by token. */
#include "train/decode.h"

static peat_status decode_no_memory(struct error *err)
{
    return error_set(err, PEAT_NOMEM, "out of memory in evaluation");
}

/* The input of some rows and columns of a batch. T_total is that of the whole batch, so that a
 * scheme that depends on the length does the same as in training. */
static struct model_input part_input(const peat_batch *part, const peat_batch *whole)
{
    struct model_input in = forward_input(part, PEAT_EVAL);
    in.rows.T_total = whole->T;
    return in;
}

/* The id with the highest logit of a row (the lowest id among equals), and the distances from it to
 * the second and to the lowest logit. */
struct choice {
    int32_t id;
    double gap, spread;
};

static double logit(const struct tensor *logits, int64_t i)
{
    return logits->dtype == PEAT_F32 ? (double)((const float *)logits->data)[i]
                                     : ((const double *)logits->data)[i];
}

static struct choice decode_choose(const struct tensor *logits, int64_t row)
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

/* Sets `part` to n rows (row NULL: the first) of a batch, with their prompts and the first `known`
 * tokens of their answers in made [B, answer]; false: out of memory. */
static bool cut_answers(struct trainer *t, const peat_batch *b, int64_t n, const int64_t *row,
                        const int32_t *made, int64_t known, peat_batch *part)
{
    if (!batch_cut(&t->step_arena, b, n, row, b->prompt + known, part))
        return false;
    for (int64_t i = 0; i < n; i++)
        memcpy(part->token + i * part->T + b->prompt, made + (row ? row[i] : i) * b->answer,
               (size_t)known * sizeof(*made));
    return true;
}

/* Logits of rows of cut_answers: of the last place of each row, [n, V], or of all places,
 * [n * T, V]. */
static peat_status run_rows(struct trainer *t, const peat_batch *b, int64_t n, const int64_t *row,
                            const int32_t *made, int64_t known, bool last_only, peat_node **logits,
                            struct error *err)
{
    peat_batch part;
    if (!cut_answers(t, b, n, row, made, known, &part))
        return decode_no_memory(err);
    struct model_input in = part_input(&part, b);
    in.last_only = last_only;
    return forward_evaluated(t, &part, &in, logits, NULL, err);
}

/* ---- token by token ---- */

peat_status decode_by_token(struct trainer *t, const peat_batch *b, int32_t *made,
                            struct error *err)
{
    peat_status status = PEAT_OK;
    for (int64_t i = 0; status == PEAT_OK && i < b->answer; i++) {
        struct arena_mark mark = arena_mark(&t->step_arena);
        peat_node *logits;
        status = run_rows(t, b, b->B, NULL, made, i, true, &logits, err);
        for (int64_t r = 0; status == PEAT_OK && r < b->B; r++)
            made[r * b->answer + i] = decode_choose(&logits->value, r).id;
        arena_rewind(&t->step_arena, mark);
    }
    return status;
}

/* ---- by fixed point ---- */

/* The rows whose answers are not final yet; in row[i] the first `done` tokens are final. */
struct drafts {
    int64_t n;
    int64_t *row, *done;
};

/* Replaces a draft by the model's choices after prompt and draft. True: the answer is final. */
static bool take_choices(const struct tensor *logits, int64_t at, int64_t n, int32_t *draft,
                         int64_t *done)
{
    bool same = true;
    for (int64_t i = *done; i < n; i++) {
        int32_t choice = decode_choose(logits, at + i).id;
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
    return run_rows(t, b, n, row, made, b->answer - 1, false, logits, err);
}

/* One pass over the remaining rows; rows that became final are removed. */
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
    struct drafts left = {b->B, ARENA_TRY_ARRAY(a, b->B, int64_t),
                          ARENA_TRY_ARRAY(a, b->B, int64_t)};
    if (!left.row || !left.done) {
        arena_rewind(a, outer);
        return decode_no_memory(err);
    }
    for (int64_t i = 0; i < b->B; i++) {
        left.row[i] = i;
        left.done[i] = 0;
    }
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

/* Rounding could change the order of two logits that are nearer than this share of the distance
 * from the lowest to the highest: products are summed in another order, and their operands are
 * rounded to 24 bits or, in bf16, to 8. */
static double nearness(const struct trainer *t)
{
    return t->train->precision == PRECISION_BF16 ? 0.05 : 2e-5;
}

/* A batch that is being answered. */
struct answering {
    struct trainer *t;
    const peat_batch *b;
    struct stored stored; /* not with an engine, which stores its own; room 0        */
    int32_t *token;       /* [B, room] prompts, and the part of the answers that exists */
    int64_t *near;        /* [B] rows for which a whole pass chooses                    */
    int32_t *made;        /* [B, answer] drafts, replaced by the answers                */
};

/* Chooses token i of the n rows in `near`. The pass has all columns, not only those before the
 * token, so that its products have one shape for every i. A library that generates kernels needs
 * more time for a new shape than for the columns. */
static peat_status answer_near(struct answering *s, int64_t i, int64_t n, struct error *err)
{
    const peat_batch *b = s->b;
    peat_node *logits;
    peat_status status = run_drafts(s->t, b, n, s->near, s->made, &logits, err);
    for (int64_t r = 0; status == PEAT_OK && r < n; r++)
        s->made[s->near[r] * b->answer + i] =
            decode_choose(&logits->value, r * draft_T(b) + b->prompt - 1 + i).id;
    return status;
}

/* Logits [B, V] of the place before token i of every answer. */
static peat_status run_newest(struct answering *s, int64_t i, peat_node **logits, struct error *err)
{
    const struct train_engine *e = s->t->engine;
    const peat_batch *b = s->b;
    struct graph g;
    peat_batch part;
    struct error why = {0};
    if (!e) {
        graph_init(&g, &s->t->step_arena, s->t->team, s->t->model->weights.dtype);
        g.no_grad = true;
        *logits = model_newest(s->t->model, &g, &s->stored, b->prompt + i);
        return forward_status(&g, "evaluation", err);
    }
    if (!cut_answers(s->t, b, b->B, NULL, s->made, i, &part))
        return decode_no_memory(err);
    e->newest(e->ctx, s->t, &part, i == 0, b->T, logits, &why);
    return error_copy(err, &why);
}

/* Chooses token i of every answer. */
static peat_status answer_one(struct answering *s, int64_t i, struct error *err)
{
    const peat_batch *b = s->b;
    int64_t room = s->stored.room, n = 0;
    peat_node *logits;
    peat_status status = run_newest(s, i, &logits, err);
    if (status != PEAT_OK)
        return status;
    for (int64_t r = 0; r < b->B; r++) {
        struct choice choice = decode_choose(&logits->value, r);
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

/* `a` holds memory that lives longer than a token. */
static peat_status start_answers(struct answering *s, struct arena *a, struct error *err)
{
    peat_batch whole;
    s->near = ARENA_TRY_ARRAY(a, s->b->B, int64_t);
    if (!s->near || !batch_cut(a, s->b, s->b->B, NULL, draft_T(s->b), &whole))
        return decode_no_memory(err);
    s->token = whole.token;
    draft_truth(s->b, s->made);
    if (s->t->engine)
        return PEAT_OK;
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

/* ---- the fastest way ---- */

peat_status decode_greedy(struct trainer *t, const peat_batch *b, int32_t *made, struct error *err)
{
    const char *id;
    if (b->answer > 1 && !model_not_storable(t->model, &id))
        return decode_stored(t, b, made, err);
    return t->model->dims.causal ? decode_by_fixed_point(t, b, made, err)
                                 : decode_by_token(t, b, made, err);
}
