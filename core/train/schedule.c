/* SPDX-License-Identifier: MIT */
/* schedule.c: the learning rate of each step. */
#include <math.h>

#include "train/trainer.h"

int64_t schedule_warmup(const struct train_config *c)
{
    if (c->warmup >= 0)
        return c->warmup;
    return c->steps / 10 < 200 ? c->steps / 10 : 200;
}

/* Where the rate stands between lr_min (0) and lr (1) when x of the descent, in (0, 1], is done.
 * Cosine: Loshchilov and Hutter 2017, eq. 5, one cycle. */
static double height(const struct train_config *c, double x)
{
    return c->schedule == SCHEDULE_LINEAR ? 1.0 - x : 0.5 * (1.0 + cos(M_PI * x));
}

double schedule_lr(const struct train_config *c, int64_t step)
{
    int64_t warmup = schedule_warmup(c);
    if (step <= warmup)
        return c->lr * ((double)step / (double)warmup);
    if (c->schedule == SCHEDULE_CONSTANT)
        return c->lr;
    double up = height(c, (double)(step - warmup) / (double)(c->steps - warmup));
    return c->lr * (c->lr_min + (1.0 - c->lr_min) * up);
}
