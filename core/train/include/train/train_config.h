/* SPDX-License-Identifier: MIT */
/* train_config.h: the `train` and `eval` sections of an experiment. */
#pragma once

#include <peat/param.h>

enum schedule_kind { SCHEDULE_COSINE, SCHEDULE_LINEAR, SCHEDULE_CONSTANT, SCHEDULE_WSD };

/* Of products by weights; everything else is F32. */
enum precision { PRECISION_FP32, PRECISION_BF16 };

struct train_config {
    int64_t steps, batch, seq_len;
    double lr;
    int64_t warmup; /* steps; -1: schedule_warmup, which a cell has filled in */
    int64_t schedule;
    double decay;  /* SCHEDULE_WSD: the share of the steps in which the rate falls; else 0 */
    double lr_min; /* as a fraction of lr, at the last step */
    double weight_decay, beta1, beta2, eps, clip;
    int64_t precision;
    int64_t
        patience; /* evaluations in a row without a better one, after which it stops; 0: never */
};

struct eval_config {
    int64_t every;      /* 0: only at the end */
    peat_reals lengths; /* in the task's unit; n 0: the task chooses */
    int64_t tokens;     /* targets per length; 0: all */
    bool halves;        /* measure every other batch apart too */
    double test;        /* share of the held-out data that is the test part; 0: none */
};

/* Evaluations that are due by the end of a step, of a training of `steps` that evaluates `every` so
 * often (0: only at the end). */
static inline int64_t evaluations_until(int64_t step, int64_t steps, int64_t every)
{
    int64_t regular = every > 0 ? step / every : 0;
    return regular + (step >= steps && (every <= 0 || step % every != 0));
}
