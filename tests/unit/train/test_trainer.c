/* SPDX-License-Identifier: MIT */
/* test_trainer.c: the loop, its events, evaluation, divergence, and tasks that break promises. */
#include "autograd/ops.h"
#include "support/products.h"
#include "support/support.h"
#include "support/toy_task.h"
#include "train/decode.h"
#include "train/trainer.h"

/* A test sets what it likes, then builds one or both. */
static struct toy_cell c, other;

static void set_up(void)
{
    toy_cell_init(&c);
    toy_cell_init(&other);
}

static void tear_down(void)
{
    toy_cell_release(&c);
    toy_cell_release(&other);
}

static void build_both(void)
{
    toy_cell_build(&c);
    toy_cell_build(&other);
}

TEST(training_lowers_the_loss)
{
    c.train.steps = 60;
    c.train.batch = 8;
    c.train.lr = 1e-2;
    toy_cell_build(&c);
    ck_assert_int_eq(toy_cell_run(&c), RUN_DONE);
    ck_assert_int_eq(c.trace.steps, 60);
    ck_assert_double_lt(c.trace.last_loss, c.trace.first_loss - 0.2);
    ck_assert_double_gt(c.trainer.train_seconds, 0.0);
    ck_assert_double_gt(c.trainer.median_step_ms, 0.0);
    ck_assert_int_eq(c.trainer.steps_timed, 60);
}

/* The first measure of each split at the first length. */
struct splits {
    double valid, choose, report;
};

static void keep_split(void *ctx, const struct measure *m)
{
    struct splits *s = ctx;
    double *kept = strcmp(m->split, "valid") == 0    ? &s->valid
                   : strcmp(m->split, "choose") == 0 ? &s->choose
                                                     : &s->report;
    *kept = m->length == 3 && isnan(*kept) ? m->value : *kept;
}

/* One batch, the first, is an even one. */
TEST(even_batches_choose_and_odd_ones_are_reported)
{
    struct splits s = {(double)NAN, (double)NAN, (double)NAN};
    c.toy.sequences = 1;
    c.eval.halves = true;
    toy_cell_build(&c);
    c.trainer.events.measure = keep_split;
    c.trainer.events.ctx = &s;
    ck_assert_int_eq(trainer_evaluate(&c.trainer, NULL), PEAT_OK);
    ck_assert(isfinite(s.valid));
    ck_assert_double_eq(s.choose, s.valid);
    ck_assert_double_nan(s.report);
}

TEST(threads_change_no_bit)
{
    other.team.threads = 2;
    build_both();
    toy_cell_run(&c);
    toy_cell_run(&other);
    toy_cell_assert_same(&c, &other);
    ck_assert_mem_eq(c.trace.measure, other.trace.measure, sizeof(c.trace.measure));
}

TEST(evaluation_does_not_touch_training)
{
    c.eval.every = 1;
    build_both();
    toy_cell_run(&c);
    toy_cell_run(&other);
    toy_cell_assert_same(&c, &other);
    ck_assert_int_eq(c.trace.measures, 20 * 4);
    ck_assert_int_eq(other.trace.measures, 4);
    ck_assert_mem_eq(c.trace.measure + 19 * 4, other.trace.measure, 4 * sizeof(double));
}

TEST(evaluations_and_saves_come_at_their_steps_and_once_at_the_end)
{
    c.eval.every = 10;
    c.trainer.checkpoint_every = 8;
    toy_cell_build(&c);
    toy_cell_run(&c);
    ck_assert_int_eq(c.trace.measures, 2 * 4);
    ck_assert_int_eq(c.trace.measure_step[0], 10);
    ck_assert_int_eq(c.trace.measure_step[4], 20);
    ck_assert_int_eq(c.trace.saves, 3);
    ck_assert_int_eq(c.trace.save_step[0], 8);
    ck_assert_int_eq(c.trace.save_step[1], 16);
    ck_assert_int_eq(c.trace.save_step[2], 20);
    ck_assert_int_eq(c.trace.final_saves, 1);
    toy_cell_run(&c);
    ck_assert_int_eq(c.trace.measures, 2 * 4);
    ck_assert_int_eq(c.trace.saves, 3);
}

