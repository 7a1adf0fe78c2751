/* SPDX-License-Identifier: MIT */
/* evalcost.c: computes the costs of evaluations during a cell's training. */
#include "planning.h"
#include "train/trainer.h"

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

peat_status evaluation_cost(struct model *m, const struct task *t, bool test,
                            struct evaluation_cost *cost, struct error *err)
{
    peat_status status = PEAT_OK;
    *cost = (struct evaluation_cost){0};
    for (int i = 0; status == PEAT_OK && i < t->plan.n_eval; i++)
        status = length_cost(m, t, i, test, cost, err);
    return status;
}
