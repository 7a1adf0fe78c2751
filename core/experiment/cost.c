/* SPDX-License-Identifier: MIT */
/* cost.c: the costs of a cell, from its real set-up without memory for weights. */

#include "cell/assemble.h"
#include "cell/start.h"
#include "planning.h"
#include "tensor/gemm.h"
#include "train/input_sizes.h"
#include "train/trainer.h"

struct twin {
    char hash[HASH_HEX];
    int64_t params;
};

/* ---- evaluations ---- */

/* One evaluation of all lengths, of the validation part or of the test part: the forward passes
 * over given tokens, and at most those for generated ones. The model needs no memory. */
struct evaluation_cost {
    double score_flops, generate_flops;
    double generate_work; /* the FLOPs of training that take as long as generating */
};

/* Number of sequences of a length. Where the task does not give it, enough for the targets. */
static int64_t sequences_of(const struct task *t, int i, bool test)
{
    const peat_task_plan *plan = &t->plan;
    int64_t n = test ? plan->test_sequences[i] : plan->eval_sequences[i];
    if (n <= 0)
        n = plan->eval_tokens > 0 ? plan->eval_tokens / plan->eval_T[i]
                                  : evaluate_rows(plan, plan->eval_T[i]);
    return n < 1 ? 1 : n;
}

/* Forward FLOPs of n sequences of T tokens, in batches of B. */
static peat_status forward_flops(struct model *m, int64_t n, int64_t B, int64_t T, double *flops,
                                 struct error *err)
{
    struct model_cost cost = {0};
    peat_status status = model_plan(m, B, T, true, &cost, err);
    *flops = (double)cost.forward_flops * (double)n / (double)B;
    return status;
}

/* A pass over one new row of B sequences takes as long as whole passes over B rows and this many
 * more, because weights are read and operations started for few rows as for many. From
 * tests/bench/decode.c, newest_ms T / whole_ms = 1 + 4/B (docs/performance.md). */
static const double rows_beside = 4.0;

/* The cost of generating, given the FLOPs of one pass over rows of `T` places in batches of B. With
 * stored rows the prompt costs one pass and each later token a pass over B rows; otherwise at most
 * one whole pass per token of the answer. */
static void add_generation(const struct model *m, const peat_task_plan *plan, int i, int64_t B,
                           double flops, struct evaluation_cost *cost)
{
    const char *id;
    double answer = (double)plan->eval_answer[i], T = (double)plan->eval_prompt[i] + answer - 1;
    bool stored = answer > 1 && !model_not_storable(m, &id);
    double passes = stored ? 1 : answer;
    double slow = stored ? (answer - 1) / T * rows_beside / (double)B : 0;
    cost->generate_flops += passes * flops;
    cost->generate_work += (passes + slow) * flops;
}

static peat_status length_cost(struct model *m, const struct task *t, int i, bool test,
                               struct evaluation_cost *cost, struct error *err)
{
    const peat_task_plan *plan = &t->plan;
    int64_t n = sequences_of(t, i, test), B = at_most(n, evaluate_rows(plan, plan->eval_T[i]));
    double flops = 0;
    peat_status status = forward_flops(m, n, B, plan->eval_T[i], &flops, err);
    cost->score_flops += flops;
    if (status != PEAT_OK || plan->eval_answer[i] <= 0)
        return status;
    status = forward_flops(m, n, B, plan->eval_prompt[i] + plan->eval_answer[i] - 1, &flops, err);
    if (status == PEAT_OK)
        add_generation(m, plan, i, B, flops, cost);
    return status;
}

static peat_status evaluation_cost(struct model *m, const struct task *t, bool test,
                                   struct evaluation_cost *cost, struct error *err)
{
    peat_status status = PEAT_OK;
    *cost = (struct evaluation_cost){0};
    for (int i = 0; status == PEAT_OK && i < t->plan.n_eval; i++)
        status = length_cost(m, t, i, test, cost, err);
    return status;
}

/* ---- the whole cell ---- */

/* A refusal of the model itself gets the scheme's place, because the scheme asked for the model. */
static bool refused(struct planning *p, const struct cell_config *c)
{
    const struct plugin_use *at = c->n_scheme > 0 ? &c->scheme[0] : &c->task;
    const struct error why = *p->err;
    size_t n = strlen(p->e->path);
    bool is_placed = strncmp(why.text, "command line:", 13) == 0 ||
                     (strncmp(why.text, p->e->path, n) == 0 && why.text[n] == ':');
    if (!is_placed)
        place_failure(p->err, at->at, &why);
    return false;
}

