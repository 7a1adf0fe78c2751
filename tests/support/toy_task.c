/* SPDX-License-Identifier: MIT */
/* toy_task.c: copying random symbols. */
#include "support/toy_task.h"

#include "support/products.h"
#include "support/support.h"
#include "train/checkpoint.h"

static double mean_nll(const peat_sums *s)
{
    return s->nll / (double)s->targets;
}

static double exact_match(const peat_sums *s)
{
    return (double)s->matches / (double)s->sequences;
}

static const peat_metric metrics[] = {
    {"nll", false, "nats per symbol", mean_nll},
    {"exact_match", true, "answers that are wholly right", exact_match},
    {NULL, false, NULL, NULL},
};

static void add_streams(const struct toy_config *c, peat_task_plan *plan)
{
    if (!c->streams)
        return;
    plan->n_stream = c->fault == TOY_MANY_STREAMS ? PEAT_MAX_STREAMS + 1 : 2;
    plan->stream[0] = (peat_stream){"kind", 4, 0};
    plan->stream[1] = (peat_stream){"place", 0, c->fault == TOY_EMPTY_STREAM ? 0 : 2};
    if (c->fault == TOY_TAKEN_STREAM)
        plan->stream[1].name = "position.2";
    if (c->fault == TOY_TWIN_STREAM)
        plan->stream[1].name = "kind";
}

static void fill_streams(peat_batch *b)
{
    for (int64_t i = 0; b->n_stream > 0 && i < b->B * b->T; i++) {
        b->stream_id[0][i] = (int32_t)(7 * i / 3 % 4);
        b->stream_number[1][2 * i] = (float)(i % 5) / 4;
        b->stream_number[1][2 * i + 1] = -1.0f;
    }
}

static peat_status toy_setup(peat_setup *s, const void *config, peat_task_plan *plan, void **self)
{
    const struct toy_config *c = config;
    (void)self;
    if (c->fault == TOY_REFUSES)
        return peat_refuse(s, "no copies today");
    plan->vocab = c->fault == TOY_NO_VOCAB ? 0 : TOY_VOCAB;
    plan->n_segment = c->fault == TOY_BAD_SEGMENT ? 2 : 0;
    plan->n_eval = c->fault == TOY_NO_LENGTHS ? 0 : c->fault == TOY_MANY_LENGTHS ? 33 : 2;
    plan->eval[0] = 3;
    plan->eval[1] = 5;
    plan->eval_T[0] = 6;
    plan->eval_T[1] = c->fault == TOY_EMPTY_LENGTH ? 0 : 10;
    plan->length_unit = "symbols";
    add_streams(c, plan);
    return PEAT_OK;
}

static void fill_row(const peat_host *h, uint64_t stream, int64_t row, peat_batch *b)
{
    int64_t n = b->T / 2;
    int32_t *token = b->token + row * b->T, *target = b->target + row * b->T;
    token[n] = TOY_SEPARATOR;
    for (int64_t i = 0; i < n; i++) {
        int32_t x = (int32_t)peat_below(h, stream, (uint64_t)(row * n + i), TOY_SEPARATOR);
        token[i] = x;
        target[n + i] = x;
        if (n + 1 + i < b->T)
            token[n + 1 + i] = x;
    }
    b->sequence[row] = row;
}

static peat_status break_batch(enum toy_fault fault, peat_batch *b)
{
    switch (fault) {
    case TOY_MANY_ROWS:
        b->B++;
        break;
    case TOY_NO_ROWS:
        b->B = -1;
        break;
    case TOY_LONG_ROWS:
        b->T++;
        break;
    case TOY_BAD_TOKEN:
        b->token[b->T + 1] = TOY_VOCAB;
        break;
    case TOY_BAD_TARGET:
        b->target[0] = -2;
        break;
    case TOY_BAD_SEGMENT:
        b->has_segment = true;
        b->segment[b->T] = 2;
        break;
    case TOY_BAD_STREAM:
        b->stream_id[0][b->T] = 4;
        break;
    case TOY_BAD_NUMBER:
        b->stream_number[1][3] = NAN;
        break;
    case TOY_LONG_ANSWER:
        b->answer++;
        break;
    case TOY_NO_ANSWER:
        b->prompt--;
        break;
    case TOY_FAILS:
        return PEAT_IO;
    default:
        break;
    }
    return PEAT_OK;
}

static peat_status toy_fill(const peat_host *h, const struct toy_config *c, uint64_t stream,
                            peat_batch *b)
{
    for (int64_t row = 0; row < b->B; row++)
        fill_row(h, stream, row, b);
    b->prompt = b->T / 2 + 1;
    b->answer = b->T / 2;
    b->units = b->B;
    fill_streams(b);
    return break_batch(c->fault, b);
}

static peat_status toy_train(const peat_host *h, const void *config, const void *self,
                             uint64_t stream, peat_batch *b)
{
    (void)self;
    return toy_fill(h, config, stream, b);
}