TEST(stop_saves_once_and_goes_on_to_the_same_bits)
{
    c.trainer.checkpoint_every = 7;
    c.trace.stop_after = 7;
    build_both();
    ck_assert_int_eq(toy_cell_run(&c), RUN_INTERRUPTED);
    ck_assert_int_eq(c.trainer.step, 7);
    ck_assert_int_eq(c.trace.saves, 1);
    ck_assert_int_eq(c.trace.final_saves, 0);
    c.trace.stop_after = 20; /* too late: the run is done by then */
    ck_assert_int_eq(toy_cell_run(&c), RUN_DONE);
    ck_assert_int_eq(c.trace.final_saves, 1);
    toy_cell_run(&other);
    toy_cell_assert_same(&c, &other);
}

TEST(steady_steps_ask_the_system_for_no_memory)
{
    c.eval.every = 5;
    c.trace.stop_after = 6;
    toy_cell_build(&c);
    toy_cell_run(&c);
    /* The size of the next chunk doubles with every chunk asked for. */
    size_t chunk = c.trainer.step_arena.chunk_bytes, model = c.arena.used;
    c.trace.stop_after = 0;
    toy_cell_run(&c);
    ck_assert_uint_eq(c.trainer.step_arena.chunk_bytes, chunk);
    ck_assert_uint_eq(c.arena.used, model);
    ck_assert_uint_eq(c.trainer.step_arena.used, 0);
}

TEST(weight_that_nothing_depends_on_is_an_error)
{
    struct error err = {0};
    enum run_end end;
    c.idle_weight = true;
    toy_cell_build(&c);
    ck_assert_int_eq(trainer_run(&c.trainer, &end, &err), PEAT_FAILED);
    ck_assert_str_eq(err.text, "weight 'combine.toy.idle' gets no gradient: nothing that is "
                               "trained depends on it");
}

TEST(batches_are_a_function_of_seed_and_step)
{
    toy_cell_build(&c);
    size_t bytes = (size_t)(c.train.batch * c.train.seq_len) * sizeof(int32_t);
    int32_t first[64];
    struct batch *b = &c.trainer.batch;
    ck_assert_int_eq(task_train_batch(&c.task, 7, 3, b, NULL), PEAT_OK);
    memcpy(first, b->b.token, bytes);
    ck_assert_int_eq(task_train_batch(&c.task, 7, 4, b, NULL), PEAT_OK);
    ck_assert_mem_ne(first, b->b.token, bytes);
    ck_assert_int_eq(task_train_batch(&c.task, 8, 3, b, NULL), PEAT_OK);
    ck_assert_mem_ne(first, b->b.token, bytes);
    ck_assert_int_eq(task_train_batch(&c.task, 7, 3, b, NULL), PEAT_OK);
    ck_assert_mem_eq(first, b->b.token, bytes);
}

TEST(evaluation_data_depends_on_no_training_setting)
{
    other.train.batch = 9;
    other.train.seq_len = 12;
    other.train.lr = 0.5;
    build_both();
    for (int64_t which = 0; which < 2; which++) {
        peat_sums x, y;
        ck_assert_int_eq(evaluate_length(&c.trainer, which, &x, NULL), PEAT_OK);
        ck_assert_int_eq(evaluate_length(&other.trainer, which, &y, NULL), PEAT_OK);
        ck_assert_mem_eq(&x.nll, &y.nll, sizeof(x.nll));
        ck_assert_int_eq(x.sequences, 13);
        ck_assert_int_eq(x.targets, 13 * (which ? 5 : 3));
        ck_assert_int_eq(x.generated, x.targets);
        ck_assert_int_eq(x.units, 13);
        ck_assert_int_eq(x.generated_correct, y.generated_correct);
    }
}

/* The most likely next token after one row, by a full forward pass of that row alone. */
static int32_t next_token(const int32_t *token, int64_t T)
{
    struct graph g;
    const int64_t sequence = 0;
    struct model_input in = {
        .B = 1, .rows = {.T = T, .token = token, .sequence = &sequence}, .phase = PEAT_EVAL};
    arena_reset(&c.trainer.step_arena);
    graph_init(&g, &c.trainer.step_arena, lone_team(), PEAT_F32);
    peat_node *logits = model_forward(&c.model, &g, &in, NULL);
    ck_assert_msg(logits != NULL, "%s", g.err.text);
    int32_t best = 0;
    for (int32_t v = 1; v < TOY_VOCAB; v++)
        if (tensor_get(&logits->value, (T - 1) * TOY_VOCAB + v) >
            tensor_get(&logits->value, (T - 1) * TOY_VOCAB + best))
            best = v;
    return best;
}

