/* SPDX-License-Identifier: MIT */
/* task.c: the set-up and the batches of a task, checked before they are used. */
#include "train/task.h"

#include "nn/hooks.h"
#include "nn/setup.h"

static bool fit_for_stream(const char *name)
{
    size_t n = name ? strlen(name) : 0;
    return n > 0 && n <= 32 && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == n &&
           strcmp(name, "token") != 0 && strcmp(name, "segment") != 0 &&
           strncmp(name, "position", 8) != 0;
}

static bool check_stream_name(const struct task *t, int64_t i, struct error *err)
{
    const peat_stream *s = t->plan.stream;
    bool fit = fit_for_stream(s[i].name);
    for (int64_t j = 0; fit && j < i; j++)
        fit = strcmp(s[i].name, s[j].name) != 0;
    return fit || error_fail(err, PEAT_FAILED,
                             "task '%s' names a stream '%s': each stream has a name of its own, 1 "
                             "to 32 of a-z, 0-9 and _",
                             t->part.id, s[i].name ? s[i].name : "");
}

/* Refuses the cell's model if the task cannot serve it. */
static bool check_asked(const struct task *t, struct error *err)
{
    const peat_task_plan *p = &t->plan;
    bool two = p->arch == PEAT_SEQ2SEQ, both = p->head == PEAT_HEAD_BOTH;
    const struct {
        bool wrong;
        const char *why;
    } rows[] = {
        {p->input == PEAT_INPUT_PATCHES && p->patch_width < 1,
         "has no patches; use model.input: tokens"},
        {two && p->source_T < 1, "has no source sequences, which model.arch: seq2seq needs"},
        {two && p->n_segment > 0, "has segments, which model.arch: seq2seq does not read"},
        {two && p->n_stream > 0, "adds streams, and model.arch: seq2seq reads only tokens"},
        {p->head != PEAT_HEAD_TOKENS && p->n_class < 2, "has no classes; use model.head: tokens"},
        {both && !p->tells_both, "has no token targets; use model.head: class"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (rows[i].wrong)
            return error_fail(err, PEAT_REFUSED, "task '%s' %s", t->part.id, rows[i].why);
    return true;
}

/* A number of the task's answer, and its bounds. */
struct number {
    int64_t value, least, most;
    const char *name;
};

static bool check_number(const struct task *t, const struct number *a, struct error *err)
{
    return (a->value >= a->least && a->value <= a->most) ||
           error_fail(err, PEAT_FAILED, "task '%s' answered its set-up with %s %" PRId64,
                      t->part.id, a->name, a->value);
}

static bool check_each(const struct task *t, const int64_t *value, const char *name,
                       struct error *err)
{
    bool ok = true;
    for (int64_t i = 0; ok && i < t->plan.n_eval; i++)
        ok = check_number(t, &(struct number){value[i], 1, INT64_MAX, name}, err);
    return ok;
}

static bool check_sizes(const struct task *t, struct error *err)
{
    const peat_task_plan *p = &t->plan;
    const struct number rows[] = {
        {p->n_axes, 0, PEAT_MAX_AXES, "a number of axes of"},
        {p->vocab, p->input != PEAT_INPUT_PATCHES, INT32_MAX, "a vocabulary of"},
        {p->n_segment, 0, INT64_MAX, "a number of segments of"},
        {p->n_eval, 1, PEAT_MAX_LENGTHS, "a number of evaluation lengths of"},
        {p->n_stream, 0, PEAT_MAX_STREAMS, "a number of streams of"},
        {p->n_first, 0, PEAT_FIRST_TOKENS, "a number of first tokens of"},
    };
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof(rows) / sizeof(*rows); i++)
        ok = check_number(t, &rows[i], err);
    ok = ok && check_each(t, p->eval_T, "evaluation sequences of length", err);
    for (int64_t i = 0; ok && i < p->n_first; i++)
        ok = check_number(t, &(struct number){p->first[i], 0, p->vocab - 1, "a first token"}, err);
    for (int64_t i = 0; ok && i < p->n_stream; i++) {
        const peat_stream *s = &p->stream[i];
        const struct number ids = {s->ids, 1, INT32_MAX, "a stream whose number of ids is"};
        const struct number numbers = {s->numbers, 1, 65536,
                                       "a stream whose numbers per place are"};
        ok = check_stream_name(t, i, err) && check_number(t, s->ids > 0 ? &ids : &numbers, err);
    }
    return ok;
}

static bool check_test(const struct task *t, struct error *err)
{
    const peat_task_plan *p = &t->plan;
    if (p->test > 0 && !t->hooks->test)
        return error_fail(err, PEAT_REFUSED,
                          "task '%s' has no test part: eval.test must be 0, not %g", t->part.id,
                          p->test);
    return p->test <= 0 || check_each(t, p->test_sequences, "a number of test sequences of", err);
}

static bool check_plan(const struct task *t, struct error *err)
{
    bool has_metric = t->hooks->metric && t->hooks->metric[0].name;
    return check_asked(t, err) && check_sizes(t, err) && check_test(t, err) &&
           (has_metric || error_fail(err, PEAT_FAILED, "task '%s' has no metric", t->part.id));
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
    if (own.status == PEAT_OK && status != PEAT_OK)
        error_set(&own, status, "task '%s': %s", t->part.id, status_text(status));
    if (own.status == PEAT_OK)
        check_plan(t, &own);
    return error_copy(err, &own);
}

/* A batch from a task while it is checked. The first error is kept. */
struct made {
    const struct task *task;
    const char *kind; /* "training", "evaluation", "test" */
    int64_t number;
    struct error *err;
    peat_status status;
};

/* fmt completes "the batch has ..." */
__attribute__((format(printf, 2, 3))) static void wrong(struct made *m, const char *fmt, ...)
{
    char what[160];
    va_list args;
    if (m->status != PEAT_OK)
        return;
    va_start(args, fmt);
    vsnprintf(what, sizeof(what), fmt, args);
    va_end(args);
    m->status = error_set(m->err, PEAT_FAILED, "task '%s': %s batch %" PRId64 " has %s",
                          m->task->part.id, m->kind, m->number, what);
}

static void check_limit(struct made *m, const char *what, int64_t value, int64_t least,
                        int64_t limit)
{
    if (value < least || value > limit)
        wrong(m, "%s %" PRId64 ", the limit is %" PRId64, what, value, limit);
}

/* Checks that every id is in [least, limit). */
static void check_ids(struct made *m, const char *what, const int32_t *id, int64_t n, int32_t least,
                      int64_t limit)
{
    for (int64_t i = 0; i < n; i++)
        if (id[i] < least || id[i] >= limit) {
            wrong(m, "%s %" PRId32 ", the limit is %" PRId64, what, id[i], limit);
            return;
        }
}

static void check_not_all_padding(struct made *m, const char *what, const uint8_t *pad, int64_t B,
                                  int64_t T)
{
    for (int64_t row = 0; row < B; row++)
        if (!memchr(pad + row * T, 0, (size_t)T))
            wrong(m, "nothing but padding in %s %" PRId64, what, row);
}

/* Token i of an answer is predicted at place prompt - 1 + i. */
static void check_answer(struct made *m, const peat_batch *b)
{
    check_limit(m, "a prompt of length", b->prompt, 0, b->T);
    if (b->prompt > 0)
        check_limit(m, "an answer of length", b->answer, 1, b->T - b->prompt + 1);
    if (m->status != PEAT_OK || b->prompt == 0)
        return;
    for (int64_t row = 0; row < b->B; row++)
        for (int64_t i = b->prompt - 1; i < b->prompt - 1 + b->answer; i++)
            if (b->target[row * b->T + i] < 0)
                wrong(m, "an answer without a target at place %" PRId64, i);
}

/* Checks a batch for a model that predicts a class for each row. */
static void check_classes(struct made *m, const peat_batch *b)
{
    if (b->prompt > 0 || b->has_document)
        wrong(m, "%s, and the model predicts one class for each row",
              b->prompt > 0 ? "an answer in tokens" : "several documents in a row");
    if (b->has_pad)
        check_not_all_padding(m, "row", b->pad, b->B, b->T);
    check_ids(m, "label", b->label, b->B, 0, m->task->plan.n_class);
}

/* Checks the input of an encoder beside the decoder. */
static void check_sources(struct made *m, const struct batch *batch)
{
    const peat_batch *b = &batch->b;
    check_limit(m, "sources of length", b->S, 1, batch->capacity_S);
    if (b->has_document)
        wrong(m, "several documents in a row, and one source for each row");
    if (m->status != PEAT_OK)
        return;
    check_not_all_padding(m, "the source of row", b->source_pad, b->B, b->S);
    check_ids(m, "source token", b->source, b->B * b->S, 0, m->task->plan.vocab);
}

static void check_numbers(struct made *m, const peat_batch *b)
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
    if (!finite)
        wrong(m, "a patch, a position or a stream that is not a finite number");
    if (b->patch && b->prompt > 0)
        wrong(m, "an answer in tokens to a question in patches");
}