/* Rows and ids for computing the input: the ids of the vocabulary, one after another. */
static bool sample_input(const struct assembly *s, const struct cell_config *c, struct arena *a,
                         struct batch *batch)
{
    int64_t T = s->task.plan.seq_len, rows = 4096 / T < 1 ? 1 : 4096 / T;
    rows = rows < c->train.batch ? rows : c->train.batch;
    if (s->task.plan.input != PEAT_INPUT_TOKENS ||
        task_batch_init(&s->task, batch, a, rows, T) != PEAT_OK)
        return false;
    batch->b.B = rows;
    batch->b.T = T;
    memset(batch->b.segment, 0, (size_t)(rows * T) * sizeof(*batch->b.segment));
    batch->b.has_segment = s->task.plan.n_segment > 0;
    for (int64_t i = 0; i < rows * T; i++)
        batch->b.token[i] = (int32_t)(i % s->task.plan.vocab);
    for (int64_t i = 0; i < rows; i++)
        batch->b.sequence[i] = i;
    return true;
}

/* Size of tokens over size of positions at the input before training, in 4 digits, which are the
 * same with any library. NaN where the scheme cannot run on such ids. */
static double first_ratio(struct planning *p, struct assembly *s, const struct cell_config *c)
{
    struct batch batch;
    struct input_sizes sizes = {0};
    struct error ignored = {0};
    char digits[32];
    if (!sample_input(s, c, &p->scratch, &batch) ||
        input_sizes(&s->model, p->team, &batch.b, &p->scratch, &sizes, &ignored) != PEAT_OK)
        return (double)NAN;
    snprintf(digits, sizeof(digits), "%.4g", input_ratio(&sizes));
    return strtod(digits, NULL);
}

/* Sets the costs of evaluation and what else is known after the set-up. */
static bool look_closer(struct planning *p, struct assembly *s, struct plan_cell *cell)
{
    const struct cell_config *c = &cell->config;
    struct error ignored = {0};
    struct evaluation_cost each, test = {0};
    struct strbuf injection = STRBUF_NEW;
    bool meet = p->team && positional_at_input(&s->positional) &&
                model_fill_input(&s->model, &ignored) == PEAT_OK;
    if (start_apply(s, c, p->err) != PEAT_OK)
        return false;
    cell->started = s->started ? arena_strdup(p->a, s->started) : NULL;
    cell->first_tokens = task_first_tokens(&s->task, p->a);
    cell->q[Q_INPUT_RATIO_START] = meet ? first_ratio(p, s, c) : (double)NAN;
    positional_describe(&s->positional, c->model.n_layer, c->model.n_head, &injection);
    while (injection.n > 0 && injection.text[injection.n - 1] == '\n')
        injection.text[--injection.n] = '\0';
    cell->injection = strbuf_keep(&injection, p->a);
    if (evaluation_cost(&s->model, &s->task, false, &each, p->err) != PEAT_OK ||
        (c->eval.test > 0 && evaluation_cost(&s->model, &s->task, true, &test, p->err) != PEAT_OK))
        return false;
    double times = (double)evaluations_until(c->train.steps, c->train.steps, c->eval.every);
    cell->q[Q_EVAL_FLOPS] = times * each.score_flops + test.score_flops;
    cell->q[Q_GENERATE_FLOPS] = times * each.generate_flops + test.generate_flops;
    cell->q[Q_GENERATE_WORK] = times * each.generate_work + test.generate_work;
    return true;
}

/* Weights that act only on special tokens get no gradient where the task marks no special tokens. A
 * batch of the task shows whether it does; it is made only for models with such weights. */
static bool check_unmarked(struct planning *p, struct assembly *s, const struct cell_config *c)
{
    struct model_cost unmarked;
    struct error why = {0};
    struct batch batch;
    const int64_t B = c->train.batch, T = c->train.seq_len;
    if (model_plan(&s->model, B, T, false, &unmarked, &why) == PEAT_OK)
        return true;
    peat_status status = task_batch_init(&s->task, &batch, &p->scratch, B, T);
    if (status != PEAT_OK)
        return error_fail(p->err, status, "no memory for a batch");
    if (task_train_batch(&s->task, (uint64_t)c->seed, 1, &batch, p->err) != PEAT_OK)
        return false;
    return batch.b.has_special || error_fail(p->err, why.status, "%s", why.text);
}

/* cell: the cell with this configuration, to be looked at closer; NULL: only training costs. */
static bool measure(struct planning *p, const struct cell_config *c, struct plan_cell *cell,
                    struct model_cost *cost)
{
    arena_reset(&p->scratch);
    struct assembly *s = ARENA_NEW(&p->scratch, struct assembly);
    s->trail = p->registry->trail;
    bool ok =
        assemble(s, c, &p->scratch, PEAT_F32, true, p->err) == PEAT_OK &&
        model_plan(&s->model, c->train.batch, c->train.seq_len, true, cost, p->err) == PEAT_OK &&
        (!cell || (check_unmarked(p, s, c) && look_closer(p, s, cell)));
    return ok || refused(p, c);
}