static bool answer_is_right(const peat_batch *b, int64_t row, int64_t *correct)
{
    int32_t token[64];
    int64_t right = 0;
    memcpy(token, b->token + row * b->T, (size_t)b->prompt * sizeof(*token));
    for (int64_t i = 0; i < b->answer; i++) {
        token[b->prompt + i] = next_token(token, b->prompt + i);
        right += token[b->prompt + i] == b->target[row * b->T + b->prompt - 1 + i];
    }
    *correct += right;
    return right == b->answer;
}

TEST(generation_feeds_the_model_its_own_tokens)
{
    c.train.steps = 250;
    c.train.batch = 16;
    c.train.seq_len = 6;
    c.train.lr = 2e-2;
    toy_cell_build(&c);
    toy_cell_run(&c);
    peat_sums sums;
    ck_assert_int_eq(evaluate_length(&c.trainer, 0, &sums, NULL), PEAT_OK);

    struct batch batch;
    int64_t matches = 0, correct = 0;
    ck_assert_int_eq(batch_init(&batch, &c.arena, 8, 6), PEAT_OK);
    for (int64_t index = 0;; index++) {
        ck_assert_int_eq(task_eval_batch(&c.task, 0, index, &batch, NULL), PEAT_OK);
        if (batch.b.B == 0)
            break;
        for (int64_t row = 0; row < batch.b.B; row++)
            matches += answer_is_right(&batch.b, row, &correct);
    }
    ck_assert_int_eq(sums.matches, matches);
    ck_assert_int_eq(sums.generated_correct, correct);
    ck_assert_int_gt(correct, 0);
}

TEST(exploding_run_ends_as_diverged_with_step_and_place)
{
    c.train.lr = 1e30;
    c.train.warmup = 0;
    toy_cell_build(&c);
    ck_assert_int_eq(toy_cell_run(&c), RUN_DIVERGED);
    const struct divergence *d = &c.trainer.diverged;
    ck_assert_int_ge(d->step, 2);
    ck_assert_int_eq(d->step, c.trainer.step);
    ck_assert_msg(strstr(d->what, "is not finite at step") && strstr(d->what, ", first in '"), "%s",
                  d->what);
    ck_assert_int_eq(c.trace.final_saves, 1);
    ck_assert_int_eq(c.trace.measures, 0);
    ck_assert_int_eq(toy_cell_run(&c), RUN_DIVERGED);
    ck_assert_int_eq(c.trainer.step, d->step);
}

TEST(step_that_is_not_finite_changes_no_weight)
{
    build_both();
    for (int k = 0; k < 2; k++)
        tensor_set(&(k ? &other : &c)->model.token->value, 0, (double)NAN);
    /* Symbol 0 is in the first batch: 16 draws of 10 would miss it once in five times, and the
     * generator's first numbers never change. */
    ck_assert_int_eq(toy_cell_run(&c), RUN_DIVERGED);
    ck_assert_int_eq(c.trainer.diverged.step, 1);
    ck_assert_str_eq(c.trainer.diverged.what,
                     "loss is not finite at step 1, first in 'token.weight'");
    toy_cell_assert_same(&c, &other);
}

TEST(gradient_that_is_not_finite_names_the_place_where_it_began)
{
    struct trainer t = {.step = 0};
    struct arena a;
    struct graph g;
    arena_init(&a, "test", 4096);
    graph_init(&g, &a, lone_team(), PEAT_F64);
    const int64_t dim = 2;
    struct tensor x = tensor_new(&a, PEAT_F64, 1, &dim);
    tensor_fill(&x, 0.0);
    peat_node *leaf = graph_leaf(&g, &x, NULL, "x");
    leaf->needs_grad = true;
    peat_node *root = op_sqrt(&g.base, op_affine(&g.base, leaf, 1.0, 0.0));
    peat_node *loss = op_sum(&g.base, root, 0);
    graph_backward(&g, loss);
    ck_assert(!divergence_check(&t, &g, 5, 0.0, 1.0));
    ck_assert_int_eq(t.diverged.step, 0);
    ck_assert(divergence_check(&t, &g, 5, 0.0, (double)INFINITY));
    ck_assert_int_eq(t.diverged.step, 5);
    ck_assert_str_eq(t.diverged.what, "gradient is not finite at step 5, first in 'affine'");
    arena_release(&a);
}

