/* SPDX-License-Identifier: MIT */
/* task.c: asking a task for batches, and believing nothing it answers. */
#include "train/task.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "batch.h"
#include "nn/hooks.h"
#include "nn/setup.h"

static peat_status bad_plan(const struct task *t, struct error *err, const char *what,
                            int64_t value)
{
    return error_set(err, PEAT_FAILED, "task '%s' answered its set-up with %s %" PRId64, t->part.id,
                     what, value);
}

static bool fit_for_stream(const char *name)
{
    size_t n = name ? strlen(name) : 0;
    return n > 0 && n <= 32 && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == n &&
           strcmp(name, "token") != 0 && strcmp(name, "segment") != 0 &&
           strncmp(name, "position", 8) != 0;
}

/* Streams of the task's own. */
static peat_status check_streams(const struct task *t, struct error *err)
{
    const peat_task_plan *p = &t->plan;
    if (p->n_stream < 0 || p->n_stream > PEAT_MAX_STREAMS)
        return bad_plan(t, err, "a number of streams of", p->n_stream);
    if (p->n_stream > 0 && p->arch == PEAT_SEQ2SEQ)
        return error_set(err, PEAT_REFUSED,
                         "task '%s' adds streams, and model.arch: seq2seq reads tokens alone",
                         t->part.id);
    for (int64_t i = 0; i < p->n_stream; i++) {
        const peat_stream *s = &p->stream[i];
        bool fit = fit_for_stream(s->name);
        for (int64_t j = 0; fit && j < i; j++)
            fit = strcmp(s->name, p->stream[j].name) != 0;
        if (!fit)
            return error_set(err, PEAT_FAILED, "task '%s' names a stream '%s': %s", t->part.id,
                             s->name ? s->name : "",
                             "1 to 32 of a-z, 0-9 and _, no name of another stream");
        if (s->ids > 0 ? s->ids > INT32_MAX : s->numbers < 1 || s->numbers > 65536)
            return bad_plan(t, err, "a stream whose places have so many ids or numbers:",
                            s->ids > 0 ? s->ids : s->numbers);
    }
    return PEAT_OK;
}

static peat_status check_first(const struct task *t, struct error *err)
{
    const peat_task_plan *p = &t->plan;
    if (p->n_first < 0 || p->n_first > PEAT_FIRST_TOKENS)
        return bad_plan(t, err, "a number of first tokens of", p->n_first);
    for (int64_t i = 0; i < p->n_first; i++)
        if (p->first[i] < 0 || p->first[i] >= p->vocab)
            return bad_plan(t, err, "a first token", p->first[i]);
    return PEAT_OK;
}

static peat_status check_plan(const struct task *t, struct error *err)
{
    const peat_task_plan *p = &t->plan;
    bool patches = p->input == PEAT_INPUT_PATCHES;
    if (patches && p->patch_width < 1)
        return error_set(err, PEAT_REFUSED,
                         "task '%s' has tokens and no patches of numbers; model.input: tokens "
                         "serves it",
                         t->part.id);
    if (p->arch == PEAT_SEQ2SEQ && p->source_T < 1)
        return error_set(err, PEAT_REFUSED,
                         "task '%s' has no sources apart from its targets, and model.arch: seq2seq "
                         "reads the one to say the other",
                         t->part.id);
    if (p->arch == PEAT_SEQ2SEQ && p->n_segment > 0)
        return error_set(
            err, PEAT_REFUSED,
            "task '%s' has segments, and model.arch: seq2seq has two sequences instead",
            t->part.id);
    if (p->n_axes < 0 || p->n_axes > PEAT_MAX_AXES)
        return bad_plan(t, err, "positions whose axes are", p->n_axes);
    if (p->vocab < !patches || p->vocab > INT32_MAX)
        return bad_plan(t, err, "a vocabulary of", p->vocab);
    if (p->n_segment < 0)
        return bad_plan(t, err, "a number of segments of", p->n_segment);
    if (p->n_eval < 1 || p->n_eval > PEAT_MAX_LENGTHS)
        return bad_plan(t, err, "a number of evaluation lengths of", p->n_eval);
    for (int64_t i = 0; i < p->n_eval; i++)
        if (p->eval_T[i] < 1)
            return bad_plan(t, err, "evaluation sequences of length", p->eval_T[i]);
    if (p->head != PEAT_HEAD_TOKENS && p->n_class < 2)
        return error_set(err, PEAT_REFUSED,
                         "task '%s' names no classes of its rows, and model.head: %s tells them "
                         "apart; model.head: tokens serves it",
                         t->part.id, p->head == PEAT_HEAD_BOTH ? "both" : "class");
    if (p->head == PEAT_HEAD_BOTH && !p->tells_both)
        return error_set(err, PEAT_REFUSED,
                         "task '%s' asks for no tokens beside the class of a row, and model.head: "
                         "both tells both; model.head: class serves it",
                         t->part.id);
    if (!t->hooks->metric || !t->hooks->metric[0].name)
        return error_set(err, PEAT_FAILED, "task '%s' has no metric", t->part.id);
    peat_status status = check_first(t, err);
    return status == PEAT_OK ? check_streams(t, err) : status;
}