static peat_status check_batch(struct made *m, const struct batch *batch)
{
    const peat_batch *b = &batch->b;
    const peat_task_plan *plan = &m->task->plan;
    check_limit(m, "a number of rows of", b->B, 1, batch->capacity_B);
    check_limit(m, "rows of length", b->T, 1, batch->capacity_T);
    if (m->status != PEAT_OK)
        return m->status;
    int64_t n = b->B * b->T;
    check_numbers(m, b);
    if (b->source)
        check_sources(m, batch);
    if (!b->patch)
        check_ids(m, "token", b->token, n, 0, plan->vocab);
    check_ids(m, "target", b->target, n, -1, plan->vocab);
    if (b->has_segment)
        check_ids(m, "segment", b->segment, n, 0, plan->n_segment);
    else if (plan->n_segment > 0)
        wrong(m, "no segments, its set-up promised %" PRId64, plan->n_segment);
    for (int64_t i = 0; i < b->n_stream; i++)
        if (b->stream_id[i])
            check_ids(m, "in a stream the id", b->stream_id[i], n, 0, plan->stream[i].ids);
    if (plan->head != PEAT_HEAD_TOKENS)
        check_classes(m, b);
    check_answer(m, b);
    return m->status;
}

const int32_t *task_targets(const struct task *t, const peat_batch *b, int64_t *n)
{
    bool class = t->plan.head == PEAT_HEAD_CLASS;
    *n = class ? b->B : b->B * b->T;
    return class ? b->label : b->target;
}