TEST(loss_far_above_the_first_for_fifty_steps_is_divergence)
{
    struct trainer t = {.step = 0};
    ck_assert(!divergence_watch(&t, 1, 1.0));
    for (int64_t step = 2; step <= 50; step++)
        ck_assert(!divergence_watch(&t, step, 3.1));
    ck_assert(!divergence_watch(&t, 51, 3.0)); /* not above: counted anew */
    for (int64_t step = 52; step <= 100; step++)
        ck_assert(!divergence_watch(&t, step, 3.1));
    ck_assert(divergence_watch(&t, 101, 3.1));
    ck_assert_int_eq(t.diverged.step, 101);
    ck_assert_str_eq(t.diverged.what, "loss stayed more than 2 nats above the first for 50 steps, "
                                      "until step 101");
}

static const struct {
    enum toy_fault fault;
    peat_status status;
    const char *text;
} setup_faults[] = {
    {TOY_NO_VOCAB, PEAT_FAILED, "task 'toy' answered its set-up with a vocabulary of 0"},
    {TOY_NO_LENGTHS, PEAT_FAILED,
     "task 'toy' answered its set-up with a number of evaluation lengths of 0"},
    {TOY_MANY_LENGTHS, PEAT_FAILED,
     "task 'toy' answered its set-up with a number of evaluation lengths of 33"},
    {TOY_EMPTY_LENGTH, PEAT_FAILED,
     "task 'toy' answered its set-up with evaluation sequences of length 0"},
    {TOY_REFUSES, PEAT_REFUSED, "no copies today"},
    {TOY_TAKEN_STREAM, PEAT_FAILED, "task 'toy' names a stream 'position.2'"},
    {TOY_TWIN_STREAM, PEAT_FAILED, "task 'toy' names a stream 'kind'"},
    {TOY_MANY_STREAMS, PEAT_FAILED, "task 'toy' answered its set-up with a number of streams of 5"},
    {TOY_EMPTY_STREAM, PEAT_FAILED, "a stream whose numbers per place are 0"},
    {TOY_NO_METRIC, PEAT_FAILED, "task 'toy' has no metric"},
};

LOOP_TEST(bad_answer_to_set_up_is_an_error, sizeof(setup_faults) / sizeof(*setup_faults))
{
    struct toy_config config = {.fault = setup_faults[_i].fault, .streams = true};
    struct task task;
    struct arena a;
    struct error err = {0};
    arena_init(&a, "test", 4096);
    toy_task_init(&task, &config, 8);
    ck_assert_int_eq(task_setup(&task, &a, &err), setup_faults[_i].status);
    ck_assert_msg(strstr(err.text, setup_faults[_i].text), "%s", err.text);
    arena_release(&a);
}

static const struct {
    enum toy_fault fault;
    const char *text;
} batch_faults[] = {
    {TOY_MANY_ROWS, "has a number of rows of 5, the limit is 4"},
    {TOY_NO_ROWS, "has a number of rows of -1, the limit is 4"},
    {TOY_LONG_ROWS, "has rows of length 9, the limit is 8"},
    {TOY_BAD_TOKEN, "has token 11, the limit is 11"},
    {TOY_BAD_TARGET, "has target -2, the limit is 11"},
    {TOY_BAD_SEGMENT, "has segment 2, the limit is 2"},
    {TOY_BAD_STREAM, "has in a stream the id 4, the limit is 4"},
    {TOY_BAD_NUMBER, "a patch, a position or a stream that is not a finite number"},
    {TOY_LONG_ANSWER, "has an answer of length 5, the limit is 4"},
    {TOY_NO_ANSWER, "has an answer without a target at place 3"},
    {TOY_FAILS, "input or output failed"},
};

/* Four rows of eight, in the arena of c. */
static void open_batch(enum toy_fault fault, struct task *task, struct batch *batch)
{
    c.toy = (struct toy_config){.fault = fault, .sequences = 20, .streams = true};
    arena_init(&c.arena, "test", 4096);
    toy_task_init(task, &c.toy, 8);
    ck_assert_int_eq(task_setup(task, &c.arena, NULL), PEAT_OK);
    ck_assert_int_eq(task_batch_init(task, batch, &c.arena, 4, 8), PEAT_OK);
}

