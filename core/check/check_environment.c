/* SPDX-License-Identifier: MIT */
/* check_environment.c: loading and running a plugin leaves the process as it was. */
#include "property.h"

static void compare(const struct checked *s, const char *when, struct check_outcome *o)
{
    struct state now;
    struct strbuf changed = STRBUF_NEW;
    state_read(&now);
    state_compare(s->unloaded, &now, &changed);
    if (now.openmp > 1 && !changed.n)
        strbuf_addf(&changed, "there are %d OpenMP runtimes in memory", now.openmp);
    if (changed.n)
        check_fail(o, "%s%s", changed.text, when);
    strbuf_release(&changed);
}

void environment_after_load(const struct checked *s, struct check_outcome *o)
{
    struct error err = {0};
    compare(s, " (by loading it)", o);
    if (s->plugin->desc->kind == PEAT_TASK && !task_runs(s, &err))
        check_fail(o, "%s", err.text);
    compare(s, "", o);
}

void environment_after_step(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    rig_step(t->rig, &x.in, true);
    compare(t->subject, "", t->o);
}
