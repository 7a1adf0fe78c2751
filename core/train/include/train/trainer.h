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
 * Tensors with `decay` get weight decay; bounded ones are clamped to their bounds. */
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
/* The last step before the rate falls: the end of the warm-up, or with SCHEDULE_WSD the end of the
 * constant part, which is 0 where the whole run is decay. */
int64_t schedule_flat_until(const struct train_config *c);

/* How a run ended. */
enum run_end { RUN_DONE, RUN_DIVERGED, RUN_INTERRUPTED };

struct divergence {
    int64_t step;   /* 0: it did not diverge                                          */
    char what[256]; /* "loss is not finite at step 12, first in 'layernorm' (block 2)" */
};

/* State of a run that stops when the task's first metric, at the first length, stops improving. */
struct patience {
    double last, best; /* NaN: not evaluated yet */
    int64_t bad;       /* evaluations in a row that were not better than the best */
    bool stopped;      /* the run stopped before its last step */
};

/* One evaluation result. */
struct measure {
    const char *metric, *split; /* metric "bpb"; split "valid", "test", or for halves "choose",
                                 * "report" */
    int64_t length, step;
    double value;
    const char *again; /* of the test part: eval.tokens of later evaluations, which had other values
                        * and left this one; NULL: there were none */
};

/* The loss of the test part at one length, in stretches of consecutive sequences. A length with
 * fewer sequences than TEST_STRETCHES has one stretch for each sequence. */
enum { TEST_STRETCHES = 64 };
struct test_stretches {
    int64_t length;
    int n;
    double nll[TEST_STRETCHES];      /* nats, summed over the stretch's targets */
    int64_t targets[TEST_STRETCHES]; /* number of targets; with head CLASS, of rows */
};

/* Functions that the training loop calls; each may be NULL. */
struct train_events {
    void *ctx;
    /* Called after every step; must be cheap. */
    void (*step)(void *ctx, int64_t step, double loss, double lr, double grad_norm);
    /* Called for each evaluated number. */
    void (*measure)(void *ctx, const struct measure *m);
    /* True: save a checkpoint after this step and stop. */
    bool (*stop)(void *ctx);
    /* Saves a checkpoint (called every checkpoint_every steps, at a stop and at the end). */
    peat_status (*save)(void *ctx, bool final, struct error *err);
    /* Whether `passed` keeps the state after this step. */
    bool (*keeps)(void *ctx, int64_t step);
    /* Called after each step, when it is evaluated and before it is saved: the state may be kept
     * for other cells. */
    peat_status (*passed)(void *ctx, struct error *err);
    /* Called after every step and every evaluation, before any of their results is kept: an error
     * ends the run. */
    peat_status (*check)(void *ctx, struct error *err);
    /* Called for each length of the test part, after its measures. */
    void (*stretches)(void *ctx, const struct test_stretches *s);
};

struct trainer;

/* Another program that has the weights and computes the passes of a cell. Functions return whether
 * they succeeded. */
struct train_engine {
    void *ctx;
    /* Begins one step with t->batch, which may be used again at the return. A loss or norm that is
     * not finite leaves out the update, and those of all later steps. */
    bool (*step)(void *ctx, struct trainer *t, int64_t step, struct error *err);
    /* Waits for the n steps since the last call: losses and norms of gradients, [n] each. */
    bool (*losses)(void *ctx, int64_t n, double *loss, double *norm, struct error *err);
    /* Logits of an input without gradients, as from forward_both, in the step arena. b: the batch
     * that `in` is of. */
    bool (*forward)(void *ctx, struct trainer *t, const peat_batch *b, const struct model_input *in,
                    peat_node **logits, peat_node **classes, struct error *err);
    /* Logits [B, V] of the last column of b, which is the beginning of rows of length `total`. All
     * columns but the newest are those of the last call, whose rows were stored; first: none are.
     * For a model that model_not_storable has nothing against. */
    bool (*newest)(void *ctx, struct trainer *t, const peat_batch *b, bool first, int64_t total,
                   peat_node **logits, struct error *err);
    /* Copies weights and moments into the trainer. */
    bool (*fetch)(void *ctx, struct trainer *t, struct error *err);
};