LOOP_TEST(bad_batch_is_an_error_that_names_the_task, sizeof(batch_faults) / sizeof(*batch_faults))
{
    struct task task;
    struct batch batch;
    struct error train = {0}, eval = {0};
    open_batch(batch_faults[_i].fault, &task, &batch);
    peat_status status = batch_faults[_i].fault == TOY_FAILS ? PEAT_IO : PEAT_FAILED;
    ck_assert_int_eq(task_train_batch(&task, 1, 12, &batch, &train), status);
    ck_assert_int_eq(task_eval_batch(&task, 0, 2, &batch, &eval), status);
    ck_assert_msg(strstr(train.text, "task 'toy': training batch 12"), "%s", train.text);
    ck_assert_msg(strstr(eval.text, "task 'toy': evaluation batch 2"), "%s", eval.text);
    ck_assert_msg(strstr(train.text, batch_faults[_i].text), "%s", train.text);
    ck_assert_msg(strstr(eval.text, batch_faults[_i].text), "%s", eval.text);
}

/* The highest logit of row b at place t. */
static int32_t best_id(const peat_node *logits, const peat_batch *b, int64_t row, int64_t t)
{
    int64_t V = logits->value.dim[1], best = 0;
    for (int64_t v = 1; v < V; v++)
        if (tensor_get(&logits->value, (row * b->T + t) * V + v) >
            tensor_get(&logits->value, (row * b->T + t) * V + best))
            best = v;
    return (int32_t)best;
}

/* What is generated first is what a pass over whole rows says at that place. */
TEST(streams_of_a_task_are_trained_and_generated_with)
{
    struct batch batch;
    struct graph g;
    struct error err = {0};
    peat_node *logits, *classes;
    int32_t made[4 * 8];
    c.toy.streams = true;
    toy_cell_build(&c);
    ck_assert_int_eq(toy_cell_run(&c), RUN_DONE);
    ck_assert(c.trace.last_loss < c.trace.first_loss);
    ck_assert_int_eq(task_batch_init(&c.task, &batch, &c.arena, 4, 10), PEAT_OK);
    ck_assert_int_eq(task_train_batch(&c.task, 1, 1, &batch, &err), PEAT_OK);
    ck_assert_int_eq(decode_by_token(&c.trainer, &batch.b, made, &err), PEAT_OK);
    const struct model_input in = forward_input(&batch.b, PEAT_EVAL);
    ck_assert_int_eq(forward_both(&c.trainer, &g, &in, false, &logits, &classes, "a pass", &err),
                     PEAT_OK);
    for (int64_t b = 0; b < batch.b.B; b++)
        ck_assert_int_eq(made[b * batch.b.answer],
                         best_id(logits, &batch.b, b, batch.b.prompt - 1));
}

/* Weights of zeros have equal logits for every token. */
TEST(the_lowest_id_wins_ties_in_every_way_to_generate)
{
    static peat_status (*const way[])(struct trainer *, const peat_batch *, int32_t *,
                                      struct error *) = {decode_greedy, decode_by_token,
                                                         decode_by_fixed_point, decode_stored};
    struct batch batch;
    struct error err = {0};
    int32_t made[4 * 8];
    toy_cell_build(&c);
    for (int i = 0; i < c.model.weights.n; i++)
        tensor_fill(&c.model.weights.item[i]->value, 0.0);
    ck_assert_int_eq(task_batch_init(&c.task, &batch, &c.arena, 4, 10), PEAT_OK);
    ck_assert_int_eq(task_train_batch(&c.task, 1, 1, &batch, &err), PEAT_OK);
    for (size_t k = 0; k < sizeof(way) / sizeof(*way); k++) {
        memset(made, 1, sizeof(made));
        ck_assert_msg(way[k](&c.trainer, &batch.b, made, &err) == PEAT_OK, "%s", err.text);
        for (int64_t i = 0; i < batch.b.B * batch.b.answer; i++)
            ck_assert_int_eq(made[i], 0);
    }
}

TEST(batch_is_cleared_before_it_is_filled)
{
    struct task task;
    struct batch batch;
    open_batch((enum toy_fault)0, &task, &batch);
    memset(batch.b.target, 1, 32 * sizeof(*batch.b.target));
    memset(batch.b.pad, 1, 32);
    batch.b.has_pad = true;
    ck_assert_int_eq(task_train_batch(&task, 1, 1, &batch, NULL), PEAT_OK);
    ck_assert(!batch.b.has_pad);
    for (int i = 0; i < 32; i++) {
        ck_assert_int_eq(batch.b.pad[i], 0);
        ck_assert_int_eq(batch.b.target[i] == -1, i % 8 < 4);
    }
}

int main(void)
{
    return run_tests((struct tests){"trainer", set_up, tear_down, .seconds = 60});
}