/* The number of trained numbers in the same cell without schemes and combine. */
static bool twin_params(struct planning *p, const struct cell_config *c, int64_t *params)
{
    char hash[HASH_HEX];
    json_hash(value_with_path(p->a, c->identity, "position", NOWHERE, value_null(p->a, NOWHERE)),
              hash);
    for (int i = 0; i < p->n_twin; i++) {
        if (strcmp(p->twin[i].hash, hash) == 0) {
            *params = p->twin[i].params;
            return true;
        }
    }
    struct cell_config bare = *c;
    struct model_cost cost;
    bare.model.freeze_loosely = true;
    bare.n_scheme = 0;
    bare.has_combine = false;
    if (!measure(p, &bare, NULL, &cost))
        return false;
    struct twin *twin = ARENA_APPEND(p->a, p->twin, p->n_twin, p->twin_room);
    memcpy(twin->hash, hash, HASH_HEX);
    twin->params = *params = cost.trainable;
    return true;
}

double plan_training(const struct plan_cell *c, int64_t from)
{
    const struct train_config *t = &c->config.train;
    return c->q[Q_FLOPS_PER_TOKEN] * (double)t->batch * (double)t->seq_len *
           (double)(t->steps - from);
}

/* The share of a cell's evaluations that are due after step `from`. */
static double evaluated_after(const struct plan_cell *c, int64_t from)
{
    int64_t steps = c->config.train.steps, every = c->config.eval.every;
    return 1.0 - (double)evaluations_until(from, steps, every) /
                     (double)evaluations_until(steps, steps, every);
}

double plan_scoring(const struct plan_cell *c, int64_t from)
{
    return c->q[Q_EVAL_FLOPS] * evaluated_after(c, from);
}

double plan_generation(const struct plan_cell *c, int64_t from)
{
    return c->q[Q_GENERATE_FLOPS] * evaluated_after(c, from);
}

/* FLOPs that take as long as one byte of activations, which is written, read again, and has a
 * gradient. From `peat bench step`: with 30 for each byte, steps of d 32 to 256, fused and
 * composed, take nearly the same time for each FLOP (docs/performance.md). */
static const double flops_per_byte = 30.0;

static double slowness(const struct plan_cell *c)
{
    double flops = plan_training(c, c->config.train.steps - 1);
    return flops > 0 ? 1 + flops_per_byte * c->q[Q_ACTIVATION_BYTES] / flops : 1;
}

double plan_training_work(const struct plan_cell *c, int64_t from)
{
    return slowness(c) * plan_training(c, from);
}

double plan_work(const struct plan_cell *c, int64_t from)
{
    double evaluation = (c->q[Q_EVAL_FLOPS] + c->q[Q_GENERATE_WORK]) * evaluated_after(c, from);
    return plan_training_work(c, from) + slowness(c) * evaluation;
}

int64_t plan_evaluations(const struct plan_cell *c, int64_t from)
{
    int64_t steps = c->config.train.steps, every = c->config.eval.every;
    return evaluations_until(steps, steps, every) - evaluations_until(from, steps, every);
}

int64_t plan_memory(const struct plan_cell *c)
{
    enum { PROGRAM = 40 << 20, PARAMETER = 4 * sizeof(float) };
    int64_t activations = (int64_t)c->q[Q_HELD_BYTES];
    return PROGRAM + PARAMETER * (int64_t)c->q[Q_PARAMS] + activations + activations / 4;
}

const struct plan_cell *plan_largest(const struct plan *p)
{
    const struct plan_cell *most = p->cell;
    for (int i = 1; i < p->n; i++)
        most = plan_memory(&p->cell[i]) > plan_memory(most) ? &p->cell[i] : most;
    return most;
}

bool cost_measure(struct planning *p, struct plan_cell *cell)
{
    const struct train_config *t = &cell->config.train;
    struct model_cost cost;
    int64_t without;
    trail_cell(p->registry->trail, cell->label);
    if (!measure(p, &cell->config, cell, &cost) || !twin_params(p, &cell->config, &without))
        return false;
    cell->q[Q_PARAMS] = (double)cost.trainable;
    cell->q[Q_PARAMS_FROZEN] = (double)cost.frozen;
    cell->q[Q_PARAMS_POSITIONAL] = (double)(cost.trainable - without);
    cell->q[Q_FLOPS_PER_TOKEN] =
        3 * (double)cost.forward_flops / ((double)t->batch * (double)t->seq_len);
    cell->q[Q_ACTIVATION_BYTES] = (double)cost.activation_bytes;
    cell->q[Q_HELD_BYTES] = (double)cost.held_bytes;
    cell->attention_path = cell->config.model.mixer != MIXER_ATTENTION ? "-"
                           : cost.composed                             ? "composed"
                                                                       : "fused";
    return true;
}