/* Checks the batch after the task's function returned `status`. */
static peat_status end_batch(const struct task *t, const char *kind, int64_t number,
                             const struct batch *batch, peat_status status, struct error *err)
{
    struct made made = {t, kind, number, err, PEAT_OK};
    if (status != PEAT_OK)
        return error_set(err, status, "task '%s': %s batch %" PRId64 ": %s", t->part.id, kind,
                         number, status_text(status));
    return check_batch(&made, batch);
}

peat_status task_check_given(const struct task *t, const struct batch *batch, struct error *err)
{
    struct made made = {t, "given", 0, err, PEAT_OK};
    return check_batch(&made, batch);
}

peat_status task_train_batch(const struct task *t, uint64_t seed, int64_t step, struct batch *batch,
                             struct error *err)
{
    uint64_t stream = rng_substream(rng_stream(seed, "batch", t->part.id), (uint64_t)step);
    batch_offer(batch);
    hook_enter(t->trail, t->part.id, HOOK_TRAIN);
    peat_status status = t->hooks->train(t->host, t->part.config, t->part.self, stream, &batch->b);
    trail_leave(t->trail);
    return end_batch(t, "training", step, batch, status, err);
}

/* The type of the hooks evaluate and test. */
typedef peat_status held_out_fn(const peat_host *h, const void *config, const void *self,
                                int64_t which, int64_t index, peat_batch *batch);

/* A batch of a part of the data that is held out; the empty one after the last is not checked. */
static peat_status held_out_batch(const struct task *t, enum hook_id id, held_out_fn *hook,
                                  const char *kind, int64_t which, int64_t index,
                                  struct batch *batch, struct error *err)
{
    batch_offer(batch);
    hook_enter(t->trail, t->part.id, id);
    peat_status status = hook(t->host, t->part.config, t->part.self, which, index, &batch->b);
    trail_leave(t->trail);
    return status == PEAT_OK && batch->b.B == 0 ? PEAT_OK
                                                : end_batch(t, kind, index, batch, status, err);
}

peat_status task_eval_batch(const struct task *t, int64_t which, int64_t index, struct batch *batch,
                            struct error *err)
{
    return held_out_batch(t, HOOK_EVALUATE, t->hooks->evaluate, "evaluation", which, index, batch,
                          err);
}

peat_status task_test_batch(const struct task *t, int64_t which, int64_t index, struct batch *batch,
                            struct error *err)
{
    BUG_UNLESS(t->plan.test > 0);
    return held_out_batch(t, HOOK_TEST, t->hooks->test, "test", which, index, batch, err);
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
