/* SPDX-License-Identifier: MIT */
/* subject.c: reads the windows of a diagnosis. */
#include "diagnose/subject.h"

void subject_init(struct subject *s, struct model *model, const struct team *team, uint64_t seed)
{
    *s = (struct subject){.model = model, .team = team, .stream = rng_stream(seed, "diagnose", "")};
    arena_init(&s->arena, "diagnosis", 1 << 20);
    arena_init(&s->work, "diagnosis work", 1 << 20);
    arena_init(&s->scratch, "diagnosis pass", 1 << 20);
}

void subject_release(struct subject *s)
{
    arena_release(&s->scratch);
    arena_release(&s->work);
    arena_release(&s->arena);
}

int64_t subject_tokens(const struct subject *s)
{
    int64_t n = 0;
    for (int i = 0; i < s->n_batch; i++)
        n += s->batch[i].B * s->batch[i].T;
    return n;
}

bool subject_is_well(const struct subject *s)
{
    return s->err.status == PEAT_OK;
}

peat_status subject_status(const struct subject *s, struct error *err)
{
    return subject_is_well(s) ? PEAT_OK : error_set(err, s->err.status, "%s", s->err.text);
}

void subject_each(struct subject *s, int n, void (*add)(void *ctx, const peat_batch *b), void *ctx)
{
    for (int i = 0; i < n && i < s->n_batch && subject_is_well(s); i++) {
        struct arena_mark mark = arena_mark(&s->work);
        add(ctx, &s->batch[i]);
        arena_rewind(&s->work, mark);
    }
}

static int64_t shown_length(int64_t T)
{
    return T < SUBJECT_LENGTH ? T : SUBJECT_LENGTH;
}

/* The number of windows of a batch: fewer where the vocabulary makes logits large, or the length
 * makes attention weights large. */
static int64_t rows_of(const peat_task_plan *plan, int64_t T)
{
    const int64_t most = 64, logits = INT64_C(1) << 25, pairs = INT64_C(1) << 18;
    int64_t shown = shown_length(T);
    int64_t tokens = logits / plan->vocab < SUBJECT_TOKENS ? logits / plan->vocab : SUBJECT_TOKENS;
    tokens = pairs / shown < tokens ? pairs / shown : tokens;
    int64_t rows = tokens / shown;
    return rows < 1 ? 1 : rows < most ? rows : most;
}

peat_status subject_read(struct subject *s, const struct task *task, int n, struct error *err)
{
    int64_t T = task->plan.eval_T[0];
    s->task = task;
    s->n_batch = 0;
    s->batch = ARENA_ARRAY(&s->arena, n, peat_batch);
    for (int i = 0; i < n; i++) {
        struct batch batch;
        if (task_batch_init(task, &batch, &s->arena, rows_of(&task->plan, T), T) != PEAT_OK)
            return error_set(err, PEAT_NOMEM, "out of memory for the windows");
        peat_status status = task_eval_batch(task, 0, i, &batch, err);
        if (status != PEAT_OK)
            return status;
        if (batch.b.B == 0 || (i > 0 && shown_length(batch.b.T) != s->batch[0].T))
            break;
        if (!batch_cut(&s->arena, &batch.b, batch.b.B, NULL, shown_length(batch.b.T), &s->batch[i]))
            return error_set(err, PEAT_NOMEM, "out of memory for the windows");
        s->n_batch++;
    }
    if (s->n_batch == 0)
        return error_set(err, PEAT_INVALID, "task '%s' has no evaluation windows", task->part.id);
    return PEAT_OK;
}
