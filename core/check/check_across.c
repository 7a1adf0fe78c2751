/* SPDX-License-Identifier: MIT */
/* check_across.c: properties that only models of two sequences have. */
#include <string.h>

#include "property.h"

/* With the parameters as given: others may turn it off. Weights are the same with and without. */
void acts_across(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    struct rig *apart = ARENA_NEW(t->subject->arena, struct rig);
    struct rig_plan plan = trial_plan(t);
    plan.apart = true;
    const double *with = rig_logits(t->rig, &x.in), *without = NULL;
    if (rig_open(apart, t->subject, t->variant, &plan) == PEAT_OK)
        without = rig_logits(apart, &x.in);
    size_t n = (size_t)(x.in.B * x.in.T * RIG_V);
    if (!*t->variant->text && with && without && memcmp(with, without, n * sizeof(*with)) == 0)
        trial_fail(t, "where.across changes no logit");
    rig_close(apart);
}

void source_padding_holds(const struct trial *t)
{
    enum { MORE = 3 };
    struct rig_input x = trial_input(t), longer = trial_longer_sources(t, MORE);
    const double *logits = rig_logits(t->rig, &x.in);
    trial_same(t, logits, rig_logits(t->rig, &longer.in), x.in.B * x.in.T, 0,
               "when a source is padded");
}
