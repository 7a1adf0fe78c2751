/* SPDX-License-Identifier: MIT */
/* check_environment.c: loading and running a plugin leaves the process as it was. */
#include <math.h>

#include "checkrig.h"

static enum verdict compare(const struct subject *s, struct strbuf *why)
{
    struct state now;
    state_read(&now);
    state_compare(s->unloaded, &now, why);
    if (now.openmp > 1 && !why->n)
        strbuf_addf(why, "there are %d OpenMP runtimes in memory", now.openmp);
    return why->n ? CHECK_FAILED : CHECK_PASSED;
}

static enum verdict environment_of(struct situation *s, struct rig *r)
{
    struct rig_input x = rig_input(r, RIG_B, RIG_T);
    x.in.phase = PEAT_TRAIN;
    x.in.step = 1;
    if (isnan(rig_step(r, &x.in, true)))
        return rig_broken(r, s->why);
    return compare(s->subject, s->why);
}

enum verdict check_environment(const struct subject *s, struct strbuf *why)
{
    const struct rig_plan plan = {.dtype = PEAT_F32};
    if (compare(s, why) == CHECK_FAILED)
        return check_failed(why, " (by loading it)");
    if (s->plugin->desc->kind != PEAT_TASK)
        return rig_each(s, &plan, why, environment_of);
    struct error err = {0};
    if (check_task_runs(s, &err) != PEAT_OK)
        return check_failed(why, "%s", err.text);
    return compare(s, why);
}
