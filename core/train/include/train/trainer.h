/* SPDX-License-Identifier: MIT */
/*
 * trainer.h: the training loop of one cell.
 *
 * A step: batch, forward, backward, clip, AdamW. State between steps is the weights, AdamW's
 * moments, the step number and the divergence counter; all of it is in a checkpoint, so a resumed
 * run gives the same bits as an uninterrupted one.
 */
#pragma once

#include "model/transformer.h"
#include "train/task.h"
#include "train/train_config.h"

/* Decoupled weight decay, Loshchilov and Hutter 2019, algorithm 2; Kingma and Ba 2015 moments. */
struct adamw {
    void *m, *v; /* one block each, laid out as the weights */
    int64_t t;   /* updates done */
};
peat_status adamw_init(struct adamw *o, const struct weights *w, struct arena *arena);
/* One update of all weights from their gradients, which are first scaled by grad_scale (clipping).
 * Tensors with `decay` take weight decay; bounded ones are brought back into their bounds. */
void adamw_step(struct adamw *o, struct weights *w, const struct train_config *c, double lr,
                double grad_scale, const struct team *team);
/* sqrt of the sum of squares of all gradients, summed in fixed tiles in double. */
double gradient_norm(const struct weights *w, const struct team *team);

/* Learning rate of step 1 .. steps: warm-up from lr/warmup, then the schedule to lr * lr_min
 * (docs/checkpoint.md, "The learning rate"). SCHEDULE_WSD: warm-up, constant rate, decay; Hu et al.
 * 2024 (arXiv:2404.06395), section 4.1. */
double schedule_lr(const struct train_config *c, int64_t step);
/* Steps of the warm-up: c->warmup, or where that is -1, min(steps / 10, 200), and with SCHEDULE_WSD
 * min(steps / 10, 100). */
int64_t schedule_warmup(const struct train_config *c);
/* The last step before the rate falls: the end of the warm-up, or with SCHEDULE_WSD of the constant
 * part, 0 where the whole run is decay. */
int64_t schedule_flat_until(const struct train_config *c);

/* How a run ended. */
enum run_end { RUN_DONE, RUN_DIVERGED, RUN_INTERRUPTED };

struct divergence {
    int64_t step;   /* 0: none                                                        */
    char what[256]; /* "loss is not finite at step 12, first in 'layernorm' (block 2)" */
};

/* Of a run that stops when the task's first metric, at the first length, gets no better. */
struct patience {
    double last, best; /* NaN: not evaluated yet */
    int64_t bad;       /* evaluations in a row that were no better than the best */
    bool stopped;      /* before the last step */
};

/* One evaluation result. */
struct measure {
    const char *metric, *split; /* "bpb"; "valid", "test", or of halves "choose", "report" */
    int64_t length, step;
    double value;
};

/* The test part at one length in stretches of sequences that follow each other: the loss of each.
 * A length with fewer sequences than TEST_STRETCHES has one stretch for each. */
enum { TEST_STRETCHES = 64 };
struct test_stretches {
    int64_t length;
    int n;
    double nll[TEST_STRETCHES];      /* nats, over its targets */
    int64_t targets[TEST_STRETCHES]; /* with head CLASS, rows  */
};

/* Where the loop reports; each may be NULL. */
struct train_events {
    void *ctx;
    /* Every step: cheap. */
    void (*step)(void *ctx, int64_t step, double loss, double lr, double grad_norm);
    /* Each evaluated number. */
    void (*measure)(void *ctx, const struct measure *m);
    /* True: stop after this step with a checkpoint. */
    bool (*stop)(void *ctx);
    /* Save now (called at checkpoint.every, at a stop and at the end). */
    peat_status (*save)(void *ctx, bool final, struct error *err);
    /* After each step, when it is evaluated and before it is saved: its state may be kept for
     * others. */
    peat_status (*passed)(void *ctx, struct error *err);
    /* After every step and every evaluation, before anything of them is kept: an error ends the
     * run. */
    peat_status (*check)(void *ctx, struct error *err);
    /* Each length of the test part, after its measures. */
    void (*stretches)(void *ctx, const struct test_stretches *s);
};

struct trainer {
    struct model *model;
    struct task *task;
    const struct train_config *train;
    const struct eval_config *eval;
    int64_t checkpoint_every; /* 0: only at the end */
    uint64_t seed;
    const struct team *team;
    struct arena *model_arena; /* batches, optimiser state: life of the run */
    struct arena step_arena;
    struct arena answer_arena; /* rows that are stored while answers are made */
    struct train_events events;
    /* state, saved in checkpoints */
    struct adamw adamw;
    int64_t step;      /* steps done */
    double first_loss; /* of step 1 */
    int64_t above;     /* steps in a row with loss > first_loss + 2 nats */
    struct divergence diverged;
    struct patience patience;
    /* Spent in steps and in evaluation so far, over all attempts. */
    double train_seconds, eval_seconds;
    double median_step_ms;
    int64_t steps_timed;
    struct batch batch;
};

/* Divergence is an outcome of the run, not an error; each fills t->diverged where it returns true.
 * Before the update of `step`, after the backward pass: a loss or gradient is not finite. */
bool divergence_check(struct trainer *t, struct graph *g, int64_t step, double loss,
                      double grad_norm);
/* After the update: the loss has been far above the first for too long. */
bool divergence_watch(struct trainer *t, int64_t step, double loss);

/* Memory and optimiser state; the model is built. Everything else starts at step 0. */
peat_status trainer_init(struct trainer *t, struct error *err);
/* Of one step's batch. The nodes live until the step arena is reset. */
struct step_values {
    double loss;
    peat_node *logits, *classes; /* as forward_both has them */
};
/* Forward and backward of the batch at hand, as in `step` of the training; gradients are left in
 * the weights, and with `keep` also all values and gradients in the graph. */
peat_status trainer_differentiate(struct trainer *t, struct graph *g, int64_t step, bool keep,
                                  struct step_values *v, struct error *err);
/* Runs from t->step to train->steps. A weight that the first backward never reaches is an error.
 * A run that diverged ends with a final save, unevaluated; the step whose numbers were not finite
 * changed no weight. */
peat_status trainer_run(struct trainer *t, enum run_end *end, struct error *err);
/* All its steps are done, patience has stopped it, or it diverged. */
bool trainer_has_ended(const struct trainer *t);
/* Evaluates every length of the validation part at the present weights and reports each metric;
 * split "valid". */
peat_status trainer_evaluate(struct trainer *t, struct error *err);
/* The same of the test part, split "test", where eval.test is above 0. For the weights that
 * training ends with: nothing that is decided during training has seen it. */
peat_status trainer_test(struct trainer *t, struct error *err);
void trainer_release(struct trainer *t);

/* Rows of an evaluation batch at T tokens: by the task alone, so that all cells see the same
 * batches. */
int64_t evaluate_rows(const peat_task_plan *plan, int64_t T);

/* evaluate.c: sums over one length of the validation part. Decodes greedily where the task asks for
 * it: the prefix is run again for every token, so decoding is the full forward of the prefix by
 * construction. */
peat_status evaluate_length(struct trainer *t, int64_t which, peat_sums *sums, struct error *err);
