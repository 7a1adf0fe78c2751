/* SPDX-License-Identifier: MIT */
/* batchexport.c: batches, and the first batch's logits and gradients. */
#include "cell/batchexport.h"

#include "tensor/gemm.h"
#include "train/trainer.h"

enum { VALID_ROWS = 2 };

/* ---- adding ---- */

bool tensors_no_memory(struct tensor_list *list)
{
    return error_fail(list->err, PEAT_NOMEM, "out of memory for the batches");
}

bool tensors_add(struct tensor_list *list, const char *name, struct tensor t)
{
    if (!t.data)
        return tensors_no_memory(list);
    *ARENA_APPEND(list->arena, list->tensor, list->n, list->room) = (struct named_tensor){name, t};
    return true;
}

/* Flags and counts are converted; counts, which number sequences, are below 2^53. */
static struct tensor tensor_of(const struct batch_array *x, struct arena *a)
{
    static const peat_dtype dtype[] = {[ID] = PEAT_I32,
                                       [FLAG] = PEAT_I32,
                                       [NUMBER] = PEAT_F32,
                                       [REAL] = PEAT_F64,
                                       [COUNT] = PEAT_F64};
    const uint8_t *flag = x->data;
    const int64_t *count = x->data;
    struct tensor t = tensor_shape(dtype[x->item], x->rank, x->dim);
    if (x->item != FLAG && x->item != COUNT) {
        t.data = (void *)(uintptr_t)x->data;
        return t;
    }
    t = tensor_new(a, t.dtype, t.rank, t.dim);
    for (int64_t i = 0; t.data && i < tensor_count(&t); i++)
        tensor_set(&t, i, x->item == FLAG ? flag[i] : (double)count[i]);
    return t;
}

/* A stream of the task, "stream.NAME". */
static struct batch_array stream_of(const struct task *t, const peat_batch *b, int64_t i,
                                    struct arena *a)
{
    const char *name = arena_printf(a, "stream.%s", t->plan.stream[i].name);
    if (b->stream_id[i])
        return (struct batch_array){name, ID, b->stream_id[i], 2, {b->B, b->T}};
    return (struct batch_array){
        name, NUMBER, b->stream_number[i], 3, {b->B, b->T, b->stream_numbers[i]}};
}

int batch_arrays(const struct task *t, const peat_batch *b, struct arena *a,
                 struct batch_array out[BATCH_ARRAYS])
{
    const int64_t B = b->B, T = b->T, S = b->S;
    const bool classes = t->plan.head != PEAT_HEAD_TOKENS;
    const struct batch_array row[] = {
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
    for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++)
        if (row[i].data)
            out[n++] = row[i];
    for (int64_t i = 0; i < b->n_stream; i++)
        out[n++] = stream_of(t, b, i, a);
    return n;
}

bool batch_add(struct tensor_list *list, const struct task *t, const peat_batch *b,
               const char *prefix)
{
    struct batch_array x[BATCH_ARRAYS];
    bool ok = true;
    for (int i = 0, n = batch_arrays(t, b, list->arena, x); ok && i < n; i++)
        ok = tensors_add(list, arena_printf(list->arena, "%s%s", prefix, x[i].name),
                         tensor_of(&x[i], list->arena));
    return ok;
}

/* Copies, because the step's arena is used again. */
static bool add_copy(struct tensor_list *list, const char *name, const struct tensor *from)
{
    struct tensor t = tensor_new(list->arena, PEAT_F64, from->rank, from->dim);
    if (t.data)
        tensor_copy(&t, from);
    return tensors_add(list, name, t);
}

static bool add_logits(struct tensor_list *list, const char *prefix, const peat_node *logits,
                       const peat_node *classes)
{
    struct arena *a = list->arena;
    return add_copy(list, arena_printf(a, "%slogits", prefix), &logits->value) &&
           (!classes || add_copy(list, arena_printf(a, "%sclasses", prefix), &classes->value));
}

/* ---- batches ---- */

static bool add_step(struct tensor_list *list, const struct assembly *s,
                     const struct cell_config *c, int64_t step)
{
    struct batch batch;
    if (task_batch_init(&s->task, &batch, list->arena, c->train.batch, s->task.plan.seq_len) !=
        PEAT_OK)
        return tensors_no_memory(list);
    return task_train_batch(&s->task, (uint64_t)c->seed, step, &batch, list->err) == PEAT_OK &&
           batch_add(list, &s->task, &batch.b, arena_printf(list->arena, "%" PRId64 ".", step));
}

bool batches_add(struct tensor_list *list, const struct assembly *s, const struct cell_config *c,
                 int64_t first, int64_t last)
{
    bool ok = true;
    for (int64_t step = first; ok && step <= last; step++)
        ok = add_step(list, s, c, step);
    return ok;
}

/* ---- how tensors are trained ---- */

struct value *weights_training(const struct weights *w, struct arena *a)
{
    struct json all = json_map(a);
    for (int i = 0; i < w->n; i++) {
        const struct weight *one = w->item[i];
        struct json m = json_put_map(all, one->name);
        json_put_bool(m, "frozen", one->frozen);
        json_put_bool(m, "decay", one->decay);
        if (!one->bounded)
            continue;
        struct json bounds = json_put_list(m, "bounds");
        json_add_real(bounds, one->lo);
        json_add_real(bounds, one->hi);
    }
    return all.v;
}

