/* SPDX-License-Identifier: MIT */
/* task.h: a task as the trainer knows it: the SDK's hooks with their config and plan. */
#pragma once

#include <peat/task.h>

#include "nn/part.h"

struct task {
    const peat_host *host;
    const peat_task *hooks;
    struct part part;    /* id, config, self */
    struct trail *trail; /* where the task's functions that run are recorded; NULL: nowhere */
    peat_task_plan plan;
};

/* Runs the plugin's setup and checks its answer. The caller has filled in the asked fields of the
 * plan. */
peat_status task_setup(struct task *t, struct arena *arena, struct error *err);

/* A batch with memory for B x T places, and sources of S. */
struct batch {
    peat_batch b;
    int64_t capacity_B, capacity_T, capacity_S;
};
/* Allocates an empty batch: only tokens, or all arrays of a task that is set up. */
peat_status batch_init(struct batch *batch, struct arena *arena, int64_t B, int64_t T);
peat_status task_batch_init(const struct task *t, struct batch *batch, struct arena *arena,
                            int64_t B, int64_t T);
/* An empty batch with the allocated sizes, to be filled by a task. */
void batch_offer(struct batch *batch);
/* Copies rows row[0 .. n-1] of a batch (NULL: its first n) and their first T places, in the arena;
 * false: out of memory. */
bool batch_cut(struct arena *a, const peat_batch *b, int64_t n, const int64_t *row, int64_t T,
               peat_batch *part);
/* True where the arrays of y hold rows first, first + 1, .. of x. */
bool batch_has_rows(const peat_batch *x, int64_t first, const peat_batch *y);
/* The correct answers for the rows of a batch's logits, *n of them: its targets or labels. */
const int32_t *task_targets(const struct task *t, const peat_batch *b, int64_t *n);
/* Checks a batch that did not come from the task as one that did. */
peat_status task_check_given(const struct task *t, const struct batch *batch, struct error *err);
/* The training batch of `step` (1, 2, ...), a function of only the seed and the step. */
peat_status task_train_batch(const struct task *t, uint64_t seed, int64_t step, struct batch *batch,
                             struct error *err);
/* Batch `index` of length number `which` of the validation part; after the last batch B is 0. */
peat_status task_eval_batch(const struct task *t, int64_t which, int64_t index, struct batch *batch,
                            struct error *err);
/* Batch `index` of the test part, where plan.test is above 0; after the last batch B is 0. */
peat_status task_test_batch(const struct task *t, int64_t which, int64_t index, struct batch *batch,
                            struct error *err);

/* The text of token `id` for readers, in the arena; NULL: the token has no text. */
const char *task_token_text(const struct task *t, int32_t id, struct arena *a);
/* The first tokens of training data, "'the cat'" or, where a token has no text, "464 3797", in the
 * arena; NULL: the task does not give them. */
const char *task_first_tokens(const struct task *t, struct arena *a);