peat_status task_setup(struct task *t, struct arena *arena, struct error *err)
{
    struct error own = {0};
    struct setup s;
    setup_init(&s, t->host, arena, NULL, &t->part, &(peat_dims){.size = sizeof(peat_dims)}, &own);
    t->plan.size = sizeof(t->plan);
    hook_enter(t->trail, t->part.id, HOOK_TASK_SETUP);
    peat_status status = t->hooks->setup(&s.base, t->part.config, &t->plan, &t->part.self);
    trail_leave(t->trail);
    if (own.status != PEAT_OK)
        return error_set(err, own.status, "%s", own.text);
    if (status != PEAT_OK)
        return error_set(err, status, "task '%s': %s", t->part.id, status_text(status));
    return check_plan(t, err);
}

/* Who made a batch, for messages. */
struct origin {
    const struct task *task;
    const char *kind; /* "training", "evaluation" */
    int64_t number;
};

static peat_status bad_batch(const struct origin *o, struct error *err, const char *what,
                             int64_t value, int64_t limit)
{
    return error_set(err, PEAT_FAILED,
                     "task '%s': %s batch %" PRId64 " has %s %" PRId64 ", the limit is %" PRId64,
                     o->task->part.id, o->kind, o->number, what, value, limit);
}

/* Every id is in [least, limit). */
static peat_status check_ids(const struct origin *o, const char *what, const int32_t *id, int64_t n,
                             int32_t least, int64_t limit, struct error *err)
{
    for (int64_t i = 0; i < n; i++)
        if (id[i] < least || id[i] >= limit)
            return bad_batch(o, err, what, id[i], limit);
    return PEAT_OK;
}

/* Token i of an answer is predicted at place prompt - 1 + i. */
static peat_status check_answer(const struct origin *o, const peat_batch *b, struct error *err)
{
    if (b->prompt == 0)
        return PEAT_OK;
    if (b->prompt < 0 || b->prompt > b->T)
        return bad_batch(o, err, "a prompt of length", b->prompt, b->T);
    if (b->answer < 1 || b->answer > b->T - b->prompt + 1)
        return bad_batch(o, err, "an answer of length", b->answer, b->T - b->prompt + 1);
    for (int64_t row = 0; row < b->B; row++)
        for (int64_t i = b->prompt - 1; i < b->prompt - 1 + b->answer; i++)
            if (b->target[row * b->T + i] < 0)
                return error_set(err, PEAT_FAILED,
                                 "task '%s': %s batch %" PRId64
                                 " has an answer without a target at place %" PRId64,
                                 o->task->part.id, o->kind, o->number, i);
    return PEAT_OK;
}

/* What a model that tells classes is given. */
static peat_status check_classes(const struct origin *o, const peat_batch *b, struct error *err)
{
    if (b->prompt > 0 || b->has_document)
        return error_set(err, PEAT_FAILED,
                         "task '%s': %s batch %" PRId64 " has %s, and the model's head tells one "
                         "class for each row",
                         o->task->part.id, o->kind, o->number,
                         b->prompt > 0 ? "an answer in tokens" : "several documents in a row");
    for (int64_t row = 0; b->has_pad && row < b->B; row++)
        if (!memchr(b->pad + row * b->T, 0, (size_t)b->T))
            return bad_batch(o, err, "nothing but padding in row", row, b->B);
    return check_ids(o, "label", b->label, b->B, 0, o->task->plan.n_class, err);
}

/* What an encoder beside the decoder is given. */
static peat_status check_sources(const struct origin *o, const struct batch *batch,
                                 struct error *err)
{
    const peat_batch *b = &batch->b;
    if (!b->source)
        return PEAT_OK;
    if (b->S < 1 || b->S > batch->capacity_S)
        return bad_batch(o, err, "sources of length", b->S, batch->capacity_S);
    if (b->has_document)
        return error_set(err, PEAT_FAILED,
                         "task '%s': %s batch %" PRId64
                         " has several documents in a row, and one source for each row",
                         o->task->part.id, o->kind, o->number);
    for (int64_t row = 0; row < b->B; row++)
        if (!memchr(b->source_pad + row * b->S, 0, (size_t)b->S))
            return bad_batch(o, err, "nothing but padding in the source of row", row, b->B);
    return check_ids(o, "source token", b->source, b->B * b->S, 0, o->task->plan.vocab, err);
}

/* Patches and positions are finite. */
static peat_status check_numbers(const struct origin *o, const peat_batch *b, struct error *err)
{
    int64_t n = b->B * b->T;
    bool finite = true;
    for (int64_t i = 0; i < n * b->patch_width; i++)
        finite = finite && isfinite(b->patch[i]);
    for (int64_t i = 0; i < n * b->n_axes; i++)
        finite = finite && isfinite(b->pos[i]);
    for (int64_t k = 0; k < b->n_stream; k++)
        for (int64_t i = 0; i < n * b->stream_numbers[k]; i++)
            finite = finite && isfinite(b->stream_number[k][i]);
    if (finite && !(b->patch && b->prompt > 0))
        return PEAT_OK;
    return error_set(err, PEAT_FAILED, "task '%s': %s batch %" PRId64 " has %s", o->task->part.id,
                     o->kind, o->number,
                     finite ? "an answer in tokens to a question in patches"
                            : "a patch, a position or a stream that is no finite number");
}