/* ---- the first batch ---- */

static bool add_gradients(struct tensor_list *list, const struct weights *w)
{
    bool ok = true;
    for (int i = 0; ok && i < w->n; i++)
        ok = !w->item[i]->grad.data ||
             add_copy(list, arena_printf(list->arena, "batch.grad.%s", w->item[i]->name),
                      &w->item[i]->grad);
    return ok;
}

static bool add_trained(struct tensor_list *list, struct trainer *t)
{
    struct graph g;
    struct step_values v = {0};
    if (task_train_batch(t->task, t->seed, 1, &t->batch, list->err) != PEAT_OK ||
        !batch_add(list, t->task, &t->batch.b, "batch.train.") ||
        trainer_differentiate(t, &g, 1, true, &v, list->err) != PEAT_OK)
        return false;
    struct tensor loss = tensor_new(list->arena, PEAT_F64, 1, (int64_t[]){1});
    if (loss.data)
        tensor_set(&loss, 0, v.loss);
    return add_logits(list, "batch.train.", v.logits, v.classes) &&
           tensors_add(list, "batch.train.loss", loss) && add_gradients(list, &t->model->weights);
}

static bool add_evaluated(struct tensor_list *list, struct trainer *t)
{
    const peat_task_plan *plan = &t->task->plan;
    struct batch batch;
    struct graph g;
    peat_batch few;
    peat_node *logits, *classes;
    int64_t which = 0;
    for (int64_t i = 1; i < plan->n_eval; i++)
        which = plan->eval_T[i] > plan->eval_T[which] ? i : which;
    int64_t T = plan->eval_T[which];
    if (task_batch_init(t->task, &batch, list->arena, evaluate_rows(plan, T), T) != PEAT_OK)
        return tensors_no_memory(list);
    if (task_eval_batch(t->task, which, 0, &batch, list->err) != PEAT_OK)
        return false;
    if (batch.b.B == 0)
        return true;
    if (!batch_cut(list->arena, &batch.b, at_most(batch.b.B, VALID_ROWS), NULL, batch.b.T, &few))
        return tensors_no_memory(list);
    struct model_input in = forward_input(&few, PEAT_EVAL);
    return batch_add(list, t->task, &few, "batch.valid.") &&
           forward_both(t, &g, &in, false, &logits, &classes, "evaluation", list->err) == PEAT_OK &&
           add_logits(list, "batch.valid.", logits, classes);
}

/* ---- a trainer of the assembly, on one thread ---- */

struct alone {
    struct team team;
    struct eval_config eval;
    struct trainer t;
};

static bool start_alone(struct alone *x, struct tensor_list *list, struct assembly *s,
                        const struct cell_config *c)
{
    *x = (struct alone){.team = {1, NULL}, .eval = c->eval};
    x->eval.every = 0;
    x->t = (struct trainer){.model = &s->model,
                            .task = &s->task,
                            .train = &c->train,
                            .eval = &x->eval,
                            .seed = (uint64_t)c->seed,
                            .team = &x->team,
                            .model_arena = list->arena};
    parallel_start();
    return gemm_start(&x->team, "auto", list->err) == PEAT_OK &&
           trainer_init(&x->t, list->err) == PEAT_OK;
}

static void end_alone(struct alone *x)
{
    if (x->team.gemm)
        trainer_release(&x->t);
    gemm_stop(&x->team);
}

bool first_batch_add(struct tensor_list *list, struct assembly *s, const struct cell_config *c)
{
    struct alone x;
    bool ok = start_alone(&x, list, s, c) && add_trained(list, &x.t);
    if (ok) {
        arena_reset(&x.t.step_arena);
        ok = add_evaluated(list, &x.t);
    }
    end_alone(&x);
    return ok;
}

/* ---- the first steps ---- */

struct first_steps {
    int64_t n, done;
    struct tensor loss, norm;
};

static void keep_step(void *ctx, int64_t step, double loss, double lr, double grad_norm)
{
    struct first_steps *f = ctx;
    (void)lr;
    tensor_set(&f->loss, step - 1, loss);
    tensor_set(&f->norm, step - 1, grad_norm);
    f->done = step;
}

static bool all_done(void *ctx)
{
    const struct first_steps *f = ctx;
    return f->done >= f->n;
}

bool steps_add(struct tensor_list *list, struct assembly *s, const struct cell_config *c, int64_t n)
{
    struct alone x;
    enum run_end end;
    struct first_steps f = {.n = n,
                            .loss = tensor_new(list->arena, PEAT_F64, 1, &n),
                            .norm = tensor_new(list->arena, PEAT_F64, 1, &n)};
    if (!tensors_add(list, "steps.loss", f.loss) || !tensors_add(list, "steps.grad_norm", f.norm))
        return false;
    bool ok = start_alone(&x, list, s, c);
    x.t.events = (struct train_events){.ctx = &f, .step = keep_step, .stop = all_done};
    ok = ok && trainer_run(&x.t, &end, list->err) == PEAT_OK;
    if (ok && f.done < n)
        ok = error_fail(list->err, PEAT_INVALID, "the training ended after step %" PRId64, f.done);
    end_alone(&x);
    return ok;
}
