/* SPDX-License-Identifier: MIT */
/* check_environment.c: loading and running a plugin leaves the process as it was. */
#include <math.h>

#include "property.h"

static enum verdict compare(const struct subject *s, struct strbuf *why)
{
    struct state now;
    state_read(&now);
    state_compare(s->unloaded, &now, why);
    if (now.openmp > 1 && !why->n)
        strbuf_addf(why, "there are %d OpenMP runtimes in memory", now.openmp);
    return why->n ? CHECK_FAILED : CHECK_PASSED;
}

enum verdict environment_after_load(const struct subject *s, struct strbuf *why)
{
    struct error err = {0};
    if (compare(s, why) == CHECK_FAILED)
        return check_failed(why, " (by loading it)");
    if (s->plugin->desc->kind != PEAT_TASK)
        return CHECK_PASSED;
    return task_runs(s, &err) == PEAT_OK ? compare(s, why) : check_failed(why, "%s", err.text);
}

enum verdict environment_after_step(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    return isnan(rig_step(t->rig, &x.in, true)) ? trial_broken(t) : compare(t->subject, t->why);
}