static peat_status check_batch(const struct origin *o, const struct batch *batch, struct error *err)
{
    const peat_batch *b = &batch->b;
    if (b->B < 1 || b->B > batch->capacity_B)
        return bad_batch(o, err, "a number of rows of", b->B, batch->capacity_B);
    if (b->T < 1 || b->T > batch->capacity_T)
        return bad_batch(o, err, "rows of length", b->T, batch->capacity_T);
    int64_t n = b->B * b->T;
    const peat_task_plan *plan = &o->task->plan;
    peat_status status = check_numbers(o, b, err);
    if (status == PEAT_OK)
        status = check_sources(o, batch, err);
    if (status == PEAT_OK && !b->patch)
        status = check_ids(o, "token", b->token, n, 0, plan->vocab, err);
    if (status == PEAT_OK)
        status = check_ids(o, "target", b->target, n, -1, plan->vocab, err);
    if (status == PEAT_OK && plan->n_segment > 0 && !b->has_segment)
        status = error_set(err, PEAT_FAILED,
                           "task '%s': %s batch %" PRId64
                           " has no segments, its set-up promised %" PRId64,
                           o->task->part.id, o->kind, o->number, plan->n_segment);
    if (status == PEAT_OK && b->has_segment)
        status = check_ids(o, "segment", b->segment, n, 0, plan->n_segment, err);
    for (int64_t i = 0; status == PEAT_OK && i < b->n_stream; i++)
        if (b->stream_id[i])
            status =
                check_ids(o, "in a stream the id", b->stream_id[i], n, 0, plan->stream[i].ids, err);
    if (status == PEAT_OK && plan->head != PEAT_HEAD_TOKENS)
        status = check_classes(o, b, err);
    return status == PEAT_OK ? check_answer(o, b, err) : status;
}

const int32_t *task_targets(const struct task *t, const peat_batch *b, int64_t *n)
{
    bool class = t->plan.head == PEAT_HEAD_CLASS;
    *n = class ? b->B : b->B * b->T;
    return class ? b->label : b->target;
}

static peat_status hook_failed(const struct origin *o, peat_status status, struct error *err)
{
    return error_set(err, status, "task '%s': %s batch %" PRId64 ": %s", o->task->part.id, o->kind,
                     o->number, status_text(status));
}

peat_status task_train_batch(const struct task *t, uint64_t seed, int64_t step, struct batch *batch,
                             struct error *err)
{
    const struct origin origin = {t, "training", step};
    uint64_t stream = rng_substream(rng_stream(seed, "batch", t->part.id), (uint64_t)step);
    batch_offer(batch);
    hook_enter(t->trail, t->part.id, HOOK_TRAIN);
    peat_status status = t->hooks->train(t->host, t->part.config, t->part.self, stream, &batch->b);
    trail_leave(t->trail);
    if (status != PEAT_OK)
        return hook_failed(&origin, status, err);
    return check_batch(&origin, batch, err);
}

peat_status task_eval_batch(const struct task *t, int64_t which, int64_t index, struct batch *batch,
                            struct error *err)
{
    const struct origin origin = {t, "evaluation", index};
    batch_offer(batch);
    hook_enter(t->trail, t->part.id, HOOK_EVALUATE);
    peat_status status =
        t->hooks->evaluate(t->host, t->part.config, t->part.self, which, index, &batch->b);
    trail_leave(t->trail);
    if (status != PEAT_OK)
        return hook_failed(&origin, status, err);
    return batch->b.B == 0 ? PEAT_OK : check_batch(&origin, batch, err);
}

const char *task_token_text(const struct task *t, int32_t id, struct arena *a)
{
    char text[64] = "";
    if (!t->hooks->token_text)
        return NULL;
    hook_enter(t->trail, t->part.id, HOOK_TOKEN_TEXT);
    int64_t n = t->hooks->token_text(t->part.config, t->part.self, id, text, sizeof(text));
    trail_leave(t->trail);
    return n > 0 && n < (int64_t)sizeof(text) ? arena_printf(a, "%.*s", (int)n, text) : NULL;
}

const char *task_first_tokens(const struct task *t, struct arena *a)
{
    const peat_task_plan *p = &t->plan;
    const char *text = "", *numbers = "";
    for (int64_t i = 0; i < p->n_first; i++) {
        const char *one = text ? task_token_text(t, p->first[i], a) : NULL;
        text = one ? arena_printf(a, "%s%s", text, one) : NULL;
        numbers = arena_printf(a, "%s%s%" PRId32, numbers, i ? " " : "", p->first[i]);
    }
    return p->n_first == 0 ? NULL : text ? arena_printf(a, "'%s'", text) : numbers;
}