static peat_status toy_evaluate(const peat_host *h, const void *config, const void *self,
                                int64_t which, int64_t index, peat_batch *b)
{
    const struct toy_config *c = config;
    (void)self;
    int64_t rows = b->B < 8 ? b->B : 8, left = c->sequences - index * rows;
    b->B = left < 0 ? 0 : left < rows ? left : rows;
    return toy_fill(h, c, (uint64_t)(1000 * which + index), b);
}

static const peat_task hooks = {.size = sizeof(hooks),
                                .metric = metrics,
                                .setup = toy_setup,
                                .train = toy_train,
                                .evaluate = toy_evaluate};
static const peat_task hooks_without_metric = {.size = sizeof(hooks),
                                               .metric = &metrics[2],
                                               .setup = toy_setup,
                                               .train = toy_train,
                                               .evaluate = toy_evaluate};

void toy_task_init(struct task *t, const struct toy_config *config, int64_t seq_len)
{
    *t = (struct task){
        .host = host_table(),
        .hooks = config->fault == TOY_NO_METRIC ? &hooks_without_metric : &hooks,
        .part = {.id = "toy", .config = config},
        .plan = {.arch = PEAT_DECODER, .seq_len = seq_len},
    };
}

static void on_step(void *ctx, int64_t step, double loss, double lr, double grad_norm)
{
    struct toy_trace *trace = ctx;
    (void)lr;
    (void)grad_norm;
    ck_assert_int_eq(step, trace->trainer->step);
    trace->steps++;
    trace->last_loss = loss;
    if (step == 1)
        trace->first_loss = loss;
}

static void on_measure(void *ctx, const struct measure *m)
{
    struct toy_trace *trace = ctx;
    ck_assert_int_lt(trace->measures, 512);
    trace->measure[trace->measures] = m->value;
    trace->measure_step[trace->measures++] = m->step;
}

static bool on_stop(void *ctx)
{
    const struct toy_trace *trace = ctx;
    return trace->stop_after && trace->trainer->step >= trace->stop_after;
}

static peat_status on_save(void *ctx, bool final, struct error *err)
{
    struct toy_trace *trace = ctx;
    trace->save_step[trace->saves++ % 64] = trace->trainer->step;
    trace->final_saves += final;
    if (!trace->dir)
        return PEAT_OK;
    return checkpoint_save(trace->dir, trace->trainer, NULL, final, err);
}

void toy_cell_init(struct toy_cell *c)
{
    *c = (struct toy_cell){
        .team = team_of(1),
        .toy = {.sequences = 13},
        .model_config = {.arch = PEAT_DECODER, .d_model = 16, .n_layer = 2, .n_head = 2},
        .train = {.steps = 20,
                  .batch = 4,
                  .seq_len = 8,
                  .lr = 3e-3,
                  .warmup = -1,
                  .lr_min = 0.1,
                  .weight_decay = 0.01,
                  .beta1 = 0.9,
                  .beta2 = 0.98,
                  .eps = 1e-8,
                  .clip = 1.0},
        .trainer = {.seed = 7},
    };
}

void toy_cell_build(struct toy_cell *c)
{
    struct error err = {0};
    arena_init(&c->arena, "toy", 1 << 16);
    toy_task_init(&c->task, &c->toy, c->train.seq_len);
    ck_assert_msg(task_setup(&c->task, &c->arena, &err) == PEAT_OK, "%s", err.text);
    toy_positional_init(&c->positional, c->idle_weight);
    c->model_config.vocab = c->task.plan.vocab;
    c->model_config.n_stream = c->task.plan.n_stream;
    memcpy(c->model_config.stream, c->task.plan.stream, sizeof(c->model_config.stream));
    c->model_config.T_train = c->train.seq_len;
    c->model_config.T_max = 64;
    ck_assert_msg(model_build(&c->model, &c->model_config, &c->positional, &c->arena, PEAT_F32,
                              c->trainer.seed, false, &err) == PEAT_OK,
                  "%s", err.text);
    struct trainer *t = &c->trainer;
    t->model = &c->model;
    t->task = &c->task;
    t->train = &c->train;
    t->eval = &c->eval;
    t->team = &c->team;
    t->model_arena = &c->arena;
    t->events = (struct train_events){&c->trace, on_step, on_measure, on_stop, on_save};
    c->trace.trainer = t;
    ck_assert_msg(trainer_init(t, &err) == PEAT_OK, "%s", err.text);
}

enum run_end toy_cell_run(struct toy_cell *c)
{
    struct error err = {0};
    enum run_end end;
    ck_assert_msg(trainer_run(&c->trainer, &end, &err) == PEAT_OK, "%s", err.text);
    return end;
}

void toy_cell_release(struct toy_cell *c)
{
    trainer_release(&c->trainer);
    arena_release(&c->arena);
}

void toy_cell_assert_same(const struct toy_cell *a, const struct toy_cell *b)
{
    const struct weights *x = &a->model.weights, *y = &b->model.weights;
    ck_assert_int_eq(x->size, y->size);
    ck_assert_mem_eq(x->value, y->value, (size_t)x->size * dtype_bytes(x->dtype));
}