struct trainer {
    const struct train_engine *engine; /* NULL: this program computes the passes */
    struct model *model;
    struct task *task;
    const struct train_config *train;
    const struct eval_config *eval;
    int64_t checkpoint_every; /* steps between checkpoints; 0: only at the end */
    uint64_t seed;
    const struct team *team;
    struct arena *model_arena; /* memory of batches and optimiser state, as long as the run */
    struct arena step_arena;
    struct arena answer_arena; /* memory of rows that are stored while answers are generated */
    struct train_events events;
    /* this and the fields below are state, saved in checkpoints */
    struct adamw adamw;
    int64_t step;      /* steps done */
    double first_loss; /* loss of step 1 */
    int64_t above;     /* steps in a row with loss > first_loss + 2 nats */
    struct divergence diverged;
    struct patience patience;
    /* Time in steps and in evaluation so far, over all attempts. */
    double train_seconds, eval_seconds;
    double median_step_ms;
    int64_t steps_timed;
    struct batch batch;
};

/* From a batch to logits, in training and in evaluation alike. */
/* The batch as an input of the model. */
struct model_input forward_input(const peat_batch *b, peat_phase phase);
/* A fresh graph in the step arena and the logits of one input, which live until the arena is
 * rewound; *classes: the logits of classes, [B, n], of a model that predicts both tokens and
 * classes, otherwise NULL. reuse: the graph may drop values that only a backward reads. `what`
 * names the pass in messages: "step 12". */
peat_status forward_both(struct trainer *t, struct graph *g, const struct model_input *in,
                         bool reuse, peat_node **logits, peat_node **classes, const char *what,
                         struct error *err);
/* The logits of an evaluation of batch b, by the engine where there is one. `classes` may be NULL.
 */
peat_status forward_evaluated(struct trainer *t, const peat_batch *b, const struct model_input *in,
                              peat_node **logits, peat_node **classes, struct error *err);
/* PEAT_OK, or the first error of the graph. */
peat_status forward_status(const struct graph *g, const char *what, struct error *err);

/* Divergence is an outcome of the run, not an error. Both functions set t->diverged where they
 * return true. This one runs before the update of `step`, after the backward pass: a loss or
 * gradient is not finite. g: NULL where another program computed them. */
bool divergence_check(struct trainer *t, struct graph *g, int64_t step, double loss,
                      double grad_norm);
/* Runs after the update: the loss has been far above the first for too long. */
bool divergence_watch(struct trainer *t, int64_t step, double loss);

/* Allocates memory and optimiser state for a built model and sets everything else to step 0. */
peat_status trainer_init(struct trainer *t, struct error *err);
/* Results of one step's batch. The nodes live until the step arena is reset. */
struct step_values {
    double loss;
    peat_node *logits, *classes; /* as from forward_both */
};
/* Forward and backward of the current batch, as in a step of training. Gradients are left in the
 * weights, and with `keep` all values and gradients also stay in the graph. */
peat_status trainer_differentiate(struct trainer *t, struct graph *g, int64_t step, bool keep,
                                  struct step_values *v, struct error *err);
/* Runs from t->step to train->steps. A weight that the first backward never reaches is an error. A
 * run that diverges ends with a final save, without evaluation; the step whose numbers were not
 * finite changes no weight. */
peat_status trainer_run(struct trainer *t, enum run_end *end, struct error *err);
/* True when all steps are done, patience has stopped the run, or it diverged. */
bool trainer_has_ended(const struct trainer *t);
/* Evaluates every length of the validation part at the present weights and reports each metric;
 * split "valid". */
peat_status trainer_evaluate(struct trainer *t, struct error *err);
/* Evaluates the test part, split "test", where eval.test is above 0. Call it only for the
 * weights that training ends with, so that no decision during training depends on the test part. */
peat_status trainer_test(struct trainer *t, struct error *err);
void trainer_release(struct trainer *t);

/* Rows of an evaluation batch at T tokens. They depend only on the task, so that all cells see the
 * same batches. */
int64_t evaluate_rows(const peat_task_plan *plan, int64_t T);

/* evaluate.c: sums over one length of the validation part. Generates greedily where the task asks
 * for it (decode.h). */
peat_status evaluate_length(struct trainer *t, int64_t which, peat_sums *sums, struct error *err);
