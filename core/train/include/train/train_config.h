/* SPDX-License-Identifier: MIT */
/* train_config.h: the `train` and `eval` sections of an experiment. */
#pragma once

#include <peat/param.h>

enum schedule_kind { SCHEDULE_COSINE, SCHEDULE_LINEAR, SCHEDULE_CONSTANT, SCHEDULE_WSD };

/* Precision of products by weights; everything else is F32. */
enum precision { PRECISION_FP32, PRECISION_BF16 };

struct train_config {
    int64_t steps, batch, seq_len;
    double lr;
    int64_t warmup; /* steps; -1: schedule_warmup, which a cell has filled in */
    int64_t schedule;
    double decay;  /* SCHEDULE_WSD: the share of the steps in which the rate falls; otherwise 0 */
    double lr_min; /* the learning rate at the last step, as a fraction of lr */
    double weight_decay, beta1, beta2, eps, clip;
    int64_t precision;
    int64_t patience; /* stop after so many evaluations in a row without a better one; 0: never */
};

struct eval_config {
    int64_t every;      /* steps between evaluations; 0: only at the end */
    peat_reals lengths; /* lengths in the task's unit; n 0: the task chooses */
    int64_t tokens;     /* targets per length; 0: all */
    bool halves;        /* also measure every other batch separately */
    double test;        /* share of the held-out data that is the test part; 0: no test part */
};

/* The number of evaluations that are due by the end of a step, in a training of `steps` that
 * evaluates every `every` steps (0: only at the end). */
static inline int64_t evaluations_until(int64_t step, int64_t steps, int64_t every)
{
    int64_t regular = every > 0 ? step / every : 0;
    return regular + (step >= steps && (every <= 0 || step % every != 0));
}
